"""A Mosquitto of our own, for rehearsals where no broker is at hand.

Games published over MQTT, as the manual asks publishers to: a topic a board, retained, QoS 1.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import aiomqtt
import chess
import msgspec

from live.clock import Clock
from live.errors import InputError
from live.events import GameReport, Player
from live.feeds.source_address import MqttAddress
from live.network.mqtt_client import MqttClient
from live.rehearse.rehearsal import ALL_WELL, Mishap, Rehearsal

#: Seconds until a Mosquitto that has just been started answers.
START_S = 10.0


class OwnBroker:
    """One Mosquitto on this machine; no password, loopback unless given another address."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port or _free_port(host)
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Returns when it answers.

        Raises:
            InputError: Mosquitto is not installed, or does not start.
        """
        # Debian puts servers where a plain user's PATH does not look.
        places = os.pathsep.join(
            [os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"]
        )
        program = shutil.which("mosquitto", path=places)
        if program is None:
            raise InputError(
                "--as mqtt",
                "needs a broker, and Mosquitto is not installed",
                "Name one with --to mqtt://HOST/TOPIC, or install Mosquitto",
            )
        settings = f"listener {self.port} {self.host}\nallow_anonymous true\n"
        with tempfile.TemporaryDirectory(prefix="live-rate-") as folder:
            file = _written(Path(folder, "mosquitto.conf"), settings)
            self._process = await asyncio.create_subprocess_exec(
                program,
                "-c",
                file,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                async with asyncio.timeout(START_S):
                    await self._answers(self._process)
            except TimeoutError:
                await self.stop()
                raise InputError(
                    "--as mqtt", "Mosquitto does not answer", "Name another broker with --to"
                ) from None

    async def stop(self) -> None:
        """As a power cut would: what it holds is lost."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _answers(self, process: asyncio.subprocess.Process) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection(self.host, self.port)
            except OSError:
                if process.returncode is not None:
                    why = f"Mosquitto cannot serve port {self.port}"
                    raise InputError("--as mqtt", why, "Give another --port") from None
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return


def _written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


TOPIC = "rehearsal"
#: Tries to publish one message over a connection that breaks, before giving up.
TRIES = 20


class MqttRehearsal(Rehearsal):
    """Publishes games, one topic each, to a broker that is given or to a Mosquitto of its own."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        broker: MqttAddress | None = None,
        clock: Clock | None = None,
        mishaps: Iterator[Mishap] = ALL_WELL,
    ) -> None:
        super().__init__(games, clock, mishaps)
        self._given = broker
        self._held: dict[int, GameReport] = {}
        self._own: OwnBroker | None = None
        self._address = broker or MqttAddress("", 0, False, TOPIC)
        self._connection = AsyncExitStack()
        self._client: aiomqtt.Client | None = None

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Connected while the block runs; gives the ``--feed`` text.

        Raises:
            InputError: there is no broker.
        """
        if self._given is None:
            self._own = OwnBroker(host, port)
            await self._own.start()
            self._address = MqttAddress(host, self._own.port, False, TOPIC)
        try:
            await self._connect()
            base = msgspec.structs.replace(self._address, topic=f"{self._topic}/#")
            yield base.public
        except aiomqtt.MqttError as error:
            raise InputError(
                "--to" if self._given else "--as mqtt",
                f"the broker cannot be used ({error})",
                "Check that it runs, and its address",
            ) from None
        finally:
            with suppress(aiomqtt.MqttError):
                await self._connection.aclose()
            if self._own is not None:
                await self._own.stop()

    async def show(self, index: int, report: GameReport) -> None:
        """The topic of game number ``index`` (from 0) now holds this."""
        self._held[index] = report
        await self._publish(index, told_json(report))

    async def drop(self) -> None:
        """The broker loses its power and comes back; one that was given is only left and joined."""
        with suppress(aiomqtt.MqttError):
            await self._connection.aclose()
        if self._own is not None:
            await self._own.stop()
            await self._own.start()
        await self._connect()
        for index, report in self._held.items():
            await self._publish(index, told_json(report))

    @property
    def _topic(self) -> str:
        return self._address.topic.rstrip("/#") or TOPIC

    async def garble(self, index: int, report: GameReport) -> None:
        await self._publish(index, told_json(report)[:-9])

    async def _publish(self, index: int, payload: bytes) -> None:
        for left in reversed(range(TRIES)):
            try:
                assert self._client is not None
                await self._client.publish(
                    f"{self._topic}/{index + 1}", payload, qos=1, retain=True
                )
                return
            except aiomqtt.MqttError:
                if not left:
                    raise
                await asyncio.sleep(0.1)
                with suppress(aiomqtt.MqttError):
                    await self._connection.aclose()
                    await self._connect()

    async def _connect(self) -> None:
        address = self._address
        context = None
        if address.tls:
            import ssl

            context = ssl.create_default_context()
        self._connection = AsyncExitStack()
        self._client = await self._connection.enter_async_context(
            MqttClient(
                address.host,
                address.port,
                username=address.user or None,
                password=address.password or None,
                tls_context=context,
            )
        )


def told_json(game: GameReport) -> bytes:
    """One game in our own schema (:class:`live.feeds.mqtt_feed.MqttGame`)."""
    told = game.headers
    body: dict[str, object] = {
        "id": game.key,
        "event": told.event,
        "site": told.site,
        "round": told.round,
        "board": told.board,
        "date": told.date,
        "time_control": told.time_control,
        "url": told.url,
        "eco": told.eco,
        "opening": told.opening,
        "variant": "chess960" if told.variant == "chess960" else "",
        "white": _player(told.white),
        "black": _player(told.black),
        "start_fen": "" if game.start_fen == chess.STARTING_FEN else game.start_fen,
        "result": game.result,
    }
    told_moves = [
        _given({"move": move.san, "clock_s": move.clock_s, "spent_s": move.spent_s})
        for move in game.moves
    ]
    return msgspec.json.encode({**_given(body), "moves": told_moves})


def _player(player: Player) -> dict[str, object]:
    return _given(msgspec.structs.asdict(player))


def _given(fields: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value not in (None, "")}
