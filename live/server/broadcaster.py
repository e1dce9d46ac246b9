"""Sending the messages of the streams to all subscribers of one audience."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from live.messages.to_clients import Change, HeartbeatMessage
from live.server import wire
from live.server.event_reader import EventReader
from live.server.metrics import MetricCounts
from live.server.numbered_stream import NumberedMessage, NumberedStream, count_bytes
from live.server.streams import StreamHub
from live.server.subscriber import Subscriber
from live.server.wire import CloseCode

_log = logging.getLogger(__name__)


def encode_frames(
    messages: Iterable[NumberedMessage], deflated: bool, after: bytes = b""
) -> bytes:
    """Return the messages as websocket frames, followed by the bytes ``after``."""
    frames: list[bytes] = []
    for message in messages:
        frames += message.frames(deflated=deflated)
    return b"".join((*frames, after))


class Broadcaster(StreamHub):
    """All subscribers of one audience in one run of the service.

    ``epoch`` must be different at every start, and for every audience.
    """

    def __init__(
        self,
        state: EventReader,
        *,
        tally: MetricCounts | None = None,
        **hub_arguments: Any,
    ) -> None:
        """Create a broadcaster; ``hub_arguments`` are arguments of
        :class:`live.server.streams.StreamHub`.
        """
        self._tally = tally or MetricCounts()
        # Snapshots that are being deflated, with the subscribers that wait for them.
        self._packing: dict[NumberedMessage, list[Subscriber]] = {}
        super().__init__(state, **hub_arguments)

    def __len__(self) -> int:
        return self._tally.subscribers

    # --- sending changes --------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Send moves now; other changes wait for the next :meth:`flush`."""
        self._guard(partial(super().publish, changes))

    def flush(self) -> None:
        """Send all changes that wait."""
        self._guard(super().flush)

    def _guard(self, step: Callable[[], None]) -> None:
        try:
            step()
            self._deliver()
        except Exception:
            # After any error a stream can lack a message. So all streams are reset, and
            # their readers reconnect and get a snapshot.
            _log.exception("the streams are reset after a fault")
            self.reconnect_readers("the stream begins anew")

    def reconnect_readers(self, reason: str) -> None:
        """Reset all streams and close their readers, so that they get a snapshot.

        ``reason`` is the reason in the close frame.
        """
        streams = self.streams
        self.reset()
        for stream in streams:
            for reader in list(stream.readers):
                reader.close(CloseCode.GOING_AWAY, reason)

    def send_heartbeat(self) -> None:
        """Send every subscriber a heartbeat and a ping."""
        self.flush()
        for stream in self.streams:
            body = wire.encode(HeartbeatMessage(self._delay(stream.filter.visibility)))
            heartbeat = NumberedMessage(stream.seq, body, self._clock())
            # Skipping a subscriber that is not ready does no harm: a heartbeat contains
            # no changes.
            self._write(stream, partial(encode_frames, [heartbeat], after=wire.PING))

    def _deliver(self) -> None:
        """Send each stream's new messages to its readers that are ready.

        The messages of a stream are joined once for all readers.
        """
        for stream in self.streams:
            if stream.unsent:
                messages = stream.take()
                readers = len(stream.readers)
                written = self._write(stream, partial(encode_frames, messages))
                self._tally.deliveries += written
                self._tally.skips += readers - written

    @staticmethod
    def _write(stream: NumberedStream, form: Callable[[bool], bytes]) -> int:
        """Write frames to all readers that are ready; return the number of readers.

        ``form`` returns the frames, deflated or not.
        """
        written = 0
        for deflated in (False, True):
            # The writers are copied, since a write can change which readers are ready.
            if writers := tuple(stream.ready[deflated].values()):
                data = form(deflated)
                for write in writers:
                    write(data)
                written += len(writers)
        return written

    # --- subscribers ------------------------------------------------------------------

    def subscribe(self, subscriber: Subscriber, resume: tuple[str, int] | None) -> None:
        """Add a subscriber; send it a greeting, and the missing messages or a snapshot.

        ``resume`` is the epoch and number of the last message that it has.
        """
        stream = subscriber.stream
        self.flush()
        if stream not in self.streams:  # the flush has failed and reset the streams
            subscriber.close(CloseCode.GOING_AWAY, "the stream begins anew")
            return
        stream.readers.add(subscriber)
        self._tally.subscribers += 1
        missing = stream.list_since(*resume) if resume else None
        if missing is None:
            self._tally.snapshots["joined"] += 1
            self._send_snapshot(subscriber)
        else:
            self._tally.resumes += 1
            self._send_messages(subscriber, missing, resumed=True)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Remove a subscriber, which gets no more messages."""
        for waiting in self._packing.values():
            if subscriber in waiting:
                waiting.remove(subscriber)
        if subscriber in subscriber.stream.readers:
            self._tally.subscribers -= 1
            subscriber.stream.release(subscriber)

    def catch_up(self, subscriber: Subscriber) -> None:
        """Send a subscriber the messages that it missed while it was skipped.

        If there are too many, send it a new snapshot.
        """
        self.flush()
        stream = subscriber.stream
        missing = stream.list_since(stream.epoch, subscriber.cursor or 0)
        if missing is None or count_bytes(missing) > self._limits.write_bytes:
            self._tally.snapshots["skipped"] += 1
            self._send_snapshot(subscriber)
        else:
            self._send_messages(subscriber, missing)

    def _send_snapshot(self, subscriber: Subscriber) -> None:
        """Send a subscriber a snapshot.

        A large one is deflated in another thread, once for all subscribers that wait
        for it.
        """
        subscriber.pause()
        subscriber.cursor = None
        now, *after = self.list_catch_up(subscriber.stream)
        if not subscriber.can_inflate or not now.is_slow_to_deflate:
            self._send_messages(subscriber, [now, *after])
        elif now in self._packing:
            self._packing[now].append(subscriber)
        else:
            self._packing[now] = [subscriber]
            packing = asyncio.get_running_loop().run_in_executor(None, now.pack)
            packing.add_done_callback(lambda _: self._send_deflated(now))

    def _send_deflated(self, now: NumberedMessage) -> None:
        """Send a snapshot to all that wait for it, even if it could not be deflated."""
        self.flush()
        for subscriber in self._packing.pop(now):
            stream = subscriber.stream
            after = stream.list_since(stream.epoch, now.seq)
            # If too many messages have come in the meantime, send a new snapshot
            # without deflating it.
            whole = self.list_catch_up(stream) if after is None else [now, *after]
            self._send_messages(subscriber, whole)

    def _send_messages(
        self,
        subscriber: Subscriber,
        messages: Sequence[NumberedMessage],
        *,
        resumed: bool = False,
    ) -> None:
        """Send a subscriber the newest messages of its stream.

        If it has not been greeted yet, send the greeting first.
        """
        stream = subscriber.stream
        size = self._limits.piece_bytes
        frames: list[Iterable[bytes]] = []
        if not subscriber.is_greeted:
            subscriber.is_greeted = True
            before = stream.seq - len(messages)
            frames.append(
                [
                    wire.frame(
                        wire.number(self.encode_hello(stream, resumed=resumed), before)
                    )
                ]
            )
        for message in messages:
            packed = subscriber.can_inflate and not message.is_slow_to_deflate
            frames.append(message.frames(size, deflated=packed))
        subscriber.send_frames(chain.from_iterable(frames), stream.seq)
