"""What all rehearsals share: the moments, one after the other at their time, and their mishaps."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager

from live.clock import Clock, LoopClock
from live.events import GameReport
from live.feeds.game_timeline import GameMoment, PlannedIncident, timeline
from live.rehearse.planned_faults import ALL_WELL, Mishap

#: Called with each moment after it was shown.
Shown = Callable[[GameMoment], None]


class Rehearsal(ABC):
    """Plays games back over one protocol.

    ::

        async with rehearsal.serving() as feed_spec:
            await rehearsal.play(speed=60)
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        clock: Clock | None = None,
        mishaps: Iterator[Mishap] = ALL_WELL,
    ) -> None:
        """``mishaps``: what goes wrong with each moment."""
        self._games = list(games)
        self._clock = clock or LoopClock()
        self._mishaps = mishaps

    @abstractmethod
    def serving(self, host: str = "127.0.0.1", port: int = 0) -> AbstractAsyncContextManager[str]:
        """Serve while the block runs; gives the ``--feed`` text."""

    @abstractmethod
    def show(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """The source now holds this of game number ``index`` (from 0), where others can see it."""

    def tell(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """The next moment of game number ``index``: what :meth:`play` does with it."""
        return self.show(index, report)

    def drop(self) -> Awaitable[None] | None:
        """Break connections off, where the protocol has any that are not broken otherwise."""
        return None

    def garble(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """Show something unreadable of a game, where the protocol lets one."""
        return None

    async def play(
        self,
        speed: float = 1.0,
        incidents: Iterable[PlannedIncident] = (),
        shown: Shown | None = None,
    ) -> None:
        """Show the games move by move, ``speed`` times as fast as they were played.

        Returns when the last result is in, where the protocol sends results. By then
        everything that stalled has been shown, and serving goes on.
        """
        stalled: dict[int, GameReport] = {}
        start_s = self._clock.now()
        for moment in timeline(self._games, speed=speed, incidents=incidents):
            wait_s = start_s + moment.at_s - self._clock.now()
            if wait_s > 0:
                await self._clock.sleep(wait_s)
            else:
                await asyncio.sleep(0)
            match next(self._mishaps, ""):
                case "stall":
                    stalled[moment.game] = moment.report
                    continue
                case "drop":
                    await _done(self.drop())
                case "repeat":
                    await _done(self.tell(moment.game, moment.report))
                case "garble":
                    await _done(self.garble(moment.game, moment.report))
            stalled.pop(moment.game, None)
            await _done(self.tell(moment.game, moment.report))
            if shown is not None:
                shown(moment)
        for index, report in stalled.items():
            await _done(self.tell(index, report))


async def _done(result: Awaitable[None] | None) -> None:
    if inspect.isawaitable(result):
        await result
