"""Ratings from rating differences between pairs of players: the solver of Algorithm 2.

Source: Ferreira 2012, section 5, Eq. 3: ratings r' that make every ``r'_i - r'_j`` as close as
possible to the difference ``d_ij`` seen between players i and j, in least squares, each pair
counting the same. The paper iterates until nothing changes. The fixed point is the solution of
``L r' = b``, with L the Laplacian matrix of the graph of compared pairs and ``b_i = Σ_j d_ij``, so
it is solved for directly.

Warm start: L changes only when a new pair meets, while differences change with every move. So the
inverse is kept for each connected part of the graph, a new difference costs one product of matrix
and vector, and a new pair within a part costs a rank-one update (Sherman and Morrison 1950).

The graph may fall into several parts. Each is anchored on its own rated players, so that their
mean rating is kept (Algorithm 2, step 4); a part without any has differences only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
