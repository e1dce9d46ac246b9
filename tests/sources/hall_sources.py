"""Local simulations of the sources in a playing hall.

DGT LiveChess has one board per game, and pairings if there is a tournament. Games over
MQTT are published as the manual asks: one topic per board, retained, QoS 1.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import chess
import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers as HttpHeaders
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from live.messages.from_sources import GameReport, Headers, Player
from live.process.clock import LOOP_CLOCK, Clock
from tests.rehearse.faults import MishapRehearsal
from tests.server.mosquitto import Mosquitto

#: Moves that are played on the boards.
LINES = {
    "GAME": "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7",
    # The board detected two of the moves wrongly.
    "MENDED": "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 O-O c3 d6 h3 Na5 Bc2 c5",
    "NEXT": (
        "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O Nf3 Nbd7 Rc1 c6 Bd3 dxc4 Bxc4 Nd5 Bxe7 Qxe7"
    ),
    # The players analyse the game from its tenth move on.
    "TRIED": "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Qe2 O-O c3 d5 d3 Bb7 Re1 Re8",
    "MATE": "f3 e5 g4 Qh4#",
}
LINES["ON"] = f"{LINES['GAME']} Nbd2 Bb7 Bc2 Re8 Nf1 Bf8"
FIRST_SERIAL = 10001
#: Results as LiveChess names them.
RESULTS = {"1-0": "WHITEWIN", "0-1": "BLACKWIN", "1/2-1/2": "DRAW"}


class FakeLiveChess:
    """Simulation of DGT LiveChess. Boards are sent over a websocket: each event has all
    moves so far, and lifted pieces come in between. The pairings of one tournament are
    served over HTTP.
    """

    def __init__(
        self,
        boards: Sequence[GameReport],
        *,
        forgets: bool = False,
        first_table: int = 1,
    ) -> None:
        """Set up the boards.

        Args:
            boards: the game on each board, of which only start and moves are used.
            forgets: whether a lost connection also loses the positions that were set
                up.
            first_table: number of the table of the first board.
        """
        self.boards = list(boards)
        self.event = "Open"
        self.answers_http = True
        self.rounds: list[dict[int, dict[str, object]]] = []
        """Pairings: first by round, counted from 0, then by table."""
        self._first_table = first_table
        self._forgets = forgets
        self._setups: dict[int, str] = {}
        """Position from which each board continues after it was set up."""
        self._feeds: dict[tuple[ServerConnection, int], int] = {}
        self.boards_ready = 0

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block is active; yield the text for ``--feed``."""
        async with serve(
            self._talk, host, port, process_request=self._answer_http
        ) as server:
            bound = next(iter(server.sockets)).getsockname()[1]
            yield f"ws://{host}:{bound}/api/v1.0"

    def pair(
        self, round_: int, table: int, headers: Headers, result: str = "*"
    ) -> None:
        """Pair these players at a table with this result. The result ``-`` means that
        they have not begun.
        """
        while len(self.rounds) < round_:
            self.rounds.append({})
        self.rounds[round_ - 1][table] = {
            "nr": table,
            "white": _person(headers.white),
            "black": _person(headers.black),
            "result": RESULTS.get(result),
            "live": result == "*",
        }

    async def put(self, index: int, game: GameReport) -> None:
        """Put this game on a board, counted from 0, and send it to all listeners."""
        self.boards[index] = game
        for connection, board in list(self._feeds):
            if board == index:
                await self._tell(connection, index)

    @property
    def listeners(self) -> int:
        """Number of subscriptions to boards."""
        return len(self._feeds)

    def drop(self) -> None:
        """Break all connections."""
        for connection, _ in list(self._feeds):
            connection.transport.abort()
        self._forget()

    def _forget(self) -> None:
        if self._forgets:
            self._setups.clear()

    def _answer_http(
        self, connection: ServerConnection, request: Request
    ) -> Response | None:
        if "Upgrade" in request.headers:
            return None
        path = request.path.removeprefix("/api/v1.0/")
        files: dict[str, object] = {"tournaments": []}
        if self.rounds:
            rounds = len(self.rounds)
            found = [str(FIRST_SERIAL + index) for index in range(len(self.boards))]
            serials = [*[None] * (self._first_table - 1), *found]
            files["tournaments"] = [{"uuid": "t", "description": "", "rounds": rounds}]
            files["tournament/t"] = {
                "name": self.event,
                "rounds": rounds,
                "eboards": serials,
            }
            for number, pairings in enumerate(self.rounds):
                in_order = [pairings[table] for table in sorted(pairings)]
                files[f"round/t/{number}"] = {"nr": number + 1, "pairings": in_order}
        body = msgspec.json.encode(files.get(path))
        headers = HttpHeaders({"Content-Length": str(len(body)), "Connection": "close"})
        status = 200 if path in files else 404
        return Response(status if self.answers_http else 503, "", headers, body)

    async def _talk(self, connection: ServerConnection) -> None:
        try:
            async for raw in connection:
                call = msgspec.json.decode(raw)
                await self._answer(
                    connection, call["id"], call["call"], call.get("param")
                )
        except ConnectionClosed:
            pass
        finally:
            for key in [key for key in self._feeds if key[0] is connection]:
                del self._feeds[key]
            if not self._feeds:
                self._forget()

    async def _answer(
        self,
        connection: ServerConnection,
        number: int,
        call: str,
        param: dict[str, object] | None,
    ) -> None:
        answer, tell = None, None
        if call == "eboards":
            answer = [
                {
                    "serialnr": str(FIRST_SERIAL + index),
                    "source": "COM3",
                    "state": "ACTIVE",
                    "clock": None,
                }
                for index in range(len(self.boards))
            ]
        elif call == "subscribe" and param is not None:
            wanted = param["param"]
            assert isinstance(wanted, dict) and isinstance(param["id"], int)
            tell = int(wanted["serialnr"]) - FIRST_SERIAL
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
        await self._send(
            connection, {"response": "call", "id": number, "param": answer}
        )
        if tell is not None:
            await self._tell(connection, tell)

    async def _tell(self, connection: ServerConnection, index: int) -> None:
        report = self.boards[index]
        board = chess.Board(report.start_fen)
        positions = [_place(board)]
        for move in report.moves:
            board.push_uci(move.uci)
            positions.append(_place(board))
        told: dict[str, object] = {
            "serialnr": str(FIRST_SERIAL + index),
            "flipped": False,
        }
        feed = {"response": "feed", "id": self._feeds[connection, index]}
        setup = self._setups.get(index)
        if setup is None:
            await self._send(
                connection, {**feed, "param": {**told, "board": board.board_fen()}}
            )
            return
        # LiveChess does not know the moves before the position that was set up.
        place = _place(chess.Board(setup))
        known = place in positions
        first = positions.index(place) if known else len(positions) - 1
        # A piece is lifted first: its square is empty for a moment.
        await self._send(
            connection, {**feed, "param": {**told, "board": "8/8/8/8/8/8/8/8"}}
        )
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


