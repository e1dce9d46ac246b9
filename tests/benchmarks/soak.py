"""Everything at once: a service under faulty sources, dying engines, hostile clients, broker
restarts, a full disk, clock steps and changing settings; then whether all of it left a trace.

    python -m tests.benchmarks.soak [--minutes 30] [--boards 8] [--seed 1] [--engine PATH]

The service is the real one, in a process of its own that holds memory as the systemd unit has it,
with the embedded engine (or another) and a journal on a small file system (a tmpfs where this may
be mounted, else a limit on sizes of files). Four sources play real games with faults: lichess, a
PGN page, a folder and MQTT. The games last two fifths of the time, so that what grows in the later
half, over which memory is looked at, is not what the games tell. All that can go wrong goes wrong
until nine tenths of the time are over; then it is left alone, and must come to rest. The wall clock
that the service sees (``time.time``) is stepped by hours, back and forth.

It fails where the final state is not what ``analyze`` says of the same games, where a subscriber
that was never cut off for good holds something else, where a descriptor or a process is left, or
where memory grows by more than a tenth an hour with 95 % certainty (from ten minutes on).
"""

# ruff: noqa: T201, ASYNC240 - its output is what it is for, and its files are small
from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from scipy import stats

from live.events import GameDetail
from live.feeds.game_timeline import timeline
from live.rehearse.rehearsal import Protocols, incidents, open_rehearsal
from live.service.process import MALLOC
from tests.benchmarks.drills import (
    Follower,
    boards,
    differences,
    free_port,
    get,
    going,
    resident_mb,
    toml,
    undisturbed,
)
from tests.fuzz.mutation import edited, random_edits
from tests.fuzz.service import FRAME_TOKENS, FRAMES, HTTP_TOKENS, REQUESTS, UPGRADE
from tests.publish.mosquitto import Mosquitto

#: Those that carry all that is told of a game.
PROTOCOLS: tuple[Protocols, ...] = ("lichess", "pgn-url", "folder")
NODES = 200
#: Size of the journal's file system; a filler takes what the journal leaves.
DISK_BYTES = 48 << 20

#: Of shorter runs the memory's slope is that of a start, and is only shown.
STEADY_MIN = 10
#: What sources call a game, and what not all of them tell.
UNTOLD = ("id", "feed", "url", "site", "date", "time_control", "eco", "opening")

Told = Callable[[str], None]


def settings(port: int, broker: int, disk: Path, engine: str, **changed: object) -> str:
    """``config.toml``; ``changed`` is what changes while it runs."""
    changes = {"poll_s": 0.5, "level": "error", "connections": 500, **changed}
    return toml(
        {
            "server": {"port": port, "max_connections": changes["connections"]},
            "engine": {"path": engine, "nodes": NODES, "engines": 2},
            "feeds": {"poll_s": changes["poll_s"], "timeout_s": 3.0},
            "journal": {"enabled": True, "file": str(disk / "journal.sqlite")},
            "mqtt": {"publish": f"mqtt://127.0.0.1:{broker}"},
            "log": {"level": changes["level"]},
        }
    )


# --- what is looked at ----------------------------------------------------------------------------


