"""What runs on a Dask worker: engines that stay alive, one for each slot.

``live-rate worker ADDRESS`` starts a worker that offers, as a Dask resource, exactly the engine it
has: name, network, hash, whether the hash is cleared, and the version of live-rate. A search asks
for that resource, so it can only run where it finds what it would find anywhere else.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from distributed import Worker, WorkerPlugin, get_worker

from live import __version__
from live.engine.engine_discovery import EngineCommand
from live.engine.process.engine_process import EngineIdentity, EngineProcess
from live.engine.process.engine_timeouts import EngineTimeouts
from live.engine.process.uci_conversation import UciSettings
from live.engine.search import SearchResult
from live.engine.search_key import SearchKey

#: How long a worker looks for a lost scheduler before it ends, seconds.
DEATH_S: Final = 60
PLUGIN: Final = "live-rate-engines"


def resource(identity: str) -> str:
    """The name of the Dask resource that stands for an engine, and for who reads what it says:
    another version may read it otherwise.
    """
    return f"live-rate {__version__}: {identity}"


async def search(search_key: SearchKey, key: str) -> SearchResult:
    """The task. Running it twice finds the same twice; ``key`` is its own.

    Raises:
        EngineFault: the engine died, hung or lied; the next search gets another.
    """
    engines = get_worker().plugins[PLUGIN]
    assert isinstance(engines, WorkerEngines)
    return await engines.search(search_key, key)


class WorkerEngines(WorkerPlugin):
    """The engines of one worker. Start them before the worker, so that it can say what it has."""

    name = PLUGIN

    def __init__(
        self, command: EngineCommand, settings: UciSettings, nice: int, patience: EngineTimeouts
    ) -> None:
        self._command = command
        self._settings = settings
        self._nice = nice
        self._patience = patience
        self.identity = ""
        self._idle: list[EngineProcess] = []
        self._busy: dict[str, EngineProcess] = {}

    async def start(self, number: int) -> None:
        """Raises NotAnEngine."""
        for _ in range(number):
            self._idle.append(await self._engine())
        first = self._idle[0]
        self.identity = str(EngineIdentity.of(first, self._settings))

    async def search(self, search_key: SearchKey, key: str) -> SearchResult:
        """One search on whichever engine is free."""
        process = self._idle.pop() if self._idle else await self._engine()
        while process.lost is not None:
            await process.close()
            process = self._idle.pop() if self._idle else await self._engine()
        self._busy[key] = process
        try:
            process.begin(search_key)
            finished = await process.outcome()
        except BaseException:
            await process.close()
            raise
        finally:
            del self._busy[key]
        process.tidy()
        self._idle.append(process)
        return finished.result

    def transition(self, key: Any, start: Any, finish: Any, **more: Any) -> None:
        """Dask reports every change of a task: one that was released is stopped."""
        if finish in ("cancelled", "released", "forgotten") and key in self._busy:
            self._busy[key].stop()

    async def close(self) -> None:
        """End all engines."""
        await asyncio.gather(*(each.close() for each in (*self._idle, *self._busy.values())))

    async def _engine(self) -> EngineProcess:
        return await EngineProcess.start(
            self._command, self._settings, nice=self._nice, patience=self._patience
        )


async def serve(address: str, engines: WorkerEngines, number: int, security: Any = None) -> None:
    """Serve a scheduler until it ends or we are cancelled.

    Raises:
        OSError: the scheduler cannot be reached.
    """
    async with Worker(
        address,
        nthreads=number,
        resources={resource(engines.identity): number},
        plugins=(engines,),
        security=security,
        memory_limit=0,
        death_timeout=DEATH_S,
        dashboard=False,
    ) as worker:
        await worker.finished()
