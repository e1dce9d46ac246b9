"""Searches ahead of the moves."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest

from live.engine.engine_discovery import EngineCommand
from live.engine.engine_pool import EnginePool
from live.engine.look_ahead import ForecastPolicy, ForecastRules, GuessedMove, LookAhead
from live.engine.result_cache import MemoryResultCache
from live.engine.search import (
    Limit,
    Line,
    Position,
    Search,
    SearchFailure,
    SearchKey,
    SearchProgress,
    SearchResult,
)
from live.engine.search_queue import SearchKind, SearchPriority
from live.events import Score, SpeculationFigures

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LIMIT = Limit(nodes=1000)
POLICY = ForecastPolicy(replies=3, first=0.5, scout=0.3)


def position(*moves: str) -> Position:
    return Position(START, moves)


def head(ply: int, board: str = "a") -> SearchPriority:
    return SearchPriority(SearchKind.HEAD, board, ply)


def result(*moves: str) -> SearchResult:
    lines = tuple(Line(move, Score(-number), 9) for number, move in enumerate(moves))
    return SearchResult(score=Score(0), best=moves[0], depth=9, nodes=100, lines=lines)


class Bench:
    """A desk that remembers, and a listener that does."""

    def __init__(self) -> None:
        self.wanted: list[tuple[Search, SearchPriority]] = []
        self.dropped: list[Hashable] = []
        self.told: list[Hashable] = []
        self.log: list[str] = []
        self.answered = asyncio.Event()
        self.slots = 1
        self.results: dict[Search, SearchResult] = {}

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        self.wanted.append((search, priority))
        self.log.append("want")

    def drop(self, owner: Hashable) -> None:
        self.dropped.append(owner)
        self.log.append("drop")

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self.told.append(owner)
        self.answered.set()

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        self.told.append(progress)

    def known(self, search: Search) -> SearchResult | None:
        return self.results.get(search)

    def guesses(self) -> list[Search]:
        return [search for search, priority in self.wanted if priority.kind is SearchKind.SPECULATE]


class Filling(MemoryResultCache):
    """Says when it holds so many results."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.full = asyncio.Event()
        self._number = number

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        super().put(identity, search_key, result)
        if len(self) >= self._number:
            self.full.set()


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def speculation(bench: Bench) -> LookAhead:
    speculation = LookAhead(bench, ForecastRules(LIMIT, policy=POLICY))
    speculation.desk = bench
    return speculation


def play_head(speculation: LookAhead, *moves: str, best: str = "e2e4", board: str = "a") -> None:
    search = Search(position(*moves))
    speculation.submit(search, f"head {board}", head(len(moves), board))
    speculation.searched(f"head {board}", search, result(best))


def answer(speculation: LookAhead, search: Search, found: SearchResult | SearchFailure) -> None:
    speculation.searched(GuessedMove(search), search, found)


SCOUT = Search(position(), lines=3, limit=Limit(nodes=250))


def test_a_live_position_that_is_scored_is_looked_beyond(
    speculation: LookAhead, bench: Bench
) -> None:
    play_head(speculation)
    assert bench.told == ["head a"]
    assert bench.guesses() == [Search(position("e2e4")), SCOUT]


def test_no_more_is_asked_for_than_keeps_the_engines_busy(
    speculation: LookAhead, bench: Bench
) -> None:
    """Two for each engine; the next is chosen when one is done, by what is known then."""
    play_head(speculation)
    assert len(bench.guesses()) == 2
    answer(speculation, SCOUT, result("d2d4", "e2e4", "a2a3"))
    assert len(bench.guesses()) == 3
    bench.slots = 2
    answer(speculation, Search(position("e2e4")), result("e7e5"))
    assert len(bench.guesses()) == 6


def test_backlog_and_restricted_searches_are_no_reason(
    speculation: LookAhead, bench: Bench
) -> None:
    backlog, played = Search(position()), Search(position(), only="a2a3")
    speculation.submit(backlog, "backlog", SearchPriority(SearchKind.BACKLOG, "a", 1))
    speculation.submit(played, "played", head(1))
    speculation.searched("backlog", backlog, result("e2e4"))
    speculation.searched("played", played, result("a2a3"))
    assert bench.guesses() == []
    assert bench.told == ["backlog", "played"]


def test_what_cannot_come_any_more_is_dropped_before_the_head_is_wanted(
    speculation: LookAhead, bench: Bench
) -> None:
    """The engine it had is free for the head."""
    play_head(speculation)
    speculation.submit(Search(position("d2d4")), "next", head(1))
    assert bench.dropped == [GuessedMove(Search(position("e2e4"))), GuessedMove(SCOUT)]
    assert bench.wanted[-1] == (Search(position("d2d4")), head(1))


