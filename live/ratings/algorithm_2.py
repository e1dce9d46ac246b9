"""Algorithm 2 of Ferreira 2012: every player's rating from all comparisons of an event."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.events import GainKind
from live.ratings.expected_score import difference_of
from live.ratings.ferreira import RankedGains
from live.ratings.score_interval import ClusteredScores, GameScores

# --- rating differences -------------------------------------------------------------------------

# Ratings from rating differences between pairs of players: the solver of Algorithm 2.
#
# Source: Ferreira 2012, section 5, Eq. 3: ratings r' that make every ``r'_i - r'_j`` as close as
# possible to the difference ``d_ij`` seen between players i and j, in least squares, each pair
# counting the same. The paper iterates until nothing changes. The fixed point is the solution of
# ``L r' = b``, with L the Laplacian matrix of the graph of compared pairs and ``b_i = Σ_j d_ij``,
# so it is solved for directly.
#
# Warm start: L changes only when a new pair meets, while differences change with every move. So
# the inverse is kept for each connected part of the graph, a new difference costs one product of
# matrix and vector, and a new pair within a part costs a rank-one update (Sherman and Morrison
# 1950).
#
# The graph may fall into several parts. Each is anchored on its own rated players, so that their
# mean rating is kept (Algorithm 2, step 4); a part without any has differences only.


#: Rank-one updates before an inverse is computed afresh, so that rounding cannot pile up.
_UPDATES_BEFORE_FRESH = 64


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
    relative: npt.NDArray[np.float64]
    """Elo above the mean of the part."""
    shift: float | None
    """What is added for a rating; None in a part without rated players."""


class Comparisons:
    """The graph of compared players and its least-squares ratings (Ferreira 2012, Eq. 3)."""

    def __init__(self) -> None:
        self._elo: dict[str, float] = {}
        # d_ij of every compared pair, under both players, with opposite signs.
        self._differences: dict[str, dict[str, float]] = {}
        self._part_of: dict[str, _Part] = {}
        self._parts: list[_Part] = []
        # Players whose part no longer fits the graph.
        self._unplaced: set[str] = set()

    def rate(self, player: str, elo: float | None) -> None:
        """Set a player's actual rating; None for unrated."""
        if elo is None:
            self._elo.pop(player, None)
        else:
            self._elo[player] = elo

    def compare(self, player: str, opponent: str, difference: float | None) -> None:
        """Set by how much ``player`` is the stronger, Elo; None takes the comparison away.

        A difference that is unbounded gives no distance, so it is no comparison (None). Raises
        ValueError for one that is not finite, and for a player against themselves.
        """
        if player == opponent:
            raise ValueError(f"player {player!r} cannot be compared with themselves")
        if difference is None:
            self._forget(player, opponent)
            return
        if not math.isfinite(difference):
            raise ValueError(f"difference {difference} of {player!r} and {opponent!r}: use None")
        known = self._differences.setdefault(player, {})
        is_new = opponent not in known
        known[opponent] = difference
        self._differences.setdefault(opponent, {})[player] = -difference
        one, other = self._part_of.get(player), self._part_of.get(opponent)
        if one is not None and one is other:
            if is_new:
                one.connect(player, opponent)
            one.touch(player, opponent)
        else:
            self._displace(player)
            self._displace(opponent)

    def strengths(self) -> dict[str, Strength]:
        """Everyone with at least one comparison: part by part, in order of name."""
        answer: dict[str, Strength] = {}
        for number, part in enumerate(self.parts()):
            shift = part.shift
            for member, value in zip(part.members, part.relative.tolist(), strict=True):
                answer[member] = Strength(value, None if shift is None else value + shift, number)
        return answer

    def parts(self) -> list[Solved]:
        """The same, part by part. What is answered must not be changed."""
        self._place()
        answer = []
        for part in self._parts:
            relative = part.solve(self._differences)
            rated = [
                elo - value
                for member, value in zip(part.members, relative.tolist(), strict=True)
                if (elo := self._elo.get(member)) is not None
            ]
            shift = math.fsum(rated) / len(rated) if rated else None
            answer.append(Solved(part.members, relative, shift))
        return answer

    def _forget(self, player: str, opponent: str) -> None:
        if self._differences.get(player, {}).pop(opponent, None) is None:
            return
        del self._differences[opponent][player]
        for one in (player, opponent):
            if not self._differences[one]:
                del self._differences[one]
        # The part may have fallen apart.
        self._displace(player)
        self._displace(opponent)

    def _displace(self, player: str) -> None:
        part = self._part_of.get(player)
        members: Iterable[str] = (player,) if part is None else part.members
        for member in members:
            self._part_of.pop(member, None)
            self._unplaced.add(member)

    def _place(self) -> None:
        if not self._unplaced:
            return
        while self._unplaced:
            start = self._unplaced.pop()
            if start not in self._differences:
                continue
            members = {start}
            edge = [start]
            while edge:
                for neighbour in self._differences[edge.pop()]:
                    if neighbour not in members:
                        members.add(neighbour)
                        edge.append(neighbour)
            self._unplaced -= members
            part = _Part(sorted(members))
            for member in members:
                self._part_of[member] = part
        distinct = {id(part): part for part in self._part_of.values()}
        self._parts = sorted(distinct.values(), key=lambda part: part.members[0])


