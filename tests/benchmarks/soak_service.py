"""The service as :mod:`tests.benchmarks.soak` disturbs it: its wall clock steps, its loop
is timed.

    python -m tests.benchmarks.soak_service CONFIG REPORT FEED ...

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

#: Before that, seconds, the loop is kept by the start.
START_S = 30.0


def service(config: str, report: str, feeds: Sequence[str]) -> None:
    """The command line, with a stepping wall clock; tells ``report`` how long the loop was kept."""
    longest: dict[str, Any] = {"cpu_s": 0.0, "wall_s": 0.0, "by": ""}
    run, wall, began_s = asyncio.Handle._run, time.time, time.monotonic()

    def timed(handle: asyncio.Handle) -> None:
        cpu_s, wall_s = time.thread_time(), time.monotonic()
        run(handle)
        cpu_s, wall_s = time.thread_time() - cpu_s, time.monotonic() - wall_s
        # What came before the service served is its start.
        if cpu_s > longest["cpu_s"] and time.monotonic() - began_s > START_S:
            longest.update(cpu_s=cpu_s, wall_s=wall_s, by=repr(handle)[:200])
            Path(report).write_text(json.dumps(longest))

    def stepping() -> float:
        step = int(time.monotonic() / 17) % 4
        return wall() + (0, 3600, -7200, 5)[step]

    Path(report).write_text(json.dumps(longest))
    asyncio.Handle._run = timed  # type: ignore[method-assign, assignment]
    time.time = stepping
    time.time_ns = lambda: int(stepping() * 1e9)
    sys.argv = ["live-rate", "--headless", "--config", config]
    for feed in feeds:
        sys.argv += ["--feed", feed]
    from live.cli import main

    main()


if __name__ == "__main__":
    service(sys.argv[1], sys.argv[2], sys.argv[3:])
