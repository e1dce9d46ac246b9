"""Whether the page at ``/`` grows when it is left open: its heap after MINUTES against after five.

    python -m tests.benchmarks.publish.page_heap [MINUTES [BASE_MINUTES [CHANGES_PER_SECOND]]]

A round of 56 boards is told over and over, by default 400 changes a second: in half an hour what
25 a second are over eight hours. Meanwhile somebody looks at boards, table, players and one board
in turn. Heap and nodes are counted after the collector of garbage was run.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from live.config import ServerConfig
from live.events import Change
from live.publish.access import ClientLimits
from live.publish.server import Publisher
from tests.web.chromium import Page, browsing
from tests.web.replayed import Replayed

#: Somebody looks at another view so often, seconds.
LOOK_S = 5.0
#: What the issue asks for.
MOST = 1.2


async def weigh(page: Page) -> tuple[int, int]:
    """Bytes of the heap that are used, and nodes of the document, once garbage is gone."""
    for _ in range(3):
        await page.call("HeapProfiler.collectGarbage")
    used = await page.call("Runtime.getHeapUsage")
    counted = await page.call("Memory.getDOMCounters")
    return int(used["usedSize"]), int(counted["nodes"])


def serious(complaints: list[str]) -> list[str]:
    """Without what the board's library says when a board is hidden before a piece is off it."""
    return [each for each in complaints if "without parentNode" not in each]


def looks(game: str) -> Iterator[str]:
    """The views that somebody looks at, for ever."""
    places = ("layout=cards", f"game={game}", "view=players", "layout=table", f"game={game}&ply=3")
    return cycle((*places, "view=health", "layout=cards&sort=swing"))


async def follow(
    page: Page,
    publisher: Publisher,
    told: Replayed,
    rounds: Iterator[Change],
    views: Iterator[str],
    seconds: float,
    per_s: float,
) -> int:
    """Let the page follow for so long; returns how many changes it was told."""
    count, left = 0, seconds
    while left > 0:
        await page.run(f"location.hash = '{next(views)}'")
        span = min(LOOK_S, left)
        count += await told.tell(publisher, rounds, per_s, span)
        left -= span
    # All views are weighed from the same place.
    await page.run("location.hash = 'layout=cards'")
    await asyncio.sleep(1)
    return count


async def run(minutes: float, base: float, per_s: float, boards: int = 56) -> float:
    program = shutil.which("chromium")
    assert program, "chromium is not here; on Debian: apt-get install chromium"
    told = Replayed(boards)
    limits = ClientLimits(silent_after_s=1e6)
    with tempfile.TemporaryDirectory() as folder:
        async with (
            Publisher(ServerConfig(port=0), told.state, limits=limits) as publisher,
            browsing(program, Path(folder)) as page,
        ):
            game = next(iter(told.state.games())).id
            await page.open(publisher.url + "#layout=cards", 1440, 900)
            await page.until("document.querySelectorAll('.card').length > 0")
            rounds, views = told.rounds(), looks(game)
            count = await follow(page, publisher, told, rounds, views, base * 60, per_s)
            first, first_nodes = await weigh(page)
            print(f"after {base:g} min, {count} changes: {first / 1e6:.1f} MB, {first_nodes} nodes")
            at, ratio = base, 1.0
            while at < minutes:
                span = min(base, minutes - at)
                count += await follow(page, publisher, told, rounds, views, span * 60, per_s)
                at += span
                used, nodes = await weigh(page)
                ratio = used / first
                print(
                    f"after {at:g} min, {count} changes: {used / 1e6:.1f} MB, {nodes} nodes; "
                    f"{ratio:.2f} times the first"
                )
            assert serious(page.complaints) == [], page.complaints
    print(f"{'holds' if ratio <= MOST else 'FAILS'}: {ratio:.2f}, at most {MOST} is asked for")
    return ratio


def main() -> None:
    given = [float(each) for each in sys.argv[1:]]
    minutes, base, per_s = [*given, *[30.0, 5.0, 400.0][len(given) :]]
    asyncio.run(run(minutes, base, per_s))


if __name__ == "__main__":
    main()
