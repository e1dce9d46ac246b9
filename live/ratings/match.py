"""Statistics of a match: games and pairs, Elo and superiority, the sequential test."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from live.errors import InputError
from live.messages.from_sources import Result
from live.messages.values import Value
from live.ratings.score_interval import compute_score_interval

# --- match statistics -----------------------------------------------------------------

# Difference of two players from a match result: Elo, error, superiority.
#
# Source: Chess Programming Wiki, *Match Statistics*, with the formulas of fishtest.
# Requires results only. There are two models of the variation of results (section "The
# trinomial versus the 5-nomial model"): games independent of each other
# (``GameCounts``: wins, draws, losses), or pairs of games with colours reversed
# (``PairCounts``: five scores of a pair), which allows for unbalanced openings and for
# dependent games within a pair.
#
# The expected score follows the logistic curve here, as everywhere in engine testing:
# ``1 / (1 + 10^(-d/400))``. Ferreira's algorithms use the normal curve
# (``live.ratings.expected_score``).
#
# A figure that a result cannot show is None, and ``gaps`` gives the reason. If a count
# of 0 leaves no variance, the interval does not shrink to a point: it is that of
# ``live.ratings.score_interval``, which is made for few observations.


#: 800 / ln 10: normalized Elo is close to logistic Elo if every game varies by half a
#: point (fishtest, LLRcalc: nelo_divided_by_nt).
NORMALIZED_ELO = 800 / math.log(10)

Floats = npt.NDArray[np.float64]

_Z95 = NormalDist().inv_cdf(0.975)

HalfPoints = tuple[tuple[int, int], ...]
"""Pairs of a game's number, or the number of a pair's second game, and the half points
scored.
"""


def convert_score_to_elo(score: float) -> float | None:
    """Return the logistic Elo difference of an expected score; None at 0 and 1, where
    it is unbounded.
    """
    return None if score in (0.0, 1.0) else 400 * math.log10(score / (1 - score))


def convert_elo_to_score(elo: float) -> float:
    """Return the expected score of a logistic Elo difference."""
    # Two formulas, so that neither end overflows.
    if elo < 0:
        odds = 10 ** (elo / 400)
        return odds / (1 + odds)
    return 1 / (1 + 10 ** (-elo / 400))


class GameCounts(Value):
    """Results of single games, from the first player's side. Counts are 0 or more."""

    wins: int
    draws: int
    losses: int

    @property
    def by_score(self) -> tuple[int, ...]:
        """Return the counts of 0, 1/2 and 1 point."""
        return self.losses, self.draws, self.wins

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


class PairCounts(Value):
    """Results of pairs of games with colours reversed, by points of the first player.

    The middle count includes two draws as well as a win and a loss, since both score
    one point.
    """

    none: int
    half: int
    one: int
    one_and_half: int
    two: int

    @property
    def by_score(self) -> tuple[int, ...]:
        """Return the counts of 0, 1/2, 1, 3/2 and 2 points."""
        return self.none, self.half, self.one, self.one_and_half, self.two

    @property
    def games(self) -> int:
        return 2 * sum(self.by_score)


class MatchStatistics(Value):
    """All figures of a match, from the first player's side. For a None see ``gaps``."""

    games: int
    score: float | None = None
    """Mean points per game."""
    win_ratio: float | None = None
    draw_ratio: float | None = None
    """None for pairs, whose middle count includes draws as well as wins and losses."""
    loss_ratio: float | None = None
    elo: float | None = None
    """Logistic Elo difference."""
    elo_low: float | None = None
    """Lower end of the 95 % interval of ``elo``."""
    elo_high: float | None = None
    elo_error: float | None = None
    """Half of the interval by the normal curve, the "±" of engine testing."""
    los: float | None = None
    """Likelihood of superiority: the probability of being the stronger, by the normal
    curve. From games ``Φ((wins - losses) / √(wins + losses))`` (Álvaro Begué's program
    in the wiki); from pairs with their own variance, as in fishtest.
    """
    los_exact: float | None = None
    """Exact likelihood of superiority from wins and losses: the probability that
    Beta(wins + 1, losses + 1) is above 1/2 (Rémi Coulom, as quoted by the wiki). None
    from pairs.
    """
    p_value: float | None = None
    """Probability that two players of equal strength have decisive games at least this
    uneven in either direction (two-tailed, exact). None from pairs.
    """
    variance: float | None = None
    """Variance of the points of a game; from pairs, twice the variance of a pair's
    mean.
    """
    normalized_elo: float | None = None
    normalized_elo_low: float | None = None
    """Lower end of the 95 % interval of ``normalized_elo``."""
    normalized_elo_high: float | None = None
    gaps: tuple[str, ...] = ()
    """Reasons for missing figures, as text for display."""


