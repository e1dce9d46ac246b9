"""Algorithms 1, 3 and 4 of Ferreira 2012, which compare players by their gains.

Algorithm 1 (section 4) compares the gains of two players. Algorithm 4 (section 7)
compares a player's gains with the engine's own; the difference, added to the engine's
rating, is the perceived rating of the paper. Algorithm 3 (section 6, Table 4) computes
the engine's rating from players whose ratings are known.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.messages.figures import GainCounts, GainKind
from live.messages.values import Value
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.gains import MAX_GAIN_CP, Counts, GainHistogram
from live.ratings.learned_files import LearnedFiles
from live.ratings.score_interval import ClusteredScores, GameScores

Floats = npt.NDArray[np.float64]


def compute_expected_score_between(x: GainHistogram, y: GainHistogram) -> float | None:
    """Return Algorithm 1's expected score of X against Y (Ferreira 2012, section 4, Eq.
    2).

    It is ``P(X > Y) + 0.5 P(X = Y)`` over all pairs of a gain of X and a gain of Y.
    Return None while X or Y has no gain.

    >>> compute_expected_score_between(GainHistogram([0, -10]), GainHistogram([-35, 0]))
    0.625
    """
    (x_cp, x_count) = x.to_columns()
    (y_cp, y_count) = y.to_columns()
    if not len(x_cp) or not len(y_cp):
        return None
    below = np.concatenate([[0], np.cumsum(y_count)])
    halves = (
        below[np.searchsorted(y_cp, x_cp)] + below[np.searchsorted(y_cp, x_cp, "right")]
    )
    return int(x_count @ halves) / (2 * x.n * y.n)


#: Standard deviation of a player's difference between games beyond chance, Elo. With
#: it, the 95 % interval of one game contains the value over three or more other games
#: of the player for 94 % of 164 player-games over the board (31 players; 86 % without
#: it), and for 93 % of 1,645 in blitz.
BETWEEN_GAMES_SD: dict[GainKind, float] = {"same-search": 22.0, "successive": 30.0}


class EngineDistribution:
    """Distribution of the engine's own gains, with which a player's gains are compared.

    Ferreira 2012, section 6 uses a single peak at 0 (``SPIKE_AT_ZERO``), which is exact
    by construction for same-search gains. The paper leaves a better characterisation
    for future work (sections 7 and 10). Here it can be counted gains, from moves where
    the player chose the engine's own first choice, or from games of the engine against
    itself.
    """

    def __init__(self, gains: Iterable[tuple[int, int]]) -> None:
        """Create the distribution from pairs of a gain in centipawns and a number of
        moves.

        Raises ValueError if there are no pairs, or if they are not counts of gains.
        """
        self.counts: GainCounts = tuple(sorted(gains))
        """The pairs from which the distribution was created, in ascending order of
        gains.
        """
        if not self.counts:
            raise ValueError(
                "an empty histogram says nothing about the engine: use the spike at 0"
            )
        self._gains_cp, counts = zip(*self.counts, strict=True)
        repeated = len(set(self._gains_cp)) < len(counts)
        if repeated or max(map(abs, self._gains_cp)) > MAX_GAIN_CP or min(counts) < 1:
            raise ValueError("each gain stands once, within two mates, and was counted")
        self._below: list[int] = list(accumulate(counts, initial=0))
        self.scale = 2 * self._below[-1]
        """Number of parts of one point. Scores are whole parts, so that sums over moves
        are exact.
        """

    def score_gain(self, gain_cp: int) -> int:
        """Return the score of a move against the engine, in parts (see ``scale``).

        It is ``P(E < g) + 0.5 P(E = g)``.
        """
        at = bisect_left(self._gains_cp, gain_cp)
        equal = at < len(self._gains_cp) and self._gains_cp[at] == gain_cp
        return self._below[at] + self._below[at + equal]


SPIKE_AT_ZERO = EngineDistribution(GainHistogram([0]))


class EngineGains(Value):
    """An engine's own successive gains, as counted by ``study table engine-gains``.

    They are counted over moves where the player chose the engine's first choice.
    """

    engine: str
    """The engine and its limit, in the form that studies use."""
    rows: tuple[tuple[int, int], ...]
    """Pairs of a gain in centipawns and the number of moves with it."""

    def is_for(self, engine: str, limit: str) -> bool:
        """Return whether the gains are those of this engine under this limit."""
        # A study appends other causes of different scores to the engine's name, after a
        # semicolon.
        name, _, bound = self.engine.partition(", ")
        return (name.partition(";")[0], bound) == (engine, limit)

    def __post_init__(self) -> None:
        _ = self.distribution

    @property
    def distribution(self) -> EngineDistribution:
        """Return the distribution with which players are compared."""
        return EngineDistribution(self.rows)


ENGINE_GAINS = LearnedFiles(
    "engine_gains",
    EngineGains,
    "count of an engine's gains",
    "Write it: live-rate study table CORPUS engine-gains --form json --out FILE",
)


def score_moves(
    gains_cp: Iterable[int], engine: EngineDistribution = SPIKE_AT_ZERO
) -> GameScores:
    """Return the scores of moves against the engine, in parts of ``engine.scale``
    (Algorithm 4).

    >>> scores = score_moves([0, 0, -20, 0, -5])
    >>> scores.total / (scores.n * SPIKE_AT_ZERO.scale)
    0.3
    """
    return sum_scores([engine.score_gain(gain_cp) for gain_cp in gains_cp])


def sum_scores(parts: Sequence[int]) -> GameScores:
    return GameScores(len(parts), sum(parts), sum(part * part for part in parts))


class Algorithm4(NamedTuple):
    """A player's result against the engine, in Elo except ``score``.

    Values are None if they are unbounded, or if the player has no move.
    """

    score: float | None = None
    """Expected score per move, at most 1 (Eq. 2)."""
    difference: float | None = None
    difference_low: float | None = None
    """Lower end of a 95 % interval of the difference in the player's other games."""
    difference_high: float | None = None


