"""How urgent a search is."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec


class SearchKind(IntEnum):
    """Classes of searches, most urgent first."""

    HEAD = 0
    """The newest position of a live game, and what its last move's gain needs."""
    CLOSING = 1
    """A game that has just ended: screens wait for its last scores, so heads take turns with it."""
    BACKLOG = 2
    """Earlier positions of a live game."""
    FINISHED = 3
    """A game that was over when it was first seen."""
    SPECULATE = 4
    """What the most likely replies will need."""


#: Given up at once when a head waits: nobody waits for these.
YIELDS: Final = (SearchKind.SPECULATE,)


class SearchPriority(msgspec.Struct, frozen=True, gc=False):
    """How urgent a search is, and for whom."""

    kind: SearchKind
    board: str = ""
    """Whose turn it uses up: the game's id."""
    ply: int = 0
    """The move it is for, counted from 1 (0: the starting position). Both the position after
    ply p and the restricted search of the move at ply p carry p. A board's heads before
    ``newest head - 1`` become backlog by themselves."""
    rank: int = 0
    """Lower first, among speculation of all boards."""
