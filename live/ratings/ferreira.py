"""Gains of moves, and the algorithms of Ferreira 2012 that compare players by their
gains.

The gain of a move is the number of centipawns that the mover won or lost by playing it.
There are two definitions, and every result names the one it was computed with
(``live.messages.figures.GainKind``):

* ``same-search`` (Alliot 2017, section 3.3): the score of the move played minus the
  score of the engine's first choice, both searched from the position before the move.
  It is 0 for the first choice itself and never above 0.
* ``successive`` (Ferreira 2012, Algorithm 1, step 2): the score of the position after
  the move minus the score of the position before it.

Algorithm 1 (section 4) compares the gains of two players; Algorithm 2 (section 5) rates
every player from all comparisons of an event. Algorithm 4 (section 7) compares a
player's gains with the engine's own; the difference, added to the engine's rating, is
the perceived rating of the paper. Algorithm 3 (section 6, Table 4) computes the
engine's rating from players whose ratings are known.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.messages.figures import GainCounts, GainKind
from live.messages.from_sources import MATE_CP, Score
from live.messages.values import Color, Value
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.learned_files import LearnedFiles
from live.ratings.score_interval import ClusteredScores, GameScores

#: Largest gain, centipawns: from being mated to giving mate (Ferreira 2012, section 3).
MAX_GAIN_CP = 2 * MATE_CP

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def compute_same_search_gain(best: Score, played: Score, mover: Color) -> int:
    """Return the gain in centipawns from the mover's side, at most 0.

    ``best`` and ``played`` are scores of two moves from the same position, White's
    side. A move that scores better than the first choice does so by search noise, and
    counts 0 (Alliot 2017, section 3.3).

    >>> from live.messages.from_sources import Score
    >>> compute_same_search_gain(Score(30), Score(-25), "white")
    -55
    >>> compute_same_search_gain(Score(-25), Score(30), "black")
    -55
    """
    return min(0, compute_successive_gain(best, played, mover))


def compute_successive_gain(before: Score, after: Score, mover: Color) -> int:
    """Return the gain in centipawns from the mover's side: ``after - before`` for
    White, the negative of it for Black.

    Scores are White's (Ferreira 2012, Algorithm 1, step 2). Raises ValueError if the
    gain exceeds the difference of two mates, which means that a score was not clamped
    to ±3900.

    >>> from live.messages.from_sources import Score
    >>> compute_successive_gain(Score(30), Score(55), "white")
    25
    >>> compute_successive_gain(Score(30), Score(55), "black")
    -25
    """
    rise_cp = after.cp - before.cp
    return _check_gain(rise_cp if mover == "white" else -rise_cp)


def _check_gain(gain_cp: int) -> int:
    if not -MAX_GAIN_CP <= gain_cp <= MAX_GAIN_CP:
        raise ValueError(
            f"gain {gain_cp} cp is outside ±{MAX_GAIN_CP}: clamp the scores first"
        )
    return gain_cp


# --- gain histogram -------------------------------------------------------------------

# A player's gains as counts per centipawn, and the exact comparison of two such
# histograms.
#
# Source: Ferreira 2012, section 4: the normalised histogram at a resolution of one
# centipawn represents the distribution of gain, and the cross-correlation of two
# histograms (Eq. 1) gives the expected score between two players (Eq. 2).


class GainHistogram:
    """Counts of gains per whole centipawn in [-7800, 7800].

    Stored sparsely, since a game has some forty distinct gains and a service keeps many
    games.

    >>> gains = GainHistogram([0, -12, 0, -40])
    >>> gains.n, gains.mean
    (4, -13.0)
    """

    def __init__(self, gains_cp: Iterable[int] = ()) -> None:
        """Raise ValueError for a gain out of range, as ``add`` does."""
        self._counts = Counter(map(_check_gain, gains_cp))

    def add(self, gain_cp: int) -> None:
        """Count one more move. Raises ValueError for a gain out of range."""
        self._counts[_check_gain(gain_cp)] += 1

    def merge(self, other: GainHistogram) -> None:
        """Count all moves of ``other`` too, as if each had been added."""
        self._counts.update(other._counts)

    @property
    def n(self) -> int:
        """Return the number of moves counted."""
        return self._counts.total()

    @property
    def mean(self) -> float | None:
        """Return the mean gain in centipawns; None while no move is counted."""
        n = self.n
        return (
            sum(gain_cp * count for gain_cp, count in self._counts.items()) / n
            if n
            else None
        )

    def __getitem__(self, gain_cp: int) -> int:
        return self._counts[gain_cp]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of a gain in centipawns and its count, gains ascending."""
        return iter(sorted(self._counts.items()))

    def to_columns(self) -> tuple[Counts, Counts]:
        """Return the distinct gains (centipawns, ascending) and their counts, each an
        array of shape (k,).
        """
        table = np.array(list(self), dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]


