"""A source that gives text by text: they become games, and its faults are retried."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from live.config import FeedsConfig
from live.feeds.feed import FeedConditions
from live.feeds.file_feed import TextFeed
from live.network.retry import FeedTrouble
from tests.feeds.fakes import DrivenClock, Ledger

GAME = '[White "A"]\n[Black "B"]\n[Result "*"]\n\n'


async def followed(*runs: Sequence[str | FeedTrouble | None]) -> Ledger:
    left, sink, clock = list(runs), Ledger(), DrivenClock()

    async def texts() -> AsyncGenerator[str | None, None]:
        for text in left.pop(0):
            if isinstance(text, FeedTrouble):
                raise text
            yield text

    conditions = FeedConditions(FeedsConfig(), clock=clock, random=lambda: 0.5)
    async with asyncio.timeout(30):
        await TextFeed("plugin+p", texts, conditions).run(sink)
    assert left == []
    return sink


async def test_texts_become_games_and_the_end_is_the_end() -> None:
    sink = await followed([None, GAME + "e4 *", None, GAME + "e4 e5 *"])
    assert [len(game.moves) for game in sink.games.values()] == [2]
    assert sink.last.state == "finished"


async def test_a_failure_is_said_and_tried_again() -> None:
    trouble = FeedTrouble("the plugin raised OSError")
    sink = await followed([GAME + "e4 *", trouble], [GAME + "e4 e5 *"])
    said = [each.detail for each in sink.healths if each.state == "retrying"]
    assert said and said[0].startswith("the plugin raised OSError, trying again in")
    assert [len(game.moves) for game in sink.games.values()] == [2]


async def test_it_is_over_with_its_last_result() -> None:
    over = GAME.replace('"*"]\n\n', '"1-0"]\n\n') + "e4 e5 1-0"
    clock_runs_on = [None] * 3
    sink = await followed([over, *clock_runs_on])
    assert [game.result for game in sink.games.values()] == ["1-0"]
