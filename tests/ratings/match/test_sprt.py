from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from live.errors import InputError
from live.events import Result
from live.ratings.match import (
    NORMALIZED_ELO,
    GameCounts,
    MatchGame,
    PairCounts,
    Scale,
    Sprt,
    follow,
    match_statistics,
    score_of,
    sprt,
)

Shares = np.ndarray[tuple[int], np.dtype[np.float64]]
positive = st.integers(5, 400)


def test_bounds_are_those_of_wald() -> None:
    assert Sprt(0, 5).bounds == pytest.approx((-2.944, 2.944), abs=5e-4)
    assert Sprt(0, 5, alpha=0.01, beta=0.1).bounds == pytest.approx(
        (math.log(0.1 / 0.99), math.log(0.9 / 0.01))
    )


def constrained(counts: Sequence[int], elo: float, scale: Scale) -> float:
    """Largest log-likelihood of the counts under a hypothesis, by a general-purpose optimiser."""
    n = np.array(counts, dtype=float)
    points = np.linspace(0, 1, len(n))

    def gap(p: Shares) -> list[float]:
        mean = float(p @ points)
        if scale == "logistic":
            return [mean - score_of(elo)]
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
    [GameCounts(130, 220, 100), GameCounts(50, 10, 60), PairCounts(12, 60, 150, 80, 20)],
    ids=str,
)
def test_the_ratio_is_that_of_two_constrained_likelihoods(
    counts: GameCounts | PairCounts, scale: Scale
) -> None:
    state = sprt(Sprt(-5, 30, scale=scale), counts)
    h0, h1 = (constrained(counts.by_score, elo, scale) for elo in (-5, 30))
    assert state.llr == pytest.approx(h1 - h0, abs=2e-4)
    assert not state.regularised


def test_a_long_match_of_fishtest_gives_the_same_verdict_on_both_scales() -> None:
    # 0.2 and 0.9 logistic Elo are 0.764 and 3.439 normalized in this match (stat_util.py).
    counts = PairCounts(39, 2226, 31451, 2412, 40)
    logistic = sprt(Sprt(0.2, 0.9), counts)
    normalized = sprt(Sprt(0.764, 3.439, scale="normalized"), counts)
    assert logistic.llr == pytest.approx(normalized.llr, abs=1e-3)
    # The published approximation, (games / 2) log((1 + (t - t0)²) / (1 + (t - t1)²)).
    elo = match_statistics(counts).normalized_elo
    assert elo is not None
    t, t0, t1 = (x / NORMALIZED_ELO for x in (elo, 0.764, 3.439))
    approximation = counts.games / 2 * math.log((1 + (t - t0) ** 2) / (1 + (t - t1) ** 2))
    assert normalized.llr == pytest.approx(approximation, abs=1e-3)


@given(positive, positive, positive)
def test_the_reverse_match_reverses_the_test(wins: int, draws: int, losses: int) -> None:
    one = sprt(Sprt(-10, 10), GameCounts(wins, draws, losses)).llr
    other = sprt(Sprt(-10, 10), GameCounts(losses, draws, wins)).llr
    assert one is not None and other is not None
    assert one == pytest.approx(-other, abs=1e-8)


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
    state = sprt(Sprt(0, 10, scale=scale), counts)
    assert state.regularised
    assert state.llr is not None and math.isfinite(state.llr) and state.llr != 0
    score = match_statistics(counts).score
    assert score is not None
    if score > 0.6:
        assert state.llr > 0
    elif score < 0.4:
        assert state.llr < 0


def test_no_game_has_no_ratio() -> None:
    state = sprt(Sprt(0, 5), GameCounts(0, 0, 0))
    assert state.llr is None
    assert state.decision == "continue"


def games(results: Sequence[Result]) -> list[MatchGame]:
    return [
        MatchGame(*(("A", "B") if i % 2 == 0 else ("B", "A")), result)
        for i, result in enumerate(results)
    ]


def test_a_run_goes_through_the_pairs_in_order() -> None:
    won: list[Result] = ["1-0", "0-1"] * 20
    lost: list[Result] = ["0-1", "1-0"] * 2
    test = Sprt(0, 200)
    run = follow(test, games(won + lost))
    assert len(run.states) == 22
    assert run.states[-1] == sprt(test, PairCounts(2, 0, 0, 0, 20))
    assert [state.games for state in run.states] == list(range(2, 45, 2))
    assert run.decision == "H1"
    assert run.decided_after == next(s.games for s in run.states if s.decision == "H1")


def test_the_first_decision_stands_whatever_comes_after() -> None:
    won: list[Result] = ["1-0", "0-1"] * 30
    lost: list[Result] = ["0-1", "1-0"] * 300
    run = follow(Sprt(-50, 50), games(won + lost))
    assert run.decision == "H1"
    assert run.states[-1].decision == "H0"
    assert run.decided_after is not None and run.decided_after <= 60


def test_without_pairs_each_game_counts() -> None:
    results: list[Result] = ["1-0", "1/2-1/2", "*", "0-1"]
    run = follow(Sprt(0, 5), [MatchGame("A", "B", result) for result in results])
    assert [state.games for state in run.states] == [1, 2, 3]
    assert run.states[-1] == sprt(Sprt(0, 5), GameCounts(1, 1, 1))
    assert run.decision == "continue"
    assert run.decided_after is None


def test_a_run_over_no_finished_game_is_empty() -> None:
    assert follow(Sprt(0, 5), games(["*", "*"])).states == ()
    with pytest.raises(InputError, match="there is no game"):
        follow(Sprt(0, 5), [])


@pytest.mark.slow
@settings(deadline=None, max_examples=3)
@given(st.integers(0, 10**6))
def test_false_decisions_are_as_rare_as_asked_for(seed: int) -> None:
    # Under H0 at most alpha of the tests may accept H1; 200 tests, so allow three sd more.
    rng = np.random.default_rng(seed)
    test = Sprt(0, 60, alpha=0.1, beta=0.1)
    accepted = 0
    for _ in range(200):
        drawn = rng.choice(3, size=600, p=[0.25, 0.5, 0.25])
        for end in range(20, 601, 20):
            losses, draws, wins = np.bincount(drawn[:end], minlength=3).tolist()
            decision = sprt(test, GameCounts(wins, draws, losses)).decision
            if decision != "continue":
                accepted += decision == "H1"
                break
    assert accepted / 200 <= 0.1 + 3 * math.sqrt(0.09 / 200)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sprt(5, 5),
        lambda: Sprt(5, 0),
        lambda: Sprt(0, math.inf),
        lambda: Sprt(math.nan, 5),
        lambda: Sprt(0, 5, alpha=0),
        lambda: Sprt(0, 5, alpha=0.6, beta=0.6),
    ],
)
def test_what_is_no_test_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(ValueError):
        make()


def test_the_approximation_is_for_logistic_elo_only() -> None:
    with pytest.raises(ValueError, match="logistic"):
        approximate_llr(Sprt(0, 5, scale="normalized"), GameCounts(1, 1, 1))
