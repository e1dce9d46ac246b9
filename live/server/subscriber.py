"""One websocket subscriber, after the handshake.

Messages are written to the transport while it accepts them. A client that does not read
is skipped when :attr:`live.server.limits.ClientLimits.write_bytes` are unsent, so it
needs no more memory than that. If it reads its data in time, it gets the messages that
it missed, or a new snapshot if these exceed ``write_bytes`` again. Otherwise its
connection is closed.

Data from clients is read in small pieces, by turns among all connections. If a client
sends too much, its data is no longer read. A client that must send a token gets no data
before that. If the token is invalid or does not come in time, the connection is closed
with ``FORBIDDEN``.

Everything here is synchronous: nothing can happen between reading the state and writing
it to a connection, so no change comes between a snapshot and the messages after it.
Only a long snapshot is deflated in another thread (about 40 ms for 56 games). Meanwhile
all other clients get their messages. The clients that wait for the snapshot then get it
with all messages after it.
"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol
from zlib import MAX_WBITS

from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode
from websockets.protocol import SEND_EOF, State
from websockets.server import ServerProtocol

from live.process.clock import ReadClock
from live.server.authentication import Guest
from live.server.fair_turns import FairTurns
from live.server.limits import ClientLimits, TokenBucket
from live.server.metrics import MetricCounts
from live.server.numbered_stream import NumberedStream
from live.server.stream_filter import StreamFilter
from live.server.wire import CloseCode


def read_peer_address(transport: asyncio.BaseTransport) -> str:
    """Return the client's address, without a port; empty if it is unknown."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


_new_decoder = codecs.getincrementaldecoder("utf-8")
#: Size of the slices in which input is parsed, bytes. It is small, so that a client
#: that sends many tiny frames (at least 6 bytes each) is stopped early.
_SLICE_BYTES = 256


class StreamSource(Protocol):
    """The streams of one audience, from which subscribers read."""

    def open_stream(self, selected: StreamFilter) -> NumberedStream: ...

    def catch_up(self, subscriber: Subscriber) -> None: ...

    def unsubscribe(self, subscriber: Subscriber) -> None: ...


