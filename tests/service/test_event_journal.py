"""A service that starts again shows what it showed, searches nothing twice, and goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from live.config import Config, JournalConfig, load_config
from live.events import FeedHealth, FeedReport, GameReport
from live.feeds.demo import demo_feed
from live.publish.export.analysis_json import Analysis, analysis
from live.service.event_journal import EventJournal, journal_path
from live.service.event_service import EventService

FEED = "games.pgn"


def settings(**changes: object) -> Config:
    return load_config(None, {}, {"engine.nodes": 500, "engine.engines": 2, **changes})


@contextlib.asynccontextmanager
async def opened(path: Path, **changes: object) -> AsyncIterator[EventService]:
    service = EventService(settings(**changes), EventJournal(path))
    async with service.with_engine(live=False, feeds=[FEED]):
        yield service


def beginning(game: GameReport, plies: int) -> GameReport:
    return msgspec.structs.replace(game, moves=game.moves[:plies], result="*")


async def told(service: EventService, *games: GameReport) -> Analysis:
    await service.take(FeedReport(FEED, games, complete=True))
    await service.settled()
    return analysis(service.state)


def confirmed(found: Analysis) -> Analysis:
    games = tuple(msgspec.structs.replace(game, restored=False) for game in found.games)
    return msgspec.structs.replace(found, games=games)


@pytest.mark.slow
async def test_everything_is_shown_again_before_any_feed_answers(tmp_path: Path) -> None:
    one, two = demo_feed.games()[:2]
    path = tmp_path / "journal.sqlite"
    async with opened(path) as service:
        assert service.journal.summary == f"kept in {path}"
        before = await told(service, one, beginning(two, 21))
        assert service.room.health().searches > 40
    async with opened(path) as service:
        again = analysis(service.state)
        assert [game.restored for game in again.games] == [True, True]
        assert confirmed(again) == before
        assert service.state.analysed and service.room.health().searches == 0
        assert service.journal.restored == 2
        assert service.journal.summary == f"2 games restored from {path}"


@pytest.mark.slow
async def test_a_source_confirms_what_it_tells_and_goes_on_from_there(tmp_path: Path) -> None:
    one, two = demo_feed.games()[:2]
    path = tmp_path / "journal.sqlite"
    async with opened(path) as service:
        await told(service, one, beginning(two, 20))
        searches = service.room.health().searches
    async with opened(path) as service:
        restarted = await told(service, one, beginning(two, 30))
        searches += service.room.health().searches
        assert not any(game.restored for game in restarted.games)
    async with opened(tmp_path / "another.sqlite") as service:
        assert restarted == await told(service, one, beginning(two, 30))
        assert searches == service.room.health().searches


@pytest.mark.slow
async def test_games_of_sources_that_are_followed_no_more_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    async with opened(path) as service:
        await told(service, demo_feed.games()[0])
    service = EventService(settings(), EventJournal(path))
    async with service.with_engine(live=False, feeds=["others.pgn"]):
        assert list(service.state.games()) == []
    async with opened(path) as service:
        assert len(list(service.state.games())) == 1


@pytest.mark.slow
async def test_another_limit_shows_the_games_and_searches_them_anew(tmp_path: Path) -> None:
    game = beginning(demo_feed.games()[0], 10)
    path = tmp_path / "journal.sqlite"
    async with opened(path) as service:
        await told(service, game)
    async with opened(path, **{"engine.nodes": 600}) as service:
        (view,) = service.state.games()
        assert (view.plies_played, view.plies_scored) == (10, 0)
        again = await told(service, game)
    async with opened(tmp_path / "another", **{"engine.nodes": 600}) as service:
        assert again == await told(service, game)


@pytest.mark.slow
async def test_a_journal_that_cannot_be_used_is_shown_and_done_without(tmp_path: Path) -> None:
    game = beginning(demo_feed.games()[0], 4)
    path = tmp_path / "journal.sqlite"
    async with opened(path) as first, opened(path) as second:
        shown: list[FeedHealth] = []
        second.journal.look_after(second.state, shown.append)
        second.journal.look_after(second.state, shown.append)
        assert [(health.feed, health.state, health.part) for health in shown] == [
            ("journal", "failed", True)
        ]
        assert "in use by another live-rate" in shown[0].detail
        assert second.journal.summary == "", "nothing is kept there by this one"
        assert await told(second, game) == await told(first, game)


@pytest.mark.slow
async def test_games_left_out_of_a_journal_that_was_stuck_are_written_when_it_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite"
    service = EventService(settings(), EventJournal(path))
    shown: list[FeedHealth] = []
    async with service.with_engine(live=False, feeds=[FEED]):
        assert service.journal.journal is not None
        service.journal.journal._backlog._bound = 3
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        before = await told(service, *(beginning(game, 8) for game in demo_feed.games()[:2]))
        blocker.execute("ROLLBACK")
        blocker.close()
        async with asyncio.timeout(20):
            while not service.journal.journal.wants_restating:
                await asyncio.to_thread(service.journal.journal.flush, 1)
        service.journal.look_after(service.state, shown.append)
        assert not service.journal.journal.wants_restating
    async with opened(path) as service:
        await service.settled()
        assert confirmed(analysis(service.state)) == before


def test_each_set_of_sources_has_its_own_file_and_passing_ones_have_none() -> None:
    config = JournalConfig()
    one = journal_path(config, ["https://lichess.org/broadcast/a", "games.pgn"])
    assert one == journal_path(config, ["games.pgn", "https://lichess.org/broadcast/a"])
    assert one is not None and one.name.startswith("games-pgn-https-lichess-org-broadcast-a-")
    assert one != journal_path(config, ["games.pgn"])
    assert journal_path(config, ["demo"]) is None
    assert journal_path(config, ["standard input", "demo"]) is None
    assert journal_path(config, ["demo", "games.pgn"]) is not None
    assert journal_path(config, ["games.pgn"], once=True) is None
    named = JournalConfig(file="here.sqlite")
    assert journal_path(named, ["demo"], once=True) == Path("here.sqlite")
    assert journal_path(JournalConfig(enabled=False, file="x"), ["games.pgn"]) is None


async def test_a_game_of_two_sources_is_one_again_after_a_restart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    game = demo_feed.games()[0]
    path = tmp_path / "journal.sqlite"
    feeds = [FEED, "cloud"]

    async def told_by(service: EventService, feed: str, plies: int) -> None:
        await service.take(FeedReport(feed, (beginning(game, plies),), complete=True))
        await service.settled()

    service = EventService(settings(), EventJournal(path))
    async with service.with_engine(live=False, feeds=feeds):
        # Each is shown for itself and kept, before the moves prove that they are one.
        other = msgspec.structs.replace(game.headers, event="Another name", round="")
        for feed, headers in ((FEED, game.headers), ("cloud", other)):
            report = msgspec.structs.replace(beginning(game, 6), headers=headers)
            await service.take(FeedReport(feed, (report,), complete=True))
        await service.settled()
        assert len(list(service.state.games())) == 2
        service.journal._keep(float("inf"), all_of_them=True)
        report = msgspec.structs.replace(beginning(game, 26), headers=other)
        await service.take(FeedReport("cloud", (report,), complete=True))
        await told_by(service, FEED, 24)
        before = analysis(service.state)
        (view,) = before.games
        assert view.also == ("cloud",) and view.plies_played == 26
    service = EventService(settings(), EventJournal(path))
    async with service.with_engine(live=False, feeds=feeds):
        assert confirmed(analysis(service.state)) == before
        await told_by(service, FEED, 24)
        assert analysis(service.state) == before, "confirmed by one of them"
        assert "missed" not in caplog.text, "its alerts come back, too"
    # Only one of the sources is followed: the game is its own, with all it held.
    service = EventService(settings(), EventJournal(path))
    async with service.with_engine(live=False, feeds=[FEED]):
        (view,) = analysis(service.state).games
        assert view.also == () and view.dispute == ""


async def test_after_a_restart_each_source_has_its_own_report_of_a_shared_game(
    tmp_path: Path,
) -> None:
    game = demo_feed.games()[0]
    path = tmp_path / "journal.sqlite"
    feeds = [FEED, "cloud"]
    service = EventService(settings(), EventJournal(path))
    async with service.with_engine(live=False, feeds=feeds):
        for plies in (4, 24):
            for feed in feeds:
                await service.take(FeedReport(feed, (beginning(game, plies),), complete=True))
        await service.take(FeedReport("cloud", (game,), complete=True))
        await service.settled()
        before = analysis(service.state)
        assert before.games[0].also == ("cloud",) and before.games[0].result == game.result
    service = EventService(settings(), EventJournal(path))
    async with service.with_engine(live=False, feeds=feeds):
        assert confirmed(analysis(service.state)) == before
        assert service.room.health().searches == 0
        assert [len(each.moves) for each in service.state.held()] == [24, len(game.moves)]
        await service.take(FeedReport(FEED, (beginning(game, 24),), complete=True))
        await service.settled()
        assert analysis(service.state) == before, "the source behind repeats what it has"
