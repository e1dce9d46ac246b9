"""The main job, end to end: real feeds, engines and sockets, wired as ``app.py`` wires them."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect

from live.clock import LoopClock
from live.config import Config, load_config
from live.events import FeedReport, GameDetail, GameReport
from live.feeds.demo import demo_feed
from live.feeds.feed_session import FeedConditions
from live.feeds.open_feed import open_feed
from live.feeds.pgn.pgn_decoder import PgnReader
from live.publish.published_state import ClientState, snapshot
from live.publish.server import Publisher
from live.rehearse.planned_faults import connections, incidents
from live.rehearse.servers.lichess_broadcast_server import LichessRehearsal
from live.service.event_service import EventService

#: Small searches: what is tested is the way of the data, not the depth of the scores.
NODES = 1000


class HurriedClock(LoopClock):
    """Time that runs a hundred times as fast: a minute's patience costs half a second."""

    HURRY = 100

    def now(self) -> float:
        return super().now() * self.HURRY

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / self.HURRY)

    def deadline(self, seconds: float | None) -> contextlib.AbstractAsyncContextManager[object]:
        return super().deadline(None if seconds is None else seconds / self.HURRY)


def settings(**changes: object) -> Config:
    return load_config(None, {}, {"engine.nodes": NODES, "server.port": 0, **changes})


@contextlib.asynccontextmanager
async def opened(config: Config) -> AsyncIterator[EventService]:
    """Engines running and reports taken in, as the service does it."""
    service = EventService(config)
    async with service.with_engine():
        keep = asyncio.create_task(service.keep())
        try:
            yield service
        finally:
            keep.cancel()


def without_source(games: Sequence[GameDetail]) -> list[GameDetail]:
    return [msgspec.structs.replace(game, feed="") for game in games]


async def analysed(config: Config, games: Sequence[GameReport]) -> Any:
    """What ``analyze`` says of finished games."""
    async with opened(config) as service:
        await service.take(FeedReport("file", tuple(games), complete=True))
        await service.settled()
        return snapshot(service.state)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(7, marks=pytest.mark.whole)])
async def test_a_broadcast_through_all_faults_ends_as_the_analysis_of_its_final_pgn(
    seed: int,
) -> None:
    games = demo_feed.games()[:3]
    config = settings(**{"feeds.finish_after_s": 30.0})
    clock = HurriedClock()
    rehearsal = LichessRehearsal(games, clock=clock, fates=connections(seed), keep_alive_s=5.0)
    async with rehearsal.serving() as spec, opened(config) as service:
        feed = open_feed(spec, config.feeds, conditions=FeedConditions(config.feeds, clock=clock))
        async with asyncio.timeout(100), asyncio.TaskGroup() as tasks:
            following = tasks.create_task(feed.run(service))
            tasks.create_task(rehearsal.play(speed=20, incidents=incidents(seed, games)))
            await following
        await service.settled()
        live = snapshot(service.state)
        final = PgnReader().read(rehearsal.final_pgn())
    assert [len(game.moves) for game in final] == [len(game.moves) for game in games]
    finished = await analysed(config, final)
    assert without_source(live.games) == without_source(finished.games)
    assert live.players == finished.players
    assert live.engine == finished.engine


@pytest.mark.slow
async def test_a_subscriber_who_comes_at_any_moment_ends_with_the_fresh_snapshot() -> None:
    config = settings(**{"feeds.demo.speed": 3000.0})
    chance = random.Random(5)
    async with opened(config) as service, Publisher(config.server, service.state) as publisher:
        service.listen(publisher.publish)
        host, port = publisher.address
        done = asyncio.Event()

        async def subscriber(delay_s: float) -> tuple[ClientState, int]:
            await asyncio.sleep(delay_s)
            client_state = ClientState()
            messages = 0
            async with connect(f"ws://{host}:{port}/v2/live", compression=None) as socket:
                while True:
                    client_state.receive(await socket.recv())
                    messages += 1
                    if done.is_set() and client_state.seq and messages > 1:
                        held = client_state.snapshot()
                        if held == snapshot(service.state):
                            return client_state, messages

        async with asyncio.timeout(100), asyncio.TaskGroup() as tasks:
            clients = [tasks.create_task(subscriber(chance.uniform(0, 4))) for _ in range(6)]
            await open_feed("demo", config.feeds).run(service)
            await service.settled()
            done.set()
            # Something has to be said for everybody to look once more.
            service.state.engine_health(service.room.health())
        assert all(client.result()[1] > 1 for client in clients)
        final = snapshot(service.state)
        assert len(final.games) == 6
        assert all(game.plies_scored == game.plies_played > 40 for game in final.games)
