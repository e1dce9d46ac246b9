"""The service killed again and again while it follows a round: is anything lost, or done twice?

    python -m tests.benchmarks.service.kill_drill [KILLS [BOARDS [SEED [NODES]]]]

Rehearses BOARDS (56) boards over lichess's protocol to a service in a process of its own, and kills
it (SIGKILL) at KILLS (100) moments drawn from SEED: while it starts, while it restores, while it
works. A subscriber stays on throughout and comes back after each kill with what it holds. In the
end the subscriber's state, and a fresh snapshot, must equal what an undisturbed run makes of the
final PGN; and the engines must have been asked nothing twice but for what a kill cut off: questions
asked <= distinct questions + KILLS x engines, counted from what was sent to them.

Takes some four seconds a kill on a calm machine.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import collections
import contextlib
import random
import shlex
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake, WebSocketException

from live.config import load_config
from live.engine.engine_discovery import find_engine
from live.events import FeedReport, GameReport, SnapshotMessage
from live.feeds.game_timeline import timeline
from live.feeds.pgn.pgn_decoder import PgnReader
from live.publish.export.analysis_json import Analysis, to_json
from live.publish.published_state import ClientState, OutOfStep, snapshot
from live.ratings.engine_scale import load_reference
from live.rehearse.servers.lichess_broadcast_server import LichessRehearsal
from live.service.event_service import EventService
from tests.benchmarks.service.drills import DrilledService, free_port
from tests.benchmarks.service.rehearsal import boards

#: About how long one life of the service lasts, seconds: the round is as long as all lives.
LIFE_S = 4.0
#: A kill comes so long after the service can be reached, at most, seconds.
WORKING_S = 3.0
#: One kill in so many comes while the service still starts.
EARLY = 5


class Outcome(msgspec.Struct, kw_only=True):
    """What the drill found."""

    kills: int
    engines: int
    asked: int
    """Questions sent to engines."""
    distinct: int
    equal: bool
    """The subscriber's last state is the undisturbed run's."""
    fresh_equal: bool
    """A fresh snapshot is the subscriber's."""
    restored_left: int
    """Games still marked as restored."""
    out_of_step: int
    """Messages that could not follow from what the subscriber held."""
    resumed: int
    """Snapshots the subscriber was brought back by."""
    wall_s: float
    note: str = ""

    @property
    def good(self) -> bool:
        once = self.asked <= self.distinct + self.kills * self.engines
        return (
            once
            and self.equal
            and self.fresh_equal
            and not (self.out_of_step or self.restored_left)
        )


def _service(spec: str, folder: Path, port: int, nodes: int, engines: int) -> DrilledService:
    return DrilledService(
        folder,
        *("--feed", spec, "--headless", "--journal", str(folder / "journal.sqlite")),
        *("--engine", str(_listened(folder)), "--nodes", str(nodes)),
        *("--engines", str(engines), "--port", str(port)),
        env={
            # Speculation asks what nobody needs and is stopped in mid-search, which is no fault.
            "LIVE_RATE_ENGINE_SPECULATE": "false",
            "LIVE_RATE_FEEDS_FINISH_AFTER_S": "3600",
            "LIVE_RATE_HUMAN_ENABLED": "false",
        },
    )


def _listened(folder: Path) -> Path:
    """The engine, with all that is sent to it written down, by process."""
    engine = " ".join(shlex.quote(word) for word in find_engine("").argv)
    script = folder / "engine.sh"
    script.write_text(f"#!/bin/sh\ntee {shlex.quote(str(folder))}/asked.$$ | {engine}\n")
    script.chmod(0o755)
    return script


def questions(folder: Path) -> collections.Counter[tuple[str, str]]:
    """How often each search was begun: position and limit as they were sent. Without those of the
    reference positions: a live position interrupts them, and they are begun again.
    """
    reference = {f"position fen {each.fen}" for each in load_reference().positions}
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for path in folder.glob("asked.*"):
        position = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("position "):
                position = line
            elif line.startswith("go ") and position not in reference:
                found[position, line] += 1
    return found


class Subscriber:
    """Stays on: comes back with what it holds after each end."""

    def __init__(self, port: int) -> None:
        self._url = f"ws://127.0.0.1:{port}/v2/live"
        self.client_state = ClientState()
        self.connected = asyncio.Event()
        self.resumed = self.out_of_step = 0

    async def run(self) -> None:
        while True:
            hello, seq = self.client_state.hello, self.client_state.seq
            query = f"?epoch={hello.epoch}&since={seq}" if hello and seq is not None else ""
            try:
                async with connect(self._url + query, compression=None, max_size=None) as socket:
                    self.connected.set()
                    async for text in socket:
                        message = self.client_state.receive(text)
                        self.resumed += isinstance(message, SnapshotMessage)
            except OutOfStep:
                self.out_of_step += 1
                self.client_state = ClientState()
            except (OSError, WebSocketException, InvalidHandshake):
                pass
            self.connected.clear()
            await asyncio.sleep(0.05)

    def state(self) -> Analysis | None:
        """What it holds now, as ``analyze`` would write it."""
        hello = self.client_state.hello
        if hello is None or self.client_state.seq is None:
            return None
        return _comparable(self.client_state.snapshot(), hello.gain)


