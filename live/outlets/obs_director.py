"""Switching of scenes in OBS Studio, by obs-websocket 5
(github.com/obsproject/obs-websocket, docs/generated/protocol.md).

The rules are pure: changes come in, and one switch of scene goes out. Nothing that was
already true when the service began causes a switch. A scene stays on air for a minimum
time. Anyone who switches by hand is assumed to be the producer, and the director then
switches nothing for a while. The director receives only what viewers are allowed to
know.

While OBS is not connected nothing is queued. A moment is dropped after a minute.
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Collection, Iterable
from typing import Any, NamedTuple

from live.messages.figures import GameView
from live.messages.health import DIRECTOR, HealthReport, part_health
from live.messages.moments import Moment
from live.messages.to_clients import Change, GoneMessage, MomentMessage, MoveMessage
from live.messages.values import GameId
from live.outlets.notices import LEAST_WEIGHT, KnownGames
from live.outlets.optional_libraries import import_library
from live.process.backoff import generate_backoff_s
from live.process.clock import ReadClock
from live.settings import DirectorConfig
from live.user_files import read_file_of_setting

log = logging.getLogger(__name__)

#: Interval at which the director checks whether to switch scenes, seconds.
CHECK_S = 0.5
#: Longest time for OBS to answer, seconds.
TIMEOUT_S = 10
#: Time after which a moment that was not shown is dropped, seconds.
FRESH_S = 60.0
#: Time after which the director returns to the home scene if no moment is waiting,
#: seconds.
HOLD_S = 60.0
#: Time without automatic switches after somebody switched by hand, seconds.
PAUSE_S = 300.0


class SwitchScene(NamedTuple):
    """Instruction to put this scene on air."""

    scene: str
    reason: str


class SceneChoice:
    """Rules for when to switch, and to which scene. No call blocks."""

    def __init__(self, rules: DirectorConfig) -> None:
        self._rules = rules
        self._games = KnownGames()
        # Each moment, by its id, with the time at which it was first reported.
        self._moments: dict[str, tuple[Moment, float]] = {}
        self._scene: str | None = None
        self._since_s = float("-inf")
        self._paused_until_s = float("-inf")
        self._scenes: frozenset[str] | None = None

    def set_known(self, games: Iterable[GameView], moments: Iterable[Moment]) -> None:
        """Set the games and moments known at the start, which cause no switch."""
        self._games = KnownGames(games, moments)
        self._moments.clear()

    def apply_changes(self, changes: Iterable[Change], now_s: float) -> None:
        """Apply changes that viewers are allowed to know."""
        for change in changes:
            self._games.apply_change(change)
            match change:
                case GoneMessage(game=game):
                    self._drop_moments(game, 0)
                case MoveMessage(game=game, ply=ply):
                    self._drop_moments(game, ply)
                case MomentMessage(moment=moment, holds=holds):
                    self._update_moment(moment, holds, now_s)

    def _drop_moments(self, game: GameId, ply: int) -> None:
        """Drop the moments of a game from a ply on, because their moves were taken back
        or replaced.
        """
        for id, (moment, _) in list(self._moments.items()):
            if moment.game == game and moment.ply >= ply:
                del self._moments[id]

    def _update_moment(self, moment: Moment, holds: bool, now_s: float) -> None:
        """Add, update or drop a moment, which is sent again whenever its figures
        change.
        """
        before = self._moments.pop(moment.id, None)
        game = self._games.get(moment.game)
        kinds = self._rules.kinds
        if not holds or game is None or (kinds and moment.kind not in kinds):
            return
        if before is not None and moment.weight >= LEAST_WEIGHT:
            self._moments[moment.id] = (moment, before[1])
        elif game.mark_if_news(moment):
            self._moments[moment.id] = (moment, now_s)

    def set_scenes(self, scene_names: Collection[str]) -> None:
        """Set the existing scenes; the director never switches to another."""
        self._scenes = frozenset(scene_names)

    def on_scene_switched(self, scene: str, now_s: float) -> None:
        """Record the scene on air; pause if the producer switched to it by hand."""
        if self._scene is not None and scene != self._scene:
            self._paused_until_s = now_s + PAUSE_S
        self.record_switch(scene, now_s)

    def record_switch(self, scene: str, now_s: float) -> None:
        """Record that a switch to this scene was requested."""
        self._scene = scene
        self._since_s = now_s

    def _has_scene(self, scene: str) -> bool:
        return self._scenes is None or scene in self._scenes

    def choose_switch(self, now_s: float) -> SwitchScene | None:
        """Return the switch that is due now, or None."""
        self._moments = {
            id: dated_moment
            for id, dated_moment in self._moments.items()
            if now_s - dated_moment[1] < FRESH_S
        }
        on_air_s = now_s - self._since_s
        if now_s < self._paused_until_s or on_air_s < self._rules.stay_s:
            return None
        due = []
        for id, (moment, _) in self._moments.items():
            board = self._games[moment.game].view.board
            scene = self._rules.scene.replace("{board}", str(board))
            if board is not None and scene != self._scene and self._has_scene(scene):
                due.append((moment.weight, id, scene, moment.text.en))
        if due:
            _, id, scene, reason = max(due)
            del self._moments[id]
            return SwitchScene(scene, reason)
        home = self._rules.home_scene
        if (
            home
            and self._has_scene(home)
            and self._scene != home
            and on_air_s >= HOLD_S
        ):
            return SwitchScene(home, "nothing else to show")
        return None


class ObsDirector:
    """Switches the scenes of one OBS.

    :meth:`run` must be running, and :meth:`publish` must be called with every change
    that viewers are allowed to know.
    """

    def __init__(
        self,
        config: DirectorConfig,
        *,
        clock: ReadClock = time.monotonic,
        report: HealthReport,
    ) -> None:
        """Read the file with the password.

        Raises:
            ConfigError: the file cannot be read, or simpleobsws is not installed.
        """
        self._config = config
        self._clock = clock
        self._report = report
        self._password = ""
        if secret := config.password_file:
            text = read_file_of_setting("director.password_file", secret)
            self._password = text.strip()
        self.choice = SceneChoice(config)
        self._library = import_library("simpleobsws", "director.url")

    def publish(self, changes: Iterable[Change]) -> None:
        """Apply changes that viewers are allowed to know, without blocking."""
        self.choice.apply_changes(changes, self._clock())

    async def run(self) -> None:
        """Switch scenes until cancelled; reconnect whenever the connection is lost."""
        delays = generate_backoff_s(random.random)
        while True:
            try:
                async with self._open_client() as client:
                    delays = generate_backoff_s(random.random)
                    self._report(part_health(DIRECTOR, "live"))
                    while client.ws_open:
                        await self.switch_if_due(client)
                        await asyncio.sleep(CHECK_S)
                problem = "OBS has closed the connection"
            except Exception as error:
                # All exceptions are caught: they come from a websocket library and from
                # another program, and all are reported in the same way.
                problem = f"OBS cannot be reached: {error or type(error).__name__}"
            self._report(part_health(DIRECTOR, "retrying", problem))
            await self._wait_for_retry(next(delays))

    async def _wait_for_retry(self, delay_s: float) -> None:
        """Wait until the next attempt to reach OBS. A dry run reports its switches
        meanwhile.
        """
        if not self._config.dry_run:
            await asyncio.sleep(delay_s)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                while True:
                    await self.switch_if_due(None)
                    await asyncio.sleep(CHECK_S)

    async def switch_if_due(self, client: Any) -> None:
        """Switch scenes if a switch is due. A dry run needs no client."""
        due = self.choice.choose_switch(self._clock())
        if due is None:
            return
        # Recorded before the request, because OBS reports the switch in an event before
        # it answers the request.
        self.choice.record_switch(due.scene, self._clock())
        if self._config.dry_run:
            log.warning(
                "director, dry run: would switch to %s: %s", due.scene, due.reason
            )
            return
        log.info("director: switches to %s: %s", due.scene, due.reason)
        await self._request(client, "SetCurrentProgramScene", {"sceneName": due.scene})

    @contextlib.asynccontextmanager
    async def _open_client(self) -> AsyncIterator[Any]:
        client = self._library.WebSocketClient(
            url=self._config.url, password=self._password
        )

        async def take_switch(data: dict[str, Any]) -> None:
            if not self._config.dry_run:
                self.choice.on_scene_switched(
                    str(data.get("sceneName", "")), self._clock()
                )

        async def take_scenes(data: dict[str, Any]) -> None:
            self.choice.set_scenes(
                [str(scene["sceneName"]) for scene in data.get("scenes", [])]
            )

        client.register_event_callback(take_switch, "CurrentProgramSceneChanged")
        client.register_event_callback(take_scenes, "SceneListChanged")
        async with asyncio.timeout(TIMEOUT_S):
            await client.connect()
        try:
            if not await client.wait_until_identified(TIMEOUT_S):
                raise ConnectionError("it does not accept the password")
            scenes = await self._request(client, "GetSceneList")
            await take_scenes(scenes)
            self.choice.record_switch(
                str(scenes.get("currentProgramSceneName", "")), self._clock()
            )
            yield client
        finally:
            await client.disconnect()

    async def _request(
        self, client: Any, request_type: str, about: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        answer = await client.call(
            self._library.Request(request_type, about), timeout=TIMEOUT_S
        )
        if not answer.ok():
            raise ConnectionError(
                f"{request_type}: {answer.requestStatus.comment or 'refused'}"
            )
        return dict(answer.responseData or {})
