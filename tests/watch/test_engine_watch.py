"""Health of the engines, as people see it."""

from live.messages.from_sources import FeedReport
from live.sources import demo_feed
from tests.event.answered_event import (
    FEED,
    open_service,
    report_and_settle,
    settings,
)
from tests.sources.fakes import upto


async def test_it_says_how_many_moves_figures_are_behind_the_boards() -> None:
    begun, longer = (upto(demo_feed.read_demo_games()[0], plies) for plies in (0, 12))
    async with open_service(settings()) as service:
        await report_and_settle(service, begun)
        service.report_engines()
        assert service.state.engines().behind == ""
        await service.take(FeedReport(FEED, (longer,)))
        service.report_engines()
        said = service.state.engines().behind
        assert said.startswith(
            "figures are up to 6 moves behind on 1 board: if that lasts, follow"
        )
        await service.settled()
        service.report_engines()
        assert service.state.engines().behind == ""
