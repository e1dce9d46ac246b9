"""``live-rate worker``: this machine's engines for a scheduler elsewhere."""

from __future__ import annotations

from live.engine.discovery import EngineCommand
from live.engine.encryption import Tls, security
from live.engine.machine import check_hash, engines_for_machine
from live.engine.patience import Patience
from live.engine.uci import Settings
from live.errors import EngineError


async def work(
    address: str,
    command: EngineCommand,
    settings: Settings,
    *,
    engines: int = 0,
    nice: int = 5,
    tls: Tls | None = None,
    patience: Patience | None = None,
) -> None:
    """Start the engines, then serve the scheduler until it ends or we are cancelled.

    Raises:
        NotAnEngine: the program does not speak UCI.
        EngineError: the scheduler cannot be reached.
        ConfigError: Dask is not installed, or the hash tables do not fit this machine.
    """
    secured = security(address, tls or Tls())
    from live.engine.cluster_task import Engines, serve

    number = engines or engines_for_machine(settings.threads)
    check_hash(settings.hash_mb, number)
    offered = Engines(command, settings, nice, patience or Patience())
    try:
        await offered.start(number)
        await serve(address, offered, number, secured)
    except (OSError, TimeoutError) as error:
        raise EngineError(
            f"cluster {address}", f"cannot be reached ({error})", "Is a dask scheduler running?"
        ) from None
    finally:
        await offered.close()
