"""Ferreira's figures (2012): cells of Tables 1 to 6, Figures 1, 3 and 6, and section 8.

An occasion is a set of games, such as an event. Players are compared by all their gains
on one occasion, or by the gains of their own games against each other. The engine is
measured by Algorithm 3 over the players of one occasion.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from live.messages.figures import GainKind
from live.ratings.algorithm_2 import Strength, solve_differences
from live.ratings.covariance import predict_by_covariance
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.ferreira import Algorithm3, compute_expected_score_between
from live.ratings.gains import GainHistogram
from live.ratings.predictions import Prediction
from live.studies.papers.comparison import Measured
from live.studies.papers.measures import (
    Evidence,
    Figures,
    Key,
    list_occasion_games,
    measure,
    measure_known,
    measure_prediction,
    measure_share,
)
from live.studies.papers.printed import PrintedTable
from live.studies.player_moves import SPIKE, PlayerMoves, gather_moves
from live.studies.player_strengths import (
    compute_interval_of_mean,
    measure_engine,
    solve_strengths,
)

_BOTH: tuple[GainKind, ...] = ("same-search", "successive")


class OccasionMoves(NamedTuple):
    """Moves of the players of an occasion, by the names that the paper uses."""

    players: dict[str, PlayerMoves]
    matches: dict[tuple[str, str], PlayerMoves]
    """Moves against one opponent only, by player and opponent."""
    strengths: dict[str, Strength]
    """Strengths of all players who met, by Ferreira's Algorithm 2 from all their gains.
    """
    engine: Algorithm3
    """The engine's strength by Ferreira's Algorithm 3 over all players."""


_NOBODY = OccasionMoves({}, {}, {}, Algorithm3((), None, None))


@lru_cache(maxsize=64)
def gather_occasion(evidence: Evidence, name: str) -> OccasionMoves:
    """Gather the moves of an occasion; return no moves if too few of its games are
    searched.
    """
    if not evidence.has_enough_of(name):
        return _NOBODY
    games = evidence.list_games_of_occasion(name)
    data = evidence.open_study(games, evidence.find_people(name))
    names = data.players
    players = {
        player: moves
        for (player,), moves in gather_moves(data, PlayerMoves, "player").items()
    }
    matches = gather_moves(data, PlayerMoves, "player", "opponent")
    strengths = solve_strengths(data, players, matches)
    return OccasionMoves(
        {names[player]: moves for player, moves in players.items()},
        {(names[pair[0]], names[pair[1]]): moves for pair, moves in matches.items()},
        {names[player]: strength for player, strength in strengths.items()},
        measure_engine(data, players, strengths),
    )


def _predict_pair(own: PlayerMoves | None, opponent: PlayerMoves | None) -> Prediction:
    """Return the expected score by Ferreira's Algorithm 1, with an interval that
    follows from the moves of both players.
    """
    if own is None or opponent is None:
        return Prediction()
    return predict_by_covariance(own.gains, opponent.gains)


def _measure_difference(prediction: Prediction) -> Measured | None:
    """Return the difference in Elo; None if it is unknown or unbounded."""
    return measure_known(
        convert_score_to_difference(prediction.expected_score),
        convert_score_to_difference(prediction.low),
        convert_score_to_difference(prediction.high),
    )


def _compare_rows(table: PrintedTable, evidence: Evidence) -> dict[Key, Prediction]:
    """Compare players by all their gains (Ferreira 2012, Tables 1 and 2), or by the
    gains of the games against each other (Table 3).
    """
    own_occasion = gather_occasion(evidence, table.at)
    other_occasion = (
        gather_occasion(evidence, table.than) if table.than else own_occasion
    )
    pairs = {}
    for row in table.rows:
        own = own_occasion.players.get(row.one)
        opponent = other_occasion.players.get(row.other)
        if table.measure.startswith("match-"):
            own = own_occasion.matches.get((row.one, row.other))
            opponent = own_occasion.matches.get((row.other, row.one))
        pairs[row.key] = _predict_pair(own, opponent)
    return pairs


@measure("expected", "match-expected", games=list_occasion_games, gains=_BOTH)
def measure_expected_scores(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the expected score of each pair."""
    pairs = _compare_rows(table, evidence)
    return {key: measure_prediction(pair) for key, pair in pairs.items()}


