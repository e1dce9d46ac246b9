"""What one connection may cost before it is answered."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from live.publish.access import ClientLimits
from live.publish.connection import HttpConnection
from live.publish.subscribers import FairTurns
from tests.publish.world import Wire

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


class Host:
    """Has room for everybody, and is asked for nothing."""

    def entered(self, connection: HttpConnection) -> bool:
        return True

    def gone(self, connection: asyncio.Protocol) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")


def connected(wire: Wire) -> HttpConnection:
    made = HttpConnection(cast(Any, Host()), FairTurns(), lambda: 0.0, ClientLimits())
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
