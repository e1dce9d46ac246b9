"""Algorithm 2 of Ferreira 2012: every player's rating from all comparisons of an event.

The difference of two players who have met is taken, as in Table 1, from all gains of both over the
whole event (Algorithm 1), not from their own game alone. Ratings r' are those that make every
``r'_i - r'_j`` as close as possible to the difference ``d_ij`` seen, in least squares, each pair
counting the same (section 5, Eq. 3). The paper iterates until nothing changes; the fixed point is
the solution of ``L r' = b``, with L the Laplacian matrix of the graph of compared pairs and
``b_i = sum_j d_ij``, so it is solved for directly. The graph may fall into several parts. Each is
anchored on its own rated players, so that their mean rating is kept (step 4); a part without any
has differences only.

The paper gives points only. For 95 % intervals: to first order an error of one player's gains
shifts all that player's comparisons alike, by ``eta_i`` Elo, so that ``b = L eta``, and the ratings
err by ``eta_i`` less the mean of ``eta`` over those whose mean is kept. So each player's own
uncertainty is all that is needed: that of an expected score against usual gains, clustered by game
(:mod:`live.ratings.score_interval`), on the Elo scale. Ends are put together as those of
independent estimates (Zou and Donner 2008, *Construction of confidence limits about effect
measures*, section 2), so they need not be symmetric.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.events import GainKind
from live.ratings.expected_score import difference_of
from live.ratings.gain import GainHistogram, expected_score_between
from live.ratings.score_interval import ClusteredScores, GameScores

Floats = npt.NDArray[np.float64]


class Strength(NamedTuple):
    """What Algorithm 2 says about one player."""

    relative: float
    """Elo above the mean of the part of the graph that the player belongs to."""
    rating: float | None
    """Perceived rating r', Elo; None in a part without rated players."""
    part: int
    """Number of the part, from 0. Only players of one part can be compared."""


class Solved(NamedTuple):
    """The ratings of one part of the graph, unrounded; arrays have shape (members,)."""

    members: list[str]
    """In order of name."""
    relative: Floats
    """Elo above the mean of the part."""
    shift: float | None
    """What is added for a rating; None in a part without rated players."""


def solve(differences: Mapping[tuple[str, str], float], elos: Mapping[str, float]) -> list[Solved]:
    """Least-squares ratings from differences of pairs, part by part; ``elos`` of rated players.

    >>> [part] = solve({("Anand", "Ding"): 100}, {"Anand": 2800})
    >>> (part.relative + part.shift).round().tolist()
    [2800.0, 2700.0]
    """
    met: dict[str, dict[str, float]] = {}
    for (one, other), difference in differences.items():
        met.setdefault(one, {})[other] = difference
        met.setdefault(other, {})[one] = -difference
    found, placed = [], set[str]()
    for start in sorted(met):
        if start in placed:
            continue
        part, edge = {start}, [start]
        while edge:
            news = met[edge.pop()].keys() - part
            part |= news
            edge += news
        placed |= part
        members = sorted(part)
        at = {member: place for place, member in enumerate(members)}
        # The Laplacian leaves the mean free: what is added to all of it sets it to 0.
        matrix = np.full((len(members), len(members)), 1.0 / len(members))
        for member, others in ((each, met[each]) for each in members):
            matrix[at[member], at[member]] += len(others)
            matrix[at[member], [at[other] for other in others]] -= 1.0
        # fsum rounds once, so the order in which differences came cannot show.
        sums = np.array([math.fsum(met[member].values()) for member in members])
        relative = np.linalg.solve(matrix, sums)
        rated = [elos[each] - relative[at[each]] for each in members if each in elos]
        found.append(Solved(members, relative, math.fsum(rated) / len(rated) if rated else None))
    return found


def strengths_of(parts: Iterable[Solved]) -> dict[str, Strength]:
    """Everyone with at least one comparison: part by part, in order of name."""
    return {
        member: Strength(value, None if part.shift is None else value + part.shift, number)
        for number, part in enumerate(parts)
        for member, value in zip(part.members, part.relative.tolist(), strict=True)
    }


# --- uncertainty ----------------------------------------------------------------------------------

#: A score is counted in so many parts of one point.
SCALE = 10_000


class UsualGains(NamedTuple):
    """How usual players' gains are distributed: what share of them a gain beats, ties halved.

    Only the rank of a gain matters to Algorithm 2, and its interval needs to know that only
    roughly, so classes do.
    """

    edges_cp: tuple[int, ...]
    """A gain equal to an edge belongs below it."""
    parts: tuple[int, ...]
    """Of ``SCALE``, one more than edges; the last is the most that a move can score."""

    def of(self, gain_cp: int) -> int:
        return self.parts[bisect_left(self.edges_cp, gain_cp)]


# fmt: off
#: From the player-games that the calibrations ``classical`` and ``blitz`` were learned from.
USUAL: dict[GainKind, UsualGains] = {
    "same-search": UsualGains(
        (-1000, -500, -300, -200, -150, -110, -80, -60, -45, -35, -27, -20, -15, -11, -8, -5, -3,
         -1),
        (16, 44, 90, 183, 316, 500, 762, 1065, 1404, 1749, 2079, 2427, 2765, 3073, 3319, 3561,
         3775, 3929, 7004),
    ),
    "successive": UsualGains(
        (-1000, -500, -300, -200, -140, -100, -75, -55, -40, -30, -22, -16, -11, -7, -4, -2, -1, 0,
         1, 3, 6, 10, 15, 22, 32, 50, 100, 300),
        (2, 38, 174, 410, 731, 1153, 1631, 2168, 2777, 3379, 3969, 4569, 5182, 5812, 6398, 6861,
         7155, 7403, 7649, 7923, 8318, 8749, 9139, 9452, 9682, 9835, 9934, 9985, 9999),
    ),
}
# fmt: on


