"""The moments of a rehearsal, one after the other at their time, and what goes wrong with them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

from live.events import GameReport
from live.feeds.clock import Clock
from live.feeds.replay import Incident, Moment, timeline
from live.rehearse.faults import ALL_WELL, Mishap

#: Puts what the source now holds of game number ``index`` where others can see it.
Show = Callable[[int, GameReport], Awaitable[None] | None]
#: Is told of each moment after it was shown.
Shown = Callable[[Moment], None]
Drop = Callable[[], Awaitable[None] | None]


async def play(
    games: Sequence[GameReport],
    show: Show,
    *,
    clock: Clock,
    speed: float = 1.0,
    incidents: Iterable[Incident] = (),
    shown: Shown | None = None,
    mishaps: Iterator[Mishap] = ALL_WELL,
    drop: Drop | None = None,
    garble: Show | None = None,
) -> None:
    """Show the games move by move, ``speed`` times as fast as they were played.

    Returns when the last result is in; by then whatever stalled has been shown. ``drop`` breaks
    connections off, ``garble`` shows something unreadable of a game.
    """
    stalled: dict[int, GameReport] = {}
    start_s = clock.now()
    for moment in timeline(games, speed=speed, incidents=incidents):
        wait_s = start_s + moment.at_s - clock.now()
        if wait_s > 0:
            await clock.sleep(wait_s)
        else:
            await asyncio.sleep(0)
        match next(mishaps, ""):
            case "stall":
                stalled[moment.game] = moment.report
                continue
            case "drop" if drop is not None:
                await _done(drop())
            case "repeat":
                await _done(show(moment.game, moment.report))
            case "garble" if garble is not None:
                await _done(garble(moment.game, moment.report))
        stalled.pop(moment.game, None)
        await _done(show(moment.game, moment.report))
        if shown is not None:
            shown(moment)
    for index, report in stalled.items():
        await _done(show(index, report))


async def _done(result: Awaitable[None] | None) -> None:
    if inspect.isawaitable(result):
        await result