def cross_correlate(x: GainHistogram, y: GainHistogram) -> tuple[int, Counts]:
    """Return how many pairs of a gain of ``x`` and a gain of ``y`` have each difference
    (Ferreira 2012, Eq. 1).

    The result is ``(lowest, pairs)``: ``pairs[i]`` of the ``x.n * y.n`` pairs have a
    difference X - Y of ``lowest + i`` centipawns. All are whole numbers, so nothing is
    rounded. Both histograms must have gains.
    """
    (x_cp, x_count) = x.to_columns()
    (y_cp, y_count) = y.to_columns()
    lowest = int(x_cp[0] - y_cp[-1])
    pairs = np.zeros(int(x_cp[-1] - y_cp[0]) - lowest + 1, dtype=np.int64)
    np.add.at(pairs, np.subtract.outer(x_cp, y_cp) - lowest, np.outer(x_count, y_count))
    return lowest, pairs


def compute_expected_score_between(x: GainHistogram, y: GainHistogram) -> float | None:
    """Return Algorithm 1's expected score of X against Y (Ferreira 2012, section 4, Eq.
    2).

    It is ``P(X > Y) + 0.5 P(X = Y)`` over all pairs of a gain of X and a gain of Y;
    None while either has none.

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


#: Standard deviation, in Elo, of a player's difference between games beyond chance.
#: With it, the 95 % interval of one game contains the value over three or more other
#: games of the player for .94 of 164 player-games over the board (31 players; .86
#: without it), and for .93 of 1,645 in blitz.
BETWEEN_GAMES_SD: dict[GainKind, float] = {"same-search": 22.0, "successive": 30.0}


class EngineDistribution:
    """Distribution of the engine's own gains, which a player's gains are compared with.

    Ferreira 2012, section 6 uses a single peak at 0 (``SPIKE_AT_ZERO``), which is exact
    by construction for same-search gains. The paper leaves a better characterisation
    for future work (sections 7 and 10): counted gains, from moves where the player
    chose the engine's own first choice, or from games of the engine against itself.
    """

    def __init__(self, gains: Iterable[tuple[int, int]]) -> None:
        """Create from pairs of a gain in centipawns and a number of moves.

        Raises ValueError if there are none, or if they are not counts of gains.
        """
        self.counts: GainCounts = tuple(sorted(gains))
        """Pairs that the distribution was created from, gains ascending."""
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
        """Return the score of a move against the engine, ``P(E < g) + 0.5 P(E = g)``,
        in parts (see ``scale``).
        """
        at = bisect_left(self._gains_cp, gain_cp)
        equal = at < len(self._gains_cp) and self._gains_cp[at] == gain_cp
        return self._below[at] + self._below[at + equal]


SPIKE_AT_ZERO = EngineDistribution(GainHistogram([0]))


class EngineGains(Value):
    """An engine's own successive gains, as counted by ``study table engine-gains`` in
    moves where the player chose the engine's first choice.
    """

    engine: str
    """Engine and limit, as a study names them."""
    rows: tuple[tuple[int, int], ...]
    """Pairs of a gain in centipawns and the number of moves with it."""

    def fits(self, engine: str, limit: str) -> bool:
        """Return whether the gains are those of this engine under this limit."""
        # A study adds to the engine's name, after a semicolon, whatever else changes
        # its scores.
        name, _, bound = self.engine.partition(", ")
        return (name.partition(";")[0], bound) == (engine, limit)

    def __post_init__(self) -> None:
        _ = self.distribution

    @property
    def distribution(self) -> EngineDistribution:
        """Return the distribution that players are compared with."""
        return EngineDistribution(self.rows)


ENGINE_GAINS = LearnedFiles(
    "engine_gains",
    EngineGains,
    "count of an engine's gains",
    "Write it: live-rate study table CORPUS engine-gains --form json --out FILE",
)


# --- Algorithm 4 ----------------------------------------------------------------------


def score_moves(
    gains_cp: Iterable[int], engine: EngineDistribution = SPIKE_AT_ZERO
) -> GameScores:
    """Return the scores of moves against the engine, in parts of ``engine.scale``
    (Algorithm 4).

    >>> found = score_moves([0, 0, -20, 0, -5])
    >>> found.total / (found.n * SPIKE_AT_ZERO.scale)
    0.3
    """
    return _sum_scores([engine.score_gain(gain_cp) for gain_cp in gains_cp])


def _sum_scores(parts: Sequence[int]) -> GameScores:
    return GameScores(len(parts), sum(parts), sum(each * each for each in parts))


class Algorithm4(NamedTuple):
    """A player's result against the engine, in Elo except ``score``. Values are None if
    unbounded, and if the player has no move.
    """

    score: float | None = None
    """Expected score per move, at most 1 (Eq. 2)."""
    difference: float | None = None
    difference_low: float | None = None
    """Lower end of a 95 % interval for the difference in the player's other games."""
    difference_high: float | None = None


