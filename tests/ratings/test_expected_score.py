"""Conversion between expected score and Elo difference."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from live.ratings.expected_score import (
    convert_difference_to_score,
    convert_score_to_difference,
)


@given(st.floats(1e-300, 1 - 1e-12))
def test_difference_equals_scipys_normal(score: float) -> None:
    assert convert_score_to_difference(score) == pytest.approx(
        200 * math.sqrt(2) * float(norm.ppf(score)), rel=1e-9, abs=1e-9
    )


@given(st.floats(-2500, 1500))
def test_score_and_difference_undo_each_other(difference: float) -> None:
    assert convert_score_to_difference(
        convert_difference_to_score(difference)
    ) == pytest.approx(difference, abs=1e-6)
