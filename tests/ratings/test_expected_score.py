import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from live.ratings.expected_score import (
    development,
    difference_of,
    expected_score_of,
    fide_expected,
    fide_performance,
    rating_change,
)

# --- expected score -----------------------------------------------------------------------------


@given(st.floats(1e-300, 1 - 1e-12))
def test_difference_equals_scipys_normal(score: float) -> None:
    assert difference_of(score) == pytest.approx(
        200 * math.sqrt(2) * float(norm.ppf(score)), rel=1e-9, abs=1e-9
    )


@given(st.floats(-2500, 1500))
def test_score_and_difference_undo_each_other(difference: float) -> None:
    assert difference_of(expected_score_of(difference)) == pytest.approx(difference, abs=1e-6)


# --- fide ---------------------------------------------------------------------------------------

# FIDE's tables, against the regulations' own examples and each other.


@pytest.mark.parametrize(
    ("opponents", "points", "expected"),
    [
        ([2400] * 4, 2, 2400),
        ([2400] * 4, 3, 2593),
        ([2400] * 4, 4, 3200),
        ([2400] * 4, 0, 1600),
        ([2300, 2500], 1.5, 2593),
        ([], 0, None),
    ],
)
def test_the_rating_performance_is_that_of_the_table(
    opponents: list[float], points: float, expected: int | None
) -> None:
    assert fide_performance(opponents, points) == expected


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        (2500, 2500, 0.5),
        (2503, 2500, 0.5),
        (2504, 2500, 0.51),
        (2500, 2600, 0.36),
        (2500, 1900, 0.92),
    ],
)
def test_the_expected_share_is_that_of_the_table(own: float, other: float, expected: float) -> None:
    assert fide_expected(own, other) == expected


def test_a_rating_changes_by_k() -> None:
    assert rating_change(2500, [(2600, 1.0)], 10) == pytest.approx(6.4)
    assert development(2399) == 20
    assert development(2400) == 10


def test_the_two_tables_agree_with_each_other() -> None:
    # A share of points has the difference at which that share is expected.
    for share in np.arange(0.5, 0.92, 0.01):
        gap = (fide_performance([2000], float(share)) or 0) - 2000
        assert fide_expected(2000 + gap, 2000) == pytest.approx(share, abs=0.011)
