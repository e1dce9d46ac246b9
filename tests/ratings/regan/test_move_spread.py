from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from live.ratings.choice_model import (
    FIRST_PLY,
    LeftOut,
    Spread,
    left_out,
    scaled_delta,
    spread_of,
)

pawns = st.floats(-39, 39)
LINES = [("e4e5", 63), ("d2d4", 59), ("g1f3", 51), ("b1c3", 51), ("a2a3", 24)]


def test_a_spread_is_how_far_each_move_lies_behind_the_best() -> None:
    # The first example of Regan and Haworth 2011, section 5: Eval +0.63, (0.00,0.04,*0.12,0.12,…).
    spread = spread_of(LINES, "g1f3", scale_per_pawn=0)
    assert spread.deltas == pytest.approx((0, 0.04, 0.12, 0.12, 0.39), abs=1e-12)
    assert spread.played == 2
    assert spread.loss == pytest.approx(0.12)
    assert spread.evaluation == pytest.approx(0.63)


def test_lines_are_ranked_and_equal_ones_keep_their_order() -> None:
    shuffled = [LINES[4], LINES[2], LINES[0], LINES[3], LINES[1]]
    assert spread_of(shuffled, "b1c3") == spread_of(LINES, "b1c3")
    assert spread_of(LINES, "b1c3").played == 3


def test_a_move_that_is_not_among_the_lines_has_no_loss() -> None:
    spread = spread_of(LINES, "h2h4")
    assert spread.played is None
    assert spread.loss is None
    assert left_out(spread, 40) == "move not among the lines"


@given(pawns, st.floats(0, 78), st.floats(0.01, 5))
def test_the_scale_correction_is_the_integral_it_says(e: float, delta: float, scale: float) -> None:
    points = [0.0] if e - delta < 0 < e else None
    area, _ = quad(lambda x: 1 / (1 + scale * abs(x)), e - delta, e, points=points, limit=200)
    assert scaled_delta(e, delta, scale) == pytest.approx(area, abs=1e-6)


def test_the_papers_own_example_of_the_scale_correction() -> None:
    # Section 5: e = +0.50 and an error of 1.25 is the integral from -0.75 to +0.50.
    assert scaled_delta(0.5, 1.25) == pytest.approx(math.log(1.75) + math.log(1.5), abs=1e-12)


def test_the_same_mistake_counts_less_the_further_from_even_it_is_made() -> None:
    assert scaled_delta(0.25, 0.5) > scaled_delta(1.0, 0.5) > scaled_delta(2.5, 0.5)
    assert scaled_delta(2.5, 0.5) == pytest.approx(scaled_delta(-2.0, 0.5))
    assert scaled_delta(2.5, 0.5, 0) == 0.5


@given(st.lists(st.integers(-3900, 3900), min_size=1, max_size=30))
def test_spreads_start_at_0_and_do_not_decrease(scores: list[int]) -> None:
    spread = spread_of([(str(i), score) for i, score in enumerate(scores)], "0")
    assert spread.deltas[0] == 0
    assert list(spread.deltas) == sorted(spread.deltas)
    assert spread.evaluation == max(scores) / 100


@pytest.mark.parametrize(
    ("spread", "ply", "repeated", "reason"),
    [
        (Spread((0, 0.1), 0, 0.0), FIRST_PLY, False, None),
        (Spread((0, 0.1), 0, 0.0), FIRST_PLY + 1, False, None),
        (Spread((0, 0.1), 0, 0.0), 16, False, "opening"),
        (Spread((0, 0.1), 0, 0.0), 30, True, "repeated position"),
        (Spread((0, 0.1), 0, 3.0), 30, False, None),
        (Spread((0, 0.1), 0, 3.01), 30, False, "decided position"),
        (Spread((0, 0.1), 0, -3.01), 30, False, "decided position"),
        (Spread((0,), 0, 0.0), 30, False, "a single line"),
        (Spread((0, 0.1), None, 0.0), 30, False, "move not among the lines"),
    ],
)
def test_what_is_left_out_and_why(
    spread: Spread, ply: int, repeated: bool, reason: LeftOut | None
) -> None:
    assert left_out(spread, ply, repeated=repeated) == reason


def test_move_9_is_the_first_that_counts() -> None:
    assert (FIRST_PLY + 1) // 2 == 9


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "there are none"),
        ([("e2e4", 20), ("e2e4", 10)], "twice"),
        ([("e2e4", 3901)], "clamp"),
        ([("e2e4", -30000)], "clamp"),
    ],
)
def test_lines_that_make_no_spread_are_refused(lines: list[tuple[str, int]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        spread_of(lines, "e2e4")


@pytest.mark.parametrize(
    ("deltas", "played", "evaluation"),
    [
        ((), None, 0.0),
        ((0.1, 0.2), 0, 0.0),
        ((0.0, 0.2, 0.1), 0, 0.0),
        ((0.0, math.nan), 0, 0.0),
        ((0.0, math.inf), 0, 0.0),
        ((0.0, 0.1), 2, 0.0),
        ((0.0, 0.1), -1, 0.0),
        ((0.0, 0.1), 0, math.nan),
    ],
)
def test_what_is_no_spread_is_refused(
    deltas: tuple[float, ...], played: int | None, evaluation: float
) -> None:
    with pytest.raises(ValueError):
        Spread(deltas, played, evaluation)


@pytest.mark.parametrize(("e", "delta", "scale"), [(0, -1, 1), (math.nan, 1, 1), (0, 1, -1)])
def test_no_distance_without_numbers(e: float, delta: float, scale: float) -> None:
    with pytest.raises(ValueError, match="no distance"):
        scaled_delta(e, delta, scale)
