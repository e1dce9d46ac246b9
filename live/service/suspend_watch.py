"""Notices that the machine slept, so that sources are asked at once what happened meanwhile.

Deadlines here are kept on a clock that neither steps nor, on Linux, runs while the machine sleeps;
so nothing counts as hung after a night in a bag. But connections may be dead without a word, and
nobody should wait for their time-outs: after a sleep every source begins anew. The wall clock is
not asked, since it also jumps when somebody sets it. Part of the composition root.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from live.clock import Clock, LoopClock
from live.network.retry import spoken
from live.operating_system import awake_s, elapsed_s

log = logging.getLogger(__name__)

#: How often it is looked, seconds.
LOOK_S = 1.0
#: Shorter sleeps break no connection.
SLEEP_S = 5.0


class MachineSlept:
    """How long the machine slept between two looks. Pure: both clocks come in."""

    def __init__(self, elapsed_s: float, awake_s: float) -> None:
        self._lead_s = elapsed_s - awake_s

    def since(self, elapsed_s: float, awake_s: float) -> float:
        """Seconds slept since the last look."""
        before, self._lead_s = self._lead_s, elapsed_s - awake_s
        return max(0.0, self._lead_s - before)


async def watch(
    act: Callable[[], None],
    *,
    clock: Clock | None = None,
    elapsed: Callable[[], float] = elapsed_s,
    awake: Callable[[], float] = awake_s,
) -> None:
    """Call ``act`` after every sleep of the machine; until cancelled."""
    clock = clock or LoopClock()
    slept = MachineSlept(elapsed(), awake())
    while True:
        await clock.sleep(LOOK_S)
        slept_s = slept.since(elapsed(), awake())
        if slept_s >= SLEEP_S:
            log.warning("the machine slept for %s: every source begins anew", spoken(slept_s))
            act()
