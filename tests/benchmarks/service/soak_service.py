"""The service as :mod:`tests.benchmarks.service.soak` disturbs it: its wall clock steps, its loop
is timed.

    python -m tests.benchmarks.service.soak_service CONFIG REPORT FEED ...

Imports nothing but what the command line does, so that its memory is the service's own.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from live import operating_system as system

#: Before that, seconds, the loop is kept by the start.
START_S = 30.0
#: How often it is looked at whether the loop is free, seconds.
BEAT_S = 0.005


def service(config: str, report: str, feeds: Sequence[str]) -> None:
    """The command line, with a stepping wall clock; tells ``report`` how long the loop was kept."""
    longest: dict[str, Any] = {"cpu_s": 0.0, "wall_s": 0.0}
    wall, began_s, make = time.time, time.monotonic(), system.event_loop

    def beating() -> asyncio.AbstractEventLoop:
        loop = make()
        loop.call_soon(beat, loop, time.monotonic(), time.thread_time())
        return loop

    def beat(loop: asyncio.AbstractEventLoop, due_s: float, cpu_s: float) -> None:
        now_s, used_s = time.monotonic(), time.thread_time()
        # What came before the service served is its start.
        if used_s - cpu_s > longest["cpu_s"] and now_s - began_s > START_S:
            longest.update(cpu_s=used_s - cpu_s, wall_s=now_s - due_s)
            Path(report).write_text(json.dumps(longest))
        loop.call_later(BEAT_S, beat, loop, now_s + BEAT_S, used_s)

    def stepping() -> float:
        step = int(time.monotonic() / 17) % 4
        return wall() + (0, 3600, -7200, 5)[step]

    Path(report).write_text(json.dumps(longest))
    system.event_loop = beating
    time.time = stepping
    time.time_ns = lambda: int(stepping() * 1e9)
    sys.argv = ["live-rate", "--headless", "--config", config]
    for feed in feeds:
        sys.argv += ["--feed", feed]
    from live.cli import main

    main()


if __name__ == "__main__":
    service(sys.argv[1], sys.argv[2], sys.argv[3:])