def run_algorithm_4(
    scores: ClusteredScores, engine: EngineDistribution, gain: GainKind
) -> Algorithm4:
    """Return a player's difference from the engine by Algorithm 4.

    The interval allows for chance as :mod:`live.ratings.score_interval` does. Several
    games show their own variation; the interval of a single game is widened by the
    usual variation between games of one player. No interval exceeds the result of
    playing the best move every time.
    """
    ceiling = engine.score_gain(0) if gain == "same-search" else engine.scale
    ends = scores.compute_interval(engine.scale, ceiling)
    if ends is None:
        return Algorithm4()
    score = scores.total / (scores.n * engine.scale)
    difference, low, high = map(convert_score_to_difference, (score, *ends))
    if scores.games == 1:
        apart = NormalDist().inv_cdf(0.975) * BETWEEN_GAMES_SD[gain]
        if difference is None:
            # The other end cannot be combined in quadrature, because the difference is
            # unbounded.
            low = None if low is None else low - apart
            high = None if high is None else high + apart
        else:
            if low is not None:
                low = difference - math.hypot(difference - low, apart)
            if high is not None:
                high = difference + math.hypot(high - difference, apart)
                most = convert_score_to_difference(ceiling / engine.scale)
                high = high if most is None else min(high, most)
    return Algorithm4(score, difference, low, high)


# --- Algorithm 3 ----------------------------------------------------------------------


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
    """Table 4: the rows and the average of each column, in Elo (None for an empty
    column).
    """

    rows: tuple[EngineEstimate, ...]
    by_elo: float | None
    by_strength: float | None