def descendants(root: int) -> set[int]:
    """Processes below ``root`` now."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if fields[0] != "Z":
                    parents[int(entry.name)] = int(fields[1])
    found: set[int] = set()
    while more := {pid for pid, up in parents.items() if up in found | {root}} - found:
        found |= more
    return found


def engines(root: int) -> list[int]:
    """Engine processes of the service."""
    found = []
    for pid in descendants(root):
        with contextlib.suppress(OSError):
            if b"stockfish" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def slope(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Growth in MB an hour with the half width of its 95 % interval, over the later half: before,
    caches fill up to their bounds (50,000 results are some 75 MB).

    Neighbouring samples are alike, so those of each twentieth count as one.
    """
    late = samples[len(samples) // 2 :]
    size = max(1, len(late) // 20)
    chunks = [late[at : at + size] for at in range(0, len(late) - size + 1, size)]
    times = [sum(t for t, _ in chunk) / len(chunk) / 3600 for chunk in chunks]
    sizes = [sum(mb for _, mb in chunk) / len(chunk) for chunk in chunks]
    if len(times) < 3:
        return float("nan"), float("inf")
    fit = stats.linregress(times, sizes)
    return float(fit.slope), float(stats.t.ppf(0.975, len(times) - 2) * fit.stderr)


# --- what goes wrong ------------------------------------------------------------------------------


async def kill_engines(pid: int, chance: random.Random, told: Told) -> None:
    while True:
        await asyncio.sleep(chance.uniform(3, 10))
        if found := engines(pid):
            number = chance.choice([signal.SIGKILL, signal.SIGSTOP])
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(found), number)
                told(f"engine {number.name}")


async def restart_broker(broker: Mosquitto, chance: random.Random, told: Told) -> None:
    try:
        while True:
            await asyncio.sleep(chance.uniform(8, 30))
            broker.kill()
            told("broker restart")
            await asyncio.sleep(chance.uniform(0, 3))
            await broker.start()
    finally:
        broker.kill()


async def fill_disk(disk: Path, mounted: bool, pid: int, full_s: float, told: Told) -> None:
    """The disk is full for a while, in the middle."""
    await asyncio.sleep(full_s)
    told("disk full")
    if mounted:
        filler = disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(b"\0" * 65_536)
                file.flush()
    else:
        size = (disk / "journal.sqlite").stat().st_size
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        await asyncio.sleep(full_s)
    finally:
        if mounted:
            filler.unlink(missing_ok=True)
        else:
            unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
        told("disk free again")


async def change_settings(
    file: Path, text: Callable[..., str], pid: int, chance: random.Random, told: Told
) -> None:
    try:
        while True:
            await asyncio.sleep(chance.uniform(5, 15))
            poll_s, level = chance.choice([0.4, 0.5, 0.7]), chance.choice(["error", "warning"])
            good = text(poll_s=poll_s, level=level, connections=chance.choice([400, 500]))
            file.write_text(good if chance.random() < 0.7 else good + "\n[nonsense\n")
            told("settings changed")
    finally:
        file.write_text(text())


async def intrude(port: int, chance: random.Random, told: Told) -> None:
    """Clients that never read, read a byte a second, send nonsense, or come and go."""
    lazy: list[socket.socket] = []
    try:
        while True:
            await asyncio.sleep(chance.uniform(0.05, 0.3))
            kind = chance.randrange(3)
            if kind == 0 and len(lazy) < 40:
                sock = socket.socket()
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                sock.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    sock.connect(("127.0.0.1", port))
                await asyncio.sleep(0.05)
                with contextlib.suppress(OSError):
                    sock.send(UPGRADE)
                lazy.append(sock)
            elif kind == 1 and lazy:
                with contextlib.suppress(OSError):
                    chance.choice(lazy).recv(1)
                if chance.random() < 0.1:
                    lazy.pop(chance.randrange(len(lazy))).close()
            else:
                hostile = (
                    edited(chance.choice(REQUESTS), random_edits(chance, HTTP_TOKENS))
                    if chance.random() < 0.5
                    else UPGRADE + edited(chance.choice(FRAMES), random_edits(chance, FRAME_TOKENS))
                )
                with contextlib.suppress(OSError, TimeoutError):
                    async with asyncio.timeout(5):
                        _, writer = await asyncio.open_connection("127.0.0.1", port)
                        writer.write(hostile)
                        await writer.drain()
                        await asyncio.sleep(chance.uniform(0, 0.3))
                        writer.transport.abort()
            told("intruders")
    finally:
        for sock in lazy:
            sock.close()


# --- the whole ------------------------------------------------------------------------------------


def essence(games: Sequence[GameDetail]) -> list[str]:
    """What must be the same, whatever a source calls a game: moves, scores, gains, curves."""
    found = []
    for game in games:
        plain = msgspec.to_builtins(game)
        for name in UNTOLD:
            plain.pop(name, None)
        found.append(json.dumps(plain, sort_keys=True))
    return sorted(found)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[tuple[Path, bool]]:
    """A file system of its own, where that is allowed."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield disk, mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(disk)], check=False)


async def at_rest(port: int, wanted: int, patience_s: float) -> list[GameDetail]:
    """All games over and scored, nothing left to search or ask; then every game in full."""
    state: object = None
    until_s = time.monotonic() + patience_s
    while time.monotonic() < until_s:
        await asyncio.sleep(1)
        status, body = await get(port, "/api/v1/games")
        if status != 200:
            continue
        views = json.loads(body)["games"]
        running = sum(view["result"] == "*" for view in views)
        waiting = sum(view["plies_scored"] != view["plies_played"] for view in views)
        engines = json.loads((await get(port, "/api/v1/health"))[1])["engines"]
        open_ = sum(engines["waiting"].values()) + engines["human"]["waiting"]
        busy = sum(engine["state"] == "searching" for engine in engines["engines"])
        state = (len(views), running, waiting, open_ + busy)
        if state == (wanted, 0, 0, 0):
            bodies = [(await get(port, f"/api/v1/games/{view['id']}"))[1] for view in views]
            return [msgspec.json.decode(each, type=GameDetail) for each in bodies]
    raise SystemExit(f"it came to no rest: games, running, to be scored, searches: {state}")


async def soak(minutes: float, count: int, seed: int, engine: str, folder: Path) -> int:
    chance, seconds = random.Random(seed), minutes * 60
    mosquitto = shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if mosquitto is None:
        raise SystemExit("mosquitto is not here; on Debian: apt-get install mosquitto")
    counts: Counter[str] = Counter()

    def told(what: str) -> None:
        counts[what] += 1

    # Real games for every source, each with a place of its own.
    every = boards(max(count, len(PROTOCOLS)))
    shares = [(each, every[at :: len(PROTOCOLS)]) for at, each in enumerate(PROTOCOLS)]
    wanted = sum(len(games) for _, games in shares)
    before = descendants(os.getpid())
    async with contextlib.AsyncExitStack() as stack:
        disk, mounted = stack.enter_context(small_disk(folder))
        rehearsals, specs = [], []
        for protocol, games in shares:
            rehearsal = open_rehearsal(protocol, games, seed=seed)
            specs.append(await stack.enter_async_context(rehearsal.serving()))
            rehearsals.append((rehearsal, games))
        broker = Mosquitto(mosquitto, folder)
        await broker.start()
        stack.callback(broker.kill)
        port = free_port()
        file, blocks = folder / "config.toml", folder / "blocks.json"

        def text(**more: object) -> str:
            return settings(port, broker.port, disk, engine, **more)

        file.write_text(text())
        process = await started(folder, port, [str(file), str(blocks), *specs])
        stack.callback(process.kill)
        at_start = descriptors(process.pid)
        reader = Follower(port)
        samples: list[tuple[float, float]] = []
        began_s = time.monotonic()

        async def sample() -> None:
            while True:
                samples.append((time.monotonic() - began_s, resident_mb(process.pid)))
                await asyncio.sleep(max(0.2, seconds / 600))

        async def play() -> None:
            longest_s = max(list(timeline(games))[-1].at_s for _, games in rehearsals)
            speed = longest_s / (0.4 * seconds)
            async with asyncio.TaskGroup() as tasks:
                for rehearsal, games in rehearsals:
                    happens = incidents(seed, games)
                    tasks.create_task(rehearsal.play(speed=speed, incidents=happens))

        async with going(reader.run(), sample(), play()) as (_, _, playing):
            async with going(
                kill_engines(process.pid, chance, told),
                restart_broker(broker, chance, told),
                fill_disk(disk, mounted, process.pid, min(60.0, seconds / 4), told),
                change_settings(file, text, process.pid, chance, told),
                intrude(port, chance, told),
            ):
                await asyncio.sleep(0.9 * seconds)
            await broker.start()
            for pid in engines(process.pid):  # those that were stopped are found to hang
                os.kill(pid, signal.SIGCONT)
            await playing
            held = await at_rest(port, wanted, max(240.0, seconds / 2))
            online = b""
            for _ in range(60):  # the service comes back to a broker at longer and longer intervals
                await asyncio.sleep(1)
                online = (await broker.held()).get("live-rate/2/status", b"")
                if online:
                    break
            mine = reader.state.snapshot()
        await asyncio.sleep(5)
        at_end, (_, health_now) = descriptors(process.pid), await get(port, "/api/v1/health")
        health = json.loads(health_now)
        below = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
        left = [pid for pid in below if Path(f"/proc/{pid}").exists()]
        longest = json.loads(blocks.read_text())
    failures = []
    config = {"engine.nodes": NODES, "engine.path": engine}
    finished = (await undisturbed(every, config, human=True, measure=False)).games
    if essence(held) != essence(finished):
        failures.append("the final state is not what analyze says of the same games")
        for one, other in zip(essence(held), essence(finished), strict=False):
            for line in list(differences(json.loads(one), json.loads(other)))[:5]:
                print(line)
    if essence(mine.games) != essence(held):
        failures.append("the subscriber holds something else than the service")
    if b'"online"' not in online:
        failures.append(f"the broker was told {online!r} at the end")
    if at_end > at_start + 4:
        failures.append(f"{at_end - at_start} descriptors more than at the start")
    if code != 0 or left or descendants(os.getpid()) - before:
        failures.append(f"ended with {code}, processes left: {left}")
    growth, width = slope(samples)
    if minutes >= STEADY_MIN and growth - width > 0.1 * samples[-1][1]:
        failures.append(f"memory grows by {growth:.1f} ± {width:.1f} MB an hour")
    told_of = {
        "played": f"{minutes:g} minutes, {wanted} boards, {', '.join(PROTOCOLS)}",
        "disk": "a full tmpfs" if mounted else "a limit on files",
        "happened": "; ".join(f"{what}: {count}" for what, count in sorted(counts.items())),
        "engines lost": health["engines"]["restarts"],
        "service": health["status"],
        "the good subscriber connected": f"{reader.connections} times",
        "memory": f"{samples[0][1]:.0f} to {samples[-1][1]:.0f} MB",
        "its slope (95 %)": f"{growth:+.1f} ± {width:.1f} MB an hour",
        "descriptors": f"{at_start} at the start, {at_end} at the end",
        "exit code": f"{code}, {len(left)} processes left",
        "longest that the loop was kept": f"{1000 * longest['cpu_s']:.0f} ms of CPU, "
        f"{1000 * longest['wall_s']:.0f} ms by the clock, by {longest['by']}",
    }
    for what, value in told_of.items():
        print(f"{what}: {value}")
    print("FAILED: " + "; ".join(failures) if failures else "all as it should be")
    return len(failures) > 0


async def started(folder: Path, port: int, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """The service, once it serves. A machine too busy to start an engine is asked again."""
    command = [sys.executable, "-m", "tests.benchmarks.soak_service", *arguments]
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        for _ in range(5):
            process = subprocess.Popen(  # noqa: ASYNC220
                command, stdout=out, stderr=err, env={**os.environ, **MALLOC}
            )
            while process.poll() is None:
                if (await get(port, "/healthz"))[0] == 200:
                    return process
                await asyncio.sleep(0.2)
    raise SystemExit((folder / "err").read_text())


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=30)
    options.add_argument("--boards", type=int, default=8)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--engine", default="embedded")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(
            soak(given.minutes, given.boards, given.seed, given.engine, Path(folder))
        )


if __name__ == "__main__":
    sys.exit(main())
