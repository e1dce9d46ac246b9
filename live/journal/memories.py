"""Values stored in the journal under a kind and a subject."""

import logging
from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

import msgspec

from live.journal.journal import Journal
from live.journal.journal_reader import Memory, encode

log = logging.getLogger(__name__)

Remembered = TypeVar("Remembered")


def build_memory(kind: str, about: str, value: object | None) -> Memory:
    """Return the encoded form of a value with its kind and subject.

    None for ``value`` deletes the stored value.
    """
    if value is None:
        return Memory(kind, about, None)
    try:
        return Memory(kind, about, encode(value))
    except (TypeError, ValueError):
        # The value contains text that cannot be encoded. Only this value is dropped.
        log.exception("the memory of %s %r is not stored", kind, about)
        return Memory(kind, about, None)


def build_memories(
    *groups: Iterable[tuple[str, str, object | None]],
) -> list[Memory]:
    """Return the encoded form of several groups of values."""
    return [build_memory(*value) for value in chain.from_iterable(groups)]


def read_memories(
    journal: Journal, kind: str, type: type[Remembered]
) -> dict[str, Remembered]:
    """Return all stored values of a kind, by subject; log unreadable ones."""
    values = {}
    for about, body in journal.read_memories(kind).items():
        try:
            values[about] = msgspec.msgpack.decode(body, type=type)
        except (ValueError, TypeError) as error:
            log.error("the memory of %s %s cannot be read (%s)", kind, about, error)
    return values
