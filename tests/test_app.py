"""The service as a whole, wired as ``app.py`` wires it, with real feeds, engines and
sockets: what ends it, what does not, and that live ends where ``analyze`` ends.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from live import app
from live.commands.read_settings import read_settings
from live.errors import FeedNotFound
from live.messages.figures import GameDetail
from live.messages.from_sources import FeedReport
from live.process import supervision
from live.process.clock import LoopClock
from live.rehearse.web_server import serve_http
from live.server.filtered_reader import snapshot
from live.settings import Config
from live.sources import demo_feed
from live.sources.demo_feed import DemoFeed
from live.sources.feed_session import FeedConditions, FeedSink
from live.sources.open_feed import open_feed
from live.sources.pgn_decoder import PgnReader
from tests.event.answered_event import (
    FEED,
    AnsweredEvent,
    RunningEvent,
    open_service,
)
from tests.rehearse.faults import BAD_CONNECTIONS, FaultyLichess, fates, incidents
from tests.sources.fakes import answer_with, until

#: Small searches: what is tested is the way of the data, not the depth of the scores.
NODES = 1000
QUICK = {
    "engine.nodes": 100,
    "rating.model": "none",
    "human.enabled": False,
    "feeds.poll_s": 0.05,
}


@pytest.fixture(autouse=True)
def fast_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_feed, "SPEED", 1e6)


def settings(**changes: object) -> Config:
    return read_settings(None, {}, {"engine.nodes": NODES, "server.port": 0, **changes})


async def test_a_feed_that_cannot_be_followed_costs_the_others_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with serve_http(answer_with(404)) as origin:
        url = f"{origin}/games.pgn"
        code = await app.follow(
            settings(**QUICK), ["demo", url], headless=True, once=True
        )
    told = capsys.readouterr().out
    assert f"{url} failed" in told
    assert "6 games" in told
    assert code == FeedNotFound.exit_code, (
        "who waits for the end learns that something was missing"
    )


async def test_a_mistyped_source_leaves_no_journal_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def list_journals() -> list[Path]:
        return list(tmp_path.rglob("*.sqlite*"))

    async with serve_http(answer_with(404)) as origin:
        source = f"{origin}/games.pgn"
        service = asyncio.create_task(
            app.follow(settings(**QUICK), [source], headless=True, once=False)
        )
        await until(lambda: list_journals() != [])
        service.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await service
    assert list_journals() == []


async def test_a_fault_of_ours_in_a_feed_is_mended_by_a_new_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[int] = []
    proper = DemoFeed.run

    async def run(self: Any, sink: FeedSink) -> None:
        runs.append(1)
        if len(runs) == 1:
            raise KeyError("a fault of ours")
        await proper(self, sink)

    monkeypatch.setattr(DemoFeed, "run", run)
    monkeypatch.setattr(supervision, "FIRST_S", 0.01)
    assert await app.follow(settings(**QUICK), ["demo"], headless=True, once=True) == 0
    assert len(runs) == 2
    assert "program fault (KeyError)" in capsys.readouterr().out


class HurriedClock(LoopClock):
    """Time that runs a hundred times as fast: a minute's patience costs half a
    second.
    """

    HURRY = 100

    def now(self) -> float:
        return super().now() * self.HURRY

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / self.HURRY)

    def deadline(
        self, seconds: float | None
    ) -> contextlib.AbstractAsyncContextManager[object]:
        return super().deadline(None if seconds is None else seconds / self.HURRY)


@contextlib.asynccontextmanager
async def opened(config: Config) -> AsyncIterator[RunningEvent]:
    """Engines running and reports taken in, as the service does it."""
    async with open_service(config, live=True) as service:
        keep = asyncio.create_task(service.inbox.run())
        try:
            yield service
        finally:
            keep.cancel()


def without_source(games: Sequence[GameDetail]) -> list[GameDetail]:
    return [msgspec.structs.replace(game, feed="") for game in games]


@pytest.mark.parametrize("seed", [1, pytest.param(7, marks=pytest.mark.whole)])
async def test_a_broadcast_through_all_faults_ends_as_the_analysis_of_its_final_pgn(
    seed: int,
) -> None:
    games = demo_feed.read_demo_games()[:3]
    config = settings()
    clock = HurriedClock()
    rehearsal = FaultyLichess(
        games, clock=clock, fates=fates(seed, BAD_CONNECTIONS), keep_alive_s=5.0
    )
    async with rehearsal.serve() as spec, opened(config) as service:
        feed = open_feed(
            spec, config.feeds, conditions=FeedConditions(config.feeds, clock=clock)
        )
        async with asyncio.timeout(100), asyncio.TaskGroup() as tasks:
            following = tasks.create_task(feed.run(service.inbox))
            tasks.create_task(
                rehearsal.play_games(speed=20, incidents=incidents(seed, games))
            )
            await following
        await service.settled()
        live = snapshot(service.state)
        final = PgnReader().read_text(rehearsal.join_games())
    assert [len(game.moves) for game in final] == [len(game.moves) for game in games]
    async with opened(config) as service:
        await service.take(FeedReport("file", tuple(final), complete=True))
        await service.settled()
        finished = snapshot(service.state)
    assert without_source(live.games) == without_source(finished.games)
    assert live.players == finished.players
    assert live.engine == finished.engine


async def test_the_public_misses_nothing_that_comes_before_the_port_is_open() -> None:
    settings: dict[str, Any] = {"server.port": 0, "server.hide_scores": True}
    async with AnsweredEvent(None, **settings).started() as service:
        publisher = app.build_publisher(service.parts, lambda games: None)
        await service.take(FeedReport(FEED, tuple(demo_feed.read_demo_games()[:1])))
        async with publisher:
            (shown,) = publisher.public.games()
            (game,) = service.state.games()
            assert shown.plies_played == game.plies_played > 0
