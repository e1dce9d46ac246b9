"""One websocket subscriber, after the handshake.

Loss policy: messages are written to the transport while it takes them. A client that
does not read is skipped once :attr:`live.server.limits.ClientLimits.write_bytes` are
unsent, and so costs that much memory and nothing more. When it drains in time it gets
what it missed, or where that is more than so much again, one fresh snapshot; else it is
closed. What it sends is read in small pieces, each connection's in its turn; a client
that sends too much is not read any more. A client that still has to send its token is
sent nothing before it, and closed with ``FORBIDDEN`` where it sends nothing in time, or
no valid one.

Everything here is synchronous: nothing happens between reading the state and handing it
to a connection, so no change falls between a snapshot and the messages after it. Only a
long snapshot is deflated by another thread, some 40 ms for 56 games, while messages to
all others go on; those who wait then get it with all that came after it.
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
from live.server.stream_filter import StreamFilter
from live.server.streams import NumberedStream
from live.server.wire import CloseCode


def read_peer_address(transport: asyncio.BaseTransport) -> str:
    """Return the client's address, without its port."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


_new_decoder = codecs.getincrementaldecoder("utf-8")
#: The parser gets its input in slices of this size, so that a burst of tiny frames (6
#: bytes at least) is cut off early.
_SLICE_BYTES = 256


class StreamSource(Protocol):
    """What a subscriber reads from: the streams of one audience."""

    def open_stream(self, selected: StreamFilter) -> NumberedStream: ...

    def catch_up(self, subscriber: Subscriber) -> None: ...

    def unsubscribe(self, subscriber: Subscriber) -> None: ...


class Subscriber(asyncio.Protocol):
    """Takes over the connection after the websocket's handshake; :meth:`follow` makes
    it a reader, at once or after its first message, which says who it is.
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
        """``protocol``: frames and the closing handshake; each of our messages is
        deflated by itself, so our frames fit between the protocol's own. ``turns`` are
        those of all connections.
        """
        self.stream: NumberedStream
        self.sender: str
        """The address that its filters are counted for."""
        self.guest: Guest | None = None
        """Who it is; None until its first message gives a token."""
        self.on_text: Callable[[bytes], None] | None = None
        """Called with every text message of one frame; None: such messages are
        ignored.
        """
        self.transport = transport
        self.address = read_peer_address(transport)
        self.is_greeted = False
        """Whether it was given its greeting."""
        self.cursor: int | None = None
        """Number of the last message that it was given, while it may not be written to;
        None while it waits for a snapshot.
        """
        # A client that asked for a smaller window than ours, which hardly any does,
        # gets messages as they are (RFC 7692, section 7.1.2.1).
        self.can_inflate = any(
            isinstance(each, PerMessageDeflate)
            and each.local_max_window_bits == MAX_WBITS
            for each in protocol.extensions
        )
        """Whether it takes deflated messages."""
        self._source: StreamSource
        self._when_gone = when_gone
        self._clock = clock
        self._limits = limits
        self._protocol = protocol
        self._tally = tally
        self._rest: Iterator[bytes] = iter(())
        # Since when it may not be written to.
        self._stalled_s: float | None = None
        self._closing_s: float | None = None
        self._since_s = self._heard_s = clock()
        often = limits.messages / limits.messages_s
        self._frames = TokenBucket(often, limits.messages, self._since_s)
        self._turns = turns
        self._decoder = _new_decoder()
        # What came and has not been read yet.
        self._unread = bytearray()
        # Whether nothing more is read.
        self._hung_up = False

    # --- towards the client -----------------------------------------------------------

    def follow(
        self,
        source: StreamSource,
        wanted: StreamFilter,
        guest: Guest,
        said: Callable[[bytes], None] | None = None,
    ) -> None:
        """Read, as this guest, what it asked for, once it has joined ``source``.

        Raises:
            TooManyFilters: as many distinct filters as allowed are in use.
        """
        self.stream = source.open_stream(wanted)
        self._source = source
        self.guest = guest
        self.on_text = said

    @property
    def is_ready(self) -> bool:
        """Whether the next messages may be written."""
        return self.guest is not None and self in self.stream.ready[self.can_inflate]

    def pause(self) -> None:
        """Write no messages to it until :meth:`send_frames`, or until it drains."""
        if self.guest is not None:
            self.stream.ready[self.can_inflate].pop(self, None)

    def send_frames(self, frames: Iterable[bytes], upto: int) -> None:
        """Write any number of frames as they drain; messages after ``upto`` follow
        later.
        """
        if self._closing_s is not None:
            # A bug of ours closed it meanwhile: nothing may follow a close frame.
            return
        self.pause()
        self.cursor = upto
        self._rest = iter(frames)
        self._write_frames()

    def close(self, code: CloseCode, reason: str = "") -> None:
        """Send a close frame; the connection ends when the client answers, or soon
        after.
        """
        if self._closing_s is None:
            self._stop()
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(code, reason)
                self._tally.closes[code.name.lower()] += 1
            self._flush()

    def enforce_deadlines(self, now_s: float) -> None:
        """Keep deadlines; called about once a second."""
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
        # A client that does not read our pongs may not ask for more.
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
        """Read one slice; the next in our next turn."""
        if not self._unread:
            return  # it was lost meanwhile
        self._protocol.receive_data(bytes(self._unread[:_SLICE_BYTES]))
        del self._unread[:_SLICE_BYTES]
        for event in self._protocol.events_received():
            if isinstance(event, Frame) and not self._hung_up:
                self._on_frame(event)
        if self._hung_up:
            return
        self._flush()
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
            self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        self._unread.clear()
        self._stop()
        # The callback refers to this object: after a flood of bad tokens, such cycles
        # would wait for the garbage collector.
        self.on_text = None
        self._when_gone(self)

    def _refuse_flood(self) -> None:
        """End our side, and neither write nor read more until it is dropped. Closing
        now would reset the connection while the client still sends, and our close frame
        would be lost on it.
        """
        self.close(CloseCode.TOO_MUCH, "too many messages")
        self._hung_up = True
        self._unread.clear()
        self.transport.pause_reading()
        try:
            if not self.transport.is_closing() and self.transport.can_write_eof():
                self.transport.write_eof()
        except OSError:  # lost already, which the loop has not seen yet
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
        # All other text is ignored: no message changes what a subscriber gets.

    def _is_text_so_far(self, frame: Frame) -> bool:
        """Return whether a text is UTF-8 as far as it has come.

        A character may continue in the next frame (RFC 6455, section 8.1). Binary
        messages end the connection with their first frame.
        """
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return True
        try:
            self._decoder.decode(frame.data, final=frame.fin)
        except UnicodeDecodeError:
            return False
        return True

    def _flush(self) -> None:
        """Write what the websocket protocol answers: pongs, close frames, the end; at
        once, for a lost transport logs every write.
        """
        parts = self._protocol.data_to_send()
        if data := b"".join(parts):
            self.transport.write(data)
        if SEND_EOF in parts:
            self.transport.close()
        if self._protocol.state is not State.OPEN:
            self._stop()

    def _stop(self) -> None:
        self.pause()
        self._rest = iter(())
        if self._closing_s is None:
            self._closing_s = self._clock()
            if self.guest is not None:
                self._source.unsubscribe(self)
