"""Answers on their way to the event."""

import asyncio
from collections.abc import Callable, Iterable
from typing import cast

import pytest
from chess import STARTING_FEN as START

from live.event.answer_intake import AnswerIntake
from live.event.event import Event
from live.event.game_change import EventChange, GameChange
from live.event.players import EventStandings, PlayerTotals
from live.human.question import HumanAnswer, HumanQuestion, HumanRequest
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


class Answering:
    """Stands for an event, of which it is known what its calls return."""

    def __init__(self) -> None:
        self.has_unrated = False

    def apply_answer(
        self, request: HumanRequest, answer: HumanAnswer | None, *, rate: bool
    ) -> list[EventChange]:
        assert not rate
        self.has_unrated = True
        return [GameChange(request.game, request.ply)]

    def rate(self) -> list[EventChange]:
        self.has_unrated = False
        return [GameChange("rated", 1)]


def test_human_moves_of_a_newest_position_are_told_after_the_event_has_them() -> None:
    calls: list[object] = []
    due: list[Callable[[], None]] = []
    intake = AnswerIntake(
        cast(Event, Answering()),
        calls.extend,
        due.append,
        lambda: calls.append("answered"),
        calls.append,
    )
    question = HumanQuestion(START, (), (1500,), "otb")
    intake.on_human_answer(HumanRequest("old", 3, question), None)
    intake.on_human_answer(HumanRequest("new", 5, question, newest=True), None)
    old, new = GameChange("old", 3), GameChange("new", 5)
    assert calls == [old, "answered", new, "new", "answered"]
    (rate,) = due
    rate()
    assert calls[5:] == [GameChange("rated", 1), "answered"]
