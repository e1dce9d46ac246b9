"""DGT LiveChess on this machine: its websocket, with a board for each game."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress

import chess
import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from live.events import GameReport
from live.feeds.clock import Clock, LoopClock
from live.feeds.replay import Incident
from live.rehearse.faults import ALL_WELL, Mishap
from live.rehearse.play import Shown, play


class DgtBoardRehearsal:
    """Plays games back on boards: each event tells all moves so far, and lifted pieces between."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        clock: Clock | None = None,
        mishaps: Iterator[Mishap] = ALL_WELL,
    ) -> None:
        self._games = list(games)
        self._mishaps = mishaps
        self._clock = clock or LoopClock()
        self._held = [msgspec.structs.replace(game, moves=(), result="*") for game in games]
        self._ready: set[int] = set()
        """Boards that were set up; LiveChess itself remembers it, whoever connects."""
        self._feeds: dict[tuple[ServerConnection, int], int] = {}
        self.boards_ready = 0

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; gives the ``--feed`` text."""
        async with serve(self._talk, host, port) as server:
            bound = next(iter(server.sockets)).getsockname()[1]
            yield f"ws://{host}:{bound}/api/v1.0"

    async def play(
        self, speed: float = 1.0, incidents: Iterable[Incident] = (), shown: Shown | None = None
    ) -> None:
        """Show the games move by move; results are not told here."""
        await play(
            self._games,
            self.show,
            clock=self._clock,
            speed=speed,
            incidents=incidents,
            shown=shown,
            mishaps=self._mishaps,
            drop=self.drop,
            garble=self._garble,
        )

    async def show(self, index: int, report: GameReport) -> None:
        """The board now has this game on it."""
        self._held[index] = report
        for connection, board in list(self._feeds):
            if board == index:
                await self._tell(connection, index)

    def drop(self) -> None:
        """Break all connections off."""
        for connection, _ in list(self._feeds):
            connection.transport.abort()

    async def _garble(self, index: int, report: GameReport) -> None:
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
        answer: object = None
        tell: int | None = None
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
            self._ready.add(tell)
            self.boards_ready = len(self._ready)
        await self._send(connection, {"response": "call", "id": number, "param": answer})
        if tell is not None:
            await self._tell(connection, tell)

    async def _tell(self, connection: ServerConnection, index: int) -> None:
        report = self._held[index]
        board = chess.Board(report.start_fen)
        placements = [board.board_fen()]
        for move in report.moves:
            board.push_uci(move.uci)
            placements.append(board.board_fen())
        told: dict[str, object] = {"serialnr": str(10001 + index), "flipped": False}
        feed = {"response": "feed", "id": self._feeds[connection, index]}
        if index not in self._ready:
            await self._send(connection, {**feed, "param": {**told, "board": placements[-1]}})
            return
        # A piece is lifted first: its square is empty for a moment.
        await self._send(connection, {**feed, "param": {**told, "board": "8/8/8/8/8/8/8/8"}})
        clocks: list[float | None] = [None, None]
        for ply, move in enumerate(report.moves):
            clocks[ply % 2] = move.clock_s
        run = None if not report.moves else len(report.moves) % 2 == 0
        param = {
            **told,
            "board": placements[-1],
            "clock": {"white": clocks[0], "black": clocks[1], "run": run, "time": 0},
            "start": report.start_fen,
            "san": [move.san for move in report.moves],
            "match": True,
        }
        await self._send(connection, {**feed, "param": param})

    async def _send(self, connection: ServerConnection, message: object) -> None:
        with suppress(ConnectionClosed):
            await connection.send(msgspec.json.encode(message), text=True)
