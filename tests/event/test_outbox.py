"""Consequences are committed together, in the order in which they are carried out."""

from chess import STARTING_FEN as START

from live.engine.requests import RequestId, SearchDropped, SearchRequest
from live.engine.search import Position, Search
from live.event.game_change import GameChange
from live.event.outbox import Outbox
from live.human.question import HumanQuestion, HumanRequest

SEARCH = Search(Position(START))
QUESTION = HumanRequest("g", 0, HumanQuestion(START, (), (1500,), "otb"))


def fill(outbox: Outbox) -> None:
    outbox.questions.append(QUESTION)
    outbox.changes.append(GameChange("g", 1))
    outbox.requests.append(SearchRequest(identify(1), SEARCH, "head"))
    outbox.dropped.append(identify(0))


def identify(generation: int) -> RequestId:
    return RequestId("g", 0, "position", generation)


def test_dropped_searches_come_before_requests_and_changes_before_questions() -> None:
    outbox = Outbox()
    fill(outbox)
    assert list(outbox.take()) == [], "nothing is committed yet"
    outbox.commit()
    assert list(outbox.take()) == [
        SearchDropped(identify(0)),
        SearchRequest(identify(1), SEARCH, "head"),
        GameChange("g", 1),
        QUESTION,
    ]
    assert list(outbox.take()) == []


def test_what_is_rolled_back_is_not_told_and_what_was_committed_is() -> None:
    outbox = Outbox()
    outbox.changes.append(GameChange("first", 1))
    outbox.commit()
    fill(outbox)
    outbox.roll_back()
    outbox.commit()
    assert list(outbox.take()) == [GameChange("first", 1)]
