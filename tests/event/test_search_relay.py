"""Requests of the event on their way to the engines."""

from collections.abc import Hashable

import msgspec
from chess import STARTING_FEN as START

from live.engine.search import Position, Search
from live.engine.search_queue import SearchKind, SearchPriority
from live.event.game_change import GameChange
from live.event.requests import RequestId, SearchDropped, SearchRequest
from live.event.search_relay import SearchRelay
from live.messages.from_sources import FeedReport
from live.messages.to_clients import GoneMessage
from live.sources import demo_feed
from tests.event.answered_event import (
    FEED,
    open_service,
    report_and_settle,
    settings,
)
from tests.sources.fakes import until, upto


class Desk:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        self.calls.append((owner, search, priority.kind))

    def drop(self, owner: Hashable) -> None:
        self.calls.append(owner)

    def find_known_result(self, search: Search) -> None:
        return None


def test_requests_are_carried_out_in_order_and_boards_end_after_them() -> None:
    desk = Desk()
    relay = SearchRelay(desk, lambda changes: desk.calls.append(tuple(changes)))
    search = Search(Position(START))
    first, second = (RequestId("g", 0, "position", number) for number in (0, 1))
    gone, other = GoneMessage("g"), GoneMessage("h")
    relay.follow(
        [
            SearchDropped(first),
            SearchRequest(second, search, "head"),
            gone,
            GameChange("g", 1),
            SearchDropped(second),
            other,
        ]
    )
    requests = [first, (second, search, SearchKind.HEAD), second]
    assert desk.calls == [*requests, (gone, other)]


async def test_a_game_that_ends_is_no_longer_guessed_at() -> None:
    game = upto(demo_feed.read_demo_games()[0], 6)
    async with open_service(settings(**{"engine.nodes": 20_000}), live=True) as service:
        await report_and_settle(service, game)
        await until(lambda: service.pool.report_health().waiting.speculate > 0)
        await service.take(
            FeedReport(FEED, (msgspec.structs.replace(game, result="1-0"),))
        )
        assert service.pool.report_health().waiting.speculate == 0
