"""One slot of a Dask cluster, in the place of an engine."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

from distributed import Client, KilledWorker

from live.engine.cluster.cluster_task import search
from live.engine.process.child_process import look_at
from live.engine.process.engine_timeouts import EnginePace, EngineTimeouts
from live.engine.process.uci_conversation import SearchFinished
from live.engine.queue.search_priority import SearchKind
from live.engine.search import SearchProgress, SearchResult
from live.engine.search_key import SearchKey
from live.errors import EngineFault, EngineMoved
from live.events import Score

_NOTHING = SearchResult(Score(0), "", depth=0)


class RemoteEngine:
    """A :class:`live.engine.engine_slot.Searcher` whose searches run on the cluster. A worker that
    dies costs nothing: Dask gives the task to another. Reports no provisional scores.
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
        self.on_lost: Callable[[EngineFault], None] | None = None
        self.lost: EngineFault | None = None
        self.pace = EnginePace(patience)
        self._client = client
        self._resource = resource
        self._urgency = urgency
        self._patience = patience
        self._subject = subject
        self._heard = heard
        self._outcome: asyncio.Future[SearchFinished] | None = None
        self._future: Any = None
        self._following: asyncio.Task[None] | None = None
        # Cancellations under way, kept from the garbage collector.
        self._farewells: set[asyncio.Task[Any]] = set()

    @property
    def searching(self) -> bool:
        return self._outcome is not None

    def begin(
        self, search_key: SearchKey, on_progress: Callable[[SearchProgress], None] | None = None
    ) -> None:
        """Start a search; ``on_progress`` is never called."""
        if self._outcome is not None:
            raise RuntimeError("one search at a time")
        loop = asyncio.get_running_loop()
        self._outcome = loop.create_future()
        self._outcome.add_done_callback(look_at)
        if self.lost is not None:
            self._outcome.set_exception(self.lost)
            return
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
            loop.call_soon(self.give_up, EngineMoved(self._subject, _shortly(error)))
            return
        self._following = loop.create_task(self._follow(search_key), name=f"{self._subject} search")

    async def outcome(self) -> SearchFinished:
        assert self._outcome is not None
        try:
            return await self._outcome
        finally:
            self._outcome = None

    def stop(self) -> None:
        """Call the search off; its outcome is there at once."""
        if self._outcome is not None and not self._outcome.done():
            self._call_off()
            self._outcome.set_result(SearchFinished(_NOTHING, stopped=True))

    def tidy(self) -> None:
        """The worker does that."""

    def give_up(self, fault: EngineFault) -> None:
        if self.lost is not None:
            return
        self.lost = fault
        self._call_off()
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_exception(fault)
        if self.on_lost is not None:
            self.on_lost(fault)

    async def close(self) -> None:
        self.on_lost = None
        self.give_up(EngineMoved(self._subject, "closed"))
        await asyncio.gather(*self._farewells, return_exceptions=True)

    async def _follow(self, search_key: SearchKey) -> None:
        """Wait for the answer, which has a bound as on this machine."""
        loop = asyncio.get_running_loop()
        began = loop.time()
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
            self.pace.took(search_key.limit, loop.time() - began, result)
            if self._outcome is not None and not self._outcome.done():
                self._outcome.set_result(SearchFinished(result, stopped=False))
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
