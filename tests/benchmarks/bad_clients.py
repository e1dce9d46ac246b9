"""What good subscribers feel of bad ones: latency with and without them, and the memory
they cost.

    python -m tests.benchmarks.bad_clients [GOOD [SECONDS]]

Beside the good ones: 200 that never read, 200 that read a byte a second, 50 that
reconnect in a loop. 25 messages of 4 kB a second; the latency is from before
``publish`` to the moment the good client's process has read the message, on one clock.
Server, good and bad clients are three processes.
"""

# ruff: noqa: T201 - its output is what it is for
import asyncio
import contextlib
import statistics
import subprocess
import sys
import time

from live.messages.figures import PlyView
from live.messages.to_clients import MoveMessage
from live.server.limits import ClientLimits
from live.server.server import Publisher
from live.settings import ServerConfig
from tests.benchmarks.drills import numbers, resident_mb
from tests.benchmarks.readers import Readers, shake
from tests.server.world import World

PER_S = 25
PAYLOAD_BYTES = 4_000
SAMPLED = 100
NEVER, TRICKLE, LOOPING = 200, 200, 50


def bad(port: int) -> None:
    """All the bad ones, until killed."""
    held = [shake(port, room=4096) for _ in range(NEVER)]
    slow = [shake(port, room=4096) for _ in range(TRICKLE)]
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


async def run(
    clients: int, seconds: float, with_bad: bool
) -> tuple[list[float], float, int]:
    """Latencies in milliseconds, the largest resident size in MB, subscribers at the
    end.
    """
    ply = PlyView(1, "e4", "e2e4", best="." * (PAYLOAD_BYTES - 300))
    limits = ClientLimits(slow_after_s=5)
    async with Publisher(ServerConfig(port=0), World(1), limits=limits) as publisher:
        port = publisher.address[1]
        readers = Readers(port, [""] * clients, SAMPLED)
        await readers.ready()
        others = None
        if with_bad:
            words = [
                sys.executable,
                "-m",
                "tests.benchmarks.bad_clients",
                "--bad",
                str(port),
            ]
            others = subprocess.Popen(words, stdout=subprocess.PIPE)  # noqa: ASYNC220
            assert others.stdout is not None
            assert await asyncio.to_thread(others.stdout.readline) == b"ready\n"
        largest, due = 0.0, time.monotonic()
        for sent in range(int(seconds * PER_S)):
            publisher.audiences.publish([MoveMessage(str(time.monotonic_ns()), 1, ply)])
            if sent % PER_S == 0:
                largest = max(largest, resident_mb())
            due += 1 / PER_S
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await asyncio.sleep(1)
        left = publisher.tally.subscribers
        if others is not None:
            others.kill()
            others.wait()
        latencies = (await readers.result())["latencies_ms"]
    # A stamp that lies across two reads is not seen.
    assert len(latencies) > 0.9 * min(clients, SAMPLED) * int(seconds * PER_S), len(
        latencies
    )
    return latencies, largest, left


def main() -> None:
    clients, seconds = numbers(1000, 20)
    print(
        f"{clients} good, {NEVER} never read, {TRICKLE} trickle, "
        f"{LOOPING} reconnect, {seconds} s"
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
    if sys.argv[1:2] == ["--bad"]:
        bad(int(sys.argv[2]))
    else:
        main()