class _Part:
    """One connected part: its inverse, and which sums have to be made anew."""

    def __init__(self, members: list[str]) -> None:
        self.members = members
        self._index = {member: i for i, member in enumerate(members)}
        self._inverse: npt.NDArray[np.float64] | None = None
        self._updates = 0
        self._sums = np.zeros(len(members))
        self._stale = set(members)
        self._relative = self._sums

    def connect(self, player: str, opponent: str) -> None:
        """A new pair within this part: (A + u uᵀ)⁻¹ from A⁻¹, with u = e_i - e_j."""
        self._updates += 1
        if self._inverse is None or self._updates > _UPDATES_BEFORE_FRESH:
            self._inverse = None
            return
        i, j = self._index[player], self._index[opponent]
        column = self._inverse[:, i] - self._inverse[:, j]
        self._inverse -= np.outer(column, column / (1.0 + column[i] - column[j]))

    def touch(self, player: str, opponent: str) -> None:
        """Note that the difference of this pair is another now."""
        self._stale.add(player)
        self._stale.add(opponent)

    def solve(self, differences: dict[str, dict[str, float]]) -> npt.NDArray[np.float64]:
        """Ratings relative to the part's mean, one for each of ``members``."""
        if self._inverse is None:
            self._inverse = self._fresh_inverse(differences)
            self._updates = 0
        if self._stale:
            # fsum rounds once, so the order in which differences came cannot show.
            for member in self._stale:
                self._sums[self._index[member]] = math.fsum(differences[member].values())
            self._stale.clear()
            self._relative = self._inverse @ self._sums
        return self._relative

    def _fresh_inverse(self, differences: dict[str, dict[str, float]]) -> npt.NDArray[np.float64]:
        """Inverse of L + 11ᵀ/m: L itself leaves the mean free, this sets it to 0."""
        size = len(self._index)
        matrix = np.full((size, size), 1.0 / size)
        for member, i in self._index.items():
            matrix[i, i] += len(differences[member])
            for neighbour in differences[member]:
                matrix[i, self._index[neighbour]] -= 1.0
        return np.linalg.inv(matrix)


# --- algorithm 2 --------------------------------------------------------------------------------

# Algorithm 2 as the event goes on: every player's rating from all comparisons of the event.
#
# Source: Ferreira 2012, section 5. The difference of two players who have met is taken, as in Table
# 1, from all gains of both over the whole event (Algorithm 1), not from their own game alone. One
# more gain changes the player's difference with each opponent so far, each counted in O(log bins),
# and ``live.ratings.algorithm_2`` solves for the ratings.


