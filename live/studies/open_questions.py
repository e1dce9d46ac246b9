"""Questions that the papers leave open, as far as a corpus answers them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from live.ratings.markov import TEN
from live.studies.study_data import StudyData
from live.studies.study_table import StudyTable

Floats = npt.NDArray[np.float64]
#: Gains, moved up so that they are places in a table of all there may be.
Places = npt.NDArray[np.int64]

#: From one mate to the other, centipawns: no successive gain is larger.
_MOST_CP: Final = 7800

#: Games in which either side has fewer moves say too little of both ways to compare them.
_LEAST_MOVES: Final = 10
#: Draws of games, and of colours, behind intervals and chances.
_DRAWS: Final = 2_000


def engine_gap_table(data: StudyData) -> StudyTable:
    """Whether two players compared by way of the engine differ as they do directly.

    In the paper's game Algorithm 1 gives a difference of 113 Elo, the two Algorithms 4 one of 142.
    """
    engines = (_worths(np.eye(1, 2 * _MOST_CP + 1, _MOST_CP)[0]), _worths(_engine_counts(data)))
    # Three figures a game, 24 bytes: games are drawn again below.
    figures = array("d")
    for white, black in _successive(data):
        scores = [_direct(white, black)]
        scores += [float(each[side].mean()) for each in engines for side in (white, black)]
        if all(0 < score < 1 for score in scores):
            one, *rest = (float(_elo(score)) for score in scores)
            figures.extend((one, rest[0] - rest[1], rest[2] - rest[3]))
    x, *ways = np.array(figures).reshape(-1, 3).T.copy()
    rows = []
    for name, y in zip(("all 0", "as measured"), ways, strict=True) if len(x) > 1 else ():
        lot = np.random.default_rng(0)
        slopes = []
        # One draw at a time: all of them together are two thousand times the games.
        for _ in range(_DRAWS):
            drawn = lot.integers(0, len(x), len(x))
            slopes.append((x[drawn] @ y[drawn]) / max(x[drawn] @ x[drawn], 1e-9))
        low, high = np.quantile(slopes, (0.025, 0.975)).tolist()
        slope = float((x * y).sum() / max(1e-9, (x * x).sum()))
        apart = float(np.sqrt(np.mean((y - x) ** 2)))
        rows.append((name, len(x), slope, low, high, apart))
    return data.table(
        "question-engine",
        "Differences of two players by way of the engine, beside those between them",
        "Ferreira 2012, sections 4 and 7: 142 for 113, so 1.26",
        (
            "engine's gains",
            "games",
            ("slope", 3, "of the one on the other; 1: they agree"),
            ("low", 3, "95 % interval, games drawn again"),
            ("high", 3),
            ("apart", 1, "root mean square of what is between them, Elo"),
        ),
        rows,
        (f"Games with {_LEAST_MOVES} moves of either side and no unbounded difference.",),
        engine=f"{data.setting}, successive gain",
    )


def _successive(data: StudyData) -> Iterator[tuple[Places, Places]]:
    """Both sides' gains of each game with enough of them, from the least that there may be."""
    for frame in data.moves(["game", "colour", "successive_cp"], all_players=True):
        for game in frame.drop_nulls().partition_by("game"):
            white, black = (
                game.filter(colour=color)["successive_cp"].to_numpy().astype(np.int64) + _MOST_CP
                for color in ("white", "black")
            )
            if min(len(white), len(black)) >= _LEAST_MOVES:
                yield white, black


def _engine_counts(data: StudyData) -> Floats:
    """How often the engine's own choice had each successive gain."""
    counts = np.zeros(2 * _MOST_CP + 1)
    for frame in data.moves(["successive_cp", "move", "best"], all_players=True):
        own = frame.filter(frame["move"] == frame["best"])["successive_cp"].drop_nulls()
        counts += np.bincount(own.to_numpy().astype(np.int64) + _MOST_CP, minlength=len(counts))
    return counts


def _worths(counts: Floats) -> Floats:
    """Expected score of each gain against gains that are so frequent (Ferreira 2012, Eq. 2)."""
    worths: Floats = (np.cumsum(counts) - counts / 2) / max(1, counts.sum())
    return worths


def _direct(x: Places, y: Places) -> float:
    """Expected score of one side against the other."""
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
    n, games = len(TEN), 0
    sides, one, random = np.zeros((2, n * n)), np.zeros((_DRAWS, n * n)), np.random.default_rng(0)
    for counts in _by_colour(data):
        games += len(counts)
        sides += counts.sum(axis=0)
        # Some draws at a time: all of a thousand games are 50 MB.
        for some in np.split(one, _DRAWS // 100):
            lot = random.integers(0, 2, (len(some), len(counts))).astype(np.float64)
            some += lot @ counts[:, 0] + (1 - lot) @ counts[:, 1]
    both = sides.sum(axis=0)
    white, black = sides.reshape(2, n, n)
    distances, whole = _distances(white, black)
    drawn = [_distances(each.reshape(n, n), (both - each).reshape(n, n)) for each in one]
    rows = []
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
    return data.table(
        "question-colours",
        "White's and Black's moves from the same evaluation",
        "Alliot 2017, sections 3.4 and 4.4: Black's matrix is White's turned round, or its own",
        (
            ("evaluation_cp", None, "before the move, mover's side"),
            ("white", None, "moves"),
            "black",
            ("white keeps", 3, "share that stays in its class"),
            ("black keeps", 3),
            ("distance", 4, "total variation between the two rows"),
            ("chance", 3, "of one as large, colours by lot"),
        ),
        rows,
        (f"{games} games; from move 10 on, forced moves left out.",),
    )


def _by_colour(data: StudyData) -> Iterator[Floats]:
    """Moves by game, colour and classes before and after, shape (games, 2, classes squared): some
    games at a time.
    """
    n = len(TEN)
    names = ["game", "colour", "best_cp", "gain_cp", "counted"]
    for frame in data.moves(names, all_players=True):
        games: dict[int, Floats] = {}
        for game, color, best_cp, gain_cp, counted in frame.iter_rows():
            if gain_cp is None or not counted:
                continue
            held = games.get(game)
            if held is None:
                held = games[game] = np.zeros((2, n, n))
            held[int(color == "black"), TEN.of(best_cp), TEN.of(max(-3900, best_cp + gain_cp))] += 1
        yield np.array(list(games.values())).reshape(-1, 2, n * n)


def _distances(white: Floats, black: Floats) -> tuple[Floats, float]:
    """Of each row, and over all rows by their moves."""
    totals = [np.maximum(1, each.sum(axis=1)) for each in (white, black)]
    apart = np.abs(white / totals[0][:, None] - black / totals[1][:, None]).sum(axis=1) / 2
    weight = (white + black).sum(axis=1)
    return apart, float((apart * weight).sum() / max(1.0, weight.sum()))
