from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from live.ratings.match import (
    GameCounts,
    PairCounts,
    elo_of,
    los_exact,
    match_statistics,
    score_of,
)

counts = st.integers(0, 500)


def test_a_match_by_hand() -> None:
    # 30 wins, 40 draws, 20 losses: 50 points of 90; variance 30/90 + 10/90 - (5/9)².
    found = match_statistics(GameCounts(30, 40, 20))
    assert found.games == 90
    assert found.score == pytest.approx(5 / 9)
    assert (found.win_ratio, found.draw_ratio) == pytest.approx((1 / 3, 4 / 9))
    assert found.loss_ratio == pytest.approx(2 / 9)
    assert found.elo == pytest.approx(400 * math.log10(50 / 40))
    assert found.variance == pytest.approx(40 / 90 - 25 / 81)
    half = 1.959963984540054 * math.sqrt((40 / 90 - 25 / 81) / 90)
    low, high = elo_of(5 / 9 - half), elo_of(5 / 9 + half)
    assert low is not None and high is not None
    assert found.elo_error == pytest.approx((high - low) / 2)
    assert found.los == pytest.approx(stats.norm.cdf(10 / math.sqrt(50)))
    assert found.gaps == ()


def test_los_agrees_with_the_program_of_the_wiki() -> None:
    # .5 + .5 erf((wins - losses) / sqrt(2 (wins + losses)))
    found = match_statistics(GameCounts(57, 100, 43))
    assert found.los == pytest.approx(0.5 + 0.5 * math.erf(14 / math.sqrt(200)), rel=1e-12)


@given(st.integers(0, 60), st.integers(0, 60))
def test_exact_los_is_the_sum_of_binomials(wins: int, losses: int) -> None:
    found = los_exact(wins, losses)
    if wins + losses == 0:
        assert found is None
    else:
        games = wins + losses + 1
        ways = sum(math.comb(games, k) for k in range(wins + 1))
        assert found == pytest.approx(ways / 2**games, rel=1e-9)


@pytest.mark.slow
@given(counts, counts)
def test_the_p_value_is_that_of_the_exact_two_tailed_test(wins: int, losses: int) -> None:
    found = match_statistics(GameCounts(wins, 3, losses)).p_value
    if wins + losses == 0:
        assert found is None
    else:
        expected = stats.binomtest(wins, wins + losses, 0.5).pvalue
        assert found == pytest.approx(expected, rel=1e-9)


@given(counts, counts, counts)
def test_draws_do_not_change_who_is_likely_the_stronger(wins: int, draws: int, losses: int) -> None:
    one = match_statistics(GameCounts(wins, draws, losses))
    other = match_statistics(GameCounts(wins, draws + 7, losses))
    assert (one.los, one.los_exact) == (other.los, other.los_exact)


@given(counts, counts, counts)
def test_the_other_side_sees_the_mirror_image(wins: int, draws: int, losses: int) -> None:
    one = match_statistics(GameCounts(wins, draws, losses))
    other = match_statistics(GameCounts(losses, draws, wins))
    if one.elo is not None:
        assert other.elo == pytest.approx(-one.elo, abs=1e-9)
    if one.elo_low is not None:
        assert other.elo_high == pytest.approx(-one.elo_low, abs=1e-6)
    if one.los is not None and other.los is not None:
        assert one.los + other.los == pytest.approx(1)
    if one.normalized_elo is not None:
        assert other.normalized_elo == pytest.approx(-one.normalized_elo, abs=1e-9)


@given(counts, counts, counts)
def test_no_count_of_0_crashes_or_invents_a_number(wins: int, draws: int, losses: int) -> None:
    found = match_statistics(GameCounts(wins, draws, losses))
    told = [getattr(found, name) for name in found.__struct_fields__]
    assert all(not isinstance(x, float) or math.isfinite(x) for x in told)
    missing = any(x is None for x in (found.elo, found.los, found.normalized_elo))
    assert missing == any("no ±" not in gap for gap in found.gaps)


def test_a_match_of_no_games_says_so() -> None:
    for nothing in (GameCounts(0, 0, 0), PairCounts(0, 0, 0, 0, 0)):
        found = match_statistics(nothing)
        assert found.gaps == ("no game has been played",)
        assert found.games == 0
        assert found.score is found.elo is found.los is None


