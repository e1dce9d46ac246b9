"""Elo difference and superiority from the result of a match."""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from live.messages.values import Value
from live.ratings.match_games import GameCounts, PairCounts
from live.ratings.score_interval import compute_score_interval

#: 800 / ln 10. Normalized Elo is close to logistic Elo if the standard deviation of a
#: game is half a point (fishtest, LLRcalc: nelo_divided_by_nt).
NORMALIZED_ELO = 800 / math.log(10)
Floats = npt.NDArray[np.float64]
_Z95 = NormalDist().inv_cdf(0.975)


def convert_score_to_elo(score: float) -> float | None:
    """Return the logistic Elo difference for an expected score.

    Return None at 0 and 1, where it is unbounded.
    """
    return None if score in (0.0, 1.0) else 400 * math.log10(score / (1 - score))


def convert_elo_to_score(elo: float) -> float:
    """Return the expected score of a logistic Elo difference."""
    # Two formulas, so that neither very low nor very high differences overflow.
    if elo < 0:
        odds = 10 ** (elo / 400)
        return odds / (1 + odds)
    return 1 / (1 + 10 ** (-elo / 400))


class MatchStatistics(Value):
    """All figures of a match, from the first player's side. ``gaps`` explains each
    None.
    """

    games: int
    score: float | None = None
    """Mean points per game."""
    win_ratio: float | None = None
    draw_ratio: float | None = None
    """Share of draws; None for pairs, whose middle count includes draws as well as wins
    and losses.
    """
    loss_ratio: float | None = None
    elo: float | None = None
    """Logistic Elo difference."""
    elo_low: float | None = None
    """Lower end of the 95 % interval of ``elo``."""
    elo_high: float | None = None
    elo_error: float | None = None
    """Half of the interval by the normal curve, Elo: the "±" of engine testing."""
    los: float | None = None
    """Likelihood of superiority: the probability that the first player is stronger, by
    the normal curve. For games it is ``Φ((wins - losses) / √(wins + losses))`` (Álvaro
    Begué's program in the wiki). For pairs it uses their own variance, as in fishtest.
    """
    los_exact: float | None = None
    """Exact likelihood of superiority from wins and losses: the probability that
    Beta(wins + 1, losses + 1) is above 1/2 (Rémi Coulom, as quoted by the wiki). None
    for pairs.
    """
    p_value: float | None = None
    """Probability that decisive games between two players of equal strength are at
    least this uneven in either direction (two-tailed, exact). None for pairs.
    """
    variance: float | None = None
    """Variance of the points of a game. For pairs, it is twice the variance of a pair's
    mean.
    """
    normalized_elo: float | None = None
    normalized_elo_low: float | None = None
    """Lower end of the 95 % interval of ``normalized_elo``."""
    normalized_elo_high: float | None = None
    gaps: tuple[str, ...] = ()
    """Reasons for missing figures, as text for people."""


def compute_match_statistics(counts: GameCounts | PairCounts) -> MatchStatistics:
    """Return every figure of a match from its counts.

    >>> statistics = compute_match_statistics(GameCounts(wins=40, draws=50, losses=10))
    >>> statistics.score
    0.65
    >>> round(statistics.elo, 1)
    107.5
    """
    if not counts.games:
        return MatchStatistics(0, gaps=("no game has been played",))
    gaps: list[str] = []
    frequencies = np.array(counts.by_score)
    samples = sum(counts.by_score)
    points = np.linspace(0, 1, len(frequencies))
    total = math.fsum(frequencies * points)
    score = total / samples
    of_sample = math.fsum(frequencies * (points - score) ** 2) / samples
    paired = isinstance(counts, PairCounts)
    variance = of_sample * (2 if paired else 1)

    elo = convert_score_to_elo(score)
    if elo is None:
        gaps.append(
            "every game was won: the difference has no upper bound"
            if score == 1
            else "every game was lost: the difference has no lower bound"
        )
    squares = math.fsum(frequencies * points * points)
    low, high = compute_score_interval(samples, total, squares, smooth=paired)
    figures: dict[str, Any] = {}
    if variance == 0:
        gaps.append("all results are alike: nothing shows how much they vary")
    else:
        sd = math.sqrt(of_sample / samples)
        figures["los"] = NormalDist().cdf((score - 0.5) / sd) if paired else None
        figures["elo_error"] = error = _compute_error(score, sd)
        if error is None:
            gaps.append("the normal interval reaches beyond a score of 0 or 1: no ±")
        normalized = (score - 0.5) / math.sqrt(variance) * NORMALIZED_ELO
        half = _Z95 / math.sqrt(counts.games) * NORMALIZED_ELO
        figures["normalized_elo"] = normalized
        figures["normalized_elo_low"] = normalized - half
        figures["normalized_elo_high"] = normalized + half
    if isinstance(counts, GameCounts):
        wins = counts.wins
        losses = counts.losses
        figures["win_ratio"] = wins / counts.games
        figures["loss_ratio"] = losses / counts.games
        figures["draw_ratio"] = counts.draws / counts.games
        if not wins + losses:
            gaps.append("no decisive game: draws do not tell who is the stronger")
        else:
            from scipy.special import betainc  # slow import, only when needed

            larger = max(wins, losses)
            # Twice P(at least ``larger`` heads) for a fair coin, limited to 1.
            chance = 2 * float(betainc(larger, wins + losses - larger + 1, 0.5))
            figures["p_value"] = min(1.0, chance)
            figures["los_exact"] = float(betainc(losses + 1, wins + 1, 0.5))
            figures["los"] = NormalDist().cdf(
                (wins - losses) / math.sqrt(wins + losses)
            )
    return MatchStatistics(
        games=counts.games,
        score=score,
        elo=elo,
        elo_low=convert_score_to_elo(low),
        elo_high=convert_score_to_elo(high),
        variance=variance,
        gaps=tuple(gaps),
        **figures,
    )


def _compute_error(score: float, sd: float) -> float | None:
    low = score - _Z95 * sd
    high = score + _Z95 * sd
    if low <= 0 or high >= 1:
        return None
    ends = convert_score_to_elo(low), convert_score_to_elo(high)
    return None if ends[0] is None or ends[1] is None else (ends[1] - ends[0]) / 2
