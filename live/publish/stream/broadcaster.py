"""Who reads which stream, and moving messages from the streams to them.

Everything here is synchronous: nothing happens between reading the state and handing it to a
connection, so no change falls between a snapshot and the messages after it. Only a long snapshot is
deflated elsewhere, some 40 ms for 56 games, in which everybody else's messages go on; whoever waits
for it is then given it with all that came after it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

import live
from live.events import Change, FigureChoice, HeartbeatMessage, HelloMessage, PublicDelay
from live.publish import wire
from live.publish.access.client_limits import ClientLimits
from live.publish.metrics import MetricCounts
from live.publish.published_state import PublishedState
from live.publish.stream.numbered_stream import NumberedMessage, NumberedStream, ResumeTooOld
from live.publish.stream.stream_filter import StreamFilter
from live.publish.stream.stream_hub import StreamHub, TooManyFilters
from live.publish.stream.subscriber import Subscriber
from live.publish.visibility import Visibility, shown

_log = logging.getLogger(__name__)


#: Does some work, here or in another thread, and then calls back here.
DoElsewhere = Callable[[Callable[[], None], Callable[[], None]], None]


def do_here(work: Callable[[], None], then: Callable[[], None]) -> None:
    """At once."""
    work()
    then()


class Broadcaster:
    """All subscribers of one audience in one service run. ``epoch`` must differ at every start, and
    between audiences. ``delay`` says how far the public is behind; ``elsewhere`` deflates.
    """

    def __init__(
        self,
        state: PublishedState,
        *,
        epoch: str,
        clock: Callable[[], float],
        limits: ClientLimits,
        tally: MetricCounts | None = None,
        figure: FigureChoice = "perceived",
        delay: Callable[[Visibility], PublicDelay] = lambda sees: PublicDelay(),
        elsewhere: DoElsewhere = do_here,
    ) -> None:
        self._state = state
        self._tally = tally or MetricCounts()
        self._limits = limits
        self._figure = figure
        self._delay = delay
        self._elsewhere = elsewhere
        # Who waits for a snapshot to be packed, and whether each has been greeted; the snapshots
        # that are being packed, each with those who wait for it.
        self._awaiting: dict[Subscriber, bool] = {}
        self._packing: dict[int, tuple[NumberedMessage, list[Subscriber]]] = {}
        self._epoch = epoch
        self._clock = clock
        # How often streams had to begin anew: part of their epoch.
        self._anew = 0
        self._hub = self._make_hub()
        self._readers: dict[NumberedStream, set[Subscriber]] = {}
        # Those whose filters select nothing yet share a stream; looked at again where a header is
        # another one.
        self._expecting: set[Subscriber] = set()
        self._headers_seen = 0

    def _make_hub(self) -> StreamHub:
        epoch = f"{self._epoch}-{self._anew}" if self._anew else self._epoch
        history, filters = self._limits.history, self._limits.filters
        return StreamHub(
            self._state, epoch=epoch, clock=self._clock, limits=history, max_filters=filters
        )

    def __len__(self) -> int:
        return self._tally.subscribers

    # --- changes out ------------------------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Write moves now; what may wait waits for :meth:`flush`."""
        try:
            self._hub.publish(changes)
            self._deliver()
            self._move_expecting()
        except Exception:
            # Broad: whatever went wrong, the stream may have a hole, which only a new one mends.
            self._start_over()

    def flush(self) -> None:
        """Write everything that waits."""
        try:
            self._hub.flush()
            self._deliver()
            self._move_expecting()
        except Exception:
            # Broad as in :meth:`publish`.
            self._start_over()

    def _start_over(self) -> None:
        """After a fault of ours a stream may lack a message, which nobody must mistake for the
        whole: all streams begin anew, and whoever read one comes again for a snapshot.
        """
        _log.exception("the streams begin anew after a fault")
        self._anew += 1
        self._hub = self._make_hub()
        readers, self._readers = self._readers, {}
        self._awaiting.clear()
        self._expecting.clear()
        for subscriber in (each for reading in readers.values() for each in reading):
            self._tally.subscribers -= 1
            subscriber.close(wire.CloseCode.GOING_AWAY, "the stream begins anew")

    def heartbeat(self) -> None:
        """Show every subscriber that the connection lives, and ask whether it does."""
        self.flush()
        ask = wire.ping(b"")
        bodies: dict[Visibility, bytes] = {}
        for stream, readers in self._readers.items():
            sees = stream.filter.visibility
            if sees not in bodies:
                bodies[sees] = wire.encode(HeartbeatMessage(self._delay(sees)))
            body = bodies[sees]
            frames = wire.frame(wire.number(body, stream.seq)) + ask
            for subscriber in readers:
                # Who can't take it now has missed nothing.
                if subscriber.ready:
                    subscriber.write(frames)

    def _deliver(self) -> None:
        """Write each stream's new frames, joined once, to all who read it and can take more."""
        for stream in self._hub.waiting():
            frames = stream.take()
            readers = self._readers.get(stream, ())
            skipped = 0
            for subscriber in readers:
                if subscriber.ready:
                    subscriber.write(frames.deflated if subscriber.deflates else frames.plain)
                else:
                    subscriber.missed = True
                    skipped += 1
            self._tally.deliveries += len(readers) - skipped
            self._tally.skips += skipped

    # --- subscribers ------------------------------------------------------------------------------

    def stream(self, selected: StreamFilter) -> NumberedStream:
        """The stream of a filter, made if there is none; one for all that select nothing yet.

        Raises:
            TooManyFilters: as many distinct filters as allowed are in use.
        """
        return self._hub.stream(selected if self._hub.selects(selected) else selected.of_nothing)

    def _move_expecting(self) -> None:
        """Give those whose filters have come to select something a stream of their own."""
        if not self._expecting or self._hub.headers_seen == self._headers_seen:
            return
        self._headers_seen = self._hub.headers_seen
        known: dict[StreamFilter, bool] = {}
        for subscriber in list(self._expecting):
            wanted = subscriber.wanted
            if wanted not in known:
                known[wanted] = self._hub.selects(wanted)
            if known[wanted] and subscriber in self._expecting:
                self._move(subscriber)

    def _move(self, subscriber: Subscriber) -> None:
        if not subscriber.ready:  # in the middle of something
            subscriber.close(wire.CloseCode.GOING_AWAY, "the filter selects something now")
            return
        try:
            stream = self._hub.stream(subscriber.wanted)
        except TooManyFilters:
            subscriber.close(1013, "too many different filters are in use")  # try again later
            return
        self._expecting.discard(subscriber)
        self._unread_by(subscriber)
        subscriber.stream = stream
        self._read_by(subscriber)
        self._give_snapshot(subscriber, greeted=False)

    def _read_by(self, subscriber: Subscriber) -> None:
        self._readers.setdefault(subscriber.stream, set()).add(subscriber)
        self._hub.hold(subscriber.stream)

    def _unread_by(self, subscriber: Subscriber) -> None:
        readers = self._readers[subscriber.stream]
        readers.remove(subscriber)
        self._hub.release(subscriber.stream)
        if not readers:
            del self._readers[subscriber.stream]

    def join(self, subscriber: Subscriber, resume: tuple[str, int] | None) -> None:
        """Greet a subscriber, then give it what it lacks: the missing messages or a snapshot."""
        stream = subscriber.stream
        self.flush()
        self._read_by(subscriber)
        if subscriber.wanted != stream.filter:
            self._expecting.add(subscriber)
        self._tally.subscribers += 1
        missing = self._hub.since(stream, *resume) if resume else ResumeTooOld("not asked for")
        if isinstance(missing, ResumeTooOld):
            self._tally.snapshots["joined"] += 1
            self._give_snapshot(subscriber, greeted=False)
        else:
            self._tally.resumes += 1
            greeting = self._greeting(stream, stream.seq - len(missing), resumed=True)
            frames = [each.frame(deflated=subscriber.deflates) for each in missing]
            subscriber.begin([greeting, *frames], stream.seq)

    def _greeting(self, stream: NumberedStream, seq: int, *, resumed: bool) -> bytes:
        """``seq`` is the number before that of the first message."""
        hello = HelloMessage(
            protocol=wire.PROTOCOL,
            epoch=stream.epoch,
            engine=shown(self._state.engine(), stream.filter.visibility),
            gain=self._state.gain(),
            version=live.__version__,
            resumed=resumed,
            sight=stream.filter.visibility.wire_name,
            figure=self._figure,
            public_delay=self._delay(stream.filter.visibility),
        )
        return wire.frame(wire.number(wire.encode(hello), seq))

    def left(self, subscriber: Subscriber) -> None:
        """Write no more messages to it."""
        self._awaiting.pop(subscriber, None)
        self._expecting.discard(subscriber)
        if subscriber in self._readers.get(subscriber.stream, ()):
            self._tally.subscribers -= 1
            self._unread_by(subscriber)

    def refresh(self, subscriber: Subscriber) -> None:
        """Give a subscriber that was skipped a fresh snapshot."""
        if subscriber not in self._awaiting:
            self._tally.snapshots["skipped"] += 1
            self._give_snapshot(subscriber)

    def _give_snapshot(
        self, subscriber: Subscriber, *, greeted: bool = True, pack: bool = True
    ) -> None:
        """At once, or with ``pack`` as soon as it is packed elsewhere."""
        self.flush()
        stream = subscriber.stream
        now, *after = self._hub.beginning(stream)
        if pack and subscriber.deflates and now.slow_to_pack:
            # Until then it is one that messages were kept from.
            subscriber.missed = True
            self._awaiting[subscriber] = greeted
            self._pack(now, subscriber)
            return
        frames = now.fragments(self._limits.piece_bytes, deflated=subscriber.deflates)
        frames += [each.frame(deflated=subscriber.deflates) for each in after]
        if not greeted:
            frames.insert(0, self._greeting(stream, now.seq - 1, resumed=False))
        subscriber.begin(frames, stream.seq)

    def _pack(self, snapshot: NumberedMessage, subscriber: Subscriber) -> None:
        """Once for all who ask meanwhile."""
        key = id(snapshot)
        if key in self._packing:
            self._packing[key][1].append(subscriber)
        else:
            self._packing[key] = snapshot, [subscriber]
            self._elsewhere(snapshot.pack, lambda: self._packed(key))

    def _packed(self, key: int) -> None:
        _, waiting = self._packing.pop(key)
        for subscriber in waiting:
            greeted = self._awaiting.pop(subscriber, None)
            if greeted is not None:
                # Where much has changed meanwhile, the next snapshot is packed here, not again and
                # again elsewhere.
                self._give_snapshot(subscriber, greeted=greeted, pack=False)

    def catch_up(self, subscriber: Subscriber) -> None:
        """Give a subscriber what came while its snapshot was written, if that is not much."""
        self.flush()
        stream = subscriber.stream
        missing = stream.since(stream.epoch, subscriber.cursor)
        if not isinstance(missing, ResumeTooOld):
            frames = [each.frame(deflated=subscriber.deflates) for each in missing]
            if sum(map(len, frames)) <= self._limits.write_bytes:
                subscriber.begin(frames, stream.seq)
                return
        self._tally.snapshots["late"] += 1
        self._give_snapshot(subscriber)

    def closed(self, reason: str) -> None:
        """Count a connection that we ended."""
        self._tally.closes[reason] += 1

    def drop_unused(self) -> None:
        """Forget streams that nobody reads any more, once resuming them is over."""
        self._hub.drop_unused()