def compute_match_statistics(counts: GameCounts | PairCounts) -> MatchStatistics:
    """Return every figure of a match from its counts.

    >>> found = compute_match_statistics(GameCounts(wins=40, draws=50, losses=10))
    >>> found.score
    0.65
    >>> round(found.elo, 1)
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
    found: dict[str, Any] = {}
    if variance == 0:
        gaps.append("all results are alike: nothing shows how much they vary")
    else:
        sd = math.sqrt(of_sample / samples)
        found["los"] = NormalDist().cdf((score - 0.5) / sd) if paired else None
        found["elo_error"] = error = _compute_error(score, sd)
        if error is None:
            gaps.append("the normal interval reaches beyond a score of 0 or 1: no ±")
        normalized = (score - 0.5) / math.sqrt(variance) * NORMALIZED_ELO
        half = _Z95 / math.sqrt(counts.games) * NORMALIZED_ELO
        found["normalized_elo"] = normalized
        found["normalized_elo_low"] = normalized - half
        found["normalized_elo_high"] = normalized + half
    if isinstance(counts, GameCounts):
        wins = counts.wins
        losses = counts.losses
        found["win_ratio"] = wins / counts.games
        found["loss_ratio"] = losses / counts.games
        found["draw_ratio"] = counts.draws / counts.games
        if not wins + losses:
            gaps.append("no decisive game: draws do not tell who is the stronger")
        else:
            from scipy.special import betainc  # slow import, only when needed

            more = max(wins, losses)
            # Twice P(at least ``more`` of them) for a fair coin, limited to 1.
            chance = 2 * float(betainc(more, wins + losses - more + 1, 0.5))
            found["p_value"] = min(1.0, chance)
            found["los_exact"] = float(betainc(losses + 1, wins + 1, 0.5))
            found["los"] = NormalDist().cdf((wins - losses) / math.sqrt(wins + losses))
    return MatchStatistics(
        games=counts.games,
        score=score,
        elo=elo,
        elo_low=convert_score_to_elo(low),
        elo_high=convert_score_to_elo(high),
        variance=variance,
        gaps=tuple(gaps),
        **found,
    )


def _compute_error(score: float, sd: float) -> float | None:
    low = score - _Z95 * sd
    high = score + _Z95 * sd
    if low <= 0 or high >= 1:
        return None
    ends = convert_score_to_elo(low), convert_score_to_elo(high)
    return None if ends[0] is None or ends[1] is None else (ends[1] - ends[0]) / 2


# --- match games ----------------------------------------------------------------------

# A match as a list of games: points of each game, and pairs of games.
#
# Source: Chess Programming Wiki, *Match Statistics*, "The trinomial versus the 5-nomial
# model". Two games form a pair if they are consecutive and have colours reversed. Games
# without a result that splits one point, and walkovers, are left out and counted
# separately; a pair requires both of its games.


#: White's half points for results that split one point between the players.
_WHITE_HALVES: dict[Result, int] = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}


class MatchGame(Value):
    """One game of a match."""

    white: str
    black: str
    result: Result
    played: bool = True
    """False for a walkover, whose result shows nothing about strength."""


class MatchCounts(Value):
    """Totals of the games of two players, from the first player's side."""

    first: str
    second: str
    games: GameCounts
    pairs: PairCounts
    order: HalfPoints
    """Number (from 1) and half points of each counted game, in order."""
    pair_order: HalfPoints
    """Number of the game that completes each pair, and the pair's half points, in
    order.
    """
    left_out: int
    """Number of played games without a result that splits one point: unfinished, or
    lost by both.
    """
    walkovers: int


