"""Alliot's tables over games (2017): what goes with results, with errors, with evaluations.

Each is one pass with running sums, so that memory does not grow with the number of games, and each
correlation and line has its interval and an error on games it was not fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from live.ratings.alliot.complexity import DepthsByTime
from live.ratings.alliot.conformance import (
    GUID_BRATKO,
    PONDERATED,
    PONDERATED_BY_REGRESSION,
    RAW,
    Conformance,
    ScoreWeighting,
)
from live.ratings.score_interval import score_interval
from live.studies.line_sums import LineFit, LineSums
from live.studies.study_data import StudyData, import_polars
from live.studies.study_table import Cell, StudyTable, TableColumn

Floats = npt.NDArray[np.float64]

#: x of p(x), centipawns.
STEPS_CP: Final = tuple(range(0, 205, 5))
#: As Alliot's Figure 4 has them, with the two symmetric ones.
KINDS: Final[tuple[tuple[str, Conformance], ...]] = (
    ("raw", RAW),
    ("guid-bratko", GUID_BRATKO),
    ("k1 = 1.44, k2 = -3.53", PONDERATED_BY_REGRESSION),
    ("k1 = 0.75, k2 = -3.30", PONDERATED),
    ("k1 = -k2 = 1.25", Conformance("ponderated", 30, None, ScoreWeighting(1.25, -1.25))),
    ("k1 = -k2 = 3.00", Conformance("ponderated", 30, None, ScoreWeighting(3.0, -3.0))),
)
#: Of evaluations in tables, centipawns.
_BIN_CP: Final = 20
_MOST_CP: Final = 400

FIT_COLUMNS: Final = (
    TableColumn("games"),
    TableColumn("rho", 3, "correlation with the result, -1, 0 or 1 for White"),
    TableColumn("low", 3, "95 % interval of rho"),
    TableColumn("high", 3),
    TableColumn("mean", 3, "of the indicator, White less Black"),
    TableColumn("sd", 3),
    TableColumn("beta", 3, "result = beta indicator + alpha"),
    TableColumn("beta low", 3, "95 % interval of beta"),
    TableColumn("beta high", 3),
    TableColumn("alpha", 3),
    TableColumn("error", 3, "root mean square on games the line was not fitted to"),
    TableColumn("of mean", 3, "the same for the mean result alone"),
)


class CountedGame(msgspec.Struct, frozen=True):
    """The counted moves of a game with a result: best score and gain, mover's side."""

    game: int
    result: float
    """-1, 0, 1: White's."""
    white: tuple[tuple[int, int], ...]
    black: tuple[tuple[int, int], ...]


def counted_games(data: StudyData) -> Iterator[CountedGame]:
    """Games in which both sides have a counted move, in order."""
    names = ["game", "colour", "score", "best_cp", "gain_cp", "counted"]
    for frame in data.moves(names, all_players=True):
        held: dict[str, list[tuple[int, int]]] = {"white": [], "black": []}
        current, result = -1, 0.0
        for game, color, score, best_cp, gain_cp, counted in frame.iter_rows():
            if game != current:
                yield from _whole(current, result, held)
                current, held = game, {"white": [], "black": []}
            if score is None or gain_cp is None or not counted:
                continue
            result = (2 * score - 1) * (1 if color == "white" else -1)
            held[color].append((best_cp, gain_cp))
        yield from _whole(current, result, held)


def _whole(
    game: int, result: float, held: dict[str, list[tuple[int, int]]]
) -> Iterator[CountedGame]:
    if held["white"] and held["black"]:
        yield CountedGame(game, result, tuple(held["white"]), tuple(held["black"]))


def line_sums(
    data: StudyData, indicators: Sequence[Callable[[CountedGame], Floats | None]], count: int
) -> list[LineSums]:
    """What goes with the results of all counted games, in one pass: sums for each of
    ``indicators``, which are of shape (count,), or None for a game that they leave out.
    """
    sums = [LineSums(count) for _ in indicators]
    for game in counted_games(data):
        for held, indicator in zip(sums, indicators, strict=True):
            if (found := indicator(game)) is not None:
                held.add(game.game, found, game.result)
    return sums


def correlation_table(data: StudyData) -> StudyTable:
    """ρ, α and β of the difference of p(x), for each x and kind: Figures 4, 5 and 6."""
    indicators = [partial(share_ahead, kind=kind, steps_cp=STEPS_CP) for _, kind in KINDS]
    sums = line_sums(data, indicators, len(STEPS_CP))
    rows: list[tuple[Cell, ...]] = []
    for (name, _), held in zip(KINDS, sums, strict=True):
        for index, x_cp in enumerate(STEPS_CP):
            rows.append((name, x_cp, *fit_cells(held.fit(index))))
    return StudyTable(
        "alliot-conformance-results",
        "Accumulated conformance and the results of games",
        "Alliot 2017, section 4.2.1, Figures 4, 5 and 6",
        data.engine,
        (TableColumn("conformance"), TableColumn("x_cp"), *FIT_COLUMNS),
        tuple(rows),
        (
            "The paper's best x: 30 cp (Guid and Bratko 20), with beta 4.00 (raw), 3.37 (Guid and"
            " Bratko), 3.64 (k1 = 0.75), and alpha 0.043, 0.067, -0.007.",
        ),
    )