class Algorithm2:
    """The gains of all players of an event, who met whom, and Algorithm 2 over them.

    A pair enters Eq. 3 as soon as both have gains and their expected score is neither 0 nor 1:
    an unbounded difference gives no distance.

    >>> event = Algorithm2()
    >>> event.rate("Anand", 2800)
    >>> event.meet("Anand", "Ding")
    >>> for player, gain_cp in (("Anand", 0), ("Anand", -10), ("Ding", 0), ("Ding", -35)):
    ...     event.add(player, gain_cp)
    >>> {player: round(strength.rating) for player, strength in event.strengths().items()}
    {'Anand': 2800, 'Ding': 2710}
    """

    def __init__(self) -> None:
        self._gains: dict[str, RankedGains] = {}
        self._meetings: dict[str, dict[str, _Meeting]] = {}
        self._comparisons = Comparisons()

    def rate(self, player: str, elo: int | None) -> None:
        """Set a player's actual rating; None for unrated."""
        self._comparisons.rate(player, elo)

    def meet(self, white: str, black: str) -> None:
        """Two players sit down to a game. Further games of the same two change nothing, but
        each has to be taken back by its own ``part``. Raises ValueError for one player twice.
        """
        if white == black:
            raise ValueError(f"player {white!r} cannot meet themselves")
        meeting = self._meetings.setdefault(white, {}).get(black)
        if meeting is None:
            meeting = _Meeting(white)
            self._meetings[white][black] = meeting
            self._meetings.setdefault(black, {})[white] = meeting
            meeting.half_points = self._count(white, black)
            self._compare(white, black, meeting)
        meeting.games += 1

    def part(self, white: str, black: str) -> None:
        """Take one game of the two back. Raises ValueError when they have none."""
        meeting = self._meetings.get(white, {}).get(black)
        if meeting is None:
            raise ValueError(f"{white!r} and {black!r} have no game to take back")
        meeting.games -= 1
        if not meeting.games:
            del self._meetings[white][black], self._meetings[black][white]
            self._comparisons.compare(white, black, None)

    def add(self, player: str, gain_cp: int) -> None:
        """One more move; O(opponents · log bins). Raises ValueError for what is no gain."""
        self._gains_of(player).add(gain_cp)
        self._changed(player, gain_cp, 1)

    def remove(self, player: str, gain_cp: int) -> None:
        """Take a move back. Raises ValueError when no such gain is counted."""
        self._gains_of(player).remove(gain_cp)
        self._changed(player, gain_cp, -1)

    def strengths(self) -> dict[str, Strength]:
        """Perceived ratings r' of everyone who can be compared (Algorithm 2, step 4)."""
        return self._comparisons.strengths()

    def parts(self) -> list[Solved]:
        """The same by connected parts, as arrays."""
        return self._comparisons.parts()

    def _changed(self, player: str, gain_cp: int, by: int) -> None:
        for opponent, meeting in self._meetings.get(player, {}).items():
            gains = self._gains_of(opponent)
            won = gains.half_points_of(gain_cp)
            if meeting.first != player:
                won = 2 * gains.histogram.n - won
            meeting.half_points += by * won
            self._compare(player, opponent, meeting)

    def _compare(self, player: str, opponent: str, meeting: _Meeting) -> None:
        pairs = self._gains_of(player).histogram.n * self._gains_of(opponent).histogram.n
        difference = difference_of(meeting.half_points / (2 * pairs)) if pairs else None
        if difference is not None and meeting.first != player:
            difference = -difference
        self._comparisons.compare(player, opponent, difference)

    def _count(self, player: str, opponent: str) -> int:
        against = self._gains_of(opponent)
        return sum(
            count * against.half_points_of(gain_cp)
            for gain_cp, count in self._gains_of(player).histogram
        )

    def _gains_of(self, player: str) -> RankedGains:
        return self._gains.setdefault(player, RankedGains())


class _Meeting:
    """What is counted of two players who have met."""

    __slots__ = ("first", "games", "half_points")

    def __init__(self, first: str) -> None:
        self.first = first
        """The player whose score ``half_points`` is."""
        self.games = 0
        self.half_points = 0


# --- algorithm 2 interval -----------------------------------------------------------------------

