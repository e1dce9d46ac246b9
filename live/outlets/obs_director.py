"""Switches scenes of OBS Studio by obs-websocket 5 (github.com/obsproject/obs-websocket,
docs/generated/protocol.md).

Which scene is on air is pure: moments in, at most one switch out. A scene stays for a least time.
Whoever switches by hand is the producer: then nothing is switched for a while. The director is
given what viewers may know, and nothing else. Loss policy: while OBS is away nothing is kept; a
moment that is a minute old is none any more.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from typing import Any, NamedTuple

from live.config import DirectorConfig, named_text
from live.errors import ConfigError
from live.events import (
    DIRECTOR,
    Change,
    FeedHealth,
    GameId,
    GameView,
    GoneMessage,
    Moment,
    MomentMessage,
    MoveMessage,
)
from live.feeds.retry import backoff
from live.outlets.notifier import LEAST_WEIGHT, KnownGames

log = logging.getLogger(__name__)

#: How often it looks whether a scene is to be switched, seconds.
LOOK_S = 0.5
#: For OBS to answer, seconds.
TIMEOUT_S = 10
#: A moment that was not shown within so long is none any more, seconds.
FRESH_S = 60.0
#: After so long a scene goes home, where nothing else is worth telling, seconds.
HOLD_S = 60.0
#: Somebody who switches by hand is left alone for so long, seconds.
PAUSE_S = 300.0


class SwitchScene(NamedTuple):
    """Put this scene on air."""

    scene: str
    why: str


class SceneChoice:
    """One writer calls; nothing waits."""

    def __init__(self, rules: DirectorConfig) -> None:
        self._rules = rules
        self._games = KnownGames()
        # By id, each with the time since when it is known.
        self._moments: dict[str, tuple[Moment, float]] = {}
        self._scene: str | None = None
        self._since_s = float("-inf")
        self._paused_until_s = float("-inf")
        self._scenes: frozenset[str] | None = None

    def begin(self, games: Iterable[GameView], moments: Iterable[Moment]) -> None:
        """These are known already: nothing of them is switched to."""
        self._games = KnownGames(games, moments)

    def heard(self, changes: Iterable[Change], now_s: float) -> None:
        """Take note of what viewers may know."""
        for change in changes:
            self._games.follow(change)
            match change:
                case GoneMessage(game=game):
                    self._drop(game, 0)
                case MoveMessage(game=game, ply=ply):
                    self._drop(game, ply)
                case MomentMessage(moment=moment, holds=holds):
                    self._take(moment, holds, now_s)

    def _drop(self, game: GameId, ply: int) -> None:
        """Moments of a game from a ply on have not happened."""
        for id, (moment, _) in list(self._moments.items()):
            if moment.game == game and moment.ply >= ply:
                del self._moments[id]

    def _take(self, moment: Moment, holds: bool, now_s: float) -> None:
        """A moment is sent again whenever its figures change."""
        before, known = self._moments.pop(moment.id, None), self._games.get(moment.game)
        kinds = self._rules.kinds
        if not holds or known is None or (kinds and moment.kind not in kinds):
            return
        if before is not None and moment.weight >= LEAST_WEIGHT:
            self._moments[moment.id] = (moment, before[1])
        elif known.is_news(moment):
            self._moments[moment.id] = (moment, now_s)

    def scenes(self, known: Collection[str]) -> None:
        """The scenes there are; no other is ever asked for."""
        self._scenes = frozenset(known)

    def on_air(self, scene: str, now_s: float) -> None:
        """This scene is on air. Where it is not the one that was asked for, somebody switched by
        hand.
        """
        if self._scene is not None and scene != self._scene:
            self._paused_until_s = now_s + PAUSE_S
        self._scene, self._since_s = scene, now_s

    def asked(self, scene: str, now_s: float) -> None:
        """A switch to this scene was asked for."""
        self._scene, self._since_s = scene, now_s

    def _is_there(self, scene: str) -> bool:
        return self._scenes is None or scene in self._scenes

    def next(self, now_s: float) -> SwitchScene | None:
        """What is to be done now, if anything."""
        self._moments = {
            id: each for id, each in self._moments.items() if now_s - each[1] < FRESH_S
        }
        on_air_s = now_s - self._since_s
        if now_s < self._paused_until_s or on_air_s < self._rules.stay_s:
            return None
        due = []
        for id, (moment, _) in self._moments.items():
            board = self._games[moment.game].view.board
            scene = self._rules.scene.replace("{board}", str(board))
            if board is not None and scene != self._scene and self._is_there(scene):
                due.append((moment.weight, id, scene, moment.text.en))
        if due:
            _, id, scene, why = max(due)
            del self._moments[id]
            return SwitchScene(scene, why)
        home = self._rules.home_scene
        if home and self._is_there(home) and self._scene != home and on_air_s >= HOLD_S:
            return SwitchScene(home, "nothing else is worth telling")
        return None


class ObsDirector:
    """One OBS. ``run`` it, and give it every change that the public may know."""

    def __init__(
        self,
        config: DirectorConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
        report: Callable[[FeedHealth], None] = lambda health: None,
    ) -> None:
        """Reads the file that holds the password.

        Raises:
            ConfigError: it cannot be read, or simpleobsws is not installed.
        """
        self._config = config
        self._clock = clock
        self._chance = chance
        self._report = report
        secret = config.password_file
        self._password = named_text("director.password_file", secret).strip() if secret else ""
        self.choice = SceneChoice(config)
        _library()

    def publish(self, changes: Iterable[Change]) -> None:
        """Changes that the public may know. Cheap and synchronous."""
        self.choice.heard(changes, self._clock())

    async def run(self) -> None:
        """Switch scenes until cancelled; come back after every loss."""
        delays = backoff(self._chance)
        while True:
            try:
                async with self._connected() as client:
                    delays = backoff(self._chance)
                    self._report(FeedHealth(DIRECTOR, "live", part=True))
                    while client.ws_open:
                        await self.look(client)
                        await asyncio.sleep(LOOK_S)
                problem = "OBS has closed the connection"
            except Exception as error:
                # Broad: a library of websockets and a program of others; all ends are told alike.
                problem = f"OBS cannot be reached: {error or type(error).__name__}"
            self._report(FeedHealth(DIRECTOR, "retrying", problem, part=True))
            await self._wait(next(delays))

    async def _wait(self, delay_s: float) -> None:
        """Until OBS is tried again; what a dry run would switch it says meanwhile."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                while True:
                    if self._config.dry_run:
                        await self.look(None)
                    await asyncio.sleep(LOOK_S)

    async def look(self, client: Any) -> None:
        """Switch, if a switch is due. A dry run needs no client."""
        due = self.choice.next(self._clock())
        if due is None:
            return
        # Before the answer: OBS sends its event first.
        self.choice.asked(due.scene, self._clock())
        if self._config.dry_run:
            log.warning("director, dry run: would switch to %s: %s", due.scene, due.why)
            return
        log.info("director: switches to %s: %s", due.scene, due.why)
        await _asked(client, "SetCurrentProgramScene", {"sceneName": due.scene})

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        library = _library()
        client = library.WebSocketClient(url=self._config.url, password=self._password)

        async def switched(data: dict[str, Any]) -> None:
            if not self._config.dry_run:
                self.choice.on_air(str(data.get("sceneName", "")), self._clock())

        async def listed(data: dict[str, Any]) -> None:
            self.choice.scenes([str(each["sceneName"]) for each in data.get("scenes", [])])

        client.register_event_callback(switched, "CurrentProgramSceneChanged")
        client.register_event_callback(listed, "SceneListChanged")
        async with asyncio.timeout(TIMEOUT_S):
            await client.connect()
        try:
            if not await client.wait_until_identified(TIMEOUT_S):
                raise ConnectionError("it does not accept the password")
            scenes = await _asked(client, "GetSceneList")
            await listed(scenes)
            self.choice.asked(str(scenes.get("currentProgramSceneName", "")), self._clock())
            yield client
        finally:
            await client.disconnect()


async def _asked(client: Any, what: str, about: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = await client.call(_library().Request(what, about), timeout=TIMEOUT_S)
    if not answer.ok():
        raise ConnectionError(f"{what}: {answer.requestStatus.comment or 'refused'}")
    return dict(answer.responseData or {})


def _library() -> Any:
    try:
        import simpleobsws
    except ImportError:
        raise ConfigError(
            "director.url", "needs the library simpleobsws", "pip install 'live-rate[producer]'"
        ) from None
    return simpleobsws
