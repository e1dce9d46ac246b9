"""Switches scenes of OBS Studio by obs-websocket 5 (github.com/obsproject/obs-websocket,
docs/generated/protocol.md): the shell around :mod:`live.producer.scene_choice`.

It is given what viewers may know, and nothing else. Loss policy: while OBS is away nothing is kept;
a moment that is a minute old is none any more.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any, Final

from live.config import DirectorConfig, named_text
from live.errors import ConfigError
from live.events import DIRECTOR, Change, FeedHealth
from live.network.retry import backoff
from live.producer.scene_choice import SceneChoice

log = logging.getLogger(__name__)

#: How often it looks whether a scene is to be switched, seconds.
LOOK_S: Final = 0.5
#: For OBS to answer, seconds.
TIMEOUT_S: Final = 10


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
        self._stop_file = Path(config.stop_file).expanduser() if config.stop_file else None
        self.choice = SceneChoice(config)
        _library()

    def publish(self, changes: Iterable[Change]) -> None:
        """Changes that the public may know. Cheap and synchronous."""
        self.choice.heard(changes, self._clock())

    @property
    def stopped(self) -> bool:
        """Whether somebody made the file that stops it."""
        return self._stop_file is not None and self._stop_file.exists()

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
        if not self._config.dry_run:
            await asyncio.sleep(delay_s)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                while True:
                    await self.look(None)
                    await asyncio.sleep(LOOK_S)

    async def look(self, client: Any) -> None:
        """Switch, if a switch is due. A dry run needs no client."""
        # Nothing is asked for while it is stopped: what is on air then is what OBS says.
        due = None if self.stopped else self.choice.next(self._clock())
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
