"""Searches ahead of the moves."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest

from live.engine.cache import MemoryCache
from live.engine.discovery import EngineCommand
from live.engine.priority import Kind, Priority
from live.engine.question import Question
from live.engine.room import EngineRoom
from live.engine.search import (
    Limit,
    Line,
    Position,
    Progress,
    Search,
    SearchFailure,
    SearchResult,
)
from live.engine.speculation import Guess, Speculation, needed, scout_limit
from live.events import Score, SpeculationFigures

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LIMIT = Limit(nodes=1000)


def position(*moves: str) -> Position:
    return Position(START, moves)


def head(ply: int, board: str = "a") -> Priority:
    return Priority(Kind.HEAD, board, ply)


def result(*moves: str) -> SearchResult:
    lines = tuple(Line(move, Score(-number), 9) for number, move in enumerate(moves))
    return SearchResult(score=Score(0), best=moves[0], depth=9, nodes=100, lines=lines)


class Bench:
    """A desk that remembers, and a listener that does."""

    def __init__(self) -> None:
        self.wanted: list[tuple[Search, Priority]] = []
        self.dropped: list[Hashable] = []
        self.told: list[Hashable] = []
        self.answered = asyncio.Event()

    def want(self, search: Search, owner: Hashable, priority: Priority) -> None:
        self.wanted.append((search, priority))

    def drop(self, owner: Hashable) -> None:
        self.dropped.append(owner)

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self.told.append(owner)
        self.answered.set()

    def progressed(self, owner: Hashable, progress: Progress) -> None:
        self.told.append(progress)

    def guesses(self) -> list[Search]:
        return [search for search, priority in self.wanted if priority.kind is Kind.SPECULATE]


class Filling(MemoryCache):
    """Says when it holds so many results."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.full = asyncio.Event()
        self._number = number

    def put(self, identity: str, question: Question, result: SearchResult) -> None:
        super().put(identity, question, result)
        if len(self) >= self._number:
            self.full.set()


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def speculation(bench: Bench) -> Speculation:
    speculation = Speculation(bench, LIMIT, replies=3)
    speculation.desk = bench
    return speculation


def play_head(speculation: Speculation, *moves: str) -> Search:
    search = Search(position(*moves))
    speculation.want(search, "head", head(len(moves)))
    speculation.searched("head", search, result("e2e4"))
    return search


def test_a_live_position_that_is_scored_is_scouted(speculation: Speculation, bench: Bench) -> None:
    play_head(speculation)
    assert bench.told == ["head"]
    assert bench.guesses() == [Search(position(), lines=3, limit=Limit(nodes=250))]


def test_backlog_and_restricted_searches_are_not(speculation: Speculation, bench: Bench) -> None:
    backlog, played = Search(position()), Search(position(), only="a2a3")
    speculation.want(backlog, "backlog", Priority(Kind.BACKLOG, "a", 1))
    speculation.want(played, "played", head(1))
    speculation.searched("backlog", backlog, result("e2e4"))
    speculation.searched("played", played, result("a2a3"))
    assert bench.guesses() == []
    assert bench.told == ["backlog", "played"]


def test_a_scout_orders_the_replies(speculation: Speculation, bench: Bench) -> None:
    play_head(speculation)
    scout = bench.guesses()[0]
    speculation.searched(Guess("a", 0), scout, result("d2d4", "e2e4", "a2a3"))
    assert bench.told == ["head"]
    assert bench.guesses()[1:] == [
        Search(position("e2e4")),
        Search(position(), only="d2d4"),
        Search(position("d2d4")),
        Search(position(), only="a2a3"),
        Search(position("a2a3")),
    ]
    assert [priority.rank for _, priority in bench.wanted[2:]] == [1, 2, 3, 4, 5]


def test_the_next_move_ends_the_guesses_after_it_is_wanted(
    speculation: Speculation, bench: Bench
) -> None:
    play_head(speculation)
    speculation.want(Search(position("e2e4")), "next", head(1))
    assert bench.dropped == [Guess("a", 0)]
    speculation.want(Search(position("e2e4"), only="e7e5"), "played", head(2))
    assert bench.dropped == [Guess("a", 0)]