def test_ten_wins_have_no_upper_bound_but_a_lower_one() -> None:
    found = match_statistics(GameCounts(10, 0, 0))
    assert found.elo is None and found.elo_high is None
    assert found.elo_low is not None and 100 < found.elo_low < 300
    assert found.los_exact == pytest.approx(1 - 0.5**11)
    assert found.normalized_elo is None
    assert "every game was won: the difference has no upper bound" in found.gaps


def test_a_player_who_never_lost_has_a_difference() -> None:
    found = match_statistics(GameCounts(3, 7, 0))
    assert found.elo == pytest.approx(elo_of(0.65))
    assert found.elo_low is not None and found.elo is not None and found.elo_high is not None
    assert found.elo_low < found.elo < found.elo_high


def test_draws_alone_tell_nothing_of_who_is_the_stronger() -> None:
    found = match_statistics(GameCounts(0, 6, 0))
    assert found.elo == 0
    assert found.los is None and found.los_exact is None and found.p_value is None
    # Not the point that no variance would give.
    assert found.elo_low is not None and found.elo_low < -50
    assert any("draws do not tell" in gap for gap in found.gaps)


def test_pairs_that_cancel_out_are_more_certain_than_their_games() -> None:
    # Unbalanced openings: White wins every game, but for one pair that goes one way.
    pairs = match_statistics(PairCounts(0, 0, 40, 1, 0))
    games = match_statistics(GameCounts(41, 1, 40))
    assert pairs.games == games.games == 82
    assert pairs.score == pytest.approx(games.score)
    assert pairs.elo == pytest.approx(games.elo)
    assert pairs.variance is not None and games.variance is not None
    assert pairs.variance < games.variance / 50
    assert pairs.draw_ratio is None and pairs.los_exact is None


def test_independent_games_have_the_same_variance_in_both_models() -> None:
    # Games won, drawn, lost with 1/4, 1/2, 1/4, paired at random: (1, 4, 6, 4, 1)/16.
    pairs = match_statistics(PairCounts(100, 400, 600, 400, 100))
    games = match_statistics(GameCounts(800, 1600, 800))
    assert pairs.variance == pytest.approx(games.variance) == pytest.approx(1 / 8)
    assert pairs.los == games.los == 0.5


def test_normalized_elo_is_the_shift_in_standard_deviations_of_a_game() -> None:
    found = match_statistics(PairCounts(39, 2226, 31451, 2412, 40))
    assert found.score is not None and found.variance is not None
    shift = (found.score - 0.5) / math.sqrt(found.variance)
    assert found.normalized_elo == pytest.approx(shift * 347.4356, rel=1e-6)
    # The same match in logistic Elo as fishtest computes it: mean ± normal quantile.
    assert found.elo == pytest.approx(0.903, abs=5e-4)
    assert found.elo_error == pytest.approx(0.6625, abs=5e-4)
    assert found.los == pytest.approx(0.9962, abs=5e-5)


@given(st.floats(-2000, 2000))
def test_elo_and_score_are_inverse(elo: float) -> None:
    score = score_of(elo)
    assert score == pytest.approx(1 / (1 + 10 ** (-elo / 400)), rel=1e-12)
    assert elo_of(score) == pytest.approx(elo, abs=1e-6 * (1 + 10 ** (abs(elo) / 400) / 1e6))


def test_scores_outside_the_scale_are_refused() -> None:
    for score in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="not within"):
            elo_of(score)
    with pytest.raises(ValueError, match="not a number"):
        score_of(math.nan)
    assert elo_of(0) is elo_of(1) is None
    assert score_of(-math.inf) == 0
    assert score_of(math.inf) == 1


def test_counts_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="losses must be a whole number"):
        GameCounts(1, 2, -1)
    with pytest.raises(ValueError, match="one must be a whole number"):
        PairCounts(1, 2, 2.5, 0, 0)  # type: ignore[arg-type]


def test_counts_add_up() -> None:
    assert GameCounts(1, 2, 3) + GameCounts(4, 5, 6) == GameCounts(5, 7, 9)
