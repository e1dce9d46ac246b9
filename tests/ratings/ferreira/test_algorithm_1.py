from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import Color
from live.ratings.ferreira import Algorithm1, RankedGains
from live.ratings.gain import MAX_GAIN_CP, GainHistogram, expected_score_exact

COLORS: list[Color] = ["white", "black"]
gains = st.integers(-MAX_GAIN_CP, MAX_GAIN_CP) | st.integers(-20, 5)
moves = st.lists(st.tuples(st.sampled_from(COLORS), gains), max_size=60)


def batch(played: list[tuple[Color, int]]) -> float | None:
    white = GainHistogram(gain for color, gain in played if color == "white")
    black = GainHistogram(gain for color, gain in played if color == "black")
    return expected_score_exact(white, black) if white.n and black.n else None


@pytest.mark.slow
@given(moves)
def test_every_prefix_equals_the_full_cross_correlation(played: list[tuple[Color, int]]) -> None:
    match = Algorithm1()
    for i, (color, gain) in enumerate(played, start=1):
        match.add(color, gain)
        assert match.expected_score == batch(played[:i])


@pytest.mark.slow
@given(moves, moves)
def test_remove_undoes_add(
    kept: list[tuple[Color, int]], taken_back: list[tuple[Color, int]]
) -> None:
    match = Algorithm1()
    for color, gain in kept + taken_back:
        match.add(color, gain)
    for color, gain in taken_back:
        match.remove(color, gain)
    assert match.expected_score == batch(kept)


@pytest.mark.slow
@given(st.lists(gains, max_size=60), gains)
def test_ranks_equal_a_count(values: list[int], at: int) -> None:
    ranked = RankedGains()
    for value in values:
        ranked.add(value)
    assert ranked.below(at) == sum(value < at for value in values)
    assert ranked.half_points_of(at) == sum(2 * (v < at) + (v == at) for v in values)


def test_the_ends_of_the_range_are_ranked() -> None:
    ranked = RankedGains()
    ranked.add(-MAX_GAIN_CP)
    ranked.add(MAX_GAIN_CP)
    assert ranked.below(-MAX_GAIN_CP) == 0
    assert ranked.below(MAX_GAIN_CP) == 1


def test_unknown_until_both_have_moved_and_unbounded_when_one_always_wins() -> None:
    match = Algorithm1()
    assert match.expected_score is None
    assert match.difference is None
    match.add("white", 0)
    assert match.expected_score is None
    match.add("black", -10)
    assert match.expected_score == 1.0
    assert match.difference is None
    match.add("black", 0)
    assert match.expected_score == 0.75
    assert match.difference is not None and match.difference > 0


def test_removing_what_is_not_there_is_refused_and_changes_nothing() -> None:
    match = Algorithm1()
    match.add("white", 0)
    match.add("black", -3)
    with pytest.raises(ValueError, match="never added"):
        match.remove("white", -3)
    assert match.expected_score == 1.0
