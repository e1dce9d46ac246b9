"""Which move a ply is, and who makes it, counted from the start position. Pure."""

from __future__ import annotations

from live.events import Color, GameView


def move_number(game: GameView, ply: int) -> tuple[int, bool]:
    """The move number of a ply, and whether White makes it."""
    fields = game.start_fen.split()
    first = max(1, int(fields[5])) if len(fields) > 5 and fields[5].isdecimal() else 1
    offset = ply - 1 + (fields[1:2] == ["b"])
    return first + offset // 2, offset % 2 == 0


def mover(game: GameView, ply: int) -> Color:
    """Who makes a ply."""
    return "white" if move_number(game, ply)[1] else "black"
