"""Subscribers in a process of their own, and what they were sent.

    python -m tests.benchmarks.readers PORT LOOKING

Reads the subscribers' queries as a list in JSON; then for every empty line prints how
many bytes have come in so far, and when its input ends, and nothing has come for three
seconds, what came in all. The first LOOKING of them look for moves: when the last of
them read each, and where a game's id is the time at which its move was sent, how long
each of them took.
"""

import asyncio
import base64
import json
import re
import selectors
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from itertools import chain
from typing import Any

HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\n"
    "Sec-WebSocket-Key: "
    "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{more}\r\n"
)
MOVE = re.compile(rb'"type":"move","game":"([^"]{1,80})","ply":(\d{1,4})')
#: Nothing more comes when so long nothing has come, seconds.
QUIET_S = 3.0


def shake(
    port: int, path: str = "/v3/live", room: int = 0, more: str = ""
) -> socket.socket:
    """A plain socket after a websocket handshake's request; ``room``: bytes it takes
    unread; ``more``: headers.
    """
    sock = socket.socket()
    if room:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    sock.settimeout(60)
    sock.connect(("127.0.0.1", port))
    sock.sendall(HANDSHAKE.format(path=path, port=port, more=more).encode())
    return sock


class Reader:
    """One subscriber: what it got since the handshake, and all of it for one of each
    filter.
    """

    def __init__(self, port: int, query: str, whole: bool, looking: bool) -> None:
        self.query = query
        self.looking = looking
        self.whole: bytearray | None = bytearray() if whole else None
        self.bytes = self.checksum = 0
        self.sock = shake(port, f"/v3/live{query}")
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.sock.recv(65536)
        assert b" 101 " in head.split(b"\r\n", 1)[0], head
        self.take(head.split(b"\r\n\r\n", 1)[1])
        self.sock.setblocking(False)

    def take(self, data: bytes) -> None:
        self.bytes += len(data)
        self.checksum = zlib.crc32(data, self.checksum)
        if self.whole is not None:
            self.whole += data


def read(port: int, looking: int) -> dict[str, Any]:
    """Until the input ends."""
    ready = selectors.DefaultSelector()
    readers: dict[str, list[Reader]] = {}
    for number, query in enumerate(json.loads(sys.stdin.readline())):
        same = readers.setdefault(query, [])
        same.append(Reader(port, query, not same, number < looking))
        ready.register(same[-1].sock, selectors.EVENT_READ, same[-1])
        for key, _ in ready.select(0):  # their snapshots are long
            key.data.take(key.data.sock.recv(1 << 18))
    every = list(chain.from_iterable(readers.values()))
    ready.register(sys.stdin, selectors.EVENT_READ)
    print_line("ready")
    last: dict[str, int] = {}
    latencies_ms: list[float] = []
    going, quiet_s = True, 0.0
    while going or time.monotonic() - quiet_s < QUIET_S:
        for key, _ in ready.select(0.5):
            if key.data is None:
                if sys.stdin.readline():
                    print_line(sum(reader.bytes for reader in every))
                else:
                    going, quiet_s = False, time.monotonic()
                    ready.unregister(sys.stdin)
                continue
            data = key.data.sock.recv(1 << 18)
            now, quiet_s = time.monotonic_ns(), time.monotonic()
            assert data, "a subscriber was closed"
            key.data.take(data)
            for game, ply in MOVE.findall(data) if key.data.looking else ():
                last[f"{game.decode()} {int(ply)}"] = now
                if game.isdigit():
                    latencies_ms.append((now - int(game)) / 1e6)
    return {
        "readers": [(reader.query, reader.bytes, reader.checksum) for reader in every],
        "whole": {
            query: base64.b64encode(same[0].whole or b"").decode()
            for query, same in readers.items()
        },
        "last": last,
        "latencies_ms": latencies_ms,
    }


def print_line(value: object) -> None:
    """One line of JSON, at once."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


class Readers:
    """That process, as who starts it sees it."""

    def __init__(self, port: int, queries: Sequence[str], looking: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(port), str(looking)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._write(json.dumps(queries))

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    async def _line(self) -> Any:
        assert self._process.stdout is not None
        async with asyncio.timeout(120):
            return json.loads(await asyncio.to_thread(self._process.stdout.readline))

    async def ready(self) -> None:
        """All are subscribed."""
        assert await self._line() == "ready"

    async def total(self) -> int:
        """Bytes that came in so far."""
        self._write("")
        return int(await self._line())

    async def reached(self, wanted: int) -> None:
        """Wait until so much has come in all, which on a busy machine may take long."""
        for _ in range(3000):
            if await self.total() >= wanted:
                return
            await asyncio.sleep(0.02)
        raise TimeoutError(f"{wanted} bytes never came")

    async def settled(self) -> int:
        """The total once nothing more has come for two seconds."""
        last, still = -1, 0
        while still < 40:
            now = await self.total()
            still = still + 1 if now == last else 0
            last = now
            await asyncio.sleep(0.05)
        return last

    async def result(self) -> dict[str, Any]:
        """What came in all."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        found: dict[str, Any] = await self._line()
        self.end()
        return found

    def end(self) -> None:
        """Kill them."""
        self._process.kill()
        self._process.wait()


if __name__ == "__main__":
    print_line(read(int(sys.argv[1]), int(sys.argv[2])))
