"""The choice between terminal app, lines and JSON, and the start of the app."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

from live.process.signals import has_terminal
from live.screens.terminal.text import DUSK, PLAIN

if TYPE_CHECKING:
    from live.screens.terminal.view_context import ViewContext

log = logging.getLogger(__name__)

Display = Literal["app", "lines", "json"]


def choose_display(
    *,
    headless: bool = False,
    json: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Display:
    """Return how events are shown.

    JSON is used on request, the app if the terminal can draw it, and lines otherwise.
    """
    if json:
        return "json"
    if not has_terminal(headless=headless):
        return "lines"
    reason = explain_missing_screen(environment)
    if reason:
        log.warning("no terminal app, each event is printed as a line: %s", reason)
        return "lines"
    return "app"


def import_display(shown: Display) -> None:
    """Import what the display needs; the app takes a third of a second."""
    if shown == "app":
        import live.screens.terminal.terminal_app  # noqa: F401


def explain_missing_screen(environment: Mapping[str, str]) -> str:
    """Return why this terminal cannot show the app; an empty string if it can."""
    # The app reads from standard input and draws on standard error.
    if not sys.stdin.isatty():
        return "standard input is not a terminal"
    if not sys.stderr.isatty():
        return "standard error (2>) is not a terminal"
    if environment.get("TERM", "dumb") == "dumb":
        return "TERM says that this terminal cannot draw the app"
    return ""


async def run_terminal(context: ViewContext, stop: asyncio.Event) -> None:
    """Show the app until the user leaves it; then set ``stop``, which ends the service.

    Raises:
        RuntimeError: the app ended with an error.
    """
    from live.screens.terminal.terminal_app import Terminal

    # NO_COLOR asks for no colours (https://no-color.org).
    theme = PLAIN if os.environ.get("NO_COLOR") else DUSK
    interrupt = partial(signal.raise_signal, signal.SIGINT)
    app = Terminal(context, theme=theme.name, stop=stop.set, interrupt=interrupt)
    await app.run_async()
    if app.return_code:
        raise RuntimeError("the terminal failed")
    # The service must not run on without the display that the user closed.
    stop.set()
