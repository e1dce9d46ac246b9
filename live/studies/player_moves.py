"""Counters of one player's moves, as the tables need them; rows are added one block at
a time.

Counters store figures by centipawn and by class, never by game, so memory does not grow
with the number of games.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from polars import DataFrame, Int64, col

from live.messages.figures import GainKind
from live.ratings.conformance import (
    GUID_BRATKO,
    PONDERATED,
    RAW,
    AccumulatedConformance,
)
from live.ratings.covariance import TANH_CONFORMANCE, convert_conformance_to_gain
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.ferreira import compute_expected_score_between
from live.ratings.gains import GainHistogram
from live.ratings.markov import NINETEEN, EvaluationClasses, Transitions
from live.ratings.score_interval import ClusteredScores, GameScores
from live.studies.study_data import StudyData, choose_gain_column

#: Distribution of the engine's gains if every gain is 0.
SPIKE = GainHistogram([0])
#: Columns that the ``add`` methods of counters need.
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
    """Counter of a player's gains (Ferreira 2012), games and ratings."""

    def __init__(self, gain: GainKind) -> None:
        self._gain: GainKind = gain
        self.gains = GainHistogram()
        """Gains of the kind that is studied."""
        self.games = 0
        self._elo = 0
        self._rated = 0
        self._clusters = ClusteredScores()

    def add(self, moves: DataFrame) -> None:
        """Add all moves of some games. ``moves`` has the columns of
        ``COUNTED_COLUMNS``.
        """
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
        """Mean of the player's own ratings over the games that have one; None if no
        game has one.
        """
        return self._elo / self._rated if self._rated else None

    @property
    def expected_score(self) -> float | None:
        """Expected score against the engine, whose gains are all 0 (Ferreira 2012,
        Algorithm 3, step 1).
        """
        return compute_expected_score_between(self.gains, SPIKE)

    def compute_score_interval(self) -> tuple[float, float] | tuple[None, None]:
        """Return the 95 % interval of the expected score, with games as clusters; a
        pair of None if it cannot be computed.
        """
        highest = 1 if self._gain == "same-search" else 2
        return self._clusters.compute_interval(2, highest) or (None, None)

    def compute_differences(self) -> tuple[float | None, float | None, float | None]:
        """Return the Elo difference to the engine and the two ends of its 95 %
        interval, with games as clusters; None where unbounded.
        """
        low, high = self.compute_score_interval()
        return (
            convert_score_to_difference(self.expected_score),
            convert_score_to_difference(low),
            convert_score_to_difference(high),
        )


class ConformingMoves(PlayerMoves):
    """Counter that also counts the three kinds of conformance (Alliot 2017, section
    3.2) and the results.
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
        """Add all moves of some games. ``moves`` has the columns of
        ``COUNTED_COLUMNS``.
        """
        super().add(moves)
        # A game's result is only used if one of its moves counts. Otherwise a forfeited
        # game would be attributed to the player who made its only move.
        counted = moves.filter("counted").drop_nulls("gain_cp")
        for best_cp, gain_cp, ply in counted.select(
            "best_cp", "gain_cp", "ply"
        ).iter_rows():
            for conformance in self.kinds:
                conformance.add(best_cp, gain_cp, ply=ply)
        scores = counted.drop_nulls("score").unique("game")["score"]
        self.points += float(scores.sum())
        self.results += len(scores)


class PairedMoves(PlayerMoves):
    """Counter that also counts the data from which pairings are predicted (Alliot 2017,
    sections 3.3 and 3.4).
    """

    def __init__(self, gain: GainKind, classes: EvaluationClasses = NINETEEN) -> None:
        super().__init__(gain)
        self.shortfalls = GainHistogram()
        self.tanh = GainHistogram()
        self.transitions = Transitions(classes)

    @property
    def counted(self) -> int:
        """Number of moves that count for Alliot's methods."""
        return self.shortfalls.n

    def add(self, moves: DataFrame) -> None:
        """Add all moves of some games. ``moves`` has the columns of
        ``COUNTED_COLUMNS``.
        """
        super().add(moves)
        counted = moves.filter("counted").drop_nulls("gain_cp")
        self.shortfalls.merge(GainHistogram(counted["gain_cp"]))
        columns = "colour", "best_cp", "gain_cp", "year"
        for color, best_cp, gain_cp, year in counted.select(columns).iter_rows():
            weighed = convert_conformance_to_gain(TANH_CONFORMANCE, best_cp, gain_cp)
            if weighed is not None:
                self.tanh.add(weighed)
            self.transitions.add(color, best_cp, gain_cp, year or 0)

    def merge(self, other: PairedMoves) -> None:
        """Add the data of ``other`` from which pairings are predicted, but none of its
        other figures.
        """
        self.shortfalls.merge(other.shortfalls)
        self.tanh.merge(other.tanh)
        self.transitions.merge(other.transitions)


def gather_moves(
    data: StudyData,
    make: Callable[[GainKind], Moves],
    *keys: str,
    only: Collection[tuple[Any, ...]] | None = None,
    with_rest: bool = False,
) -> dict[tuple[Any, ...], Moves]:
    """Return the selected players' moves in one counter for each combination of values
    in the columns ``keys``.

    Args:
        data: the selection.
        make: creates a counter for a kind of gain.
        keys: names of the columns.
        only: the combinations of values to gather; None for all.
        with_rest: whether to gather also the moves of all other combinations, by the
            value in the first column alone.
    """
    moves_of: dict[tuple[Any, ...], Moves] = {}
    for frame in data.read_moves(COUNTED_COLUMNS):
        for key, moves in frame.partition_by(*keys, as_dict=True).items():
            if only is not None and key not in only:
                if not with_rest:
                    continue
                key = key[:1]
            if key not in moves_of:
                moves_of[key] = make(data.selection.gain)
            moves_of[key].add(moves)
    return moves_of


def gather_by_player(
    data: StudyData, make: Callable[[GainKind], Moves]
) -> dict[int, Moves]:
    """Gather moves by the player's number, in the order of the selection; leave out
    players with too few moves.
    """
    moves_of = gather_moves(data, make, "player")
    least_moves = max(1, data.selection.min_moves)
    moves_by_player = {
        player: moves_of[player,] for player in data.players if (player,) in moves_of
    }
    return {
        player: moves
        for player, moves in moves_by_player.items()
        if moves.gains.n >= least_moves
    }


def gather_by_year(
    data: StudyData, make: Callable[[GainKind], Moves]
) -> dict[tuple[int, int], Moves]:
    """Gather moves by player and year; leave out games without a year."""
    moves_by_year = gather_moves(data, make, "player", "year")
    return {
        (player, year): moves
        for (player, year), moves in moves_by_year.items()
        if year is not None
    }
