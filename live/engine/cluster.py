"""A Dask cluster that searches for us: connected, looked at, lost, and found again; and
``live-rate worker``, this machine's engines for a scheduler elsewhere.

Only workers that have our very engine, set up in our way, are counted and used, so that a figure
does not depend on which machine found it. While there is none, searches are made here. Address and
certificates are checked before anything runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from live.engine.engine_discovery import EngineCommand, check_load, engines_for_machine
from live.engine.engine_process import EngineTimeouts, Searcher
from live.engine.search_queue import SearchKind
from live.engine.uci import UciSettings
from live.errors import ConfigError, EngineError, EngineMoved


class ClusterTls(msgspec.Struct, frozen=True):
    """Files for addresses that begin with ``tls://``; empty: Dask's own configuration."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""


def security(address: str, tls: ClusterTls) -> Any:
    """Dask's form of it. Needs the extra ``cluster``.

    Raises:
        ConfigError: Dask is not installed, the address lacks its port, or address and certificates
            do not go together. What no retry mends is reported before anything runs.
    """
    require_dask()
    from distributed.comm.addressing import parse_host_port
    from distributed.security import Security

    scheme, _, rest = address.partition("://")
    subject = f"engine.cluster {address}"
    try:
        parse_host_port(rest)
    except ValueError as error:
        raise ConfigError(subject, str(error), f"Write {scheme}://HOST:8786") from None
    encrypted = scheme in ("tls", "wss")
    if tls != ClusterTls() and not encrypted:
        raise ConfigError(
            subject,
            "is not encrypted, and there are certificates for it",
            f"Write tls://{rest}, or leave out the engine.cluster_…_file settings",
        )
    for setting, file in msgspec.structs.asdict(tls).items():
        if file and not Path(file).is_file():
            raise ConfigError(
                f"engine.cluster_{setting} {file}",
                "there is no such file",
                f"Correct the path: it is looked for from {Path.cwd()}",
            )
    # What the settings leave out, Dask's own configuration says.
    roles = ("client", "worker")
    given: dict[str, Any] = {"tls_ca_file": tls.ca_file}
    given |= {f"tls_{role}_cert": tls.cert_file for role in roles}
    given |= {f"tls_{role}_key": tls.key_file for role in roles}
    given = {name: file for name, file in given.items() if file}
    secured: Any = Security(**given, **({"require_encryption": True} if given else {}))  # type: ignore[no-untyped-call]
    for role in roles if encrypted else ():
        try:
            context = secured.get_connection_args(role)["ssl_context"]
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            why = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
            raise ConfigError(
                subject,
                f"its certificates cannot be used ({str(why).replace('_', ' ').lower()})",
                "Give a certificate and its unencrypted key, both in PEM",
            ) from None
        if context is None:
            raise ConfigError(
                subject,
                "needs certificates",
                "Set engine.cluster_ca_file, cluster_cert_file and cluster_key_file"
                " (--config FILE)",
            )
    return secured


