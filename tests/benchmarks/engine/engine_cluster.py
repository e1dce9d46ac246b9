"""Dask against this machine's engines: ``python -m tests.benchmarks.engine.engine_cluster [--games
N] …``.

The same games are analysed by one engine, by two, by two Dask workers of one engine each, and by
two of which one is killed half-way. All must write the same JSON. Then searches one at a time, here
and there in turn: what does the way through scheduler and worker add to one? Told by searches of
depth 1, where it is nearly all, and as a share of one of depth 16, of which a tenth is the most it
may be.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Hashable
from pathlib import Path

from live.config import Config, load_config
from live.engine.cluster.dask_cluster import DaskCluster
from live.engine.engine_discovery import EngineCommand, find_engine
from live.engine.engine_pool import EnginePool
from live.engine.queue.search_priority import SearchKind, SearchPriority
from live.engine.results.result_cache import MemoryResultCache
from live.engine.search import Limit, Position, Search, SearchFailure, SearchProgress, SearchResult
from live.events import FeedReport, GameReport
from live.feeds.demo import demo_feed
from live.publish.export.analysis_json import analysis, to_json
from live.service.event_service import EventService
from tests.engine.machines import Machines, until

#: Most that the way may cost, as a share of a search of depth 16.
AIM = 0.1


async def analysed(config: Config, games: list[GameReport], victim: int | None = None) -> bytes:
    """The games' JSON; a ``victim`` is killed when a third of the searches are made."""
    service = EventService(config)
    began = time.perf_counter()
    async with service.with_engine(live=False):
        if config.engine.cluster:
            await until(lambda: len(service.room.health().engines) == 2)
        started = time.perf_counter()
        await service.take(FeedReport("file", tuple(games), complete=True))
        if victim is not None:
            third = service.room.health().queued // 3
            await until(lambda: service.room.health().searches > third)
            os.kill(victim, signal.SIGKILL)
        await service.settled()
        searches = service.room.health().searches
        set_aside = service.room.health().set_aside
    took = time.perf_counter() - started
    sys.stdout.write(f"{searches:>9}{took:>9.1f}{started - began:>9.1f}{set_aside:>9}\n")
    return to_json(analysis(service.state))


class OneByOne:
    """Wants the next search when the last one is answered."""

    def __init__(self) -> None:
        self._answered = asyncio.Event()

    async def times(self, room: EnginePool, searches: list[Search]) -> list[float]:
        took = []
        for number, search in enumerate(searches):
            self._answered.clear()
            began = time.perf_counter()
            room.submit(search, number, SearchPriority(SearchKind.HEAD, "a", number))
            await self._answered.wait()
            took.append(time.perf_counter() - began)
        return took

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        assert isinstance(result, SearchResult), result
        self._answered.set()

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        pass


async def overhead(command: EngineCommand, address: str, games: list[GameReport]) -> None:
    """What Dask adds to a search."""
    there, _ = await compared(command, address, games, Limit(depth=1))
    deep, here = await compared(command, address, games, Limit(depth=16))
    sys.stdout.write(
        f"Dask adds {there * 1000:.1f} ms to a search of depth 1: {there / here:.1%} of one "
        f"of depth 16 ({here * 1000:.0f} ms; to those it added {deep * 1000:.1f} ms; medians)\n"
        f"added / a search of depth 16 {there / here:.3f}   aim: below {AIM:g}\n"
    )


async def compared(
    command: EngineCommand, address: str, games: list[GameReport], limit: Limit
) -> tuple[float, float]:
    """The same searches here and there, taken in turn: medians of the differences and of the time
    here, seconds.
    """
    moves = [move.uci for move in games[0].moves]
    searches = [
        Search(Position(games[0].start_fen, tuple(moves[:ply]))) for ply in range(len(moves))
    ]
    times: dict[str, list[float]] = {"here": [], "Dask": []}
    async with contextlib.AsyncExitStack() as stack:
        rooms = {}
        for where in times:
            cluster = DaskCluster(address) if where == "Dask" else None
            ledger = OneByOne()
            cache = MemoryResultCache(0)
            room = EnginePool(
                command, limit, listener=ledger, engines=1, nice=0, cache=cache, cluster=cluster
            )
            rooms[where] = (ledger, await stack.enter_async_context(room))
        for number, search in enumerate(searches):
            order = list(rooms.items())
            for where, (ledger, room) in order if number % 2 else reversed(order):
                times[where] += await ledger.times(room, [search])
    both = [there - here for here, there in zip(times["here"], times["Dask"], strict=True)]
    return statistics.median(both), statistics.median(times["here"])


async def contest(number: int, nodes: int) -> None:
    """Everything, and the table."""
    games = demo_feed.games()[:number]
    command = find_engine()
    flags = {"engine.nodes": nodes, "engine.nice": 0}
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        machines = Machines(Path(folder))
        try:
            await machines.schedule()
            workers = [await machines.work(command) for _ in range(2)]
            there = {**flags, "engine.cluster": machines.address}
            sys.stdout.write(
                f"{command.how_found}; {number} games, {nodes} nodes\n{'':<26}"
                f"{'searches':>9}{'s':>9}{'start s':>9}{'aside':>9}\n"
            )
            for name, settings, victim in (
                ("one engine", {**flags, "engine.engines": 1}, None),
                ("two engines", {**flags, "engine.engines": 2}, None),
                ("two Dask workers", there, None),
                ("two, one killed", there, workers[0].pid),
            ):
                sys.stdout.write(f"{name:<26}")
                sys.stdout.flush()
                told[name] = await analysed(load_config(None, {}, settings), games, victim)
            same = len(set(told.values())) == 1
            sys.stdout.write(f"JSON of all four: {'identical' if same else 'DIFFERENT'}\n")
            await overhead(command, machines.address, games)
        finally:
            await machines.close()


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=100_000)
    arguments = parser.parse_args()
    asyncio.run(contest(arguments.games, arguments.nodes))


if __name__ == "__main__":
    main()
