from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.score_interval import ClusteredScores, GameScores, score_interval
from tests.ratings.interval_coverage import (
    MOVES,
    Family,
    exact_coverage,
    families,
    measured_coverage,
    pooled_coverage,
)

games = st.lists(
    st.integers(0, 60).flatmap(
        lambda n: st.integers(0, n).map(lambda zeros: GameScores(n, zeros, zeros))
    ),
    max_size=12,
)
# Moves, those above 0 and those at 0.
outcomes = st.integers(1, 200).flatmap(
    lambda n: st.integers(0, n).flatmap(
        lambda above: st.tuples(st.just(n), st.just(above), st.integers(0, n - above))
    )
)


@pytest.mark.parametrize("n", MOVES)
@pytest.mark.parametrize("family", list(families()), ids=lambda family: str(family.name))
def test_it_covers_as_often_as_it_says(family: Family, n: int) -> None:
    covered = exact_coverage(family, n)
    assert 0.93 <= round(covered.mean, 3) <= 0.97
    assert covered.least >= 0.90


@pytest.mark.slow
@pytest.mark.parametrize("n", MOVES)
def test_it_covers_as_often_against_a_measured_engine(n: int) -> None:
    covered = measured_coverage(n, samples=400, seed=n)
    assert 0.93 <= covered.mean <= 0.97
    assert covered.least >= 0.89


@pytest.mark.slow
@pytest.mark.parametrize("played", [2, 5, 20])
def test_it_covers_players_whose_games_stray_as_real_ones_do(played: int) -> None:
    for effect in (1.2, 1.4):
        assert 0.93 <= pooled_coverage(played, effect, samples=1500, seed=played) <= 0.98


@pytest.mark.slow
@given(outcomes)
def test_it_holds_the_observed_score_and_ends_where_scores_end(
    outcome: tuple[int, int, int],
) -> None:
    n, above, at = outcome
    score = (above + at / 2) / n
    low, high = score_interval(n, above + at / 2, above + at / 4)
    assert 0 <= low <= score <= high <= 1
    assert high - low > 0
    assert (low == 0) == (score == 0)
    assert (high == 1) == (score == 1)


@pytest.mark.slow
@given(outcomes)
def test_the_two_players_of_a_game_see_mirror_images(outcome: tuple[int, int, int]) -> None:
    n, above, at = outcome
    below = n - above - at
    low, high = score_interval(n, above + at / 2, above + at / 4)
    mirrored = score_interval(n, below + at / 2, below + at / 4)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("n", [1, 2, 10, 1000, 10**6, 10**9, 0.4])
def test_extremes_stay_finite_and_ordered(n: float, smooth: bool) -> None:
    for ceiling in (0.5, 1.0):
        for score in (0.0, 1e-9, 0.3 * ceiling, ceiling / 2, ceiling * (1 - 1e-9), ceiling):
            for spread in (score * ceiling, score * score):
                low, high = score_interval(n, n * score, n * spread, ceiling=ceiling, smooth=smooth)
                assert 0 <= low <= high <= ceiling
                assert low <= score + 1e-12 and score - 1e-12 <= high
                assert high > 0 and low < ceiling


def test_design_effect_equals_the_textbook_sum() -> None:
    played = [GameScores(30, 20, 20), GameScores(45, 18, 18), GameScores(38, 30, 30)]
    mean = 68 / 113
    between = 3 / 2 * sum((game.total - mean * game.n) ** 2 for game in played)
    measured = between / (113 * mean * (1 - mean))
    assert ClusteredScores(played).design_effect == pytest.approx(
        (10 * 1.25 + 2 * measured) / 12, rel=1e-12
    )


def test_one_game_alone_has_the_interval_of_its_moves() -> None:
    game = GameScores(40, 20, 20)
    assert ClusteredScores([game]).interval(2, 1) == score_interval(40, 10.0, 5.0, ceiling=0.5)
