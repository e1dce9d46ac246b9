"""Alliot's tables about the covariance of gains (2017, section 4.3.1): Table 6, Figures
9 to 12.

The expected score of a game is the scalar product of R, the distribution of the
difference of two gains, and an outcome vector e. The vector is a step, a tanh, or a
spline through 20 points that are fitted to results. In the convolution method, R is
instead convolved with itself n0 times and cut at b.

Alliot chose k1, k2, a, n0, b and the points of his spline by the best correlation on
the same games on which he tested them (2017, section 4.3.1). This module chooses each
constant on some games of the corpus and tests it on other games. There are two tests.
In the first, the games are divided into ten folds. In the second, the players are
divided into two halves: constants chosen on the games between players of one half are
tested on the games between players of the other half. The games are read once and added
to running sums, so memory does not grow with the number of games.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from live.errors import InputError
from live.ratings.conformance import (
    GUID_BRATKO,
    PONDERATED_BY_REGRESSION,
    RAW,
    Conformance,
    build_ponderated,
)
from live.ratings.covariance import (
    CONVOLUTION_29,
    CONVOLUTION_32,
    STEP,
    STEP_CONFORMANCE,
    TANH,
    TANH_CONFORMANCE,
    Convolution,
    OutcomeVector,
    convert_conformance_to_gain,
    convolve_with_itself,
    predict_by_convolution,
)
from live.ratings.ferreira import Floats
from live.ratings.gains import GainHistogram, cross_correlate
from live.studies.alliot_games import (
    FIT_COLUMNS,
    CountedGame,
    fit_lines,
    read_counted_games,
)
from live.studies.line_fits import (
    FOLDS,
    LineFit,
    LineSums,
    compute_correlation,
    compute_fisher_interval,
)
from live.studies.player_moves import PlayerMoves, gather_by_player
from live.studies.study_data import StudyData
from live.studies.study_tables import (
    Row,
    Rows,
    TableHead,
    build_interval_columns,
    define_table,
)


class Variant(NamedTuple):
    """A row of Alliot's Table 6."""

    name: str
    kind: Conformance
    vector: OutcomeVector
    paper_rho: float


VARIANTS = (
    Variant("raw, step", RAW, STEP, 0.806),
    Variant("Guid and Bratko, step", GUID_BRATKO, STEP, 0.749),
    Variant("k1 = 1.44, step", PONDERATED_BY_REGRESSION, STEP, 0.817),
    Variant("k1 = 0.37, step", STEP_CONFORMANCE, STEP, 0.825),
    Variant("k1 = 1.20, tanh", TANH_CONFORMANCE, TANH, 0.875),
)
#: Settings of the convolution: name, setting, and the paper's ρ.
CONVOLUTIONS: tuple[tuple[str, Convolution, float | None], ...] = (
    ("n0 = 0, b = 0", Convolution(0, 0), None),
    ("n0 = 8, b = 1.0", Convolution(8, 100), None),
    ("n0 = 29, b = 2.2", CONVOLUTION_29, 0.94),
    ("n0 = 32, b = 2.4", CONVOLUTION_32, 0.94),
)
#: Spline of Alliot's Table 6: the conformance it uses, and the gain differences at its
#: points, centipawns. Beyond the last point, the spline is constant.
SPLINE_CONFORMANCE = build_ponderated(0.82, -2.37)
_KNOTS_CP = np.arange(0, 401, 20)
#: Weight of the penalty for bends of the spline, per game. Of the values from 0 to 0.1,
#: this one predicted other games best: the correlation over 439 games was 0.811, and
#: 0.775 without a penalty.
_SMOOTHNESS = 0.01
#: Values of n0 and b (centipawns) in the grid. Alliot's Figure 11 goes to n0 = 95 in
#: steps of 1, and to b = 7.8 in steps of 0.2.
GRID_N0 = (0, 4, 8, 16, 24, 29, 32, 48, 64, 95)
GRID_B_CP = tuple(range(0, 800, 20))
_GRID = tuple(itertools.product(GRID_N0, GRID_B_CP))
#: Resolution of differences in the grid, centipawns. It is coarse because every game is
#: convolved ten times.
_GRID_STEP_CP = 5
#: Numbers of pairs of moves in Alliot's Figure 10.
_PAIRS_OF_MOVES = (1, 2, 4, 8, 16, 32)
_SHOWN_CP = 500


