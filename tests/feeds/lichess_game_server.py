"""Lichess' game and TV streams on this machine (lichess API documentation, ndjson)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import chess
import msgspec

from live.events import GameReport, Player
from live.rehearse.web_servers import ServedReply, ServedRequest, serving

GAME_ID = "Rehears1"


class LichessGameRehearsal:
    """One game, sent from its start to every client; TV features the same game.

    ``cut`` is the length of the pieces in which bytes are sent; ``drop_after`` breaks the first
    connection off after so many lines.
    """

    def __init__(
        self, game: GameReport, *, cut: int = 1 << 20, drop_after: int | None = None
    ) -> None:
        self._game = game
        self._cut = cut
        self._drop_after = drop_after
        self._shown = 0
        self._over = False
        self._changed = asyncio.Condition()
        self.requests: list[ServedRequest] = []

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; gives the origin."""
        async with serving(self._answer, host, port) as origin:
            yield origin

    async def show(self, plies: int, *, over: bool = False) -> None:
        """So many plies are played; with ``over`` the result is known too."""
        async with self._changed:
            self._shown, self._over = plies, over
            self._changed.notify_all()

    async def _answer(self, request: ServedRequest, reply: ServedReply) -> None:
        self.requests.append(request)
        match request.path:
            case path if path == f"/api/stream/game/{GAME_ID}":
                await self._stream(reply, self._game_lines())
            case "/api/tv/feed" | "/api/tv/blitz/feed":
                await self._stream(reply, self._tv_lines())
            case _:
                await reply.whole(404)

    async def _stream(self, reply: ServedReply, lines: AsyncIterator[object]) -> None:
        await reply.begin(200, {"Content-Type": "application/x-ndjson"})
        sent = 0
        async for line in lines:
            if sent == self._drop_after:
                self._drop_after = None
                reply.drop()
                raise ConnectionAbortedError
            data = msgspec.json.encode(line) + b"\n"
            for at in range(0, len(data), self._cut):
                await reply.chunk(data[at : at + self._cut])
            sent += 1
        await reply.end()

    async def _positions(self) -> AsyncIterator[dict[str, object]]:
        board = chess.Board(self._game.start_fen)
        clocks: list[float | None] = [5400, 5400]
        yield _position(board, None, clocks)
        for ply, move in enumerate(self._game.moves):
            async with self._changed:
                await self._changed.wait_for(lambda ply=ply: self._shown > ply)  # type: ignore[misc]
            board.push_uci(move.uci)
            clocks[ply % 2] = move.clock_s
            yield _position(board, move.uci, clocks)
        async with self._changed:
            await self._changed.wait_for(lambda: self._over)

    async def _game_lines(self) -> AsyncIterator[object]:
        yield self._description()
        async for position in self._positions():
            yield position
        winner = {"1-0": {"winner": "white"}, "0-1": {"winner": "black"}}
        yield {
            **self._description(),
            "status": {"id": 31, "name": "resign"},
            **winner.get(self._game.result, {}),
        }

    async def _tv_lines(self) -> AsyncIterator[object]:
        players = [
            {"color": "white", **_side(self._game.headers.white)},
            {"color": "black", **_side(self._game.headers.black)},
        ]
        featured = {"id": GAME_ID, "orientation": "white", "players": players}
        yield {"t": "featured", "d": {**featured, "fen": self._game.start_fen}}
        async for position in self._positions():
            if "lm" in position:
                yield {"t": "fen", "d": position}

    def _description(self) -> dict[str, object]:
        told = self._game.headers
        return {
            "id": GAME_ID,
            "variant": {"key": "standard", "name": "Standard", "short": "Std"},
            "speed": "classical",
            "rated": True,
            "fen": self._game.start_fen,
            "turns": 0,
            "status": {"id": 20, "name": "started"},
            "players": {"white": _side(told.white), "black": _side(told.black)},
        }


def _position(board: chess.Board, uci: str | None, clocks: list[float | None]) -> dict[str, object]:
    side = "w" if board.turn == chess.WHITE else "b"
    told: dict[str, object] = {"fen": f"{board.board_fen()} {side}"}
    if uci is not None:
        told["lm"] = uci
    return {**told, "wc": clocks[0], "bc": clocks[1]}


def _side(player: Player) -> dict[str, object]:
    user: dict[str, object] = {"name": player.name, "id": player.name.lower()}
    if player.title:
        user["title"] = player.title
    return {"user": user, "rating": player.elo}
