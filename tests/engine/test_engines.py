"""The engines of a service, with and without searches ahead of the games."""

from collections.abc import Hashable

import msgspec

from live.commands.read_settings import read_settings
from live.engine.engines import Engines
from live.engine.requests import RequestId, SearchDropped, SearchRequest
from live.engine.search import Position, Search, SearchResult
from live.engine.search_queue import SearchKind, SearchPriority
from live.messages.from_sources import FeedReport
from live.messages.to_clients import GoneMessage
from live.sources import demo_feed
from tests.engine.conftest import START, Desk
from tests.event.answered_event import (
    FEED,
    open_service,
    report_and_settle,
    settings,
)
from tests.sources.fakes import until, upto


def engines(desk: Desk, **settings: object) -> Engines:
    """For a desk that wants answers, with all moves as probable."""
    flags: dict[str, object] = {"engine.nodes": 500}
    flags |= {f"engine.{name}": value for name, value in settings.items()}
    config = read_settings(None, {}, flags).engine
    made = Engines(config, None)
    made.connect(desk, lambda game, ply, behind_cp: [1.0 for _ in behind_cp])
    return made


class Orders:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        self.calls.append((owner, search, priority.kind))

    def drop(self, owner: Hashable) -> None:
        self.calls.append(owner)

    def find_known_result(self, search: Search) -> None:
        return None


def test_requests_of_games_are_carried_out_in_order() -> None:
    orders = Orders()
    under_test = engines(Desk())
    under_test.desk = orders
    search = Search(Position(START))
    first, second = (RequestId("g", 0, "position", number) for number in (0, 1))
    under_test.follow(
        [
            SearchDropped(first),
            SearchRequest(second, search, "head"),
            GoneMessage("g"),
            SearchDropped(second),
        ]
    )
    assert orders.calls == [first, (second, search, SearchKind.HEAD), second]


async def test_a_game_that_ends_is_no_longer_guessed_at() -> None:
    game = upto(demo_feed.read_demo_games()[0], 6)
    async with open_service(settings(**{"engine.nodes": 20_000}), live=True) as service:
        await report_and_settle(service, game)
        await until(lambda: service.pool.report_health().waiting.speculate > 0)
        await service.take(
            FeedReport(FEED, (msgspec.structs.replace(game, result="1-0"),))
        )
        assert service.pool.report_health().waiting.speculate == 0


async def test_a_game_that_is_gone_with_its_last_request_is_not_guessed_at() -> None:
    """The request alone would begin guesses, so it must be carried out first."""
    desk = Desk()
    under_test = engines(desk, engines=1)
    id = RequestId("g", 0, "position", 0)
    request = SearchRequest(id, Search(Position(START)), "head")
    async with under_test.pool:
        under_test.follow([request, GoneMessage("g")])
        await desk.answers(1)
        assert under_test.pool.report_health().waiting.speculate == 0


async def test_with_and_without_all_that_stands_before_the_room() -> None:
    """A position asked for at the front comes to the room, and its answer back."""
    for ahead in (True, False):
        desk = Desk()
        under_test = engines(desk, engines=1, speculate=ahead)
        async with under_test.pool:
            under_test.desk.submit(
                Search(Position(START)),
                "start",
                SearchPriority(SearchKind.HEAD, "a", 0),
            )
            await desk.answers(1)
            assert isinstance(desk.results["start"], SearchResult)
            assert (under_test.report_health().speculation is not None) == ahead
