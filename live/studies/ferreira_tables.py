"""Ferreira's tables (2012) about a selection of a corpus.

Expected scores are computed by Algorithm 1 with intervals, players' ratings by
Algorithm 2, the engine's rating by Algorithm 3, and players' ratings against the engine
by Algorithm 4. The engine's gains are either assumed to be 0 or measured. Matches
between pairs of players are compared by their results and by the gains of the match.
The last tables address questions that the paper leaves open, as far as a corpus can
answer them.
"""

import itertools
from array import array
from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

import numpy as np
import polars
from polars import col

from live.ratings.algorithm_2 import solve_differences
from live.ratings.covariance import predict_by_covariance
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.ferreira import Floats, compute_expected_score_between
from live.ratings.gains import GainHistogram
from live.ratings.match import compute_match_statistics
from live.ratings.match_games import GameCounts
from live.studies.player_moves import SPIKE, PlayerMoves, gather_by_player, gather_moves
from live.studies.player_strengths import (
    compute_interval_of_mean,
    measure_engine,
    solve_strengths,
)
from live.studies.study_data import Encounter, StudyData, choose_gain_column
from live.studies.study_tables import (
    SUCCESSIVE,
    Row,
    Rows,
    build_interval_columns,
    define_table,
)

#: Largest number of stays (one player at one event) that are compared pairwise.
#: Comparing all would give millions of rows.
MOST_STAYS = 50
#: Largest number of moves in a curve. The curve hardly changes beyond it.
_MOST_MOVES = 500
_EXPECTED = build_interval_columns("expected", 3)


def _sum_encounters(
    data: StudyData, players: dict[int, PlayerMoves]
) -> dict[tuple[int, int], Encounter]:
    """Return the searched games between each pair of players, over all events."""
    encounters = defaultdict(list)
    for key, encounter in data.count_encounters(searched=True).items():
        player, opponent, _ = key
        if player in players and opponent is not None and opponent in players:
            encounters[player, opponent].append(encounter)
    return {pair: Encounter.sum(met) for pair, met in encounters.items()}


def _compare_gains(own: PlayerMoves, opponent: PlayerMoves) -> tuple[float | None, ...]:
    """Return the expected score of ``own`` against ``opponent`` by their gains, the two
    ends of the interval of this score, and the difference in Elo.
    """
    prediction = predict_by_covariance(own.gains, opponent.gains)
    return (
        prediction.expected_score,
        prediction.low,
        prediction.high,
        convert_score_to_difference(prediction.expected_score),
    )


@define_table(
    "matches",
    "Match statistics",
    "Chess Programming Wiki, Match Statistics",
    "player",
    "opponent",
    "games",
    "wins",
    "draws",
    "losses",
    ("score", 3, "points a game"),
    *build_interval_columns("elo", 0, "logistic Elo difference; empty where unbounded"),
    ("los", 3, "likelihood of superiority, exact"),
    notes=("Games without a result, or with two, are left out.",),
    engine="",
)
def matches_table(data: StudyData) -> Rows:
    """Build the table of results between each pair of selected players, and of each
    player against all others.
    """
    encounters: dict[tuple[int, int | None], list[Encounter]] = defaultdict(list)
    for key, encounter in data.count_encounters(searched=False).items():
        player, opponent, _ = key
        for group in {None, opponent}:
            encounters[player, group].append(encounter)
    for player, opponent in itertools.product(data.players, (None, *data.players)):
        total = Encounter.sum(encounters[player, opponent])
        if total.decided:
            figures = compute_match_statistics(
                GameCounts(total.won, total.drawn, total.lost)
            )
            yield (
                data.players[player],
                "everybody" if opponent is None else data.players[opponent],
                total.decided,
                total.won,
                total.drawn,
                total.lost,
                figures.score,
                figures.elo,
                figures.elo_low,
                figures.elo_high,
                figures.los_exact,
            )


