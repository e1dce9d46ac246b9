"""Searches on a Dask cluster; and ``live-rate worker``, which offers this machine's
engines to a scheduler elsewhere. A lost connection is restored.

A worker declares its exact engine as a Dask resource: name, neural network, hash size,
whether the hash is cleared, and the version of live-rate. A search requires that
resource, so it runs only on an engine that gives the same result as the local one.
While no worker offers the resource, searches run on this machine. Address and
certificates are checked before anything runs. Importing this module raises ConfigError
if Dask is not installed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from live import __version__
from live.engine.engine_process import EngineProcess
from live.engine.engine_programs import (
    EngineCommand,
    check_load,
    count_engines_for_machine,
)
from live.engine.engine_settings import build_timeouts, build_uci_settings
from live.engine.search import SearchResult
from live.engine.search_key import SearchKey
from live.engine.search_queue import SearchKind
from live.engine.searcher import (
    EngineTimeouts,
    OnProgress,
    Searcher,
    retrieve_exception,
)
from live.engine.uci import SearchFinished
from live.errors import ConfigError, EngineError, EngineFault, EngineMoved
from live.messages.from_sources import Score
from live.settings import EngineConfig

try:
    from distributed import Client, KilledWorker, Worker, WorkerPlugin, get_worker
    from distributed.comm.addressing import parse_host_port
    from distributed.security import Security
except ImportError:
    raise ConfigError(
        "engine.cluster", "needs Dask", "pip install 'live-rate[cluster]' brings it"
    ) from None

log = logging.getLogger(__name__)
# This module reports lost connections itself, so Dask's own messages are switched off.
for _name in ("distributed", "distributed.client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

#: Interval at which the cluster is checked, and at which a worker tries to reach a lost
#: scheduler, seconds.
LOOK_S = 1.0
#: Longest time for a scheduler to answer, seconds.
ANSWER_S = 5.0
#: Time after which a worker exits if it cannot reach its scheduler, seconds.
DEATH_S = 60
#: Number of consecutive failed searches after which the cluster is not used for a
#: while.
_TRIES = 2
#: First and longest pause in the use of a failing cluster, seconds. Each pause is twice
#: as long as the previous one.
_REST_S = 5.0
_MOST_REST_S = 300.0
PLUGIN = "live-rate-engines"


def load_security(config: EngineConfig) -> Security:
    """Return Dask's security settings, with certificates if the address is encrypted.

    Certificates are loaded before anything runs, so that a permanent error is reported
    at once.

    Raises:
        ConfigError: the address has no port, or its certificates are missing or
            unusable.
    """
    scheme, _, rest = config.cluster.partition("://")
    subject = f"engine.cluster {config.cluster}"
    try:
        parse_host_port(rest)
    except ValueError as error:
        raise ConfigError(subject, str(error), f"Write {scheme}://HOST:8786") from None
    encrypted = scheme in ("tls", "wss")
    # Dask's own configuration names the certificates, and can forbid unencrypted
    # connections.
    secured = Security(  # type: ignore[no-untyped-call]
        require_encryption=encrypted or None
    )
    for role in ("client", "worker") if encrypted else ():
        try:
            connection = secured.get_connection_args(role)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            reason = (
                getattr(error, "reason", None)
                or getattr(error, "strerror", None)
                or str(error)
            )
            reason = str(reason).replace("_", " ").lower()
            raise ConfigError(
                subject,
                f"its certificates cannot be used ({reason})",
                "Give a certificate and its unencrypted key, both in PEM",
            ) from None
        if connection["ssl_context"] is None:
            raise ConfigError(
                subject,
                "needs certificates",
                "Name them in Dask's own configuration: distributed.comm.tls",
            )
    return secured


def name_resource(identity: str) -> str:
    """Return the name of the Dask resource for an engine and this version of live-rate.

    The version is included because another version can read the engine's output
    differently.
    """
    return f"live-rate {__version__}: {identity}"


class ClusterConnection:
    """Connection to one Dask scheduler, whose workers offer engines.

    :meth:`watch_slots` must run while the connection is in use.
    """

    def __init__(self, config: EngineConfig) -> None:
        self.problem = ""
        """Problem of the cluster, as text for display; empty while it works."""
        self.slots = 0
        """Number of engines identical to the local one that the cluster offers now; 0
        while the cluster is lost.
        """
        self.address = config.cluster
        self.client: Any = None
        self.resource = ""
        self._security = load_security(config)
        self._on_change: Callable[[], None] = lambda: None
        self._changed = asyncio.Event()
        # Number of failed searches since the last answer, and the time before which no
        # further search is submitted.
        self._failures = 0
        self._rests_until_s = 0.0

    async def watch_slots(self, changed: Callable[[], None]) -> None:
        """Count the cluster's slots every ``LOOK_S`` seconds; call ``changed`` when
        their number changes.
        """
        self._on_change = changed
        while True:
            await asyncio.sleep(LOOK_S)
            await self.refresh_slots()

    async def refresh_slots(self, identity: str = "") -> None:
        """Connect if necessary, and update the number of slots.

        A fault of the cluster raises nothing; it is stored in ``problem``.

        Args:
            identity: our engine's identity, required in the first call only.
        """
        if identity:
            self.resource = name_resource(identity)
        if asyncio.get_running_loop().time() < self._rests_until_s:
            return
        try:
            async with asyncio.timeout(ANSWER_S):
                slots = await self._count_slots()
        except Exception as error:
            problem = f"cannot be reached ({str(error) or 'no answer'})"
            if not isinstance(error, OSError | TimeoutError):
                # Dask raises many types of error here, and none of them may end the
                # service.
                problem = f"cannot be used ({type(error).__name__}: {error})"
                if not self.problem:
                    log.exception("cluster %s", self.address)
            self._set_slots(0, problem)
            await self.close()
        else:
            problem = (
                ""
                if slots
                else "has no worker with this engine, settings and live-rate"
            )
            self._set_slots(slots, problem)

    def build_engine(self, urgency: Callable[[], SearchKind]) -> RemoteEngine:
        """Return an engine that searches on the cluster.

        ``urgency`` returns the kind of the search that is about to begin.
        """
        return RemoteEngine(self, urgency)

    def record_answer(self, problem: str) -> None:
        """Record the end of a search: ``problem`` is the cluster's fault, or empty if
        the search was answered.

        After repeated faults the cluster is not used for a while, because the local
        engines can run the searches. A lost connection is not counted, because the next
        check notices it.
        """
        if problem and (self.client is None or self.client.status != "running"):
            return
        self._failures = self._failures + 1 if problem else 0
        if self._failures >= _TRIES:
            rest_s = min(
                _MOST_REST_S, _REST_S * 2.0 ** min(self._failures - _TRIES, 10)
            )
            self._rests_until_s = asyncio.get_running_loop().time() + rest_s
            self._set_slots(0, problem)

    async def wait_for_slot(self, index: int) -> None:
        """Wait until the cluster offers more than ``index`` slots."""
        while index >= self.slots:
            await self._changed.wait()

    async def close(self) -> None:
        """Close the connection to the scheduler."""
        client = self.client
        self.client = None
        if client is not None:
            with contextlib.suppress(Exception):  # the connection is gone either way
                async with asyncio.timeout(ANSWER_S):
                    await client.close(timeout=1)

    async def _count_slots(self) -> int:
        """Return the number of engines identical to the local one that the workers
        offer, after connecting if necessary.
        """
        if self.client is None:
            self.client = Client(  # type: ignore[no-untyped-call]
                self.address,
                asynchronous=True,
                timeout=ANSWER_S,
                security=self._security,
                set_as_default=False,
            )
            await self.client
        if self.client.status != "running":
            raise OSError("the connection broke")
        workers = (await self.client.scheduler.identity())["workers"]
        return sum(
            int(worker["resources"].get(self.resource, 0))
            for worker in workers.values()
        )

    def _set_slots(self, slots: int, problem: str) -> None:
        """Set the number of slots; if it is 0, ``problem`` is the reason."""
        text = f"cluster {self.address}: {problem}; searching here" if problem else ""
        if text and not self.problem:
            log.warning("%s", text)
        self.problem = text
        if slots != self.slots:
            self.slots = slots
            self._changed.set()
            self._changed = asyncio.Event()
            self._on_change()


class RemoteEngine(Searcher):
    """One slot of the cluster, used like an engine.

    If a worker dies, Dask gives the task to another. The cluster reports no provisional
    scores.
    """

    def __init__(
        self, cluster: ClusterConnection, urgency: Callable[[], SearchKind]
    ) -> None:
        super().__init__(EngineTimeouts())
        self._cluster = cluster
        self._client = cluster.client
        self._urgency = urgency
        self._future: Any = None
        self._waiting_task: asyncio.Task[None] | None = None
        # Running cancellations, kept here so that the garbage collector does not remove
        # them.
        self._cancellations: set[asyncio.Task[Any]] = set()

    def _send_search(
        self, search_key: SearchKey, on_progress: OnProgress | None
    ) -> None:
        key = f"live-rate-{uuid.uuid4().hex}"
        try:
            self._future = self._client.submit(
                run_search_task,
                search_key,
                key,
                key=key,
                resources={self._cluster.resource: 1},
                priority=-int(self._urgency()),
                pure=False,
            )
        except Exception as error:
            # The client has closed, and the next check has not noticed it yet. The
            # fault is reported in the next turn of the event loop, because the caller
            # expects no callback before ``begin_search`` has returned.
            self._loop.call_soon(
                self.give_up, self._build_moved_fault(_describe_error(error))
            )
            return
        name = f"{self._cluster.address} search"
        self._waiting_task = self._loop.create_task(
            self._await_result(search_key), name=name
        )

    def _build_moved_fault(self, problem: str) -> EngineMoved:
        return EngineMoved(self._cluster.address, problem)

    def stop_search(self) -> None:
        """Cancel the running search, and set its outcome at once."""
        if self.is_searching:
            self._cancel_search()
            self._set_outcome(
                SearchFinished(SearchResult(Score(0), "", depth=0), stopped=True)
            )

    async def close(self) -> None:
        self.on_lost = None
        self.give_up(self._build_moved_fault("closed"))
        await asyncio.gather(*self._cancellations, return_exceptions=True)

    def _end_engine(self, fault: EngineFault) -> None:
        self._cancel_search()

    async def _await_result(self, search_key: SearchKey) -> None:
        """Wait for the result of a search, and set the outcome.

        The wait is at most ``cluster_s`` seconds longer than for a search on this
        machine.
        """
        began = self._loop.time()
        longest_s = (
            self.pace.compute_deadline_s(search_key.limit) + self._patience.cluster_s
        )
        fault: EngineFault
        try:
            async with asyncio.timeout(longest_s):
                result = await self._future
        except TimeoutError:
            fault = self._build_moved_fault(f"no answer within {longest_s:.3g} s")
        except EngineFault as error:
            fault = EngineFault(error.subject, error.problem)
        except KilledWorker as error:
            fault = EngineFault(self._cluster.address, str(error))
        except Exception as error:
            # Dask raises many types of error for a scheduler that has gone.
            fault = self._build_moved_fault(
                f"lost the search ({_describe_error(error)})"
            )
        else:
            self._cluster.record_answer("")
            self.pace.record_search(search_key.limit, self._loop.time() - began, result)
            self._set_outcome(SearchFinished(result, stopped=False))
            return
        self.give_up(fault)
        if isinstance(fault, EngineMoved):
            self._cluster.record_answer(fault.problem)

    def _cancel_search(self) -> None:
        if (
            self._waiting_task is not None
            and self._waiting_task is not asyncio.current_task()
        ):
            self._waiting_task.cancel()
        future = self._future
        self._future = None
        if (
            future is not None
            and not future.done()
            and self._client.status == "running"
        ):
            task = asyncio.ensure_future(self._client.cancel([future], force=True))
            self._cancellations.add(task)
            task.add_done_callback(self._cancellations.discard)
            task.add_done_callback(retrieve_exception)


def _describe_error(error: Exception) -> str:
    """Return the error's type and message in one line, at most 200 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


