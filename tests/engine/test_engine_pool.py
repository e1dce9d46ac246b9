"""The room as a whole, with real processes."""

import asyncio
import contextlib
import os
import random
import signal
from collections.abc import Hashable
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from live.engine.engine_pool import EnginePool, ResultDeliveries
from live.engine.engine_process import EngineProcess
from live.engine.engine_programs import EngineCommand
from live.engine.result_cache import MemoryResultCache
from live.engine.search import Limit, Position, Search, SearchFailure, SearchProgress
from live.engine.search_queue import SearchKind, SearchPriority
from live.engine.searcher import EngineTimeouts
from live.engine.uci import UciSettings
from live.errors import NotAnEngine
from live.messages.from_sources import Score
from tests.engine.conftest import (
    SCRIPT,
    START,
    Desk,
    backlog,
    head,
    scored,
    scripted,
    search_and_wait,
)
from tests.engine.machines import dies, until


def room(
    command: EngineCommand,
    desk: Desk,
    *,
    engines: int = 1,
    patience: EngineTimeouts | None = None,
    limit: Limit | None = None,
    reproducible: bool = True,
    cache: MemoryResultCache | None = None,
) -> EnginePool:
    return EnginePool(
        command,
        limit or Limit(nodes=400),
        listener=desk,
        engines=engines,
        nice=0,
        patience=patience,
        settings=UciSettings(reproducible=reproducible),
        cache=cache,
    )


async def test_every_search_is_answered_once_and_boards_share_it(desk: Desk) -> None:
    async with room(scripted("well"), desk, engines=2) as engines:
        assert str(engines.identity) == "Scripted 1; Hash=16; hash cleared"
        for score in range(40):
            for board in "ab":
                engines.submit(scored(score), (board, score), backlog(score, board))
        await desk.answers(80)
        health = engines.report_health()
    submitted = product("ab", range(40))
    assert desk.scores() == {(board, score): score for board, score in submitted}
    assert (health.searches, health.queued, health.restarts) == (40, 0, 0)
    assert {state.state for state in health.engines} <= {"idle", "starting"}
    async with room(scripted("well"), desk, reproducible=False) as engines:
        assert str(engines.identity) == "Scripted 1; Hash=16; hash kept"


async def test_what_is_known_is_answered_without_an_engine_and_not_at_once(
    desk: Desk,
) -> None:
    """Also in another room, where both have one cache."""
    cache = MemoryResultCache()
    async with room(scripted("well"), desk, cache=cache) as engines:
        assert engines.find_known_result(scored(5)) is None
        engines.submit(scored(5), "first", backlog())
        await desk.answers(1)
    async with room(scripted("well"), desk, cache=cache) as engines:
        engines.submit(scored(5), "again", backlog())
        assert "again" not in desk.results
        await desk.answers(2)
        assert (
            desk.results["again"]
            == desk.results["first"]
            == engines.find_known_result(scored(5))
        )
        assert (
            engines.report_health().searches,
            engines.report_health().cache_hits,
        ) == (0, 1)


async def test_a_listener_may_want_and_drop_from_inside(desk: Desk) -> None:
    async with room(scripted("well"), desk) as engines:

        def react(owner: Hashable) -> None:
            if owner == 1:
                engines.submit(scored(11), 11, head(9))
                engines.drop(3)

        desk.react = react
        for score in (1, 2, 3, 4):
            engines.submit(
                scored(score), score, SearchPriority(SearchKind.FINISHED, "a", score)
            )
        await desk.answers(4)
    assert desk.order == [1, 2, 11, 4]


async def test_a_guess_gives_way_to_a_head_and_one_that_is_replaced_to_the_next(
    desk: Desk,
) -> None:
    """The scripted engine here ends a search only when told to stop; a head shows
    itself as it deepens.
    """
    async with room(scripted("patient"), desk) as engines:
        engines.submit(scored(9), "guess", SearchPriority(SearchKind.SPECULATE, "b", 5))
        engines.submit(scored(1), "old", head(1))
        engines.submit(scored(6), "new", head(1))
        engines.drop("old")
        new = ("new", SearchProgress(Score(6), 1))
        await desk.until(lambda: new in desk.progress)
        health = engines.report_health()
        assert (health.engines[0].searching, health.waiting.speculate) == ("a ply 1", 1)
        engines.drop("new")
        await until(lambda: engines.report_health().engines[0].searching == "b ply 5")
    assert desk.results == {}


async def test_what_no_engine_may_be_asked_fails_alone(desk: Desk) -> None:
    async with room(scripted("standard"), desk) as engines:
        engines.submit(
            Search(Position("8/8/8/8/8/8/8/8 w - - 0 1")), "empty", backlog()
        )
        engines.submit(Search(Position(START, chess960=True)), "960", backlog())
        engines.submit(scored(1), "fine", backlog())
        await desk.answers(3)
    for owner, why in (("empty", "no_white_king"), ("960", "does not play Chess960")):
        failure = desk.results[owner]
        assert isinstance(failure, SearchFailure) and why in failure.reason
    assert desk.scores()["fine"] == 1