@define_table(
    "ferreira-1",
    "Cross-table of expected scores",
    "Ferreira 2012, Tables 1 and 5",
    "player",
    "opponent",
    "games",
    ("points", 1, "of the player in these games"),
    *build_interval_columns(
        "expected", 3, "expected score of a game by all gains of both"
    ),
    ("difference", 0, "Elo by which the player is the stronger"),
)
def cross_table(data: StudyData) -> Rows:
    """Build the cross-table of each pair of players who met: result, expected score and
    difference.
    """
    moves_of = gather_by_player(data, PlayerMoves)
    encounters = _sum_encounters(data, moves_of)
    for player, opponent in itertools.permutations(moves_of, 2):
        if (player, opponent) in encounters:
            met = encounters[player, opponent]
            yield (
                data.players[player],
                data.players[opponent],
                met.decided,
                met.points if met.decided else None,
                *_compare_gains(moves_of[player], moves_of[opponent]),
            )


@define_table(
    "ferreira-2",
    "Players at one event against players at another",
    "Ferreira 2012, Table 2",
    "player",
    "event",
    "moves",
    "opponent",
    "at",
    "their moves",
    *_EXPECTED,
    ("difference", 0),
)
def event_table(data: StudyData) -> Rows:
    """Build Ferreira's Table 2: each player at one event, compared by gains with each
    player at another event.
    """
    column = choose_gain_column(data.selection.gain)
    long_stays = (
        data.scan_moves()
        .drop_nulls(["event", column])
        .group_by("player", "event")
        .len("n")
        .filter(col("n") >= max(1, data.selection.min_moves))
        .collect()
        .rows()
    )
    order = {player: place for place, player in enumerate(data.players)}
    long_stays.sort(key=lambda stay: (-stay[2], order[stay[0]], stay[1]))
    keys = [stay[:2] for stay in long_stays[:MOST_STAYS]]
    keys.sort(key=lambda key: (order[key[0]], key[1]))
    moves_of = gather_moves(data, PlayerMoves, "player", "event", only=keys)
    for stay, other_stay in itertools.combinations(keys, 2):
        if stay[1] != other_stay[1]:
            names: Row = ()
            for player, event in (stay, other_stay):
                n = moves_of[player, event].gains.n
                names += (data.players[player], data.events.get(event, ""), n)
            yield *names, *_compare_gains(moves_of[stay], moves_of[other_stay])
    if len(long_stays) > MOST_STAYS:
        yield (
            f"Of {len(long_stays)} players at an event, the {MOST_STAYS} with the most"
            " moves are compared. To compare others, name players and events."
        )


@define_table(
    "ferreira-3",
    "Matches by the gains of the match",
    "Ferreira 2012, Table 3",
    "player",
    "opponent",
    "event",
    "games",
    ("points", 1),
    ("moves", None, "of both"),
    *_EXPECTED,
    ("difference", 0),
    ("strength", 0, "of the player by Algorithm 2, from these differences"),
    ("opponent's", 0, "strength of the opponent"),
)
def gain_comparison_table(data: StudyData) -> Rows:
    """Build Ferreira's Table 3: two players compared only by the gains of their own
    games against each other, and each player's strength by Algorithm 2 from these
    differences.
    """
    moves_of = gather_moves(data, PlayerMoves, "player", "opponent", "event")
    encounters = data.count_encounters(searched=True)
    order = {player: place for place, player in enumerate(data.players)}
    matches = [
        key for key in moves_of if key[1] in order and order[key[0]] <= order[key[1]]
    ]
    matches.sort(key=lambda key: (order[key[0]], order[key[1]], key[2] or 0))
    rows: list[tuple[int, int, Row]] = []
    differences: dict[tuple[str, str], list[float]] = defaultdict(list)
    elos: dict[str, list[float]] = defaultdict(list)
    for player, opponent, event in matches:
        own = moves_of[player, opponent, event]
        other = moves_of.get((opponent, player, event))
        if other is None:
            continue
        if min(own.gains.n, other.gains.n) < max(1, data.selection.min_moves):
            continue
        compared = _compare_gains(own, other)
        if compared[-1] is not None:
            differences[str(player), str(opponent)].append(compared[-1])
        for number, moves in ((player, own), (opponent, other)):
            if moves.elo is not None:
                elos[str(number)].append(moves.elo)
        met = encounters.get((player, opponent, event), Encounter())
        cells = (
            data.players[player],
            data.players[opponent],
            data.events.get(event, ""),
            own.games,
            met.points if met.decided else None,
            own.gains.n + other.gains.n,
            *compared,
        )
        rows.append((player, opponent, cells))
    strengths = solve_differences(
        {pair: fmean(values) for pair, values in differences.items()},
        {player: round(fmean(values)) for player, values in elos.items()},
    )
    for player, opponent, cells in rows:
        pair = (strengths.get(str(number)) for number in (player, opponent))
        yield *cells, *(strength and strength.rating for strength in pair)


