"""Health of the engines, as people see it."""

from live.event.event import Event
from live.event.game_change import EventChange
from live.event.rate_game import Measure
from live.messages.from_sources import FeedReport
from live.messages.health import EngineHealth, HumanHealth, MeasuringProgress
from live.sources import demo_feed
from live.watch.engine_watch import EngineWatch
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


def test_a_measurement_is_shown_in_steps_and_its_last_state_with_every_report() -> None:
    event = Event(Measure("same-search"))
    told: list[EventChange] = []
    watch = EngineWatch(event, told.extend, EngineHealth)
    for done in range(1, 295):
        watch.show_measuring(MeasuringProgress(done, 294))
    assert len(told) == 21
    watch.show_measuring(MeasuringProgress(15, 294))
    assert len(told) == 21, "that is no step"
    watch.report()
    assert event.engines().measuring == MeasuringProgress(15, 294)
    watch.show_measuring(None)
    assert event.engines().measuring is None


def test_the_network_of_human_moves_is_shown_where_there_is_one() -> None:
    event = Event(Measure("same-search"))
    human = HumanHealth("network")
    EngineWatch(event, lambda changes: None, EngineHealth, lambda: human).report()
    assert event.engines().human == human