def share_ahead(game: CountedGame, kind: Conformance, steps_cp: Sequence[int]) -> Floats | None:
    """White's p(x) less Black's at each step; None where either has no move of this kind."""
    steps = np.array(steps_cp, dtype=np.float64)
    shares = []
    for side in (game.white, game.black):
        found = [kind.of(best_cp, gain_cp) for best_cp, gain_cp in side]
        known = np.sort(np.array([each for each in found if each is not None]))
        if not len(known):
            return None
        shares.append(np.searchsorted(known, steps, side="right") / len(known))
    return np.asarray(shares[0] - shares[1], dtype=np.float64)


def fit_cells(fit: LineFit) -> tuple[Cell, ...]:
    """Of ``FIT_COLUMNS``."""
    return (
        fit.n,
        fit.rho,
        fit.rho_low,
        fit.rho_high,
        fit.mean,
        fit.sd,
        fit.beta,
        fit.beta_low,
        fit.beta_high,
        fit.alpha,
        fit.error,
        fit.error_of_mean,
    )


_INDICATORS: Final = ("D/t", "Stab", "JumpV", "JumpD", "JD x JV")


def complexity_table(data: StudyData) -> StudyTable:
    """Table 4: how the size of errors goes with the complexity of the position."""
    depths = _depths(data)
    names = ["player", "game", "gain_cp", "counted", "depth", "time_ms", "stability_cp", "jump_cp"]
    held: dict[str, list[LineSums]] = {
        name: [LineSums(1) for _ in _INDICATORS] for name in (*data.players.values(), "all")
    }
    for frame in data.moves([*names, "jump_depth"], all_players=True):
        for player, game, gain_cp, counted, depth, time_ms, mean, jump, at in frame.iter_rows():
            if gain_cp is None or not counted:
                continue
            by_time = None
            if depth is not None and time_ms is not None:
                by_time = depths.depth_against_time(depth, time_ms)
            product = None if jump is None else jump * (at or 0)
            for index, value in enumerate((by_time, mean, jump, at, product)):
                if value is None:
                    continue
                found = np.array([float(value)])
                held["all"][index].add(game, found, -gain_cp)
                if player in data.players:
                    held[data.players[player]][index].add(game, found, -gain_cp)
    rows: list[tuple[Cell, ...]] = []
    for name, sums in held.items():
        fits = [each.fit(0) for each in sums]
        row: list[Cell] = [name, max(fit.n for fit in fits)]
        for fit in fits:
            row += [fit.rho, fit.rho_low, fit.rho_high]
        rows.append(tuple(row))
    columns = [TableColumn("player"), TableColumn("moves")]
    for indicator in _INDICATORS:
        columns += [
            TableColumn(indicator, 3),
            TableColumn(f"{indicator} low", 3),
            TableColumn(f"{indicator} high", 3),
        ]
    return StudyTable(
        "alliot-4",
        "Correlation of complexity with the size of errors",
        "Alliot 2017, section 4.1, Table 4",
        data.engine,
        tuple(columns),
        tuple(rows),
        (
            "low, high: 95 % interval, moves taken as independent.",
            "World champions in the paper: 0.053, 0.254, 0.308, 0.135, 0.312; others: 0.031,"
            " 0.104, 0.104, 0.138, 0.101.",
        ),
    )


def _depths(data: StudyData) -> DepthsByTime:
    depths = DepthsByTime()
    for frame in data.moves(["depth", "time_ms"], all_players=True):
        for depth, time_ms in frame.drop_nulls().iter_rows():
            depths.add(depth, time_ms)
    return depths


def depth_table(data: StudyData) -> StudyTable:
    """Figure 1: how deep searches got, by the time they took."""
    depths = _depths(data)
    rows = tuple(depths.shares())
    return StudyTable(
        "alliot-depths",
        "Depths that searches of about the same time reached",
        "Alliot 2017, section 3.1, Figure 1",
        data.engine,
        (
            TableColumn("from_ms", None, "least time of the class"),
            TableColumn("to_ms", None, "times of the class are below this"),
            TableColumn("depth"),
            TableColumn("searches"),
            TableColumn("share", 4, "of the searches of the class"),
        ),
        rows,
        () if rows else ("These evaluations came without times.",),
    )