# Code that runs on a worker.


async def run_search_task(search_key: SearchKey, key: str) -> SearchResult:
    """Run one search on a worker. ``key`` is the key of the Dask task.

    Running the same search twice gives the same result.

    Raises:
        EngineFault: the engine died, hung or printed an impossible answer; the next
            search gets another engine.
    """
    engines = get_worker().plugins[PLUGIN]
    assert isinstance(engines, WorkerEngines)
    return await engines.search(search_key, key)


class WorkerEngines(WorkerPlugin):
    """Engines of one worker, which stay alive between searches.

    The engines must be started before the worker, which must name the engine that it
    offers.
    """

    name = PLUGIN

    def __init__(self, command: EngineCommand, config: EngineConfig) -> None:
        self._start_engine = partial(
            EngineProcess.start,
            command,
            build_uci_settings(config),
            nice=config.nice,
            patience=build_timeouts(config),
        )
        self.identity = ""
        self._idle: list[EngineProcess] = []
        self._busy: dict[str, EngineProcess] = {}

    async def start_engines(self, number: int) -> None:
        """Start ``number`` engines. Raises NotAnEngine if the program does not speak
        UCI.
        """
        for _ in range(number):
            self._idle.append(await self._start_engine())
        self.identity = str(self._idle[0].identity)

    async def search(self, search_key: SearchKey, key: str) -> SearchResult:
        """Run one search on any free engine, and return its result."""
        while True:
            process = self._idle.pop() if self._idle else await self._start_engine()
            if process.lost is None:
                break
            await process.close()
        self._busy[key] = process
        try:
            finished = await process.begin_search(search_key)
        except BaseException:
            # The engine is closed after a cancellation, too, because an engine that is
            # still searching must not get the next search.
            await process.close()
            raise
        finally:
            del self._busy[key]
        process.prepare_next_search()
        self._idle.append(process)
        return finished.result

    def transition(self, key: Any, start: Any, finish: Any, **details: Any) -> None:
        """Stop the search of a task that Dask has released."""
        if finish in ("cancelled", "released", "forgotten") and key in self._busy:
            self._busy[key].stop_search()

    async def close(self) -> None:
        """End all engines."""
        await asyncio.gather(
            *(process.close() for process in (*self._idle, *self._busy.values()))
        )