class Subscriber(asyncio.Protocol):
    """The protocol of a connection after its websocket handshake.

    :meth:`follow` makes it a reader of a stream, either at once or after a first
    message with a token.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        clock: ReadClock,
        limits: ClientLimits,
        when_gone: Callable[[Subscriber], None],
        protocol: ServerProtocol,
        *,
        turns: FairTurns,
        tally: MetricCounts,
    ) -> None:
        """Create a subscriber.

        Args:
            transport: the connection.
            clock: returns a monotonic time, seconds.
            limits: limits for clients.
            when_gone: called when the connection is lost.
            protocol: reads frames, and writes pongs and the closing handshake. Messages
                are written without it; this works since each message is deflated
                independently.
            turns: the queue for reading from all connections.
            tally: counters for the metrics.
        """
        self.stream: NumberedStream
        self.sender: str
        """The address for which the client's websockets and filters are counted."""
        self.guest: Guest | None = None
        """The identity of the client; None until its first message contains a token."""
        self.on_text: Callable[[bytes], None] | None = None
        """Called with each text message that is a single frame; None to ignore text."""
        self.transport = transport
        self.address = read_peer_address(transport)
        self.is_greeted = False
        """True after the greeting was sent."""
        self.cursor: int | None = None
        """While the client is not ready for more: the number of the last message sent
        to it, or None if it waits for a snapshot.
        """
        # A client that asked for a smaller window than ours, which is rare, gets
        # messages that are not deflated (RFC 7692, section 7.1.2.1).
        self.can_inflate = any(
            isinstance(extension, PerMessageDeflate)
            and extension.local_max_window_bits == MAX_WBITS
            for extension in protocol.extensions
        )
        """True if the client accepts deflated messages."""
        self._source: StreamSource
        self._when_gone = when_gone
        self._clock = clock
        self._limits = limits
        self._protocol = protocol
        self._tally = tally
        self._rest: Iterator[bytes] = iter(())
        # The time since which the transport has accepted no data, seconds. None while
        # it accepts data.
        self._stalled_s: float | None = None
        self._closing_s: float | None = None
        self._since_s = self._heard_s = clock()
        frames_per_s = limits.messages / limits.messages_s
        self._frames = TokenBucket(frames_per_s, limits.messages, self._since_s)
        self._turns = turns
        self._decoder = _new_decoder()
        # Data that has arrived and has not been parsed yet.
        self._unread = bytearray()
        # True if all further data from the client is ignored.
        self._hung_up = False

    # --- to the client ----------------------------------------------------------------

    def follow(
        self,
        source: StreamSource,
        selected: StreamFilter,
        guest: Guest,
        on_text: Callable[[bytes], None] | None = None,
    ) -> None:
        """Make the client a reader of a stream.

        Args:
            source: the streams of the client's audience.
            selected: the filter, already limited to the client's rights.
            guest: the identity of the client.
            on_text: called with each text message of the client; None to ignore them.

        Raises:
            TooManyFilters: too many different filters are in use.
        """
        self.stream = source.open_stream(selected)
        self._source = source
        self.guest = guest
        self.on_text = on_text

    @property
    def is_ready(self) -> bool:
        """True if the next messages can be written at once."""
        return self.guest is not None and self in self.stream.ready[self.can_inflate]

    def pause(self) -> None:
        """Stop writing messages until :meth:`send_frames` or :meth:`resume_writing`."""
        if self.guest is not None:
            self.stream.ready[self.can_inflate].pop(self, None)

    def send_frames(self, frames: Iterable[bytes], cursor: int) -> None:
        """Write any number of frames, as fast as the client reads them.

        ``cursor`` is the number of the last message in ``frames``. Later messages of
        the stream follow.
        """
        if self._closing_s is not None:
            # The subscriber was closed after an error in the service. Nothing is
            # allowed to follow a close frame.
            return
        self.pause()
        self.cursor = cursor
        self._rest = iter(frames)
        self._write_frames()

    def close(self, code: CloseCode, reason: str = "") -> None:
        """Send a close frame.

        The connection ends when the client answers, or after ``closing_s`` seconds.
        """
        if self._closing_s is None:
            self._stop_sending()
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(code, reason)
                self._tally.closes[code.name.lower()] += 1
            self._write_protocol_answers()

    def enforce_deadlines(self, now_s: float) -> None:
        """Close or abort the connection if a time limit has passed.

        This is called about once a second.
        """
        limits = self._limits
        if self._closing_s is not None:
            if now_s - self._closing_s > limits.closing_s:
                self.transport.abort()
        elif self.guest is None and now_s - self._since_s > limits.request_s:
            self.close(CloseCode.FORBIDDEN, "no token in time")
        elif (
            self._stalled_s is not None
            and now_s - self._stalled_s > limits.slow_after_s
        ):
            self.close(CloseCode.SLOW, "does not read fast enough")
        elif now_s - self._heard_s > limits.silent_after_s:
            self.close(CloseCode.SILENT, "no pong")

    def pause_writing(self) -> None:
        self._stalled_s = self._clock()
        if self.is_ready:
            self.pause()
            self.cursor = self.stream.seq
        # A client that does not read our pongs must not be able to request more.
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self._stalled_s = None
        if not self._unread and not self.transport.is_closing():
            self.transport.resume_reading()
        if self._closing_s is None:
            self._write_frames()

    def _write_frames(self) -> None:
        while self._stalled_s is None and (frame := next(self._rest, None)) is not None:
            self.transport.write(frame)
        if self._stalled_s is not None or self.guest is None or self.cursor is None:
            return
        if self.cursor == self.stream.seq:
            self.stream.ready[self.can_inflate][self] = self.transport.write
        else:
            self._source.catch_up(self)

    # --- from the client --------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._hung_up:
            return
        self._heard_s = self._clock()
        waits = bool(self._unread)
        self._unread += data
        if not waits:
            self._read()

    def _read(self) -> None:
        """Parse one slice of the input, and ask for a turn for the next slice."""
        if not self._unread:
            return  # the connection was lost in the meantime
        self._protocol.receive_data(bytes(self._unread[:_SLICE_BYTES]))
        del self._unread[:_SLICE_BYTES]
        for event in self._protocol.events_received():
            if isinstance(event, Frame) and not self._hung_up:
                self._on_frame(event)
        if self._hung_up:
            return
        self._write_protocol_answers()
        if self.transport.is_closing():
            self._unread.clear()
        elif self._unread:
            self.transport.pause_reading()
            self._turns.add(self._read)
        elif self._stalled_s is None:
            self.transport.resume_reading()

    def eof_received(self) -> None:
        if not self._hung_up:
            self._unread.clear()
            self._protocol.receive_eof()
            self._write_protocol_answers()

    def connection_lost(self, error: Exception | None) -> None:
        self._unread.clear()
        self._stop_sending()
        # The callback refers to this object. Without this line, many clients with wrong
        # tokens would leave many reference cycles for the garbage collector.
        self.on_text = None
        self._when_gone(self)

    def _refuse_flood(self) -> None:
        """Close our side of a connection whose client sends too much.

        The connection is not read any more, and is dropped later. Closing it now would
        reset it while the client is still sending, and our close frame would be lost.
        """
        self.close(CloseCode.TOO_MUCH, "too many messages")
        self._hung_up = True
        self._unread.clear()
        self.transport.pause_reading()
        try:
            if not self.transport.is_closing() and self.transport.can_write_eof():
                self.transport.write_eof()
        except OSError:  # the connection is lost, but the loop has not noticed yet
            self.transport.abort()

    def _on_frame(self, frame: Frame) -> None:
        if not self._frames.take(self._heard_s):
            self._refuse_flood()
        elif self._closing_s is not None:
            return
        elif not self._is_text_so_far(frame):
            self.close(CloseCode.NOT_UTF8, "text is not UTF-8")
        elif frame.opcode is Opcode.TEXT and frame.fin and self.on_text is not None:
            self.on_text(bytes(frame.data))
        elif frame.opcode in (Opcode.TEXT, Opcode.BINARY) and self.guest is None:
            self.close(
                CloseCode.FORBIDDEN, "a token is expected first, in one text message"
            )
        elif frame.opcode is Opcode.BINARY:
            self.close(CloseCode.TEXT_ONLY, "text only")
        # All other text is ignored; messages cannot change the filter of a subscriber.

    def _is_text_so_far(self, frame: Frame) -> bool:
        """Return whether a text message is valid UTF-8 up to the end of this frame.

        A character can continue in the next frame (RFC 6455, section 8.1). Binary
        messages need no check, since their first frame ends the connection.
        """
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return True
        try:
            self._decoder.decode(frame.data, final=frame.fin)
        except UnicodeDecodeError:
            return False
        return True

    def _write_protocol_answers(self) -> None:
        """Write the websocket protocol's answers: pongs, close frames and the end.

        They are joined into one write, since asyncio logs each write to a lost
        transport.
        """
        parts = self._protocol.data_to_send()
        if data := b"".join(parts):
            self.transport.write(data)
        if SEND_EOF in parts:
            self.transport.close()
        if self._protocol.state is not State.OPEN:
            self._stop_sending()

    def _stop_sending(self) -> None:
        self.pause()
        self._rest = iter(())
        if self._closing_s is None:
            self._closing_s = self._clock()
            if self.guest is not None:
                self._source.unsubscribe(self)