def count_match(games: Sequence[MatchGame], first: str | None = None) -> MatchCounts:
    """Count the games of two players, in the order they were played.

    Counts are from the side of ``first``, by default White of the first game. Raises
    InputError if there is no game, or a game of other players.
    """
    if not games:
        raise InputError("match", "there is no game", "Give the games of two players")
    names = {games[0].white, games[0].black}
    first = games[0].white if first is None else first
    if first not in names or len(names) != 2:
        raise InputError(
            "match",
            f"{first!r} is not one of the two players of game 1",
            f"They are {' and '.join(map(repr, sorted(names)))}",
        )
    (second,) = names - {first}
    for number, game in enumerate(games, 1):
        if {game.white, game.black} != names:
            raise InputError(
                f"match, game {number}",
                f"is between {game.white!r} and {game.black!r}, not {first!r} and"
                f" {second!r}",
                "Leave out the games of other players",
            )
    halves = [
        None
        if (white := _WHITE_HALVES.get(game.result)) is None or not game.played
        else (white if game.white == first else 2 - white)
        for game in games
    ]
    pairs = _pair_games(games, halves)
    points = [score for _, score in pairs]
    return MatchCounts(
        first,
        second,
        games=GameCounts(halves.count(2), halves.count(1), halves.count(0)),
        pairs=PairCounts(*(points.count(k) for k in range(5))),
        order=tuple((number, h) for number, h in enumerate(halves, 1) if h is not None),
        pair_order=pairs,
        left_out=sum(
            game.played and h is None for game, h in zip(games, halves, strict=True)
        ),
        walkovers=sum(not game.played for game in games),
    )


def _pair_games(games: Sequence[MatchGame], halves: Sequence[int | None]) -> HalfPoints:
    """Return the number of the second game of each pair, and the half points of the
    pair.

    A game that does not count keeps its place, so that it does not shift the pairs
    after it.
    """
    found: list[tuple[int, int]] = []
    waiting: int | None = None
    for index, game in enumerate(games):
        if waiting is None or games[waiting].white == game.white:
            waiting = index
            continue
        one = halves[waiting]
        other = halves[index]
        waiting = None
        if one is not None and other is not None:
            found.append((index + 1, one + other))
    return tuple(found)


# --- sprt -----------------------------------------------------------------------------

# Sequential probability ratio test: whether a match has shown enough to stop.
#
# Source: Chess Programming Wiki, *Match Statistics*, "SPRT"; Wald 1945, *Sequential
# Tests of Statistical Hypotheses*. The generalised test (GSPRT) compares the most
# probable distribution of results with a mean of H0 with the most probable one with a
# mean of H1, all else being free. Its log-likelihood ratio is computed exactly, as in
# fishtest, by the constrained maximum likelihood of a distribution on given points
# (Owen 1988, empirical likelihood).
#
# The wiki's program returns 0 if a result has not occurred yet. Here a count of 0 is
# replaced by 1/1000, as in fishtest, and the state is marked ``regularised``.


Scale = Literal["logistic", "normalized"]
Decision = Literal["H0", "H1", "continue"]

#: Replacement for a count of 0 (fishtest, LLRcalc: regularize).
REGULARISED_COUNT = 1e-3


