"""Values that the journal remembers under a kind and what they are about."""

import logging
from typing import TypeVar

import msgspec

from live.journal.journal import Journal
from live.journal.journal_reader import Memory, encode

log = logging.getLogger(__name__)

Remembered = TypeVar("Remembered")


def build_memory(kind: str, about: str, value: object | None) -> Memory:
    """Return what to remember; None forgets it."""
    if value is None:
        return Memory(kind, about, None)
    try:
        return Memory(kind, about, encode(value))
    except (TypeError, ValueError):
        # Text that cannot be encoded: it costs nothing else.
        log.exception("what is to be remembered of %s %r is left out", kind, about)
        return Memory(kind, about, None)


def read_memories(
    journal: Journal, kind: str, type: type[Remembered]
) -> dict[str, Remembered]:
    """Return all memories of a kind by what they are about; log unreadable ones."""
    found = {}
    for about, body in journal.read_memories(kind).items():
        try:
            found[about] = msgspec.msgpack.decode(body, type=type)
        except (ValueError, TypeError) as error:
            log.error(
                "what is remembered of %s %s cannot be read (%s)", kind, about, error
            )
    return found