def test_what_comes_true_is_kept_and_changes_hands(speculation: LookAhead, bench: Bench) -> None:
    play_head(speculation)
    coming = Search(position("e2e4"))
    speculation.submit(coming, "next", head(1))
    assert bench.dropped == [GuessedMove(SCOUT), GuessedMove(coming)]
    assert bench.log[-2:] == ["want", "drop"]


def test_a_takeback_and_the_end_of_the_game_end_it(speculation: LookAhead, bench: Bench) -> None:
    play_head(speculation, "e2e4", "e7e5", best="g1f3")
    pending = len(bench.guesses())
    speculation.submit(Search(position("e2e4")), "late", head(1))
    assert bench.dropped == []
    speculation.over("a")
    assert len(bench.dropped) == pending
    play_head(speculation, "e2e4", "e7e5", "g1f3", best="b8c6")
    speculation.submit(Search(position()), "all", SearchPriority(SearchKind.FINISHED, "a", 0))
    assert len(bench.dropped) == len(bench.guesses())


def test_an_old_head_s_score_is_no_reason_to_look_ahead(
    speculation: LookAhead, bench: Bench
) -> None:
    older, newer = Search(position("e2e4")), Search(position("e2e4", "e7e5"))
    speculation.submit(older, "older", head(1))
    speculation.submit(newer, "newer", head(2))
    speculation.searched("newer", newer, result("g1f3"))
    speculation.searched("older", older, result("e7e5"))
    assert {search.position.moves[:2] for search in bench.guesses()} == {("e2e4", "e7e5")}


def test_of_all_boards_what_is_worth_most_comes_first(speculation: LookAhead, bench: Bench) -> None:
    play_head(speculation, board="one")
    play_head(speculation, "d2d4", best="d7d5", board="other")
    assert len(bench.guesses()) == 2
    answer(speculation, SCOUT, result("e2e4", "c2c4", "a2a3"))
    assert bench.guesses()[-1] == Search(position("d2d4", "d7d5"))
    first, second = (each for _, each in bench.wanted if each.board == "one" and each.rank)
    assert first.rank < second.rank


def test_boards_that_share_a_position_share_what_lies_beyond(
    speculation: LookAhead, bench: Bench
) -> None:
    bench.slots = 2
    play_head(speculation, board="a")
    play_head(speculation, board="b")
    coming = Search(position("e2e4"))
    assert bench.guesses().count(coming) == 1
    speculation.over("a")
    assert bench.dropped == []
    answer(speculation, coming, result("e7e5"))
    assert Search(position("e2e4", "e7e5")) in bench.guesses()


def test_what_is_known_already_is_not_asked_for(speculation: LookAhead, bench: Bench) -> None:
    bench.results[Search(position("e2e4"))] = result("e7e5")
    play_head(speculation)
    assert bench.guesses() == [SCOUT, Search(position("e2e4", "e7e5"))]
    assert speculation.figures.searches == 0


def test_what_came_true_is_counted(speculation: LookAhead) -> None:
    play_head(speculation)
    right = Search(position("e2e4"))
    answer(speculation, right, result("e7e5"))
    answer(speculation, SCOUT, result("e2e4", "d2d4"))
    speculation.submit(right, "next", head(1))
    figures = speculation.figures
    assert (figures.searches, figures.hits, figures.misses) == (2, 1, 1)
    assert (figures.nodes, figures.nodes_hit) == (200, 100)
    assert figures.shown() == SpeculationFigures(hits=1, misses=1, wasted_nodes=100)


def test_failures_and_progress_pass(speculation: LookAhead, bench: Bench) -> None:
    search = Search(position())
    speculation.submit(search, "head", head(0))
    speculation.progressed("head", SearchProgress(Score(1), 3))
    speculation.searched("head", search, SearchFailure("for the test"))
    assert bench.told == [SearchProgress(Score(1), 3), "head"]
    speculation.drop("head")
    assert bench.dropped == ["head"]
    assert bench.guesses() == []


@pytest.mark.slow
async def test_a_real_reply_finds_its_gain_and_score_waiting(
    embedded: EngineCommand, bench: Bench
) -> None:
    """After a capture the recapture is what anybody would play."""
    moves = ("e2e4", "d7d5", "e4d5")
    speculation = LookAhead(
        bench, ForecastRules(Limit(nodes=2000), policy=ForecastPolicy(replies=2))
    )
    # The head, and the first that is searched beyond it: the position after the recapture.
    cache = Filling(2)
    async with EnginePool(
        embedded, Limit(nodes=2000), listener=speculation, engines=1, nice=0, cache=cache
    ) as room:
        speculation.desk = room
        speculation.submit(Search(position(*moves)), "head", head(3))
        await bench.answered.wait()
        await asyncio.wait_for(cache.full.wait(), 30)
        reply = Search(position(*moves, "d8d5"))
        assert room.known(reply) is not None
        searches = room.health().searches
        bench.answered.clear()
        speculation.submit(reply, "reply", head(4))
        await bench.answered.wait()
        assert room.health().searches == searches
        assert speculation.figures.hits == 1