def run_algorithm_4(
    scores: ClusteredScores, engine: EngineDistribution, gain: GainKind
) -> Algorithm4:
    """Return a player's difference from the engine by Algorithm 4.

    The interval accounts for chance as in :mod:`live.ratings.score_interval`. For
    several games it includes the observed variation between them; for a single game it
    includes the usual variation between games of one player. No interval extends beyond
    the result of playing the best move every time.
    """
    ceiling = engine.score_gain(0) if gain == "same-search" else engine.scale
    ends = scores.compute_interval(engine.scale, ceiling)
    if ends is None:
        return Algorithm4()
    score = scores.total / (scores.n * engine.scale)
    difference, low, high = map(convert_score_to_difference, (score, *ends))
    if scores.games == 1:
        game_reach = NormalDist().inv_cdf(0.975) * BETWEEN_GAMES_SD[gain]
        if difference is None:
            # Here the difference is unbounded, so its end cannot be combined in
            # quadrature.
            low = None if low is None else low - game_reach
            high = None if high is None else high + game_reach
        else:
            if low is not None:
                low = difference - math.hypot(difference - low, game_reach)
            if high is not None:
                high = difference + math.hypot(high - difference, game_reach)
                highest = convert_score_to_difference(ceiling / engine.scale)
                high = high if highest is None else min(high, highest)
    return Algorithm4(score, difference, low, high)


class MeasuredPlayer(NamedTuple):
    """Input of Algorithm 3 about one player."""

    player: str
    expected_score: float
    """Expected score against the engine (Algorithm 1, step 4), in [0, 1]."""
    elo: float | None = None
    """The official rating r_i; None if unrated."""
    strength: float | None = None
    """The perceived rating r'_i of Algorithm 2; None if there is none."""


class EngineEstimate(NamedTuple):
    """One row of Table 4: the engine's rating as estimated from one player, in Elo."""

    player: str
    difference: float | None
    """d_i, the player's difference from the engine; None if unbounded."""
    by_elo: float | None
    """r_i - d_i; None without a rating or a bounded difference."""
    by_strength: float | None
    """r'_i - d_i; None without a perceived rating or a bounded difference."""


class Algorithm3(NamedTuple):
    """Table 4: the rows, and the average of each column in Elo.

    The average of an empty column is None.
    """

    rows: tuple[EngineEstimate, ...]
    by_elo: float | None
    by_strength: float | None


