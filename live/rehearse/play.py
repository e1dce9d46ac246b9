"""The moments of a rehearsal, one after the other at their time."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence

from live.events import GameReport
from live.feeds.clock import Clock
from live.feeds.replay import Incident, Moment, timeline

#: Puts what the source now holds of game number ``index`` where others can see it.
Show = Callable[[int, GameReport], Awaitable[None] | None]


async def play(
    games: Sequence[GameReport],
    show: Show,
    *,
    clock: Clock,
    speed: float = 1.0,
    incidents: Iterable[Incident] = (),
    shown: Callable[[Moment], None] | None = None,
) -> None:
    """Show the games move by move, ``speed`` times as fast as they were played.

    Returns when the last result is in. ``shown`` is told of every moment after it was shown.
    """
    start_s = clock.now()
    for moment in timeline(games, speed=speed, incidents=incidents):
        wait_s = start_s + moment.at_s - clock.now()
        if wait_s > 0:
            await clock.sleep(wait_s)
        result = show(moment.game, moment.report)
        if inspect.isawaitable(result):
            await result
        if shown is not None:
            shown(moment)
