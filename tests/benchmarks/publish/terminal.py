"""What the terminal app costs a service with many boards, and how soon a key is answered.

    python -m tests.benchmarks.publish.terminal [BOARDS [UPDATES [SECONDS]]]

BOARDS play at UPDATES moves a second through the ledger, with an engine that knows every answer at
once, the ratings and the publisher. Three parts follow each other on the same moves, twice in turn:
without the app, with it at 80x24, with it at 200x60. The app is real and draws into a pseudo
terminal that is read and thrown away. Told are: its share of one core (processor time with it less
that without it), the time from a key press to the end of the write that answers it, and the latency
from before a move is taken in until a subscriber in another process has read its frame.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

import msgspec
from textual import events
from websockets.sync.client import connect

from live.config import ServerConfig
from live.engine.search import Search, SearchResult
from live.events import FeedReport
from live.feeds.game_timeline import GameMoment, timeline
from live.publish.access.client_limits import ClientLimits
from live.publish.server import Publisher
from live.terminal.recent_changes import RecentChanges
from live.terminal.terminal_app import Terminal
from live.terminal.view_context import TerminalActions, ViewContext
from tests.benchmarks.service.rehearsal import MOVE, InstantHall, boards

SIZES = ((80, 24), (200, 60))
#: Keys pressed one after the other, a few a second.
KEYS = ("j", "j", "S", "B", "enter", "j", "tab", "escape", "2", "right", "1", "k")
KEY_EVERY_S = 0.2


class Part(NamedTuple):
    """One part of a run."""

    cpu: float
    """Share of one core."""
    latencies_ms: list[float]
    keys_ms: list[float]


def subscriber(url: str) -> None:
    """Read until closed; tell when each move came, on the clock all processes share."""
    first: dict[str, int] = {}
    with connect(url, compression=None, max_size=None) as socket:
        socket.recv()
        socket.recv()
        print("ready", flush=True)
        while True:
            try:
                text = socket.recv(timeout=60)
            except Exception:  # however it ends: what was heard is told
                break
            at_ns = time.monotonic_ns()
            body = text.encode() if isinstance(text, str) else text
            for match in MOVE.finditer(body):
                first.setdefault(f"{match[1].decode()} {int(match[2])}", at_ns)
    sys.stdout.write(msgspec.json.encode(first).decode() + "\n")


@contextlib.contextmanager
def pseudo_terminal(columns: int, lines: int) -> Iterator[None]:
    """Standard error becomes a terminal whose output is read and thrown away, and standard input
    one at which nobody types: at the end of a file the app's reader would ask again and again.
    """
    master, slave = pty.openpty()
    kept, kept_input = os.dup(2), os.dup(0)
    os.dup2(slave, 2)
    os.dup2(slave, 0)
    os.environ.update(COLUMNS=str(columns), LINES=str(lines))

    def drain() -> None:
        with contextlib.suppress(OSError):
            while os.read(master, 65536):
                pass

    thread = threading.Thread(target=drain, daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.dup2(kept_input, 0)
        os.close(kept)
        os.close(kept_input)
        os.close(slave)
        os.close(master)
        thread.join(timeout=2)


async def press(app: Terminal, taken: list[float]) -> None:
    """Press keys for ever; note how long each took until it was drawn and written."""
    turn = 0
    while True:
        await asyncio.sleep(KEY_EVERY_S)
        key = KEYS[turn % len(KEYS)]
        turn += 1
        start = time.perf_counter()
        drawn = asyncio.Event()
        app.post_message(events.Key(key, key if len(key) == 1 else None))
        # The app draws in its turn, its screen in the next; then the bytes are with the driver.
        app.call_later(app.call_after_refresh, drawn.set)
        await drawn.wait()
        taken.append((time.perf_counter() - start) * 1000)


@contextlib.asynccontextmanager
async def terminal(
    hall: InstantHall, url: str, size: tuple[int, int] | None, keys_ms: list[float]
) -> AsyncIterator[None]:
    """The app at this size, with somebody at its keys; nothing without a size."""
    if size is None:
        yield
        return
    notebook = RecentChanges(time.monotonic)
    hall.listen(notebook.note)
    scene = ViewContext(hall.state, notebook, TerminalActions(url), time.time)
    app = Terminal(scene)
    with pseudo_terminal(*size):
        running = asyncio.create_task(app.run_async(size=size, mouse=False))
        while not app.controller.boards.listed:  # noqa: ASYNC110 - the first frame tells nobody
            await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
        keys = asyncio.create_task(press(app, keys_ms))
        try:
            yield
        finally:
            keys.cancel()
            app.exit()
            await asyncio.wait({keys, running})
    assert not app.return_code, "the app failed"


async def part(
    known: dict[Search, SearchResult],
    before: list[GameMoment],
    moments: list[GameMoment],
    size: tuple[int, int] | None,
) -> Part:
    """Play ``moments`` at their times, after all that was ``before``."""
    hall = InstantHall(known)
    limits = ClientLimits(handshakes_burst=1e6, silent_after_s=1e6)
    sent: dict[str, int] = {}
    keys_ms: list[float] = []
    async with Publisher(ServerConfig(port=0), hall.state, limits=limits) as publisher:
        hall.listen(publisher.publish)
        for moment in before:
            await hall.take(FeedReport("rehearsal", (moment.report,)))
        await hall.settled()
        host, port = publisher.address
        reader = subprocess.Popen(  # noqa: ASYNC220 - it only starts here
            [
                sys.executable,
                "-m",
                "tests.benchmarks.publish.terminal",
                "--subscribe",
                f"ws://{host}:{port}/v2/live",
            ],
            stdout=subprocess.PIPE,
        )
        assert reader.stdout is not None
        loop = asyncio.get_running_loop()
        assert await loop.run_in_executor(None, reader.stdout.readline) == b"ready\n"
        async with terminal(hall, publisher.url, size, keys_ms):
            start_s, cpu_s = time.monotonic(), time.process_time()
            for moment in moments:
                await asyncio.sleep(max(0.0, start_s + moment.at_s - time.monotonic()))
                at_ns = time.monotonic_ns()
                await hall.take(FeedReport("rehearsal", (moment.report,)))
                (game,) = [v.id for v in hall.state.games() if v.board == moment.game + 1]
                sent.setdefault(f"{game} {len(moment.report.moves)}", at_ns)
            cpu = (time.process_time() - cpu_s) / (time.monotonic() - start_s)
        await hall.settled()
        publisher.broadcaster.flush()
        await asyncio.sleep(0.5)
    told = await loop.run_in_executor(None, reader.communicate)
    heard = msgspec.json.decode(told[0], type=dict[str, int])
    latencies = [(heard[name] - at) / 1e6 for name, at in sent.items() if name in heard]
    assert len(latencies) > 0.95 * len(sent), (len(latencies), len(sent))
    return Part(cpu, latencies, keys_ms)


def event(count: int, updates: float, seconds: float) -> tuple[list[GameMoment], list[GameMoment]]:
    """What is held at the start, and moves at an even pace after it."""
    every = [m for m in timeline(boards(count), speed=1) if m.report.moves]
    half = len(every) // 2
    before = list({m.game: m for m in every[:half]}.values())
    number = round(updates * seconds)
    moves = [m for m in every[half:] if m.report.result == "*"][:number]
    assert len(moves) == number, "more boards, please"
    return before, [msgspec.structs.replace(m, at_s=n / updates) for n, m in enumerate(moves)]


async def run(count: int, updates: float, seconds: float) -> None:
    before, moments = event(count, updates, seconds)
    known: dict[Search, SearchResult] = {}
    await part(known, before, moments[: len(moments) // 4], None)  # every search is made once
    parts: dict[tuple[int, int] | None, list[Part]] = {}
    for _ in range(2):
        for size in (None, *SIZES):
            parts.setdefault(size, []).append(await part(known, before, moments, size))
    without = parts.pop(None)
    base_cpu = statistics.mean(each.cpu for each in without)
    base = [each for held in without for each in held.latencies_ms]
    print(f"{count} boards, {updates:g} moves a second, {seconds:g} s a part, every part twice")
    print(
        f"without the app: {100 * base_cpu:.0f} % of a core, move to subscriber median "
        f"{statistics.median(base):.2f} ms, mean {statistics.mean(base):.2f} ms"
    )
    for size, held in parts.items():
        assert size is not None
        cpu = statistics.mean(each.cpu for each in held) - base_cpu
        keys = [each for one in held for each in one.keys_ms]
        cuts = statistics.quantiles(keys, n=100)
        latencies = [each for one in held for each in one.latencies_ms]
        median = statistics.median(latencies) / statistics.median(base)
        mean = statistics.mean(latencies) / statistics.mean(base)
        print(
            f"{size[0]}x{size[1]}: {100 * cpu:.0f} % of a core more; key to redraw median "
            f"{cuts[49]:.0f} ms, 99th {cuts[98]:.0f} ms ({len(keys)} keys); move to subscriber "
            f"{median:.2f} times the median, {mean:.2f} times the mean"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--subscribe"]:
        subscriber(sys.argv[2])
    else:
        given = [float(each) for each in sys.argv[1:]] + [256, 25, 20][len(sys.argv) - 1 :]
        asyncio.run(run(int(given[0]), given[1], given[2]))
