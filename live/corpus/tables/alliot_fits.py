"""Alliot's constants chosen anew on this corpus, and tried on games that did not choose them.

His k1, k2, a, n0 and b are those with the best correlation on the games they were tried on (2017,
section 4.3.1). Here each is chosen on some games and tried on others: in ten folds of games, and on
games among one half of the players with what games among the other half chose.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from live.corpus.tables.alliot_games import CountedGame, counted_games
from live.corpus.tables.study_data import StudyData
from live.corpus.tables.study_table import Cell, StudyTable, TableColumn
from live.ratings.alliot.covariance import Convolution, predict_by_convolution
from live.ratings.gain_histogram import GainHistogram

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_FOLDS: Final = 10
#: Pawns; the last leaves moves as they are.
_K1: Final = (0.2, 0.37, 0.6, 0.75, 1.0, 1.44, 2.0, 4.0, math.inf)
_K2: Final = (-1.5, -2.5, -3.3, -3.7, -5.0, -8.0, -math.inf)
#: One in pawns.
_A: Final = (0.3, 0.6, 0.9, 1.16, 1.5, 2.0, 3.0)
_N0: Final = (0, 8, 16, 29, 32, 48)
_B_CP: Final = (0, 100, 220, 240, 400)


def fits_table(data: StudyData) -> StudyTable:
    """The best constants here, beside the paper's, with their worth on other games."""
    games = list(counted_games(data))
    columns = (
        TableColumn("method"),
        TableColumn("games"),
        TableColumn("constants", None, "with the best correlation over all these games"),
        TableColumn("rho", 3, "of these constants on the games that chose them"),
        TableColumn("other games", 3, "rho on games that did not choose them, ten folds"),
        TableColumn("low", 3, "95 % interval of it"),
        TableColumn("high", 3),
        TableColumn("other players", 3, "rho on games of players who did not choose them"),
        TableColumn("of games", None, "with both players in one half"),
        TableColumn("the paper's constants", 3, "rho of these here"),
        TableColumn("paper's rho", 3),
    )
    rows = tuple(_row(data, games, *each) for each in _methods(games)) if len(games) > 40 else ()
    return StudyTable(
        "alliot-fits",
        "The constants of covariance, chosen and tried",
        "Alliot 2017, section 4.3.1, Table 6 and Figures 11 and 12",
        data.engine,
        columns,
        rows,
        ("Under 41 games nothing is chosen.",) if not rows else (),
    )


def _methods(
    games: Sequence[CountedGame],
) -> list[tuple[str, list[str], Floats, int, float]]:
    """Name, settings, indicators of shape (games, settings), the paper's setting and its rho."""
    weights = list(itertools.product(_K1, _K2))
    step = [f"k1 = {k1:g}, k2 = {k2:g}" for k1, k2 in weights]
    tanh = [f"{name}, a = {a:g}" for name in step for a in _A]
    convolved = [(n0, b_cp) for n0 in _N0 for b_cp in _B_CP if n0 or not b_cp]
    steps, tanhs = np.empty((len(games), len(step))), np.empty((len(games), len(tanh)))
    sums = np.empty((len(games), len(convolved)))
    for at, game in enumerate(games):
        white, black = (np.array(side, dtype=np.float64).T for side in (game.white, game.black))
        for index, (k1, k2) in enumerate(weights):
            mine, theirs = _weighted(white, k1, k2), np.sort(_weighted(black, k1, k2))
            places = [np.searchsorted(theirs, mine, side) for side in ("left", "right")]
            steps[at, index] = sum(place.mean() for place in places) / len(theirs) - 1
            pawns = (mine[:, None] - theirs[None, :]) / 100
            for place, a in enumerate(_A):
                tanhs[at, index * len(_A) + place] = np.tanh(a * pawns).mean()
        mine_cp, theirs_cp = (
            GainHistogram(gain_cp for _, gain_cp in side) for side in (game.white, game.black)
        )
        for index, setting in enumerate(convolved):
            found = predict_by_convolution(mine_cp, theirs_cp, Convolution(*setting))
            worth = found.expected_score
            sums[at, index] = 2 * (worth or 0.0) - 1
    names = [f"n0 = {n0}, b = {b_cp / 100:g}" for n0, b_cp in convolved]
    return [
        ("step", step, steps, step.index("k1 = 0.37, k2 = -3.7"), 0.825),
        ("tanh", tanh, tanhs, tanh.index("k1 = 1.44, k2 = -3.3, a = 1.16"), 0.875),
        ("convolution", names, sums, names.index("n0 = 29, b = 2.2"), 0.94),
    ]


