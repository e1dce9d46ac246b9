"""One numbered stream of messages: all subscribers with the same filter read the same one. Pure.

The numbering is per stream, not global: with a global number a filtered client could not
distinguish a message it was not meant to get from one it lost. ``epoch`` names this numbering; it
changes when a stream is dropped and made anew, and with every start of the service, so an old
number is never mistaken for a new one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property

import msgspec

from live.publish import wire
from live.publish.stream.stream_filter import StreamFilter

#: The number of a stream's first snapshot. ``hello`` carries one less than what follows it.
FIRST_SEQ = 1

#: Longer messages take more than about a millisecond to deflate.
_PACKED_AT_ONCE_BYTES = 64_000


class HistoryLimits(msgspec.Struct, frozen=True):
    """How much of the past can be resumed. A cache: the snapshot is always obtainable."""

    messages: int = 2_000
    payload_bytes: int = 4_000_000
    age_s: float = 120.0


class NumberedMessage(msgspec.Struct, gc=False):
    """One message of one stream. ``body`` is shared between streams, the number is not.

    It is deflated once, when somebody first takes it so.
    """

    seq: int
    body: bytes
    at_s: float
    """When it was numbered, on the injected clock."""
    packed: bytes | None = None
    """The numbered message deflated; null until asked for, and where that is not worth it."""

    @property
    def slow_to_pack(self) -> bool:
        """Whether it is not deflated yet, and that takes more than about a millisecond."""
        return self.packed is None and len(self.body) > _PACKED_AT_ONCE_BYTES

    def pack(self) -> None:
        """Deflate it now, for all who take it so. Any thread may, since a body never changes."""
        self._payload(deflated=True)

    def frame(self, *, deflated: bool = False) -> bytes:
        """One text frame; ``deflated`` where that is worth it."""
        payload, packed = self._payload(deflated)
        return wire.frame(payload, deflated=packed)

    def fragments(self, size: int, *, deflated: bool = False) -> list[bytes]:
        """Frames of at most ``size`` bytes of payload."""
        payload, packed = self._payload(deflated)
        return wire.fragments(payload, size, deflated=packed)

    def _payload(self, deflated: bool) -> tuple[bytes, bool]:
        plain = wire.number(self.body, self.seq)
        if deflated and self.packed is None:
            self.packed = wire.deflate(plain)
        return (self.packed, True) if deflated and self.packed is not None else (plain, False)


class TakenFrames:
    """Frames of some messages: the same bytes for everybody, in either form."""

    def __init__(self, messages: list[NumberedMessage]) -> None:
        self._messages = messages

    @property
    def payloads(self) -> list[bytes]:
        """The numbered messages themselves."""
        return [wire.number(each.body, each.seq) for each in self._messages]

    @cached_property
    def plain(self) -> bytes:
        return b"".join([each.frame() for each in self._messages])

    @cached_property
    def deflated(self) -> bytes:
        return b"".join([each.frame(deflated=True) for each in self._messages])


class ResumeTooOld(msgspec.Struct, frozen=True):
    """The missing messages are not all held: only a snapshot helps. ``why`` is for people."""

    why: str


class NumberedStream:
    """History and numbering of one filter's messages."""

    def __init__(
        self,
        selected: StreamFilter,
        epoch: str,
        clock: Callable[[], float],
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - frozen
    ) -> None:
        self.filter = selected
        self.epoch = epoch
        self.seq = FIRST_SEQ
        """Number of the last message; a snapshot taken now carries it."""
        self._clock = clock
        self._limits = limits
        self._history: deque[NumberedMessage] = deque()
        self._history_bytes = 0
        self._fresh: list[NumberedMessage] = []

    def append(self, body: bytes) -> NumberedMessage:
        """Number one encoded message."""
        self.seq += 1
        numbered = NumberedMessage(self.seq, body, self._clock())
        self._fresh.append(numbered)
        self._history.append(numbered)
        self._history_bytes += len(body)
        self._forget_old(numbered.at_s)
        return numbered

    def since(self, epoch: str, seq: int) -> tuple[NumberedMessage, ...] | ResumeTooOld:
        """Exactly the messages after ``seq``, or that they can't all be given; never a part."""
        if epoch != self.epoch:
            return ResumeTooOld("the epoch is another one")
        if seq > self.seq:
            return ResumeTooOld(f"message {seq} does not exist yet")
        self._forget_old(self._clock())
        missing = self.seq - seq
        if missing > len(self._history):
            return ResumeTooOld(f"messages after {seq} are no longer held")
        return tuple(self._history)[len(self._history) - missing :] if missing else ()

    def take(self) -> TakenFrames:
        """Frames of the messages appended since the last time."""
        fresh, self._fresh = self._fresh, []
        return TakenFrames(fresh)

    @property
    def waiting(self) -> bool:
        """Whether :meth:`take` has something to give."""
        return bool(self._fresh)

    def _forget_old(self, now_s: float) -> None:
        history, limits = self._history, self._limits
        while history and (
            len(history) > limits.messages
            or self._history_bytes > limits.payload_bytes
            or now_s - history[0].at_s > limits.age_s
        ):
            self._history_bytes -= len(history.popleft().body)
