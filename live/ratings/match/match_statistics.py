"""What a match result says about the difference of two players: Elo, error, superiority.

Source: Chess Programming Wiki, *Match Statistics*, with the formulas that fishtest uses. Needs
results only. Two models of how results vary (section "The trinomial versus the 5-nomial model"):
games independent of each other (``GameCounts``: wins, draws, losses), or pairs of games with
colours reversed (``PairCounts``: five scores of a pair), which allows for unbalanced openings and
for games of a pair that depend on each other.

The expected score follows the logistic curve here, as everywhere in engine testing:
``1 / (1 + 10^(-d/400))``. Ferreira's algorithms use the normal curve
(``live.ratings.expected_score``).

What a result does not show is None, and ``gaps`` says why. Where a count of 0 would leave no
variance, the interval does not shrink to a point: it is that of ``live.ratings.score_interval``,
made for few observations.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Self

import msgspec

from live.ratings.score_interval import score_interval

#: 800 / ln 10: normalized Elo is close to logistic Elo where every game varies by half a point
#: (fishtest, LLRcalc: nelo_divided_by_nt).
NORMALIZED_ELO = 800 / math.log(10)

_Z95 = NormalDist().inv_cdf(0.975)


def elo_of(score: float) -> float | None:
    """Logistic Elo difference of an expected score; None at 0 and 1, where it is unbounded.

    Raises ValueError outside [0, 1] and for NaN.
    """
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"score {score!r} is not within [0, 1]")
    return None if score in (0.0, 1.0) else 400 * math.log10(score / (1 - score))


def score_of(elo: float) -> float:
    """Expected score of a logistic Elo difference. Raises ValueError for NaN."""
    if math.isnan(elo):
        raise ValueError("a difference that is not a number has no expected score")
    # Written so that neither end overflows.
    if elo < 0:
        odds = 10 ** (elo / 400)
        return odds / (1 + odds)
    return 1 / (1 + 10 ** (-elo / 400))


class GameCounts(msgspec.Struct, frozen=True):
    """Results of single games, from the first player's side. Counts are 0 or more."""

    wins: int
    draws: int
    losses: int

    def __post_init__(self) -> None:
        _whole(("wins", "draws", "losses"), (self.wins, self.draws, self.losses))

    @property
    def by_score(self) -> tuple[int, ...]:
        """Counts of 0, 1/2 and 1 point."""
        return self.losses, self.draws, self.wins

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    def __add__(self, other: Self) -> GameCounts:
        return GameCounts(
            self.wins + other.wins, self.draws + other.draws, self.losses + other.losses
        )


class PairCounts(msgspec.Struct, frozen=True):
    """Results of pairs of games with colours reversed, by points of the first player.

    The middle count holds two draws as well as a win and a loss: their score is the same.
    """

    none: int
    half: int
    one: int
    one_and_half: int
    two: int

    def __post_init__(self) -> None:
        _whole(("none", "half", "one", "one_and_half", "two"), self.by_score)

    @property
    def by_score(self) -> tuple[int, ...]:
        """Counts of 0, 1/2, 1, 3/2 and 2 points."""
        return self.none, self.half, self.one, self.one_and_half, self.two

    @property
    def games(self) -> int:
        return 2 * sum(self.by_score)


class MatchStatistics(msgspec.Struct, frozen=True):
    """All figures of a match, from the first player's side. None: see ``gaps``."""

    games: int
    score: float | None = None
    """Mean points a game."""
    win_ratio: float | None = None
    draw_ratio: float | None = None
    """None from pairs, whose middle count does not separate draws from a win and a loss."""
    loss_ratio: float | None = None
    elo: float | None = None
    """Logistic Elo difference."""
    elo_low: float | None = None
    """95 % interval of ``elo``."""
    elo_high: float | None = None
    elo_error: float | None = None
    """Half of the interval by the normal curve, what "±" means in engine testing."""
    los: float | None = None
    """Likelihood of superiority by the normal curve: of being the stronger. From games
    ``Φ((wins - losses) / √(wins + losses))`` (Álvaro Begué's program in the wiki); from pairs with
    their own variance, as fishtest does."""
    los_exact: float | None = None
    """The same exactly, from wins and losses (Rémi Coulom, as quoted by the wiki). None from
    pairs."""
    p_value: float | None = None
    """Probability that two players of equal strength come to decisive games at least so uneven,
    either way (two-tailed, exact). None from pairs."""
    variance: float | None = None
    """Of the points of a game; from pairs twice the variance of a pair's mean."""
    normalized_elo: float | None = None
    normalized_elo_low: float | None = None
    """95 % interval of ``normalized_elo``."""
    normalized_elo_high: float | None = None
    gaps: tuple[str, ...] = ()
    """What is missing, and why, for people."""


