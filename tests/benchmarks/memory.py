"""Whether the service grows while rounds come and go: its memory's slope, and what
holds more.

    python -m tests.benchmarks.memory [--minutes 60] [--boards 8] [--round 150] [--nodes
    1000]

Two services of the command line's, with memory as the systemd unit has it, follow one
folder in which a round of BOARDS games is played in ROUND seconds, then another; the
files of a round are gone when the next begins, and its games five minutes later.
Subscribers stay, and while moves are played others come and go. One service shows its
slope after the first ten minutes, the other traces its allocations: two snapshots,
after the first third and at the end, are compared, both taken between two rounds.
"""

# ruff: noqa: T201, ASYNC240 - its output is what it is for, and its files are small
import argparse
import asyncio
import gc
import os
import signal
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy import stats
from websockets.asyncio.client import connect

from live.process.memory import MALLOC
from live.rehearse.rehearsal import write_pgn
from live.sources.game_timeline import plan_timeline
from tests.benchmarks.drills import (
    DrilledService,
    Follower,
    boards,
    free_port,
    get,
    resident_mb,
    run_tasks,
    toml,
)
from tests.games.short_reports import change_headers

#: Hours after which a finished game is released.
RELEASED_H = 0.06
WARM_S = 600.0


def slope(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Growth in MB an hour of samples (s, MB), with the half width of its 95 %
    interval. Neighbouring samples are alike, so those of each twentieth count as one.
    """
    size = max(1, len(samples) // 20)
    chunks = [samples[at : at + size] for at in range(0, len(samples) - size + 1, size)]
    times, sizes = [], []
    for chunk in chunks:
        times.append(sum(t for t, _ in chunk) / len(chunk) / 3600)
        sizes.append(sum(mb for _, mb in chunk) / len(chunk))
    if len(times) < 3:
        return float("nan"), float("inf")
    fit = stats.linregress(times, sizes)
    return float(fit.slope), float(stats.t.ppf(0.975, len(times) - 2) * fit.stderr)


def trace_allocations(folder: Path) -> None:
    """The command line, whose allocations are written to ``folder`` at each SIGUSR2."""
    tracemalloc.start(6)

    def dump(*_: object) -> None:
        gc.collect()
        number = len(list(folder.glob("*.trace")))
        tracemalloc.take_snapshot().dump(str(folder / f"{number}.trace"))

    signal.signal(signal.SIGUSR2, dump)
    from live.cli import main

    main()


async def play(
    folder: Path,
    count: int,
    round_s: float,
    playing: asyncio.Event,
    between: asyncio.Event,
) -> None:
    """Rounds without end, of the same games and players; ``between`` is set between
    two, when all is searched and what newcomers were sent last is held no more.
    """
    number = 0
    while True:
        number += 1
        for old in folder.glob("*.pgn"):
            old.unlink()
        # Without the source's key, which would make them the games of the round before.
        games = [
            change_headers(game, round=str(number), url="") for game in boards(count)
        ]
        moments = plan_timeline(games)
        speed = moments[-1].at_s / round_s
        began_s = time.monotonic()
        playing.set()
        for moment in moments:
            await asyncio.sleep(
                max(0.0, began_s + moment.at_s / speed - time.monotonic())
            )
            (folder / f"game-{moment.game + 1}.pgn").write_text(
                write_pgn(moment.report)
            )
        playing.clear()
        await asyncio.sleep(50)
        between.set()
        await asyncio.sleep(10)
        between.clear()


async def come_and_go(port: int, playing: asyncio.Event) -> None:
    """A subscriber that stays some seconds, and what pages ask for."""
    while True:
        await playing.wait()
        for query in ("", "?detail=brief", "?type=move"):
            try:
                async with connect(
                    f"ws://127.0.0.1:{port}/v3/live{query}", max_size=None
                ) as one:
                    await one.recv()
                    await asyncio.sleep(5)
            except OSError:
                await asyncio.sleep(1)
            await get(port, "/api/v3/games")


async def run(
    minutes: float, count: int, round_s: float, nodes: int, folder: Path
) -> int:
    games = folder / "games"
    games.mkdir()
    services = []
    for name in ("plain", "traced"):
        place = folder / name
        place.mkdir()
        port = free_port()
        settings: dict[str, dict[str, Any]] = {
            "server": {"port": port},
            "engine": {"path": "embedded", "nodes": nodes, "engines": 1, "nice": 19},
            "journal": {"enabled": True, "file": str(place / "journal.sqlite")},
            "memory": {"finished_after_h": RELEASED_H},
        }
        (place / "config.toml").write_text(toml(settings))
        words = [
            "--headless",
            "--config",
            str(place / "config.toml"),
            "--feed",
            f"folder+{games}",
        ]
        service = DrilledService(place, *words, env=MALLOC)
        if name == "traced":
            with service.log.open("ab") as log:
                service.process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "tests.benchmarks.memory",
                    "--traced",
                    str(place),
                    *words,
                    cwd=Path.cwd(),
                    env={**os.environ, **MALLOC, "OMP_NUM_THREADS": "1"},
                    stdout=log,
                    stderr=log,
                )
        else:
            await service.start()
        services.append((service, port))
    samples: list[tuple[float, float]] = []
    (plain, port), (second, other) = services
    assert plain.process is not None
    assert second.process is not None
    playing, between = asyncio.Event(), asyncio.Event()
    parts = [
        play(games, count, round_s, playing, between),
        Follower(port).run(),
        Follower(other).run(),
    ]
    began_s = time.monotonic()
    third = False
    async with run_tasks(
        *parts, come_and_go(port, playing), come_and_go(other, playing)
    ):
        while (now_s := time.monotonic() - began_s) < minutes * 60:
            samples.append((now_s, resident_mb(plain.process.pid)))
            if not third and now_s > minutes * 20 and between.is_set():
                third = True
                second.process.send_signal(signal.SIGUSR2)
            if len(samples) % 30 == 0:
                traced_mb = resident_mb(second.process.pid)
                print(
                    f"{now_s:.0f} s {samples[-1][1]:.1f} MB {traced_mb:.1f} MB",
                    flush=True,
                )
            await asyncio.sleep(2)
        await between.wait()
        second.process.send_signal(signal.SIGUSR2)
        for _ in range(300):
            await asyncio.sleep(1)
            if (await get(other, "/healthz"))[0] == 200:
                break
        health = (await get(port, "/api/v3/games"))[1]
        print(f"games held at the end: {health.count(b'plies_scored')}")
    for service, _ in services:
        await service.end(signal.SIGTERM)
    late = [each for each in samples if each[0] > min(WARM_S, minutes * 10)]
    growth, width = slope(late)
    print(
        f"memory {late[0][1]:.1f} to {late[-1][1]:.1f} MB, "
        f"{growth:+.1f} ± {width:.1f} MB an hour"
    )
    first, last = (
        tracemalloc.Snapshot.load(str(path)).filter_traces(
            [tracemalloc.Filter(False, tracemalloc.__file__)]
        )
        for path in sorted((folder / "traced").glob("*.trace"))[:2]
    )
    changed = last.compare_to(first, "lineno")
    print(f"traced: {sum(each.size_diff for each in changed) / 1e6:+.2f} MB")
    for each in last.compare_to(first, "traceback")[:12]:
        print(f"{each.size_diff / 1e3:+.0f} kB, {each.count_diff:+} blocks")
        print("\n".join(each.traceback.format()))
    return 0


def main() -> int:
    if sys.argv[1:2] == ["--traced"]:
        folder = Path(sys.argv[2])
        sys.argv[1:3] = []
        trace_allocations(folder)
        return 0
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--boards", type=int, default=8)
    options.add_argument("--round", type=float, default=150)
    options.add_argument("--nodes", type=int, default=1000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return asyncio.run(
            run(given.minutes, given.boards, given.round, given.nodes, Path(name))
        )


if __name__ == "__main__":
    sys.exit(main())
