"""Which boards a screen shows when it cannot show all, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from live.events import GameView
from live.publish.published_state import game_order


def running_first(views: Sequence[GameView], limit: int) -> list[GameView]:
    """At most ``limit`` games in pairing order. Running games are chosen before finished ones, and
    of these the newest round: nobody scrolls here.
    """
    running = sorted((view for view in views if view.result == "*"), key=game_order)
    finished = sorted((view for view in views if view.result != "*"), key=game_order)
    finished.sort(key=_round, reverse=True)
    return sorted((running + finished)[:limit], key=game_order)


def _round(view: GameView) -> tuple[int, str]:
    """Sources write boards into rounds: 4.12 is board 12 of round 4."""
    _, parts, _, _ = game_order(view)
    return parts[0]
