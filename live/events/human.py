"""What players of a rating would play, beside what was played."""

from __future__ import annotations

from typing import Literal

import msgspec

Mark = Literal["find", "trap"]


class RatingShare(msgspec.Struct, frozen=True, gc=False):
    """How many players of one rating would play a move."""

    elo: int
    share: float
    """0 to 1, to thousandths; 0: fewer than 1 in 200."""


class DifficultyView(msgspec.Struct, frozen=True, gc=False):
    """How hard a position is for players of the rating of the player to move."""

    elo: int | None
    """That rating, in hundreds, within those that the network of human moves learned; null for a
    network that knows no ratings."""
    best: str
    """The engine's first choice, UCI."""
    best_share: float | None = None
    """0 to 1: how many would find ``best``; null until a short search has said what the other moves
    lose, and where it is a promotion to a lesser piece."""
    best_references: tuple[RatingShare, ...] = ()
    """The same for players of other ratings."""
    error_chance: float | None = None
    """0 to 1: how many would lose a pawn or more with their move; null until a short search has
    said what the moves lose."""
    expected_loss_cp: int | None = None
    """What they would lose on average, centipawns."""
