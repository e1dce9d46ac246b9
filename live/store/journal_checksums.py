"""Checksums of a journal's records, chained, so that none is changed, missing or exchanged unseen.

Each record has a sum of its own, and a chain value made of the one before and that sum: a record
whose sum is wrong is damaged and left out; one whose chain does not fit follows on a gap. The head
of a chain is kept apart, so that records missing at the end are noticed as well. Results of
searches have no order: there the head counts them and holds all their sums together. Records of
version 2 have no sums, and are taken as they are.

What this cannot see: an end of the journal that is lost together with its head, as when SQLite's
own log beside the file is cut off.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

#: Bytes of a sum: damage passes unseen once in 2^64 times.
BYTES: Final = 8
START: Final = bytes(BYTES)

_encode = msgspec.msgpack.Encoder().encode

#: Chained tables: name, columns that count, number first.
CHAINED: Final[dict[str, str]] = {
    "changes": "n, at_ms, run, game, step",
    "notes": "n, at_ms, run, game, kind, body",
    "runs": "run, at_ms, about",
}


def sum_of(*fields: object) -> bytes:
    """Of a record's fields, in the order of its table."""
    return hashlib.blake2b(_encode(fields), digest_size=BYTES).digest()


def link(before: bytes, record: bytes) -> bytes:
    """The chain's value at a record, of the value before and the record's sum."""
    return hashlib.blake2b(before + record, digest_size=BYTES).digest()


def together(held: bytes, record: bytes) -> bytes:
    """Sums without order: adding one is the same as taking it away."""
    return bytes(one ^ other for one, other in zip(held, record, strict=True))


def heads(connection: sqlite3.Connection) -> dict[str, tuple[int, bytes]]:
    """Number and value at the end of each chain."""
    rows = connection.execute("SELECT name, n, chain FROM heads")
    return {name: (n, chain) for name, n, chain in rows}


class ChainCheck(msgspec.Struct):
    """What is wrong with one table."""

    damaged: list[int]
    """Numbers of records that are to be left out."""
    gaps: list[int]
    """Numbers of records before which some are missing; one beyond the last: at the end."""

    def words(self, what: str) -> Iterator[str]:
        """For people, a line each."""
        if self.damaged:
            yield f"{what} {_listed(self.damaged)} damaged, and left out"
        if self.gaps:
            yield f"records are missing or exchanged before {what} {_listed(self.gaps)}"


def check(rows: Iterable[tuple[object, ...]], head: tuple[int, bytes] | None) -> ChainCheck:
    """Check rows of (fields…, sum, chain) in the order of their numbers."""
    found = ChainCheck([], [])
    before, number, begun = START, 0, False
    for *fields, record, chain in rows:
        number = fields[0] if isinstance(fields[0], int) else number + 1
        if record is None and chain is None and not begun:
            continue  # of version 2
        begun = True
        whole = record == sum_of(*fields)
        if not whole:
            found.damaged.append(number)
        elif chain != link(before, record if isinstance(record, bytes) else b""):
            found.gaps.append(number)
        before = chain if isinstance(chain, bytes) else START
    short = head is not None and (number < head[0] or (begun and before != head[1]))
    if short and number not in found.damaged[-1:]:
        found.gaps.append(number + 1)
    return found


def _listed(numbers: list[int]) -> str:
    text = ", ".join(map(str, numbers[:5]))
    return f"{text} and {len(numbers) - 5} more" if len(numbers) > 5 else text
