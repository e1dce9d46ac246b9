"""Alliot's sums, covariance and constants, on invented games."""

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import polars
import pytest
from scipy import stats

from live.ratings.covariance import TANH, Convolution, predict_by_convolution
from live.ratings.ferreira import Floats
from live.ratings.gains import GainHistogram
from live.studies import alliot_covariance
from live.studies.alliot_covariance import (
    GRID_B_CP,
    GRID_N0,
    build_spline_basis,
    build_spline_penalty,
    compute_convolutions,
    compute_spline_indicators,
)
from live.studies.alliot_games import CountedGame, read_counted_games
from live.studies.line_fits import FOLDS, LineSums, compute_correlation
from live.studies.player_moves import ConformingMoves
from live.studies.study_tables import build_table
from tests.studies.small_corpus import corpus_of, study_of


def summed(sums: LineSums, x: Floats, y: Floats) -> LineSums:
    """Add one game for each row of indicators and its result; return the sums."""
    for game, (indicators, result) in enumerate(zip(x, y, strict=True)):
        sums.add(game, indicators, float(result))
    return sums


def test_sums_give_what_scipy_gives() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 2))
    y = 0.3 + 2 * x[:, 0] + rng.normal(size=200)
    sums = summed(LineSums(2), x, y)
    for index in (0, 1):
        line = stats.linregress(x[:, index], y)
        fit = sums.fit(index)
        assert fit.n == 200
        assert fit.rho == pytest.approx(line.rvalue)
        assert (fit.alpha, fit.beta) == pytest.approx((line.intercept, line.slope))
        assert fit.beta_high is not None
        reach = stats.t.ppf(0.975, 198) * line.stderr
        assert fit.beta_high - line.slope == pytest.approx(reach)
        ends = stats.pearsonr(x[:, index], y).confidence_interval()
        assert (fit.rho_low, fit.rho_high) == pytest.approx(tuple(ends))


def test_the_error_is_that_of_games_left_out() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=60), rng.normal(size=60)
    sums = summed(LineSums(1), x[:, None], y)
    squares = plain = 0.0
    for fold in range(FOLDS):
        held = np.arange(60) % FOLDS == fold
        line = stats.linregress(x[~held], y[~held])
        squares += float(((y[held] - line.intercept - line.slope * x[held]) ** 2).sum())
        plain += float(((y[held] - y[~held].mean()) ** 2).sum())
    fit = sums.fit(0)
    assert fit.error == pytest.approx((squares / 60) ** 0.5)
    assert fit.error_of_mean == pytest.approx((plain / 60) ** 0.5)


def test_what_does_not_vary_has_no_correlation() -> None:
    sums = LineSums(1)
    assert sums.fit(0).n == 0
    for game in range(8):
        sums.add(game, np.array([1.0]), game / 8)
    fit = sums.fit(0)
    assert (fit.n, fit.rho, fit.beta, fit.mean) == (8, None, None, 1.0)


def test_several_indicators_together_are_least_squares() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(90, 3))
    y = 1 + x @ [2.0, 0.0, -1.0] + rng.normal(size=90)
    sums = summed(LineSums(1, groups=3, penalty=np.zeros((3, 3))), x, y)
    chosen, held = np.arange(90) % 3 != 2, np.arange(90) % 3 == 2
    line = np.linalg.lstsq(np.c_[np.ones(60), x[chosen]], y[chosen], rcond=None)[0]
    assert sums.fit_line(np.array([0, 1]))[1] == pytest.approx(line)
    told = line[0] + x[held] @ line[1:]
    rho = compute_correlation(sums.compute_moments(np.array([2]), (0, line)))
    assert rho == pytest.approx(np.corrcoef(told, y[held])[0, 1])
    n, whole, covariance = sums.compute_covariance()
    design = np.c_[np.ones(90), x]
    left = y - design @ whole
    assert n == 90
    assert covariance == pytest.approx(
        left @ left / 86 * np.linalg.inv(design.T @ design)
    )


def test_the_best_of_many_indicators_is_tried_elsewhere() -> None:
    rng = np.random.default_rng(8)
    x, noise = rng.normal(size=(60, 4)), rng.normal(size=60)
    y = x[:, 2] + noise
    sums = summed(LineSums(4, groups=2), x, y)
    index, line = sums.fit_line(np.array([0]))
    slope, start = np.polyfit(x[::2, 2], y[::2], 1)
    assert (index, *line) == pytest.approx((2, start, slope))
    rho = compute_correlation(sums.sum_held_out([(np.array([0]), np.array([1]))]))
    assert rho == pytest.approx(np.corrcoef(x[1::2, 2], y[1::2])[0, 1])
    assert compute_correlation(np.zeros((3, 3))) is None
    assert LineSums(2).fit_line(np.array([0]))[1].tolist() == [0.0, 0.0]


