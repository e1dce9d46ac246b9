"""Alliot's tables about games (2017): correlations with results, with errors and with
evaluations.

Alliot (2017, sections 4.2.1 and 4.3.1) correlates indicators with results by Pearson's
ρ and fits ``r = β d + α``. He tested his constants on the games from which he chose
them. Here the games are summed in ten folds, so that each line can also be tested on
games to which it was not fitted.

Each table is made in one pass with running sums, so memory does not grow with the
number of games. Each correlation and each line has an interval.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter

import numpy as np
import polars
from polars import DataFrame, Float64, Int64, col

from live.messages.values import Value
from live.ratings.conformance import (
    GUID_BRATKO,
    PONDERATED,
    PONDERATED_BY_REGRESSION,
    RAW,
    Conformance,
    build_ponderated,
)
from live.ratings.ferreira import Floats
from live.ratings.markov import TEN
from live.ratings.score_interval import compute_score_interval
from live.studies.line_fits import (
    Correlation,
    LineFit,
    LineSums,
    compute_fisher_interval,
)
from live.studies.study_data import StudyData
from live.studies.study_tables import Row, Rows, build_interval_columns, define_table

#: Values of x for p(x), the share of moves that lose at most x centipawns.
STEPS_CP = tuple(range(0, 205, 5))
#: Kinds of conformance in Alliot's Figure 4 and two symmetric kinds.
KINDS: tuple[tuple[str, Conformance], ...] = (
    ("raw", RAW),
    ("guid-bratko", GUID_BRATKO),
    ("k1 = 1.44, k2 = -3.53", PONDERATED_BY_REGRESSION),
    ("k1 = 0.75, k2 = -3.30", PONDERATED),
    ("k1 = -k2 = 1.25", build_ponderated(1.25, -1.25)),
    ("k1 = -k2 = 3.00", build_ponderated(3.0, -3.0)),
)
#: Width and limit of the classes of evaluation in tables, centipawns.
_BIN_CP = 20
_MOST_CP = 400
FIT_COLUMNS = (
    "games",
    *build_interval_columns(
        "rho", 3, "correlation with the result, -1, 0 or 1 for White"
    ),
    ("mean", 3, "of the indicator, White less Black"),
    ("sd", 3),
    *build_interval_columns(
        "beta", 3, "result = beta indicator + alpha", low="beta low", high="beta high"
    ),
    ("alpha", 3),
    ("error", 3, "root mean square on games the line was not fitted to"),
    ("of mean", 3, "the same for the mean result alone"),
)


class CountedGame(Value):
    """Moves of one game that count for the statistics: the best score and the gain of
    each, from the mover's side. Only games with a result are used.
    """

    game: int
    result: float
    """Result for White: -1, 0 or 1."""
    sides: Sequence[tuple[tuple[int, int], ...]]
    """Moves of White and of Black."""
    players: tuple[int | None, int | None] = (None, None)
    """Numbers of White and of Black."""


def read_counted_games(data: StudyData) -> Iterator[CountedGame]:
    """Yield the games in which each side has at least one counted move, in the order of
    their numbers.
    """
    names = ["game", "colour", "player", "opponent", "score", "best_cp", "gain_cp"]
    for frame in data.read_moves([*names, "counted"], all_players=True):
        moves = frame.filter("counted").drop_nulls(["score", "gain_cp"]).select(names)
        for game, rows in itertools.groupby(moves.iter_rows(), itemgetter(0)):
            sides: dict[str, list[tuple[int, int]]] = {"white": [], "black": []}
            result = 0.0
            players = None, None
            for _, color, player, opponent, score, best_cp, gain_cp in rows:
                sides[color].append((best_cp, gain_cp))
                result = 2 * score - 1
                players = player, opponent
                if color == "black":
                    result = -result
                    players = opponent, player
            if all(sides.values()):
                both = tuple(map(tuple, sides.values()))
                yield CountedGame(game, result, both, players)


def fit_lines(
    data: StudyData,
    indicators: Sequence[Callable[[CountedGame], Floats | None]],
    count: int,
) -> list[LineFit]:
    """Fit lines from indicators to the results of all counted games, in one pass;
    return them in the order of the indicators. An indicator returns an array of shape
    (count,), with a line for each entry, or None for a game that it leaves out.
    """
    sums = [LineSums(count) for _ in indicators]
    for game in read_counted_games(data):
        for lines, indicator in zip(sums, indicators, strict=True):
            if (values := indicator(game)) is not None:
                lines.add(game.game, values, game.result)
    fits = []
    for lines in sums:
        fits += [lines.fit(index) for index in range(count)]
    return fits


@define_table(
    "alliot-conformance-results",
    "Accumulated conformance and the results of games",
    "Alliot 2017, section 4.2.1, Figures 4, 5 and 6",
    "conformance",
    "x_cp",
    *FIT_COLUMNS,
    notes=(
        "The paper's best x: 30 cp (Guid and Bratko 20), with beta 4.00 (raw), 3.37"
        " (Guid and Bratko), 3.64 (k1 = 0.75), and alpha 0.043, 0.067, -0.007.",
    ),
    about="everybody",
)
def correlation_table(data: StudyData) -> Rows:
    """Build the table of how White's p(x) minus Black's correlates with the result (ρ),
    with the fitted line (α and β), for each x and kind of conformance: Alliot's Figures
    4, 5 and 6.
    """
    for name, x_cp, fit in fit_share_differences(data):
        yield name, x_cp, *fit


def fit_share_differences(data: StudyData) -> Iterator[tuple[str, int, LineFit]]:
    """Yield the name of each kind of conformance, each x, and the line from White's
    p(x) minus Black's to the results of games.
    """
    indicators = [
        partial(compute_share_difference, kind=kind, steps_cp=STEPS_CP)
        for _, kind in KINDS
    ]
    fits = fit_lines(data, indicators, len(STEPS_CP))
    places = itertools.product(KINDS, STEPS_CP)
    for ((name, _), x_cp), fit in zip(places, fits, strict=True):
        yield name, x_cp, fit


def compute_share_difference(
    game: CountedGame, kind: Conformance, steps_cp: Sequence[int]
) -> Floats | None:
    """Return White's p(x) minus Black's at each step; None if either side has no move
    that this kind of conformance counts.
    """
    steps = np.array(steps_cp, dtype=np.float64)
    shares = []
    for side in game.sides:
        distances = [kind.measure_move(best_cp, gain_cp) for best_cp, gain_cp in side]
        distances_cp = np.sort(
            np.array([distance for distance in distances if distance is not None])
        )
        if not len(distances_cp):
            return None
        shares.append(
            np.searchsorted(distances_cp, steps, side="right") / len(distances_cp)
        )
    return np.asarray(shares[0] - shares[1], dtype=np.float64)


#: Indicators of the complexity of a position, by the names of Alliot's Table 4.
INDICATORS = ("D/t", "Stab", "JumpV", "JumpD", "JD x JV")
_ENDS = ("", " low", " high")


@define_table(
    "alliot-4",
    "Correlation of complexity with the size of errors",
    "Alliot 2017, section 4.1, Table 4",
    "player",
    "moves",
    *((f"{name}{end}", 3) for name, end in itertools.product(INDICATORS, _ENDS)),
    notes=(
        "low, high: 95 % interval, moves taken as independent.",
        "World champions in the paper: 0.053, 0.254, 0.308, 0.135, 0.312; others:"
        " 0.031, 0.104, 0.104, 0.138, 0.101.",
    ),
)
def complexity_table(data: StudyData) -> Rows:
    """Build Alliot's Table 4: the correlation of the size of errors with the complexity
    of the position.
    """
    for name, correlations in correlate_complexity(data):
        cells: Row = ()
        for correlation in correlations:
            cells += correlation[1:]
        yield name, max(correlation.n for correlation in correlations), *cells


def correlate_complexity(data: StudyData) -> Iterator[tuple[str, list[Correlation]]]:
    """Yield each player's name, and finally ``all``, with the correlation of each of
    ``INDICATORS`` with the size of errors.
    """
    usual = (
        _count_searches_by_depth(data)
        .sort("searches", "depth", descending=[True, False])
        .group_by("class", maintain_order=True)
        .agg(usual=col("depth").first(), most=col("searches").first())
    )
    # C(m) is from -1 (a depth below the usual one for the search time) to 1 (a depth
    # above it). By the formula of the paper, a complex position, in which the engine
    # reaches a smaller depth, has a value below 0.
    distance = (col("most") - col("searches")) / col("most")
    is_shallow = col("depth") <= col("usual")
    indicators = (
        polars.when(is_shallow).then(-distance).otherwise(distance),
        col("stability_cp"),
        col("jump_cp"),
        col("jump_depth"),
        col("jump_cp").cast(Int64) * col("jump_depth").fill_null(0),
    )
    moves = (
        _select_counted_moves(data)
        .with_columns(_classify_search_time())
        .join(_count_searches_by_depth(data), on=["class", "depth"], how="left")
        .join(usual, on="class", how="left")
        .select(
            "player",
            error=-col("gain_cp").cast(Float64),
            **dict(zip(INDICATORS, indicators, strict=True)),
        )
        .collect()
    )
    for player, name in [*data.players.items(), (None, "all")]:
        own = moves if player is None else moves.filter(player=player)
        yield name, [_correlate(own, indicator, "error") for indicator in INDICATORS]


def _correlate(rows: DataFrame, x: str, y: str) -> Correlation:
    """Return the correlation of two columns over the rows that have both."""
    pairs = rows.select(x, y).drop_nulls()
    rho = None
    if len(pairs) >= 4:
        rho = pairs.select(polars.corr(x, y).fill_nan(None)).item()
    return Correlation(len(pairs), rho, *compute_fisher_interval(rho, len(pairs)))


#: Edges of the classes of search time, milliseconds: from 1 ms to some seventeen
#: minutes, each edge one half greater than the one before. (The paper's searches took
#: 60 to 240 s, in steps of 30 s.)
TIME_EDGES_MS = tuple(sorted({round(1.5**step) for step in range(35)}))


def _select_counted_moves(data: StudyData) -> polars.LazyFrame:
    """Return the moves of all players that count for Alliot's statistics."""
    return data.scan_moves(all_players=True).filter("counted").drop_nulls("gain_cp")