@measure("difference", "match-difference", games=list_occasion_games, gains=_BOTH)
def expect_differences(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the Elo difference of each pair."""
    pairs = _compare_rows(table, evidence)
    return {key: _measure_difference(pair) for key, pair in pairs.items()}


@measure("algorithm-2", games=list_occasion_games, gains=_BOTH)
def rate_players(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the players' ratings by Algorithm 2, from all their gains (Ferreira 2012,
    Table 1).
    """
    return _take_ratings(table, gather_occasion(evidence, table.at).strengths)


@measure("algorithm-2-matches", games=list_occasion_games, gains=_BOTH)
def solve_match_strengths(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the players' ratings by Algorithm 2, from the gains of their matches
    (Ferreira 2012, Table 3).
    """
    moves = gather_occasion(evidence, table.at)
    differences: dict[tuple[str, str], Measured] = {}
    for player, opponent in moves.matches:
        pair = moves.matches[player, opponent], moves.matches.get((opponent, player))
        difference = _measure_difference(_predict_pair(*pair))
        if player < opponent and difference is not None:
            differences[player, opponent] = difference
    elos = {
        name: player_moves.elo
        for name, player_moves in moves.players.items()
        if player_moves.elo is not None
    }
    return _take_ratings(table, solve_with_intervals(differences, elos))


def solve_with_intervals(
    differences: Mapping[tuple[str, str], Measured], elos: Mapping[str, float]
) -> dict[str, Strength]:
    """Solve differences for strengths with intervals. The differences are independent,
    so the changes that their ends cause in a strength are added as squares.
    """
    values = {pair: difference.value for pair, difference in differences.items()}
    strengths = solve_differences(values, elos)
    below: dict[str, float] = defaultdict(float)
    above: dict[str, float] = defaultdict(float)
    for pair, difference in differences.items():
        for end in (difference.low, difference.high):
            if end is None:
                return strengths
            for name, moved in solve_differences(values | {pair: end}, elos).items():
                shift = (moved.rating or 0.0) - (strengths[name].rating or 0.0)
                side = above if shift > 0 else below
                side[name] += shift**2
    return {
        name: strength._replace(
            low=strength.rating - sqrt(below[name]),
            high=strength.rating + sqrt(above[name]),
        )
        for name, strength in strengths.items()
        if strength.rating is not None
    }


def _take_ratings(table: PrintedTable, strengths: dict[str, Strength]) -> Figures:
    return {
        row.key: Measured(strength.rating, strength.low, strength.high)
        for row in table.rows
        if (strength := strengths.get(row.one)) is not None
        and strength.rating is not None
    }


def _measure_players(
    table: PrintedTable,
    evidence: Evidence,
    make: Callable[[PlayerMoves], Measured | None],
) -> Figures:
    """Return, for each row whose player has moves in the table's occasion, the figure
    that ``make`` computes from these moves.
    """
    players = gather_occasion(evidence, table.at).players
    return {row.key: make(players[row.one]) for row in table.rows if row.one in players}


@measure("zeros", games=list_occasion_games, gains=_BOTH)
def measure_zero_gain_shares(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the shares of gains that are exactly 0 (Ferreira 2012, Figure 3)."""

    def compute_share(moves: PlayerMoves) -> Measured | None:
        n = moves.gains.n
        return measure_share(moves.gains[0], n) if n else None

    return _measure_players(table, evidence, compute_share)


@measure("score", games=list_occasion_games, gains=_BOTH)
def measure_scores_against_engine(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the expected scores against the engine (Ferreira 2012, Tables 4 and 5)."""

    def compute_score(moves: PlayerMoves) -> Measured | None:
        return measure_known(moves.expected_score, *moves.compute_score_interval())

    return _measure_players(table, evidence, compute_score)


@measure("against-engine", games=list_occasion_games, gains=_BOTH)
def measure_differences_to_engine(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the Elo differences to the engine (Ferreira 2012, Tables 4 and 5, Figure
    6).
    """
    return _measure_players(table, evidence, _compare_with_engine)


def _compare_with_engine(moves: PlayerMoves) -> Measured | None:
    return measure_known(*moves.compute_differences())


@measure("engine-by-elo", "engine-by-strength", games=list_occasion_games, gains=_BOTH)
def rate_engine(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the engine's rating derived from each player, either from the player's own
    rating or from the player's strength, and the mean of these ratings (Ferreira 2012,
    Table 4).
    """
    is_by_elo = table.measure == "engine-by-elo"
    ratings: dict[str, float] = {}
    for estimate in gather_occasion(evidence, table.at).engine.rows:
        rating = estimate.by_elo if is_by_elo else estimate.by_strength
        if rating is not None:
            ratings[estimate.player] = rating
    figures = {name: Measured(rating) for name, rating in ratings.items()}
    if len(ratings) > 1:
        ends = compute_interval_of_mean([*ratings.values()])
        figures["average"] = Measured(fmean(ratings.values()), *ends)
    return {row.key: figures.get(row.one) for row in table.rows}


@measure("strength", games=list_occasion_games, gains=_BOTH)
def rate_by_engine(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the players' ratings by Algorithm 4, with the engine's rating as measured
    for the reference occasion (Ferreira 2012, Tables 5 and 6).
    """
    engine = gather_occasion(evidence, table.reference).engine.by_elo
    if engine is None:
        return {}
    names = {row.at or table.at for row in table.rows}
    players_by_occasion = {
        name: gather_occasion(evidence, name).players for name in sorted(names)
    }
    figures: dict[Key, Measured] = {}
    for row in table.rows:
        players = players_by_occasion[row.at or table.at]
        if row.one in players:
            difference = _compare_with_engine(players[row.one])
            if difference is not None:
                ends = [None if end is None else engine + end for end in difference]
                figures[row.key] = Measured(engine + difference.value, *ends[1:])
    values = [figure.value for key, figure in figures.items() if key[0] != "average"]
    if len(values) == len(table.rows) - 1:
        figures["average", "", ""] = Measured(fmean(values))
    return figures


# --- from printed numbers alone -------------------------------------------------------


@measure("printed-gains")
def recompute_figures(table: PrintedTable, evidence: Evidence) -> Figures:
    """Compute Ferreira's Figures 1, 3 and 6 from the evaluations in Figure 1."""
    evaluations = evidence.paper.evaluations_cp
    changes = [after - before for before, after in pairwise(evaluations)]
    gains = {
        "Byrne": GainHistogram(changes[::2]),
        "Fischer": GainHistogram(-change for change in changes[1::2]),
    }
    [engine] = evidence.paper.find_table("ferreira-table-4").rows
    values: dict[tuple[str, str], float | None] = {}
    to_engine = {}
    for (name, own), opponent in zip(
        gains.items(), reversed(gains.values()), strict=True
    ):
        score = compute_expected_score_between(own, opponent)
        against = compute_expected_score_between(own, SPIKE)
        to_engine[name] = convert_score_to_difference(against or 0.0) or 0.0
        values |= {
            (name, "mean gain"): (own.mean or 0.0) / 100,
            (name, "p"): score,
            (name, "d"): convert_score_to_difference(score or 0.0),
            (name, "moves at 0"): own[0],
            (name, "share at 0"): own[0] / own.n,
            (name, "d to the engine"): to_engine[name],
            (name, "strength"): engine.value + to_engine[name],
        }
    values["Fischer", "ahead by the engine"] = to_engine["Fischer"] - to_engine["Byrne"]
    return {
        row.key: measure_known(values.get((row.one, row.other))) for row in table.rows
    }


@measure("printed-algorithm-2")
def rate_from_printed_differences(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the players' ratings by Ferreira's Algorithm 2, from the printed
    differences.
    """
    rows = evidence.paper.find_table(table.solves).rows
    differences = {(row.one, row.other): row.value for row in rows}
    return _take_ratings(table, solve_differences(differences, table.elos))
