"""One player's moves, counted for the methods that a table is about, a row of the corpus at a time.

Counters hold figures by centipawn and by class, never by game, so that memory does not grow with
the number of games. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, Protocol, TypeVar

from live.events import Color, GainKind
from live.ratings.alliot.conformance import GUID_BRATKO, PONDERATED, RAW, AccumulatedConformance
from live.ratings.alliot.covariance import TANH_CONFORMANCE, gain_by
from live.ratings.alliot.markov import NINETEEN, EvaluationClasses, Transitions
from live.ratings.expected_score import difference_of
from live.ratings.ferreira.engine_distribution import SpikeAtZero
from live.ratings.gain_histogram import GainHistogram
from live.ratings.score_interval import ClusteredScores, GameScores
from live.studies.study_data import StudyData

_SPIKE = SpikeAtZero()

#: What counters' ``add`` takes, in its order.
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


class RowCounter(Protocol):
    """Anything that moves are counted in."""

    def add(self, row: tuple[Any, ...]) -> None:
        """One move: the values of ``COLUMNS``. Moves come in the order of games."""


Key = TypeVar("Key", bound=Hashable)
Held = TypeVar("Held", bound=RowCounter)
Moves = TypeVar("Moves", bound="PlayerMoves")


class PlayerMoves:
    """A player's gains (Ferreira 2012), games and ratings."""

    def __init__(self, gain: GainKind) -> None:
        self._gain: GainKind = gain
        self.gains = GainHistogram()
        """By the gain that is studied."""
        self.games = 0
        self._elo = 0
        self._rated = 0
        self._clusters = ClusteredScores()
        self._game = -1
        self._scores = (0, 0, 0)

    def add(self, row: tuple[Any, ...]) -> None:
        """One move: the values of ``COLUMNS``."""
        game, _, _, _, _, _, elo, _, _, gain_cp, successive_cp, *_ = row
        if game != self._game:
            self._close()
            self._game = game
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


class ConformingMoves(PlayerMoves):
    """The same with the three kinds of conformance (Alliot 2017, section 3.2) and results."""

    def __init__(self, gain: GainKind) -> None:
        super().__init__(gain)
        self.raw, self.guid_bratko, self.ponderated = (
            AccumulatedConformance(kind) for kind in (RAW, GUID_BRATKO, PONDERATED)
        )
        self.points = 0.0
        self.results = 0
        # A game's result is counted with its first move that counts, or a forfeit would be a game
        # of whoever made its one move.
        self._scored = -1

    def add(self, row: tuple[Any, ...]) -> None:
        """One move: the values of ``COLUMNS``."""
        super().add(row)
        game, *_, score, best_cp, gain_cp, _, counted, ply, forced = row
        if gain_cp is None:
            return
        for conformance in (self.raw, self.guid_bratko, self.ponderated):
            conformance.add(best_cp, gain_cp, ply=ply, forced=forced)
        if counted and score is not None and game != self._scored:
            self._scored = game
            self.points += score
            self.results += 1


class PairedMoves(PlayerMoves):
    """The same with what pairings are predicted by (Alliot 2017, sections 3.3 and 3.4)."""

    def __init__(self, gain: GainKind, classes: EvaluationClasses = NINETEEN) -> None:
        super().__init__(gain)
        self.shortfalls = GainHistogram()
        self.tanh = GainHistogram()
        self.transitions = Transitions(classes)

    @property
    def counted(self) -> int:
        """Moves that count for Alliot."""
        return self.shortfalls.n

    def add(self, row: tuple[Any, ...]) -> None:
        """One move: the values of ``COLUMNS``."""
        super().add(row)
        _, _, colour, year, *_, best_cp, gain_cp, _, counted, _, _ = row
        if gain_cp is None or not counted:
            return
        self.shortfalls.add(gain_cp)
        weighed = gain_by(TANH_CONFORMANCE, best_cp, gain_cp)
        if weighed is not None:
            self.tanh.add(weighed)
        color: Color = "white" if colour == "white" else "black"
        self.transitions.add(color, best_cp, gain_cp, year or 0)


def gather(
    data: StudyData, key: Callable[[tuple[Any, ...]], Key | None], make: Callable[[], Held]
) -> dict[Key, Held]:
    """The selected players' moves by any key of a row; rows without one are left out."""
    found: dict[Key, Held] = {}
    for frame in data.moves(COLUMNS):
        for row in frame.iter_rows():
            at = key(row)
            if at is None:
                continue
            held = found.get(at)
            if held is None:
                held = found[at] = make()
            held.add(row)
    return found


def by_player(data: StudyData, make: Callable[[GainKind], Moves]) -> dict[int, Moves]:
    """By the player's number, players in the order of the selection, those with too few moves
    left out.
    """
    found = gather(data, lambda row: int(row[1]), lambda: make(data.selection.gain))
    return {
        player: found[player]
        for player in data.players
        if player in found and found[player].gains.n >= max(1, data.selection.min_moves)
    }


def by_year(data: StudyData, make: Callable[[GainKind], Moves]) -> dict[tuple[int, int], Moves]:
    """By the player's number and the year; games without a year are left out."""

    def key(row: tuple[Any, ...]) -> tuple[int, int] | None:
        return None if row[3] is None else (int(row[1]), int(row[3]))

    return gather(data, key, lambda: make(data.selection.gain))
