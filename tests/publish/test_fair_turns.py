"""One piece of work in each turn of the loop."""

from __future__ import annotations

import asyncio

import pytest

from live.publish.subscribers import FairTurns


async def turn_over() -> None:
    await asyncio.sleep(0)


async def test_each_piece_has_a_turn_of_its_own_in_the_order_of_coming() -> None:
    turns, done = FairTurns(), list[int]()
    for number in range(3):
        turns.add(lambda number=number: done.append(number))  # type: ignore[misc]
    assert done == []
    seen = []
    for _ in range(4):
        await turn_over()
        seen.append(len(done))
    assert seen == [1, 2, 3, 3]
    assert done == [0, 1, 2]


async def test_what_others_scheduled_meanwhile_comes_between() -> None:
    turns, done = FairTurns(), list[str]()
    turns.add(lambda: done.append("first"))
    turns.add(lambda: done.append("second"))
    asyncio.get_running_loop().call_soon(done.append, "between")
    for _ in range(3):
        await turn_over()
    assert done == ["first", "between", "second"]


async def test_a_piece_may_bring_the_next() -> None:
    turns, done = FairTurns(), list[int]()

    def again() -> None:
        done.append(len(done))
        if len(done) < 3:
            turns.add(again)

    turns.add(again)
    for _ in range(5):
        await turn_over()
    assert done == [0, 1, 2]


async def test_what_was_taken_back_is_not_done_and_what_fails_stops_nobody() -> None:
    unheard: list[BaseException] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: unheard.append(context["exception"]))
    turns, done = FairTurns(), list[str]()

    def fail() -> None:
        raise RuntimeError("a fault")

    turns.add(fail)
    turns.add(lambda: done.append("taken back")).cancel()
    turns.add(lambda: done.append("done"))
    for _ in range(4):
        await turn_over()
    assert done == ["done"]
    assert [str(error) for error in unheard] == ["a fault"]


@pytest.mark.parametrize("late", [False, True])
async def test_after_the_last_the_queue_begins_anew(late: bool) -> None:
    turns, done = FairTurns(), list[int]()
    turns.add(lambda: done.append(1))
    for _ in range(1 + late):
        await turn_over()
    turns.add(lambda: done.append(2))
    await turn_over()
    assert done == [1, 2]
