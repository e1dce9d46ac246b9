from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import MATE_CP, Score
from live.ratings.gain import MAX_GAIN_CP, checked_gain, same_search_gain, successive_gain

scores = st.integers(-MATE_CP, MATE_CP).map(Score)


def test_a_rising_score_is_whites_gain_and_blacks_loss() -> None:
    assert successive_gain(Score(20), Score(50), "white") == 30
    assert successive_gain(Score(20), Score(50), "black") == -30


def test_a_worse_move_loses_its_distance_to_the_best() -> None:
    assert same_search_gain(Score(40), Score(-10), "white") == -50
    assert same_search_gain(Score(-40), Score(10), "black") == -50


def test_a_move_that_outscores_the_first_choice_gains_nothing() -> None:
    assert same_search_gain(Score(10), Score(14), "white") == 0
    assert same_search_gain(Score(10), Score(6), "black") == 0


def test_from_mated_to_mating_is_the_largest_gain() -> None:
    lost, won = Score(-MATE_CP, -1), Score(MATE_CP, 1)
    assert successive_gain(lost, won, "white") == MAX_GAIN_CP == 7800
    assert same_search_gain(won, lost, "white") == -MAX_GAIN_CP


@given(scores, scores)
def test_one_sides_gain_is_the_others_loss(before: Score, after: Score) -> None:
    assert successive_gain(before, after, "white") == -successive_gain(before, after, "black")


@given(scores, scores)
def test_same_search_gain_is_the_successive_one_cut_at_zero(best: Score, played: Score) -> None:
    assert same_search_gain(best, played, "white") == min(0, successive_gain(best, played, "white"))


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, 0.5, 3.0, None, "7", True, MAX_GAIN_CP + 1, -MAX_GAIN_CP - 1]
)
def test_what_is_no_gain_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="gain"):
        checked_gain(bad)


def test_scores_that_were_never_clamped_are_refused() -> None:
    with pytest.raises(ValueError, match="clamp"):
        successive_gain(Score(-10_000), Score(0), "white")