async def run_worker(command: EngineCommand, config: EngineConfig) -> None:
    """Start the engines, then serve the scheduler until cancelled.

    If the scheduler ends, serve the one that replaces it.

    Raises:
        NotAnEngine: the program does not speak UCI.
        EngineError: there is no scheduler at the start.
        ConfigError: the settings are refused by :func:`load_security`, or the hash
            tables do not fit this machine.
    """
    address = config.cluster
    secured = load_security(config)
    number = config.engines or count_engines_for_machine(config.threads)
    check_load(number, config.threads, config.hash_mb)
    engines = WorkerEngines(command, config)

    async def serve() -> None:
        async with Worker(
            address,
            nthreads=number,
            resources={name_resource(engines.identity): number},
            plugins=(engines,),
            security=secured,
            memory_limit=0,
            death_timeout=DEATH_S,
            dashboard=False,
        ) as worker:
            await worker.finished()

    try:
        await engines.start_engines(number)
        await serve()
        while True:
            log.warning("scheduler %s has ended; waiting for it to come back", address)
            await asyncio.sleep(LOOK_S)
            with contextlib.suppress(OSError, TimeoutError):
                await serve()
    except (OSError, TimeoutError) as error:
        raise EngineError(
            f"cluster {address}",
            f"cannot be reached ({error})",
            "Is a dask scheduler running?",
        ) from None
    finally:
        await engines.close()
