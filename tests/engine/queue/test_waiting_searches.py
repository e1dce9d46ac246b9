"""Many boards, and whose turn it is."""

from __future__ import annotations

from live.engine.search import Position, Search
from live.engine.search_queue import (
    QueuedRequest,
    SearchJob,
    SearchKind,
    SearchPriority,
    WaitingSearches,
)


def request(board: str, ply: int, kind: SearchKind = SearchKind.BACKLOG) -> QueuedRequest[str]:
    search = Search(Position(f"{board}{ply}"))
    job: SearchJob[str] = SearchJob(f"{board}{ply}")
    new = QueuedRequest("owner", search, job, SearchPriority(kind, board, ply), 0.0)
    job.requests["owner", search] = new
    return new


def test_what_is_no_longer_wanted_does_not_come_up() -> None:
    waiting: WaitingSearches[str] = WaitingSearches()
    first, second = request("a", 1), request("a", 2)
    for each in (first, second):
        waiting.push(each)
    first.alive = False
    assert waiting.pop() is second.job
    assert waiting.pop() is None


def test_what_runs_does_not_come_up_again() -> None:
    waiting: WaitingSearches[str] = WaitingSearches()
    shared = request("a", 1)
    other = QueuedRequest(
        "other", Search(Position("x")), shared.job, SearchPriority(SearchKind.HEAD, "b", 1), 0.0
    )
    waiting.push(shared)
    waiting.push(other)
    job = waiting.pop()
    assert job is shared.job
    job.engine = 0
    assert waiting.pop() is None


def test_every_board_is_served_before_one_is_served_twice() -> None:
    waiting: WaitingSearches[str] = WaitingSearches()
    for ply in range(3):
        for board in "abcde":
            waiting.push(request(board, ply))
    order = []
    while (job := waiting.pop()) is not None:
        order.append(job.key)
    assert order == [f"{board}{ply}" for ply in range(3) for board in "abcde"]


def test_heads_take_turns_with_games_that_have_just_ended() -> None:
    """While heads never end, the last scores under a result would never come."""
    waiting: WaitingSearches[str] = WaitingSearches()
    for ply in range(3):
        waiting.push(request("live", ply, SearchKind.HEAD))
        waiting.push(request("over", ply, SearchKind.CLOSING))
        waiting.push(request("behind", ply))
    order = []
    while (job := waiting.pop()) is not None:
        order.append(job.key[:-1])
    assert order == ["live", "over", "live", "over", "live", "over", "behind", "behind", "behind"]


def test_heads_that_wait_are_told_by_board() -> None:
    waiting: WaitingSearches[str] = WaitingSearches()
    one, two = request("a", 1, SearchKind.HEAD), request("b", 1, SearchKind.HEAD)
    for each in (one, two, request("a", 2)):
        waiting.push(each)
    assert list(waiting.heads("a")) == [one]
    assert list(waiting.heads()) == [one, two]
    assert list(waiting.heads("c")) == []
    assert waiting.holds(one)


def test_the_oldest_is_told_and_what_came_and_went_is_forgotten() -> None:
    waiting: WaitingSearches[str] = WaitingSearches()
    patient, guess = (
        request("patient", 0, SearchKind.FINISHED),
        request("guess", 0, SearchKind.SPECULATE),
    )
    patient.requested_at, guess.requested_at = 5.0, 1.0
    waiting.push(patient)
    waiting.push(guess)
    for ply in range(5_000):
        other = request("a", ply)
        other.requested_at = 6.0 + ply
        waiting.push(other)
        job = waiting.pop()
        assert job is other.job
        job.engine = 0
    assert waiting.oldest() == 5.0
    assert len(waiting._ages) < 2_000
    patient.alive = False
    assert waiting.oldest() is None, "nobody waits for a guess"


def test_what_died_below_others_or_never_comes_up_is_forgotten() -> None:
    waiting: WaitingSearches[str] = WaitingSearches()
    # An engine that backlog keeps busy never asks for guesses, and the best guess hides the others.
    waiting.push(request("a", 1))
    best = request("a", 1, SearchKind.SPECULATE)
    waiting.push(best)
    for number in range(10_000):
        guess = request(f"b{number % 7}", number, SearchKind.SPECULATE)
        guess.priority = SearchPriority(
            SearchKind.SPECULATE, guess.priority.board, number, rank=number
        )
        waiting.push(guess)
        guess.alive = False
    held = sum(len(heap) for heaps in waiting._heaps.values() for heap in heaps.values())
    assert held == waiting._entries < 2_000
    for _ in range(2):
        job = waiting.pop()
        assert job is not None
        job.engine = 0
    assert job is best.job
    assert waiting.pop() is None
    assert waiting._entries == 0
