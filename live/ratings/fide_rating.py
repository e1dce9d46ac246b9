"""FIDE's own figures from results: rating performance and rating change.

Source: FIDE Rating Regulations 2022 with the amendments in force since 1 October 2025,
B.02: 1.4.9, 8.1 and 8.3.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

# fmt: off
#: Rating difference for a share of points from .50 to 1.00 in steps of .01 (8.1.1).
_DP = (
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141,
    149, 158, 166, 175, 184, 193, 202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309,
    322, 336, 351, 366, 383, 401, 422, 444, 470, 501, 538, 589, 677, 800,
)
#: Largest rating difference for an expected share of points from .50 to .99 (8.1.2).
_EXPECTED = (
    3, 10, 17, 25, 32, 39, 46, 53, 61, 68, 76, 83, 91, 98, 106, 113, 121, 129, 137, 145,
    153, 162, 170, 179, 188, 197, 206, 215, 225, 235, 245, 256, 267, 278, 290, 302, 315,
    328, 344, 357, 374, 391, 411, 432, 456, 484, 517, 559, 619, 735,
)
# fmt: on
#: Larger differences count as this (8.3.1); since 1 October 2025 only for players below
#: 2650.
MOST_DIFFERENCE = 400
UNBOUNDED_FROM_ELO = 2650
_UNBOUNDED_SINCE = (2025, 10)
_YEAR_MONTH = re.compile(r"(\d{4})(?:\D(\d{1,2}))?", re.ASCII)


def compute_fide_performance(opponents: Sequence[float], points: float) -> int | None:
    """Return the performance rating in Elo (1.4.9, 8.1.1).

    It is the mean rating of the opponents plus the difference for the share of points.
    Return None without a rated opponent. For a game in progress ``points`` can include
    expected points.
    """
    if not opponents:
        return None
    share = min(max(points / len(opponents), 0.0), 1.0)
    at = round(max(share, 1 - share) * 100) - 50
    difference = _DP[at] if share >= 0.5 else -_DP[at]
    return math.floor(sum(opponents) / len(opponents) + difference + 0.5)


class RatedGame(NamedTuple):
    """One game that counts for a rating."""

    opponent_elo: float
    points: float
    date: str = ""
    """Date as in PGN (``2026.05.01``), or the known part of it."""


def compute_fide_expected_score(
    own_elo: float, opponent_elo: float, date: str = ""
) -> float:
    """Return the share of points expected of the player (8.1.2, 8.3.1).

    A difference of more than 400 counts as 400, except for players rated 2650 and
    above, for whom it counts in full in games since 1 October 2025 (amendment by the
    FIDE Council, https://en.chessbase.com/post/fide-changes-rating-regulations).
    Earlier games follow the previous rule, in force from March 2024; without a ``date``
    the present rule applies.

    >>> compute_fide_expected_score(2800, 1800)
    1.0
    >>> compute_fide_expected_score(2800, 1800, "2025.09.30")
    0.92
    >>> compute_fide_expected_score(1800, 2800)
    0.08
    """
    difference = abs(own_elo - opponent_elo)
    if own_elo < UNBOUNDED_FROM_ELO or _is_before_amendment(date):
        difference = min(difference, MOST_DIFFERENCE)
    of_stronger = (50 + bisect_left(_EXPECTED, difference)) / 100
    return of_stronger if own_elo >= opponent_elo else round(1 - of_stronger, 2)


def _is_before_amendment(date: str) -> bool:
    """Return whether a game was certainly played before 1 October 2025."""
    match = _YEAR_MONTH.match(date)
    if match is None:
        return False
    # If only the year is known, assume its last month.
    return (int(match[1]), int(match[2] or 12)) < _UNBOUNDED_SINCE


def choose_development_coefficient(elo: float) -> int:
    """Return the coefficient K that applies if no rating list gives it (8.3.3).

    It is 10 from 2400 Elo on, otherwise 20. Juniors and new players have 40, but a
    rating alone does not identify them.
    """
    return 10 if elo >= 2400 else 20


def compute_rating_change(
    own_elo: float, games: Sequence[RatedGame], k: float
) -> float:
    """Return the change of a rating by these games, Elo (8.3.2)."""
    return k * math.fsum(
        game.points - compute_fide_expected_score(own_elo, game.opponent_elo, game.date)
        for game in games
    )