def match_statistics(counts: GameCounts | PairCounts) -> MatchStatistics:
    """Every figure of a match from its counts.

    >>> found = match_statistics(GameCounts(wins=40, draws=50, losses=10))
    >>> found.score
    0.65
    >>> round(found.elo, 1)
    107.5
    """
    if not counts.games:
        return MatchStatistics(0, gaps=("no game has been played",))
    gaps: list[str] = []
    frequencies = counts.by_score
    samples = sum(frequencies)
    points = [place / (len(frequencies) - 1) for place in range(len(frequencies))]
    total = math.fsum(f * x for f, x in zip(frequencies, points, strict=True))
    score = total / samples
    of_sample = math.fsum(f * (x - score) ** 2 for f, x in zip(frequencies, points, strict=True))
    of_sample /= samples
    paired = isinstance(counts, PairCounts)
    variance = of_sample * (2 if paired else 1)

    elo = elo_of(score)
    if elo is None:
        gaps.append(
            "every game was won: the difference has no upper bound"
            if score == 1
            else "every game was lost: the difference has no lower bound"
        )
    squares = math.fsum(f * x * x for f, x in zip(frequencies, points, strict=True))
    low, high = score_interval(samples, total, squares, smooth=paired)
    error = los = normalized = half = None
    if variance == 0:
        gaps.append("all results are alike: nothing shows how much they vary")
    else:
        sd = math.sqrt(of_sample / samples)
        if paired:
            los = NormalDist().cdf((score - 0.5) / sd)
        error = _error(score, sd)
        if error is None:
            gaps.append("the normal interval reaches beyond a score of 0 or 1: no ±")
        normalized = (score - 0.5) / math.sqrt(variance) * NORMALIZED_ELO
        half = _Z95 / math.sqrt(counts.games) * NORMALIZED_ELO
    wins = draws = losses = exact = p_value = None
    if isinstance(counts, GameCounts):
        wins, draws, losses = (
            count / counts.games for count in (counts.wins, counts.draws, counts.losses)
        )
        exact = los_exact(counts.wins, counts.losses)
        p_value = _two_tailed(counts.wins, counts.losses)
        if exact is None:
            gaps.append("no decisive game: draws do not tell who is the stronger")
        else:
            decisive = counts.wins + counts.losses
            los = NormalDist().cdf((counts.wins - counts.losses) / math.sqrt(decisive))
    return MatchStatistics(
        games=counts.games,
        score=score,
        win_ratio=wins,
        draw_ratio=draws,
        loss_ratio=losses,
        elo=elo,
        elo_low=elo_of(low),
        elo_high=elo_of(high),
        elo_error=error,
        los=los,
        los_exact=exact,
        p_value=p_value,
        variance=variance,
        normalized_elo=normalized,
        normalized_elo_low=None if normalized is None or half is None else normalized - half,
        normalized_elo_high=None if normalized is None or half is None else normalized + half,
        gaps=tuple(gaps),
    )


def los_exact(wins: int, losses: int) -> float | None:
    """Probability that the first player is the stronger, from decisive games alone.

    With every chance of a win equally likely beforehand it is that of Beta(wins + 1, losses + 1)
    lying above 1/2 (Rémi Coulom, as quoted in the wiki, "Likelihood of Superiority"). None
    without a decisive game, which says nothing.
    """
    from scipy.special import betainc  # where asked for: a slow import

    _whole(("wins", "losses"), (wins, losses))
    return float(betainc(losses + 1, wins + 1, 0.5)) if wins + losses else None


def _two_tailed(wins: int, losses: int) -> float | None:
    from scipy.special import betainc  # where asked for: a slow import

    more, games = max(wins, losses), wins + losses
    if not games:
        return None
    # P(at least ``more`` of ``games``) for a fair coin, twice, and never above 1.
    return min(1.0, 2 * float(betainc(more, games - more + 1, 0.5)))


def _error(score: float, sd: float) -> float | None:
    low, high = score - _Z95 * sd, score + _Z95 * sd
    if low <= 0 or high >= 1:
        return None
    ends = elo_of(low), elo_of(high)
    return None if ends[0] is None or ends[1] is None else (ends[1] - ends[0]) / 2


def _whole(names: tuple[str, ...], counts: tuple[int, ...]) -> None:
    for name, count in zip(names, counts, strict=True):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"{name} must be a whole number, 0 or more, not {count!r}")