class RatingMargins(NamedTuple):
    """How far a player's true strength may lie below and above the estimate, Elo; squared."""

    below: float
    above: float


def distances(margins: Sequence[RatingMargins] | Floats, kept: Sequence[bool]) -> Floats:
    """How far below and above each rating of Algorithm 2 the truth may lie with 95 %, Elo.

    For the players of one connected part: ``margins`` and ``kept``, who of them make the mean that
    is kept, have a row for each; the answer has shape (2, players). It is NaN for one who makes
    that mean alone: that rating is the player's own, by construction.
    """
    squared = np.asarray(margins, dtype=np.float64).reshape(-1, 2).T
    making = np.asarray(kept, dtype=np.bool_)
    n = int(making.sum())
    if not n:
        return np.full(squared.shape, np.nan)
    own = np.where(making, (1 - 1 / n) ** 2 if n > 1 else np.nan, 1.0)
    # When those who make the mean are better than they seem, all others are worse.
    total = squared[:, making].sum(axis=1, keepdims=True)
    others = (total - np.where(making, squared, 0.0))[::-1] / n**2
    found: Floats = np.sqrt(own * squared + np.maximum(0.0, others))
    return found


class Algorithm2:
    """The gains of all players of an event, who met whom, and what follows.

    A pair enters Eq. 3 as soon as both have gains and their expected score is neither 0 nor 1:
    an unbounded difference gives no distance.

    >>> event = Algorithm2("same-search")
    >>> event.rate("Anand", 2800)
    >>> event.meet("Anand", "Ding")
    >>> for player, gains_cp in (("Anand", [0, -10]), ("Ding", [0, -35])):
    ...     event.add_game(player, gains_cp)
    >>> {player: round(strength.rating) for player, strength in event.strengths().items()}
    {'Anand': 2800, 'Ding': 2710}
    """

    def __init__(self, gain: GainKind) -> None:
        self._usual = USUAL[gain]
        self._elos: dict[str, float] = {}
        self._met: set[tuple[str, str]] = set()
        self._gains: dict[str, GainHistogram] = {}
        self._scores: dict[str, ClusteredScores] = {}

    def rate(self, player: str, elo: int | None) -> None:
        """The player's own rating; None for unrated."""
        if elo is not None:
            self._elos[player] = elo

    def meet(self, white: str, black: str) -> None:
        """Two players sit down to a game; somebody against themselves is a slip of the source."""
        if white != black:
            self._met.add((min(white, black), max(white, black)))

    def add_game(self, player: str, gains_cp: Iterable[int]) -> None:
        """The player's moves of one game. Raises ValueError for what is no gain."""
        gains = self._gains.setdefault(player, GainHistogram())
        parts = []
        for gain_cp in gains_cp:
            gains.add(gain_cp)
            parts.append(self._usual.of(gain_cp))
        scores = self._scores.setdefault(player, ClusteredScores())
        scores.add(GameScores(len(parts), sum(parts), sum(each * each for each in parts)))

    def parts(self) -> list[Solved]:
        """Everyone who can be compared, unrounded."""
        nobody = GainHistogram()
        differences = {}
        for one, other in sorted(self._met):
            score = expected_score_between(
                self._gains.get(one, nobody), self._gains.get(other, nobody)
            )
            difference = None if score is None else difference_of(score)
            if difference is not None:
                differences[one, other] = difference
        return solve(differences, self._elos)

    def strengths(self) -> dict[str, Strength]:
        """The same, by player."""
        return strengths_of(self.parts())

    def ends(self, part: Solved, known: Mapping[str, RatingMargins]) -> tuple[Floats, Floats]:
        """Both ends of everybody's 95 % interval, of the difference where nobody of the part is
        rated; NaN where there is none: for the only rated player of a part. ``known``:
        :meth:`margins`.
        """
        kept = [part.shift is None or member in self._elos for member in part.members]
        below, above = distances([known[member] for member in part.members], kept)
        middle = part.relative + (part.shift or 0.0)
        return middle - below, middle + above

    def intervals(self) -> dict[str, tuple[float, float]]:
        """:meth:`ends` of all parts, of those who have them."""
        known = self.margins()
        return {
            member: (float(low), float(high))
            for part in self.parts()
            for member, low, high in zip(part.members, *self.ends(part, known), strict=True)
            if not math.isnan(low)
        }

    def margins(self) -> dict[str, RatingMargins]:
        """How uncertain each player's own gains are, for those who have any."""
        found = {}
        for player, scores in self._scores.items():
            ends = scores.interval(SCALE, self._usual.parts[-1])
            if ends is None:
                continue
            # No move scores nothing at all, and one that scores all is not possible.
            at, low, high = (
                difference_of(min(max(each, 1 / SCALE), 1 - 1 / SCALE)) or 0.0
                for each in (scores.total / (scores.n * SCALE), *ends)
            )
            found[player] = RatingMargins((at - low) ** 2, (high - at) ** 2)
        return found
