"""Statistics of matches, pairs of games and sequential tests."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from live.errors import InputError
from live.messages.from_sources import Result
from live.ratings.match import (
    NORMALIZED_ELO,
    compute_match_statistics,
    convert_elo_to_score,
    convert_score_to_elo,
)
from live.ratings.match_games import GameCounts, MatchGame, PairCounts, count_match
from live.ratings.sprt import Scale, Sprt, run_sprt, trace_sprt

# --- match statistics -----------------------------------------------------------------


counts = st.integers(0, 500)


def test_a_match_by_hand() -> None:
    # 30 wins, 40 draws and 20 losses are 50 points of 90 games. The variance is 30/90 +
    # 10/90 - (5/9)².
    found = compute_match_statistics(GameCounts(30, 40, 20))
    assert found.games == 90
    assert found.score == pytest.approx(5 / 9)
    assert (found.win_ratio, found.draw_ratio) == pytest.approx((1 / 3, 4 / 9))
    assert found.loss_ratio == pytest.approx(2 / 9)
    assert found.elo == pytest.approx(400 * math.log10(50 / 40))
    assert found.variance == pytest.approx(40 / 90 - 25 / 81)
    half = 1.959963984540054 * math.sqrt((40 / 90 - 25 / 81) / 90)
    low, high = convert_score_to_elo(5 / 9 - half), convert_score_to_elo(5 / 9 + half)
    assert low is not None and high is not None
    assert found.elo_error == pytest.approx((high - low) / 2)
    assert found.los == pytest.approx(stats.norm.cdf(10 / math.sqrt(50)))
    assert found.p_value == pytest.approx(stats.binomtest(30, 50).pvalue)
    assert found.gaps == ()
    assert compute_match_statistics(GameCounts(0, 0, 0)).gaps == (
        "no game has been played",
    )


@given(st.integers(0, 60), st.integers(0, 60))
def test_exact_los_is_the_sum_of_binomials(wins: int, losses: int) -> None:
    found = compute_match_statistics(GameCounts(wins, 0, losses)).los_exact
    if wins + losses == 0:
        assert found is None
    else:
        games = wins + losses + 1
        ways = sum(math.comb(games, k) for k in range(wins + 1))
        assert found == pytest.approx(ways / 2**games, rel=1e-9)


@given(counts, counts, counts)
def test_the_other_side_sees_the_mirror_image(
    wins: int, draws: int, losses: int
) -> None:
    one = compute_match_statistics(GameCounts(wins, draws, losses))
    other = compute_match_statistics(GameCounts(losses, draws, wins))
    if one.elo is not None:
        assert other.elo == pytest.approx(-one.elo, abs=1e-9)
    if one.elo_low is not None:
        assert other.elo_high == pytest.approx(-one.elo_low, abs=1e-6)
    if one.los is not None and other.los is not None:
        assert one.los + other.los == pytest.approx(1)
    if one.normalized_elo is not None:
        assert other.normalized_elo == pytest.approx(-one.normalized_elo, abs=1e-9)


@given(counts, counts, counts)
def test_no_count_of_0_crashes_or_invents_a_number(
    wins: int, draws: int, losses: int
) -> None:
    found = compute_match_statistics(GameCounts(wins, draws, losses))
    told = [getattr(found, name) for name in found.__struct_fields__]
    assert all(not isinstance(x, float) or math.isfinite(x) for x in told)
    missing = any(x is None for x in (found.elo, found.los, found.normalized_elo))
    assert missing == any("no ±" not in gap for gap in found.gaps)


def test_draws_alone_tell_nothing_of_who_is_the_stronger() -> None:
    found = compute_match_statistics(GameCounts(0, 6, 0))
    assert found.elo == 0
    assert found.los is None and found.los_exact is None and found.p_value is None
    # The variance of draws alone is 0, but the interval must not be a single point.
    assert found.elo_low is not None and found.elo_low < -50
    assert any("draws do not tell" in gap for gap in found.gaps)


def test_normalized_elo_is_the_shift_in_standard_deviations_of_a_game() -> None:
    found = compute_match_statistics(PairCounts(39, 2226, 31451, 2412, 40))
    assert found.score is not None and found.variance is not None
    shift = (found.score - 0.5) / math.sqrt(found.variance)
    assert found.normalized_elo == pytest.approx(shift * 347.4356, rel=1e-6)
    # Logistic Elo of the same match, as fishtest computes it from the mean and a normal
    # quantile.
    assert found.elo == pytest.approx(0.903, abs=5e-4)
    assert found.elo_error == pytest.approx(0.6625, abs=5e-4)
    assert found.los == pytest.approx(0.9962, abs=5e-5)


# --- match games ----------------------------------------------------------------------


def match(*results: Result, start: str = "A") -> list[MatchGame]:
    """Return games between A and B with alternating colours."""
    other = "B" if start == "A" else "A"
    return [
        MatchGame(start, other, result)
        if number % 2 == 0
        else MatchGame(other, start, result)
        for number, result in enumerate(results)
    ]


@pytest.mark.parametrize(
    ("games", "counted", "pairs"),
    [
        (
            match("1-0", "1-0", "1/2-1/2", "0-1", "0-1"),
            GameCounts(2, 1, 2),
            (0, 0, 1, 1, 0),
        ),
        # An unfinished game does not change how later games are paired.
        (match("1-0", "*", "1-0", "0-1"), GameCounts(3, 0, 0), (0, 0, 0, 0, 1)),
        # Games with the same colours make no pair.
        ([*match("1-0"), *match("1-0", "1-0")], GameCounts(2, 0, 1), (0, 0, 1, 0, 0)),
    ],
)
def test_counts_take_the_side_of_the_first_player(
    games: list[MatchGame], counted: GameCounts, pairs: tuple[int, ...]
) -> None:
    found = count_match(games)
    assert (found.first, found.second) == ("A", "B")
    assert (found.games, found.pairs) == (counted, PairCounts(*pairs))
    assert found.left_out == len(games) - counted.games


@given(
    st.lists(st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"]), min_size=1, max_size=30)
)
def test_every_game_is_counted_once(results: list[Result]) -> None:
    found = count_match(match(*results))
    assert found.games.games + found.left_out == len(results)
    points = found.games.wins + found.games.draws / 2
    assert sum(halves for _, halves in found.order) == 2 * points


@pytest.mark.parametrize(
    ("games", "first", "problem"),
    [
        ([], None, "there is no game"),
        (match("1-0"), "C", "'C' is not one of the two players"),
        (
            [*match("1-0"), MatchGame("A", "C", "1-0")],
            None,
            "game 2: is between 'A' and 'C'",
        ),
        ([MatchGame("A", "A", "1-0")], None, "not one of the two players"),
    ],
)
def test_what_is_no_match_is_refused(
    games: list[MatchGame], first: str | None, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        count_match(games, first)


# --- sprt -----------------------------------------------------------------------------


Shares = np.ndarray[tuple[int], np.dtype[np.float64]]


def test_bounds_are_those_of_wald() -> None:
    assert Sprt(0, 5).bounds == pytest.approx((-2.944, 2.944), abs=5e-4)
    assert Sprt(0, 5, alpha=0.01, beta=0.1).bounds == pytest.approx(
        (math.log(0.1 / 0.99), math.log(0.9 / 0.01))
    )


def constrained(counts: Sequence[int], elo: float, scale: Scale) -> float:
    """Return the largest log-likelihood of the counts under a hypothesis, found by a
    general-purpose optimiser.
    """
    n = np.array(counts, dtype=float)
    points = np.linspace(0, 1, len(n))

    def gap(p: Shares) -> list[float]:
        mean = float(p @ points)
        if scale == "logistic":
            return [mean - convert_elo_to_score(elo)]
        sd = math.sqrt(float(p @ (points - mean) ** 2) * (2 if len(n) == 5 else 1))
        return [(mean - 0.5) / sd - elo / NORMALIZED_ELO]

    def loss(p: Shares) -> float:
        return -float(n @ np.log(p)) / float(n.sum())

    found = minimize(
        loss,
        n / n.sum(),
        bounds=[(1e-9, 1.0)] * len(n),
        constraints=[
            NonlinearConstraint(gap, 0.0, 0.0),
            LinearConstraint(np.ones((1, len(n))), 1.0, 1.0),
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return -float(found.fun) * float(n.sum())


@pytest.mark.parametrize("scale", ["logistic", "normalized"])
@pytest.mark.parametrize(
    "counts",
    [
        GameCounts(130, 220, 100),
        GameCounts(50, 10, 60),
        PairCounts(12, 60, 150, 80, 20),
    ],
    ids=str,
)
def test_the_ratio_is_that_of_two_constrained_likelihoods(
    counts: GameCounts | PairCounts, scale: Scale
) -> None:
    state = run_sprt(Sprt(-5, 30, scale=scale), counts)
    h0, h1 = (constrained(counts.by_score, elo, scale) for elo in (-5, 30))
    assert state.llr == pytest.approx(h1 - h0, abs=2e-4)
    assert not state.regularised


@pytest.mark.parametrize("scale", ["logistic", "normalized"])
@pytest.mark.parametrize(
    "counts",
    [
        GameCounts(200, 0, 0),
        GameCounts(0, 0, 200),
        GameCounts(0, 200, 0),
        GameCounts(60, 0, 20),
        PairCounts(0, 0, 0, 0, 50),
        PairCounts(0, 0, 50, 0, 0),
    ],
    ids=str,
)
def test_a_count_of_0_is_regularised_and_said_so(
    counts: GameCounts | PairCounts, scale: Scale
) -> None:
    state = run_sprt(Sprt(0, 10, scale=scale), counts)
    assert state.regularised
    assert state.llr is not None and math.isfinite(state.llr) and state.llr != 0
    score = compute_match_statistics(counts).score
    assert score is not None
    if score > 0.6:
        assert state.llr > 0
    elif score < 0.4:
        assert state.llr < 0


def test_a_run_goes_through_the_pairs_in_order() -> None:
    won: list[Result] = ["1-0", "0-1"] * 20
    lost: list[Result] = ["0-1", "1-0"] * 2
    test = Sprt(0, 200)
    run = trace_sprt(test, match(*won, *lost))
    assert len(run.states) == 22
    assert run.states[-1] == run_sprt(test, PairCounts(2, 0, 0, 0, 20))
    assert [state.games for state in run.states] == list(range(2, 45, 2))
    assert run.decision == "H1"
    assert run.decided_after == next(s.games for s in run.states if s.decision == "H1")


def test_the_first_decision_stands_whatever_comes_after() -> None:
    won: list[Result] = ["1-0", "0-1"] * 30
    lost: list[Result] = ["0-1", "1-0"] * 300
    run = trace_sprt(Sprt(-50, 50), match(*won, *lost))
    assert run.decision == "H1"
    assert run.states[-1].decision == "H0"
    assert run.decided_after is not None and run.decided_after <= 60


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sprt(5, 5),
        lambda: Sprt(5, 0),
        lambda: Sprt(0, math.inf),
        lambda: Sprt(math.nan, 5),
        lambda: Sprt(0, 5, alpha=0),
        lambda: Sprt(0, 5, alpha=0.5, beta=0.5),
    ],
)
def test_what_is_no_test_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(ValueError):
        make()
