"""How soon a fresh overlay shows its first curve, and what it costs to fetch.

``python -m tests.benchmarks.publish.overlay_opening [OPENINGS]``: a round of 56 boards on this
machine, an
empty cache at each opening. The floor of each time is a page of the same service without scripts.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

from live.config import ServerConfig
from live.publish.server import Publisher
from tests.web.broadcast import Broadcast
from tests.web.chromium import Page, browsing

CHROMIUM = "/usr/bin/chromium"
PLIES = 70
QUERIES = {
    "one game, by its id": "layout=board&game=board3",
    "a board among 56": "layout=board&board=3",
    "curves of one game": "layout=curves&game=board3",
}


async def curve_ms(page: Page, url: str) -> tuple[float, float]:
    """Milliseconds from the request to the first curve, and bytes that came by then."""
    page.transferred.clear()
    await page.visit(url)
    await page.until("performance.getEntriesByName('curve').length > 0")
    at: float = await page.run("performance.getEntriesByName('curve')[0].startTime")
    return at, sum(size for _, size in page.transferred)


async def floor_ms(page: Page, url: str) -> float:
    await page.visit(url)
    await page.until("performance.getEntriesByType('navigation')[0]?.loadEventEnd > 0")
    value: float = await page.run("performance.getEntriesByType('navigation')[0].loadEventEnd")
    return value


async def measure(openings: int) -> None:
    broadcast = Broadcast()
    broadcast.play(PLIES)
    with tempfile.TemporaryDirectory() as profiles:
        async with (
            Publisher(ServerConfig(port=0), broadcast.state) as publisher,
            browsing(CHROMIUM, Path(profiles)) as page,
        ):
            await page.open("about:blank", 1280, 720)
            await page.count_bytes()
            floors = [await floor_ms(page, f"{publisher.url}docs") for _ in range(openings)]
            floor = statistics.median(floors)
            sys.stdout.write(f"floor, a page without scripts: {floor:.0f} ms\n")
            for name, query in QUERIES.items():
                found = [
                    await curve_ms(page, f"{publisher.url}overlay?{query}") for _ in range(openings)
                ]
                times = [ms for ms, _ in found]
                size = max(size for _, size in found)
                sys.stdout.write(
                    f"{name}: first curve after {statistics.median(times):.0f} ms"
                    f" (worst {max(times):.0f}; {statistics.median(times) / floor:.1f} times the"
                    f" floor), {size / 1000:.0f} kB\n"
                )


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
