"""The page at ``/`` does not grow with the number of messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

import pytest

from live.config import ServerConfig
from live.events import Change
from live.publish.server import Publisher
from tests.web.chromium import Page
from tests.web.replayed import Replayed
from tests.web.test_app import settled

pytestmark = [pytest.mark.slow, pytest.mark.whole, pytest.mark.timeout(600)]

#: Published before the page is waited for.
AT_ONCE = 400
#: What heap and nodes may come to, of what they are after two rounds.
MOST = 1.2
#: What somebody looks at in turn.
VIEWS = (
    *("layout=cards", "game=board1", "view=players", "layout=table", "game=board1&ply=3"),
    *("view=health", "layout=cards&sort=swing"),
)


async def weigh(page: Page) -> tuple[int, int]:
    """Bytes of the heap that are used, and nodes of the document, once garbage is gone."""
    for _ in range(3):
        await page.call("HeapProfiler.collectGarbage")
    used = await page.call("Runtime.getHeapUsage")
    counted = await page.call("Memory.getDOMCounters")
    return int(used["usedSize"]), int(counted["nodes"])


async def follow(
    page: Page, publisher: Publisher, rounds: Iterator[Change], views: Iterator[str], changes: int
) -> None:
    """Let the page follow so many changes, looking at one view after the other."""
    while changes > 0:
        await page.run(f"location.hash = '{next(views)}'")
        for change in islice(rounds, AT_ONCE):
            publisher.publish([change])
        await settled(page, publisher)
        changes -= AT_ONCE


async def test_the_heap_does_not_grow_with_what_was_told(page: Page) -> None:
    told = Replayed(boards=6, plies=40)
    rounds, views = told.rounds(), cycle(VIEWS)
    async with Publisher(ServerConfig(port=0), told.state) as publisher:
        assert told.state.game("board1") is not None
        await page.open(publisher.url)
        await settled(page, publisher)
        await follow(page, publisher, rounds, views, 2 * told.changes)
        await page.run("location.hash = 'layout=cards'")
        await settled(page, publisher)
        first, first_nodes = await weigh(page)
        await follow(page, publisher, rounds, views, 6 * told.changes)
        await page.run("location.hash = 'layout=cards'")
        await settled(page, publisher)
        used, nodes = await weigh(page)
        assert used < MOST * first
        assert nodes < MOST * first_nodes
        # The board's library says so when a board is hidden before a piece is off it.
        assert [each for each in page.complaints if "without parentNode" not in each] == []