def run_algorithm_3(players: Iterable[MeasuredPlayer]) -> Algorithm3:
    """Run Algorithm 3, with equal weight for every player (Ferreira 2012, section 6).

    A player whose expected score is 0 or 1 has no bounded difference and enters no
    average. Raises ValueError for a score outside [0, 1].

    >>> found = run_algorithm_3([MeasuredPlayer("Anand", 0.4, elo=2800)])
    >>> round(found.rows[0].difference, 1), round(found.by_elo, 1)
    (-71.7, 2871.7)
    """
    rows = []
    for player, score, *ratings in players:
        difference = convert_score_to_difference(score)
        found = [
            None if difference is None or each is None else each - difference
            for each in ratings
        ]
        rows.append(EngineEstimate(player, difference, *found))
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
    """Return the engine's rating by Algorithm 3 over the players of ``games``, weighted
    by their moves, in Elo.

    Each player's gains are pooled and compared with a spike at 0 (Ferreira 2012,
    section 6); a player's rating is the mean over that player's moves. None if no
    player's difference is bounded.
    """
    # For each player: moves, half points, and Elo times moves.
    rated: defaultdict[str, Counts] = defaultdict(lambda: np.zeros(3, dtype=np.int64))
    for game in games:
        n, halves, _ = score_moves(game.gains_cp)
        rated[game.player] += (n, halves, game.elo * n)
    total = weight = 0.0
    for n, halves, elo in (each.tolist() for each in rated.values()):
        difference = convert_score_to_difference(halves / (2 * n)) if n else None
        if difference is not None:
            total += elo - n * difference
            weight += n
    return round(total / weight, 1) if weight else None


#: Number of moves that the starting value of the engine's rating counts for.
PRIOR_MOVES = 200
#: A player whose every move scored 0 or 1 would have an infinite difference, so one
#: unseen move with this score is added: the middle of the range of a same-search gain.
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
    ones, as in Algorithm 2, step 4. Only the latest figures of each player count, in
    whatever order they came; an update costs O(1).
    """

    def __init__(self, prior_elo: float) -> None:
        self.prior_elo = prior_elo
        self.moves = 0
        """Number of moves of rated players that the rating is computed from."""
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
            )  # the unseen move keeps the score inside (0, 1)
        units = round((elo - difference) * _UNITS) * n
        self._players[player_id] = (n, units)
        self.moves += n
        self._units += units

    @property
    def rating(self) -> int:
        """Return the engine's rating in whole Elo, a half rounded to even."""
        units = round(self.prior_elo * _UNITS) * PRIOR_MOVES + self._units
        return round(Fraction(units, (PRIOR_MOVES + self.moves) * _UNITS))


# --- Algorithm 2 ----------------------------------------------------------------------

# The difference of two players who have met is computed, as in Table 1, from all gains
# of both over the whole event (Algorithm 1), not from their own game alone. The ratings
# r' make every ``r'_i - r'_j`` as close as possible to the observed difference
# ``d_ij``, in least squares with equal weight for each pair (section 5, Eq. 3). The
# paper iterates until nothing changes; the fixed point is the solution of ``L r' = b``,
# with L the Laplacian matrix of the graph of compared pairs and ``b_i = sum_j d_ij``,
# so it is solved for directly. The graph can consist of several parts. In each part the
# ratings are shifted so that the mean rating of its rated players is kept (step 4); a
# part without rated players has differences only.
#
# The paper gives points only. For 95 % intervals: to first order, an error in one
# player's gains shifts all that player's comparisons equally, by ``eta_i`` Elo, so that
# ``b = L eta``, and the errors of the ratings are ``eta_i`` minus the mean of ``eta``
# over the rated players. So only each player's own uncertainty is needed: that of an
# expected score against usual gains, clustered by game
# (:mod:`live.ratings.score_interval`), on the Elo scale. Ends are combined as those of
# independent estimates (Zou and Donner 2008, *Construction of confidence limits about
# effect measures*, section 2), so they need not be symmetric.


class Strength(NamedTuple):
    """One player's rating by Algorithm 2, unrounded."""

    relative: float
    """Elo above the mean of the player's part of the graph."""
    rating: float | None
    """Perceived rating r', Elo; None in a part without rated players."""
    part: int
    """Number of the part, from 0. Only players of one part can be compared."""
    low: float | None = None
    """Lower end of the 95 % interval of ``rating``, or of ``relative`` if nobody of the
    part is rated.

    None for the only rated player of a part, and if no margins are known.
    """
    high: float | None = None


class RatingMargins(NamedTuple):
    """Squared distances, in Elo, from the estimate to the lower and to the upper end of
    the interval of a player's true strength.
    """

    below: float
    above: float


