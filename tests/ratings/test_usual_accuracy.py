"""Accuracy beside that of players rated alike: the same positions for both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import Score
from live.ratings.accuracy import move_accuracy
from live.ratings.usual_accuracy import LEAST_POSITIONS, OneMove, compared, one_move

percents = st.floats(0, 100)


def test_a_loss_that_half_the_others_share_costs_them_half() -> None:
    found = one_move(30, 200, [(500, 0.0), (500, 200.0)])
    assert found is not None
    lost = move_accuracy(Score(30), Score(-170), "white")
    assert found.own == lost
    assert found.usual == pytest.approx((100 + lost) / 2)


def test_where_nobody_chooses_nothing_is_compared() -> None:
    assert one_move(0, 0, []) is None
    assert one_move(0, 0, [(0, 10.0)]) is None


def test_a_loss_in_a_position_where_everybody_loses_is_no_fault() -> None:
    hard = {ply: OneMove(40.0, 40.0) for ply in range(1, 13, 2)}
    found = compared(hard)
    assert found is not None
    assert (found.positions, found.low, found.high) == (6, 0.0, 0.0)


def test_few_positions_say_nothing() -> None:
    assert compared({ply: OneMove(90, 80) for ply in range(LEAST_POSITIONS - 1)}) is None


@given(st.lists(st.tuples(percents, percents), min_size=LEAST_POSITIONS, max_size=40))
def test_the_interval_holds_the_difference_and_no_order_matters(
    moves: list[tuple[float, float]],
) -> None:
    held = {ply: OneMove(*each) for ply, each in enumerate(moves)}
    found = compared(held)
    assert found is not None
    assert found.low - 1e-9 <= found.own - found.usual <= found.high + 1e-9
    assert compared(dict(reversed(held.items()))) == found
