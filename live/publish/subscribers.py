"""The work of many connections, one piece in each turn of the loop.

One websocket of one subscriber: what it is sent, what it missed, when it is closed.

Loss policy: messages are written to the transport while it takes them. A client that does not read
is skipped once :attr:`live.publish.access.ClientLimits.write_bytes` are unsent, and
so costs that much
memory and nothing more. When it drains in time it gets one fresh snapshot; else it is closed.
What it sends is read in small pieces, each connection's in its turn; of who sends more than a
subscriber has to say nothing more is read.

Who reads which stream, and moving messages from the streams to them.

Everything here is synchronous: nothing happens between reading the state and handing it to a
connection, so no change falls between a snapshot and the messages after it. Only a long snapshot is
deflated elsewhere, some 40 ms for 56 games, in which everybody else's messages go on; whoever waits
for it is then given it with all that came after it.
"""

from __future__ import annotations

import asyncio
import codecs
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol
from zlib import MAX_WBITS

from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode
from websockets.protocol import SEND_EOF, State
from websockets.server import ServerProtocol

import live
from live.events import Change, FigureChoice, HeartbeatMessage, HelloMessage, PublicDelay
from live.publish import wire
from live.publish.access import ClientLimits, Guest
from live.publish.answers import MetricCounts
from live.publish.published_state import PublishedState
from live.publish.streams import (
    NumberedMessage,
    NumberedStream,
    ResumeTooOld,
    StreamHub,
    TooManyFilters,
)
from live.publish.visibility import StreamFilter, Visibility, shown
from live.publish.wire import FRAMES_LOG, CloseCode


class FairTurns:
    """Work of many connections, one piece in each turn of the loop, in order of arrival: what goes
    out to subscribers need not wait for all of it. A piece that fails is reported to the loop, and
    the next follows.

    Loss policy: none is lost but what was taken back; the bound is one piece a connection.
    """

    def __init__(self) -> None:
        self._waiting: deque[FairTurn] = deque()

    def add(self, work: Callable[[], None]) -> FairTurn:
        """Do ``work`` when its turn comes, never from inside this call."""
        turn = FairTurn(work)
        self._waiting.append(turn)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._next)
        return turn

    def _next(self) -> None:
        turn = self._waiting[0]
        try:
            if turn.work is not None:
                turn.work()
        finally:
            self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._next)


