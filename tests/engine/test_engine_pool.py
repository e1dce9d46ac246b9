"""The room as a whole, with real processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
from collections.abc import Callable, Hashable
from pathlib import Path

import pytest

from live.engine.engine_discovery import EngineCommand
from live.engine.engine_pool import EnginePool, ResultDeliveries, ResultDelivery
from live.engine.engine_process import EngineProcess, EngineTimeouts
from live.engine.result_cache import MemoryResultCache
from live.engine.search import Limit, Position, Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_queue import SearchKind, SearchPriority
from live.engine.uci import UciSettings
from live.errors import NotAnEngine
from live.events import Score
from tests.engine.machines import until

Scripted = Callable[..., EngineCommand]
Searches = Callable[[int], Search]

SCRIPT = Path(__file__).with_name("scripted_engine.py")
GAME = Path(__file__).parents[1] / "data" / "same-search-game.json"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Ledger:
    """Collects answers; ``await ledger.answers(n)`` waits until there are n."""

    def __init__(self) -> None:
        self.results: dict[Hashable, SearchResult | SearchFailure] = {}
        self.order: list[Hashable] = []
        self.progress: list[tuple[Hashable, SearchProgress]] = []
        self.react: Callable[[Hashable], None] = lambda owner: None
        self._told = asyncio.Event()

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        assert owner not in self.results, f"{owner} told twice"
        self.results[owner] = result
        self.order.append(owner)
        self._told.set()
        self.react(owner)

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        self.progress.append((owner, progress))
        self._told.set()

    async def answers(self, number: int) -> None:
        async with asyncio.timeout(110):  # a slow machine takes its time
            while len(self.results) < number:
                self._told.clear()
                await self._told.wait()

    async def shown(self, owner: Hashable) -> None:
        """Wait for a provisional score."""
        async with asyncio.timeout(110):  # a slow machine takes its time
            while not any(told == owner for told, _ in self.progress):
                self._told.clear()
                await self._told.wait()

    def scores(self) -> dict[Hashable, int | None]:
        return {
            owner: result.score.cp if isinstance(result, SearchResult) else None
            for owner, result in self.results.items()
        }


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def backlog(ply: int = 0, board: str = "a") -> SearchPriority:
    return SearchPriority(SearchKind.BACKLOG, board, ply)


def room(
    command: EngineCommand,
    ledger: Ledger,
    *,
    engines: int = 1,
    patience: EngineTimeouts | None = None,
    limit: Limit | None = None,
    reproducible: bool = True,
) -> EnginePool:
    return EnginePool(
        command,
        limit or Limit(nodes=400),
        listener=ledger,
        engines=engines,
        nice=0,
        patience=patience,
        settings=UciSettings(reproducible=reproducible),
    )


async def test_every_search_is_answered_once(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("well"), ledger, engines=2) as engines:
        for score in range(40):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(40)
        health = engines.health()
    assert ledger.scores() == {score: score for score in range(40)}
    assert (health.searches, health.queued, health.restarts) == (40, 0, 0)
    assert {state.state for state in health.engines} <= {"idle", "starting"}


async def test_it_says_which_engine_answers(scripted: Scripted, ledger: Ledger) -> None:
    async with room(scripted("well"), ledger) as engines:
        assert engines.identity.name == "Scripted 1"
        assert str(engines.identity) == "Scripted 1; Hash=16; hash cleared"
    async with room(scripted("well"), ledger, reproducible=False) as engines:
        assert str(engines.identity) == "Scripted 1; Hash=16; hash kept"


async def test_what_is_known_is_answered_without_an_engine_and_not_at_once(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("well"), ledger) as engines:
        assert engines.known(position(5)) is None
        engines.submit(position(5), "first", backlog())
        await ledger.answers(1)
        engines.submit(position(5), "again", backlog())
        assert "again" not in ledger.results
        await ledger.answers(2)
        assert ledger.results["again"] == ledger.results["first"] == engines.known(position(5))
        assert (engines.health().searches, engines.health().cache_hits) == (1, 1)


async def test_a_cache_outlives_the_room(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    cache = MemoryResultCache()
    for attempt in range(2):
        async with EnginePool(
            scripted("well"), Limit(nodes=400), listener=ledger, engines=1, cache=cache
        ) as engines:
            engines.submit(position(5), attempt, backlog())
            await ledger.answers(attempt + 1)
            assert engines.health().cache_hits == attempt


async def test_boards_that_share_a_position_share_its_search(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("well"), ledger) as engines:
        for board in range(12):
            for score in range(5):
                engines.submit(position(score), (board, score), backlog(score, f"board {board}"))
        await ledger.answers(60)
        assert engines.health().searches == 5


async def test_a_listener_may_want_and_drop_from_inside(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("well"), ledger) as engines:

        def react(owner: Hashable) -> None:
            if owner == 1:
                engines.submit(position(11), 11, SearchPriority(SearchKind.HEAD, "a", 9))
                engines.drop(3)

        ledger.react = react
        for score in (1, 2, 3, 4):
            engines.submit(position(score), score, SearchPriority(SearchKind.FINISHED, "a", score))
        await ledger.answers(4)
    assert ledger.order == [1, 2, 11, 4]


async def test_a_dropped_search_is_not_told(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("patient"), ledger) as engines:
        engines.submit(position(1), "replaced", SearchPriority(SearchKind.HEAD, "a", 1))
        engines.submit(position(2), "waiting", SearchPriority(SearchKind.HEAD, "b", 2))
        engines.drop("replaced")
        engines.drop("waiting")
        engines.submit(Search(Position("nonsense")), "later", backlog())
        await ledger.answers(1)
        assert list(ledger.results) == ["later"]
        assert engines.health().queued == 0


async def test_a_replaced_head_frees_its_engine(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    """The scripted engine here ends a search only when told to stop."""
    async with room(scripted("patient"), ledger) as engines:
        engines.submit(position(1), "old", SearchPriority(SearchKind.HEAD, "a", 1))
        engines.submit(position(2), "new", SearchPriority(SearchKind.HEAD, "a", 1))
        engines.drop("old")
        await ledger.shown("new")
        assert engines.health().engines[0].searching == "a ply 1"
    assert ledger.results == {}


async def test_a_head_shows_itself_as_it_deepens(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("patient"), ledger) as engines:
        engines.submit(position(6), "head", SearchPriority(SearchKind.HEAD, "a", 1))
        await ledger.shown("head")
        assert ledger.progress == [("head", SearchProgress(Score(6), 1))]


async def test_what_no_engine_may_be_asked_fails_alone(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("well"), ledger) as engines:
        engines.submit(Search(Position("8/8/8/8/8/8/8/8 w - - 0 1")), "empty", backlog())
        engines.submit(position(1), "fine", backlog())
        await ledger.answers(2)
    failure = ledger.results["empty"]
    assert isinstance(failure, SearchFailure) and "no_white_king" in failure.reason
    assert ledger.scores()["fine"] == 1


async def test_chess960_needs_an_engine_that_plays_it(scripted: Scripted, ledger: Ledger) -> None:
    search = Search(Position(START, chess960=True))
    async with room(scripted("standard"), ledger) as engines:
        engines.submit(search, "960", backlog())
        await ledger.answers(1)
    failure = ledger.results["960"]
    assert isinstance(failure, SearchFailure) and "does not play Chess960" in failure.reason


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["crash", "illegal", "no-score", "garbage", "unreadable", "hang"])
async def test_an_engine_that_fails_once_is_replaced_and_no_search_is_lost(
    scripted: Scripted,
    position: Searches,
    ledger: Ledger,
    brief: EngineTimeouts,
    tmp_path: Path,
    mode: str,
) -> None:
    command = scripted(mode, tmp_path / "had its fault")
    async with room(command, ledger, engines=2, patience=brief) as engines:
        for score in range(20):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(20)
        assert engines.health().restarts == 1
    assert ledger.scores() == {score: score for score in range(20)}


@pytest.mark.slow
async def test_a_search_that_kills_three_engines_is_set_aside(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("crash-at-50"), ledger) as engines:
        for score in (49, 50, 51):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(3)
        engines.submit(position(50), "again", backlog())
        await ledger.answers(4)
        health = engines.health()
    assert ledger.scores() == {49: 49, 50: None, 51: 51, "again": None}
    failure = ledger.results[50]
    assert isinstance(failure, SearchFailure)
    assert failure.reason.count("assertion failed") == 3
    assert (health.set_aside, health.queued) == (1, 0)


async def test_an_idle_engine_killed_from_outside_comes_back(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("well"), ledger) as engines:
        engines.submit(position(1), 1, backlog())
        await ledger.answers(1)
        process = engines._engine_slots[0].process
        assert isinstance(process, EngineProcess)
        os.kill(process.pid, signal.SIGKILL)
        engines.submit(position(2), 2, backlog())
        await ledger.answers(2)
        assert engines.health().restarts == 1
    assert ledger.scores() == {1: 1, 2: 2}


async def test_a_search_is_not_blamed_for_engines_killed_from_outside(
    scripted: Scripted, position: Searches, ledger: Ledger
) -> None:
    async with room(scripted("hang"), ledger) as engines:
        engines.submit(position(1), 1, backlog())
        slot, killed = engines._engine_slots[0], set[int]()
        while len(killed) < 4:
            process = slot.process
            pid = process.pid if isinstance(process, EngineProcess) and process.searching else 0
            if pid and pid not in killed:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.01)
        health = engines.health()
    assert (health.set_aside, health.queued) == (0, 1)


@pytest.mark.parametrize("mode", ["hang", "stubborn"])
async def test_a_room_with_hung_engines_ends_within_five_seconds(
    scripted: Scripted, position: Searches, ledger: Ledger, mode: str
) -> None:
    """All end at the same time, and none is waited for once it has been asked to quit."""
    async with asyncio.timeout(None) as ending:
        async with room(scripted(mode), ledger, engines=3) as engines:
            for score in range(6):
                engines.submit(position(score), score, backlog(score))
            if mode == "hang":
                await until(lambda: engines.health().engines[2].state == "searching")
            ending.reschedule(asyncio.get_running_loop().time() + 5)


async def test_what_is_no_engine_stops_the_start(ledger: Ledger) -> None:
    command = EngineCommand(("/bin/echo",), "configured", "configured")
    with pytest.raises(NotAnEngine, match="/bin/echo: is no UCI engine"):
        async with room(command, ledger):
            raise AssertionError("entered")


@pytest.mark.slow
async def test_an_engine_that_became_another_is_not_used(
    scripted: Scripted, ledger: Ledger, tmp_path: Path
) -> None:
    """Somebody installs a new version while the service runs: scores must not be mixed."""
    script = tmp_path / "engine.py"
    text = SCRIPT.read_text()
    script.write_text(text)
    argv = (*scripted("well").argv[:3], str(script), "well")
    async with room(EngineCommand(argv, "for the test", "configured"), ledger) as engines:
        script.write_text(text.replace("Scripted 1", "Scripted 2"))
        with pytest.raises(NotAnEngine, match="was Scripted 1 and is now Scripted 2"):
            await engines.start_engine(0)


async def test_an_error_of_the_body_stays_itself(scripted: Scripted, ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError):
        async with room(scripted("well"), ledger):
            raise ZeroDivisionError


@pytest.mark.slow
async def test_a_listener_s_error_is_told_and_costs_no_other_position(
    scripted: Scripted, position: Searches, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    def react(owner: Hashable) -> None:
        if owner == 1:
            raise ZeroDivisionError

    ledger.react = react
    async with room(scripted("well"), ledger) as engines:
        engines.submit(position(1), 1, backlog(1))
        engines.submit(position(2), 2, backlog(2))
        await ledger.answers(2)
    assert ledger.order == [1, 2]
    assert any("fault in its keeper" in record.message for record in caplog.records)


@pytest.mark.slow
@pytest.mark.whole
async def test_a_real_game_comes_out_as_it_did_before(
    embedded: EngineCommand, ledger: Ledger
) -> None:
    """Every figure of a game searched long ago, by another program, with 100,000 nodes and the
    hash cleared; two engines, so that no order is kept.
    """
    game = json.loads(GAME.read_text())
    moves = tuple(game["moves"])
    wanted: dict[Hashable, int] = {}
    async with room(embedded, ledger, engines=2, limit=Limit(nodes=100_000)) as engines:
        for ply, held in enumerate(game["plies"]):
            position = Position(START, moves[:ply])
            engines.submit(Search(position), ply, backlog(ply))
            wanted[ply] = held["cp"]
            if "played" in held:
                restricted = Search(position, only=moves[ply])
                engines.submit(restricted, (ply, "played"), backlog(ply))
                wanted[ply, "played"] = held["played"]
        await ledger.answers(len(wanted))
    assert ledger.scores() == wanted
    for ply, held in enumerate(game["plies"]):
        result = ledger.results[ply]
        assert isinstance(result, SearchResult)
        assert (result.exact_best, result.depth) == (held["best"], held["depth"])
        assert [score and score.cp for score in result.by_depth] == held["by_depth"]


@pytest.mark.slow
async def test_killed_stopped_and_garbled_engines_cost_no_search_and_change_no_figure(
    scripted: Scripted, position: Searches, ledger: Ledger, tmp_path: Path
) -> None:
    chance = random.Random(7)
    garbled = (sys.executable, "-I", "-S", str(SCRIPT.with_name("garbling_engine.py")))
    argv = (*garbled, str(tmp_path / "seed"), "25", *scripted("well").argv)
    patience = EngineTimeouts(floor_s=2.0, slack=4.0)
    command = EngineCommand(argv, "garbled", "configured")
    async with room(command, ledger, engines=2, patience=patience) as engines:

        def disturb(owner: Hashable) -> None:
            if len(ledger.results) % 15 == 0:
                stop = len(ledger.results) % 30 == 0
                processes = [slot.process for slot in engines._engine_slots]
                up = [one for one in processes if isinstance(one, EngineProcess) and not one.lost]
                with contextlib.suppress(ProcessLookupError, IndexError):
                    os.kill(chance.choice(up).pid, signal.SIGSTOP if stop else signal.SIGKILL)

        ledger.react = disturb
        for score in range(100):
            engines.submit(position(score), score, backlog(score))
        await ledger.answers(100)
        restarts = engines.health().restarts
    assert restarts >= 2
    assert ledger.scores() == {score: score for score in range(100)}


@pytest.mark.slow
async def test_a_head_takes_an_engine_off_speculation_which_is_made_up_for_later(
    embedded: EngineCommand, ledger: Ledger
) -> None:
    """A guess that would take minutes gives way at once."""
    long = Search(Position(START), limit=Limit(nodes=10**9))
    short = Search(Position(START, ("e2e4",)), limit=Limit(nodes=1000))
    async with room(embedded, ledger) as engines:
        engines.submit(long, "guess", SearchPriority(SearchKind.SPECULATE, "a", 5))
        engines.submit(short, "head", SearchPriority(SearchKind.HEAD, "b", 1))
        await ledger.answers(1)
        assert list(ledger.results) == ["head"]
        assert engines.health().waiting.speculate == 0
        assert engines.health().engines[0].searching == "a ply 5"
        engines.drop("guess")


FAILURE = SearchFailure("for the test")
SEARCH = Search(Position("x"))


async def test_a_listener_that_wants_more_is_not_told_inside() -> None:
    told = Ledger()
    deliveries = ResultDeliveries(told)
    depths = []

    def react(owner: Hashable) -> None:
        depths.append(len(told.order))
        if owner == "a":
            deliveries.add(ResultDelivery("c", SEARCH, FAILURE))
            deliveries.deliver()
            assert told.order == ["a"]

    told.react = react
    deliveries.add(ResultDelivery("a", SEARCH, FAILURE))
    deliveries.add(ResultDelivery("b", SEARCH, FAILURE))
    deliveries.deliver()
    assert told.order == ["a", "b", "c"]
    assert depths == [1, 2, 3]


async def test_many_do_not_hold_up_the_loop() -> None:
    told = Ledger()
    deliveries = ResultDeliveries(told)
    for owner in range(100):
        deliveries.add(ResultDelivery(owner, SEARCH, FAILURE))
    turns = 0
    while len(told.order) < 100:
        await asyncio.sleep(0)  # one turn of the loop
        turns += 1
    assert turns > 2
    assert told.order == list(range(100))


async def test_work_between_answers_keeps_its_place() -> None:
    told = Ledger()
    deliveries = ResultDeliveries(told)
    deliveries.add(ResultDelivery("a", SEARCH, FAILURE))
    deliveries.add(lambda: told.order.append("work"))
    deliveries.add(ResultDelivery("b", SEARCH, FAILURE))
    deliveries.deliver()
    assert told.order == ["a", "work", "b"]


async def test_closing_calls_off_what_was_not_told() -> None:
    told = Ledger()
    deliveries = ResultDeliveries(told)
    deliveries.add(ResultDelivery("a", SEARCH, FAILURE))
    deliveries.close()
    await asyncio.sleep(0)  # the turn in which it would have been told
    assert told.order == []


async def test_what_comes_after_a_turn_gets_a_turn_of_its_own() -> None:
    told = Ledger()
    deliveries = ResultDeliveries(told)
    for owner in "ab":
        deliveries.add(ResultDelivery(owner, SEARCH, FAILURE))
        await asyncio.sleep(0)  # one turn of the loop
    assert told.order == ["a", "b"]
