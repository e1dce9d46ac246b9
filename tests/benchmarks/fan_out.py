"""CPU for each delivery of one message to many subscribers, beside two yardsticks.

    python -m tests.benchmarks.fan_out [CLIENTS [ROUNDS]]

One message of 500 bytes goes to every subscriber per round; the subscribers are in a
process of their own, and a round begins only when they have read the one before. Each
server runs in its own process; figures are its CPU time (user and system) per delivery,
taken over the rounds alone.
"""

# ruff: noqa: T201 - its output is what it is for
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import cast

from live.messages.figures import PlyView
from live.messages.to_clients import MoveMessage
from live.server.limits import ClientLimits
from live.server.server import Publisher
from live.server.wire import encode, number
from live.settings import ServerConfig
from tests.benchmarks.drills import numbers
from tests.benchmarks.readers import Readers
from tests.server.world import World

#: A move of a game; without the id of the game it takes 430 bytes.
PAYLOAD_BYTES = 500


async def rounds(
    port: int, send: Callable[[], object], clients: int, count: int
) -> float:
    """Median CPU per delivery, microseconds."""
    readers = Readers(port, [""] * clients)
    try:
        await readers.ready()
        start = await readers.settled()
        figures = []
        for turn in range(1, count + 1):
            before = time.process_time()
            send()
            # One turn of the loop: what the server itself puts off must be counted too.
            await asyncio.sleep(0)
            figures.append((time.process_time() - before) / clients * 1e6)
            await readers.reached(start + turn * clients * PAYLOAD_BYTES)
        per_message = (await readers.settled() - start) / clients / count
    finally:
        readers.end()
    assert PAYLOAD_BYTES <= per_message < PAYLOAD_BYTES * 1.2, per_message
    return statistics.median(figures)


async def bare(clients: int, count: int) -> float:
    """``transport.write``, what any server on an event loop of Python's pays at
    least.
    """
    transports: list[asyncio.Transport] = []

    class Peer(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self._transport = cast(asyncio.Transport, transport)

        def data_received(self, data: bytes) -> None:
            self._transport.write(b"HTTP/1.1 101 OK\r\n\r\n")
            transports.append(self._transport)

    server = await asyncio.get_running_loop().create_server(
        Peer, "127.0.0.1", 0, backlog=4096
    )
    message = b"x" * (PAYLOAD_BYTES + 4)

    def send() -> None:
        for transport in transports:
            transport.write(message)

    try:
        return await rounds(server.sockets[0].getsockname()[1], send, clients, count)
    finally:
        server.close()


async def ours(clients: int, count: int) -> float:
    """The publisher, from the change to the last socket: encoding, numbering, framing,
    writing.
    """
    world = World(1, "g1")
    ply = PlyView(1, "e4", "e2e4", 1.0, 1.0, best="e2e4")
    limits = ClientLimits(handshakes_burst=1e6)  # all come at once here
    async with Publisher(ServerConfig(port=0), world, limits=limits) as publisher:
        # The game's id makes up what is missing to the payload size.
        missing = PAYLOAD_BYTES - len(number(encode(MoveMessage("", 1, ply)), 1))
        message = MoveMessage("g" * missing, 1, ply)
        port = publisher.address[1]
        return await rounds(
            port, lambda: publisher.audiences.publish([message]), clients, count
        )


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
        port = server.sockets[0].getsockname()[1]
        return await rounds(port, lambda: send_all(here, message), clients, count)


SERVERS: dict[str, Callable[[int, int], Awaitable[float]]] = {
    "bare transport.write": bare,
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
            words = [sys.executable, "-m", "tests.benchmarks.fan_out", "--one", name]
            words += [str(clients), str(count)]
            done = subprocess.run(
                words, stdout=subprocess.PIPE, check=True, timeout=120
            )
            found.append(json.loads(done.stdout))
    mine = min(figures["live-rate"])
    print(f"{clients} subscribers, {PAYLOAD_BYTES} bytes, {count} rounds, best of 3")
    print(f"{'server':<28}{'CPU/delivery':>14}{'live-rate is':>14}")
    for name, found in figures.items():
        print(f"{name:<28}{min(found):>11.2f} us{mine / min(found):>12.2f} x")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--one", name, clients, count]:
            asyncio.run(measure(name, int(clients), int(count)))
        case _:
            main()
