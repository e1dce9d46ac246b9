"""The numbered stream for static pages, which read it from a broker.

It uses three topics below the prefix and the number of the protocol:

- ``site/changes``, not retained: ``{"epoch":…,"messages":[…]}`` with the messages of
  the websocket, each with its ``seq``. Heartbeats show that no message is missing while
  nothing changes.
- ``site/since``, retained: the messages since the last snapshot, in the same form, with
  the number of that snapshot as ``after``.
- ``site/snapshot``, retained, compressed with gzip:
  ``{"epoch":…,"hello":{…},"snapshot":{…}}``.

A new reader subscribes to the changes, then to both retained topics, until a message in
the changes follows its state without a gap. Readers detect a gap by the numbers, and
fill it from the retained topics. Only if the broker is too slow or was disconnected are
messages left out. Readers then use the next snapshot.
"""

import gzip
from collections.abc import Iterable

import msgspec

from live.messages.health import PublicDelay
from live.messages.to_clients import Change, HeartbeatMessage
from live.messages.values import Value
from live.process.clock import ReadClock
from live.server import wire
from live.server.event_reader import EventReader
from live.server.numbered_stream import FIRST_SEQ
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.server.streams import DescribeDelay, StreamHub

SNAPSHOT, SINCE, CHANGES = "site/snapshot", "site/since", "site/changes"
#: Size of the changes after which a new snapshot is published, bytes.
_SINCE_BYTES = 100_000
#: Maximum delay of the retained changes, seconds; new readers wait up to this time.
_SINCE_S = 1.0
#: Maximum size of waiting messages, bytes. If it is exceeded, the broker is too slow:
#: the messages are dropped, and a snapshot is sent instead.
_WAITING_BYTES = 1_000_000


class BrokerMessage(Value):
    """One MQTT message for the broker."""

    topic: str
    """The topic, without the prefix."""
    payload: bytes

    @property
    def retain(self) -> bool:
        """True if the broker must store the message for new readers."""
        return self.topic != CHANGES


class SiteStream:
    """The messages for the readers of one broker.

    ``clock`` returns a monotonic time, seconds. ``epoch`` must be different at every
    start of the service.
    """

    def __init__(
        self,
        state: EventReader,
        selected: StreamFilter = EVERYTHING,
        *,
        epoch: str,
        clock: ReadClock,
        delay: DescribeDelay = lambda visibility: PublicDelay(),
        heartbeat_s: float = 15.0,
    ) -> None:
        self._clock = clock
        self._heartbeat_s = heartbeat_s
        self._selected = selected
        self._hub = StreamHub(state, epoch=epoch, clock=clock, describe_delay=delay)
        self._sent_s = self._since_s = clock()
        self._open_stream()

    def _open_stream(self) -> None:
        self._stream = self._hub.open_stream(self._selected)
        self._after = FIRST_SEQ
        self._since: list[bytes] = []
        self._waiting: list[bytes] = []
        self._stale_since = False
        self._jumped = True

    def reset(self) -> None:
        """Begin a new epoch, so that readers drop all earlier messages.

        This is needed if game ids change or another publisher wrote to our topics.
        """
        self._hub.reset()
        self._open_stream()

    def forget(self) -> None:
        """Send a snapshot next, since the messages at the broker are unknown."""
        self._jumped = True

    def publish(self, changes: Iterable[Change]) -> None:
        """Add changes that are already part of the state."""
        self._hub.publish(changes)
        self._gather()

    def take(self) -> list[BrokerMessage]:
        """Return the messages to be sent now, in this order; they count as sent."""
        self._hub.flush()
        self._gather()
        now_s = self._clock()
        messages = list[BrokerMessage]()
        if self._jumped:
            self._jumped = False
            self._waiting.clear()
            # The heartbeat contains the new epoch, so that readers notice it.
            messages += [*self._build_snapshot(), self._build_heartbeat()]
        elif self._waiting:
            messages.append(self._build_changes(self._waiting))
            self._since += self._waiting
            self._waiting = []
            self._stale_since = True
        if self._stale_since and now_s - self._since_s >= _SINCE_S:
            if sum(map(len, self._since)) > _SINCE_BYTES:
                messages += self._build_snapshot()
            else:
                self._since_s = now_s
                self._stale_since = False
                messages.append(self._build_since())
        if messages:
            self._sent_s = now_s
        elif now_s - self._sent_s >= self._heartbeat_s:
            self._sent_s = now_s
            messages.append(self._build_heartbeat())
        return messages

    def _build_heartbeat(self) -> BrokerMessage:
        return self._build_changes(
            [wire.number(wire.encode(HeartbeatMessage()), self._stream.seq)]
        )

    def _gather(self) -> None:
        if self._stream.unsent:
            messages = self._stream.take()
            if not self._jumped:
                self._waiting += [message.plain for message in messages]
        if sum(map(len, self._waiting)) > _WAITING_BYTES:
            self._waiting.clear()
            self._jumped = True

    def _build_snapshot(self) -> list[BrokerMessage]:
        now = self._hub.snapshot(self._stream)
        hello = self._hub.encode_hello(self._stream)
        self._after = now.seq
        self._since = []
        self._stale_since = False
        self._since_s = self._clock()
        whole = b'{"epoch":%b,"hello":%b,"snapshot":%b}' % (
            msgspec.json.encode(self._stream.epoch),
            wire.number(hello, now.seq - 1),
            now.plain,
        )
        packed = gzip.compress(whole, compresslevel=3, mtime=0)
        return [BrokerMessage(SNAPSHOT, packed), self._build_since()]

    def _build_since(self) -> BrokerMessage:
        return self._wrap(SINCE, b'"after":%d,' % self._after, self._since)

    def _build_changes(self, messages: list[bytes]) -> BrokerMessage:
        return self._wrap(CHANGES, b"", messages)

    def _wrap(self, topic: str, after: bytes, messages: list[bytes]) -> BrokerMessage:
        epoch = msgspec.json.encode(self._stream.epoch)
        listed = b",".join(messages)
        return BrokerMessage(
            topic, b'{"epoch":%b,%b"messages":[%b]}' % (epoch, after, listed)
        )