@define_table(
    "alliot-6",
    "Covariance of gains and the results of games",
    "Alliot 2017, section 4.3.1, Table 6",
    "variant",
    ("paper's rho", 3),
    *FIT_COLUMNS,
    notes=(
        "The paper's beta: 2.682, 2.460, 2.553, 2.346, 4.956.",
        "The spline, whose points are chosen on games, is in alliot-fits and"
        " alliot-outcomes.",
    ),
    about="everybody",
)
def covariance_table(data: StudyData) -> Rows:
    """Build Alliot's Table 6: how the covariance indicator of a game correlates with
    its result, for each kind of conformance with each outcome vector.
    """
    for variant, fit in zip(VARIANTS, fit_covariances(data), strict=True):
        yield variant.name, variant.paper_rho, *fit


def fit_covariances(data: StudyData) -> list[LineFit]:
    """Return the line from the covariance of a game to its result, for each of
    ``VARIANTS``.
    """
    indicators = [
        partial(compute_covariances, kinds=[variant.kind], vectors=[variant.vector])
        for variant in VARIANTS
    ]
    return fit_lines(data, indicators, 1)


@define_table(
    "alliot-convolution",
    "Convolved gains and the results of games",
    "Alliot 2017, section 4.3.1",
    "setting",
    ("paper's rho", 3),
    *FIT_COLUMNS,
    about="everybody",
)
def convolution_table(data: StudyData) -> Rows:
    """Build the table of how convolved gains correlate with results, for the paper's
    settings of n0 and b.
    """
    fits = fit_convolutions(data)
    for (name, _, rho), fit in zip(CONVOLUTIONS, fits, strict=True):
        yield name, rho, *fit


def fit_convolutions(data: StudyData) -> list[LineFit]:
    """Return the line from convolved gains to the result of a game, for each of
    ``CONVOLUTIONS``.
    """

    def compute_indicators(game: CountedGame) -> Floats:
        white, black = _build_histograms(game)
        scores = [
            predict_by_convolution(white, black, setting).expected_score
            for _, setting, _ in CONVOLUTIONS
        ]
        return np.array([2 * (score or 0.0) - 1 for score in scores])

    return fit_lines(data, [compute_indicators], len(CONVOLUTIONS))


@define_table(
    "alliot-convolution-grid",
    "Convolved gains and the results of games, by n0 and b",
    "Alliot 2017, section 4.3.1, Figures 11 and 12",
    "n0",
    ("b", 1, "pawns"),
    "games",
    *build_interval_columns("rho", 3),
    about="everybody",
)
def grid_table(data: StudyData) -> Rows:
    """Build the table of the correlation ρ for every n0 and b of the grid: Alliot's
    Figures 11 and 12.
    """
    fits = fit_grid(data)
    if all(fit.rho is None for fit in fits):
        yield "A correlation needs four games, and more than one result."
        return
    for (n0, b_cp), fit in zip(_GRID, fits, strict=True):
        yield n0, b_cp / 100, fit.n, fit.rho, fit.rho_low, fit.rho_high
    yield f"Differences of two gains in steps of {_GRID_STEP_CP} cp."
    yield (
        "The paper: 0.94 at n0 = 29, b = 2.2; at most 0.95; b grows nearly linearly"
        " with n0."
    )


def fit_grid(data: StudyData) -> list[LineFit]:
    """Return the line from convolved gains to the result of a game, for every n0 and b
    of the grid.
    """
    return fit_lines(data, [compute_convolutions], len(_GRID))


