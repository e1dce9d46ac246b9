"""``live-rate worker``: this machine's engines for a scheduler elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from live.engine.cluster.cluster_tls import ClusterTls, security
from live.engine.engine_discovery import EngineCommand
from live.engine.machine_capacity import check_load, engines_for_machine
from live.engine.process.engine_timeouts import EngineTimeouts
from live.engine.process.uci_conversation import UciSettings
from live.errors import EngineError

log = logging.getLogger(__name__)

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
    from live.engine.cluster.cluster_task import WorkerEngines, serve

    number = engines or engines_for_machine(settings.threads)
    check_load(number, settings.threads, settings.hash_mb)
    offered = WorkerEngines(command, settings, nice, patience or EngineTimeouts())
    try:
        await offered.start(number)
        serving = partial(serve, address, offered, number, secured)
        await serving()
        while True:
            log.warning("scheduler %s has ended; waiting for it to come back", address)
            await _again(serving)
    except (OSError, TimeoutError) as error:
        raise EngineError(
            f"cluster {address}", f"cannot be reached ({error})", "Is a dask scheduler running?"
        ) from None
    finally:
        await offered.close()


async def _again(serving: Callable[[], Awaitable[None]]) -> None:
    """Wait for a scheduler, however long, and serve it until it ends."""
    while True:
        await asyncio.sleep(_AGAIN_S)
        with contextlib.suppress(OSError, TimeoutError):
            return await serving()