def _count_searches_by_depth(data: StudyData) -> polars.LazyFrame:
    """Count searches by class of time and by depth: ``p(d, t)`` of Alliot 2017, section
    3.1.
    """
    moves = data.scan_moves(all_players=True).drop_nulls(["depth", "time_ms"])
    counted = moves.with_columns(_classify_search_time()).group_by("class", "depth")
    return counted.agg(searches=polars.len().cast(Int64)).sort("class", "depth")


def _classify_search_time() -> polars.Expr:
    edges = polars.Series(TIME_EDGES_MS)
    time_ms = col("time_ms")
    place = polars.lit(edges).search_sorted(time_ms, side="right")
    return polars.when(time_ms.is_not_null()).then(place).alias("class")


@define_table(
    "alliot-depths",
    "Depths that searches of about the same time reached",
    "Alliot 2017, section 3.1, Figure 1",
    ("from_ms", None, "least time of the class"),
    ("to_ms", None, "times of the class are below this"),
    "depth",
    "searches",
    ("share", 4, "of the searches of the class"),
    about="everybody",
)
def depth_table(data: StudyData) -> Rows:
    """Build the table of Alliot's Figure 1: depths that searches reached, by the time
    they took.
    """
    edges = (0, *TIME_EDGES_MS, None)
    share = col("searches") / col("searches").sum().over("class")
    rows = _count_searches_by_depth(data).with_columns(share=share).collect().rows()
    yield from ((edges[at], edges[at + 1], *row) for at, *row in rows)
    if not rows:
        yield "These evaluations have no search times."