@define_table(
    "ferreira-4",
    "Strength of the engine by Algorithm 3",
    "Ferreira 2012, Table 4",
    "player",
    "moves",
    ("r", 0, "own rating"),
    ("r'", 0, "Algorithm 2"),
    ("p", 3, "expected score against the engine"),
    ("d", 0),
    ("r - d", 0, "the engine by the own rating"),
    ("r' - d", 0, "the engine by Algorithm 2"),
)
def engine_table(data: StudyData) -> Rows:
    """Build Ferreira's Table 4: the engine's rating as derived from each player."""
    moves_of = gather_by_player(data, PlayerMoves)
    strengths = solve_strengths(data, moves_of, _sum_encounters(data, moves_of))
    engine = measure_engine(data, moves_of, strengths)
    for (player, moves), row in zip(moves_of.items(), engine.rows, strict=True):
        yield (
            row.player,
            moves.gains.n,
            moves.elo,
            strengths[player].rating if player in strengths else None,
            moves.expected_score,
            row.difference,
            row.by_elo,
            row.by_strength,
        )
    yield "average", None, None, None, None, None, engine.by_elo, engine.by_strength
    yield "Ferreira, London 2011, Houdini 1.5a at depth 20: 2860 by both columns."
    estimates_by_elo = [row.by_elo for row in engine.rows if row.by_elo is not None]
    if len(estimates_by_elo) > 1:
        low, high = compute_interval_of_mean(estimates_by_elo)
        yield f"95 % interval of the average by Elo: {low:.0f} to {high:.0f}."


@define_table(
    "ferreira-5",
    "Strength of players by Algorithm 4, and by Algorithm 2 from their comparisons",
    "Ferreira 2012, Tables 1, 3, 5 and 6 (right-hand columns)",
    "player",
    ("elo", 0, "mean of the own ratings"),
    "games",
    "moves",
    ("p", 3, "expected score against the engine"),
    ("d", 0, "Elo against the engine"),
    ("strength", 0, "Algorithm 4: engine strength and d"),
    ("low", 0, "95 % interval of strength, games being clusters"),
    ("high", 0),
    *build_interval_columns(
        "algorithm 2", 0, "from the comparisons with those met", "low 2", "high 2"
    ),
)
def strengths_table(data: StudyData) -> Rows:
    """Build the table of strengths by Ferreira's Algorithms 2 and 4 with intervals: the
    right-hand columns of Tables 1 and 5.
    """
    moves_of = gather_by_player(data, PlayerMoves)
    strengths = solve_strengths(data, moves_of, _sum_encounters(data, moves_of))
    engine = measure_engine(data, moves_of, strengths).by_elo
    for player, moves in sorted(
        moves_of.items(),
        key=lambda item: (-(item[1].expected_score or 0.0), data.players[item[0]]),
    ):
        ends = moves.compute_differences()
        strength = strengths.get(player)
        second: Row = (None, None, None)
        if strength is not None and strength.rating is not None:
            second = strength.rating, strength.low, strength.high
        yield (
            data.players[player],
            moves.elo,
            moves.games,
            moves.gains.n,
            moves.expected_score,
            ends[0],
            *(None if engine is None or end is None else engine + end for end in ends),
            *second,
        )
    strength_of_engine = "unknown" if engine is None else f"{engine:.0f}"
    yield (
        f"Algorithm 3: engine strength {strength_of_engine}, the mean over these"
        " players' own ratings."
    )