def compute_convolutions(game: CountedGame) -> Floats:
    """Return one indicator, from -1 to 1, for each n0 and b of the grid. The shape is
    (number of n0 · number of b,); the values of b change fastest.
    """
    white, black = _build_histograms(game)
    lowest, pairs = cross_correlate(white, black)
    steps = np.rint((lowest + np.arange(len(pairs))) / _GRID_STEP_CP).astype(np.int64)
    first = int(steps[0])
    single = np.bincount(steps - first, weights=pairs) / (white.n * black.n)
    bounds = np.array(GRID_B_CP) // _GRID_STEP_CP
    indicators = np.empty((len(GRID_N0), len(GRID_B_CP)))
    for at, n0 in enumerate(GRID_N0):
        lowest, shares = convolve_with_itself(first, single, n0 + 1)
        below = np.concatenate([[0.0], np.cumsum(shares)])
        wins = below[-1] - below[np.clip(bounds + 1 - lowest, 0, len(shares))]
        losses = below[np.clip(-bounds - lowest, 0, len(shares))]
        indicators[at] = wins - losses
    return indicators.ravel()


def _build_histograms(game: CountedGame) -> list[GainHistogram]:
    """Return the gain histograms of the two sides, White's first."""
    return [GainHistogram(map(itemgetter(1), side)) for side in game.sides]


@define_table(
    "alliot-outcomes",
    "What a difference of two gains is worth",
    "Alliot 2017, section 4.3.1, Figure 9",
    "difference_cp",
    ("step", 3, "Ferreira's"),
    ("tanh", 3, "a = 1.16"),
    ("spline", 3, "fitted to these games, smoothed, 1 at +400"),
    ("low", 3, "95 % interval of the spline, but for its scale"),
    ("high", 3),
    about="everybody",
)
def outcomes_table(data: StudyData) -> Rows:
    """Build the table of the outcome vectors, with the spline fitted to these games:
    Alliot's Figure 9.
    """
    basis = build_spline_basis()
    sums = LineSums(1, penalty=build_spline_penalty())
    for game in read_counted_games(data):
        sums.add(game.game, compute_spline_indicators(game, basis), game.result)
    n, weights, spread = sums.compute_covariance()
    scale = abs(float(weights[-1])) or 1.0
    at_cp = np.arange(-400, 401, 10)
    lines = basis[at_cp + 400]
    values = 0.5 + 0.5 * lines @ weights[1:] / scale
    reach = (
        1.96
        * 0.5
        * np.sqrt(np.einsum("ij,jk,ik->i", lines, spread[1:, 1:], lines))
        / scale
    )
    at: Floats = at_cp.astype(np.float64)
    columns = (
        at_cp,
        STEP.evaluate(at),
        TANH.evaluate(at),
        values,
        values - reach,
        values + reach,
    )
    if n > 2 * basis.shape[1]:
        yield from zip(*(column.tolist() for column in columns), strict=True)
    yield f"{n} games; {basis.shape[1]} points, which need at least 41 games."


def build_spline_basis() -> Floats:
    """Return the contribution of each spline point at gain differences from -400 to 400
    centipawns: shape (801, 20).

    The spline is natural and cubic, 0 at 0 and odd around it.
    """
    points = np.eye(len(_KNOTS_CP))
    above = CubicSpline(_KNOTS_CP, points, bc_type="natural")(np.arange(401))[:, 1:]
    return np.concatenate([-above[:0:-1], above])


def build_spline_penalty() -> Floats:
    """Return the penalty matrix for second differences between the points, including
    the 0 in the middle: shape (20, 20).
    """
    bends = np.diff(np.eye(len(_KNOTS_CP)), 2, axis=0)[:, 1:]
    return _SMOOTHNESS * bends.T @ bends


def compute_spline_indicators(game: CountedGame, basis: Floats) -> Floats:
    """Return the mean contribution of each spline point over all pairs of moves, shape
    (20,). Their sum, weighted by the points' values, is the spline's indicator for the
    game.
    """
    white, black = (select_gains(side, SPLINE_CONFORMANCE) for side in game.sides)
    differences = np.clip(white[:, None] - black[None, :], -400, 400).astype(np.int64)
    counts = np.bincount(differences.ravel() + 400, minlength=801)
    contributions: Floats = counts @ basis / counts.sum()
    return contributions


