"""Questions that the papers leave open, as far as a corpus answers them."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from live.corpus.tables.study_data import StudyData
from live.corpus.tables.study_table import Cell, StudyTable, TableColumn
from live.ratings.alliot.markov import TEN

Floats = npt.NDArray[np.float64]

#: Games in which either side has fewer moves say too little of both ways to compare them.
_LEAST_MOVES: Final = 10
#: Draws of games, and of colours, behind intervals and chances.
_DRAWS: Final = 2_000


def engine_gap_table(data: StudyData) -> StudyTable:
    """Whether two players compared by way of the engine differ as they do directly.

    In the paper's game Algorithm 1 gives a difference of 113 Elo, the two Algorithms 4 one of 142.
    """
    sides, engine = _successive(data)
    direct: list[float] = []
    ways: list[tuple[float, float]] = []
    for white, black in sides:
        scores = [_direct(white, black)]
        for theirs in (np.zeros(1), engine):
            scores += [_direct(side, theirs) for side in (white, black)]
        if all(0 < score < 1 for score in scores):
            one, *rest = (float(_elo(score)) for score in scores)
            direct.append(one)
            ways.append((rest[0] - rest[1], rest[2] - rest[3]))
    x, found = np.array(direct), np.array(ways).reshape(-1, 2)
    rows: list[tuple[Cell, ...]] = []
    drawn = np.random.default_rng(0).integers(0, max(1, len(x)), (_DRAWS, len(x)))
    for index, name in enumerate(("all 0", "as measured")) if len(x) > 1 else ():
        y = found[:, index]
        squares = np.maximum((x[drawn] ** 2).sum(axis=1), 1e-9)
        slopes = (x[drawn] * y[drawn]).sum(axis=1) / squares
        low, high = np.quantile(slopes, (0.025, 0.975)).tolist()
        slope = float((x * y).sum() / max(1e-9, (x * x).sum()))
        apart = float(np.sqrt(np.mean((y - x) ** 2)))
        rows.append((name, len(x), slope, low, high, apart))
    return StudyTable(
        "question-engine",
        "Differences of two players by way of the engine, beside those between them",
        "Ferreira 2012, sections 4 and 7: 142 for 113, so 1.26",
        f"{data.setting}, successive gain",
        (
            TableColumn("engine's gains"),
            TableColumn("games"),
            TableColumn("slope", 3, "of the one on the other; 1: they agree"),
            TableColumn("low", 3, "95 % interval, games drawn again"),
            TableColumn("high", 3),
            TableColumn("apart", 1, "root mean square of what is between them, Elo"),
        ),
        tuple(rows),
        (f"Games with {_LEAST_MOVES} moves of either side and no unbounded difference.",),
    )


def _successive(data: StudyData) -> tuple[list[tuple[Floats, Floats]], Floats]:
    """Both sides' gains of each game with enough of them, and the engine's own."""
    games: dict[int, dict[str, list[int]]] = {}
    engine: list[int] = []
    names = ["game", "colour", "successive_cp", "move", "best"]
    for frame in data.moves(names, all_players=True):
        for game, color, gain_cp, move, best in frame.iter_rows():
            if gain_cp is None:
                continue
            games.setdefault(game, {"white": [], "black": []})[color].append(gain_cp)
            if move == best:
                engine.append(gain_cp)
    return [
        (np.array(held["white"], dtype=np.float64), np.array(held["black"], dtype=np.float64))
        for held in games.values()
        if min(map(len, held.values())) >= _LEAST_MOVES
    ], np.array(engine, dtype=np.float64)


def _direct(x: Floats, y: Floats) -> float:
    """Expected score (Ferreira 2012, Eq. 2); 0 where one has no gains."""
    if not len(x) or not len(y):
        return 0.0
    theirs = np.sort(y)
    below, upto = (np.searchsorted(theirs, x, side) for side in ("left", "right"))
    return float((below.mean() + upto.mean()) / (2 * len(y)))


def _elo(score: float) -> float:
    return float(200 * np.sqrt(2) * ndtri(score))


def colours_table(data: StudyData) -> StudyTable:
    """Whether White and Black move alike from the same evaluation, in ten classes.

    The chance is that of a distance as large where colours are given to the sides by lot, game by
    game.
    """
    counts = _by_colour(data)
    white, black = counts.sum(axis=0)
    distances, whole = _distances(white, black)
    lot = np.random.default_rng(0).integers(0, 2, (_DRAWS, len(counts))).astype(np.float64)
    flat = counts.reshape(len(counts), 2, -1)
    both = flat.sum(axis=(0, 1))
    one = lot @ flat[:, 0] + (1 - lot) @ flat[:, 1]
    n = len(TEN)
    drawn = [_distances(each.reshape(n, n), (both - each).reshape(n, n)) for each in one]
    rows: list[tuple[Cell, ...]] = []
    edges = [None, *TEN.lower_cp]
    for at in range(n):
        mine, theirs = white[at].sum(), black[at].sum()
        if not mine or not theirs:
            continue
        larger = np.mean([rows_[at] >= distances[at] for rows_, _ in drawn])
        name = "under -160" if edges[at] is None else f"from {edges[at]}"
        keeps = (float(white[at, at] / mine), float(black[at, at] / theirs))
        rows.append((name, int(mine), int(theirs), *keeps, float(distances[at]), float(larger)))
    if rows:
        larger = np.mean([each >= whole for _, each in drawn])
        totals = (int(white.sum()), int(black.sum()))
        keeps = (float(np.trace(white) / white.sum()), float(np.trace(black) / black.sum()))
        rows.append(("all", *totals, *keeps, whole, float(larger)))
    return StudyTable(
        "question-colours",
        "White's and Black's moves from the same evaluation",
        "Alliot 2017, sections 3.4 and 4.4: Black's matrix is White's turned round, or its own",
        data.engine,
        (
            TableColumn("evaluation_cp", None, "before the move, mover's side"),
            TableColumn("white", None, "moves"),
            TableColumn("black"),
            TableColumn("white keeps", 3, "share that stays in its class"),
            TableColumn("black keeps", 3),
            TableColumn("distance", 4, "total variation between the two rows"),
            TableColumn("chance", 3, "of one as large, colours by lot"),
        ),
        tuple(rows),
        (f"{len(counts)} games; from move 10 on, forced moves left out.",),
    )


def _by_colour(data: StudyData) -> Floats:
    """Moves by game, colour and class before and after, shape (games, 2, classes, classes)."""
    n = len(TEN)
    games: dict[int, Floats] = {}
    names = ["game", "colour", "best_cp", "gain_cp", "counted"]
    for frame in data.moves(names, all_players=True):
        for game, color, best_cp, gain_cp, counted in frame.iter_rows():
            if gain_cp is None or not counted:
                continue
            held = games.get(game)
            if held is None:
                held = games[game] = np.zeros((2, n, n))
            held[int(color == "black"), TEN.of(best_cp), TEN.of(max(-3900, best_cp + gain_cp))] += 1
    return np.array(list(games.values())).reshape(-1, 2, n, n)


def _distances(white: Floats, black: Floats) -> tuple[Floats, float]:
    """Of each row, and over all rows by their moves."""
    totals = [np.maximum(1, each.sum(axis=1)) for each in (white, black)]
    apart = np.abs(white / totals[0][:, None] - black / totals[1][:, None]).sum(axis=1) / 2
    weight = (white + black).sum(axis=1)
    return apart, float((apart * weight).sum() / max(1.0, weight.sum()))