def run_algorithm_3(players: Iterable[MeasuredPlayer]) -> Algorithm3:
    """Run Algorithm 3, with equal weight for every player (Ferreira 2012, section 6).

    A player whose expected score is 0 or 1 has no bounded difference and enters no
    average. Raises ValueError for a score outside [0, 1].

    >>> estimates = run_algorithm_3([MeasuredPlayer("Anand", 0.4, elo=2800)])
    >>> round(estimates.rows[0].difference, 1), round(estimates.by_elo, 1)
    (-71.7, 2871.7)
    """
    rows = []
    for player, score, *ratings in players:
        difference = convert_score_to_difference(score)
        estimates = [
            None if difference is None or rating is None else rating - difference
            for rating in ratings
        ]
        rows.append(EngineEstimate(player, difference, *estimates))
    by_elo = [row.by_elo for row in rows if row.by_elo is not None]
    by_strength = [row.by_strength for row in rows if row.by_strength is not None]
    return Algorithm3(
        tuple(rows),
        fmean(by_elo) if by_elo else None,
        fmean(by_strength) if by_strength else None,
    )


class PlayedGains(NamedTuple):
    """One rated player's gains of one game."""

    player: str
    elo: int
    """Rating at the time of the game."""
    gains_cp: tuple[int, ...]


def estimate_engine_rating(games: Iterable[PlayedGains]) -> float | None:
    """Return the engine's rating by Algorithm 3 over the players of ``games``, Elo.

    Players are weighted by their moves. Each player's gains are pooled and compared
    with a spike at 0 (Ferreira 2012, section 6). A player's rating is the mean over
    that player's moves. Return None if no player's difference is bounded.
    """
    # For each player: moves, half points, and Elo times moves.
    rated: defaultdict[str, Counts] = defaultdict(lambda: np.zeros(3, dtype=np.int64))
    for game in games:
        n, halves, _ = score_moves(game.gains_cp)
        rated[game.player] += (n, halves, game.elo * n)
    total = weight = 0.0
    for n, halves, elo in (counts.tolist() for counts in rated.values()):
        difference = convert_score_to_difference(halves / (2 * n)) if n else None
        if difference is not None:
            total += elo - n * difference
            weight += n
    return round(total / weight, 1) if weight else None


#: Weight of the starting value of the engine's rating, as a number of moves.
PRIOR_MOVES = 200
#: Score of one additional move for every player. Without it, a player whose every move
#: scored 0 or 1 would have an infinite difference. The value is the middle of the range
#: of a same-search gain.
_UNSEEN_MOVE_SCORE = 0.25
#: Sums are whole multiples of 1/1024 Elo-move, because sums of integers do not depend
#: on their order.
_UNITS = 1024


class FieldEngineRating:
    """The engine's rating from the players of the running event (``engine_rating =
    "field"``).

    This is Algorithm 3 applied live: each rated player gives an estimate ``r_e = r_i -
    d_i``. The estimates are weighted by the number of their moves, together with
    ``prior_elo``, which counts as ``PRIOR_MOVES`` moves. Apart from this prior, the
    weighted mean of the perceived ratings equals the weighted mean of the official
    ratings, as in Algorithm 2, step 4. Only the latest figures of each player count,
    independently of the order of updates. An update costs O(1).
    """

    def __init__(self, prior_elo: float) -> None:
        self.prior_elo = prior_elo
        self.moves = 0
        """Number of moves of rated players from which the rating is computed."""
        self._players: dict[str, tuple[int, int]] = {}
        self._units = 0

    def update(
        self, player_id: str, elo: int | None, n: int, expected_score: float | None
    ) -> None:
        """Replace a player's data: rating, number of moves, expected score against the
        engine.

        A player without rating or moves is ignored, so ``elo=None`` or ``n=0`` removes
        a player. Raises ValueError for a score outside [0, 1].
        """
        moves, units = self._players.pop(player_id, (0, 0))
        self.moves -= moves
        self._units -= units
        if elo is None or n == 0 or expected_score is None:
            return
        difference = convert_score_to_difference(expected_score)
        if difference is None:
            difference = convert_score_to_difference(
                (n * expected_score + _UNSEEN_MOVE_SCORE) / (n + 1)
            )
            assert (
                difference is not None
            )  # the additional move prevents a score of exactly 0 or 1
        units = round((elo - difference) * _UNITS) * n
        self._players[player_id] = (n, units)
        self.moves += n
        self._units += units

    @property
    def rating(self) -> int:
        """Return the engine's rating in whole Elo; a half is rounded to even."""
        units = round(self.prior_elo * _UNITS) * PRIOR_MOVES + self._units
        return round(Fraction(units, (PRIOR_MOVES + self.moves) * _UNITS))
