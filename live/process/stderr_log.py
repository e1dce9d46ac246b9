"""Log on standard error, with one line per record and limited repetition."""

import copy
import logging
import sys
import traceback
from pathlib import Path
from typing import Any

#: Maximum number of similar warnings or errors logged in one period, and the period in
#: seconds.
REPEATED = 20
REPEATED_S = 60.0
_BEGINNING_CHARS = 60
_KINDS = 1000

_OURS = Path(__file__).parents[1]


def log_to_stderr(level: str) -> None:
    """Set up logging to standard error, from this level on."""
    handler = CurrentStderrHandler()
    text = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(OneLineFormatter(text))
    handler.addFilter(RepeatedLines())
    logging.basicConfig(handlers=[handler], level=level.upper())


def set_log_level(level: str) -> None:
    """Log from this level on: ``debug``, ``info``, ``warning`` or ``error``."""
    logging.getLogger().setLevel(level.upper())


class OneLineFormatter(logging.Formatter):
    """Formatter that shows an exception in the same line: its message and the innermost
    line of our own code.

    At level ``debug`` the traceback follows, as ``--debug`` promises.
    """

    def format(self, record: logging.LogRecord) -> str:
        raised = record.exc_info
        if not raised or logging.getLogger().isEnabledFor(logging.DEBUG):
            return super().format(record)
        record = copy.copy(record)
        record.exc_info = record.exc_text = None
        if not raised[0]:
            return super().format(record)
        lines = traceback.format_exception_only(*raised[:2])
        error = " ".join("".join(lines).split())
        place = ""
        for frame, line in traceback.walk_tb(raised[2]):
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(_OURS):
                place = f", at {path.relative_to(_OURS.parent).as_posix()}:{line}"
        return f"{super().format(record)} ({error}{place}; --debug shows more)"


class RepeatedLines(logging.Filter):
    """Filter of repeated warnings: a fault that occurs a thousand times per second must
    not fill the disk.
    """

    def __init__(self) -> None:
        super().__init__()
        # For each kind of record: when its period began, seconds since 1970, and the
        # number of records since then.
        self._seen: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        text = str(record.msg)[:_BEGINNING_CHARS]
        arguments = str(record.args)[:_BEGINNING_CHARS]
        kind = record.name, record.levelno, f"{text} {arguments}"
        since_s, count = self._seen.pop(kind, (record.created, 0))
        if record.created - since_s >= REPEATED_S:
            since_s, count = record.created, 0
        self._seen[kind] = since_s, count + 1
        if len(self._seen) > _KINDS:
            del self._seen[next(iter(self._seen))]
        if count == REPEATED - 1:
            left_out = f"more of these are left out for {REPEATED_S:g} s"
            record.msg = f"{record.msg} ({left_out})"
        return count < REPEATED


class CurrentStderrHandler(logging.StreamHandler[Any]):
    """Handler that writes to the present standard error, because the terminal app
    replaces it.
    """

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """Ignore the value that the base class sets."""
