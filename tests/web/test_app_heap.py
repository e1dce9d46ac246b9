"""The page at ``/`` does not grow with the number of messages.
``tests/benchmarks/publish/page_heap.py`` does the same with 56 boards for half an hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from live.config import ServerConfig
from live.events import Change
from live.publish.server import Publisher
from tests.benchmarks.publish.page_heap import MOST, looks, serious, weigh
from tests.web.chromium import Page
from tests.web.replayed import Replayed
from tests.web.test_app import settled

pytestmark = [pytest.mark.slow, pytest.mark.whole, pytest.mark.timeout(600)]

#: Published before the page is waited for.
AT_ONCE = 400


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
    rounds, views = told.rounds(), looks("board1")
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
        assert serious(page.complaints) == []
