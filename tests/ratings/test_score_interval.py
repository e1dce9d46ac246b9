"""Coverage of the 95 % intervals of expected scores: how often they contain the true
value.

The gain distribution is known. A player draws n moves from it, and the interval of
Algorithm 4's expected score contains the true score or does not. If a move scores 0,
1/2 or 1, all outcomes of n moves are listed with their probabilities, so the coverage
is exact. If a move can have other scores (with a measured engine), and for several
games together, the coverage is simulated with a fixed seed.

The true values are an even grid of expected scores from 0.01 to 0.49, and the shares of
gains above, at and below 0 in real player-games (``tests/data/README.md``).
"""

import csv
import json
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, xlogy

from live.ratings.ferreira import EngineDistribution
from live.ratings.gains import GainHistogram
from live.ratings.score_interval import (
    ClusteredScores,
    GameScores,
    compute_score_interval,
    subtract_shares,
)

DATA = Path(__file__).parents[1] / "data"
MOVES = (5, 10, 20, 40, 80)

Floats = npt.NDArray[np.float64]


class Family(NamedTuple):
    """A group of true gain distributions; the arrays have shape (k,)."""

    name: str
    above: Floats
    """Probability of a gain above 0."""
    at: Floats
    """Probability of a gain of 0."""
    ceiling: float
    """Highest score of a move: 0.5 for same-search gains."""


class Coverage(NamedTuple):
    """Mean and least coverage over a family."""

    mean: float
    least: float


def families() -> Iterator[Family]:
    scores = np.linspace(0.01, 0.49, 97)
    yield Family("same-search, even grid", np.zeros_like(scores), 2 * scores, 0.5)
    rows = _real_games()
    for source, gain in (
        ("otb", "same-search"),
        ("otb", "successive"),
        ("blitz", "successive"),
    ):
        chosen = [
            row for row in rows if row["source"] == source and row["gain"] == gain
        ]
        moves = np.array([float(row["moves"]) for row in chosen])
        yield Family(
            f"{gain}, {source}",
            np.array([float(row["positives"]) for row in chosen]) / moves,
            np.array([float(row["zeros"]) for row in chosen]) / moves,
            0.5 if gain == "same-search" else 1.0,
        )
    # For each expected score, the shares of zero gains range from none to nearly the
    # possible maximum.
    grid = product(np.arange(0.01, 1, 0.02), (0, 0.1, 0.3, 0.6, 0.9))
    scores, share = np.array(list(grid)).T
    at = share * 2 * np.minimum(scores, 1 - scores)
    yield Family("successive, even grid", scores - at / 2, at, 1.0)


def exact_coverage(family: Family, n: int) -> Coverage:
    """Return the coverage after ``n`` independent moves, by listing every outcome."""
    positives = np.arange(n + 1 if family.ceiling > 0.5 else 1)
    above, at = (counts.ravel() for counts in np.meshgrid(positives, np.arange(n + 1)))
    possible = above + at <= n
    above, at = above[possible], at[possible]
    ends = np.array(
        [
            compute_score_interval(n, p + z / 2, p + z / 4, ceiling=family.ceiling)
            for p, z in zip(above.tolist(), at.tolist(), strict=True)
        ]
    )
    below = n - above - at
    ways = gammaln(n + 1) - gammaln(above + 1) - gammaln(at + 1) - gammaln(below + 1)
    truth = family.above + family.at / 2
    covered = np.empty(len(truth))
    for i, (share_above, share_at) in enumerate(
        zip(family.above, family.at, strict=True)
    ):
        share_below = max(0.0, 1 - share_above - share_at)
        log = (
            ways
            + xlogy(above, share_above)
            + xlogy(at, share_at)
            + xlogy(below, share_below)
        )
        # The tolerance ensures that a true value exactly at an end of an interval
        # counts as inside, despite rounding.
        inside = (ends[:, 0] <= truth[i] + 1e-12) & (truth[i] <= ends[:, 1] + 1e-12)
        covered[i] = np.exp(log)[inside].sum()
    return _summary(covered)


def measured_coverage(n: int, samples: int, seed: int) -> Coverage:
    """Return the coverage against a measured engine, for the real distributions of 48
    player-games.
    """
    data = json.loads((DATA / "successive-gains.json").read_text())
    engine_gains = chain.from_iterable([gain] * count for gain, count in data["engine"])
    engine = EngineDistribution(GainHistogram(engine_gains))
    rng = np.random.default_rng(seed)
    covered = []
    for gains in data["players"]:
        scores = np.array([engine.score_gain(gain) for gain in gains]) / engine.scale
        drawn = rng.choice(scores, (samples, n))
        sums, squares = drawn.sum(axis=1).tolist(), (drawn**2).sum(axis=1).tolist()
        truth = float(scores.mean())
        inside = 0
        for total, total_of_squares in zip(sums, squares, strict=True):
            low, high = compute_score_interval(n, total, total_of_squares, smooth=True)
            inside += low <= truth <= high
        covered.append(inside / samples)
    return _summary(np.array(covered))


