"""One player's moves, counted for every method, a row of the corpus at a time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from live.corpus.tables.study_data import StudyData
from live.events import Color, GainKind
from live.ratings.alliot.conformance import GUID_BRATKO, PONDERATED, RAW, AccumulatedConformance
from live.ratings.alliot.covariance import STEP_CONFORMANCE, TANH_CONFORMANCE, gain_by
from live.ratings.alliot.markov import NINETEEN, EvaluationClasses, Transitions
from live.ratings.expected_score import difference_of
from live.ratings.ferreira.engine_distribution import SpikeAtZero
from live.ratings.gain_histogram import GainHistogram
from live.ratings.score_interval import ClusteredScores, GameScores

Key = TypeVar("Key", bound=Hashable)

_SPIKE = SpikeAtZero()

#: What ``PlayerMoves.add`` takes, in its order.
COLUMNS: Final = (
    "game",
    "player",
    "colour",
    "year",
    "event",
    "opponent",
    "elo",
    "score",
    "best_cp",
    "gain_cp",
    "successive_cp",
    "counted",
    "ply",
    "forced",
)


class PlayerMoves:
    """Moves come in the order of games; then every method's own counters hold them."""

    def __init__(self, gain: GainKind, classes: EvaluationClasses = NINETEEN) -> None:
        self._gain: GainKind = gain
        self.gains = GainHistogram()
        """By the gain that is studied."""
        self.successive = GainHistogram()
        """Successive gains of all moves."""
        self.conformances = [
            AccumulatedConformance(kind) for kind in (RAW, GUID_BRATKO, PONDERATED)
        ]
        self.shortfalls = GainHistogram()
        self.step = GainHistogram()
        self.tanh = GainHistogram()
        self.transitions = Transitions(classes)
        self.counted = 0
        """Moves that count for Alliot."""
        self.games = 0
        self.points = 0.0
        self.results = 0
        self._elo = 0
        self._rated = 0
        self._clusters = ClusteredScores()
        self._game = -1
        # Whether the game's result is counted: only with moves that count, or a forfeit would be a
        # game of whoever made its one move.
        self._scored = True
        self._scores = (0, 0, 0)

    def add(self, row: tuple[Any, ...]) -> None:
        """One move: the values of ``COLUMNS``."""
        (game, _, colour, year, _, _, elo, score, best_cp, gain_cp, successive_cp, counted, ply,
         forced) = row  # fmt: skip
        if game != self._game:
            self._close()
            self._game = game
            self._scored = score is None
            self.games += 1
            if elo is not None:
                self._elo += elo
                self._rated += 1
        studied = gain_cp if self._gain == "same-search" else successive_cp
        if studied is not None:
            self.gains.add(studied)
            parts = _SPIKE.parts(studied)
            n, total, squares = self._scores
            self._scores = (n + 1, total + parts, squares + parts * parts)
        if successive_cp is not None:
            self.successive.add(successive_cp)
        if gain_cp is None:
            return
        for conformance in self.conformances:
            conformance.add(best_cp, gain_cp, ply=ply, forced=forced)
        if not counted:
            return
        if not self._scored:
            self._scored = True
            self.points += score
            self.results += 1
        self.counted += 1
        self.shortfalls.add(gain_cp)
        for histogram, kind in ((self.step, STEP_CONFORMANCE), (self.tanh, TANH_CONFORMANCE)):
            found = gain_by(kind, best_cp, gain_cp)
            if found is not None:
                histogram.add(found)
        color: Color = "white" if colour == "white" else "black"
        self.transitions.add(color, best_cp, gain_cp, year or 0)

    def _close(self) -> None:
        self._clusters.add(GameScores(*self._scores))
        self._scores = (0, 0, 0)

    @property
    def elo(self) -> float | None:
        """Mean of the own ratings over games that have one."""
        return self._elo / self._rated if self._rated else None

    @property
    def expected_score(self) -> float | None:
        """Against the engine, its gains all 0 (Ferreira 2012, Algorithm 3, step 1)."""
        gains = self.gains
        return (gains.positives + 0.5 * gains.zeros) / gains.n if gains.n else None

    def score_interval(self) -> tuple[float, float] | None:
        """95 % of ``expected_score``, games being clusters; None without a move."""
        self._close()
        ceiling = 1 if self._gain == "same-search" else 2
        return self._clusters.interval(2, ceiling)

    def differences(self) -> tuple[float | None, float | None, float | None]:
        """Elo against the engine, with both ends of its interval; None where unbounded."""
        ends = self.score_interval()
        if self.expected_score is None or ends is None:
            return None, None, None
        return (
            difference_of(self.expected_score),
            difference_of(ends[0]),
            difference_of(ends[1]),
        )


def gather(
    data: StudyData,
    key: Callable[[tuple[Any, ...]], Key | None],
    classes: EvaluationClasses = NINETEEN,
) -> dict[Key, PlayerMoves]:
    """The selected players' moves by any key of a row; rows without one are left out."""
    found: dict[Key, PlayerMoves] = {}
    for frame in data.moves(COLUMNS):
        for row in frame.iter_rows():
            at = key(row)
            if at is None:
                continue
            held = found.get(at)
            if held is None:
                held = found[at] = PlayerMoves(data.selection.gain, classes)
            held.add(row)
    return found


def by_player(data: StudyData) -> dict[int, PlayerMoves]:
    """By the player's number, players in the order of the selection, those with too few moves
    left out.
    """
    found = gather(data, lambda row: int(row[1]))
    return {
        player: found[player]
        for player in data.players
        if player in found and found[player].gains.n >= max(1, data.selection.min_moves)
    }