def solve(
    differences: Mapping[tuple[str, str], float],
    elos: Mapping[str, float],
    margins: Mapping[str, RatingMargins] | None = None,
) -> dict[str, Strength]:
    """Return least-squares ratings from differences of pairs, computed part by part.

    The result does not depend on the order of the pairs.

    Args:
        differences: Elo difference of each pair of names, first minus second.
        elos: ratings of the rated players, by name.
        margins: uncertainty of every player, by name; None for no intervals.

    >>> found = solve({("Anand", "Ding"): 100}, {"Anand": 2800})
    >>> {name: round(each.rating) for name, each in found.items()}
    {'Anand': 2800, 'Ding': 2700}
    """
    met: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (one, other), difference in differences.items():
        met[one][other] = difference
        met[other][one] = -difference
    found: dict[str, Strength] = {}
    number = 0
    for start in sorted(met):
        if start in found:
            continue
        part = {start}
        edge = [start]
        while edge:
            news = met[edge.pop()].keys() - part
            part |= news
            edge += news
        members = sorted(part)
        at = {member: place for place, member in enumerate(members)}
        # The Laplacian leaves the mean undetermined; the constant added to the matrix
        # sets it to 0.
        matrix = np.full((len(members), len(members)), 1.0 / len(members))
        for member in members:
            matrix[at[member], at[member]] += len(met[member])
            matrix[at[member], [at[other] for other in met[member]]] -= 1.0
        # fsum rounds once, so the result does not depend on the order of the
        # differences.
        sums = np.array([math.fsum(met[member].values()) for member in members])
        relative = np.linalg.solve(matrix, sums)
        rated = [elos[each] - relative[at[each]] for each in members if each in elos]
        shift = math.fsum(rated) / len(rated) if rated else None
        ratings = relative + (shift or 0.0)
        reach = np.full((2, len(members)), np.nan)
        if margins is not None:
            kept = [shift is None or member in elos for member in members]
            reach = distances([margins[member] for member in members], kept)
        ends = (ratings - reach[0], ratings + reach[1])
        for member, own, rating, low, high in zip(
            members,
            *(column.tolist() for column in (relative, ratings, *ends)),
            strict=True,
        ):
            interval = (None, None) if math.isnan(low) else (low, high)
            found[member] = Strength(
                own, None if shift is None else rating, number, *interval
            )
        number += 1
    return found


# --- uncertainty ----------------------------------------------------------------------

#: Number of parts that one point of score is counted in.
SCALE = 10_000

# fmt: off
#: Distribution of usual players' gains: the share of them that a gain beats, ties
#: counting half, from the player-games that the calibrations ``classical`` and
#: ``blitz`` were learned from. Algorithm 2 uses only the rank of a gain, and its
#: interval needs the rank only roughly, so classes are enough. Each entry has the edges
#: of the classes in centipawns (a gain equal to an edge belongs below it) and their
#: scores in parts of ``SCALE``, one more than edges; the last score is the highest that
#: a move can have.
USUAL: dict[GainKind, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "same-search": (
        (-1000, -500, -300, -200, -150, -110, -80, -60, -45, -35, -27, -20, -15, -11,
         -8, -5, -3, -1),
        (16, 44, 90, 183, 316, 500, 762, 1065, 1404, 1749, 2079, 2427, 2765, 3073,
         3319, 3561, 3775, 3929, 7004),
    ),
    "successive": (
        (-1000, -500, -300, -200, -140, -100, -75, -55, -40, -30, -22, -16, -11, -7,
         -4, -2, -1, 0, 1, 3, 6, 10, 15, 22, 32, 50, 100, 300),
        (2, 38, 174, 410, 731, 1153, 1631, 2168, 2777, 3379, 3969, 4569, 5182, 5812,
         6398, 6861, 7155, 7403, 7649, 7923, 8318, 8749, 9139, 9452, 9682, 9835, 9934,
         9985, 9999),
    ),
}
# fmt: on