# 95 % intervals for the ratings of Algorithm 2, which the paper gives as points only.
#
# Algorithm 2 (Ferreira 2012, section 5) rates players by their comparisons with each other. To
# first order an error of one player's gains shifts all that player's comparisons alike, by
# ``η_i`` Elo, so that ``b = L η`` in Eq. 3, and the least-squares ratings err by ``η_i`` less the
# mean of ``η`` over those whose mean is kept. So each player's own uncertainty is all that is
# needed: that of an expected score against usual gains, clustered by game
# (``live.ratings.score_interval``), on the Elo scale. That is O(1) a move and O(players) for the
# intervals of all.
#
# Ends are put together as those of independent estimates (Zou and Donner 2008, *Construction of
# confidence limits about effect measures*, section 2), so they need not be symmetric.


Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: A score is counted in so many parts of one point.
SCALE = 10_000

_NO_MOVES = GameScores(0, 0, 0)


class UsualGains(NamedTuple):
    """How usual players' gains are distributed: what share of them a gain beats, ties halved.

    Only the rank of a gain matters to Algorithm 2, and its interval needs to know that only
    roughly, so classes do.
    """

    edges_cp: tuple[int, ...]
    """A gain equal to an edge belongs below it."""
    parts: tuple[int, ...]
    """Of ``SCALE``, one more than edges."""

    def of(self, gain_cp: int) -> int:
        return self.parts[bisect_left(self.edges_cp, gain_cp)]

    @property
    def ceiling(self) -> int:
        """The most that a move can score."""
        return self.parts[-1]


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


class PlayerMargins:
    """One player's gains by game. Adding and removing a gain are O(1) and exact."""

    __slots__ = ("_games", "_margins", "_scores", "_usual")

    def __init__(self, gain: GainKind) -> None:
        self._usual = USUAL[gain]
        self._games: dict[str, GameScores] = {}
        self._scores = ClusteredScores()
        self._margins: RatingMargins | None = None

    def add(self, game: str, gain_cp: int) -> None:
        self._count(game, gain_cp, 1)

    def remove(self, game: str, gain_cp: int) -> None:
        """Raises ValueError when the game has no gain to take back."""
        if game not in self._games:
            raise ValueError(f"no gain of game {game!r} to take back")
        self._count(game, gain_cp, -1)

    def forget_games(self) -> None:
        """What was added stays, and no move of it can be taken back any more."""
        self._games.clear()

    def _count(self, game: str, gain_cp: int, sign: int) -> None:
        old = self._games.get(game, _NO_MOVES)
        parts = self._usual.of(gain_cp)
        new = GameScores(old.n + sign, old.total + sign * parts, old.squares + sign * parts * parts)
        self._scores.remove(old)
        self._scores.add(new)
        if new.n:
            self._games[game] = new
        else:
            del self._games[game]
        self._margins = None

    @property
    def margins(self) -> RatingMargins | None:
        """None without a move."""
        if self._margins is None:
            ends = self._scores.interval(SCALE, self._usual.ceiling)
            if ends is None:
                return None
            score = self._scores.total / (self._scores.n * SCALE)
            # No move scores nothing at all, and one that scores all is not possible.
            at, low, high = (
                difference_of(min(max(each, 1 / SCALE), 1 - 1 / SCALE)) for each in (score, *ends)
            )
            assert at is not None and low is not None and high is not None
            self._margins = RatingMargins((at - low) ** 2, (high - at) ** 2)
        return self._margins


def distances(margins: Sequence[RatingMargins] | Floats, kept: Bools) -> tuple[Floats, Floats]:
    """How far below and above each rating of Algorithm 2 the truth may lie with 95 %, Elo.

    For the players of one connected part: ``margins`` and ``kept``, who of them make the mean that
    is kept, have a row for each, and so have both answers. They are NaN for one who makes that
    mean alone: that rating is the player's own, by construction.
    """
    below, above = np.asarray(margins).reshape(-1, 2).T
    n = int(kept.sum())
    if not n:
        nothing = np.full(len(below), np.nan)
        return nothing, nothing
    own = np.where(kept, (1 - 1 / n) ** 2, 1.0)
    if n == 1:
        own = np.where(kept, np.nan, own)
    # When those who make the mean are better than they seem, all others are worse.
    others_below = (below[kept].sum() - np.where(kept, below, 0.0)) / n**2
    others_above = (above[kept].sum() - np.where(kept, above, 0.0)) / n**2
    return (
        np.sqrt(own * below + np.maximum(0.0, others_above)),
        np.sqrt(own * above + np.maximum(0.0, others_below)),
    )