@define_table(
    "alliot-differences",
    "Difference of gains over several pairs of moves",
    "Alliot 2017, section 4.3.1, Figure 10; Ferreira 2012, Eq. 1",
    ("pairs", None, "of moves"),
    "difference_cp",
    ("share", 6, f"probability; within {_SHOWN_CP} cp alone"),
)
def difference_table(data: StudyData) -> Rows:
    """Build the table of Figure 10: the distribution of the difference of two players'
    gains, summed over 1 to 32 pairs of moves. For one pair it is the distribution of
    Ferreira's Eq. 1.
    """
    moves_of = gather_by_player(data, PlayerMoves)
    if len(moves_of) < 2:
        raise InputError(
            "alliot-differences",
            "is about two players",
            "Name them: --player A --player B",
        )
    (player, moves), (opponent, opponent_moves) = list(moves_of.items())[:2]
    names = f"{data.players[player]} less {data.players[opponent]}"
    yield TableHead(f"Difference of gains over several pairs of moves: {names}")
    yield f"From {moves.gains.n} and {opponent_moves.gains.n} moves."
    lowest, pairs = cross_correlate(moves.gains, opponent_moves.gains)
    single = pairs / (moves.gains.n * opponent_moves.gains.n)
    for n in _PAIRS_OF_MOVES:
        first, shares = convolve_with_itself(lowest, single, n)
        for at in range(-_SHOWN_CP, _SHOWN_CP + 1):
            index = at - first
            yield n, at, float(shares[index]) if 0 <= index < len(shares) else 0.0


def compute_covariances(
    game: CountedGame, kinds: Sequence[Conformance], vectors: Sequence[OutcomeVector]
) -> Floats | None:
    """Return the covariance of the game, from -1 to 1, for every kind of conformance
    with each outcome vector; None if one of the sides has no move.
    """
    covariances = []
    for kind in kinds:
        white, black = (select_gains(side, kind) for side in game.sides)
        if not len(white) or not len(black):
            return None
        differences = white[:, None] - black[None, :]
        covariances += [
            2 * vector.evaluate(differences).mean() - 1 for vector in vectors
        ]
    return np.array(covariances)


def select_gains(side: tuple[tuple[int, int], ...], kind: Conformance) -> Floats:
    """Return one side's gains in centipawns, without the moves that this kind of
    conformance leaves out.
    """
    gains = (
        convert_conformance_to_gain(kind, best_cp, gain_cp) for best_cp, gain_cp in side
    )
    return np.array([gain for gain in gains if gain is not None], dtype=np.float64)


#: Candidate values of k1 and k2, pawns. With infinite values, all moves have equal
#: weight.
_K1 = (0.2, 0.37, 0.6, 0.75, 1.0, 1.44, 2.0, 4.0, math.inf)
_K2 = (-1.5, -2.5, -3.3, -3.7, -5.0, -8.0, -math.inf)
#: Candidate values of a, per pawn.
_A = (0.3, 0.6, 0.9, 1.16, 1.5, 2.0, 3.0)
_WEIGHTS = tuple(itertools.product(_K1, _K2))

#: Groups of games. Each fold has three groups: the numbers of both players are even,
#: both are odd, or one is even and one odd.
_EVEN, _ODD, _MIXED = range(3)
_KINDS = 3
_GROUPS = FOLDS * _KINDS
#: Smallest number of games from which constants are chosen.
_LEAST = 41


class _Method(NamedTuple):
    """A method whose constants are chosen on games: its function from a game to
    indicators, the names of the settings, and the paper's choice among them.
    """

    name: str
    settings: tuple[str, ...]
    of: Callable[[CountedGame], Floats | None]
    paper_rho: float
    paper: str = ""
    penalty: Floats | None = None


