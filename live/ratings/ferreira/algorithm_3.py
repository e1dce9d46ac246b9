"""Algorithm 3: the engine's rating from players whose ratings are known.

Source: Ferreira 2012, section 6 and Table 4. The batch form, with both columns of the table; the
service runs the first column live, see ``live.ratings.ferreira.field_engine_rating``.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

from live.events import GainKind
from live.ratings.expected_score import difference_of
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.ferreira.engine_distribution import SpikeAtZero


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


class PlayedGains(NamedTuple):
    """One rated player's gains of one game."""

    player: str
    elo: int
    """At the time."""
    gains_cp: tuple[int, ...]


def rating_by_moves(games: Iterable[PlayedGains], gain: GainKind) -> float | None:
    """Algorithm 3 over the players of ``games``, weighted by their moves, in Elo.

    Each player's gains are pooled and measured against a spike at 0 (Ferreira 2012, section 6);
    his rating is the mean over his moves. None when no player's difference is bounded.
    """
    rated: dict[str, tuple[Algorithm4, list[int]]] = {}
    for game in games:
        pooled, elos = rated.setdefault(
            game.player, (Algorithm4(engine=SpikeAtZero(), gain=gain), [])
        )
        for gain_cp in game.gains_cp:
            pooled.add(gain_cp)
        elos.append(game.elo * len(game.gains_cp))
    total = weight = 0.0
    for pooled, elos in rated.values():
        if pooled.difference is not None:
            total += sum(elos) - pooled.n * pooled.difference
            weight += pooled.n
    return round(total / weight, 1) if weight else None


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
