"""What a seat needs of an engine, wherever that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from live.engine.patience import Pace
from live.engine.question import Question
from live.engine.search import Progress
from live.engine.uci import Finished
from live.errors import EngineFault


class Searcher(Protocol):
    """One engine, one search at a time; see :class:`live.engine.process.EngineProcess`."""

    on_lost: Callable[[EngineFault], None] | None
    """Called once when it can be used no more, unless :meth:`close` was called before."""
    lost: EngineFault | None
    pace: Pace

    @property
    def searching(self) -> bool: ...

    def begin(
        self, question: Question, on_progress: Callable[[Progress], None] | None = None
    ) -> None: ...

    async def outcome(self) -> Finished: ...

    def stop(self) -> None: ...

    def tidy(self) -> None: ...

    def give_up(self, fault: EngineFault) -> None:
        """Let it be lost for this reason, now."""

    async def close(self) -> None: ...