@define_table(
    "alliot-fits",
    "The constants of covariance, chosen and tried",
    "Alliot 2017, section 4.3.1, Table 6 and Figures 11 and 12",
    "method",
    "games",
    ("constants", None, "with the best correlation over all these games"),
    ("rho", 3, "of these constants on the games that chose them"),
    ("other games", 3, "rho on games that did not choose them, ten folds"),
    ("low", 3, "95 % interval of it"),
    ("high", 3),
    ("other players", 3, "rho on games of players who did not choose them"),
    ("of games", None, "with both players in one half"),
    ("the paper's constants", 3, "rho of these here"),
    ("paper's rho", 3),
    about="everybody",
)
def fits_table(data: StudyData) -> Rows:
    """Build the table of the constants that are best for this corpus, beside the
    paper's constants, with the correlation of both on other games.
    """
    methods = _list_methods()
    sums_by_method = [
        LineSums(len(method.settings), groups=_GROUPS, penalty=method.penalty)
        for method in methods
    ]
    games = 0
    for game in read_counted_games(data):
        games += 1
        group = game.game % FOLDS * _KINDS + _classify_players(game)
        for method, sums in zip(methods, sums_by_method, strict=True):
            if (values := method.of(game)) is not None:
                sums.add(group, values, game.result)
    if games < _LEAST:
        yield f"At least {_LEAST} games are needed to choose constants."
    else:
        yield from (
            _build_fit_row(method, sums, games)
            for method, sums in zip(methods, sums_by_method, strict=True)
        )


def _classify_players(game: CountedGame) -> int:
    """Return ``_EVEN`` if the numbers of both players are even, ``_ODD`` if both are
    odd, otherwise ``_MIXED``.
    """
    white, black = game.players
    if white is None or black is None or white % 2 != black % 2:
        return _MIXED
    return _ODD if white % 2 else _EVEN


def _list_methods() -> tuple[_Method, ...]:
    step = tuple(f"k1 = {k1:g}, k2 = {k2:g}" for k1, k2 in _WEIGHTS)
    tanh = tuple(f"{name}, a = {a:g}" for name, a in itertools.product(step, _A))
    grid = tuple(f"n0 = {n0}, b = {b_cp / 100:g}" for n0, b_cp in _GRID)
    kinds = [build_ponderated(*weights) for weights in _WEIGHTS]
    steps = partial(compute_covariances, kinds=kinds, vectors=[STEP])
    tanhs = partial(compute_covariances, kinds=kinds, vectors=[*map(OutcomeVector, _A)])
    basis = build_spline_basis()
    spline = (f"{basis.shape[1]} points of a spline",)
    of_spline = partial(compute_spline_indicators, basis=basis)
    return (
        _Method("step", step, steps, 0.825, "k1 = 0.37, k2 = -3.7"),
        _Method("tanh", tanh, tanhs, 0.875, "k1 = 1.44, k2 = -3.3, a = 1.16"),
        _Method("spline", spline, of_spline, 0.879, penalty=build_spline_penalty()),
        _Method("convolution", grid, compute_convolutions, 0.94, "n0 = 29, b = 2.2"),
    )


def _build_fit_row(method: _Method, sums: LineSums, games: int) -> Row:
    group = np.arange(_GROUPS)
    fold = group // _KINDS
    kind = group % _KINDS
    line = sums.fit_line(group)
    paper = (
        sums.compute_rho(group, method.settings.index(method.paper))
        if method.paper
        else None
    )
    parts = [(group[fold != held], group[fold == held]) for held in range(FOLDS)]
    moments = sums.sum_held_out(parts)
    even = group[kind == _EVEN]
    odd = group[kind == _ODD]
    players = sums.sum_held_out([(even, odd), (odd, even)])
    rho = compute_correlation(moments)
    return (
        method.name,
        games,
        method.settings[line[0]],
        compute_correlation(sums.compute_moments(group, line)),
        rho,
        *compute_fisher_interval(rho, int(moments[0, 0])),
        compute_correlation(players),
        int(players[0, 0]),
        paper,
        method.paper_rho,
    )


TABLES = (
    covariance_table,
    convolution_table,
    grid_table,
    outcomes_table,
    difference_table,
    fits_table,
)
