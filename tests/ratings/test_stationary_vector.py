"""The stationary vector of any Markov chain, compared with a brute-force result."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.ferreira import Floats
from live.ratings.stationary_vector import (
    compute_sensitivities,
    solve_stationary_vector,
)


@st.composite
def chains(draw: st.DrawFn) -> Floats:
    """Draw stochastic matrices from counts: full or nearly empty, with periods and
    absorbing states.
    """
    n = draw(st.integers(1, 19))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    share = draw(st.sampled_from([0.08, 0.15, 0.3, 0.6, 1.0]))
    counts = rng.integers(1, draw(st.sampled_from([2, 10, 1000])), (n, n))
    counts *= rng.random((n, n)) < share
    empty = counts.sum(axis=1) == 0
    counts[empty] = np.eye(n, dtype=np.int64)[rng.permutation(n)][empty]
    found: Floats = counts / counts.sum(axis=1, keepdims=True)
    return found


def long_run(matrix: Floats, start: Floats) -> Floats | None:
    """Return the Cesàro limit by brute force, or None if it does not converge in 2^40
    steps. The powers are of a chain that stays in place with probability 1/2; it has
    the same limit and no period.
    """
    resting = (np.eye(len(matrix)) + matrix) / 2
    for _ in range(40):
        resting = resting @ resting
        resting /= resting.sum(
            axis=1, keepdims=True
        )  # repeated squaring would amplify rounding errors
    settled = np.abs(resting @ resting - resting).max() < 1e-12
    return start @ resting if settled else None


@given(chains(), st.integers(0, 2**32 - 1))
def test_it_is_where_the_chain_ends_up(matrix: Floats, seed: int) -> None:
    start = np.random.default_rng(seed).dirichlet(np.ones(len(matrix)))
    expected = long_run(matrix, start)
    found = solve_stationary_vector(matrix, start)
    assert found == pytest.approx(found @ matrix, abs=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert (found >= 0).all()
    if expected is not None:
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_chain_that_mixes_very_slowly_keeps_all_digits() -> None:
    # A birth-death chain whose two ends are separated by states of probability 1e-28.
    # Detailed balance gives the exact vector.
    up = np.array([1e-7, 1e-7, 1e-7, 1e-7, 0.5, 0.5, 0.5, 0.5])
    down = np.array([0.5, 0.5, 0.5, 0.5, 1e-7, 1e-7, 1e-7, 2e-7])
    n = len(up) + 1
    matrix = np.zeros((n, n))
    for i in range(n - 1):
        matrix[i, i + 1], matrix[i + 1, i] = up[i], down[i]
    matrix += np.diag(1 - matrix.sum(axis=1))
    found = solve_stationary_vector(matrix)
    for i, (here, there) in enumerate(pairwise(found)):
        assert here * up[i] == pytest.approx(there * down[i], rel=1e-6)


@given(chains(), st.integers(0, 2**32 - 1))
def test_sensitivities_say_what_a_small_change_does(matrix: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(matrix)
    values, other = rng.random(n), rng.dirichlet(np.ones(n), n)
    matrix = (matrix + 1 / n) / 2
    found = solve_stationary_vector(matrix)
    gathered = compute_sensitivities(matrix, found, values)
    step = 1e-6
    moved = (
        solve_stationary_vector((1 - step) * matrix + step * other) @ values
        - found @ values
    )
    assert moved / step == pytest.approx(found @ (other - matrix) @ gathered, abs=1e-3)
