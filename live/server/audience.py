"""The two audiences, arbiters and the public: state, streams and subscribers.

A change that an audience is allowed to know is redacted, numbered and encoded once for
each filter (:mod:`live.server.streams`), and the frame is written to all subscribers of
the filter.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from live.messages.to_clients import Change
from live.process.clock import ReadClock
from live.server import wire
from live.server.authentication import Guest
from live.server.event_reader import EventReader
from live.server.limits import ClientLimits
from live.server.metrics import MetricCounts
from live.server.numbered_stream import NumberedMessage, NumberedStream, count_bytes
from live.server.public_view import PublicView
from live.server.stream_filter import StreamFilter
from live.server.streams import DescribeDelay, StreamHub
from live.server.subscriber import Subscriber
from live.server.visibility import Visibility
from live.server.wire import CloseCode

_log = logging.getLogger(__name__)


def _encode_frames(
    messages: Iterable[NumberedMessage], deflated: bool, after: bytes = b""
) -> bytes:
    """Return the messages as websocket frames, followed by the bytes ``after``."""
    frames: list[bytes] = []
    for message in messages:
        frames += message.frames(deflated=deflated)
    return b"".join((*frames, after))


class Audience:
    """All subscribers that are allowed to know the same: arbiters, or the public."""

    def __init__(
        self,
        state: EventReader,
        *,
        epoch: str,
        clock: ReadClock,
        limits: ClientLimits,
        tally: MetricCounts,
        describe_delay: DescribeDelay,
    ) -> None:
        """Create an audience without subscribers.

        Args:
            state: the part of the event that the audience is allowed to know.
            epoch: identifies the numbering of messages; different at every start of
                the service, and for every audience.
            clock: returns a monotonic time, seconds.
            limits: limits for clients.
            tally: counters for the metrics.
            describe_delay: returns the delay of the public.
        """
        self.state = state
        """The part of the event that the audience is allowed to know."""
        self.hub = StreamHub(
            state,
            epoch=epoch,
            clock=clock,
            limits=limits,
            describe_delay=describe_delay,
        )
        self._clock = clock
        self._limits = limits
        self._tally = tally
        self._tick: asyncio.TimerHandle | None = None
        self._has_ended = False
        # Snapshots that are being deflated, with the subscribers that wait for them.
        self._packing: dict[NumberedMessage, list[Subscriber]] = {}

    # --- sending changes --------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Send moves now, and other changes within ``tick_s`` seconds."""
        self._deliver_or_restart(partial(self.hub.publish, changes))
        # Each audience has its own timer, so that the time of a message to the public
        # reveals nothing about messages to arbiters.
        if self._tick is None and not self._has_ended:
            loop = asyncio.get_running_loop()
            self._tick = loop.call_later(self._limits.tick_s, self._end_tick)

    def _end_tick(self) -> None:
        self._tick = None
        self.flush()

    def flush(self) -> None:
        """Send all waiting changes now."""
        self._deliver_or_restart(self.hub.flush)

    def end(self) -> None:
        """Send all waiting changes, and stop the timer for good."""
        self.flush()
        self._has_ended = True
        if self._tick is not None:
            self._tick.cancel()

    def _deliver_or_restart(self, step: Callable[[], None]) -> None:
        try:
            step()
            self._deliver()
        except Exception:
            # After any error a message can be missing in a stream. So all streams are
            # reset, and their readers reconnect and get a snapshot.
            _log.exception("all streams are reset after an error")
            self.restart("the stream starts again")

    def restart(self, reason: str) -> None:
        """Drop all streams and close their readers, which reconnect and get a snapshot.

        ``reason`` is the reason in the close frame.
        """
        streams = self.hub.streams
        self.hub.reset()
        for stream in streams:
            for reader in list(stream.readers):
                reader.close(CloseCode.GOING_AWAY, reason)

    def send_heartbeat(self) -> None:
        """Send every subscriber a heartbeat and a ping."""
        self.flush()
        for stream in self.hub.streams:
            body = self.hub.encode_heartbeat(stream)
            heartbeat = NumberedMessage(stream.seq, body, self._clock())
            # Skipping a subscriber that is not ready does no harm: a heartbeat contains
            # no changes.
            self._write_to_ready_readers(
                stream, partial(_encode_frames, [heartbeat], after=wire.PING)
            )

    def _deliver(self) -> None:
        """Send each stream's new messages to its readers that are ready.

        The messages of a stream are joined once for all readers.
        """
        for stream in self.hub.streams:
            if stream.unsent:
                messages = stream.take()
                readers = len(stream.readers)
                written = self._write_to_ready_readers(
                    stream, partial(_encode_frames, messages)
                )
                self._tally.deliveries += written
                self._tally.skips += readers - written

    @staticmethod
    def _write_to_ready_readers(
        stream: NumberedStream, form: Callable[[bool], bytes]
    ) -> int:
        """Write frames to all readers that are ready; return the number of readers.

        ``form`` returns the frames; its argument says whether they are deflated.
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

    def open_stream(self, selected: StreamFilter) -> NumberedStream:
        """Return the stream of a filter; create it if there is none.

        Raises:
            TooManyFilters: too many filters are in use, and all streams have readers.
        """
        self.flush()
        return self.hub.open_stream(selected)

    def subscribe(self, subscriber: Subscriber, resume: tuple[str, int] | None) -> None:
        """Add a subscriber; send it a greeting, and a snapshot or what it missed.

        ``resume`` is the epoch and number of the last message that the subscriber
        received; None if it needs a snapshot.
        """
        stream = subscriber.stream
        self.flush()
        if stream not in self.hub.streams:  # the flush failed and dropped all streams
            subscriber.close(CloseCode.GOING_AWAY, "the stream starts again")
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

        A large snapshot is deflated in another thread, once for all subscribers that
        wait for it.
        """
        subscriber.pause()
        subscriber.cursor = None
        now, *after = self.hub.list_catch_up(subscriber.stream)
        if not subscriber.can_inflate or not now.is_slow_to_deflate:
            self._send_messages(subscriber, [now, *after])
        elif now in self._packing:
            self._packing[now].append(subscriber)
        else:
            self._packing[now] = [subscriber]
            packing = asyncio.get_running_loop().run_in_executor(None, now.pack)
            packing.add_done_callback(lambda _: self._send_deflated(now))

    def _send_deflated(self, now: NumberedMessage) -> None:
        """Send a snapshot to all subscribers that wait for it.

        If the snapshot could not be deflated, it is sent as it is.
        """
        self.flush()
        for subscriber in self._packing.pop(now):
            stream = subscriber.stream
            after = stream.list_since(stream.epoch, now.seq)
            # If too many messages have come in the meantime, send a new snapshot
            # without deflating it.
            whole = self.hub.list_catch_up(stream) if after is None else [now, *after]
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
            hello = self.hub.encode_hello(stream, resumed=resumed)
            before = stream.seq - len(messages)
            frames.append([wire.frame(wire.number(hello, before))])
        for message in messages:
            packed = subscriber.can_inflate and not message.is_slow_to_deflate
            frames.append(message.frames(size, deflated=packed))
        subscriber.send_frames(chain.from_iterable(frames), stream.seq)


