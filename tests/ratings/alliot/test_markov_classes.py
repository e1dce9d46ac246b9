from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.markov import (
    NINETEEN,
    NINETEEN_WIDTHS_CP,
    TEN,
    EvaluationClasses,
)

scores = st.integers(-3900, 3900) | st.integers(-210, 210)


def test_ten_classes_of_four_tenths_of_a_pawn() -> None:
    assert len(TEN) == 10
    # Section 3.4: "state -0.6 (the evaluation function is between -0.4 and -0.8)".
    middles = (-180, -140, -100, -60, -20, 20, 60, 100, 140, 180)
    for index, middle in enumerate(middles):
        assert {TEN.of(cp) for cp in range(middle - 19, middle + 20)} == {index}
    assert (TEN.of(-3900), TEN.of(3900)) == (0, 9)


def test_nineteen_classes_have_the_widths_of_section_4_4_1() -> None:
    assert len(NINETEEN) == 19
    # Zero and both ends are classes of their own.
    assert {cp for cp in range(-3900, 3901) if NINETEEN.of(cp) == 9} == {0}
    assert {cp for cp in range(-3900, 3901) if NINETEEN.of(cp) == 18} == set(range(200, 3901))
    # "The classes closest to zero on either side are 10cp wide, and the width of classes grows as
    # we get further from 0, with the last classes being 50cp wide."
    inner = [cp for cp in range(1, 201) if NINETEEN.of(cp) != NINETEEN.of(cp - 1)]
    widths = np.diff([0, *inner[1:]])
    assert widths.tolist() == list(NINETEEN_WIDTHS_CP)
    assert (widths[0], widths[-1], widths.sum()) == (10, 50, 200)
    assert (np.diff(widths) > 0).all()


def test_the_widths_follow_the_papers_logarithm() -> None:
    def f(v: float) -> float:
        return (math.exp(-v / 100) - math.exp(-2)) / (1 - math.exp(-2))

    edges = [200 * f(200 - 25 * step) for step in range(8, -1, -1)]
    assert np.diff(sorted(edges)) == pytest.approx(
        [8.9, 11.4, 14.7, 18.8, 24.2, 31.0, 39.8, 51.2], abs=0.06
    )
    assert np.diff(sorted(edges)) == pytest.approx(NINETEEN_WIDTHS_CP, abs=1.2)
    # Growing by the same factor at each step is what logarithmic means here.
    steps = np.log(np.array(NINETEEN_WIDTHS_CP, dtype=np.float64))
    line = np.polynomial.Polynomial.fit(np.arange(8), steps, 1)
    assert line(np.arange(8)) == pytest.approx(steps, abs=0.06)


@given(scores)
def test_nineteen_classes_mirror_each_other(cp: int) -> None:
    assert NINETEEN.of(-cp) == 18 - NINETEEN.of(cp)


@given(st.sampled_from([TEN, NINETEEN]), scores, scores)
def test_a_better_evaluation_is_in_no_lower_class(
    classes: EvaluationClasses, one: int, other: int
) -> None:
    low, high = sorted((one, other))
    assert 0 <= classes.of(low) <= classes.of(high) < len(classes)


def test_a_game_starts_in_the_middle() -> None:
    assert TEN.level.tolist() == [0, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0]
    assert np.flatnonzero(NINETEEN.level).tolist() == [9]
    assert NINETEEN.level[9] == 1


@pytest.mark.parametrize("bounds", [(), (1, 0), (3, 3)])
def test_bounds_that_cut_nothing_are_refused(bounds: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        EvaluationClasses(bounds)


@pytest.mark.parametrize("score", [3901, -3901, 0.5, math.nan, True])
def test_what_is_no_score_has_no_class(score: int) -> None:
    with pytest.raises(ValueError, match="score"):
        TEN.of(score)
