"""Scenes: at most one switch, never against the producer, and OBS as a server of
obs-websocket 5, by its published protocol.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from live.config import DirectorConfig
from live.messages.figures import view_of
from live.messages.health import FeedHealth
from live.messages.to_clients import (
    Change,
    GameMessage,
    GoneMessage,
    MomentMessage,
    MoveMessage,
)
from live.outlets.obs_director import FRESH_S, ObsDirector, SceneChoice
from live.process.supervision import run_in_background
from tests.server.world import Clock
from tests.sources.fakes import until
from tests.watch.games import game, moment

PASSWORD, SALT, CHALLENGE = (
    "secret",
    "lM1GncleQOaCu9lT1yeUZhFYnqhsLLP1G5lAGo3ixaI=",
    "+IxH4CnCiqpX",
)
#: To these, as the protocol has it: two rounds of SHA-256 in base64.
ANSWER = "mh8Wo1JL4jlU0bd7+Vq1JiJ2FB7Vbs/Oo1ptwl71R1k="


class Obs:
    """Scenes, and whoever is connected."""

    def __init__(self) -> None:
        self.scenes = ["Wide", "Board 1", "Board 2"]
        self.on_air = "Wide"
        self.requests: list[str] = []
        self.url = ""
        self._clients: set[ServerConnection] = set()

    async def talk(self, client: ServerConnection) -> None:
        authentication = {"challenge": CHALLENGE, "salt": SALT}
        hello = {
            "obsWebSocketVersion": "5.5.2",
            "rpcVersion": 1,
            "authentication": authentication,
        }
        await self._send(client, 0, hello)
        identify = msgpack.unpackb(await client.recv())
        assert identify["op"] == 1
        if identify["d"].get("authentication") != ANSWER:
            await client.close(4009, "Authentication failed.")
            return
        await self._send(client, 2, {"negotiatedRpcVersion": 1})
        self._clients.add(client)
        with contextlib.suppress(Exception):
            async for message in client:
                await self._request(client, msgpack.unpackb(message)["d"])
        self._clients.discard(client)

    async def _request(self, client: ServerConnection, asked: dict[str, Any]) -> None:
        kind = asked["requestType"]
        self.requests.append(kind)
        status: dict[str, Any] = {"result": True, "code": 100}
        data: dict[str, Any] = {}
        if kind == "GetSceneList":
            scenes = [{"sceneName": name} for name in self.scenes]
            data = {"currentProgramSceneName": self.on_air, "scenes": scenes}
        else:
            wanted = asked["requestData"]["sceneName"]
            if wanted in self.scenes:
                await self.switch(wanted)
            else:
                status = {
                    "result": False,
                    "code": 600,
                    "comment": "No source was found.",
                }
        said = {
            "requestType": kind,
            "requestId": asked["requestId"],
            "requestStatus": status,
        }
        await self._send(client, 7, {**said, "responseData": data})

    async def switch(self, scene: str) -> None:
        self.on_air = scene
        event = {"eventType": "CurrentProgramSceneChanged", "eventIntent": 4}
        for client in list(self._clients):
            await self._send(client, 5, {**event, "eventData": {"sceneName": scene}})

    @staticmethod
    async def _send(client: ServerConnection, op: int, data: dict[str, Any]) -> None:
        await client.send(msgpack.packb({"op": op, "d": data}))


@contextlib.asynccontextmanager
async def obs() -> AsyncIterator[Obs]:
    made = Obs()
    protocols = [Subprotocol("obswebsocket.msgpack")]
    async with serve(made.talk, "127.0.0.1", 0, subprotocols=protocols) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        made.url = f"ws://127.0.0.1:{port}"
        yield made


def director(url: str, folder: Path, clock: Clock, **rules: Any) -> ObsDirector:
    secret = folder / "password"
    secret.write_text(rules.pop("password", PASSWORD) + "\n")
    config = DirectorConfig(
        url=url, password_file=str(secret), **{"dry_run": False, **rules}
    )
    made = ObsDirector(config, clock=clock, report=print)
    made.publish([GameMessage(view_of(game(id=f"g{n}", board=n))) for n in (1, 2)])
    return made


async def test_a_moment_puts_its_board_on_air(tmp_path: Path) -> None:
    clock = Clock()
    async with obs() as server, asyncio.timeout(60):
        made = director(server.url, tmp_path, clock)
        async with made._open_client() as client:
            made.publish([MomentMessage("g1", moment("g1"))])
            await made.switch_if_due(client)
            assert server.on_air == "Wide"
            clock.now_s = 1021.0
            await made.switch_if_due(client)
            assert server.on_air == "Board 1"
            # What OBS says of our own switch is no hand on the mixer.
            made.publish([MomentMessage("g2", moment("g2"))])
            clock.now_s = 1042.0
            await made.switch_if_due(client)
            assert server.on_air == "Board 2"
            # A hand is left alone. The answer comes after the event, on the same
            # connection.
            clock.now_s = 1050.0
            await server.switch("Wide")
            await client.call(__import__("simpleobsws").Request("GetSceneList"))
            made.publish([MomentMessage("g1", moment("g1", 2))])
            clock.now_s = 1080.0
            await made.switch_if_due(client)
            assert server.on_air == "Wide"
    asked = ["GetSceneList", *["SetCurrentProgramScene"] * 2, "GetSceneList"]
    assert server.requests == asked


async def test_a_dry_run_needs_no_obs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with obs() as server:
        gone = server.url
    clock = Clock()
    made = director(gone, tmp_path, clock, dry_run=True)
    made.publish([MomentMessage("g1", moment("g1"))])
    said = "director, dry run: would switch to Board 1: It happened (en)."
    async with run_in_background(made.run(), "director"):
        await until(lambda: said in caplog.messages)


@pytest.mark.whole
async def test_a_wrong_password_is_told_and_tried_again(tmp_path: Path) -> None:
    told: list[FeedHealth] = []
    async with obs() as server:
        made = director(server.url, tmp_path, Clock(), password="wrong")
        made._report = told.append
        async with run_in_background(made.run(), "director"):
            await until(lambda: bool(told))
    assert (told[0].feed, told[0].state, told[0].part) == ("director", "retrying", True)
    assert server.on_air == "Wide"


def choice(**rules: Any) -> SceneChoice:
    made = SceneChoice(DirectorConfig(**{"url": "ws://obs", **rules}))
    made.apply_changes(
        [GameMessage(view_of(game(id=f"g{n}", board=n))) for n in (1, 2, 3)], 0.0
    )
    made.set_scenes(["Wide", "Board 1", "Board 2"])
    made.record_switch("Wide", 0.0)
    return made


def tell(board: int, weight: float = 0.8, ply: int = 1) -> Change:
    return MomentMessage(f"g{board}", moment(f"g{board}", ply, weight=weight))


SHOWN = GameMessage(view_of(game(id="g1", board=1)))
UNSEEN = MomentMessage("g1", moment("g1", at_s=None))
WITHDRAWN = MomentMessage("g1", moment("g1"), holds=False)


@pytest.mark.parametrize(
    ("rules", "steps"),
    [
        # Once, after the least time on air.
        ({}, [(5, tell(1)), (10, None), (21, "Board 1"), (22, tell(1)), (50, None)]),
        # What matters more comes first, and what is old not at all.
        (
            {},
            [(20, tell(1, 0.7)), (21, tell(2, 0.9)), (30, "Board 2"), (51, "Board 1")],
        ),
        ({}, [(60, tell(2)), (60 + FRESH_S, None)]),
        # What matters little, and other kinds.
        ({}, [(30, tell(1, 0.5)), (31, None)]),
        ({"kinds": ("comeback",)}, [(30, tell(1)), (31, None)]),
        # A scene that there is not.
        ({"home_scene": "Nowhere"}, [(30, tell(3)), (31, None), (500, None)]),
        # Home when nothing else is worth telling.
        (
            {"home_scene": "Wide"},
            [(25, tell(1)), (26, "Board 1"), (80, None), (87, "Wide"), (400, None)],
        ),
        # What is withdrawn, gone, taken back, or was seen by nobody.
        ({}, [(25, tell(1)), (26, WITHDRAWN), (28, None)]),
        ({}, [(26, tell(2)), (27, GoneMessage("g2")), (28, None)]),
        ({}, [(28, tell(2, ply=5)), (29, MoveMessage("g2", 5, None)), (60, None)]),
        ({}, [(28, tell(2, ply=5)), (29, MoveMessage("g2", 6, None)), (60, "Board 2")]),
        ({}, [(25, UNSEEN), (26, None)]),
        # Another game by that id has moments of its own.
        (
            {},
            [
                (25, tell(1)),
                (26, "Board 1"),
                (47, GoneMessage("g1")),
                (48, tell(2)),
                (49, "Board 2"),
                (70, SHOWN),
                (71, tell(1)),
                (72, "Board 1"),
            ],
        ),
        # Sent again with other figures it is as old as it was, and counts as it is now.
        (
            {},
            [
                (25, tell(1)),
                (50, tell(1, 0.9)),
                (51, tell(2, 0.85)),
                (52, "Board 1"),
                (75, "Board 2"),
                (95, tell(1, 0.7)),
                (100, None),
            ],
        ),
    ],
)
def test_what_is_switched_to(
    rules: dict[str, Any], steps: list[tuple[float, Any]]
) -> None:
    made = choice(**rules)
    for at_s, step in steps:
        if step is None or isinstance(step, str):
            assert scene(made, at_s) == step
        else:
            made.apply_changes([step], at_s)


def scene(made: SceneChoice, at_s: float) -> str | None:
    due = made.choose_switch(at_s)
    if due is None:
        return None
    made.record_switch(due.scene, at_s)
    return due.scene


def test_whoever_switches_by_hand_is_left_alone() -> None:
    made = choice()
    made.apply_changes([tell(1)], 30.0)
    # OBS says what we asked for: that is no hand.
    made.on_scene_switched("Wide", 30.0)
    made.on_scene_switched("Interview", 31.0)
    assert scene(made, 90.0) is None
    made.apply_changes([tell(2)], 330.0)
    assert scene(made, 332.0) == "Board 2"


def test_a_moment_from_before_the_start_switches_no_scene_when_it_changes() -> None:
    made = SceneChoice(DirectorConfig(url="ws://obs"))
    made.set_known([view_of(game(id="g1", board=1))], [moment("g1")])
    made.apply_changes([tell(1, 0.9)], 25.0)
    assert scene(made, 26.0) is None
    made.apply_changes([tell(1, ply=2)], 27.0)
    assert scene(made, 28.0) == "Board 1"
