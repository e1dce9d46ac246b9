"""Who of the plugins is asked what, and where the answers go."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from chess import STARTING_FEN as START

from live.config import FeedsConfig
from live.errors import UnknownFeed
from live.events import FeedReport, GameReport, Headers, Player, PluginFigure, SnapshotMessage
from live.feeds.open_feed import open_feed
from live.plugins.interface import PluginAlert
from live.plugins.plugin_process import MOST_FAILURES, InstalledPlugin, PluginFailure
from live.publish.answers import ExportFailed
from live.publish.published_state import snapshot
from live.publish.visibility import Visibility
from live.service import plugin_service
from live.service.event_service import EventService
from live.service.plugin_service import PluginService, WaitingNames, plugin_feeds
from tests.feeds.fakes import DrivenClock, turns, until
from tests.ledger.arithmetic import line
from tests.service.answered_event import unscored

ALERTS = InstalledPlugin("live_rate.alerts", "watch", "w:P", "w 1.0")
METHOD = InstalledPlugin("live_rate.methods", "figure", "f:P", "f 1.0")
EXPORT = InstalledPlugin("live_rate.exports", "table", "t:P", "t 1.0")


class Answering:
    """In place of a process: answers by a function, which may raise."""

    answer: Callable[[InstalledPlugin, tuple[Any, ...]], Any]

    def __init__(self, plugin: InstalledPlugin, report: object, *, clock: object) -> None:
        self.plugin, self.part = plugin, f"plugin {plugin.name}"
        self.failures = 0
        self.about = "text/csv"
        self.closed = False

    @property
    def off(self) -> bool:
        return self.failures >= MOST_FAILURES

    async def ask(self, arguments: tuple[Any, ...], kind: object) -> Any:
        await asyncio.sleep(0)
        try:
            found = type(self).answer(self.plugin, arguments)
        except PluginFailure:
            self.failures += 1
            raise
        self.failures = 0
        return found

    async def close(self) -> None:
        self.closed = True


@contextlib.asynccontextmanager
async def plugged(
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[InstalledPlugin, tuple[Any, ...]], Any],
    *plugins: InstalledPlugin,
) -> AsyncIterator[tuple[EventService, PluginService]]:
    """Two boards held, plugins at work."""
    monkeypatch.setattr(plugin_service, "PluginProcess", Answering)
    monkeypatch.setattr(Answering, "answer", staticmethod(answer), raising=False)
    service = unscored()
    made = PluginService(plugins, service, clock=DrivenClock())
    await service.take(report(3))
    async with made.running():
        service.listen(made.published)
        running = [asyncio.ensure_future(run()) for run in made.parts().values()]
        try:
            yield service, made
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
    assert all(cast(Any, each).closed for each in made._processes)


def report(moves: int) -> FeedReport:
    def game(each: str) -> GameReport:
        players = Player(f"W{each}"), Player(f"B{each}")
        return GameReport(each, Headers(*players), START, line(*range(moves)))

    return FeedReport("feed", (game("1"), game("2")))


def by_plies(plugin: InstalledPlugin, arguments: tuple[Any, ...]) -> Any:
    if plugin is ALERTS:
        (game,) = arguments
        return [PluginAlert(key="n", text=f"{game.plies_played} plies")]
    player, games = arguments
    return (PluginFigure(value=sum(each.plies_played for each in games), note=player.name),)


async def test_alerts_and_figures_follow_the_games(monkeypatch: pytest.MonkeyPatch) -> None:
    async with plugged(monkeypatch, by_plies, ALERTS, METHOD) as (service, _):
        await until(lambda: len(service.alerts()) == 2)
        assert {each.text for each in service.alerts()} == {"watch: 3 plies"}
        await until(lambda: all(each.plugins for each in service.state.players()))
        assert {each.plugins[0].value for each in service.state.players()} == {3.0}
        await service.take(report(4))
        await until(lambda: {a.text for a in service.alerts()} == {"watch: 4 plies"})
        await until(lambda: {p.plugins[0].value for p in service.state.players()} == {4.0})
        (first, _), *_ = ((p.plugins[0].name, p.plugins[0].note) for p in service.state.players())
        assert first == "figure"


async def test_of_many_alerts_the_first_are_shown_and_the_log_counts_them(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(plugin: InstalledPlugin, arguments: tuple[Any, ...]) -> Any:
        return [PluginAlert(key=str(each), text="watch") for each in range(21)]

    async with plugged(monkeypatch, answer, ALERTS) as (service, _):
        await until(lambda: len(service.alerts()) == 40)
        assert "plugin watch: the first 20 of 21 alerts" in caplog.text


async def test_what_plugins_say_is_one_line_of_visible_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hostile = "\x1b[2Jgone\nERROR \u202eforged"

    def answer(plugin: InstalledPlugin, arguments: tuple[Any, ...]) -> Any:
        if plugin is ALERTS:
            return [PluginAlert(key="n", text=hostile, advice=hostile)]
        return (PluginFigure(value=1.0, note=hostile),)

    async with plugged(monkeypatch, answer, ALERTS, METHOD) as (service, _):
        await until(lambda: len(service.alerts()) == 2)
        await until(lambda: all(each.plugins for each in service.state.players()))
        alert, player = service.alerts()[0], next(iter(service.state.players()))
        assert (alert.text, alert.advice) == ("watch: gone ERROR forged", "gone ERROR forged")
        assert player.plugins[0].note == "gone ERROR forged"


async def test_figures_for_everybody_rest_on_nothing_that_arbiters_alone_see(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []

    def answer(plugin: InstalledPlugin, arguments: tuple[Any, ...]) -> Any:
        seen.extend((arguments[0], *arguments[1]))
        return (None,)

    def marked(value: Any, visibility: Visibility) -> Any:
        return (visibility, value)

    monkeypatch.setattr(plugin_service, "shown", marked)
    async with plugged(monkeypatch, answer, METHOD):
        await until(lambda: len(seen) == 8)
    assert {visibility for visibility, _ in seen} == {Visibility.PUBLIC}


async def test_a_board_that_a_plugin_cannot_bear_costs_the_others_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answer(plugin: InstalledPlugin, arguments: tuple[Any, ...]) -> Any:
        asked.append(arguments[0].white.name)
        if arguments[0].white.name == "W1":
            raise PluginFailure("raised ValueError")
        return by_plies(plugin, arguments)

    async with plugged(monkeypatch, answer, ALERTS) as (service, _):
        await until(lambda: len(service.alerts()) == 1)
        assert asked.count("W1") == 1


async def test_one_that_is_switched_off_is_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def answer(plugin: InstalledPlugin, arguments: tuple[Any, ...]) -> Any:
        asked.append(1)
        raise PluginFailure("raised ValueError")

    async with plugged(monkeypatch, answer, ALERTS) as (service, made):
        for moves in range(4, 12):
            await service.take(report(moves))
            seen = len(asked)
            if made._processes[0].off:
                break
            await until(lambda seen=seen: len(asked) > seen)  # type: ignore[misc]
        await until(lambda: made._processes[0].off)
        await service.take(report(20))
        await turns(50)
        assert len(asked) == MOST_FAILURES


async def test_a_download_is_what_who_asks_may_see(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(plugin: InstalledPlugin, arguments: tuple[Any, ...]) -> Any:
        (event,) = arguments
        assert isinstance(event, SnapshotMessage)
        if not event.games:
            raise PluginFailure("raised ValueError")
        return ",".join(game.white.name for game in event.games).encode()

    async with plugged(monkeypatch, answer, EXPORT) as (service, made):
        assert list(made.exports) == ["table"]
        event = snapshot(service.state)
        file = await made.exports["table"](event)
        assert (file.media_type, file.body) == ("text/csv", b"W1,W2")
        with pytest.raises(ExportFailed, match="the plugin raised ValueError"):
            await made.exports["table"](SnapshotMessage(event.engine, (), (), (), event.engines))


async def test_names_wait_once_each_in_the_order_of_coming() -> None:
    names = WaitingNames()
    names.add(["a", "b"])
    names.add(["a", "c"])
    names.add([])
    assert [await names.get() for _ in range(3)] == ["a", "b", "c"]
    waiting = asyncio.ensure_future(names.get())
    await asyncio.sleep(0)
    assert not waiting.done()
    names.add(["d"])
    assert await waiting == "d"


def test_the_address_names_the_plugin() -> None:
    sheets = InstalledPlugin("live_rate.feeds", "sheets", "a:P", "a 1.0")
    plugins = plugin_feeds([sheets, ALERTS])
    made = open_feed("plugin+sheets:a/b?x=1", FeedsConfig(), plugins=plugins)
    assert made.name == "plugin+sheets:a/b?x=1"
    secret = open_feed("plugin+sheets:https://u:pw@x.org/?token=s", FeedsConfig(), plugins=plugins)
    assert "pw" not in secret.name and "token=s" not in secret.name
    with pytest.raises(UnknownFeed, match=r"no plugin watch for sources is in use\. Install it"):
        open_feed("plugin+watch", FeedsConfig(), plugins=plugins)
    with pytest.raises(UnknownFeed, match="plugins are not in use here"):
        open_feed("plugin+sheets", FeedsConfig())
