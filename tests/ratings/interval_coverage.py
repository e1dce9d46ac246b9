"""How often the 95 % intervals cover the truth.

The gain distribution is known, a player makes n moves from it, and the interval of Algorithm 4's
expected score holds the true one or does not. Where a move scores 0, 1/2 or 1, all outcomes of n
moves are listed with their probabilities, so the coverage is exact and no dice are thrown. Where
it can score anything (a measured engine), and for games pooled, it is simulated with a seed.

Families of truths: an even grid of expected scores from 0.01 to 0.49, and the shares of gains
above, at and below 0 that real player-games showed (``tests/data/README.md``).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlogy

from live.ratings.ferreira import EngineDistribution, GainHistogram
from live.ratings.score_interval import ClusteredScores, GameScores, score_interval

DATA = Path(__file__).parents[1] / "data"
MOVES = (5, 10, 20, 40, 80)

Floats = npt.NDArray[np.float64]


class Family(NamedTuple):
    """Truths that belong together: shape (k,) each."""

    name: str
    above: Floats
    """Probability of a gain above 0."""
    at: Floats
    """Probability of a gain of 0."""
    ceiling: float
    """Highest score of a move: 0.5 for same-search gains."""


class Coverage(NamedTuple):
    """Coverage over a family."""

    mean: float
    least: float


def families() -> Iterator[Family]:
    scores = np.linspace(0.01, 0.49, 97)
    yield Family("same-search, even grid", np.zeros_like(scores), 2 * scores, 0.5)
    rows = _real_games()
    for source, gain in (("otb", "same-search"), ("otb", "successive"), ("blitz", "successive")):
        chosen = [row for row in rows if row["source"] == source and row["gain"] == gain]
        moves = np.array([float(row["moves"]) for row in chosen])
        yield Family(
            f"{gain}, {source}",
            np.array([float(row["positives"]) for row in chosen]) / moves,
            np.array([float(row["zeros"]) for row in chosen]) / moves,
            0.5 if gain == "same-search" else 1.0,
        )
    # For each expected score, from no zero gains to as many as there can be.
    grid = [(p, zeros) for p in np.arange(0.01, 1, 0.02) for zeros in (0, 0.1, 0.3, 0.6, 0.9)]
    scores, share = np.array(grid).T
    at = share * 2 * np.minimum(scores, 1 - scores)
    yield Family("successive, even grid", scores - at / 2, at, 1.0)


def exact_coverage(family: Family, n: int) -> Coverage:
    """Coverage after ``n`` independent moves, by listing every outcome."""
    positives = np.arange(n + 1 if family.ceiling > 0.5 else 1)
    above, at = (counts.ravel() for counts in np.meshgrid(positives, np.arange(n + 1)))
    possible = above + at <= n
    above, at = above[possible], at[possible]
    ends = np.array(
        [
            score_interval(n, p + z / 2, p + z / 4, ceiling=family.ceiling)
            for p, z in zip(above.tolist(), at.tolist(), strict=True)
        ]
    )
    below = n - above - at
    ways = gammaln(n + 1) - gammaln(above + 1) - gammaln(at + 1) - gammaln(below + 1)
    truth = family.above + family.at / 2
    covered = np.empty(len(truth))
    for i, (share_above, share_at) in enumerate(zip(family.above, family.at, strict=True)):
        share_below = max(0.0, 1 - share_above - share_at)
        log = ways + xlogy(above, share_above) + xlogy(at, share_at) + xlogy(below, share_below)
        # A truth on the very end of an interval is in it, whatever the last digit.
        inside = (ends[:, 0] <= truth[i] + 1e-12) & (truth[i] <= ends[:, 1] + 1e-12)
        covered[i] = np.exp(log)[inside].sum()
    return _summary(covered)


def measured_coverage(n: int, samples: int, seed: int) -> Coverage:
    """Coverage against a measured engine, for the real distributions of 48 player-games."""
    data = json.loads((DATA / "successive-gains.json").read_text())
    engine_gains = GainHistogram(gain for gain, count in data["engine"] for _ in range(count))
    engine = EngineDistribution(engine_gains)
    rng = np.random.default_rng(seed)
    covered = []
    for gains in data["players"]:
        scores = np.array([engine.parts(gain) for gain in gains]) / engine.scale
        drawn = rng.choice(scores, (samples, n))
        sums, squares = drawn.sum(axis=1).tolist(), (drawn**2).sum(axis=1).tolist()
        truth = float(scores.mean())
        inside = 0
        for total, total_of_squares in zip(sums, squares, strict=True):
            low, high = score_interval(n, total, total_of_squares, smooth=True)
            inside += low <= truth <= high
        covered.append(inside / samples)
    return _summary(np.array(covered))


def pooled_coverage(games: int, design_effect: float, samples: int, seed: int) -> float:
    """Share of players covered whose games stray more than independent moves would.

    A player has a true share of zero gains; each game has its own, drawn from a beta distribution
    around it that multiplies the variance of a game of 37 moves by ``design_effect``.
    """
    rng = np.random.default_rng(seed)
    rows = _real_games()
    shares = [int(r["zeros"]) / int(r["moves"]) for r in rows if r["gain"] == "same-search"]
    inside = 0
    for share in rng.choice(np.clip(shares, 0.05, 0.95), samples):
        moves = rng.integers(15, 60, games)
        spread = (design_effect - 1) / 36
        in_game = (
            rng.beta(share * (1 / spread - 1), (1 - share) * (1 / spread - 1), games)
            if spread
            else np.full(games, share)
        )
        zeros = rng.binomial(moves, in_game)
        interval = ClusteredScores(
            GameScores(n, z, z) for n, z in zip(moves.tolist(), zeros.tolist(), strict=True)
        ).interval(2, 1)
        assert interval is not None
        inside += interval[0] <= share / 2 <= interval[1]
    return inside / samples


def _real_games() -> list[dict[str, str]]:
    return list(csv.DictReader((DATA / "gain-families.csv").read_text().splitlines()))


def _summary(covered: Floats) -> Coverage:
    return Coverage(float(covered.mean()), float(covered.min()))
