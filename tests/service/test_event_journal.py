"""A service that starts again shows what it showed, searches nothing twice, and goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

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
    hall = EventService(settings(**changes), EventJournal(path))
    async with hall.with_engine(live=False, feeds=[FEED]):
        yield hall


def beginning(game: GameReport, plies: int) -> GameReport:
    return msgspec.structs.replace(game, moves=game.moves[:plies], result="*")


async def told(hall: EventService, *games: GameReport) -> Analysis:
    await hall.take(FeedReport(FEED, games, complete=True))
    await hall.settled()
    return analysis(hall.keeper)


def confirmed(found: Analysis) -> Analysis:
    games = tuple(msgspec.structs.replace(game, restored=False) for game in found.games)
    return msgspec.structs.replace(found, games=games)


async def test_everything_is_shown_again_before_any_feed_answers(tmp_path: Path) -> None:
    one, two = demo_feed.games()[:2]
    path = tmp_path / "journal.sqlite"
    async with opened(path) as hall:
        assert hall.journal.summary == f"kept in {path}"
        before = await told(hall, one, beginning(two, 21))
        assert hall.room.health().searches > 40
    async with opened(path) as hall:
        again = analysis(hall.keeper)
        assert [game.restored for game in again.games] == [True, True]
        assert confirmed(again) == before
        assert hall.keeper.analysed and hall.room.health().searches == 0
        assert hall.journal.restored == 2
        assert hall.journal.summary == f"2 games restored from {path}"


async def test_a_source_confirms_what_it_tells_and_goes_on_from_there(tmp_path: Path) -> None:
    one, two = demo_feed.games()[:2]
    path = tmp_path / "journal.sqlite"
    async with opened(path) as hall:
        await told(hall, one, beginning(two, 20))
        searches = hall.room.health().searches
    async with opened(path) as hall:
        restarted = await told(hall, one, beginning(two, 30))
        searches += hall.room.health().searches
        assert not any(game.restored for game in restarted.games)
    async with opened(tmp_path / "another.sqlite") as hall:
        assert restarted == await told(hall, one, beginning(two, 30))
        assert searches == hall.room.health().searches


async def test_games_of_sources_that_are_followed_no_more_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    async with opened(path) as hall:
        await told(hall, demo_feed.games()[0])
    hall = EventService(settings(), EventJournal(path))
    async with hall.with_engine(live=False, feeds=["others.pgn"]):
        assert list(hall.keeper.games()) == []
    async with opened(path) as hall:
        assert len(list(hall.keeper.games())) == 1


async def test_another_limit_shows_the_games_and_searches_them_anew(tmp_path: Path) -> None:
    game = beginning(demo_feed.games()[0], 10)
    path = tmp_path / "journal.sqlite"
    async with opened(path) as hall:
        await told(hall, game)
    async with opened(path, **{"engine.nodes": 600}) as hall:
        (view,) = hall.keeper.games()
        assert (view.plies_played, view.plies_scored) == (10, 0)
        again = await told(hall, game)
    async with opened(tmp_path / "another", **{"engine.nodes": 600}) as hall:
        assert again == await told(hall, game)


async def test_a_journal_that_cannot_be_used_is_shown_and_done_without(tmp_path: Path) -> None:
    game = beginning(demo_feed.games()[0], 4)
    path = tmp_path / "journal.sqlite"
    async with opened(path) as first, opened(path) as second:
        shown: list[FeedHealth] = []
        second.journal.look_after(second.keeper, shown.append)
        second.journal.look_after(second.keeper, shown.append)
        assert [(health.feed, health.state, health.part) for health in shown] == [
            ("journal", "failed", True)
        ]
        assert "in use by another live-rate" in shown[0].detail
        assert await told(second, game) == await told(first, game)


async def test_games_left_out_of_a_journal_that_was_stuck_are_written_when_it_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite"
    hall = EventService(settings(), EventJournal(path))
    shown: list[FeedHealth] = []
    async with hall.with_engine(live=False, feeds=[FEED]):
        assert hall.journal.journal is not None
        hall.journal.journal._backlog._bound = 3
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        before = await told(hall, *(beginning(game, 8) for game in demo_feed.games()[:2]))
        blocker.execute("ROLLBACK")
        blocker.close()
        async with asyncio.timeout(20):
            while not hall.journal.journal.wants_restating:
                await asyncio.to_thread(hall.journal.journal.flush, 1)
        hall.journal.look_after(hall.keeper, shown.append)
        assert not hall.journal.journal.wants_restating
    async with opened(path) as hall:
        await hall.settled()
        assert confirmed(analysis(hall.keeper)) == before


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
