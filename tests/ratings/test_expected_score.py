from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from live.ratings.expected_score import difference_of, expected_score_of


@given(st.floats(1e-300, 1 - 1e-12))
def test_difference_equals_scipys_normal(score: float) -> None:
    assert difference_of(score) == pytest.approx(
        200 * math.sqrt(2) * float(norm.ppf(score)), rel=1e-9, abs=1e-9
    )


@given(st.floats(-2500, 1500))
def test_score_and_difference_undo_each_other(difference: float) -> None:
    assert difference_of(expected_score_of(difference)) == pytest.approx(difference, abs=1e-6)


def test_the_papers_example() -> None:
    difference = difference_of(0.655)
    assert difference is not None
    assert round(difference) == 113


def test_certain_scores_are_unbounded() -> None:
    assert difference_of(0.0) is None
    assert difference_of(1.0) is None
    assert expected_score_of(math.inf) == 1.0
    assert expected_score_of(-math.inf) == 0.0


@pytest.mark.parametrize("bad", [math.nan, -1e-9, 1.0000001, math.inf])
def test_what_is_no_score_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="expected score"):
        difference_of(bad)


def test_a_difference_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a number"):
        expected_score_of(math.nan)
