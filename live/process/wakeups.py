"""Detection of sleeps of the machine.

Deadlines use a clock that never steps and, on Linux, stops while the machine sleeps, so
nothing counts as hung after a sleep. But connections can break unnoticed, and their
time-outs are long, so every source reconnects after a sleep. The wall clock is not
used, because it also jumps when somebody sets it.
"""

import logging
from collections.abc import Callable

from live.process.backoff import format_duration
from live.process.clock import (
    LOOP_CLOCK,
    Clock,
    ReadClock,
    read_awake_s,
    read_elapsed_s,
)

log = logging.getLogger(__name__)

#: Interval at which the clocks are compared, seconds.
LOOK_S = 1.0
#: Shortest sleep after which sources reconnect, seconds; shorter ones break no
#: connection.
SLEEP_S = 5.0


async def call_after_wakeup(
    act: Callable[[], None],
    *,
    clock: Clock = LOOP_CLOCK,
    read_elapsed: ReadClock = read_elapsed_s,
    read_awake: ReadClock = read_awake_s,
) -> None:
    """Call ``act`` after every sleep of the machine, until cancelled."""
    lead_s = read_elapsed() - read_awake()
    while True:
        await clock.sleep(LOOK_S)
        before_s = lead_s
        lead_s = read_elapsed() - read_awake()
        slept_s = lead_s - before_s
        if slept_s >= SLEEP_S:
            slept = format_duration(slept_s)
            log.warning("the machine slept for %s: every source reconnects", slept)
            act()
