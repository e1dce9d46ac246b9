"""Reference positions are searched when the engine has nothing else to do."""

import asyncio
from collections.abc import Hashable

import pytest

from live.engine.reference_searches import FutureAnswers, search_positions
from live.engine.search import (
    Position,
    Search,
    SearchFailure,
    SearchResult,
)
from live.engine.search_queue import SearchKind, SearchPriority
from live.messages.from_sources import Score
from tests.engine.conftest import Desk
from tests.sources.fakes import turns, until

PLACED = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - {} 1"
#: Numbered by the halfmove clock.
FENS = [PLACED.format(number) for number in range(70)]


class FakeEngines:
    """Holds what is wanted until it is answered."""

    def __init__(self) -> None:
        self.wanted: dict[Hashable, tuple[Search, SearchPriority]] = {}
        self.most = 0

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        self.wanted[owner] = search, priority
        self.most = max(self.most, len(self.wanted))

    def find_known_result(self, search: Search) -> SearchResult | None:
        return None

    def drop(self, owner: Hashable) -> None:
        self.wanted.pop(owner, None)

    def answer(self, fail: set[int] | None = None) -> None:
        """One search, the one asked for last."""
        owner, (search, _) = list(self.wanted.items())[-1]
        del self.wanted[owner]
        assert isinstance(owner, asyncio.Future)
        number = int(search.position.start_fen.split()[4])
        if fail is not None and number in fail:
            owner.set_result(SearchFailure("given up"))
        else:
            found = SearchResult(
                Score(round(18 * (number - 35))), "e2e4", 9, nodes=1000 + number
            )
            owner.set_result(found)


async def searched(
    fail: set[int] | None = None,
) -> tuple[list[SearchResult | None], FakeEngines]:
    engines = FakeEngines()
    seen: list[tuple[int, int]] = []
    running = asyncio.create_task(
        search_positions(
            FENS, engines, lines=1, on_progress=lambda done, of: seen.append((done, of))
        )
    )
    while not running.done():
        await turns(5)
        if engines.wanted:
            engines.answer(fail)
    found = await running
    assert seen == [(done, 70) for done in range(1, 71)]
    return found, engines


async def test_every_result_has_the_place_of_its_position() -> None:
    found, engines = await searched()
    assert [each.nodes for each in found if each is not None] == [*range(1000, 1070)]
    assert engines.most <= 32


async def test_a_position_without_a_score_leaves_its_place_empty() -> None:
    found, _ = await searched(fail={3, 4})
    assert [number for number, each in enumerate(found) if each is None] == [3, 4]


async def test_searches_wait_for_everything_else() -> None:
    engines = FakeEngines()
    running = asyncio.create_task(
        search_positions(FENS, engines, lines=3, on_progress=lambda done, of: None)
    )
    await until(lambda: bool(engines.wanted))
    assert {priority.kind for _, priority in engines.wanted.values()} == {
        SearchKind.SPECULATE
    }
    assert {search.lines for search, _ in engines.wanted.values()} == {3}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not engines.wanted


async def test_a_future_is_answered_and_other_results_are_handed_on(
    desk: Desk,
) -> None:
    answers = FutureAnswers(desk)
    search = Search(Position(FENS[0]))
    result = SearchResult(Score(1), "e2e4", 9)
    waiting: asyncio.Future[SearchResult | SearchFailure] = asyncio.Future()
    given_up: asyncio.Future[SearchResult | SearchFailure] = asyncio.Future()
    given_up.cancel()
    for owner in (waiting, given_up, "a game"):
        answers.on_result(owner, search, result)
    assert await waiting is result
    assert desk.order == ["a game"]
