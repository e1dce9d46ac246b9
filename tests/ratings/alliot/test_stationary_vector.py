from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.linalg import null_space

from live.ratings.markov import (
    checked_stochastic,
    closed_classes,
    sensitivities,
    stationary_vector,
)

Floats = npt.NDArray[np.float64]


@st.composite
def chains(draw: st.DrawFn, density: float | None = None) -> Floats:
    """Stochastic matrices of counts, from full to nearly empty, with periods and dead ends."""
    n = draw(st.integers(1, 19))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    share = draw(st.sampled_from([0.08, 0.15, 0.3, 0.6, 1.0])) if density is None else density
    counts = rng.integers(1, draw(st.sampled_from([2, 10, 1000])), (n, n))
    counts *= rng.random((n, n)) < share
    empty = counts.sum(axis=1) == 0
    counts[empty] = np.eye(n, dtype=np.int64)[rng.permutation(n)][empty]
    found: Floats = counts / counts.sum(axis=1, keepdims=True)
    return found


def long_run(matrix: Floats, start: Floats) -> Floats | None:
    """The Cesàro limit by brute force: powers of the chain that rests half the time, which has the
    same limit and no period. None if it has not settled after 2^40 moves.
    """
    resting = (np.eye(len(matrix)) + matrix) / 2
    for _ in range(40):
        resting = resting @ resting
        resting /= resting.sum(axis=1, keepdims=True)  # squaring would let rounding grow
    settled = np.abs(resting @ resting - resting).max() < 1e-12
    return start @ resting if settled else None


@pytest.mark.slow
@given(chains(), st.integers(0, 2**32 - 1))
def test_it_is_where_the_chain_ends_up(matrix: Floats, seed: int) -> None:
    start = np.random.default_rng(seed).dirichlet(np.ones(len(matrix)))
    expected = long_run(matrix, start)
    found = stationary_vector(matrix, start)
    assert found == pytest.approx(found @ matrix, abs=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert (found >= 0).all()
    if expected is not None:
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(chains())
def test_one_closed_class_gives_scipys_eigenvector(matrix: Floats) -> None:
    space = null_space(matrix.T - np.eye(len(matrix)), rcond=1e-12)
    classes = closed_classes(matrix)
    assert len(classes) == space.shape[1]
    if len(classes) == 1:
        eigenvector = space[:, 0] / space[:, 0].sum()
        assert stationary_vector(matrix) == pytest.approx(eigenvector, abs=1e-9)


@pytest.mark.slow
@given(chains(density=1.0))
def test_the_start_is_forgotten_by_a_chain_in_one_piece(matrix: Floats) -> None:
    first = np.zeros(len(matrix))
    first[0] = 1
    assert stationary_vector(matrix, first) == pytest.approx(stationary_vector(matrix), abs=1e-12)


def test_a_chain_that_never_moves_stays_at_its_start() -> None:
    start = np.array([0.2, 0.5, 0.3])
    assert stationary_vector(np.eye(3), start) == pytest.approx(start)


def test_a_chain_with_a_period_has_its_long_run_shares() -> None:
    cycle = np.roll(np.eye(4), 1, axis=1)
    assert stationary_vector(cycle, np.array([1.0, 0, 0, 0])) == pytest.approx([0.25] * 4)


def test_gamblers_ruin_ends_as_the_books_say() -> None:
    # Feller 1968, section XIV.2: fair steps from i of N end at N with probability i/N.
    n = 11
    matrix = np.zeros((n, n))
    matrix[0, 0] = matrix[-1, -1] = 1
    for i in range(1, n - 1):
        matrix[i, i - 1] = matrix[i, i + 1] = 0.5
    for i in range(n):
        found = stationary_vector(matrix, np.eye(n)[i])
        assert (found[0], found[-1]) == pytest.approx((1 - i / (n - 1), i / (n - 1)))
        assert found[1:-1] == pytest.approx(np.zeros(n - 2), abs=1e-15)


def test_a_chain_that_mixes_too_slowly_for_any_multiplication_keeps_all_digits() -> None:
    # A birth-death chain with a valley of 1e-28 between its ends; detailed balance is exact.
    up = np.array([1e-7, 1e-7, 1e-7, 1e-7, 0.5, 0.5, 0.5, 0.5])
    down = np.array([0.5, 0.5, 0.5, 0.5, 1e-7, 1e-7, 1e-7, 2e-7])
    n = len(up) + 1
    matrix = np.zeros((n, n))
    for i in range(n - 1):
        matrix[i, i + 1], matrix[i + 1, i] = up[i], down[i]
    matrix += np.diag(1 - matrix.sum(axis=1))
    found = stationary_vector(matrix)
    for i, (here, there) in enumerate(pairwise(found)):
        assert here * up[i] == pytest.approx(there * down[i], rel=1e-6)


@given(chains())
def test_closed_classes_are_never_left_and_hold_nobody_twice(matrix: Floats) -> None:
    classes = closed_classes(matrix)
    members = [state for found in classes for state in found]
    assert classes and len(set(members)) == len(members)
    for found in classes:
        assert matrix[np.ix_(found, found)].sum(axis=1) == pytest.approx(np.ones(len(found)))


@pytest.mark.slow
@given(chains(density=1.0), st.integers(0, 2**32 - 1))
def test_sensitivities_tell_what_a_small_change_does(matrix: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(matrix)
    values, other = rng.random(n), rng.dirichlet(np.ones(n), n)
    found = stationary_vector(matrix)
    gathered = sensitivities(matrix, found, values)
    step = 1e-6
    moved = stationary_vector((1 - step) * matrix + step * other) @ values - found @ values
    assert moved / step == pytest.approx(found @ (other - matrix) @ gathered, abs=1e-3)


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((0, 0)),
        np.ones((2, 3)) / 3,
        np.zeros((2, 2)),
        np.array([[0.5, 0.6], [0.5, 0.5]]),
        np.array([[1.5, -0.5], [0, 1]]),
        np.array([[np.nan, 1], [0, 1]]),
        np.array([[np.inf, 0], [0, 1]]),
    ],
)
def test_what_is_no_stochastic_matrix_is_refused(matrix: Floats) -> None:
    with pytest.raises(ValueError, match="transition matrix"):
        stationary_vector(matrix)


@pytest.mark.parametrize("start", [[1.0], [0.5, 0.6], [-1, 2], [np.nan, 1]])
def test_what_is_no_start_is_refused(start: list[float]) -> None:
    with pytest.raises(ValueError, match="start"):
        stationary_vector(np.eye(2), np.array(start))


@pytest.mark.slow
@given(arrays.arrays(np.float64, (3, 3), elements=st.floats(1e-18, 1)))
def test_rounding_is_taken_for_what_it_is(weights: Floats) -> None:
    matrix = weights / weights.sum(axis=1, keepdims=True)
    found = checked_stochastic(matrix)
    assert found.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-15)
    assert ((found == 0) | (found >= 1e-15)).all()
    assert stationary_vector(matrix).sum() == pytest.approx(1)
