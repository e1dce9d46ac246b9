"""What a seat needs of an engine, wherever that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from live.engine.process.engine_timeouts import EnginePace
from live.engine.process.uci_conversation import SearchFinished
from live.engine.search import SearchProgress
from live.engine.search_key import SearchKey
from live.errors import EngineFault


class Searcher(Protocol):
    """One engine, one search at a time; see
    :class:`live.engine.process.engine_process.EngineProcess`.
    """

    on_lost: Callable[[EngineFault], None] | None
    """Called once when it can be used no more, unless :meth:`close` was called before."""
    lost: EngineFault | None
    pace: EnginePace

    @property
    def searching(self) -> bool: ...

    def begin(
        self, question: SearchKey, on_progress: Callable[[SearchProgress], None] | None = None
    ) -> None: ...

    async def outcome(self) -> SearchFinished: ...

    def stop(self) -> None: ...

    def tidy(self) -> None: ...

    def give_up(self, fault: EngineFault) -> None:
        """Let it be lost for this reason, now."""

    async def close(self) -> None: ...
