"""What a run writes to standard error about itself. Part of the composition root."""

from __future__ import annotations

import copy
import io
import logging
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import live
from live.config import Config

_HOME: Final = Path(live.__file__).parent.parent


def log_to_stderr(config: Config) -> None:
    """Set up logging, and streams that a strange character cannot break."""
    # A terminal that cannot show a character shows a question mark; it never ends the service.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    handler = _StderrOfTheMoment()
    handler.setFormatter(OneLineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=config.log.level.upper())


def log_level(config: Config) -> None:
    """Let the log say as much as ``log.level`` wants."""
    logging.getLogger().setLevel(config.log.level.upper())


class OneLineFormatter(logging.Formatter):
    """Shows an exception by its message and its place, in the same line; at level ``debug`` the
    traceback follows, as ``--debug`` promises.
    """

    def format(self, record: logging.LogRecord) -> str:
        raised = record.exc_info
        if not raised or logging.getLogger().isEnabledFor(logging.DEBUG):
            return super().format(record)
        record, (kind, error, trace) = copy.copy(record), raised
        record.exc_info = record.exc_text = None
        if kind is None:
            return super().format(record)
        said = " ".join(str(error).split())
        text = f"{kind.__name__}: {said}" if said else kind.__name__
        return f"{super().format(record)} ({text}{_place(trace)}; --debug shows more)"


def _place(trace: TracebackType | None) -> str:
    """The innermost line of our own, if there is one: ``, at
    live/publish/stream/stream_hub.py:120``.
    """
    for frame, line in reversed(list(traceback.walk_tb(trace))):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_HOME / "live"):
            return f", at {path.relative_to(_HOME).as_posix()}:{line}"
    return ""


class _StderrOfTheMoment(logging.StreamHandler[Any]):
    """Writes to whatever standard error is now: the live display takes it over while it draws."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """Nothing to keep."""
