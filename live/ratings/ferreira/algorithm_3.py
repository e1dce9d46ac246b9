"""Algorithm 3: the engine's rating from players whose ratings are known.

Source: Ferreira 2012, section 6 and Table 4. The batch form, with both columns of the table; the
service runs the first column live, see ``live.ratings.ferreira.field_engine_rating``.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

from live.ratings.expected_score import difference_of


class MeasuredPlayer(NamedTuple):
    """What Algorithm 3 needs of a player."""

    player: str
    expected_score: float
    """Against the engine (Algorithm 1, step 4), in [0, 1]."""
    elo: float | None = None
    """The actual rating r_i; None when unrated."""
    strength: float | None = None
    """The perceived rating r'_i of Algorithm 2, where there is one."""


class EngineEstimate(NamedTuple):
    """One row of Table 4: what one player says about the engine, in Elo."""

    player: str
    difference: float | None
    """d_i, the player against the engine; None where unbounded."""
    by_elo: float | None
    """r_i - d_i; None without a rating or a bounded difference."""
    by_strength: float | None
    """r'_i - d_i; likewise."""


class Algorithm3(NamedTuple):
    """Table 4: the rows and the average of each column, in Elo (None for an empty column)."""

    rows: tuple[EngineEstimate, ...]
    by_elo: float | None
    by_strength: float | None


def engine_strength(players: Iterable[MeasuredPlayer]) -> Algorithm3:
    """Run Algorithm 3, every player counting the same (Ferreira 2012, section 6).

    A player whose expected score is 0 or 1 has no bounded difference and enters no average.
    Raises ValueError for a score outside [0, 1].

    >>> found = engine_strength([MeasuredPlayer("Anand", 0.4, elo=2800)])
    >>> round(found.rows[0].difference, 1)
    -71.7
    >>> round(found.by_elo, 1)
    2871.7
    """
    rows = tuple(_estimate(player) for player in players)
    return Algorithm3(
        rows,
        _mean(row.by_elo for row in rows),
        _mean(row.by_strength for row in rows),
    )


def _estimate(player: MeasuredPlayer) -> EngineEstimate:
    difference = difference_of(player.expected_score)
    return EngineEstimate(
        player.player,
        difference,
        None if difference is None or player.elo is None else player.elo - difference,
        None if difference is None or player.strength is None else player.strength - difference,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