def _comparable(whole: SnapshotMessage, gain: str) -> Analysis:
    games = tuple(msgspec.structs.replace(game, feed="", restored=False) for game in whole.games)
    return Analysis(whole.engine, gain, games, whole.players)  # type: ignore[arg-type]


async def undisturbed(pgn: bytes, nodes: int) -> Analysis:
    """What one run makes of the final PGN."""
    hall = EventService(load_config(None, {}, {"engine.nodes": nodes}))
    async with hall.with_engine(live=False):
        games = tuple(PgnReader().read(pgn, closed=True))
        await hall.take(FeedReport("file", games, complete=True))
        await hall.settled()
        await hall.measure_engine()
        return _comparable(snapshot(hall.state), hall.state.gain())


@contextlib.asynccontextmanager
async def _subscribed(port: int) -> AsyncIterator[Subscriber]:
    subscriber = Subscriber(port)
    task = asyncio.create_task(subscriber.run(), name="subscriber")
    try:
        yield subscriber
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _until(holds: Callable[[], bool], patience_s: float) -> None:
    """Wait until it holds, as long as there is patience."""
    deadline_s = time.monotonic() + patience_s
    while time.monotonic() < deadline_s:
        if holds():
            return
        await asyncio.sleep(0.2)


async def drill(
    games: Sequence[GameReport],
    folder: Path,
    *,
    kills: int,
    seed: int,
    nodes: int,
    engines: int = 2,
    patience_s: float = 300.0,
) -> Outcome:
    """Rehearse, kill, and compare."""
    began_s = time.monotonic()
    chance = random.Random(seed)
    length_s = timeline(games)[-1].at_s
    speed = length_s / (LIFE_S * max(1, kills))
    rehearsal = LichessRehearsal(games, keep_alive_s=1.0)
    async with rehearsal.serving() as spec:
        port = free_port()
        service = _service(spec, folder, port, nodes, engines)
        playing = asyncio.create_task(rehearsal.play(speed), name="rehearsal")
        async with _subscribed(port) as subscriber:
            for _ in range(kills):
                await service.start()
                if chance.randrange(EARLY):
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(60):
                            await subscriber.connected.wait()
                    await asyncio.sleep(chance.uniform(0, WORKING_S))
                else:
                    await asyncio.sleep(chance.uniform(0, 1))
                await service.kill()
            await service.start()
            await playing
            final = rehearsal.final_pgn()
            expected = await undisturbed(final, nodes)
            await _until(lambda: subscriber.state() == expected, patience_s)
            held = subscriber.state()
            async with _subscribed(port) as fresh:
                await _until(lambda: fresh.state() == held, 60)
                fresh_equal = held is not None and fresh.state() == held
            left = sum(game.restored for game in subscriber.client_state.snapshot().games)
        await service.kill()
    asked = questions(folder)
    if held != expected and held is not None:
        (folder / "held.json").write_bytes(to_json(held))
        (folder / "expected.json").write_bytes(to_json(expected))
    return Outcome(
        kills=kills,
        engines=engines,
        asked=asked.total(),
        distinct=len(asked),
        equal=held == expected,
        fresh_equal=fresh_equal,
        restored_left=left,
        out_of_step=subscriber.out_of_step,
        resumed=subscriber.resumed,
        wall_s=time.monotonic() - began_s,
    )


async def main() -> int:
    given = [int(word) for word in sys.argv[1:]]
    kills, count, seed, nodes = (*given, *(100, 56, 1, 2000)[len(given) :])
    with tempfile.TemporaryDirectory(prefix="kill-drill-") as name:
        folder = Path(name)
        outcome = await drill(boards(count), folder, kills=kills, seed=seed, nodes=nodes)
        size = (folder / "journal.sqlite").stat().st_size
        if not outcome.good:
            print((folder / "service.log").read_text(errors="replace")[-3000:])
    print(f"{kills} kills, {count} boards, seed {seed}, {nodes} nodes, {outcome.wall_s:.0f} s")
    print(f"journal {size / 1e6:.1f} MB, subscriber brought back {outcome.resumed} times")
    over = outcome.asked - outcome.distinct
    print(
        f"asked {outcome.asked}, distinct {outcome.distinct}: {over} twice,"
        f" allowed {kills * outcome.engines}"
    )
    print(f"subscriber equals undisturbed run: {outcome.equal}")
    print(f"fresh snapshot equals subscriber: {outcome.fresh_equal}")
    print(f"out of step: {outcome.out_of_step}, still marked restored: {outcome.restored_left}")
    print("GOOD" if outcome.good else "BAD")
    return 0 if outcome.good else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
