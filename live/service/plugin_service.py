"""The plugins of a running service: who is asked what, when, and where the answers go.

Part of the composition root.
"""

import asyncio
import contextlib
import itertools
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial

import msgspec

from live.alerts.finding import Finding
from live.clock import LOOP_CLOCK, Clock
from live.errors import UnknownFeed
from live.events import (
    Change,
    ClockMessage,
    GameId,
    GameMessage,
    MoveMessage,
    PluginFigure,
    ScoreMessage,
    SnapshotMessage,
)
from live.feeds.feed import Feed, FeedConditions
from live.feeds.file_feed import TextFeed
from live.feeds.open_feed import PluginFeeds
from live.feeds.pgn_headers import clean
from live.feeds.retry import FeedTrouble
from live.feeds.source_address import FeedAddress
from live.plugins.interface import MOST_TEXT, PluginAlert
from live.plugins.plugin_process import (
    MOST_ALERTS,
    PAUSE_S,
    InstalledPlugin,
    PluginFailure,
    PluginProcess,
)
from live.publish.answers import ExportedFile, ExportFailed
from live.publish.published_state import game_of
from live.publish.visibility import Visibility, shown
from live.service.event_service import EventService

log = logging.getLogger(__name__)

#: After a failure, doubled with each in a row.
FAILED_S = 1.0


def plugin_feeds(plugins: Sequence[InstalledPlugin]) -> PluginFeeds:
    """What opens the sources of these plugins."""
    known = {each.name: each for each in plugins if each.kind == "feeds"}

    def opened(source: FeedAddress, conditions: FeedConditions) -> Feed:
        """Raises UnknownFeed where no plugin in use has that name."""
        name, _, address = source.target.partition(":")
        if name not in known:
            raise UnknownFeed(
                f'--feed "{source.name}"',
                f"no plugin {name} for sources is in use",
                "Install it and name it in [plugins] use; live-rate plugins lists them",
            )
        process = PluginProcess(known[name])
        return TextFeed(source.name, partial(_texts, process, address), conditions)

    return opened


async def _texts(process: PluginProcess, address: str) -> AsyncGenerator[str | None, None]:
    """What the plugin gives, in a process that does not outlive it."""
    try:
        async with contextlib.aclosing(process.values(address)) as values:
            async for text in values:
                yield text
    except PluginFailure as failure:
        raise FeedTrouble(f"the plugin {failure}") from failure
    finally:
        await process.close()


class WaitingNames(asyncio.Queue[str]):
    """What a plugin has to look at again, each once, the longest waiting first.

    Loss policy: news of one name becomes one look; the bound is the names there are.
    """

    def _init(self, maxsize: int) -> None:
        self._queue: dict[str, None] = {}

    def _put(self, item: str) -> None:
        self._queue[item] = None

    def _get(self) -> str:
        name = next(iter(self._queue))
        del self._queue[name]
        return name

    def add(self, names: Iterable[str]) -> None:
        """These have to be looked at."""
        for name in names:
            self.put_nowait(name)


class PluginService:
    """All plugins but those of sources, which :func:`plugin_feeds` opens."""

    def __init__(
        self,
        plugins: Sequence[InstalledPlugin],
        service: EventService,
        *,
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        self._service = service
        self._clock = clock
        kinds: dict[str, list[PluginProcess]] = defaultdict(list)
        for each in plugins:
            if each.kind != "feeds":
                process = PluginProcess(each, service.health, clock=self._clock)
                kinds[each.kind].append(process)
        self._processes = [*itertools.chain(*kinds.values())]
        self._boards = {each: WaitingNames() for each in kinds["alerts"]}
        self._players = {each: WaitingNames() for each in kinds["methods"]}
        self.exports = {each.plugin.name: partial(self._export, each) for each in kinds["exports"]}
        """What makes downloads of the event, by name."""
        if self._boards:
            service.arbiter.await_plugins()

    def parts(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """What has to run, by name."""
        looks = ((self._boards, self._board), (self._players, self._player))
        return {
            each.part: partial(self._keep, each, names, look)
            for waiting, look in looks
            for each, names in waiting.items()
        }

    def published(self, changes: Iterable[Change]) -> None:
        """What has changed has to be looked at."""
        for_good = GameMessage | MoveMessage | ClockMessage
        games = (
            game_of(each)
            for each in changes
            if isinstance(each, for_good) or (isinstance(each, ScoreMessage) and each.ply.final)
        )
        self._look(dict.fromkeys(filter(None, games)))

    def _look(self, games: Iterable[GameId]) -> None:
        held = list(games)
        for boards in self._boards.values():
            boards.add(held)
        for players in self._players.values():
            for game in held:
                players.add(self._service.state.player_ids(game))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look at all that is held; no process of a plugin is left behind after the block."""
        self._look(view.id for view in self._service.state.games())
        try:
            yield
        finally:
            for process in self._processes:
                await process.close()

    # --- what plugins answer ----------------------------------------------------------------------

    async def _keep(
        self,
        process: PluginProcess,
        names: WaitingNames,
        look: Callable[[PluginProcess, str], Awaitable[None]],
    ) -> None:
        while True:
            name = await names.get()
            try:
                await look(process, name)
            except PluginFailure:
                # It has been reported. What it did not answer is asked for again with its next
                # change: it may be the one thing that the plugin cannot bear.
                if process.off:
                    await asyncio.Event().wait()
                await self._clock.sleep(FAILED_S * 2**process.failures)
            await self._clock.sleep(PAUSE_S)

    async def _board(self, process: PluginProcess, game: GameId) -> None:
        detail = self._service.state.game(game)
        if detail is None:
            return
        name = process.plugin.name
        found = await process.ask((detail,), list[PluginAlert])
        if len(found) > MOST_ALERTS:
            log.warning(
                "%s: the first %d of %d alerts of one board are shown",
                *(process.part, MOST_ALERTS, len(found)),
            )
        findings = [_finding(name, game, each) for each in found[:MOST_ALERTS]]
        self._service.arbiter.noticed(name, game, findings)

    async def _player(self, process: PluginProcess, player: str) -> None:
        state = self._service.state
        view = next((each for each in state.players() if each.id == player), None)
        if view is None:
            return
        ids = [each.id for each in state.games() if player in state.player_ids(each.id)]
        # The figure is for everybody, so what is for arbiters alone does not enter into it.
        details = (detail for id in ids if (detail := state.game(id)) is not None)
        games = tuple(shown(detail, Visibility.PUBLIC) for detail in details)
        known = (shown(view, Visibility.PUBLIC), games)
        (figure,) = await process.ask(known, tuple[PluginFigure | None])
        if figure is not None:
            figure = msgspec.structs.replace(figure, note=clean(figure.note, MOST_TEXT))
        state.plugin_figure(player, process.plugin.name, figure)

    # --- downloads --------------------------------------------------------------------------------

    async def _export(self, process: PluginProcess, event: SnapshotMessage) -> ExportedFile:
        """The event as this plugin writes it.

        Raises:
            ExportFailed: it did not.
        """
        try:
            body = await process.ask((event,), bytes)
        except PluginFailure as failure:
            raise ExportFailed(f"the plugin {failure}") from failure
        return ExportedFile(process.about or "application/octet-stream", body)


def _finding(plugin: str, game: GameId, alert: PluginAlert) -> Finding:
    return Finding(
        kind="plugin",
        severity=alert.severity,
        text=f"{plugin}: {clean(alert.text, MOST_TEXT)}",
        advice=clean(alert.advice, MOST_TEXT),
        game=game,
        ply=alert.ply,
        color=alert.color,
        about=f"{game} {plugin} {alert.key}",
    )
