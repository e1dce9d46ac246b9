"""A fault drill: engines are killed, stopped and garbled at random while a room works."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sys
from collections.abc import Hashable, Sequence
from pathlib import Path

from live.engine.engine_discovery import EngineCommand
from live.engine.engine_pool import EnginePool
from live.engine.engine_process import EngineProcess, EngineTimeouts
from live.engine.search import Limit, Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_queue import SearchKind, SearchPriority
from live.events import EngineHealth

_GARBLER = Path(__file__).with_name("garbling_engine.py")


def garbled(command: EngineCommand, seed: Path, every: int) -> EngineCommand:
    """The engine, with one of ``every`` searches' answers damaged. ``seed`` names new files."""
    wrapper = (sys.executable, "-I", "-S", str(_GARBLER), str(seed), str(every))
    return EngineCommand((*wrapper, *command.argv), "garbled", "configured")


class Drill:
    """Wants all searches at once; disturbs, if told to, after every few answers."""

    def __init__(self, searches: Sequence[Search], chance: random.Random | None = None) -> None:
        self.results: dict[Hashable, SearchResult | SearchFailure] = {}
        self.told = 0
        self.kills = 0
        self.stops = 0
        self._searches = searches
        self._chance = chance
        self._next = self._pause()
        self._done = asyncio.Event()
        self._room: EnginePool | None = None

    async def run(self, command: EngineCommand, limit: Limit, engines: int) -> EngineHealth:
        patience = EngineTimeouts(floor_s=2.0, slack=4.0, handshake_s=30.0)
        async with EnginePool(
            command, limit, listener=self, engines=engines, nice=0, patience=patience
        ) as self._room:
            for number, search in enumerate(self._searches):
                self._room.submit(
                    search, number, SearchPriority(SearchKind.BACKLOG, "drill", number)
                )
            await self._done.wait()
            return self._room.health()

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self.results[owner] = result
        self.told += 1
        if len(self.results) == len(self._searches):
            self._done.set()
        elif self._chance is not None and self.told >= self._next:
            self._disturb(self._chance)

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        pass

    def _pause(self) -> int:
        return self._chance.randint(10, 30) if self._chance is not None else 0

    def _disturb(self, chance: random.Random) -> None:
        assert self._room is not None
        processes = [slot.process for slot in self._room._engine_slots]
        up = [one for one in processes if isinstance(one, EngineProcess) and one.lost is None]
        if not up:
            return  # after the next answer, then
        self._next = self.told + self._pause()
        process = chance.choice(up)
        stop = chance.random() < 0.4
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGSTOP if stop else signal.SIGKILL)
        self.stops += stop
        self.kills += not stop