def _weighted(side: Floats, k1: float, k2: float) -> Floats:
    """Gains in whole centipawns, those in decided positions weighing less (section 3.2)."""
    best, gains = side[0] / 100, side[1]
    found: Floats = np.rint(gains / (1 + np.where(best >= 0, best / k1, best / k2)))
    return found


def _row(
    data: StudyData,
    games: Sequence[CountedGame],
    method: str,
    names: list[str],
    x: Floats,
    paper: int,
    paper_rho: float,
) -> tuple[Cell, ...]:
    y = np.array([game.result for game in games])
    numbers = np.array([game.game for game in games])
    rhos = _rhos(x, y)
    best = int(np.argmax(rhos))
    folds = [(numbers % _FOLDS != fold, numbers % _FOLDS == fold) for fold in range(_FOLDS)]
    rho, n = _tried(x, y, folds)
    low, high = _interval(rho, n)
    white, black = _players(data, numbers)
    halves = [((white % 2 == one) & (black % 2 == one)) for one in (0, 1)]
    players, held = _tried(x, y, [(halves[0], halves[1]), (halves[1], halves[0])])
    return (
        method,
        len(games),
        names[best],
        float(rhos[best]),
        rho,
        low,
        high,
        players,
        held,
        float(rhos[paper]),
        paper_rho,
    )


def _rhos(x: Floats, y: Floats) -> Floats:
    """Correlation of each column with the results; -1 for a column that says nothing."""
    dx, dy = x - x.mean(axis=0), y - y.mean()
    scale = np.sqrt((dx * dx).sum(axis=0) * (dy * dy).sum())
    found: Floats = np.where(
        scale > 0, (dx * dy[:, None]).sum(axis=0) / np.maximum(scale, 1e-12), -1
    )
    return found


def _tried(x: Floats, y: Floats, parts: Sequence[tuple[Mask, Mask]]) -> tuple[float | None, int]:
    """Correlation of results with lines whose constants other games chose, and of how many games.

    ``parts``: which games choose, and which are tried.
    """
    seen, told = [], []
    for chosen, tried in parts:
        if chosen.sum() < 10 or not tried.any():
            return None, 0
        best = int(np.argmax(_rhos(x[chosen], y[chosen])))
        beta, alpha = np.polyfit(x[chosen, best], y[chosen], 1)
        told.append(alpha + beta * x[tried, best])
        seen.append(y[tried])
    results, lines = np.concatenate(seen), np.concatenate(told)
    return float(_rhos(lines[:, None], results)[0]), len(results)


def _interval(rho: float | None, n: int) -> tuple[float | None, float | None]:
    """95 %, by Fisher's z."""
    if rho is None or n < 4:
        return None, None
    z, reach = math.atanh(rho), float(ndtri(0.975)) / math.sqrt(n - 3)
    return math.tanh(z - reach), math.tanh(z + reach)


def _players(data: StudyData, numbers: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Numbers of both players of each game; NaN where nobody is named."""
    known = {
        game: pair for game, *pair in data.database.rows("SELECT game, white, black FROM games")
    }
    sides = np.array([known[int(number)] for number in numbers], dtype=np.float64)
    return sides[:, 0], sides[:, 1]