def test_a_takeback_and_the_end_of_the_game_end_them_too(
    speculation: Speculation, bench: Bench
) -> None:
    play_head(speculation, "e2e4", "e7e5")
    speculation.want(Search(position("e2e4"), only="e7e5"), "late", head(1))
    assert bench.dropped == []
    speculation.over("a")
    assert bench.dropped == [Guess("a", 2)]
    play_head(speculation, "e2e4", "e7e5", "g1f3")
    speculation.want(Search(position()), "all", Priority(Kind.FINISHED, "a", 0))
    assert bench.dropped[-1] == Guess("a", 3)


def test_an_old_head_s_score_is_no_reason_to_guess(speculation: Speculation, bench: Bench) -> None:
    older, newer = Search(position("e2e4")), Search(position("e2e4", "e7e5"))
    speculation.want(older, "older", head(1))
    speculation.want(newer, "newer", head(2))
    speculation.searched("newer", newer, result("g1f3"))
    speculation.searched("older", older, result("e7e5"))
    assert [search.position for search in bench.guesses()] == [newer.position]


def test_what_came_true_is_counted(speculation: Speculation) -> None:
    play_head(speculation)
    right, wrong = Search(position("e2e4")), Search(position("d2d4"))
    for guessed in (right, wrong):
        speculation.searched(Guess("a", 0), guessed, result("e7e5"))
    speculation.want(right, "next", head(1))
    figures = speculation.figures
    assert (figures.searches, figures.hits, figures.misses) == (2, 1, 1)
    assert (figures.nodes, figures.nodes_hit) == (200, 100)
    assert figures.told() == SpeculationFigures(hits=1, misses=1, wasted_nodes=100)


def test_failures_and_progress_pass(speculation: Speculation, bench: Bench) -> None:
    search = Search(position())
    speculation.want(search, "head", head(0))
    speculation.progressed("head", Progress(Score(1), 3))
    speculation.searched("head", search, SearchFailure("for the test"))
    speculation.searched(Guess("a", 0), search, SearchFailure("mate on the board"))
    assert bench.told == [Progress(Score(1), 3), "head"]
    speculation.drop("head")
    assert bench.dropped == ["head"]
    assert bench.guesses() == []


def test_a_board_that_is_over_is_guessed_at_no_more(speculation: Speculation, bench: Bench) -> None:
    play_head(speculation)
    speculation.over("b")
    assert bench.dropped == []
    speculation.over("a")
    speculation.over("a")
    assert bench.dropped == [Guess("a", 0)]


def test_chess960_stays_chess960() -> None:
    here = Position(START, (), chess960=True)
    assert all(
        each.position.chess960 for each in needed(here, result("e2e4"), result("e2e4", "d2d4"))
    )


@pytest.mark.parametrize(
    ("limit", "scout"),
    [
        (Limit(nodes=100_000), Limit(nodes=25_000)),
        (Limit(nodes=1), Limit(nodes=1)),
        (Limit(depth=16), Limit(depth=13)),
        (Limit(depth=2), Limit(depth=1)),
        (Limit(movetime_ms=500), Limit(movetime_ms=125)),
    ],
)
def test_a_scout_takes_about_a_quarter(limit: Limit, scout: Limit) -> None:
    assert scout_limit(limit) == scout


async def test_a_real_reply_finds_its_gain_and_score_waiting(
    embedded: EngineCommand, bench: Bench
) -> None:
    """After a capture the recapture is what anybody would play."""
    moves = ("e2e4", "d7d5", "e4d5")
    speculation = Speculation(bench, Limit(nodes=2000), replies=2)
    # The head, its scout, the position after the recapture, and both of the other reply's.
    cache = Filling(5)
    async with EngineRoom(
        embedded, Limit(nodes=2000), listener=speculation, engines=1, nice=0, cache=cache
    ) as room:
        speculation.desk = room
        speculation.want(Search(position(*moves)), "head", head(3))
        await bench.answered.wait()
        await asyncio.wait_for(cache.full.wait(), 30)
        reply = Search(position(*moves, "d8d5"))
        assert room.known(reply) is not None
        searches = room.health().searches
        bench.answered.clear()
        speculation.want(reply, "reply", head(4))
        await bench.answered.wait()
        assert room.health().searches == searches
        assert speculation.figures.hits == 1
