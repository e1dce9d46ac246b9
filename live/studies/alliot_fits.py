"""Alliot's constants chosen anew on this corpus, and tried on games that did not choose them.

His k1, k2, a, n0 and b and the points of his spline are those with the best correlation on the
games they were tried on (2017, section 4.3.1). Here each is chosen on some games and tried on
others: in ten folds of games, and on games among one half of the players with what games among the
other half chose. One pass with running sums, so that memory does not grow with the number of games.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from live.studies.alliot_covariance import (
    GRID_B_CP,
    GRID_N0,
    convolved,
    spline_basis,
    spline_indicators,
    spline_penalty,
)
from live.studies.alliot_games import CountedGame, counted_games
from live.studies.line_sums import (
    FOLDS,
    ColumnSums,
    RegressionSums,
    correlation,
    fisher_interval,
)
from live.studies.study_data import StudyData
from live.studies.study_table import Cell, StudyTable, TableColumn

Floats = npt.NDArray[np.float64]

#: Pawns; the last leaves moves as they are.
_K1: Final = (0.2, 0.37, 0.6, 0.75, 1.0, 1.44, 2.0, 4.0, math.inf)
_K2: Final = (-1.5, -2.5, -3.3, -3.7, -5.0, -8.0, -math.inf)
#: One in pawns.
_A: Final = (0.3, 0.6, 0.9, 1.16, 1.5, 2.0, 3.0)
_WEIGHTS: Final = tuple(itertools.product(_K1, _K2))

#: Games are kept apart by their fold, and by their players: both of one half, of the other, or one
#: of each.
_EVEN, _ODD, _MIXED = range(3)
_KINDS: Final = 3
_GROUPS: Final = FOLDS * _KINDS
#: Under so many games nothing is chosen.
_LEAST: Final = 41


class _Method(NamedTuple):
    """What is chosen: indicators of a game, their names, and the paper's choice among them."""

    name: str
    settings: tuple[str, ...]
    of: Callable[[CountedGame], Floats]
    paper: int | None
    paper_rho: float
    sums: ColumnSums | RegressionSums


def fits_table(data: StudyData) -> StudyTable:
    """The best constants here, beside the paper's, with their worth on other games."""
    methods = _methods()
    games = 0
    sides = data.database.rows("SELECT game, white, black FROM games ORDER BY game")
    current, white, black = -1, None, None
    for game in counted_games(data):
        while current < game.game:
            current, white, black = next(sides)
        kind = _MIXED
        if white is not None and black is not None and white % 2 == black % 2:
            kind = _ODD if white % 2 else _EVEN
        for method in methods:
            method.sums.add(game.game % FOLDS * _KINDS + kind, method.of(game), game.result)
        games += 1
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
    return StudyTable(
        "alliot-fits",
        "The constants of covariance, chosen and tried",
        "Alliot 2017, section 4.3.1, Table 6 and Figures 11 and 12",
        data.engine,
        columns,
        tuple(_row(method, games) for method in methods) if games >= _LEAST else (),
        () if games >= _LEAST else (f"Under {_LEAST} games nothing is chosen.",),
    )


def _methods() -> tuple[_Method, ...]:
    step = tuple(f"k1 = {k1:g}, k2 = {k2:g}" for k1, k2 in _WEIGHTS)
    tanh = tuple(f"{name}, a = {a:g}" for name in step for a in _A)
    grid = tuple(f"n0 = {n0}, b = {b_cp / 100:g}" for n0 in GRID_N0 for b_cp in GRID_B_CP)
    basis = spline_basis()
    points = (f"{basis.shape[1]} points of a spline",)
    paper_step, paper_tanh = "k1 = 0.37, k2 = -3.7", "k1 = 1.44, k2 = -3.3, a = 1.16"
    return (
        _Method("step", step, _steps, step.index(paper_step), 0.825, _columns(step)),
        _Method("tanh", tanh, _tanhs, tanh.index(paper_tanh), 0.875, _columns(tanh)),
        _Method(
            "spline",
            points,
            lambda game: spline_indicators(game, basis),
            None,
            0.879,
            RegressionSums(_GROUPS, spline_penalty()),
        ),
        _Method(
            "convolution", grid, convolved, grid.index("n0 = 29, b = 2.2"), 0.94, _columns(grid)
        ),
    )


def _columns(settings: Sequence[str]) -> ColumnSums:
    return ColumnSums(_GROUPS, len(settings))


def _sides(game: CountedGame) -> list[Floats]:
    return [np.array(side, dtype=np.float64).T for side in (game.white, game.black)]


def _steps(game: CountedGame) -> Floats:
    white, black = _sides(game)
    found = np.empty(len(_WEIGHTS))
    for index, (k1, k2) in enumerate(_WEIGHTS):
        mine, theirs = _weighted(white, k1, k2), np.sort(_weighted(black, k1, k2))
        places = [np.searchsorted(theirs, mine, side) for side in ("left", "right")]
        found[index] = sum(place.mean() for place in places) / len(theirs) - 1
    return found


def _tanhs(game: CountedGame) -> Floats:
    white, black = _sides(game)
    found = np.empty((len(_WEIGHTS), len(_A)))
    for index, (k1, k2) in enumerate(_WEIGHTS):
        pawns = (_weighted(white, k1, k2)[:, None] - _weighted(black, k1, k2)[None, :]) / 100
        for place, a in enumerate(_A):
            found[index, place] = np.tanh(a * pawns).mean()
    return found.ravel()


def _weighted(side: Floats, k1: float, k2: float) -> Floats:
    """Gains in whole centipawns, those in decided positions weighing less (section 3.2)."""
    best, gains = side[0] / 100, side[1]
    found: Floats = np.rint(gains / (1 + np.where(best >= 0, best / k1, best / k2)))
    return found


def _row(method: _Method, games: int) -> tuple[Cell, ...]:
    sums, everything = method.sums, range(_GROUPS)
    line = sums.line(everything)
    best, paper = 0, None
    if isinstance(sums, ColumnSums):
        best = int(line[0])
        paper = float(sums.correlations(everything)[method.paper or 0])
    folds = [
        (
            [each for each in everything if each // _KINDS != fold],
            [each for each in everything if each // _KINDS == fold],
        )
        for fold in range(FOLDS)
    ]
    rho, n = _tried(sums, folds)
    halves = [[each for each in everything if each % _KINDS == half] for half in (_EVEN, _ODD)]
    players, held = _tried(sums, [(halves[0], halves[1]), (halves[1], halves[0])])
    return (
        method.name,
        games,
        method.settings[best],
        correlation(sums.moments(everything, line)),
        rho,
        *fisher_interval(rho, n),
        players,
        held,
        paper,
        method.paper_rho,
    )


def _tried(
    sums: ColumnSums | RegressionSums, parts: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> tuple[float | None, int]:
    """Correlation of results with lines that other games chose, and over how many games.

    ``parts``: the groups that choose, and those that are tried.
    """
    moments = np.zeros(6)
    for choosing, tried in parts:
        moments += sums.moments(tried, sums.line(choosing))
    return correlation(moments), int(moments[0])
