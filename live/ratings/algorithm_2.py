"""Algorithm 2 of Ferreira 2012: ratings of players from the differences of pairs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from live.messages.figures import GainKind
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.ferreira import Floats, compute_expected_score_between, sum_scores
from live.ratings.gains import GainHistogram
from live.ratings.score_interval import ClusteredScores


class Strength(NamedTuple):
    """One player's rating by Algorithm 2, unrounded."""

    relative: float
    """Elo above the mean of all players who are connected with this player by pairs."""
    rating: float | None
    """Perceived rating r', Elo; None if no connected player is rated."""
    part: int
    """Number of the group of connected players, from 0. Only players of the same group
    can be compared.
    """
    low: float | None = None
    """Lower end of the 95 % interval of ``rating``, or of ``relative`` if no connected
    player is rated.

    None for the only rated player of a group, and if no margins are known.
    """
    high: float | None = None


class RatingMargins(NamedTuple):
    """Squared distances from a player's estimated rating to the ends of its interval,
    Elo².
    """

    below: float
    above: float


def solve_differences(
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

    >>> strengths = solve_differences({("Anand", "Ding"): 100}, {"Anand": 2800})
    >>> {name: round(strength.rating) for name, strength in strengths.items()}
    {'Anand': 2800, 'Ding': 2700}
    """
    differences_of: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (first, second), difference in differences.items():
        differences_of[first][second] = difference
        differences_of[second][first] = -difference
    strengths: dict[str, Strength] = {}
    for number, members in enumerate(_list_parts(differences_of)):
        relative = _solve_part(members, differences_of)
        is_rated = [member in elos for member in members]
        leads = [
            elos[member] - own
            for member, own in zip(members, relative, strict=True)
            if member in elos
        ]
        shift = math.fsum(leads) / len(leads) if leads else None
        ratings = relative + (shift or 0.0)
        reach = np.full((2, len(members)), np.nan)
        if margins is not None:
            is_kept = is_rated if leads else [True] * len(members)
            reach = compute_reaches([margins[member] for member in members], is_kept)
        for at, member in enumerate(members):
            rating = float(ratings[at])
            below, above = reach[:, at].tolist()
            strengths[member] = Strength(
                float(relative[at]),
                None if shift is None else rating,
                number,
                None if math.isnan(below) else rating - below,
                None if math.isnan(above) else rating + above,
            )
    return strengths


def _list_parts(differences_of: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """Return the connected parts of the graph of all differences, each
    sorted by name.
    """
    parts: list[list[str]] = []
    placed: set[str] = set()
    for start in sorted(differences_of):
        if start in placed:
            continue
        part = {start}
        edge = [start]
        while edge:
            reached = differences_of[edge.pop()].keys() - part
            part |= reached
            edge += reached
        placed |= part
        parts.append(sorted(part))
    return parts


def _solve_part(
    members: Sequence[str], differences_of: Mapping[str, Mapping[str, float]]
) -> Floats:
    """Return the least-squares strengths of one part, whose mean is 0, shape
    (members,).
    """
    at = {member: place for place, member in enumerate(members)}
    # The Laplacian does not determine the mean. The constant added to the matrix makes
    # the mean 0.
    matrix = np.full((len(members), len(members)), 1.0 / len(members))
    for member in members:
        neighbours = [at[neighbour] for neighbour in differences_of[member]]
        matrix[at[member], at[member]] += len(neighbours)
        matrix[at[member], neighbours] -= 1.0
    # fsum rounds once, so the result does not depend on the order of the differences.
    sums = [math.fsum(differences_of[member].values()) for member in members]
    return np.linalg.solve(matrix, np.array(sums))


#: One point of score is counted in this many parts.
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


def compute_reaches(
    margins: Sequence[RatingMargins] | Floats, is_kept: Sequence[bool]
) -> Floats:
    """Return the distances from each rating of Algorithm 2 to the ends of its 95 %
    interval.

    All players must belong to one connected part.

    Args:
        margins: one row per player.
        is_kept: for each player, whether the player's rating enters the mean that is
            fixed.

    Returns:
        The distances downwards and upwards, Elo, shape (2, players). They are NaN for a
        player who is alone in the fixed mean, since that player's rating is fixed.
    """
    squared = np.asarray(margins, dtype=np.float64).reshape(-1, 2).T
    making = np.asarray(is_kept, dtype=np.bool_)
    n = int(making.sum())
    if not n:
        return np.full(squared.shape, np.nan)
    own = np.where(making, (1 - 1 / n) ** 2 if n > 1 else np.nan, 1.0)
    # If the players in the fixed mean are better than their ratings suggest, all other
    # players are worse.
    total = squared[:, making].sum(axis=1, keepdims=True)
    other_total = (total - np.where(making, squared, 0.0))[::-1] / n**2
    reach: Floats = np.sqrt(own * squared + np.maximum(0.0, other_total))
    return reach


class Algorithm2:
    """Ratings of all players of an event by Algorithm 2, from their gains and pairings.

    A pair enters Eq. 3 as soon as both players have gains and their expected score is
    neither 0 nor 1, because the difference would be unbounded.

    >>> event = Algorithm2("same-search")
    >>> event.rate("Anand", 2800)
    >>> event.record_pairing("Anand", "Ding")
    >>> for player, gains_cp in (("Anand", [0, -10]), ("Ding", [0, -35])):
    ...     event.add_game(player, gains_cp)
    >>> strengths = event.solve_strengths()
    >>> {player: round(each.rating) for player, each in strengths.items()}
    {'Anand': 2800, 'Ding': 2710}
    """

    def __init__(self, gain: GainKind) -> None:
        self._edges, self._parts = USUAL[gain]
        self._elos: dict[str, float] = {}
        self._pairs: set[tuple[str, str]] = set()
        self._gains: defaultdict[str, GainHistogram] = defaultdict(GainHistogram)
        self._scores: defaultdict[str, ClusteredScores] = defaultdict(ClusteredScores)

    def rate(self, player: str, elo: int | None) -> None:
        """Set the player's official rating; None for an unrated player."""
        if elo is not None:
            self._elos[player] = elo

    def record_pairing(self, white: str, black: str) -> None:
        """Record that two players met in a game.

        A game of a player against himself is an error of the source, and is ignored.
        """
        if white != black:
            self._pairs.add((min(white, black), max(white, black)))

    def add_game(self, player: str, gains_cp: Iterable[int]) -> None:
        """Add the player's moves of one game.

        Raises ValueError for a gain out of range.
        """
        parts = []
        for gain_cp in gains_cp:
            self._gains[player].add(gain_cp)
            parts.append(self._parts[bisect_left(self._edges, gain_cp)])
        self._scores[player].add(sum_scores(parts))

    def solve_strengths(self) -> dict[str, Strength]:
        """Return the rating of every player who is connected with others by pairs, by
        name.
        """
        differences = {}
        for first, second in sorted(self._pairs):
            gains = self._gains[first], self._gains[second]
            score = compute_expected_score_between(*gains)
            difference = convert_score_to_difference(score)
            if difference is not None:
                differences[first, second] = difference
        return solve_differences(differences, self._elos, self.compute_margins())

    def compute_margins(self) -> dict[str, RatingMargins]:
        """Return the uncertainty of each player's own gains, for all players with
        gains.
        """
        margins = {}
        for player, scores in self._scores.items():
            ends = scores.compute_interval(SCALE, self._parts[-1])
            if ends is None:
                continue
            # Limited to the inside of (0, 1), because the difference is unbounded at 0
            # and 1.
            at, low, high = (
                convert_score_to_difference(min(max(share, 1 / SCALE), 1 - 1 / SCALE))
                or 0.0
                for share in (scores.total / (scores.n * SCALE), *ends)
            )
            margins[player] = RatingMargins((at - low) ** 2, (high - at) ** 2)
        return margins
