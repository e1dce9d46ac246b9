"""What a playing hall sends out, on this machine: DGT LiveChess' export, a file for each board,
rewritten at every move; its websocket, with a board for each game; and games published over MQTT,
as the manual asks publishers to: a topic a board, retained, QoS 1, to a broker that is given or to
a Mosquitto of our own, where none is at hand.
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
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from live.clock import Clock
from live.errors import InputError
from live.events import GameReport
from live.feeds.source_address import MqttAddress
from live.network.mqtt_client import MqttClient
from live.rehearse.rehearsal import ALL_WELL, Mishap, Rehearsal, pgn_text


class FolderRehearsal(Rehearsal):
    """Writes games into ``FOLDER/round-1/game-N.pgn``, each file in place and not at once."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        folder: Path | None = None,
        clock: Clock | None = None,
        mishaps: Iterator[Mishap] = ALL_WELL,
    ) -> None:
        super().__init__(games, clock, mishaps)
        self._given = folder
        self._folder = Path()

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """The folder stands while the block runs; gives the ``--feed`` text.

        A folder that was given stays afterwards; host and port mean nothing here.
        """
        with tempfile.TemporaryDirectory(prefix="live-rate-") as own:
            self._folder = (self._given or Path(own)) / "round-1"
            self._folder.mkdir(parents=True, exist_ok=True)
            yield f"folder+{self._folder.parent}"

    def show(self, index: int, report: GameReport) -> None:
        """The file of game number ``index`` (from 0) now holds this."""
        self._write(index, pgn_text(report))

    def garble(self, index: int, report: GameReport) -> None:
        text = pgn_text(report)
        self._write(index, text[: len(text) * 2 // 3])

    def drop(self) -> None:
        """All files are gone for a moment, as when a share is connected anew."""
        away = {path: path.read_bytes() for path in self._folder.glob("game-*.pgn")}
        for path in away:
            path.unlink()
        for path, text in away.items():
            path.write_bytes(text)

    def _write(self, index: int, text: str) -> None:
        (self._folder / f"game-{index + 1}.pgn").write_text(text, encoding="utf-8")


class DgtBoardRehearsal(Rehearsal):
    """Plays games back on boards: each event gives all moves so far; lifted pieces come between."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        clock: Clock | None = None,
        mishaps: Iterator[Mishap] = ALL_WELL,
        forgets: bool = False,
    ) -> None:
        """``forgets``: what was set up is forgotten with the connection."""
        super().__init__(games, clock, mishaps)
        self._held = [msgspec.structs.replace(game, moves=(), result="*") for game in games]
        self._forgets = forgets
        self._setups: dict[int, str] = {}
        """Where each board that was set up goes on from."""
        self._feeds: dict[tuple[ServerConnection, int], int] = {}
        self.boards_ready = 0

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; gives the ``--feed`` text."""
        async with serve(self._talk, host, port) as server:
            bound = next(iter(server.sockets)).getsockname()[1]
            yield f"ws://{host}:{bound}/api/v1.0"

    async def show(self, index: int, report: GameReport) -> None:
        """The board now has this game on it."""
        self._held[index] = report
        for connection, board in list(self._feeds):
            if board == index:
                await self._tell(connection, index)

    def plug_in(self, game: GameReport) -> None:
        """One more board, which nobody hears of before asking."""
        self._games.append(game)
        self._held.append(msgspec.structs.replace(game, moves=(), result="*"))

    def drop(self) -> None:
        """Break all connections off."""
        for connection, _ in list(self._feeds):
            connection.transport.abort()
        if self._forgets:
            self._setups.clear()

    async def garble(self, index: int, report: GameReport) -> None:
        for connection, board in list(self._feeds):
            if board == index:
                with suppress(ConnectionClosed):
                    await connection.send('{"response": "feed", "id":', text=True)

    async def _talk(self, connection: ServerConnection) -> None:
        try:
            async for raw in connection:
                call = msgspec.json.decode(raw)
                await self._answer(connection, call["id"], call["call"], call.get("param"))
        except ConnectionClosed:
            pass
        finally:
            for key in [key for key in self._feeds if key[0] is connection]:
                del self._feeds[key]

    async def _answer(
        self, connection: ServerConnection, number: int, call: str, param: dict[str, object] | None
    ) -> None:
        answer, tell = None, None
        if call == "eboards":
            answer = [
                {"serialnr": str(10001 + index), "source": "COM3", "state": "ACTIVE", "clock": None}
                for index in range(len(self._games))
            ]
        elif call == "subscribe" and param is not None:
            wanted = param["param"]
            assert isinstance(wanted, dict) and isinstance(param["id"], int)
            tell = int(wanted["serialnr"]) - 10001
            self._feeds[connection, tell] = param["id"]
        elif call == "call" and param is not None:
            tell = next(
                board
                for (which, board), feed in self._feeds.items()
                if which is connection and feed == param["id"]
            )
            setup = param["param"]
            assert isinstance(setup, dict)
            self._setups[tell] = str(setup["fen"])
            self.boards_ready = len(self._setups)
        await self._send(connection, {"response": "call", "id": number, "param": answer})
        if tell is not None:
            await self._tell(connection, tell)

    async def _tell(self, connection: ServerConnection, index: int) -> None:
        report = self._held[index]
        board = chess.Board(report.start_fen)
        positions = [_place(board)]
        for move in report.moves:
            board.push_uci(move.uci)
            positions.append(_place(board))
        told: dict[str, object] = {"serialnr": str(10001 + index), "flipped": False}
        feed = {"response": "feed", "id": self._feeds[connection, index]}
        setup = self._setups.get(index)
        if setup is None:
            await self._send(connection, {**feed, "param": {**told, "board": board.board_fen()}})
            return
        # LiveChess does not know what came before the position it was sent.
        place = _place(chess.Board(setup))
        known = place in positions
        first = positions.index(place) if known else len(positions) - 1
        # A piece is lifted first: its square is empty for a moment.
        await self._send(connection, {**feed, "param": {**told, "board": "8/8/8/8/8/8/8/8"}})
        clocks: list[float | None] = [None, None]
        for ply, move in enumerate(report.moves):
            clocks[ply % 2] = move.clock_s
        run = None if not report.moves else len(report.moves) % 2 == 0
        param = {
            **told,
            "board": board.board_fen(),
            "clock": {"white": clocks[0], "black": clocks[1], "run": run, "time": 0},
            "start": setup,
            "san": [move.san for move in report.moves[first:]],
            "match": known,
        }
        await self._send(connection, {**feed, "param": param})

    async def _send(self, connection: ServerConnection, message: object) -> None:
        with suppress(ConnectionClosed):
            await connection.send(msgspec.json.encode(message), text=True)


def _place(board: chess.Board) -> tuple[str, bool]:
    return board.board_fen(), board.turn


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
        silent = asyncio.subprocess.DEVNULL
        with tempfile.TemporaryDirectory(prefix="live-rate-") as folder:
            file = Path(folder, "mosquitto.conf")
            file.write_text(settings, encoding="utf-8")  # noqa: ASYNC240 - two lines
            self._process = await asyncio.create_subprocess_exec(
                *(program, "-c", file), stdout=silent, stderr=silent
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
        self._held: dict[int, bytes] = {}
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
        self._held[index] = told_json(report)
        await self._publish(index, self._held[index])

    async def drop(self) -> None:
        """The broker loses its power and comes back; one that was given is only left and joined."""
        with suppress(aiomqtt.MqttError):
            await self._connection.aclose()
        if self._own is not None:
            await self._own.stop()
            await self._own.start()
        await self._connect()
        for index, payload in self._held.items():
            await self._publish(index, payload)

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
    headers = game.headers
    body: dict[str, object] = {
        **msgspec.structs.asdict(headers),
        "id": game.key,
        "variant": "chess960" if headers.variant == "chess960" else "",
        "white": _given(msgspec.structs.asdict(headers.white)),
        "black": _given(msgspec.structs.asdict(headers.black)),
        "start_fen": "" if game.start_fen == chess.STARTING_FEN else game.start_fen,
        "result": game.result,
    }
    told_moves = [
        _given({"move": move.san, "clock_s": move.clock_s, "spent_s": move.spent_s})
        for move in game.moves
    ]
    return msgspec.json.encode({**_given(body), "moves": told_moves})


def _given(fields: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value not in (None, "")}