def _person(player: Player) -> dict[str, object]:
    family, _, given = player.name.partition(", ")
    return {
        "fname": given,
        "mname": None,
        "lname": family,
        "title": player.title,
        "federation": player.federation,
        "fideid": player.fide_id,
    }


class DgtBoardRehearsal(FakeLiveChess, MishapRehearsal):
    """LiveChess boards on which games are played back, without pairings."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        clock: Clock = LOOP_CLOCK,
        forgets: bool = False,
    ) -> None:
        """Set up an empty board for each game. If ``forgets`` is true, a lost
        connection also loses the positions that were set up.
        """
        MishapRehearsal.__init__(self, games, clock)
        empty = [msgspec.structs.replace(game, moves=(), result="*") for game in games]
        FakeLiveChess.__init__(self, empty, forgets=forgets)

    async def show_report(self, index: int, report: GameReport) -> None:
        """Put this game on the board."""
        await self.put(index, report)

    def plug_in(self, game: GameReport) -> None:
        """Add a board that clients learn of only from the list of boards."""
        self._games.append(game)
        self.boards.append(msgspec.structs.replace(game, moves=(), result="*"))

    async def garble(self, index: int, report: GameReport) -> None:
        for connection, board in list(self._feeds):
            if board == index:
                with suppress(ConnectionClosed):
                    await connection.send('{"response": "feed", "id":', text=True)


class MqttRehearsal(MishapRehearsal):
    """Publisher of games to a broker, one topic per game. The broker can lose its
    power.
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        broker: Mosquitto,
        *,
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        super().__init__(games, clock)
        self._broker = broker
        self._held: dict[int, bytes] = {}

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Yield the text for ``--feed``; the broker is already running."""
        yield f"mqtt://{host}:{self._broker.port}/games/#"

    async def show_report(self, index: int, report: GameReport) -> None:
        """Publish the game to the topic of game ``index``, counted from 0."""
        self._held[index] = encode_mqtt_game(report)
        await self._publish(index, self._held[index])

    async def drop(self) -> None:
        """Kill the broker, start it again, and publish all games again."""
        self._broker.kill()
        await self._broker.start()
        for index, payload in self._held.items():
            await self._publish(index, payload)

    async def garble(self, index: int, report: GameReport) -> None:
        await self._publish(index, encode_mqtt_game(report)[:-9])

    async def _publish(self, index: int, payload: bytes) -> None:
        async with self._broker.client() as client:
            await client.publish(f"games/{index + 1}", payload, qos=1, retain=True)


def encode_mqtt_game(game: GameReport) -> bytes:
    """Return one game in this project's schema
    (:class:`live.sources.mqtt_topic.MqttGame`).
    """
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
