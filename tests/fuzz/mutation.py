"""From well-formed input to hostile input: edits of a seed, at random or as hypothesis draws them.

A seed is what the real source sends, so that most edits get past the first check; tokens are what
its format is made of, and what has broken readers before.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

#: What has broken readers of text before, whatever the format.
HOSTILE: tuple[bytes, ...] = (
    b"",
    b"\0",
    b"\r",
    b"\n",
    b"\r\n\r\n",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\x1b[2J",
    b"\xe2\x80\xae",
    b"-1",
    b"0",
    b"1e999",
    b"NaN",
    b"1" * 5000,
    b"99999999999999999999",
    b"9223372036854775808",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"[" * 200,
    b"[" * 5000,
    b'{"a":' * 5000,
    b"(" * 200,
    b"{" * 200,
    b'"',
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"%00",
    b"%s%n",
    b"../",
    b"\xc2\xb2",
    b"\xd9\xa3",
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


def drawn_edits(tokens: Sequence[bytes]) -> st.SearchStrategy[list[Edit]]:
    """The same as hypothesis draws and shrinks them."""
    fraction = st.floats(0, 1, exclude_max=True)
    token = st.sampled_from(tokens) | st.binary(max_size=6)
    return st.lists(
        st.builds(Edit, st.integers(0, KINDS - 1), fraction, fraction, token), max_size=8
    )