@define_table(
    "ferreira-curve",
    "Difference to the engine after each move",
    "Ferreira 2012, section 7, Figure 6",
    "player",
    ("moves", None, "so far, games in the order of the corpus"),
    ("gain_cp", None, "of this move"),
    ("p", 3, "expected score against the engine"),
    ("d", 1, "Elo against the engine; none while p is 0 or 1"),
    notes=(
        f"The first {_MOST_MOVES} moves of each player. See --event for a single"
        " event.",
    ),
)
def curve_table(data: StudyData) -> Rows:
    """Build the table of Ferreira's Figure 6: each player's Elo difference to the
    engine after each move.
    """
    gain = choose_gain_column(data.selection.gain)
    parts = (col(gain).sign() + 1) / 2
    moves = (
        data.scan_moves()
        .select("game", "ply", "player", gain)
        .drop_nulls(gain)
        .sort("game", "ply")
        .with_columns(n=polars.int_range(1, polars.len() + 1).over("player"))
        .filter(col("n") <= _MOST_MOVES)
        .with_columns(p=parts.cum_sum().over("player") / col("n"))
        .select("player", "n", gain, "p")
        .collect()
    )
    for player, name in data.players.items():
        for _, n, gain_cp, p in moves.filter(player=player).iter_rows():
            # While all gains are negative, p is 0 and the difference is unbounded
            # (None).
            yield name, n, gain_cp, p, convert_score_to_difference(p)


@define_table(
    "ferreira-distribution",
    "Distribution of gain in steps of 1 centipawn",
    "Ferreira 2012, Figure 3",
    "player",
    "gain_cp",
    "moves",
    ("share", 6, "of the player's moves"),
)
def distribution_table(data: StudyData) -> Rows:
    """Build the table of Ferreira's Figure 3: number of moves by gain in centipawns,
    including the spike at 0.
    """
    for player, moves in gather_by_player(data, PlayerMoves).items():
        for gain_cp, count in moves.gains:
            yield data.players[player], gain_cp, count, count / moves.gains.n


@define_table(
    "engine-distribution",
    "Players against the engine with its gains all 0, and as they were measured",
    "Ferreira 2012, sections 6, 7 and 10 (his open end)",
    "player",
    "moves",
    ("p spike", 3),
    ("d spike", 0),
    ("p measured", 3),
    ("d measured", 0),
    notes=(
        "Same-search gains of the engine are 0 by construction: this is about"
        " successive ones.",
    ),
    engine=SUCCESSIVE,
)
def measured_engine_table(data: StudyData) -> Rows:
    """Build the table of players against the engine, once with all gains of the engine
    set to 0 and once with its measured gains.
    """
    engine = _collect_engine_gains(data)
    moves_of = gather_by_player(data, lambda _: PlayerMoves("successive"))
    for player, moves in moves_of.items():
        row: Row = (data.players[player], moves.gains.n)
        for engine_gains in (SPIKE, engine):
            score = compute_expected_score_between(moves.gains, engine_gains)
            row += (score, convert_score_to_difference(score))
        yield row
    zeros = engine[0] / max(1, engine.n)
    mean = engine.mean or 0.0
    yield (
        f"The engine's gains: {engine.n} successive gains of moves that were its first"
        f" choice, {zeros:.1%} of them 0, mean {mean:.1f} cp."
    )


@define_table(
    "engine-gains",
    "The engine's own gains in steps of 1 centipawn",
    "Ferreira 2012, sections 7 and 10 (his open end)",
    "gain_cp",
    "moves",
    engine="{setting}",
    about="everybody",
)
def engine_gains_table(data: StudyData) -> Rows:
    """Build the table that counts the engine's own successive gains. The configuration
    option ``[rating] engine_distribution`` reads this table.
    """
    engine = _collect_engine_gains(data)
    yield from engine
    yield f"Successive gains of {engine.n} moves that were the engine's first choice."


def _collect_engine_gains(data: StudyData) -> GainHistogram:
    """Collect the successive gains of the moves that were the engine's first choice."""
    own = data.scan_moves(all_players=True).filter(col("move") == col("best"))
    return GainHistogram(
        own.select("successive_cp").drop_nulls().collect()["successive_cp"]
    )


