"""Algorithms 2 and 3 with the columns of the paper's Table 4 (Ferreira 2012, section 6). Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from live.events import PlayerView
from live.ratings.ferreira.algorithm_3 import Algorithm3


class FourRow(msgspec.Struct, frozen=True, kw_only=True):
    """One player; figures in Elo but ``expected_score``."""

    id: str
    name: str
    games: int
    moves: int
    elo: int | None
    """``r_i``, the actual rating."""
    strength: float | None
    """``r'_i``, Algorithm 2; null where nobody the player is linked with is rated."""
    strength_low: int | None
    """95 % interval of ``strength``, in whole Elo; null for the only rated player of a group."""
    strength_high: int | None
    expected_score: float
    """``p_i`` against the engine."""
    difference: float | None
    """``d_i``; null where unbounded."""
    engine_by_elo: float | None
    """``r_i - d_i``."""
    engine_by_strength: float | None
    """``r'_i - d_i``."""


class TableFour(msgspec.Struct, frozen=True):
    """All players, highest rated first, and the averages."""

    rows: tuple[FourRow, ...]
    engine_by_elo: float | None
    engine_by_strength: float | None
    missing: str = ""
    """Why an average is null, for people."""


def table_four(
    views: Sequence[PlayerView], engine: Algorithm3, strengths: dict[str, float | None]
) -> TableFour:
    """Join the players with what Algorithms 2 and 3 say of them, by id."""
    players = {view.id: view for view in views}
    rows = [
        FourRow(
            id=row.player,
            name=view.name,
            games=view.games,
            moves=view.moves,
            elo=view.elo,
            strength=strengths.get(row.player),
            strength_low=view.methods.tournament_low if rated else None,
            strength_high=view.methods.tournament_high if rated else None,
            expected_score=view.score or 0.0,
            difference=row.difference,
            engine_by_elo=row.by_elo,
            engine_by_strength=row.by_strength,
        )
        for row in engine.rows
        if (view := players.get(row.player)) is not None
        for rated in (view.methods.tournament_rating is not None,)
    ]
    rows.sort(key=lambda row: (-(row.elo or 0), row.name))
    return TableFour(
        tuple(rows), engine.by_elo, engine.by_strength, "; ".join(_missing(rows, engine))
    )


def _missing(rows: Sequence[FourRow], engine: Algorithm3) -> list[str]:
    if not rows:
        return ["no scored move"]
    reasons = []
    if engine.by_elo is None:
        rated = any(row.elo is not None for row in rows)
        reasons.append(
            "no rated player has a bounded difference from the engine"
            if rated
            else "no player is rated"
        )
    elif engine.by_strength is None:
        reasons.append("no comparison of two players is bounded")
    return reasons