@define_table(
    "alliot-evaluations",
    "Moves by the evaluation before them",
    "Alliot 2017, Figures 2, 6 and 14",
    "player",
    ("evaluation_cp", None, "mover's side, middle of the class; ends open"),
    "moves",
    *build_interval_columns("conformance", 1, "mean shortfall, centipawns"),
    ("white within 30", 3, "share of White's moves within 30 cp"),
    ("black within 30", 3),
    ("score", 3, "what the mover made of the game"),
    about="named",
)
def evaluation_table(data: StudyData) -> Rows:
    """Build the table of Alliot's Figures 2, 6 and 14. For each class of evaluation, it
    has the number of positions, the mean conformance, the share of moves that lose at
    most 30 centipawns, and the mean score of the games. The classes are given for all
    players together and for each named player.
    """
    at = col("best_cp").cast(Int64).clip(-_MOST_CP, _MOST_CP) + _MOST_CP
    gain = col("gain_cp").cast(Int64)
    n = polars.len().cast(Int64)
    mean = -gain.sum() / polars.len()
    # A shortfall and its mean are at least 0, so the lower end of the interval is cut
    # at 0.
    variance = ((gain * gain).sum() / n - mean * mean).clip(0.0) / (n - 1)
    reach = polars.when(n > 1).then(1.96 * variance.sqrt())
    within = {
        color: (gain >= -RAW.x_cp).filter(col("colour") == color).mean()
        for color in ("white", "black")
    }
    counted = _select_counted_moves(data)
    for player, name in _list_player_groups(data):
        own = counted if player is None else counted.filter(col("player") == player)
        bins = (
            own.group_by((at + _BIN_CP // 2) // _BIN_CP * _BIN_CP - _MOST_CP)
            .agg(
                moves=n,
                mean=mean,
                low=(mean - reach).clip(0.0),
                high=mean + reach,
                **within,
                score=col("score").cast(Float64).mean(),
            )
            .sort("best_cp")
        )
        yield from ((name, *row) for row in bins.collect().rows())


def _list_player_groups(data: StudyData) -> list[tuple[int | None, str]]:
    """Return the group of all players, and one group for each player named by
    ``--player``.
    """
    return [
        (None, "all players"),
        *(data.players.items() if data.selection.players else ()),
    ]


@define_table(
    "alliot-conformance-distribution",
    "Distribution of conformance by colour",
    "Alliot 2017, Figures 3 and 6",
    "conformance_cp",
    "white",
    ("white p(x)", 4, "share of White's moves of at most this"),
    "black",
    ("black p(x)", 4),
    notes=("The paper: 61.1 % of White's moves at 0, 60.2 % of Black's.",),
    about="everybody",
)
def shortfall_table(data: StudyData) -> Rows:
    """Build the table of how many moves lose each number of centipawns (Alliot 2017,
    Figure 3), by colour (Figure 6, left).
    """
    shares = [
        polars.when(col(color).sum() > 0)
        .then(col(color).cum_sum() / col(color).sum())
        .alias(f"{color} p(x)")
        for color in ("white", "black")
    ]
    shortfalls = count_shortfalls(data).with_columns(shares)
    yield from shortfalls.select(
        "lost_cp", "white", "white p(x)", "black", "black p(x)"
    ).rows()


def count_shortfalls(data: StudyData) -> DataFrame:
    """Return how many moves of White (``white``) and of Black (``black``) lose each
    number of centipawns (``lost_cp``, ascending).
    """
    return (
        _select_counted_moves(data)
        .group_by(lost_cp=-col("gain_cp"))
        .agg(
            white=(col("colour") == "white").sum().cast(Int64),
            black=(col("colour") == "black").sum().cast(Int64),
        )
        .sort("lost_cp")
        .collect()
    )


@define_table(
    "alliot-highest",
    "What became of the highest evaluation reached",
    "Alliot 2017, Figure 13",
    ("player", None, "of all players, White's side"),
    ("highest_cp", None, "in steps of 50; 1000 and more together"),
    "games",
    *build_interval_columns("score", 3),
    about="named",
)
def highest_table(data: StudyData) -> Rows:
    """Build the table of results by the highest evaluation that White, or each named
    player, reached (Alliot 2017, Figure 13).
    """
    best = col("best_cp").cast(Int64)
    score = col("score").cast(Float64)
    for player, name in _list_player_groups(data):
        moves = data.scan_moves(all_players=True).drop_nulls("score")
        own = col("colour") == "white"
        if player is not None:
            own = col("player") == player
            moves = moves.filter(own | (col("opponent") == player))
        by_highest = (
            moves.group_by("game")
            .agg(
                highest=polars.when(own)
                .then(best)
                .otherwise(-best)
                .max()
                .clip(None, 1000),
                score=polars.when(own).then(score).otherwise(1 - score).first(),
            )
            .group_by(highest=((col("highest") / 50).round() * 50).cast(Int64))
            .agg(
                n=polars.len().cast(Int64),
                total=col("score").sum(),
                squares=col("score").pow(2).sum(),
            )
            .sort("highest")
        )
        for at, n, total, squares in by_highest.collect().rows():
            yield name, at, n, total / n, *compute_score_interval(n, total, squares)


#: Number of random assignments of colours from which probabilities are estimated.
_DRAWS = 2_000


@define_table(
    "question-colours",
    "White's and Black's moves from the same evaluation",
    "Alliot 2017, sections 3.4 and 4.4: Black's matrix is White's turned round, or"
    " its own",
    ("evaluation_cp", None, "before the move, mover's side"),
    ("white", None, "moves"),
    "black",
    ("white keeps", 3, "share that stays in its class"),
    ("black keeps", 3),
    ("distance", 4, "total variation between the two rows"),
    ("chance", 3, "of one as large, colours by lot"),
    about="everybody",
)
def colours_table(data: StudyData) -> Rows:
    """Build the table that compares White's and Black's moves from the same evaluation,
    in ten classes.

    The column ``chance`` is the probability of a distance at least as large as the
    observed one if the colours of each game are assigned at random.
    """
    n = len(TEN)
    games = 0
    sides = np.zeros((2, n * n))
    white_drawn = np.zeros((_DRAWS, n * n))
    random = np.random.default_rng(0)
    for counts in _count_moves_by_colour(data):
        games += len(counts)
        sides += counts.sum(axis=0)
        # The assignments are processed in blocks of 100, because all of them at once
        # would need 50 MB for a thousand games.
        for part in np.split(white_drawn, _DRAWS // 100):
            is_unswapped = random.integers(0, 2, (len(part), len(counts))).astype(
                np.float64
            )
            part += is_unswapped @ counts[:, 0] + (1 - is_unswapped) @ counts[:, 1]
    counts_by_color = sides.reshape(2, n, n)
    drawn = white_drawn.reshape(-1, n, n)
    distances = _compute_distances(*counts_by_color)
    chances = (
        _compute_distances(drawn, counts_by_color.sum(axis=0) - drawn) >= distances
    ).mean(axis=0)
    # Values of each class, and then of all classes together.
    moves, stayed = (
        np.hstack([counts_of, counts_of.sum(axis=1, keepdims=True)])
        for counts_of in (
            counts_by_color.sum(axis=2),
            counts_by_color.diagonal(axis1=1, axis2=2),
        )
    )
    compared = moves[:, :n].all(axis=0)
    for at in np.flatnonzero(np.append(compared, compared.any())).tolist():
        name = (
            "all" if at == n else f"from {TEN.lower_cp[at - 1]}" if at else "under -160"
        )
        keeps = (stayed[:, at] / moves[:, at]).tolist()
        white, black = map(int, moves[:, at])
        yield name, white, black, *keeps, float(distances[at]), float(chances[at])
    yield f"{games} games; from move 10 on, forced moves left out."


def _count_moves_by_colour(data: StudyData) -> Iterator[Floats]:
    """Yield the counts of moves by game, by colour, and by the classes before and after
    the move, with shape (games, 2, classes squared). Each array covers one block of
    games.
    """
    n = len(TEN)
    names = ["game", "colour", "best_cp", "gain_cp", "counted"]
    for frame in data.read_moves(names, all_players=True):
        moves = frame.filter("counted").drop_nulls("gain_cp")
        best, gain = (
            moves[name].to_numpy().astype(np.int64) for name in ("best_cp", "gain_cp")
        )
        before, after = (
            np.searchsorted(TEN.lower_cp, cp, side="right")
            for cp in (best, np.maximum(-3900, best + gain))
        )
        games, game = np.unique(moves["game"].to_numpy(), return_inverse=True)
        counts = np.zeros((len(games), 2, n * n))
        np.add.at(
            counts,
            (
                game,
                (moves["colour"] == "black").to_numpy().astype(int),
                before * n + after,
            ),
            1,
        )
        yield counts


def _compute_distances(white: Floats, black: Floats) -> Floats:
    """Return the distance between White's and Black's shares in each class, followed by
    their mean weighted by the number of moves: shape (…, classes + 1).
    """
    shares = [
        counts / np.maximum(1, counts.sum(axis=-1, keepdims=True))
        for counts in (white, black)
    ]
    distances = np.abs(shares[0] - shares[1]).sum(axis=-1) / 2
    weight = (white + black).sum(axis=-1)
    mean_distance = (distances * weight).sum(axis=-1) / np.maximum(
        1, weight.sum(axis=-1)
    )
    return np.concatenate([distances, mean_distance[..., None]], axis=-1)


TABLES = (
    correlation_table,
    complexity_table,
    depth_table,
    evaluation_table,
    shortfall_table,
    highest_table,
    colours_table,
)