class Sprt(Value):
    """Hypotheses of a test. H0: the difference is ``elo0``. H1: it is ``elo1``, which
    is higher.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Probability of accepting H1 if H0 is true."""
    beta: float = 0.05
    """Probability of accepting H0 if H1 is true."""
    scale: Scale = "logistic"

    def __post_init__(self) -> None:
        if not -math.inf < self.elo0 < self.elo1 < math.inf:
            raise ValueError(f"elo0 {self.elo0} must lie below elo1 {self.elo1}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(
                f"alpha {self.alpha} and beta {self.beta} must be above 0,"
                " together below 1"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the log-likelihood ratios at which H0 and H1 are accepted (Wald 1945),
        ±2.944 for 5 %.
        """
        return (
            math.log(self.beta / (1 - self.alpha)),
            math.log((1 - self.beta) / self.alpha),
        )


class SprtState(Value):
    """State of a test."""

    llr: float | None
    """Log-likelihood ratio of H1 to H0; None without a game."""
    lower: float
    upper: float
    decision: Decision
    games: int
    regularised: bool = False
    """True if a result that has not occurred yet was counted as 1/1000, on which early
    figures depend.
    """


class SprtRun(Value):
    """States of a test throughout a match. The first bound that is reached decides."""

    states: tuple[SprtState, ...]
    """State after each pair or, without pairs, after each game."""
    decided_after: int | None
    """Number of games until the first decision; None while there is none. Later games
    do not count, because a test that continued could still cross the other bound.
    """

    @property
    def decision(self) -> Decision:
        return next(
            (s.decision for s in self.states if s.decision != "continue"), "continue"
        )


def run_sprt(test: Sprt, counts: GameCounts | PairCounts) -> SprtState:
    """Return the state of a test after these results, in 0.1 ms (0.4 ms on the
    normalized scale).

    >>> test = Sprt(elo0=0, elo1=10)
    >>> state = run_sprt(test, GameCounts(wins=240, draws=560, losses=200))
    >>> round(state.llr, 2)
    1.68
    >>> [round(bound, 3) for bound in test.bounds]
    [-2.944, 2.944]
    """
    lower, upper = test.bounds
    samples = sum(counts.by_score)
    if not samples:
        return SprtState(None, lower, upper, "continue", 0)
    regularised = 0 in counts.by_score
    llr = _compute_llr(
        test, np.array([count or REGULARISED_COUNT for count in counts.by_score])
    )
    decision: Decision = "H1" if llr >= upper else "H0" if llr <= lower else "continue"
    return SprtState(llr, lower, upper, decision, counts.games, regularised)


def trace_sprt(
    test: Sprt, games: Sequence[MatchGame], first: str | None = None
) -> SprtRun:
    """Return the states of the test after each pair of a match or, without pairs, after
    each game.

    The test is from the side of ``first``, by default White of the first game. Raises
    InputError as ``count_match`` does.
    """
    whole = count_match(games, first)
    tally = [0] * (5 if whole.pair_order else 3)
    states: list[SprtState] = []
    for _, halves in whole.pair_order or whole.order:
        tally[halves] += 1
        none, half, one, *more = tally
        states.append(
            run_sprt(test, PairCounts(*tally) if more else GameCounts(one, half, none))
        )
    decided = next((s.games for s in states if s.decision != "continue"), None)
    return SprtRun(tuple(states), decided)


def _compute_llr(test: Sprt, weights: Floats) -> float:
    total = math.fsum(weights)
    seen = weights / total
    points = np.linspace(0, 1, len(weights))
    if test.scale == "logistic":
        h0, h1 = (
            _tilt_distribution(seen, points - convert_elo_to_score(elo))
            for elo in (test.elo0, test.elo1)
        )
    else:
        # The variance of a pair's mean is half that of a game's points, so its ratio is
        # √2 times as large.
        root = math.sqrt(len(points) // 2)
        h0, h1 = (
            _fit_ratio(seen, points, elo / NORMALIZED_ELO * root)
            for elo in (test.elo0, test.elo1)
        )
    return total * math.fsum(seen * np.log(h1 / h0))


def _tilt_distribution(seen: Floats, offsets: Floats) -> Floats:
    """Return the most probable distribution under which ``offsets`` have mean 0.

    It is ``p / (1 + x offset)``, with x chosen so that the mean is 0. Bisection finds
    x, because the mean decreases throughout the interval in which all probabilities are
    positive.
    """
    lowest = float(offsets.min())
    highest = float(offsets.max())
    if not lowest < 0 < highest:
        raise ValueError(
            "the expected score of a hypothesis lies outside the scores there are"
        )
    low = -1 / highest
    high = -1 / lowest
    for _ in range(200):
        x = (low + high) / 2
        if x in (low, high):
            break
        if math.fsum(seen * offsets / (1 + x * offsets)) > 0:
            low = x
        else:
            high = x
    return seen / (1 + x * offsets)


def _fit_ratio(seen: Floats, points: Floats, ratio: float) -> Floats:
    """Return the most probable distribution whose mean is ``ratio`` standard deviations
    above 1/2.

    The constraint is linearised at the last distribution found, until that converges.
    """
    found = np.full(len(points), 1 / len(points))
    for _ in range(100):
        mean = math.fsum(found * points)
        sd = math.sqrt(math.fsum(found * (points - mean) ** 2))
        offsets = points - 0.5 - ratio * sd * (1 + ((points - mean) / sd) ** 2) / 2
        before = found
        found = _tilt_distribution(seen, offsets)
        if np.abs(found - before).max() < 1e-12:
            break
    return found
