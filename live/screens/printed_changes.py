"""Output of the service's messages on standard output, as lines of text or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import IO

from rich.console import Console

from live.messages.alerts import Alert
from live.messages.figures import GameDetail
from live.messages.health import EngineHealth
from live.messages.to_clients import Change, Message
from live.process.standard_output import tolerate_full_disk
from live.screens.event_lines import EventLineWriter
from live.server import wire
from live.server.stream_filter import EVERYTHING
from live.server.visibility import redact
from live.server.wire import encode_with_defaults


class LinePrinter:
    """Printer of changes as lines of text.

    Args:
        console: where to print.
        known_games: games that are not reported as new.
        alerts: alerts that are not reported as new.
        engines: health of the engines before the first change, if it is known.
        is_public: whether alerts and problems of parts of the service are left out.
            They are in the log of the service.
    """

    def __init__(
        self,
        console: Console,
        known_games: Iterable[GameDetail] = (),
        alerts: Iterable[Alert] = (),
        engines: EngineHealth | None = None,
        *,
        is_public: bool = False,
    ) -> None:
        self._writer = EventLineWriter(
            known_games, alerts, engines, is_public=is_public
        )
        self._write = build_line_writer(lambda: console.file)

    def show(self, changes: Iterable[Change]) -> None:
        """Print the lines for these changes."""
        for line in self._writer.write_lines(changes):
            self._write(line)

    def finish(self) -> None:
        """Print the figures that still wait for the score of their ply."""
        for line in self._writer.write_last_lines():
            self._write(line)


def build_line_writer(file: Callable[[], IO[str]]) -> Callable[[str], None]:
    """Return a function that writes a line directly to the file that ``file()``
    returns.

    A line that cannot be written because the disk is full is dropped.
    """

    def write(line: str) -> None:
        out = file()
        out.write(f"{line}\n")
        out.flush()

    return tolerate_full_disk(write)


class JsonPrinter:
    """Printer of the messages that public subscribers receive: numbered, one per
    line.
    """

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = build_line_writer(lambda: sys.stdout)
        if write is not None:
            self._write = tolerate_full_disk(write)
        self._seq = 0

    def begin(self, *messages: Message) -> None:
        """Print the first messages, such as a snapshot, with the current number."""
        for message in messages:
            self._print(message)

    def show(self, changes: Iterable[Change]) -> None:
        """Print each change that the public may see, with the next number."""
        for change in changes:
            if EVERYTHING.should_send(change):
                self._seq += 1
                self._print(redact(change, EVERYTHING.visibility))

    def _print(self, message: Message) -> None:
        self._write(wire.number(encode_with_defaults(message), self._seq).decode())
