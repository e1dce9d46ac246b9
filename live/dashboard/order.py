"""Which boards a screen shows when it cannot show all, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from live.events import GameView


def board_order(view: GameView) -> tuple[str, str, int, str]:
    """Event, round, board number, id: the order of the pairing list."""
    return view.event, view.round, view.board if view.board is not None else 1 << 30, view.id


def running_first(views: Sequence[GameView], limit: int) -> list[GameView]:
    """At most ``limit`` games in pairing order; running games are chosen before finished ones."""
    running = sorted((view for view in views if view.result == "*"), key=board_order)
    finished = sorted((view for view in views if view.result != "*"), key=board_order)
    return sorted((running + finished)[:limit], key=board_order)
