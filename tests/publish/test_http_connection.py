"""What one connection may cost before it is answered."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from live.publish.access import ClientLimits
from live.publish.connection import HttpConnection
from live.publish.subscribers import FairTurns

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


class Wire(asyncio.Transport):
    """Keeps what is written; ``lost`` refuses to end its side, as a reset socket does."""

    def __init__(self, *, lost: bool = False) -> None:
        super().__init__()
        self.written = b""
        self.lost = lost
        self.ended = self.aborted = False
        self.reading = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if self.lost:
            raise OSError(107, "Transport endpoint is not connected")
        self.ended = True

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.reading = False


class Host:
    """Has room for everybody, and is asked for nothing."""

    def entered(self, connection: HttpConnection) -> bool:
        return True

    def gone(self, connection: asyncio.Protocol) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")


def connected(wire: Wire, limits: ClientLimits | None = None) -> HttpConnection:
    made = HttpConnection(cast(Any, Host()), FairTurns(), lambda: 0.0, limits or ClientLimits())
    made.connection_made(wire)
    return made


async def test_a_body_is_refused_at_its_first_byte_and_no_further_piece_of_it_is_read() -> None:
    wire = Wire()
    connection = connected(wire)
    connection.data_received(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    await asyncio.sleep(0)
    assert wire.written.startswith(b"HTTP/1.1 413 ")
    assert wire.ended
    before = len(wire.written)
    connection.data_received(b"1\r\na\r\n" * 1000)
    await asyncio.sleep(0)
    assert len(wire.written) == before
    assert wire.reading
    for _ in range(5):
        connection.data_received(b"1\r\na\r\n" * 40_000)
    assert not wire.reading


async def test_a_socket_that_is_lost_when_its_last_answer_is_written_is_let_go() -> None:
    wire = Wire(lost=True)
    connection = connected(wire)
    connection.sweep(1000.0)
    assert wire.written.startswith(b"HTTP/1.1 408 ")
    assert wire.aborted
