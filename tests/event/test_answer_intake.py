"""Answers on their way to the event."""

import asyncio
from collections.abc import Iterable

import pytest
from chess import STARTING_FEN as START

from live.event.players import EventStandings, PlayerTotals
from live.messages.from_sources import FeedReport, GameReport, Headers, Player
from tests.event.answered_event import (
    AnsweredEvent,
)
from tests.event.arithmetic import answer, line


async def test_boards_that_one_answer_serves_are_rated_once_in_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = AnsweredEvent()
    games = tuple(
        GameReport(
            f"{each}",
            Headers(Player(f"W {each}"), Player(f"B {each}")),
            START,
            line(1, 2),
        )
        for each in range(30)
    )
    await service.take(FeedReport("feed", games))
    rated = 0
    proper = EventStandings.rate

    def counted(self: EventStandings, touched: Iterable[PlayerTotals]) -> None:
        nonlocal rated
        rated += 1
        proper(self, touched)

    monkeypatch.setattr(EventStandings, "rate", counted)
    while service.asked:
        first, before = list(service.asked), rated
        service.asked.clear()
        for search, request_id in first:
            service.answers.on_result(request_id, search, answer(search))
        assert rated == before
        await asyncio.sleep(0)
        assert rated - before <= 2
    assert rated
    assert service.state.is_rated