class FairTurn:
    """One piece of work that waits."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], None]) -> None:
        self.work: Callable[[], None] | None = work

    def cancel(self) -> None:
        """Take it back."""
        self.work = None


_utf8 = codecs.getincrementaldecoder("utf-8")

#: The parser is fed in slices, so that a burst of tiny frames (6 bytes at least) is cut off early.
SLICE_BYTES = 256
#: How many times as many pongs as other frames a subscriber may send.
PONGS = 10


def takes_deflated(extensions: Sequence[Extension]) -> bool:
    """Whether messages may be deflated. A client that asked for a smaller window than ours, which
    hardly any does, gets them as they are (RFC 7692, section 7.1.2.1).
    """
    return any(
        isinstance(each, PerMessageDeflate) and each.local_max_window_bits == MAX_WBITS
        for each in extensions
    )


def write_all(
    parts: Sequence[bytes], transport: asyncio.Transport, at_end: Callable[[], None]
) -> None:
    """Write what the websocket protocol answers, at once: a lost transport logs every write."""
    if data := b"".join(parts):
        transport.write(data)
    if SEND_EOF in parts:
        at_end()
        transport.close()


def end_our_side(transport: asyncio.Transport) -> None:
    """Nothing more is written. Closing now would reset the connection while the client still sends,
    and our close frame would be lost on it. Nothing more is read either.
    """
    transport.pause_reading()
    try:
        if not transport.is_closing() and transport.can_write_eof():
            transport.write_eof()
    except OSError:  # lost already, which the loop has not seen yet
        transport.abort()


class FrameSource(Protocol):
    """What a subscriber needs of the source of its messages."""

    def refresh(self, subscriber: Subscriber) -> None:
        """Give it a fresh snapshot."""

    def catch_up(self, subscriber: Subscriber) -> None:
        """Give it what came while its snapshot was being written."""

    def left(self, subscriber: Subscriber) -> None:
        """It gets no more messages."""

    def closed(self, reason: str) -> None:
        """It was we who ended it."""


class Subscriber(asyncio.Protocol):
    """Takes over the connection after the handshake, or with ``protocol`` after a first message."""

    def __init__(
        self,
        source: FrameSource,
        stream: NumberedStream,
        transport: asyncio.Transport,
        clock: Callable[[], float],
        limits: ClientLimits,
        when_gone: Callable[[Subscriber], None],
        guest: Guest = Guest(),  # noqa: B008 - frozen
        protocol: ServerProtocol | None = None,
        said: Callable[[Subscriber, bytes], None] | None = None,
        turns: FairTurns | None = None,
        wanted: StreamFilter | None = None,
    ) -> None:
        """``said`` is called with every text message of one frame; None leaves them all alone.
        ``turns`` are those of all connections.
        """
        self.stream = stream
        self.wanted = wanted or stream.filter
        """The filter it asked for; its stream may be that of all that select nothing yet."""
        self.guest = guest
        self.transport = transport
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        self.write = transport.write
        self.ready = False
        """Whether the next messages may be written."""
        self.missed = False
        """Whether messages were left out since :meth:`begin`."""
        self.cursor = 0
        """Number of the last message in what :meth:`begin` was given."""
        self._source = source
        self._when_gone = when_gone
        self._said = said
        self._clock = clock
        self._limits = limits
        # Frames and closing handshake; each of our messages is deflated by itself, so our own
        # frames fit in between its.
        self._protocol = protocol or ServerProtocol(
            state=State.OPEN, max_size=limits.message_bytes, logger=FRAMES_LOG
        )
        self.deflates = takes_deflated(self._protocol.extensions)
        """Whether it takes deflated messages."""
        self._rest: Iterator[bytes] | None = None
        self._beginning = False
        self._paused = False
        self._stalled_s: float | None = None
        self._closing_s: float | None = None
        self._heard_s = clock()
        self._frames_s: deque[float] = deque()
        self._pongs_s: deque[float] = deque()
        self._text = _utf8()
        self._turns = turns or FairTurns()
        # What came and has not been read yet, and our turn to read on.
        self._unread = memoryview(b"")
        self._next: FairTurn | None = None
        # Whether nothing more is read.
        self._hung_up = False

    # --- towards the client -----------------------------------------------------------------------

    def begin(self, frames: Sequence[bytes], upto: int) -> None:
        """Write any number of frames as they drain; messages after ``upto`` follow later."""
        self.cursor = upto
        self.ready = False
        self.missed = False
        self._beginning = True
        self._rest = iter(frames)
        self._pump()

    def close(self, code: int, reason: str = "") -> None:
        """Say goodbye; the connection ends when the client answers, or soon after."""
        if self._closing_s is None:
            self._stop()
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(code, reason)
                named = code in CloseCode.__members__.values()
                self._source.closed(CloseCode(code).name.lower() if named else str(code))
            self._flush()

    def sweep(self, now_s: float) -> None:
        """Keep deadlines; called about once a second."""
        limits = self._limits
        if self._closing_s is not None:
            if now_s - self._closing_s > limits.closing_s:
                self.transport.abort()
        elif self._stalled_s is not None and now_s - self._stalled_s > limits.slow_after_s:
            self.close(CloseCode.SLOW, "does not read fast enough")
        elif now_s - self._heard_s > limits.silent_after_s:
            self.close(CloseCode.SILENT, "no pong")

    def pause_writing(self) -> None:
        self._paused = True
        self.ready = False
        if self._stalled_s is None:
            self._stalled_s = self._clock()
        # Whoever does not read our pongs may not ask for more of them.
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        self._stalled_s = None
        if not self._unread and not self.transport.is_closing():
            self.transport.resume_reading()
        if self._closing_s is None:
            self._pump()

    def _pump(self) -> None:
        while self._rest is not None and not self._paused:
            frame = next(self._rest, None)
            if frame is None:
                self._rest = None
            else:
                self.transport.write(frame)
        if self._paused:
            return
        beginning, self._beginning = self._beginning, False
        if not self.missed:
            self.ready = True
        elif beginning:
            self._source.catch_up(self)
        else:
            self._source.refresh(self)

    # --- from the client --------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._hung_up:
            return
        self._heard_s = self._clock()
        waits = bool(self._unread)
        self._unread = memoryview(bytes(self._unread) + data)
        if not waits:
            self._read()

    def _read(self) -> None:
        """Read one slice; the next in our next turn."""
        self._next = None
        slice, self._unread = self._unread[:SLICE_BYTES], self._unread[SLICE_BYTES:]
        self._protocol.receive_data(bytes(slice))
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._heard(event)
        if self._hung_up:
            return
        self._flush()
        if self.transport.is_closing():
            self._unread = memoryview(b"")
        elif self._unread:
            self.transport.pause_reading()
            self._next = self._turns.add(self._read)
        elif not self._paused:
            self.transport.resume_reading()

    def eof_received(self) -> None:
        if not self._hung_up:
            self._forget_unread()
            self._protocol.receive_eof()
            self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        self._forget_unread()
        self._stop()
        self._when_gone(self)

    def _forget_unread(self) -> None:
        self._unread = memoryview(b"")
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _hang_up(self) -> None:
        """End our side and read nothing more, until it is dropped."""
        self.close(CloseCode.TOO_MUCH, "too many messages")
        self._hung_up = True
        self._forget_unread()
        end_our_side(self.transport)

    def _heard(self, frame: Frame) -> None:
        if self._hung_up:
            return
        limits, pong = self._limits, frame.opcode is Opcode.PONG
        # An unsolicited pong is a sign of life (RFC 6455, section 5.5.3), so many more may come.
        frames = self._pongs_s if pong else self._frames_s
        most = PONGS * limits.messages if pong else limits.messages
        frames.append(self._heard_s)
        while self._heard_s - frames[0] > limits.messages_s:
            frames.popleft()
        if len(frames) > most:
            self._hang_up()
        elif self._closing_s is not None:
            return
        elif frame.opcode is Opcode.BINARY:
            self.close(1003, "text only")
        elif not self._is_text(frame):
            self.close(1007, "not UTF-8")
        elif self._said is not None and frame.opcode is Opcode.TEXT and frame.fin:
            self._said(self, bytes(frame.data))
        # All other text is left alone: nothing that is said changes what a subscriber gets.

    def _is_text(self, frame: Frame) -> bool:
        """Whether what came of a message so far can be text (RFC 6455, section 8.1)."""
        if frame.opcode is Opcode.TEXT:
            self._text = _utf8()
        elif frame.opcode is not Opcode.CONT:
            return True
        try:
            self._text.decode(frame.data, final=frame.fin)
        except UnicodeDecodeError:
            return False
        return True

    def _flush(self) -> None:
        """Write what the websocket protocol answers: pongs, close frames, the end."""
        write_all(self._protocol.data_to_send(), self.transport, self._stop)
        if self._protocol.state is not State.OPEN:
            self._stop()

    def _stop(self) -> None:
        self.ready = False
        self._rest = None
        if self._closing_s is None:
            self._closing_s = self._clock()
            self._source.left(self)


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
