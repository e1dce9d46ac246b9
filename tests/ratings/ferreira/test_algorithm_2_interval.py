"""Intervals for Algorithm 2: what they follow from, and that they hold the truth."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.algorithm_2 import (
    SCALE,
    USUAL,
    PlayerMargins,
    RatingMargins,
    distances,
)
from tests.ratings.events_of_eight import covered

gains = st.lists(st.tuples(st.sampled_from("gh"), st.integers(-400, 0)), min_size=1, max_size=30)


@pytest.mark.parametrize("usual", USUAL.values(), ids=USUAL.keys())
def test_usual_gains_are_a_distribution(usual: object) -> None:
    assert isinstance(usual, type(USUAL["successive"]))
    assert len(usual.parts) == len(usual.edges_cp) + 1
    assert list(usual.edges_cp) == sorted(set(usual.edges_cp))
    assert list(usual.parts) == sorted(set(usual.parts))
    assert usual.parts[0] > 0
    assert usual.parts[-1] < SCALE
    assert usual.of(7800) == usual.ceiling


@pytest.mark.slow
@given(gains, gains, st.integers(0, 99))
def test_taking_gains_back_leaves_no_trace(
    kept: list[tuple[str, int]], gone: list[tuple[str, int]], seed: int
) -> None:
    held, again = PlayerMargins("same-search"), PlayerMargins("same-search")
    for game, gain_cp in kept:
        again.add(game, gain_cp)
    for game, gain_cp in [*kept, *gone]:
        held.add(game, gain_cp)
    random.Random(seed).shuffle(gone)
    for game, gain_cp in gone:
        held.remove(game, gain_cp)
    assert held.margins == again.margins
    assert held.margins is not None
    assert min(held.margins) >= 0 < max(held.margins)


def test_without_a_move_there_is_no_margin() -> None:
    held = PlayerMargins("successive")
    assert held.margins is None
    with pytest.raises(ValueError, match="no gain"):
        held.remove("g", 0)


def test_the_ends_are_those_of_the_error_less_its_mean() -> None:
    margins = [RatingMargins(30.0**2, 40.0**2)] * 3
    below, above = distances(margins, np.array([True, True, True]))
    assert below == pytest.approx([(4 * 900 / 9 + 2 * 1600 / 9) ** 0.5] * 3)
    assert above == pytest.approx([(4 * 1600 / 9 + 2 * 900 / 9) ** 0.5] * 3)
    # An unrated player does not make the mean that is kept.
    below, above = distances(margins, np.array([True, True, False]))
    assert below[2] == pytest.approx((900 + 2 * 1600 / 4) ** 0.5)
    assert above[2] == pytest.approx((1600 + 2 * 900 / 4) ** 0.5)
    # One who makes it alone keeps the rating told, whatever is played.
    below, above = distances(margins, np.array([True, False, False]))
    assert np.isnan(below[0]) and np.isnan(above[0])
    assert below[1] == pytest.approx((900 + 1600) ** 0.5)
    assert np.isnan(distances(margins, np.array([False] * 3))[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("moves", [10, 40])
def test_the_interval_holds_the_truth(moves: int) -> None:
    # 480 intervals: 0.95 with a standard deviation of 0.01; the benchmark has the whole table.
    assert 0.92 <= covered(moves, 60, seed=moves) <= 0.98