#: Smallest number of moves that each side needs in a game; with fewer, the two methods
#: cannot be compared.
_LEAST_MOVES = 10
#: Number of random resamplings of the games from which intervals are estimated.
_DRAWS = 2_000


@define_table(
    "question-engine",
    "Differences of two players by way of the engine, beside those between them",
    "Ferreira 2012, sections 4 and 7: 142 for 113, so 1.26",
    "engine's gains",
    "games",
    ("slope", 3, "of the one on the other; 1: they agree"),
    ("low", 3, "95 % interval, games drawn again"),
    ("high", 3),
    ("apart", 1, "root mean square of what is between them, Elo"),
    notes=(
        f"Games with {_LEAST_MOVES} moves of each side and no unbounded difference.",
    ),
    engine=SUCCESSIVE,
    about="everybody",
)
def engine_gap_table(data: StudyData) -> Rows:
    """Build the table that compares two estimates of the Elo difference of two players:
    one from each player's difference to the engine, and one by direct comparison.

    For the game in the paper, Ferreira's Algorithm 1 gives a difference of 113 Elo, and
    the results of Algorithm 4 for the two players differ by 142.
    """
    measured = _collect_engine_gains(data)
    # Three figures per game, 24 bytes. They are kept in memory because the games are
    # resampled below.
    figures = array("d")
    for white, black in _read_successive_gains(data):
        direct = _compare_directly(white, black)
        by_spike = _compare_through(SPIKE, white, black)
        by_measured = _compare_through(measured, white, black)
        if direct is not None and by_spike is not None and by_measured is not None:
            figures.extend((direct, by_spike, by_measured))
    differences = np.array(figures).reshape(-1, 3).T.copy()
    if differences.shape[1] > 1:
        direct_elo, by_spike_elo, by_measured_elo = differences
        yield "all 0", *_regress_differences(direct_elo, by_spike_elo)
        yield "as measured", *_regress_differences(direct_elo, by_measured_elo)


def _compare_directly(own: GainHistogram, opponent: GainHistogram) -> float | None:
    return convert_score_to_difference(compute_expected_score_between(own, opponent))


def _compare_through(
    engine: GainHistogram, white: GainHistogram, black: GainHistogram
) -> float | None:
    """Return White's Elo difference to the engine minus Black's; None if one of them
    is unknown.
    """
    ahead = _compare_directly(white, engine)
    behind = _compare_directly(black, engine)
    return None if ahead is None or behind is None else ahead - behind


def _regress_differences(x: Floats, y: Floats) -> Row:
    """Return the number of games, the slope of the line from ``x`` to ``y`` through the
    origin, the ends of its interval, and the root mean square of ``y`` less ``x``.
    """
    n = len(x)
    random = np.random.default_rng(0)
    products = np.stack([x * y, x * x])
    slopes = []
    # The games are resampled one sample at a time: all samples together would need two
    # thousand times the memory of the games.
    for _ in range(_DRAWS):
        xy, xx = products[:, random.integers(0, n, n)].sum(axis=1)
        slopes.append(xy / max(xx, 1e-9))
    low, high = np.quantile(slopes, (0.025, 0.975)).tolist()
    xy, xx = products.sum(axis=1)
    apart = float(np.sqrt(np.mean((y - x) ** 2)))
    return n, float(xy / max(xx, 1e-9)), low, high, apart


def _read_successive_gains(
    data: StudyData,
) -> Iterator[tuple[GainHistogram, GainHistogram]]:
    """Yield the gains of White and of Black in each game in which both have enough
    moves.
    """
    for frame in data.read_moves(["game", "colour", "successive_cp"], all_players=True):
        for game in frame.drop_nulls().partition_by("game"):
            white, black = (
                GainHistogram(game.filter(colour=color)["successive_cp"])
                for color in ("white", "black")
            )
            if min(white.n, black.n) >= _LEAST_MOVES:
                yield white, black


TABLES = (
    matches_table,
    cross_table,
    event_table,
    gain_comparison_table,
    engine_table,
    strengths_table,
    curve_table,
    distribution_table,
    measured_engine_table,
    engine_gains_table,
    engine_gap_table,
)
