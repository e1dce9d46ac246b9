"""CPU for each delivery of one message to many subscribers, beside three yardsticks.

    python -m tests.benchmarks.publish.fan_out [CLIENTS [ROUNDS]]

One message of 500 bytes goes to every subscriber per round; the subscribers are in a process of
their own, and a round begins only when they have read the one before. Each server runs in its own
process; figures are its CPU time (user and system) per delivery, taken over the rounds alone.
``ws`` needs node and a folder with the npm package: ``WS_PACKAGE=/path/to/node_modules/ws``.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import json
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import cast

from live.config import ServerConfig
from live.events import MoveMessage, PlyView
from live.publish.access import ClientLimits
from live.publish.server import Publisher
from live.publish.wire import encode, number
from tests.benchmarks.service.drills import numbers, shake
from tests.publish.world import World

MODULE = "tests.benchmarks.publish.fan_out"
#: A move of a game; without the id of the game it takes 430 bytes.
PAYLOAD_BYTES = 500


class Drain:
    """The subscribers, in another process."""

    def __init__(self, port: int, clients: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", MODULE, "--drain", str(port), str(clients)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    async def _line(self) -> str:
        assert self._process.stdout is not None
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(60):
            line = await loop.run_in_executor(None, self._process.stdout.readline)
        return line.decode().strip()

    async def ready(self) -> None:
        assert await self._line() == "ready"

    async def total(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
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

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def rounds(drain: Drain, send: Callable[[], object], clients: int, count: int) -> float:
    """Median CPU per delivery, microseconds."""
    await drain.ready()
    start = await drain.settled()
    figures = []
    for turn in range(1, count + 1):
        before = cpu_s()
        send()
        # One turn of the loop: what the server itself puts off must be counted too.
        await asyncio.sleep(0)
        figures.append((cpu_s() - before) / clients * 1e6)
        await drain.reached(start + turn * clients * PAYLOAD_BYTES)
    end = await drain.settled()
    per_message = (end - start) / clients / count
    assert PAYLOAD_BYTES <= per_message < PAYLOAD_BYTES * 1.2, per_message
    return statistics.median(figures)


async def bare(clients: int, count: int) -> float:
    """``socket.send`` in a loop to the same number of sockets."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    drain = Drain(listener.getsockname()[1], clients)
    loop = asyncio.get_running_loop()
    socks: list[socket.socket] = []
    for _ in range(clients):
        sock, _ = await loop.run_in_executor(None, listener.accept)
        await loop.run_in_executor(None, sock.recv, 65536)
        sock.sendall(b"HTTP/1.1 101 OK\r\n\r\n")
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        socks.append(sock)
    message = b"x" * (PAYLOAD_BYTES + 4)

    def send() -> None:
        for sock in socks:
            sock.send(message)

    try:
        return await rounds(drain, send, clients, count)
    finally:
        drain.end()
        for sock in socks:
            sock.close()
        listener.close()


async def written(clients: int, count: int) -> float:
    """``transport.write`` in a loop: what any server on an event loop of Python's pays at least."""
    transports: list[asyncio.Transport] = []

    class Peer(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self._transport = cast(asyncio.Transport, transport)

        def data_received(self, data: bytes) -> None:
            self._transport.write(b"HTTP/1.1 101 OK\r\n\r\n")
            transports.append(self._transport)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(Peer, "127.0.0.1", 0, backlog=4096)
    drain = Drain(server.sockets[0].getsockname()[1], clients)
    message = b"x" * (PAYLOAD_BYTES + 4)

    def send() -> None:
        for transport in transports:
            transport.write(message)

    try:
        return await rounds(drain, send, clients, count)
    finally:
        drain.end()
        server.close()


async def ours(clients: int, count: int) -> float:
    """The publisher, from the change to the last socket: encoding, numbering, framing, writing."""
    world = World(1)
    world.appear("g1")
    ply = PlyView(1, "e4", "e2e4", 1.0, 1.0, best="e2e4")
    limits = ClientLimits(handshakes_burst=1e6)  # all come at once here
    async with Publisher(ServerConfig(port=0), world, limits=limits) as publisher:
        drain = Drain(publisher.address[1], clients)
        try:
            # The game's id makes up what is missing to the payload size.
            missing = PAYLOAD_BYTES - len(number(encode(MoveMessage("", 1, ply)), 1))
            message = MoveMessage("g" * missing, 1, ply)
            return await rounds(drain, lambda: publisher.publish([message]), clients, count)
        finally:
            drain.end()


async def broadcast(clients: int, count: int) -> float:
    """The websockets library's own broadcast, compression off."""
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.asyncio.server import broadcast as send_all

    here: set[ServerConnection] = set()

    async def handler(connection: ServerConnection) -> None:
        here.add(connection)
        await connection.wait_closed()

    message = "x" * PAYLOAD_BYTES
    async with serve(handler, "127.0.0.1", 0, compression=None, backlog=4096) as server:
        drain = Drain(server.sockets[0].getsockname()[1], clients)
        try:
            return await rounds(drain, lambda: send_all(here, message), clients, count)
        finally:
            drain.end()


def drain(port: int, clients: int) -> None:
    """Read and throw away; for every line of input print how many bytes have come in so far."""
    ready = selectors.DefaultSelector()
    for _ in range(clients):
        sock = shake(port)
        head = b""
        while b"\r\n\r\n" not in head:
            head += sock.recv(65536)
        sock.setblocking(False)
        ready.register(sock, selectors.EVENT_READ)
    ready.register(sys.stdin, selectors.EVENT_READ)
    print("ready", flush=True)
    total, buffer = 0, bytearray(1 << 18)
    while True:
        for key, _ in ready.select():
            client = key.fileobj
            if isinstance(client, socket.socket):
                total += client.recv_into(buffer)
            elif sys.stdin.readline():
                print(total, flush=True)
            else:
                return


SERVERS: dict[str, Callable[[int, int], Awaitable[float]]] = {
    "bare socket.send": bare,
    "bare transport.write": written,
    "live-rate": ours,
    "websockets.broadcast": broadcast,
}


async def measure(name: str, clients: int, count: int) -> None:
    """One server, in this process."""
    print(json.dumps(await SERVERS[name](clients, count)))


def main() -> None:
    clients, count = numbers(1000, 60)
    figures: dict[str, list[float]] = {name: [] for name in SERVERS}
    for _ in range(3):
        for name, found in figures.items():
            words = [sys.executable, "-m", MODULE, "--one", name, str(clients), str(count)]
            done = subprocess.run(words, stdout=subprocess.PIPE, check=True, timeout=120)
            found.append(json.loads(done.stdout))
            time.sleep(0.2)
    mine = min(figures["live-rate"])
    print(f"{clients} subscribers, {PAYLOAD_BYTES} bytes, {count} rounds, best of 3")
    print(f"{'server':<28}{'CPU/delivery':>14}{'live-rate is':>14}")
    for name, found in figures.items():
        print(f"{name:<28}{min(found):>11.2f} us{mine / min(found):>12.2f} x")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--one", name, clients, count]:
            asyncio.run(measure(name, int(clients), int(count)))
        case ["--drain", port, clients]:
            drain(int(port), int(clients))
        case _:
            main()
