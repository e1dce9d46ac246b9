"""What good subscribers feel of bad ones: latency with and without them, and the memory they cost.

    python -m tests.benchmarks.publish.bad_clients [GOOD [SECONDS]]

Beside the good ones: 200 that never read, 200 that read a byte a second, 50 that reconnect in a
loop. 25 messages of 4 kB a second; the latency is from before ``publish`` to the moment the good
client's process has read the message, on one clock. Server, good and bad clients are three
processes.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import contextlib
import json
import re
import selectors
import socket
import statistics
import subprocess
import sys
import time

from live.config import ServerConfig
from live.events import MoveMessage, PlyView
from live.publish.access import ClientLimits
from live.publish.server import Publisher
from tests.benchmarks.service.drills import numbers, resident_mb, shake
from tests.publish.world import World

PER_S = 25
PAYLOAD_BYTES = 4_000
SAMPLED = 100
NEVER, TRICKLE, LOOPING = 200, 200, 50


def good(port: int, clients: int) -> None:
    """Reads all; prints the latencies seen by some, in milliseconds, when its input ends."""
    ready = selectors.DefaultSelector()
    for number in range(clients):
        sock = shake(port)
        sock.setblocking(False)
        ready.register(sock, selectors.EVENT_READ, number < SAMPLED)
    ready.register(sys.stdin, selectors.EVENT_READ)
    print("ready", flush=True)
    stamp = re.compile(rb'"game":"(\d{10,20})')
    latencies: list[float] = []
    buffer = bytearray(1 << 18)
    while True:
        for key, _ in ready.select():
            client = key.fileobj
            if not isinstance(client, socket.socket):
                print(json.dumps(latencies), flush=True)
                return
            got = client.recv_into(buffer)
            now = time.monotonic_ns()
            if not got:
                raise SystemExit("a good client was closed")
            if key.data:
                sent = stamp.findall(memoryview(buffer)[:got])
                latencies.extend((now - int(each)) / 1e6 for each in sent)


def bad(port: int) -> None:
    """All the bad ones, until killed."""
    held, slow = ([shake(port, room=4096) for _ in range(count)] for count in (NEVER, TRICKLE))
    print("ready", flush=True)
    beat = time.monotonic()
    while held:
        for _ in range(LOOPING):
            shake(port).close()
        if time.monotonic() - beat > 1:
            beat = time.monotonic()
            for sock in slow:
                sock.setblocking(False)
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    sock.recv(1)
        time.sleep(0.5)


async def line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    async with asyncio.timeout(120):
        return await asyncio.get_running_loop().run_in_executor(None, process.stdout.readline)


def start(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.benchmarks.publish.bad_clients", *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


async def run(clients: int, seconds: float, with_bad: bool) -> tuple[list[float], float, int]:
    """Latencies in milliseconds, the largest resident size in MB, subscribers at the end."""
    ply = PlyView(1, "e4", "e2e4")
    limits = ClientLimits(slow_after_s=5)
    async with Publisher(ServerConfig(port=0), World(1), limits=limits) as publisher:
        port = publisher.address[1]
        readers = start("--good", port, clients)
        assert await line(readers) == b"ready\n"
        others = start("--bad", port) if with_bad else None
        if others is not None:
            assert await line(others) == b"ready\n"
        largest, due = 0.0, time.monotonic()
        for number in range(int(seconds * PER_S)):
            stamp = str(time.monotonic_ns())
            publisher.publish([MoveMessage(stamp + "." * (PAYLOAD_BYTES - 300), 1, ply)])
            if number % PER_S == 0:
                largest = max(largest, resident_mb())
            due += 1 / PER_S
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await asyncio.sleep(1)
        left = len(publisher.broadcaster)
        assert readers.stdin is not None
        readers.stdin.close()
        latencies = json.loads(await line(readers))
        for process in filter(None, (readers, others)):
            process.kill()
            process.wait()
    # A stamp that lies across two reads is not seen.
    assert len(latencies) > 0.9 * min(clients, SAMPLED) * int(seconds * PER_S), len(latencies)
    return latencies, largest, left


def main() -> None:
    clients, seconds = numbers(1000, 20)
    print(
        f"{clients} good, {NEVER} never read, {TRICKLE} trickle, {LOOPING} reconnect, {seconds} s"
    )
    print(f"{'':<10}{'median':>10}{'99th':>10}{'largest':>10}{'memory':>10}{'left':>7}")
    for name, with_bad in (("alone", False), ("with bad", True), ("alone", False)):
        latencies, memory_mb, left = asyncio.run(run(clients, seconds, with_bad))
        cuts = statistics.quantiles(latencies, n=100)
        print(
            f"{name:<10}{cuts[49]:>7.1f} ms{cuts[98]:>7.1f} ms{max(latencies):>7.1f} ms"
            f"{memory_mb:>7.0f} MB{left:>7}"
        )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--good", port, clients]:
            good(int(port), int(clients))
        case ["--bad", port]:
            bad(int(port))
        case _:
            main()
