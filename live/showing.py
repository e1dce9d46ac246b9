"""How a run shows itself: the terminal app, a plain table, lines, or JSON. Part of the composition
root; the service and ``watch`` share it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from live.dashboard.lines import LineWriter
from live.dashboard.notebook import Notebook
from live.dashboard.palette import DUSK, PLAIN
from live.dashboard.scene import Desk, Scene
from live.dashboard.source import Source
from live.events import Change, GameMessage, GameView, Message
from live.publish import wire

if TYPE_CHECKING:
    from live.dashboard.terminal import Terminal

Way = Literal["app", "table", "lines", "json"]


def way(
    *,
    headless: bool = False,
    plain: bool = False,
    json: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Way:
    """The app where somebody sits at a terminal that can show it; else what suits the reader."""
    if json:
        return "json"
    if headless or not sys.stdout.isatty():
        return "lines"
    if plain or environment.get("TERM", "dumb") == "dumb" or not sys.stdin.isatty():
        return "table"
    # Now, before anything runs: it takes a third of a second.
    import live.dashboard.terminal  # noqa: F401

    return "app"


def theme(environment: Mapping[str, str] = os.environ) -> str:
    """No colour for who wants none (https://no-color.org)."""
    return PLAIN.name if environment.get("NO_COLOR") else DUSK.name


def terminal(
    source: Source,
    notebook: Notebook,
    desk: Desk,
    *,
    stop: Callable[[], None],
    interrupt: Callable[[], None],
) -> Terminal:
    """The app; ``stop`` is called on q, ``interrupt`` on Ctrl-C."""
    from live.dashboard.terminal import Terminal

    scene = Scene(source, notebook, desk, time.time)
    return Terminal(scene, theme=theme(), stop=stop, interrupt=interrupt)


def line_printer(
    console: Console, known: Iterable[GameView] = ()
) -> Callable[[Iterable[Change]], None]:
    """Prints a line for each thing that happens; ``known`` games are no news."""
    writer = LineWriter()
    writer.lines(map(GameMessage, known))

    def tell(changes: Iterable[Change]) -> None:
        for line in writer.lines(changes):
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    return tell


class JsonPrinter:
    """Prints messages as subscribers get them, one a line, numbered as their stream is."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = write or _out
        self._seq = 0

    def begin(self, *messages: Message) -> None:
        """Greeting and snapshot: they do not count."""
        for message in messages:
            self._print(message)

    def tell(self, changes: Iterable[Change]) -> None:
        """What happens from then on."""
        for change in changes:
            self._seq += 1
            self._print(change)

    def _print(self, message: Message) -> None:
        self._write(wire.number(wire.encode(message), self._seq).decode() + "\n")


def _out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def export_folder() -> Path:
    """Where the terminal writes what is exported: here."""
    return Path.cwd()
