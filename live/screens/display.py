"""Whether this terminal can show the app, and the app itself."""

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
    """Return ``app`` at a terminal that can show it, else what suits the reader."""
    if json:
        return "json"
    if not has_terminal(headless=headless):
        return "lines"
    why = explain_missing_screen(environment)
    if why:
        log.warning("no screen, one line is printed for each event: %s", why)
        return "lines"
    # Now, before anything runs: it takes a third of a second.
    import live.screens.terminal.terminal_app  # noqa: F401

    return "app"


def explain_missing_screen(environment: Mapping[str, str]) -> str:
    """Say why a terminal with our output cannot show the app; empty where it can."""
    # The app reads from standard input and draws on standard error.
    if not sys.stdin.isatty():
        return "standard input is not a terminal"
    if not sys.stderr.isatty():
        return "standard error (2>) is not a terminal"
    if environment.get("TERM", "dumb") == "dumb":
        return "TERM says that this terminal cannot draw one"
    return ""


async def run_terminal(context: ViewContext, stop: asyncio.Event) -> None:
    """Draw the app until somebody leaves it, which sets ``stop``."""
    from live.screens.terminal.terminal_app import Terminal

    # No colour for who wants none (https://no-color.org).
    theme = PLAIN if os.environ.get("NO_COLOR") else DUSK
    interrupt = partial(signal.raise_signal, signal.SIGINT)
    app = Terminal(context, theme=theme.name, stop=stop.set, interrupt=interrupt)
    await app.run_async()
    if app.return_code:
        raise RuntimeError("the terminal failed")
    # However it ended, nobody looks any more.
    stop.set()