def distances(
    margins: Sequence[RatingMargins] | Floats, kept: Sequence[bool]
) -> Floats:
    """Return the distances below and above each rating of Algorithm 2 within which the
    true value lies with 95 % probability, Elo.

    All players must be of one connected part.

    Args:
        margins: one row per player.
        kept: for each player, whether the player's rating enters the mean that is kept.

    Returns:
        An array of shape (2, players). It is NaN for a player who is alone in that
        mean: that player's rating is kept by construction.
    """
    squared = np.asarray(margins, dtype=np.float64).reshape(-1, 2).T
    making = np.asarray(kept, dtype=np.bool_)
    n = int(making.sum())
    if not n:
        return np.full(squared.shape, np.nan)
    own = np.where(making, (1 - 1 / n) ** 2 if n > 1 else np.nan, 1.0)
    # If the players in the mean are better than they seem, all others are worse.
    total = squared[:, making].sum(axis=1, keepdims=True)
    others = (total - np.where(making, squared, 0.0))[::-1] / n**2
    found: Floats = np.sqrt(own * squared + np.maximum(0.0, others))
    return found


class Algorithm2:
    """Ratings of all players of an event by Algorithm 2, from their gains and pairings.

    A pair enters Eq. 3 as soon as both players have gains and their expected score is
    neither 0 nor 1, because the difference would be unbounded.

    >>> event = Algorithm2("same-search")
    >>> event.rate("Anand", 2800)
    >>> event.meet("Anand", "Ding")
    >>> for player, gains_cp in (("Anand", [0, -10]), ("Ding", [0, -35])):
    ...     event.add_game(player, gains_cp)
    >>> strengths = event.strengths()
    >>> {player: round(each.rating) for player, each in strengths.items()}
    {'Anand': 2800, 'Ding': 2710}
    """

    def __init__(self, gain: GainKind) -> None:
        self._edges, self._parts = USUAL[gain]
        self._elos: dict[str, float] = {}
        self._met: set[tuple[str, str]] = set()
        self._gains: defaultdict[str, GainHistogram] = defaultdict(GainHistogram)
        self._scores: defaultdict[str, ClusteredScores] = defaultdict(ClusteredScores)

    def rate(self, player: str, elo: int | None) -> None:
        """Set the player's official rating; None for an unrated player."""
        if elo is not None:
            self._elos[player] = elo

    def meet(self, white: str, black: str) -> None:
        """Record that two players met in a game.

        A player paired with the same player is an error of the source, and ignored.
        """
        if white != black:
            self._met.add((min(white, black), max(white, black)))

    def add_game(self, player: str, gains_cp: Iterable[int]) -> None:
        """Add the player's moves of one game. Raises ValueError for a gain out of
        range.
        """
        parts = []
        for gain_cp in gains_cp:
            self._gains[player].add(gain_cp)
            parts.append(self._parts[bisect_left(self._edges, gain_cp)])
        self._scores[player].add(_sum_scores(parts))

    def strengths(self) -> dict[str, Strength]:
        """Return the rating of every player who can be compared."""
        differences = {}
        for one, other in sorted(self._met):
            score = compute_expected_score_between(self._gains[one], self._gains[other])
            difference = None if score is None else convert_score_to_difference(score)
            if difference is not None:
                differences[one, other] = difference
        return solve(differences, self._elos, self.margins())

    def margins(self) -> dict[str, RatingMargins]:
        """Return the uncertainty of each player's own gains, for players with gains."""
        found = {}
        for player, scores in self._scores.items():
            ends = scores.compute_interval(SCALE, self._parts[-1])
            if ends is None:
                continue
            # Kept inside (0, 1), because no player scores nothing at all, or
            # everything.
            at, low, high = (
                convert_score_to_difference(min(max(each, 1 / SCALE), 1 - 1 / SCALE))
                or 0.0
                for each in (scores.total / (scores.n * SCALE), *ends)
            )
            found[player] = RatingMargins((at - low) ** 2, (high - at) ** 2)
        return found
