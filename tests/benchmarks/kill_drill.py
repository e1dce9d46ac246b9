"""The service killed again and again while it follows a round: is anything lost, or
done twice?

    python -m tests.benchmarks.kill_drill [KILLS [BOARDS [SEED [NODES]]]]

Rehearses BOARDS (56) boards over lichess's protocol to a service in a process of its
own, and kills it (SIGKILL) at KILLS (100) moments drawn from SEED: while it starts,
while it restores, while it works. A subscriber stays on throughout and comes back after
each kill with what it holds. In the end the subscriber's state, and a fresh snapshot,
must equal what an undisturbed run makes of the final PGN; and the engines must have
been asked nothing twice but for what a kill cut off: questions asked <= distinct
questions + KILLS x engines, counted from what was sent to them.

Takes some four seconds a kill on a calm machine.
"""

# ruff: noqa: T201 - its output is what it is for
import asyncio
import collections
import contextlib
import random
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from live.engine.engine_programs import find_engine
from live.messages.from_sources import GameReport
from live.messages.to_clients import SnapshotMessage
from live.ratings.engine_scale import load_reference
from live.rehearse.rehearsal import LichessRehearsal
from live.sources.game_timeline import plan_timeline
from live.sources.pgn_decoder import PgnReader
from tests.benchmarks.drills import (
    DrilledService,
    Follower,
    boards,
    differences,
    free_port,
    numbers,
    run_tasks,
    run_undisturbed,
    until,
)

#: About how long one life of the service lasts, seconds: the round is as long as all
#: lives.
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
    note: str
    """Where the subscriber's state is another."""

    @property
    def good(self) -> bool:
        once = self.asked <= self.distinct + self.kills * self.engines
        left = self.out_of_step or self.restored_left
        return once and self.equal and self.fresh_equal and not left


def _service(
    spec: str, folder: Path, port: int, nodes: int, engines: int
) -> DrilledService:
    return DrilledService(
        folder,
        "--feed",
        spec,
        "--headless",
        "--journal",
        str(folder / "journal.sqlite"),
        "--engine",
        str(_record_engine(folder)),
        "--nodes",
        str(nodes),
        "--engines",
        str(engines),
        "--port",
        str(port),
        env={
            # Speculation asks what nobody needs and is stopped in mid-search, which is
            # no fault.
            "LIVE_RATE_ENGINE_SPECULATE": "false",
            "LIVE_RATE_HUMAN_ENABLED": "false",
        },
    )


def _record_engine(folder: Path) -> Path:
    """The engine, with all that is sent to it written down, by process."""
    engine = " ".join(shlex.quote(word) for word in find_engine("").argv)
    script = folder / "engine.sh"
    script.write_text(
        f"#!/bin/sh\ntee {shlex.quote(str(folder))}/asked.$$ | {engine}\n"
    )
    script.chmod(0o755)
    return script


def questions(folder: Path) -> collections.Counter[tuple[str, str]]:
    """How often each search was begun: position and limit as they were sent. Without
    those of the reference positions: a live position interrupts them, and they are
    begun again.
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


def _state(of: Follower) -> object:
    """What a subscriber holds now."""
    return _comparable(of.state.snapshot()) if of.state.seq is not None else None


def _count_restored(of: Follower) -> int:
    """Return how many games no source has confirmed yet."""
    return sum(game.restored for game in of.state.snapshot().games)


def _comparable(whole: SnapshotMessage) -> object:
    games = [
        msgspec.structs.replace(game, feed="", restored=False) for game in whole.games
    ]
    return msgspec.to_builtins((whole.engine, games, whole.players))


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
    chance = random.Random(seed)
    length_s = plan_timeline(games)[-1].at_s
    speed = length_s / (LIFE_S * max(1, kills))
    rehearsal = LichessRehearsal(games, keep_alive_s=1.0)
    async with rehearsal.serve() as spec:
        port = free_port()
        service = _service(spec, folder, port, nodes, engines)
        playing = asyncio.create_task(rehearsal.play_games(speed), name="rehearsal")
        subscriber, newcomer = Follower(port, resumes=True), Follower(port)
        async with run_tasks(subscriber.run()):
            for _ in range(kills):
                await service.start()
                if chance.randrange(EARLY):
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(60):
                            await subscriber.here.wait()
                    await asyncio.sleep(chance.uniform(0, WORKING_S))
                else:
                    await asyncio.sleep(chance.uniform(0, 1))
                await service.kill()
            await service.start()
            await playing
            final = PgnReader().read_text(rehearsal.join_games(), closed=True)
            whole = await run_undisturbed(list(final), {"engine.nodes": nodes})
            expected = _comparable(whole)
            # What the journal held stands there before its source has confirmed it.
            await until(
                lambda: (
                    _state(subscriber) == expected and not _count_restored(subscriber)
                ),
                patience_s,
            )
            found = _state(subscriber)
            async with run_tasks(newcomer.run()):
                fresh_equal = await until(
                    lambda: _state(newcomer) == found is not None, 60
                )
            left = _count_restored(subscriber)
        await service.kill()
    asked = questions(folder)
    return Outcome(
        kills=kills,
        engines=engines,
        asked=asked.total(),
        distinct=len(asked),
        equal=found == expected,
        fresh_equal=fresh_equal,
        restored_left=left,
        out_of_step=subscriber.out_of_step,
        note="; ".join(list(differences(found, expected))[:5]),
    )


async def main() -> int:
    kills, count, seed, nodes = numbers(100, 56, 1, 2000)
    with tempfile.TemporaryDirectory(prefix="kill-drill-") as name:
        folder = Path(name)
        outcome = await drill(
            boards(count), folder, kills=kills, seed=seed, nodes=nodes
        )
        if not outcome.good:
            print((folder / "service.log").read_text(errors="replace")[-3000:])
    print(f"{count} boards, seed {seed}, {nodes} nodes")
    for name, value in msgspec.structs.asdict(outcome).items():
        print(f"{name:14} {value}")
    print("GOOD" if outcome.good else "BAD")
    return 0 if outcome.good else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
