"""What a playing hall sends out, on this machine: DGT LiveChess' websocket, with a board for each
game; and games published over MQTT, as the manual asks publishers to: a topic a board, retained,
QoS 1.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import chess
import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from live.clock import LOOP_CLOCK, Clock
from live.events import GameReport
from tests.publish.mosquitto import Mosquitto
from tests.rehearse.faults import MishapRehearsal


class DgtBoardRehearsal(MishapRehearsal):
    """Plays games back on boards: each event gives all moves so far; lifted pieces come between."""

    def __init__(
        self, games: Sequence[GameReport], *, clock: Clock = LOOP_CLOCK, forgets: bool = False
    ) -> None:
        """``forgets``: what was set up is forgotten with the connection."""
        super().__init__(games, clock)
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


class MqttRehearsal(MishapRehearsal):
    """Publishes games, one topic each, to a broker that may lose its power."""

    def __init__(
        self, games: Sequence[GameReport], broker: Mosquitto, *, clock: Clock = LOOP_CLOCK
    ) -> None:
        super().__init__(games, clock)
        self._broker = broker
        self._held: dict[int, bytes] = {}

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Gives the ``--feed`` text; the broker runs already."""
        yield f"mqtt://{host}:{self._broker.port}/games/#"

    async def show(self, index: int, report: GameReport) -> None:
        """The topic of game number ``index`` (from 0) now holds this."""
        self._held[index] = told_json(report)
        await self._publish(index, self._held[index])

    async def drop(self) -> None:
        """The broker loses its power and comes back."""
        self._broker.kill()
        await self._broker.start()
        for index, payload in self._held.items():
            await self._publish(index, payload)

    async def garble(self, index: int, report: GameReport) -> None:
        await self._publish(index, told_json(report)[:-9])

    async def _publish(self, index: int, payload: bytes) -> None:
        async with self._broker.client() as client:
            await client.publish(f"games/{index + 1}", payload, qos=1, retain=True)


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
