"""Choices among several lines beside what players of one's rating choose. Pure.

Source: Regan and Haworth 2011; needs Multi-PV, and a table for just that engine and limit. What it
finds is for screening: it accuses nobody.
"""

from __future__ import annotations

from functools import lru_cache

from live.events import Intrinsic
from live.ledger.measure import ELO_DECIMALS, Measure, rounded
from live.ratings.regan.intrinsic_rating import IntrinsicCounter, IntrinsicTable
from live.ratings.regan.move_spread import Spread
from live.ratings.regan.projection import NoProjection, Projection, project

SHARE_DECIMALS = 4
Z_DECIMALS = 2

NO_TURN = "no turn that counts yet (from move 9 on, among several lines)"
UNRATED = "no own rating to compare with"


def screened(
    measure: Measure, turns: tuple[Spread, ...], elo: int | None
) -> tuple[Intrinsic | None, dict[str, str]]:
    """The figures, and why any is null, by name. ``elo`` is the player's own rating."""
    if measure.table is None:
        return None, {"intrinsic": measure.table_note}
    if not turns:
        return None, {"intrinsic": NO_TURN}
    figures, reason = _figures(measure.table, turns, elo)
    missing = {} if elo is not None else {"intrinsic_z": UNRATED}
    if reason:
        missing["intrinsic_rating"] = reason
    return figures, missing


# Asked for again with every news of the player, and mostly nothing of it has changed.
@lru_cache(maxsize=2048)
def _figures(
    table: IntrinsicTable, turns: tuple[Spread, ...], elo: int | None
) -> tuple[Intrinsic, str]:
    counter = IntrinsicCounter(table)
    for spread in turns:
        counter.add(spread)
    found = counter.rating
    losses = [spread.loss for spread in turns if spread.loss is not None]
    matches = sum(spread.played == 0 for spread in turns)
    beside = _beside(turns, table, elo)
    return (
        Intrinsic(
            turns=len(turns),
            rating=rounded(found.elo, ELO_DECIMALS),
            low=rounded(found.low, ELO_DECIMALS),
            high=rounded(found.high, ELO_DECIMALS),
            beyond=found.beyond,
            move_match=round(matches / len(turns), SHARE_DECIMALS),
            average_difference=round(sum(losses) / len(turns), SHARE_DECIMALS),
            projected_match=rounded(
                beside.matches.projected / len(turns) if beside else None, SHARE_DECIMALS
            ),
            projected_difference=rounded(
                beside.difference.projected if beside else None, SHARE_DECIMALS
            ),
            match_z=rounded(beside.matches.z if beside else None, Z_DECIMALS),
            difference_z=rounded(beside.difference.z if beside else None, Z_DECIMALS),
            table=table.name,
        ),
        found.reason or "",
    )


def _beside(turns: tuple[Spread, ...], table: IntrinsicTable, elo: int | None) -> Projection | None:
    if elo is None:
        return None
    found = project(turns, table.skill(elo))
    return None if isinstance(found, NoProjection) else found
