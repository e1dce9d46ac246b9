"""How positions and moves are asked for: what the modes of the room change in a search."""

from __future__ import annotations

import msgspec

from live.engine.search import Limit, Position, Search


class SearchOptions(msgspec.Struct, frozen=True):
    """The same for everything that feeds one event's figures."""

    lines: int = 1
    """Best moves wanted of each position (Multi-PV). A move among them needs no search of its
    own."""
    same_depth: bool = False
    """Search the move played to the depth the best move was searched to, whatever that takes
    (Alliot 2017, section 2.3), instead of under the limit."""
    quick: Limit | None = None
    """A first look under this limit, replaced when the full search is done."""

    def is_quick(self, search: Search) -> bool:
        """Whether it is part of the first look."""
        return self.quick is not None and search.limit == self.quick

    def whole(self, position: Position, limit: Limit | None = None) -> Search:
        """Of a position; ``limit`` None is the room's own."""
        return Search(position, lines=self.lines, limit=limit)

    def played(
        self, position: Position, move: str, depth: int | None, limit: Limit | None = None
    ) -> Search:
        """Of the move played in a position whose own search reached ``depth``."""
        if self.same_depth and depth:
            limit = Limit(depth=depth)
        return Search(position, only=move, limit=limit)
