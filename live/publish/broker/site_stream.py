"""The numbered stream for static pages that read it from a broker. Pure.

Three topics below the prefix and the number of the protocol:

- ``site/changes``, not retained: ``{"epoch":…,"messages":[…]}``, the messages of the websocket,
  each with its ``seq``; a heartbeat says that nothing is missing while nothing happens.
- ``site/since``, retained: the messages since the last snapshot, in the same form, with ``after``,
  the number of that snapshot.
- ``site/snapshot``, retained, by gzip: ``{"epoch":…,"hello":{…},"snapshot":{…}}``.

A newcomer reads the changes, then both retained topics, until a live message follows what it holds
without a gap. So a gap is seen in every message, and mended from what is retained. Loss policy:
lossless while the broker keeps up; when it does not, or was away, the stream jumps, and readers
take the fresh snapshot.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable

import msgspec

import live
from live.events import Change, FigureChoice, HeartbeatMessage, HelloMessage, PublicDelay
from live.publish import wire
from live.publish.published_state import PublishedState
from live.publish.stream.numbered_stream import FIRST_SEQ
from live.publish.stream.stream_filter import EVERYTHING, StreamFilter
from live.publish.stream.stream_hub import StreamHub
from live.publish.visibility import Visibility, shown

SNAPSHOT, SINCE, CHANGES = "site/snapshot", "site/since", "site/changes"

#: A snapshot takes the place of so many bytes of changes.
_SINCE_BYTES = 100_000
#: What newcomers read is at most so old; meanwhile they wait.
_SINCE_S = 1.0
#: Beyond, the broker is too slow to follow, and gets a snapshot.
_WAITING_BYTES = 1_000_000


class BrokerMessage(msgspec.Struct, frozen=True):
    """One message for the broker."""

    topic: str
    """Below the prefix."""
    payload: bytes
    retain: bool


class SiteStream:
    """What readers of one broker are sent. ``clock`` gives seconds that never go back; ``epoch``
    must differ at every start.
    """

    def __init__(
        self,
        state: PublishedState,
        selected: StreamFilter = EVERYTHING,
        *,
        epoch: str,
        clock: Callable[[], float],
        figure: FigureChoice = "perceived",
        delay: Callable[[Visibility], PublicDelay] = lambda sees: PublicDelay(),
        heartbeat_s: float = 15.0,
    ) -> None:
        self._state = state
        self._clock = clock
        self._figure = figure
        self._delay = delay
        self._heartbeat_s = heartbeat_s
        self._selected = selected
        self._epoch = epoch
        self._starts = 0
        self._sent_s = self._since_s = clock()
        self._begin()

    def _begin(self) -> None:
        epoch = f"{self._epoch}.{self._starts}" if self._starts else self._epoch
        self._hub = StreamHub(self._state, epoch=epoch, clock=self._clock)
        self._stream = self._hub.stream(self._selected)
        # Held, or it would be dropped as unread.
        self._hub.hold(self._stream)
        self._after = FIRST_SEQ
        self._since: list[bytes] = []
        self._waiting: list[bytes] = []
        self._stale_since = False
        self._jumped = True

    def begin_anew(self) -> None:
        """Somebody else wrote among our messages: another epoch has its readers throw away all."""
        self._starts += 1
        self._begin()

    def changed(self, changes: Iterable[Change]) -> None:
        """Changes that the state already holds."""
        self._hub.publish(changes)
        self._gather()

    def forget(self) -> None:
        """Nothing is known of what the broker holds: it begins with a snapshot."""
        self._jumped = True

    def take(self) -> list[BrokerMessage]:
        """What is to be sent now, in this order. It counts as sent."""
        self._hub.flush()
        self._gather()
        now_s, found = self._clock(), list[BrokerMessage]()
        if self._jumped:
            self._jumped = False
            self._waiting.clear()
            found += self._snapshot()
            if self._starts:
                found.append(self._heartbeat())  # by it they see that there is another epoch
        elif self._waiting:
            found.append(self._changes(self._waiting))
            self._since += self._waiting
            self._waiting = []
            self._stale_since = True
        if self._stale_since and now_s - self._since_s >= _SINCE_S:
            if sum(map(len, self._since)) > _SINCE_BYTES:
                found += self._snapshot()
            else:
                self._since_s, self._stale_since = now_s, False
                found.append(self._retained_since())
        if found:
            self._sent_s = now_s
        elif now_s - self._sent_s >= self._heartbeat_s:
            self._sent_s = now_s
            found.append(self._heartbeat())
        return found

    def _heartbeat(self) -> BrokerMessage:
        return self._changes([wire.number(wire.encode(HeartbeatMessage()), self._stream.seq)])

    def _gather(self) -> None:
        if self._stream.waiting:
            taken = self._stream.take()
            if not self._jumped:
                self._waiting += taken.payloads
        if sum(map(len, self._waiting)) > _WAITING_BYTES:
            self._waiting.clear()
            self._jumped = True

    def _snapshot(self) -> list[BrokerMessage]:
        now = self._hub.snapshot(self._stream)
        visibility = self._stream.filter.visibility
        hello = HelloMessage(
            protocol=wire.PROTOCOL,
            epoch=self._stream.epoch,
            engine=shown(self._state.engine(), visibility),
            gain=self._state.gain(),
            version=live.__version__,
            sight=visibility.wire_name,
            figure=self._figure,
            public_delay=self._delay(visibility),
        )
        self._after = now.seq
        self._since, self._stale_since, self._since_s = [], False, self._clock()
        whole = b'{"epoch":%b,"hello":%b,"snapshot":%b}' % (
            msgspec.json.encode(self._stream.epoch),
            wire.number(wire.encode(hello), now.seq - 1),
            wire.number(now.body, now.seq),
        )
        packed = gzip.compress(whole, compresslevel=3, mtime=0)
        return [BrokerMessage(SNAPSHOT, packed, retain=True), self._retained_since()]

    def _retained_since(self) -> BrokerMessage:
        return BrokerMessage(SINCE, self._envelope(self._since, self._after), retain=True)

    def _changes(self, messages: list[bytes]) -> BrokerMessage:
        return BrokerMessage(CHANGES, self._envelope(messages), retain=False)

    def _envelope(self, messages: list[bytes], after: int | None = None) -> bytes:
        head = b'{"epoch":%b,' % msgspec.json.encode(self._stream.epoch)
        if after is not None:
            head += b'"after":%d,' % after
        return head + b'"messages":[%b]}' % b",".join(messages)
