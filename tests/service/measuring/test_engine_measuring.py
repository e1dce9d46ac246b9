"""An engine nobody knows is measured once, without standing in the way of anything."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest

from live.engine.queue.search_priority import SearchKind, SearchPriority
from live.engine.search import Search, SearchFailure, SearchResult
from live.events import Score
from live.ratings.engine_scale import MeasuredEngine, ReferencePosition, ReferenceSet
from live.service.measuring.engine_measuring import EngineMeasuring, ReferenceSearch

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - {} 1"
REFERENCE = ReferenceSet(
    engine="Known 1",
    limit="100000 nodes",
    data="made up",
    positions=tuple(
        # Numbered by the halfmove clock.
        ReferencePosition(START.format(index), score_cp=20 * (index - 35))
        for index in range(70)
    ),
)


class FakeEngines:
    """Holds what is wanted until it is answered."""

    def __init__(self) -> None:
        self.wanted: dict[Hashable, tuple[Search, SearchPriority]] = {}
        self.most = 0

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        self.wanted[owner] = search, priority
        self.most = max(self.most, len(self.wanted))

    def drop(self, owner: Hashable) -> None:
        self.wanted.pop(owner, None)

    def answer(self, measuring: EngineMeasuring, fail: set[int] | None = None) -> None:
        """One search, the one asked for last."""
        owner, (search, _) = list(self.wanted.items())[-1]
        del self.wanted[owner]
        assert isinstance(owner, ReferenceSearch)
        number = int(search.position.start_fen.split()[4])
        assert number == owner.index
        if fail is not None and number in fail:
            measuring.searched(owner, SearchFailure("given up"))
        else:
            found = SearchResult(Score(round(18 * (number - 35))), "e2e4", 9, nodes=1000 + number)
            measuring.searched(owner, found)


async def measured(fail: set[int] | None = None) -> tuple[MeasuredEngine | str, FakeEngines]:
    engines = FakeEngines()
    seen: list[tuple[int, int]] = []
    measuring = EngineMeasuring(
        REFERENCE, engines, progressed=lambda done, of: seen.append((done, of))
    )
    running = asyncio.create_task(measuring.run())
    await asyncio.sleep(0)
    while engines.wanted:
        engines.answer(measuring, fail)
    found = await running
    assert seen == [(done, 70) for done in range(1, 71)]
    return found, engines


async def test_every_position_is_searched_and_compared() -> None:
    found, engines = await measured()
    assert isinstance(found, MeasuredEngine)
    assert found.agreement.scale == pytest.approx(0.9)
    assert found.agreement.positions == 70
    assert found.nodes == pytest.approx(1034.5, abs=0.5)
    assert engines.most <= 32


async def test_searches_wait_for_everything_else() -> None:
    engines = FakeEngines()
    measuring = EngineMeasuring(REFERENCE, engines, lines=3)
    running = asyncio.create_task(measuring.run())
    await asyncio.sleep(0)
    assert {priority.kind for _, priority in engines.wanted.values()} == {SearchKind.SPECULATE}
    assert {search.lines for search, _ in engines.wanted.values()} == {3}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not engines.wanted


async def test_positions_without_a_score_are_left_out() -> None:
    found, _ = await measured(fail={3, 4})
    assert isinstance(found, MeasuredEngine)
    assert found.agreement.positions == 68


async def test_an_engine_that_fails_at_most_positions_is_not_measured() -> None:
    found, _ = await measured(fail=set(range(30)))
    assert found == ("it could not be measured: it gave no score for 30 of 70 reference positions")
