"""One numbered stream: the messages of a filter, their history and readers. Pure.

Each stream has its own numbering: with global numbers, a client with a filter could not
distinguish a message that it was not meant to get from one that was lost. ``epoch``
identifies a numbering. It changes when a stream is dropped and opened again, and at
every start of the service, so an old number is never mistaken for a new one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Protocol

import msgspec

from live.messages.figures import PlayerView
from live.messages.to_clients import (
    Change,
    EngineMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    StandingMessage,
)
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.server import wire
from live.server.coalescing import find_coalescing_key
from live.server.event_reader import game_of
from live.server.limits import ClientLimits
from live.server.stream_filter import StreamFilter
from live.server.wire import split_frames

#: The number of a stream's first snapshot. The number of ``hello`` is one less than
#: that of the message after it.
FIRST_SEQ = 1


class NumberedMessage(msgspec.Struct, gc=False, eq=False):
    """One message of one stream. Streams can share ``body``, but not the number.

    The message is deflated only once, when a subscriber first needs it.
    """

    seq: int
    body: bytes
    at_s: float
    """The time when the message was numbered, by the clock of the stream, seconds."""
    numbered: bool = False
    """True if ``body`` already contains the number, as snapshots do."""
    packed: bytes | None = None
    """The numbered message, deflated; None if it is too short, or not needed so far.
    """

    @property
    def plain(self) -> bytes:
        """The numbered message, not deflated."""
        return self.body if self.numbered else wire.number(self.body, self.seq)

    @property
    def is_slow_to_deflate(self) -> bool:
        """True if the message is not deflated yet, and that would take more than about
        a millisecond.
        """
        return self.packed is None and len(self.body) > wire.LONG_BYTES

    def pack(self) -> None:
        """Deflate the message now, for all subscribers that accept it deflated.

        This can be called in any thread, since a body never changes.
        """
        if self.packed is None:
            self.packed = wire.deflate(self.plain)

    def frames(self, size: int = 1 << 63, *, deflated: bool = False) -> Iterator[bytes]:
        """Yield the message as frames of at most ``size`` bytes; by default one frame.

        Each frame is built only when it is needed.
        """
        if deflated:
            self.pack()
        packed = self.packed if deflated else None
        return split_frames(packed or self.plain, size, deflated=packed is not None)


class Reader(Protocol):
    """A reader of a stream."""

    def close(self, code: wire.CloseCode, reason: str = "") -> None: ...


_Writers = dict[Reader, Callable[[bytes], None]]


class NumberedStream:
    """The messages of one filter, with their numbers, history and readers."""

    def __init__(
        self,
        selected: StreamFilter,
        epoch: str,
        clock: ReadClock,
        limits: ClientLimits,
    ) -> None:
        self.filter = selected
        self.epoch = epoch
        self.seq = FIRST_SEQ
        """The number of the last message, which is also that of a snapshot taken now.
        """
        self.readers: set[Reader] = set()
        """All readers of this stream. The stream is kept while it has readers."""
        self.ready: tuple[_Writers, _Writers] = {}, {}
        """The write functions of readers that are ready for more messages: first of
        readers of plain messages, then of readers of deflated messages.
        """
        self.used_s = clock()
        """The time when the stream was last opened or lost a reader, seconds."""
        self.is_narrow = selected.is_narrow
        """True if the filter selects only some games."""
        self.games: set[GameId] = set()
        """The ids of the games in a narrow stream."""
        self.players: set[str] = set()
        """The ids of the players in a narrow stream's games."""
        self.snapshot: NumberedMessage | None = None
        """The last encoded snapshot; None if there is none or it is too old."""
        self._clock = clock
        self._limits = limits
        self._history: deque[NumberedMessage] = deque()
        self._history_bytes = 0
        self.unsent: list[NumberedMessage] = []
        """Messages that the next :meth:`take` returns."""
        # For a brief stream: the last message about each game header, each player, the
        # engine and the health.
        self._sent: dict[Hashable, bytes] = {}

    def append(self, body: bytes) -> None:
        """Give an encoded message the next number, and add it to the stream."""
        self.seq += 1
        numbered = NumberedMessage(self.seq, body, self._clock())
        self.unsent.append(numbered)
        self._history.append(numbered)
        self._history_bytes += len(body)
        self._evict_old(numbered.at_s)

    def list_since(self, epoch: str, seq: int) -> list[NumberedMessage] | None:
        """Return all messages after the number ``seq`` of an epoch.

        Return None if the history no longer contains them all, or if the epoch is not
        the epoch of this stream.
        """
        self._evict_old(self._clock())
        missing = self.seq - seq
        if epoch != self.epoch or not 0 <= missing <= len(self._history):
            return None
        return list(self._history)[len(self._history) - missing :]

    def take(self) -> list[NumberedMessage]:
        """Return the messages appended since the last call."""
        unsent = self.unsent
        self.unsent = []
        return unsent

    def release(self, reader: Reader) -> None:
        """Remove a reader. It can resume while the history contains its last number."""
        self.readers.remove(reader)
        self.used_s = self._clock()

    def record_news(self, change: Change, body: bytes) -> bool:
        """Record a message of a brief stream; return whether it must be sent.

        A message equal to the last one about the same subject need not be sent. This is
        common, since brief messages leave out many fields.
        """
        match change:
            case StandingMessage(player=PlayerView(games=0, moves=0)):
                self._sent.pop((None, find_coalescing_key(change)), None)
            case GameMessage() | StandingMessage() | EngineMessage() | HealthMessage():
                about = game_of(change), find_coalescing_key(change)
                before = self._sent.get(about)
                self._sent[about] = body
                return before != body
            case GoneMessage(game=game):
                self._sent.pop((game, GameMessage), None)
        return True

    def _evict_old(self, now_s: float) -> None:
        history = self._history
        limits = self._limits
        while history and (
            len(history) > limits.history_messages
            or self._history_bytes > limits.history_bytes
            or now_s - history[0].at_s > limits.history_age_s
        ):
            self._history_bytes -= len(history.popleft().body)


def count_bytes(messages: Iterable[NumberedMessage]) -> int:
    """Return the total size of messages in bytes, not deflated."""
    return sum(len(message.body) for message in messages)
