"""One player's moves, counted as the methods of a table need them, one row at a time.

Counters hold figures by centipawn and by class, never by game, so memory does not grow
with the number of games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from polars import DataFrame, Int64, col

from live.messages.figures import GainKind
from live.ratings.conformance import (
    GUID_BRATKO,
    PONDERATED,
    RAW,
    AccumulatedConformance,
)
from live.ratings.covariance import TANH_CONFORMANCE, convert_to_gain
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.ferreira import compute_expected_score_between
from live.ratings.gains import GainHistogram
from live.ratings.markov import NINETEEN, EvaluationClasses, Transitions
from live.ratings.score_interval import ClusteredScores, GameScores
from live.studies.study_data import StudyData, choose_gain_column

#: The engine's gains where they are all 0.
SPIKE = GainHistogram([0])
#: What counters' ``add`` takes.
COUNTED_COLUMNS = (
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
)
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

    def add(self, moves: DataFrame) -> None:
        """All moves of some games, with the columns of ``COUNTED_COLUMNS``."""
        gain = col(choose_gain_column(self._gain)).cast(Int64)
        parts = gain.sign() + 1
        games = moves.group_by("game").agg(
            col("elo").first(),
            n=gain.count(),
            total=parts.sum(),
            squares=(parts**2).sum(),
        )
        self.games += len(games)
        self._elo += int(games["elo"].sum())
        self._rated += games["elo"].count()
        for scores in games.select("n", "total", "squares").iter_rows():
            self._clusters.add(GameScores(*scores))
        self.gains.merge(GainHistogram(moves.select(gain).to_series().drop_nulls()))

    @property
    def elo(self) -> float | None:
        """Mean of the own ratings over games that have one."""
        return self._elo / self._rated if self._rated else None

    @property
    def expected_score(self) -> float | None:
        """Against the engine, its gains all 0 (Ferreira 2012, Algorithm 3, step 1)."""
        return compute_expected_score_between(self.gains, SPIKE)

    def compute_score_interval(self) -> tuple[float, float] | tuple[None, None]:
        """Return the 95 % interval of the expected score, with games as clusters."""
        most = 1 if self._gain == "same-search" else 2
        return self._clusters.compute_interval(2, most) or (None, None)

    def compute_differences(self) -> tuple[float | None, float | None, float | None]:
        """Return the Elo difference to the engine and both ends of its 95 % interval,
        with games as clusters; None where unbounded.
        """
        score = self.expected_score
        low, high = self.compute_score_interval()
        if score is None or low is None or high is None:
            return None, None, None
        return (
            convert_score_to_difference(score),
            convert_score_to_difference(low),
            convert_score_to_difference(high),
        )


class ConformingMoves(PlayerMoves):
    """The same with the three kinds of conformance (Alliot 2017, section 3.2) and
    results.
    """

    def __init__(self, gain: GainKind) -> None:
        super().__init__(gain)
        self.kinds = [
            AccumulatedConformance(kind) for kind in (RAW, GUID_BRATKO, PONDERATED)
        ]
        self.ponderated = self.kinds[-1]
        self.points = 0.0
        self.results = 0

    def add(self, moves: DataFrame) -> None:
        """All moves of some games, with the columns of ``COUNTED_COLUMNS``."""
        super().add(moves)
        # A game's result is counted with its first move that counts, or a forfeit would
        # be a game of the player who made its one move.
        known = moves.filter("counted").drop_nulls("gain_cp")
        for best_cp, gain_cp, ply in known.select(
            "best_cp", "gain_cp", "ply"
        ).iter_rows():
            for conformance in self.kinds:
                conformance.add(best_cp, gain_cp, ply=ply)
        scores = known.drop_nulls("score").unique("game")["score"]
        self.points += float(scores.sum())
        self.results += len(scores)


class PairedMoves(PlayerMoves):
    """The same with what pairings are predicted by (Alliot 2017, sections 3.3 and
    3.4).
    """

    def __init__(self, gain: GainKind, classes: EvaluationClasses = NINETEEN) -> None:
        super().__init__(gain)
        self.shortfalls = GainHistogram()
        self.tanh = GainHistogram()
        self.transitions = Transitions(classes)

    @property
    def counted(self) -> int:
        """Moves that count for Alliot."""
        return self.shortfalls.n

    def add(self, moves: DataFrame) -> None:
        """All moves of some games, with the columns of ``COUNTED_COLUMNS``."""
        super().add(moves)
        known = moves.filter("counted").drop_nulls("gain_cp")
        self.shortfalls.merge(GainHistogram(known["gain_cp"]))
        columns = "colour", "best_cp", "gain_cp", "year"
        for color, best_cp, gain_cp, year in known.select(columns).iter_rows():
            weighed = convert_to_gain(TANH_CONFORMANCE, best_cp, gain_cp)
            if weighed is not None:
                self.tanh.add(weighed)
            self.transitions.add(color, best_cp, gain_cp, year or 0)

    def merge(self, other: PairedMoves) -> None:
        """Count what pairings are predicted by of ``other`` too."""
        self.shortfalls.merge(other.shortfalls)
        self.tanh.merge(other.tanh)
        self.transitions.merge(other.transitions)


def gather_moves(
    data: StudyData,
    make: Callable[[GainKind], Moves],
    *keys: str,
    places: DataFrame | None = None,
    only: Sequence[tuple[Any, ...]] | None = None,
) -> dict[tuple[Any, ...], Moves]:
    """The selected players' moves by columns. ``places``: more columns, by player,
    opponent and event. ``only``: of these values of the columns, where not of all.
    """
    found: dict[tuple[Any, ...], Moves] = {}
    for frame in data.read_moves(COUNTED_COLUMNS):
        if places is not None:
            where = ["player", "opponent", "event"]
            frame = frame.join(
                places, on=where, how="left", nulls_equal=True, maintain_order="left"
            )
        for key, moves in frame.partition_by(*keys, as_dict=True).items():
            if only is not None and key not in only:
                continue
            if key not in found:
                found[key] = make(data.selection.gain)
            found[key].add(moves)
    return found


def gather_by_player(
    data: StudyData, make: Callable[[GainKind], Moves]
) -> dict[int, Moves]:
    """Gather moves by the player's number, in the order of the selection; leave out
    players with too few moves.
    """
    found = gather_moves(data, make, "player")
    least = max(1, data.selection.min_moves)
    known = {player: found[player,] for player in data.players if (player,) in found}
    return {player: moves for player, moves in known.items() if moves.gains.n >= least}


def gather_by_year(
    data: StudyData, make: Callable[[GainKind], Moves]
) -> dict[tuple[int, int], Moves]:
    """Gather moves by player and year; leave out games without a year."""
    found = gather_moves(data, make, "player", "year")
    return {
        (player, year): moves
        for (player, year), moves in found.items()
        if year is not None
    }