def games(count: int, step_cp: int = 1) -> list[CountedGame]:
    chance = random.Random(7)

    def side(skill: float) -> tuple[tuple[int, int], ...]:
        gains = (
            min(0, round(chance.gauss(40 - skill, 60) / step_cp)) for _ in range(30)
        )
        return tuple((0, gain * step_cp) for gain in gains)

    return [
        CountedGame(
            game, 0.0, [side(chance.uniform(0, 90)), side(chance.uniform(0, 90))]
        )
        for game in range(count)
    ]


def collect_gains(side: Sequence[tuple[int, int]]) -> GainHistogram:
    return GainHistogram(gain_cp for _, gain_cp in side)


def sum_gains(side: Sequence[tuple[int, int]]) -> int:
    return sum(gain_cp for _, gain_cp in side)


def let_the_better_win(game: CountedGame) -> CountedGame:
    white, black = map(sum_gains, game.sides)
    return msgspec.structs.replace(game, result=1.0 if white > black else -1.0)


def test_the_grid_is_the_convolution_where_gains_are_whole_steps() -> None:
    for game in games(4, step_cp=5):
        found = compute_convolutions(game).reshape(len(GRID_N0), len(GRID_B_CP))
        white, black = map(collect_gains, game.sides)
        for n0, b_cp in ((0, 0), (29, 220), (95, 780)):
            told = predict_by_convolution(
                white, black, Convolution(n0, b_cp)
            ).expected_score
            assert told is not None
            at = found[GRID_N0.index(n0), GRID_B_CP.index(b_cp)]
            assert at == pytest.approx(2 * told - 1, abs=1e-9)


def test_a_spline_is_odd_and_goes_through_its_points() -> None:
    basis = build_spline_basis()
    assert basis.shape == (801, 20)
    assert np.allclose(basis, -basis[::-1])
    assert np.allclose(basis[400 + np.arange(20, 401, 20)], np.eye(20))


def test_a_spline_finds_the_vector_that_made_the_results() -> None:
    basis, sums = build_spline_basis(), LineSums(1, penalty=build_spline_penalty())
    truth = 2 * TANH.evaluate(np.arange(-400.0, 401.0)) - 1
    points = truth[400 + np.arange(20, 401, 20)]
    for game in games(300):
        indicators = compute_spline_indicators(game, basis)
        sums.add(game.game, indicators, float(indicators @ points))
    n, line, _ = sums.compute_covariance()
    assert n == 300
    # Only these points are compared, because differences under a pawn are frequent.
    assert line[1:6] == pytest.approx(points[:5], abs=0.03)


def test_with_few_games_nothing_is_chosen(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db")
    with study_of(corpus) as data:
        table = build_table(alliot_covariance.fits_table, data)
    assert not table.rows and table.notes == (
        "At least 41 games are needed to choose constants.",
    )


def test_games_that_count_have_their_results(tmp_path: Path) -> None:
    with study_of(corpus_of(tmp_path / "c.db")) as data:
        assert {game.result for game in read_counted_games(data)} == {-1.0, 0.0, 1.0}


def test_noise_chosen_among_many_constants_is_worth_nothing_on_other_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table must show that chosen constants fit the games of the choice better than
    other games.
    """

    def side(at: int, best: int, gain: int) -> tuple[tuple[int, int], ...]:
        return tuple(
            (ply * best % 90 - 40, -(at * ply * gain % 57)) for ply in range(12)
        )

    corpus = corpus_of(tmp_path / "c.db")
    with study_of(corpus) as data:
        # Thirteen games, repeated. Their shortfalls are unrelated to the results.
        held = [
            CountedGame(
                at % 13 + 1, at * 7919 % 3 - 1.0, [side(at, 13, 31), side(at, 17, 37)]
            )
            for at in range(65)
        ]
        monkeypatch.setattr(
            alliot_covariance, "read_counted_games", lambda data: iter(held)
        )
        rows = build_table(alliot_covariance.fits_table, data).rows
        worth = list(map(let_the_better_win, held))
        monkeypatch.setattr(
            alliot_covariance, "read_counted_games", lambda data: iter(worth)
        )
        told = build_table(alliot_covariance.fits_table, data).rows
    for row, other in zip(rows, told, strict=True):
        assert isinstance(row[3], float) and isinstance(row[4], float)
        assert row[4] < row[3]
        assert isinstance(other[3], float) and other[3] > 0.5


def test_a_game_without_a_counted_move_has_no_result() -> None:
    """A forfeit after one move must not count for the only player who moved."""
    moves = [(1, 1, False, 0.0), *((2, ply, ply > 18, 1.0) for ply in (17, 19, 21))]
    usual = {"elo": 2785, "best_cp": 10, "gain_cp": -5, "successive_cp": -5}
    held = ConformingMoves("same-search")
    held.add(
        polars.DataFrame(
            usual | {"game": game, "ply": ply, "counted": counted, "score": score}
            for game, ply, counted, score in moves
        )
    )
    assert (held.points, held.results, held.games) == (1.0, 1, 2)
