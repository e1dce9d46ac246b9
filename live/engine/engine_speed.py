"""How fast an engine is on this machine, for ``doctor`` and for sizing."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from live.engine.engine_discovery import EngineCommand
from live.engine.process.engine_process import EngineIdentity, EngineProcess
from live.engine.process.engine_timeouts import EngineTimeouts
from live.engine.process.uci_conversation import UciSettings
from live.engine.search import Limit, Position, Search
from live.engine.search_key import SearchKey, SearchKeys

#: A middlegame with most pieces on the board.
_MIDDLEGAME = "r2q1rk1/pb1n1ppp/1p2pn2/2bp4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 12"


class EngineSpeed(msgspec.Struct, frozen=True):
    """What was measured."""

    name: str
    """``id name``."""
    identity: str
    """The name and all options that results depend on."""
    start_s: float
    """From starting the program to its first ``readyok``, seconds."""
    knodes_per_s: float
    depth: int
    """Reached in the time."""


async def measure_speed(
    command: EngineCommand,
    settings: UciSettings | None = None,
    *,
    seconds: float = 1.0,
    patience: EngineTimeouts | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> EngineSpeed:
    """Start the engine and let it think for ``seconds``.

    Raises:
        NotAnEngine: it does not speak UCI.
        EngineFault: it failed at the search.
    """
    before = clock()
    settings = settings or UciSettings()
    process = await EngineProcess.start(command, settings, patience=patience)
    try:
        start_s = clock() - before
        process.begin(_search_key(Limit(movetime_ms=round(seconds * 1000))))
        result = (await process.outcome()).result
    finally:
        await process.close()
    return EngineSpeed(
        name=process.name,
        identity=str(EngineIdentity.of(process, settings)),
        start_s=start_s,
        knodes_per_s=result.nodes / max(1, result.time_ms),
        depth=result.depth,
    )


def _search_key(limit: Limit) -> SearchKey:
    search_key = SearchKeys(limit).key_of(Search(Position(_MIDDLEGAME)))
    assert isinstance(search_key, SearchKey)
    return search_key
