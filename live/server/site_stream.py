"""The numbered stream for static pages that read it from a broker.

Three topics below the prefix and the number of the protocol:

- ``site/changes``, not retained: ``{"epoch":…,"messages":[…]}``, the messages of the
  websocket, each with its ``seq``; a heartbeat says that nothing is missing while
  nothing happens.
- ``site/since``, retained: the messages since the last snapshot, in the same form, with
  ``after``, the number of that snapshot.
- ``site/snapshot``, retained, by gzip: ``{"epoch":…,"hello":{…},"snapshot":{…}}``.

A newcomer reads the changes, then both retained topics, until a live message follows
what it holds without a gap. So a gap is seen in every message, and mended from what is
retained. Loss policy: lossless while the broker keeps up; when it does not, or was
away, the stream jumps, and readers take the fresh snapshot.
"""

import gzip
from collections.abc import Callable, Iterable

import msgspec

from live.messages.health import PublicDelay
from live.messages.to_clients import Change, HeartbeatMessage
from live.messages.values import Value
from live.process.clock import ReadClock
from live.server import wire
from live.server.event_reader import EventReader
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.server.streams import FIRST_SEQ, StreamHub
from live.server.visibility import Visibility

SNAPSHOT, SINCE, CHANGES = "site/snapshot", "site/since", "site/changes"
#: After so many bytes of changes a new snapshot is published.
_SINCE_BYTES = 100_000
#: Retained messages are at most so old, seconds; newcomers wait that long.
_SINCE_S = 1.0
#: If more bytes wait, the broker is too slow, and gets a snapshot.
_WAITING_BYTES = 1_000_000


class BrokerMessage(Value):
    """One message for the broker."""

    topic: str
    """Below the prefix."""
    payload: bytes

    @property
    def retain(self) -> bool:
        """Whether it stays for newcomers."""
        return self.topic != CHANGES


class SiteStream:
    """What readers of one broker are sent. ``clock`` gives seconds that never go back;
    ``epoch`` must differ at every start.
    """

    def __init__(
        self,
        state: EventReader,
        selected: StreamFilter = EVERYTHING,
        *,
        epoch: str,
        clock: ReadClock,
        delay: Callable[[Visibility], PublicDelay] = lambda sees: PublicDelay(),
        heartbeat_s: float = 15.0,
    ) -> None:
        self._clock = clock
        self._heartbeat_s = heartbeat_s
        self._selected = selected
        self._hub = StreamHub(state, epoch=epoch, clock=clock, delay=delay)
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
        """Open another epoch, so that readers drop what another publisher wrote among
        our messages.
        """
        self._hub.reset()
        self._open_stream()

    def forget(self) -> None:
        """Begin with a snapshot: what the broker holds is unknown."""
        self._jumped = True

    def publish(self, changes: Iterable[Change]) -> None:
        """Take in changes that the state already holds."""
        self._hub.publish(changes)
        self._gather()

    def take(self) -> list[BrokerMessage]:
        """Return what is to be sent now, in this order. It counts as sent."""
        self._hub.flush()
        self._gather()
        now_s = self._clock()
        found = list[BrokerMessage]()
        if self._jumped:
            self._jumped = False
            self._waiting.clear()
            # The heartbeat tells readers that there is another epoch.
            found += [*self._build_snapshot(), self._build_heartbeat()]
        elif self._waiting:
            found.append(self._build_changes(self._waiting))
            self._since += self._waiting
            self._waiting = []
            self._stale_since = True
        if self._stale_since and now_s - self._since_s >= _SINCE_S:
            if sum(map(len, self._since)) > _SINCE_BYTES:
                found += self._build_snapshot()
            else:
                self._since_s = now_s
                self._stale_since = False
                found.append(self._build_since())
        if found:
            self._sent_s = now_s
        elif now_s - self._sent_s >= self._heartbeat_s:
            self._sent_s = now_s
            found.append(self._build_heartbeat())
        return found

    def _build_heartbeat(self) -> BrokerMessage:
        return self._build_changes(
            [wire.number(wire.encode(HeartbeatMessage()), self._stream.seq)]
        )

    def _gather(self) -> None:
        if self._stream.fresh:
            fresh = self._stream.take()
            if not self._jumped:
                self._waiting += [each.plain for each in fresh]
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
