"""Reports on their way to the event and its journal."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from live.event.game_change import EventChange
from live.games.game import Step
from live.messages.from_sources import FeedReport, Player
from live.messages.health import FeedHealth
from live.messages.to_clients import Change, MoveMessage
from live.sources import demo_feed
from tests.event.answered_event import (
    FEED,
    AnsweredEvent,
    left_behind,
    open_unscored,
)
from tests.games.short_reports import change_headers
from tests.sources.fakes import upto


@pytest.mark.parametrize(
    "newer", [None, FeedHealth("feed", "stale", "no answer for 60 s")]
)
async def test_a_feed_whose_reports_were_lost_is_well_again_with_the_next(
    newer: FeedHealth | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The feed knows nothing of the loss, and so cannot say that it is over; what it
    says later holds.
    """
    service = open_unscored()
    proper, faults = (
        service.state.apply_report,
        [KeyError("a fault of ours"), KeyError("and again")],
    )

    def broken(
        report: FeedReport,
    ) -> Iterator[tuple[Step, Sequence[EventChange]]]:
        if faults:
            raise faults.pop()
        return proper(report)

    monkeypatch.setattr(service.state, "apply_report", broken)
    keep = asyncio.create_task(service.inbox.run())
    live = FeedHealth("feed", "live", "1 game")
    service.inbox.health(live)
    states = []
    for number in range(3):
        if number == 2 and newer is not None:
            service.inbox.health(newer)
        await service.inbox.report(
            FeedReport("feed", (demo_feed.read_demo_games()[0],))
        )
        await service.settled()
        states.append(service.state.feeds())
    keep.cancel()
    assert [health.state for (health,) in states[:2]] == ["retrying", "retrying"]
    assert states[-1] == (newer or live,)


async def test_a_step_on_which_a_follower_fails_is_in_the_journal(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite"
    game = demo_feed.read_demo_games()[0]
    faults = list[Exception]()
    heard = list[Change]()

    def fail(changes: Sequence[EventChange]) -> None:
        if faults:
            raise faults.pop()

    async with AnsweredEvent(path).started() as service:
        service.bus.follow(fail)
        service.bus.subscribe(heard.extend)
        await service.take(FeedReport(FEED, (upto(game, 10),)))
        heard.clear()
        faults.append(RuntimeError("a fault of ours"))
        with pytest.raises(RuntimeError):
            await service.take(FeedReport(FEED, (upto(game, 12),)))
        assert MoveMessage in map(type, heard)
        await service.take(FeedReport(FEED, (upto(game, 14),)))
        service.flush()
        copy = left_behind(path, tmp_path, "killed")
    async with AnsweredEvent(copy).started() as restarted:
        assert [view.plies_played for view in restarted.state.games()] == [14]


async def test_doubtful_names_of_a_rating_list_are_shown_with_what_to_do(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("Name,FideId,Rating,K\nBoe Anna,7,2300,40\nDahl Cleo,8,2100,20\n")
    service = open_unscored(None, **{"feeds.rating_list": str(path)})
    game = upto(demo_feed.read_demo_games()[0], 2)
    game = change_headers(game, white=Player("Boe, A"), black=Player("Dahl, Cleo"))
    await service.take(FeedReport("hall", (game,)))
    (health,) = service.state.feeds()
    assert (health.feed, health.state, health.part) == ("rating list", "stale", True)
    assert (
        "Boe, A is perhaps Boe Anna (7) in the list: give the FIDE id" in health.detail
    )
    (held,) = service.state.games()
    assert held.black.elo == 2100 and held.black.k == 20 and held.white.elo is None
    service.arbiter.tick()