def evaluation_table(data: StudyData) -> StudyTable:
    """By evaluation: positions, mean conformance, share within 30 cp and what became of the game
    (Figures 2, 6, 14), of all players and of those named.
    """
    polars = import_polars()
    column = polars.col
    at = column("best_cp").cast(polars.Int64).clip(-_MOST_CP, _MOST_CP) + _MOST_CP
    gain = column("gain_cp").cast(polars.Int64)
    n, mean = polars.len().cast(polars.Int64), -gain.sum() / polars.len()
    # A shortfall is never below 0, nor is its mean: few moves reach further by this.
    variance = ((gain * gain).sum() / n - mean * mean).clip(0.0) / (n - 1)
    reach = polars.when(n > 1).then(1.96 * variance.sqrt())
    within = {
        color: (gain >= -RAW.x_cp).filter(column("colour") == color).mean()
        for color in ("white", "black")
    }
    rows: list[tuple[Cell, ...]] = []
    counted = data.scan(all_players=True).filter(column("counted") & gain.is_not_null())
    for name, player in _groups(data).items():
        own = counted if player is None else counted.filter(column("player") == player)
        found = (
            own.group_by((at + _BIN_CP // 2) // _BIN_CP * _BIN_CP - _MOST_CP)
            .agg(
                n.alias("moves"),
                mean.alias("mean"),
                (mean - reach).clip(0.0).alias("low"),
                (mean + reach).alias("high"),
                within["white"].alias("white"),
                within["black"].alias("black"),
                column("score").cast(polars.Float64).mean().alias("score"),
            )
            .sort("best_cp")
        )
        rows += [(name, *row) for row in found.collect().rows()]
    return StudyTable(
        "alliot-evaluations",
        "Moves by the evaluation before them",
        "Alliot 2017, Figures 2, 6 and 14",
        data.engine,
        (
            TableColumn("player"),
            TableColumn("evaluation_cp", None, "mover's side, middle of the class; ends open"),
            TableColumn("moves"),
            TableColumn("conformance", 1, "mean shortfall, centipawns"),
            TableColumn("low", 1, "95 % interval of conformance"),
            TableColumn("high", 1),
            TableColumn("white within 30", 3, "share of White's moves within 30 cp"),
            TableColumn("black within 30", 3),
            TableColumn("score", 3, "what the mover made of the game"),
        ),
        tuple(rows),
    )


def _groups(data: StudyData) -> dict[str, int | None]:
    """All players together, and each one named by ``--player``."""
    named = {name: player for player, name in data.players.items()}
    return {"all players": None, **(named if data.selection.players else {})}


def shortfall_table(data: StudyData) -> StudyTable:
    """How many moves have which conformance (Figure 3), by colour (Figure 6, left)."""
    polars = import_polars()
    colors = ("white", "black")
    found = (
        data.scan(all_players=True)
        .filter(polars.col("counted") & polars.col("gain_cp").is_not_null())
        .group_by(-polars.col("gain_cp"))
        .agg(
            (polars.col("colour") == color).sum().cast(polars.Int64).alias(color)
            for color in colors
        )
        .sort("gain_cp")
        .with_columns(
            polars.when(polars.col(color).sum() > 0)
            .then(polars.col(color).cum_sum() / polars.col(color).sum())
            .alias(f"{color} p(x)")
            for color in colors
        )
        .select("gain_cp", "white", "white p(x)", "black", "black p(x)")
    )
    return StudyTable(
        "alliot-conformance-distribution",
        "Distribution of conformance by colour",
        "Alliot 2017, Figures 3 and 6",
        data.engine,
        (
            TableColumn("conformance_cp"),
            TableColumn("white"),
            TableColumn("white p(x)", 4, "share of White's moves of at most this"),
            TableColumn("black"),
            TableColumn("black p(x)", 4),
        ),
        tuple(found.collect().rows()),
        ("The paper: 61.1 % of White's moves at 0, 60.2 % of Black's.",),
    )


def highest_table(data: StudyData) -> StudyTable:
    """Result by the highest evaluation that White reached, or each player named (Figure 13)."""
    polars = import_polars()
    column = polars.col
    best, score = column("best_cp").cast(polars.Int64), column("score").cast(polars.Float64)
    rows: list[tuple[Cell, ...]] = []
    for name, player in _groups(data).items():
        moves, own = (
            data.scan(all_players=True).filter(score.is_not_null()),
            column("colour") == "white",
        )
        if player is not None:
            own = column("player") == player
            moves = moves.filter(own | (column("opponent") == player))
        found = (
            moves.group_by("game")
            .agg(
                highest=polars.when(own).then(best).otherwise(-best).max().clip(None, 1000),
                score=polars.when(own).then(score).otherwise(1 - score).first(),
            )
            .group_by(highest=((column("highest") / 50).round() * 50).cast(polars.Int64))
            .agg(
                n=polars.len().cast(polars.Int64),
                total=column("score").sum(),
                squares=column("score").pow(2).sum(),
            )
            .sort("highest")
        )
        rows += [
            (name, at, n, total / n, *score_interval(n, total, squares))
            for at, n, total, squares in found.collect().rows()
        ]
    return StudyTable(
        "alliot-highest",
        "What became of the highest evaluation reached",
        "Alliot 2017, Figure 13",
        data.engine,
        (
            TableColumn("player", None, "of all players, White's side"),
            TableColumn("highest_cp", None, "in steps of 50; 1000 and more together"),
            TableColumn("games"),
            TableColumn("score", 3),
            TableColumn("low", 3, "95 % interval of score"),
            TableColumn("high", 3),
        ),
        tuple(rows),
    )