def require_dask() -> None:
    """Make sure that Dask is there, and quiet.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ConfigError(
            "engine.cluster", "needs Dask", "pip install 'live-rate[cluster]' brings it"
        ) from None
    # What it says of lost connections we say ourselves.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


log = logging.getLogger(__name__)

#: How often the cluster is looked at, and tried again when it is lost, seconds.
LOOK_S: Final = 1.0
#: Longest a scheduler may take to answer, seconds.
ANSWER_S: Final = 5.0
#: Searches that may fail there, one after the other, before it is left alone.
_TRIES: Final = 2
#: For how long it is left alone, seconds; twice as long each time.
_REST_S: Final = 5.0
_MOST_REST_S: Final = 300.0


class DaskCluster:
    """One scheduler and what it offers. :meth:`watch` must run all the while."""

    def __init__(
        self, address: str, tls: ClusterTls | None = None, patience: EngineTimeouts | None = None
    ) -> None:
        self.problem = ""
        """For people; empty while the cluster works."""
        self.slots = 0
        """Engines like ours that its workers offer now; 0 while it is lost."""
        self._address = address
        self._security = security(address, tls or ClusterTls())
        self._patience = patience or EngineTimeouts()
        self._client: Any = None
        self._resource = ""
        self._engines: list[Searcher] = []
        self._changed = asyncio.Event()
        # Searches that failed since the last answer, and until when no more are handed in.
        self._failures = 0
        self._rests_until_s = 0.0

    async def watch(self, changed: Callable[[], None]) -> None:
        """Look again and again; ``changed`` is called when ``slots`` is another."""
        while True:
            await asyncio.sleep(LOOK_S)
            before = self.slots
            await self.look()
            if self.slots != before:
                changed()

    async def look(self, identity: str = "") -> None:
        """Connect if necessary, and count what is offered; never raises for the cluster's sake.

        Args:
            identity: our engine, to be given once, with the first look.
        """
        if identity:
            from live.engine.cluster_task import resource

            self._resource = resource(identity)
        if asyncio.get_running_loop().time() < self._rests_until_s:
            return
        try:
            async with asyncio.timeout(ANSWER_S):
                slots = await self._count()
        except (OSError, TimeoutError) as error:
            await self._lose(f"cannot be reached ({str(error) or 'no answer'})")
        except Exception as error:
            # Dask has many names for what is amiss, and none of them is worth the service.
            if not self.problem:
                log.exception("cluster %s", self._address)
            await self._lose(f"cannot be used ({type(error).__name__}: {error})")
        else:
            problem = "" if slots else "has no worker with this engine, settings and live-rate"
            self._use(slots, problem)

    def engine(self, urgency: Callable[[], SearchKind]) -> Searcher:
        """One more place to search; ``urgency`` gives that of the search about to begin."""
        from live.engine.cluster_task import RemoteEngine

        engine = RemoteEngine(
            self._client, self._resource, urgency, self._patience, self._address, self._heard
        )
        self._engines = [each for each in self._engines if each.lost is None]
        self._engines.append(engine)
        return engine

    def _heard(self, problem: str) -> None:
        """A search was answered there (empty), or failed through no fault of its engine.

        One that reaches a scheduler which cannot read it fails at once, and so would the next:
        it must not come back again and again while our own engines could make it. That a scheduler
        is gone the next look sees.
        """
        if problem and (self._client is None or self._client.status != "running"):
            return
        self._failures = self._failures + 1 if problem else 0
        if self._failures >= _TRIES:
            rest_s = min(_MOST_REST_S, _REST_S * 2.0 ** min(self._failures - _TRIES, 10))
            self._rests_until_s = asyncio.get_running_loop().time() + rest_s
            self._use(0, problem)

    async def place(self, index: int) -> None:
        """Wait until the cluster has a slot number ``index``."""
        while index >= self.slots:
            await self._changed.wait()

    async def close(self) -> None:
        """Say good-bye."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):  # it is gone either way
                async with asyncio.timeout(ANSWER_S):
                    await client.close(timeout=1)

    async def _count(self) -> int:
        from distributed import Client

        if self._client is None:
            self._client = Client(  # type: ignore[no-untyped-call]
                self._address,
                asynchronous=True,
                timeout=ANSWER_S,
                security=self._security,
                set_as_default=False,
            )
            await self._client
        if self._client.status != "running":
            raise OSError("the connection broke")
        workers = (await self._client.scheduler.identity())["workers"]
        return sum(int(each["resources"].get(self._resource, 0)) for each in workers.values())

    async def _lose(self, problem: str) -> None:
        self._use(0, problem)
        await self.close()

    def _use(self, slots: int, problem: str) -> None:
        """So many engines are there from now on; where none is, what is being searched there is
        searched elsewhere, because of the ``problem``.
        """
        text = f"cluster {self._address}: {problem}; searching here" if problem else ""
        if text and not self.problem:
            log.warning("%s", text)
        self.problem = text
        if slots != self.slots:
            self.slots = slots
            self._changed.set()
            self._changed = asyncio.Event()
        if not slots:
            engines, self._engines = self._engines, []
            for engine in engines:
                engine.give_up(EngineMoved(self._address, problem))


#: Between two schedulers, seconds; one that is not there is waited for besides.
_AGAIN_S: Final = 1.0


async def work(
    address: str,
    command: EngineCommand,
    settings: UciSettings,
    *,
    engines: int = 0,
    nice: int = 5,
    tls: ClusterTls | None = None,
    patience: EngineTimeouts | None = None,
) -> None:
    """Start the engines, then serve the scheduler until cancelled: when it ends, the one that comes
    in its place.

    Raises:
        NotAnEngine: the program does not speak UCI.
        EngineError: there is no scheduler to begin with.
        ConfigError: Dask is not installed, or the hash tables do not fit this machine.
    """
    secured = security(address, tls or ClusterTls())
    from live.engine.cluster_task import WorkerEngines, serve

    number = engines or engines_for_machine(settings.threads)
    check_load(number, settings.threads, settings.hash_mb)
    offered = WorkerEngines(command, settings, nice, patience or EngineTimeouts())
    try:
        await offered.start(number)
        serving = partial(serve, address, offered, number, secured)
        await serving()
        while True:
            log.warning("scheduler %s has ended; waiting for it to come back", address)
            while True:
                await asyncio.sleep(_AGAIN_S)
                with contextlib.suppress(OSError, TimeoutError):
                    await serving()
                    break
    except (OSError, TimeoutError) as error:
        raise EngineError(
            f"cluster {address}", f"cannot be reached ({error})", "Is a dask scheduler running?"
        ) from None
    finally:
        await offered.close()
