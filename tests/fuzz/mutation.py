"""What is fuzzed, something that takes bytes from outside with what it may raise for them; and from
well-formed input to hostile input: edits of a seed, at random.

A seed is what the real source sends, so that most edits get past the first check; tokens are what
its format is made of, and what has broken readers before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from live.errors import LiveRateError

#: What has broken readers of text before, whatever the format.
HOSTILE: tuple[bytes, ...] = (
    *(b"", b"\0", b"\r", b"\n", b"\r\n\r\n", b"\x1b[2J"),
    # Marks of encodings, surrogates, directions, digits that are none.
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xc2\xb2", b"\xd9\xa3"),
    *(b"-1", b"0", b"1e999", b"NaN", b"1" * 5000, b"9" * 20, b"9223372036854775808"),
    *(b"null", b"true", b"[]", b"{}"),
    *(b"[" * 200, b"[" * 5000, b'{"a":' * 5000, b"(" * 200, b"{" * 200),
    *(b'"', b"\\", b"\\u0000", b"\\ud800", b"%00", b"%s%n", b"../"),
)


class Edit(NamedTuple):
    """One change of a text: ``kind`` at ``start`` and over ``size``, both fractions of it."""

    kind: int
    start: float
    size: float
    token: bytes


#: Kinds of edits; :func:`edited` knows what they do.
KINDS = 8


def edited(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The text after all edits, in order. Its length stays below a megabyte."""
    for edit in edits:
        start = int(edit.start * (len(data) + 1))
        # Small pieces are what most edits should be about.
        size = int(len(data) * edit.size**4) + 1
        piece = data[start : start + size]
        rest = data[start + size :]
        head = data[:start]
        match edit.kind:
            case 0:
                data = head + edit.token + data[start:]
            case 1:
                data = head + edit.token + rest
            case 2:
                data = head + rest
            case 3:
                data = head + piece + data[start:]
            case 4:
                flipped = bytes(byte ^ (1 << (index % 8)) for index, byte in enumerate(piece))
                data = head + flipped + rest
            case 5:
                data = head
            case 6:
                data = rest + head + piece
            case _:
                times = 2 + len(edit.token) * 7
                data = head + piece[:4096] * times + rest
        data = data[: 1 << 20]
    return data


def random_edits(random: Random, tokens: Sequence[bytes]) -> list[Edit]:
    """Few edits mostly, many sometimes."""
    return [
        Edit(
            random.randrange(KINDS),
            random.random(),
            random.random(),
            random.choice(tokens) if random.random() < 0.7 else random.randbytes(3),
        )
        for _ in range(1 + int(random.expovariate(0.4)))
    ]


#: CPU seconds that any input may cost, and more for each byte of it: far above what is needed
#: (a megabyte of PGN takes about three seconds), far below what would be noticed as a hang.
FLOOR_S = 2.0
PER_BYTE_S = 2e-5


class Target(NamedTuple):
    """One reader of foreign bytes.

    ``run`` must return, or raise one of ``allowed``, for any bytes; anything else is a finding.
    """

    name: str
    run: Callable[[bytes], None]
    seeds: Sequence[bytes]
    tokens: Sequence[bytes]
    allowed: tuple[type[Exception], ...] = ()


class TooSlow(AssertionError):
    """An input costs more than it may."""


def tried(target: Target, data: bytes) -> bool:
    """Give the target one input; whether it was taken, and not refused.

    Raises:
        TooSlow: it costs too much, three times in a row.
        Exception: what escapes the target and is not allowed to.
    """
    for attempt in range(3):
        began_s = time.process_time()
        try:
            target.run(data)
        except target.allowed as refusal:
            _explained(target, refusal)
            taken = False
        else:
            taken = True
        took_s = time.process_time() - began_s
        if took_s <= FLOOR_S + PER_BYTE_S * len(data):
            return taken
        if attempt == 2:
            raise TooSlow(f"{target.name}: {took_s:.1f} s of CPU for {len(data)} bytes")
    raise AssertionError("not reached")


def _explained(target: Target, refusal: Exception) -> None:
    """A refusal of ours is a line for people."""
    text = str(refusal)
    if not isinstance(refusal, LiveRateError):
        return
    assert text.strip(), f"{target.name}: refused without a word ({type(refusal).__name__})"
    assert "\x1b" not in text, f"{target.name}: a refusal may not command a terminal: {text!r}"
