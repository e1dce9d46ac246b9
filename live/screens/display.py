"""Choice of the display (terminal app, lines or JSON), and the start of the app."""

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
    """Return the display: JSON on request, the app if the terminal can show it, else
    lines.
    """
    if json:
        return "json"
    if not has_terminal(headless=headless):
        return "lines"
    reason = explain_missing_screen(environment)
    if reason:
        log.warning("no screen, one line is printed for each event: %s", reason)
        return "lines"
    # Imported here, before anything runs: the import takes a third of a second.
    import live.screens.terminal.terminal_app  # noqa: F401

    return "app"


def explain_missing_screen(environment: Mapping[str, str]) -> str:
    """Return why this terminal cannot show the app; an empty string if it can."""
    # The app reads from standard input and draws on standard error.
    if not sys.stdin.isatty():
        return "standard input is not a terminal"
    if not sys.stderr.isatty():
        return "standard error (2>) is not a terminal"
    if environment.get("TERM", "dumb") == "dumb":
        return "TERM says that this terminal cannot draw one"
    return ""


async def run_terminal(context: ViewContext, stop: asyncio.Event) -> None:
    """Show the app until the user leaves it; then set ``stop``."""
    from live.screens.terminal.terminal_app import Terminal

    # NO_COLOR asks for no colours (https://no-color.org).
    theme = PLAIN if os.environ.get("NO_COLOR") else DUSK
    interrupt = partial(signal.raise_signal, signal.SIGINT)
    app = Terminal(context, theme=theme.name, stop=stop.set, interrupt=interrupt)
    await app.run_async()
    if app.return_code:
        raise RuntimeError("the terminal failed")
    # The app has closed, for whatever reason: end the service as well.
    stop.set()