def _real_games() -> list[dict[str, str]]:
    return list(csv.DictReader((DATA / "gain-families.csv").read_text().splitlines()))


def _summary(covered: Floats) -> Coverage:
    return Coverage(float(covered.mean()), float(covered.min()))


games = st.lists(
    st.integers(0, 60).flatmap(
        lambda n: st.integers(0, n).map(lambda zeros: GameScores(n, zeros, zeros))
    ),
    max_size=12,
)
# Number of moves, of moves with a gain above 0, and of moves with a gain of 0.
outcomes = st.integers(1, 200).flatmap(
    lambda n: st.integers(0, n).flatmap(
        lambda above: st.tuples(st.just(n), st.just(above), st.integers(0, n - above))
    )
)


@pytest.mark.parametrize("n", MOVES)
@pytest.mark.parametrize(
    "family", list(families()), ids=lambda family: str(family.name)
)
def test_it_covers_as_often_as_it_says(family: Family, n: int) -> None:
    covered = exact_coverage(family, n)
    assert 0.93 <= round(covered.mean, 3) <= 0.97
    assert covered.least >= 0.90


@pytest.mark.parametrize("n", [5, 20, 80])
def test_it_covers_as_often_against_a_measured_engine(n: int) -> None:
    covered = measured_coverage(n, samples=400, seed=n)
    assert 0.93 <= covered.mean <= 0.97
    assert covered.least >= 0.89


@given(outcomes)
def test_it_holds_the_observed_score_and_ends_where_scores_end(
    outcome: tuple[int, int, int],
) -> None:
    n, above, at = outcome
    score = (above + at / 2) / n
    low, high = compute_score_interval(n, above + at / 2, above + at / 4)
    assert 0 <= low <= score <= high <= 1
    assert high - low > 0
    assert (low == 0) == (score == 0)
    assert (high == 1) == (score == 1)


@given(outcomes)
def test_the_two_players_of_a_game_see_mirror_images(
    outcome: tuple[int, int, int],
) -> None:
    n, above, at = outcome
    below = n - above - at
    low, high = compute_score_interval(n, above + at / 2, above + at / 4)
    mirrored = compute_score_interval(n, below + at / 2, below + at / 4)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("n", [1, 2, 10, 1000, 10**6, 10**9, 0.4])
def test_extremes_stay_finite_and_ordered(n: float, smooth: bool) -> None:
    for ceiling in (0.5, 1.0):
        for score in (
            0.0,
            1e-9,
            0.3 * ceiling,
            ceiling / 2,
            ceiling * (1 - 1e-9),
            ceiling,
        ):
            for spread in (score * ceiling, score * score):
                low, high = compute_score_interval(
                    n, n * score, n * spread, ceiling=ceiling, smooth=smooth
                )
                assert 0 <= low <= high <= ceiling
                assert low <= score + 1e-12 and score - 1e-12 <= high
                assert high > 0 and low < ceiling


def test_games_together_are_as_many_moves_as_their_design_effect_leaves() -> None:
    games = ClusteredScores(
        [GameScores(30, 20, 20), GameScores(45, 18, 18), GameScores(38, 30, 30)]
    )
    mean = 68 / 113
    between = (
        3
        / 2
        * sum((total - mean * n) ** 2 for n, total in ((30, 20), (45, 18), (38, 30)))
    )
    measured = between / (113 * mean * (1 - mean))
    assert games.design_effect == pytest.approx(
        (10 * 1.25 + 2 * measured) / 12, rel=1e-12
    )
    wider = float(stats.t.ppf(0.975, 12) / stats.norm.ppf(0.975))
    share = 1 / (games.design_effect * wider**2)
    alone = compute_score_interval(113 * share, 34 * share, 17 * share, ceiling=0.5)
    assert games.compute_interval(2, 1) == pytest.approx(alone)


def test_one_game_alone_has_the_interval_of_its_moves() -> None:
    game = GameScores(40, 20, 20)
    assert ClusteredScores([game]).compute_interval(2, 1) == compute_score_interval(
        40, 10.0, 5.0, ceiling=0.5
    )


def test_a_difference_of_shares_has_the_interval_of_the_paper() -> None:
    # Newcombe 1998, table II, (a): 56 of 70 less 48 of 80. His method 10 has 0.0524 and
    # 0.3339, with intervals of Wilson for the shares; ours are slightly wider.
    difference, low, high = subtract_shares(56, 70, 48, 80)
    assert difference == pytest.approx(0.2)
    assert low == pytest.approx(0.0524, abs=0.004) and low < 0.0524
    assert high == pytest.approx(0.3339, abs=0.004) and high > 0.3339
