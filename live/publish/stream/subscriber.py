"""One websocket of one subscriber: what it is sent, what it missed, when it is closed.

Loss policy: messages are written to the transport while it takes them. A client that does not read
is skipped once :attr:`live.publish.access.client_limits.ClientLimits.write_bytes` are unsent, and
so costs that much
memory and nothing more. When it drains in time it gets one fresh snapshot; else it is closed.
What it sends is read in small pieces, each connection's in its turn; of who sends more than a
subscriber has to say nothing more is read.
"""

from __future__ import annotations

import asyncio
import codecs
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol
from zlib import MAX_WBITS

from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode
from websockets.protocol import SEND_EOF, State
from websockets.server import ServerProtocol

from live.publish.access.authentication import Guest
from live.publish.access.client_limits import ClientLimits
from live.publish.fair_turns import FairTurn, FairTurns
from live.publish.stream.numbered_stream import NumberedStream
from live.publish.stream.stream_filter import StreamFilter
from live.publish.wire import FRAMES_LOG, CloseCode

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