class Audiences:
    """The two audiences of one run of the service: arbiters, and the public."""

    def __init__(
        self,
        state: EventReader,
        view: PublicView,
        *,
        clock: ReadClock,
        limits: ClientLimits,
        tally: MetricCounts,
    ) -> None:
        """Create both audiences without subscribers.

        Args:
            state: the live state, for arbiters.
            view: the part of the live state that the public is allowed to know.
            clock: returns a monotonic time, seconds.
            limits: limits for clients.
            tally: counters for the metrics.
        """
        self.view = view
        epoch = secrets.token_hex(6)
        create_audience = partial(
            Audience,
            clock=clock,
            limits=limits,
            tally=tally,
            describe_delay=view.describe_delay,
        )
        self.arbiters = create_audience(state, epoch=f"{epoch}a")
        self.public = create_audience(view, epoch=epoch)
        view.listen(
            self.public.publish, partial(self.public.restart, "the delay has changed")
        )

    def __iter__(self) -> Iterator[Audience]:
        return iter((self.arbiters, self.public))

    def publish(self, changes: Sequence[Change]) -> None:
        """Send subscribers changes that are already part of the live state.

        This is fast and synchronous. The public gets its part of them after its delay.
        """
        self.arbiters.publish(changes)
        self.view.publish(changes)

    def choose(self, selected: StreamFilter) -> Audience:
        """Return the audience that may see what a filter allows: arbiters or public."""
        if selected.visibility is Visibility.ARBITER:
            return self.arbiters
        return self.public

    def restrict(self, guest: Guest, selected: StreamFilter) -> StreamFilter:
        """Return a filter limited to what a guest is allowed to see."""
        return self.view.names.add_public_ids(guest.restrict(selected))
