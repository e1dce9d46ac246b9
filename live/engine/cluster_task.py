"""What runs on a Dask worker: engines that stay alive, one for each slot.

``live-rate worker ADDRESS`` starts a worker that offers, as a Dask resource, exactly the engine it
has: name, network, hash, whether the hash is cleared, and the version of live-rate. A search asks
for that resource, so it can only run where it finds what it would find anywhere else.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any, Final

from distributed import Client, KilledWorker, Worker, WorkerPlugin, get_worker

from live import __version__
from live.engine.engine_discovery import EngineCommand
from live.engine.engine_process import (
    EngineIdentity,
    EngineProcess,
    EngineTimeouts,
    OnProgress,
    Searcher,
    look_at,
)
from live.engine.search import SearchKey, SearchResult
from live.engine.search_queue import SearchKind
from live.engine.uci import SearchFinished, UciSettings
from live.errors import EngineFault, EngineMoved
from live.events import Score

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


class RemoteEngine(Searcher):
    """One slot of the cluster, in the place of an engine. A worker that dies costs nothing: Dask
    gives the task to another. Reports no provisional scores.
    """

    def __init__(
        self,
        client: Client,
        resource: str,
        urgency: Callable[[], SearchKind],
        patience: EngineTimeouts,
        subject: str,
        heard: Callable[[str], None],
    ) -> None:
        """``heard`` is called after every search: with nothing where the cluster did its part, else
        with what failed.
        """
        super().__init__(patience)
        self._client = client
        self._resource = resource
        self._urgency = urgency
        self._subject = subject
        self._heard = heard
        self._future: Any = None
        self._following: asyncio.Task[None] | None = None
        # Cancellations under way, kept from the garbage collector.
        self._farewells: set[asyncio.Task[Any]] = set()

    def _begin(self, search_key: SearchKey, on_progress: OnProgress | None) -> None:
        key = f"live-rate-{uuid.uuid4().hex}"
        try:
            self._future = self._client.submit(
                search,
                search_key,
                key,
                key=key,
                resources={self._resource: 1},
                priority=-int(self._urgency()),
                pure=False,
            )
        except Exception as error:
            # The client has closed, and the next look has not seen it yet. Reported
            # in a moment: whoever begins a search expects no news from inside.
            self._loop.call_soon(self.give_up, EngineMoved(self._subject, _shortly(error)))
            return
        following = self._follow(search_key)
        self._following = self._loop.create_task(following, name=f"{self._subject} search")

    def stop(self) -> None:
        """Call the search off; its outcome is there at once."""
        if self._outcome is not None and not self._outcome.done():
            self._call_off()
            self._answer(SearchFinished(SearchResult(Score(0), "", depth=0), stopped=True))

    async def close(self) -> None:
        self.on_lost = None
        self.give_up(EngineMoved(self._subject, "closed"))
        await asyncio.gather(*self._farewells, return_exceptions=True)

    def _end(self, fault: EngineFault) -> None:
        self._call_off()

    async def _follow(self, search_key: SearchKey) -> None:
        """Wait for the answer, which has a bound as on this machine."""
        began = self._loop.time()
        longest_s = self.pace.longest_s(search_key.limit) + self._patience.cluster_s
        fault: EngineFault
        try:
            async with asyncio.timeout(longest_s):
                result = await self._future
        except TimeoutError:
            fault = EngineMoved(self._subject, f"no answer within {longest_s:.3g} s")
        except EngineFault as error:
            fault = EngineFault(error.subject, error.problem)
        except KilledWorker as error:
            fault = EngineFault(self._subject, str(error))
        except Exception as error:
            # Dask has many names for a scheduler that went away.
            fault = EngineMoved(self._subject, f"lost the search ({_shortly(error)})")
        else:
            self._heard("")
            self.pace.took(search_key.limit, self._loop.time() - began, result)
            self._answer(SearchFinished(result, stopped=False))
            return
        self.give_up(fault)
        if isinstance(fault, EngineMoved):
            self._heard(fault.problem)

    def _call_off(self) -> None:
        if self._following is not None and self._following is not asyncio.current_task():
            self._following.cancel()
        future, self._future = self._future, None
        if future is not None and not future.done() and self._client.status == "running":
            task = asyncio.ensure_future(self._client.cancel([future], force=True))  # type: ignore[no-untyped-call]
            self._farewells.add(task)
            task.add_done_callback(self._farewells.discard)
            task.add_done_callback(look_at)


def _shortly(error: Exception) -> str:
    """What Dask says, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