async def test_a_search_is_not_blamed_for_engines_killed_from_outside(
    desk: Desk,
) -> None:
    async with room(scripted("hang"), desk) as engines:
        engines.submit(scored(1), 1, backlog())
        slot, killed = engines._engine_slots[0], set[int]()
        while len(killed) < 4:
            process = slot.process
            pid = (
                process.pid
                if isinstance(process, EngineProcess) and process.is_searching
                else 0
            )
            if pid and pid not in killed:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.01)
        # It waits, or is made once more already.
        await until(
            lambda: (
                (now := engines.report_health()).queued > 0
                or now.engines[0].state == "searching"
            )
        )
        assert engines.report_health().set_aside == 0


@pytest.mark.parametrize("mode", ["hang", "stubborn"])
async def test_a_room_with_hung_engines_ends_within_five_seconds(
    desk: Desk, mode: str
) -> None:
    """All end at the same time, and none is waited for once it has been asked
    to quit.
    """
    async with asyncio.timeout(None) as ending:
        async with room(scripted(mode), desk, engines=3) as engines:
            for score in range(6):
                engines.submit(scored(score), score, backlog(score))
            if mode == "hang":
                await until(
                    lambda: engines.report_health().engines[2].state == "searching"
                )
            ending.reschedule(asyncio.get_running_loop().time() + 5)


async def test_an_engine_that_became_another_is_not_used(
    desk: Desk, tmp_path: Path
) -> None:
    """Somebody installs a new version while the service runs: scores must not
    be mixed.
    """
    script = tmp_path / "engine.py"
    text = SCRIPT.read_text()
    script.write_text(text)
    argv = (*scripted("well").argv[:3], str(script), "well")
    async with room(EngineCommand(argv, "for the test"), desk) as engines:
        script.write_text(text.replace("Scripted 1", "Scripted 2"))
        with pytest.raises(NotAnEngine, match="was Scripted 1 and is now Scripted 2"):
            await engines.start_engine(0)


async def test_an_error_of_the_body_stays_itself_and_no_engine_outlives_it(
    desk: Desk,
) -> None:
    with pytest.raises(ZeroDivisionError):
        async with room(scripted("stubborn"), desk) as engines:
            process = engines._engine_slots[0].process
            raise ZeroDivisionError  # before any task has begun
    assert isinstance(process, EngineProcess) and dies(process.pid)


async def test_a_listener_s_error_is_told_and_costs_no_other_position(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    def react(owner: Hashable) -> None:
        if owner == 1:
            raise ZeroDivisionError

    desk.react = react
    async with room(scripted("well"), desk) as engines:
        await search_and_wait(engines, desk, range(1, 3), 2)
    assert desk.order == [1, 2]
    assert any(
        "program fault in its supervisor" in record.message for record in caplog.records
    )


async def test_killed_stopped_and_garbled_engines_cost_no_search_and_change_no_figure(
    desk: Desk, tmp_path: Path
) -> None:
    chance = random.Random(7)
    command = scripted("garbled", tmp_path / "starts")
    patience = EngineTimeouts(floor_s=1.0, slack=4.0)
    async with room(command, desk, engines=2, patience=patience) as engines:

        def disturb(owner: Hashable) -> None:
            if len(desk.results) % 15 == 0:
                stop = len(desk.results) % 30 == 0
                processes = [slot.process for slot in engines._engine_slots]
                up = [
                    one
                    for one in processes
                    if isinstance(one, EngineProcess) and not one.lost
                ]
                with contextlib.suppress(ProcessLookupError, IndexError):
                    os.kill(
                        chance.choice(up).pid,
                        signal.SIGSTOP if stop else signal.SIGKILL,
                    )

        desk.react = disturb
        await search_and_wait(engines, desk, range(60))
        restarts = engines.report_health().restarts
    assert restarts >= 2
    assert desk.scores() == {score: score for score in range(60)}


async def test_calls_come_in_order_one_after_another_and_few_a_turn() -> None:
    deliveries, called, turns = ResultDeliveries(), list[object](), 0

    def first() -> None:
        called.append("first")
        deliveries.add_call(partial(called.append, "last"))
        deliveries.deliver_batch()
        assert called == ["first"]

    deliveries.add_call(first)
    for owner in range(100):
        deliveries.add_call(partial(called.append, owner), owner)
    deliveries.drop_calls(50)
    while len(called) < 101:
        await asyncio.sleep(0)  # one turn of the loop
        turns += 1
    assert called == ["first", *(owner for owner in range(100) if owner != 50), "last"]
    assert turns > 2
    deliveries.add_call(partial(called.append, "more"))
    await asyncio.sleep(0)  # what comes after a turn gets a turn of its own
    assert called[-1] == "more"
    deliveries.add_call(partial(called.append, "called off"))
    deliveries.cancel_batch()
    await asyncio.sleep(0)  # the turn in which it would have been called
    assert called[-1] == "more"
