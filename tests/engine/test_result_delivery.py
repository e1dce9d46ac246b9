"""Answers on their way to whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable

from live.engine.engine_pool import ResultDeliveries, ResultDelivery
from live.engine.search import Position, Search, SearchFailure, SearchProgress, SearchResult

FAILURE = SearchFailure("for the test")
SEARCH = Search(Position("x"))


class Told:
    """Remembers what it was told, and may react."""

    def __init__(self) -> None:
        self.owners: list[Hashable] = []
        self.react: Callable[[Hashable], None] = lambda owner: None

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self.owners.append(owner)
        self.react(owner)

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        raise AssertionError("no progress here")


async def test_they_are_told_in_order_and_later() -> None:
    told = Told()
    deliveries = ResultDeliveries(told)
    for owner in "abc":
        deliveries.add(ResultDelivery(owner, SEARCH, FAILURE))
    assert told.owners == []
    await asyncio.sleep(0)  # the next turn of the loop
    assert told.owners == ["a", "b", "c"]


async def test_a_listener_that_wants_more_is_not_told_inside() -> None:
    told = Told()
    deliveries = ResultDeliveries(told)
    depths = []

    def react(owner: Hashable) -> None:
        depths.append(len(told.owners))
        if owner == "a":
            deliveries.add(ResultDelivery("c", SEARCH, FAILURE))
            deliveries.deliver()
            assert told.owners == ["a"]

    told.react = react
    deliveries.add(ResultDelivery("a", SEARCH, FAILURE))
    deliveries.add(ResultDelivery("b", SEARCH, FAILURE))
    deliveries.deliver()
    assert told.owners == ["a", "b", "c"]
    assert depths == [1, 2, 3]


async def test_a_dropped_owner_is_not_told() -> None:
    told = Told()
    deliveries = ResultDeliveries(told)
    told.react = lambda owner: deliveries.drop("b")
    for owner in "abc":
        deliveries.add(ResultDelivery(owner, SEARCH, FAILURE))
    deliveries.deliver()
    assert told.owners == ["a", "c"]


async def test_many_do_not_hold_up_the_loop() -> None:
    told = Told()
    deliveries = ResultDeliveries(told)
    for owner in range(100):
        deliveries.add(ResultDelivery(owner, SEARCH, FAILURE))
    turns = 0
    while len(told.owners) < 100:
        await asyncio.sleep(0)  # one turn of the loop
        turns += 1
    assert turns > 2
    assert told.owners == list(range(100))


async def test_work_between_answers_keeps_its_place() -> None:
    told = Told()
    deliveries = ResultDeliveries(told)
    deliveries.add(ResultDelivery("a", SEARCH, FAILURE))
    deliveries.add(lambda: told.owners.append("work"))
    deliveries.add(ResultDelivery("b", SEARCH, FAILURE))
    deliveries.deliver()
    assert told.owners == ["a", "work", "b"]


async def test_closing_calls_off_what_was_not_told() -> None:
    told = Told()
    deliveries = ResultDeliveries(told)
    deliveries.add(ResultDelivery("a", SEARCH, FAILURE))
    deliveries.close()
    await asyncio.sleep(0)  # the turn in which it would have been told
    assert told.owners == []


async def test_what_comes_after_a_turn_gets_a_turn_of_its_own() -> None:
    told = Told()
    deliveries = ResultDeliveries(told)
    for owner in "ab":
        deliveries.add(ResultDelivery(owner, SEARCH, FAILURE))
        await asyncio.sleep(0)  # one turn of the loop
    assert told.owners == ["a", "b"]
