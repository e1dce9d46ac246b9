"""What is fuzzed, something that takes bytes from outside with what it may raise for
them; and from well-formed input to hostile input: edits of a seed, at random.

A seed is what the real source sends, so that most edits get past the first check;
tokens are what its format is made of, and what has broken readers before.
"""

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from live.errors import LiveRateError

#: What has broken readers of text before, whatever the format.
HOSTILE: tuple[bytes, ...] = (
    b"",
    b"\0",
    b"\r",
    b"\n",
    b"\r\n\r\n",
    b"\x1b[2J",
    # Marks of encodings, surrogates, directions, digits that are none.
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xe2\x80\xae",
    b"\xc2\xb2",
    b"\xd9\xa3",
    b"-1",
    b"0",
    b"1e999",
    b"NaN",
    b"1" * 5000,
    b"9" * 20,
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
)


def mutate(random: Random, data: bytes, tokens: Sequence[bytes]) -> bytes:
    """The text after some edits, few mostly and many sometimes; shorter than a
    megabyte.
    """
    for _ in range(1 + int(random.expovariate(0.4))):
        token = random.choice(tokens) if random.random() < 0.7 else random.randbytes(3)
        start = random.randrange(len(data) + 1)
        # Small pieces are what most edits should be about.
        end = start + 1 + int(len(data) * random.random() ** 4)
        head, piece, rest = data[:start], data[start:end], data[end:]
        other = (
            token + piece,
            token,
            b"",
            piece + piece,
            bytes(byte ^ (1 << (index % 8)) for index, byte in enumerate(piece)),
            piece[:4096] * random.randrange(2, 200),
        )
        edits = (head, rest + head + piece, *(head + each + rest for each in other))
        data = random.choice(edits)[: 1 << 20]
    return data


#: CPU seconds that any input may cost, and more for each byte of it: far above what is
#: needed (a megabyte of PGN takes about three seconds), far below what would be noticed
#: as a hang.
FLOOR_S = 2.0
PER_BYTE_S = 2e-5


class Target(NamedTuple):
    """One reader of foreign bytes.

    ``run`` must return, or raise one of ``allowed``, for any bytes; anything else is a
    finding.
    """

    name: str
    run: Callable[[bytes], None]
    seeds: Sequence[bytes]
    tokens: Sequence[bytes]
    allowed: tuple[type[Exception], ...] = ()


class TooSlow(AssertionError):
    """An input costs more than it may."""


def try_input(target: Target, data: bytes) -> bool:
    """Give the target one input; whether it was taken, and not refused.

    Raises:
        TooSlow: it costs too much, three times in a row.
        Exception: what escapes the target and is not allowed to.
    """
    took_s: list[float] = []
    while len(took_s) < 3:
        began_s = time.process_time()
        taken = True
        try:
            target.run(data)
        except target.allowed as refusal:
            _check_refusal(target, refusal)
            taken = False
        took_s.append(time.process_time() - began_s)
        if took_s[-1] <= FLOOR_S + PER_BYTE_S * len(data):
            return taken
    raise TooSlow(f"{target.name}: {min(took_s):.1f} s of CPU for {len(data)} bytes")


def _check_refusal(target: Target, refusal: Exception) -> None:
    """A refusal of ours is a line for people."""
    text = str(refusal)
    if not isinstance(refusal, LiveRateError):
        return
    assert text.strip(), (
        f"{target.name}: refused without a word ({type(refusal).__name__})"
    )
    assert "\x1b" not in text, (
        f"{target.name}: a refusal may not command a terminal: {text!r}"
    )
