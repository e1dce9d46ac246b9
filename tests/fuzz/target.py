"""What is fuzzed: something that takes bytes from outside, with what it may raise for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from live.errors import LiveRateError

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
