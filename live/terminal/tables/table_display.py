"""The live terminal: draws a frame at a fixed rate, whatever the pace of the event.

Loss policy state → terminal: at a fixed rate; what changed twice between two frames is seen once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from rich.console import Console
from rich.live import Live

from live.publish.published_state import PublishedState
from live.terminal.alerts.alert_list import asking
from live.terminal.boards.board_order import running_first
from live.terminal.tables.boards_table import BoardsTableInput, boards_that_fit, screen

#: Time between frames, seconds.
FRAME_S = 0.25


def frame(
    source: PublishedState, address: str, *, height: int, trouble: str = ""
) -> BoardsTableInput:
    """What the terminal shows now: the boards that moved last, in board order."""
    views = list(source.games())
    shown = running_first(views, boards_that_fit(height))
    games = [game for view in shown if (game := source.game(view.id)) is not None]
    return BoardsTableInput(
        engine=source.engine(),
        gain=source.gain(),
        address=address,
        games=games,
        games_in_all=len(views),
        feeds=source.feeds(),
        engines=source.engines(),
        alerting=asking(source.alerts()),
        trouble=trouble,
    )


async def display(
    source: PublishedState,
    address: str,
    console: Console,
    *,
    status: Callable[[], str] = lambda: "",
) -> None:
    """Draw until cancelled, on the terminal's alternate screen. ``status`` says what is wrong with
    the connection; empty while nothing is.
    """
    with Live(console=console, auto_refresh=False, screen=True) as live:
        while True:
            size = console.size
            view = frame(source, address, height=size.height, trouble=status())
            live.update(screen(view, width=size.width), refresh=True)
            await asyncio.sleep(FRAME_S)
