"""Lichess' game and TV streams on this machine (lichess API documentation, ndjson)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import chess
import msgspec

from live.events import GameReport, Player
from live.rehearse.web_servers import ServedReply, ServedRequest, serving

GAME_ID = "Rehears1"


@asynccontextmanager
async def lichess_game(
    game: GameReport, *, cut: int = 1 << 20, drop_after: int | None = None
) -> AsyncIterator[str]:
    """Send one game from its start to every client; TV features the same game. Gives the origin.

    ``cut`` is the length of the pieces in which bytes are sent; ``drop_after`` breaks the first
    connection off after so many lines.
    """
    drops = [drop_after]

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        tv = request.path == "/api/tv/feed"
        if not tv and request.path != f"/api/stream/game/{GAME_ID}":
            await reply.whole(404)
            return
        await reply.begin(200, {"Content-Type": "application/x-ndjson"})
        drop = drops.pop() if drops else None
        for number, line in enumerate(_tv_lines(game) if tv else _lines(game)):
            if number == drop:
                reply.drop()
                raise ConnectionAbortedError
            data = msgspec.json.encode(line) + b"\n"
            for at in range(0, len(data), cut):
                await reply.chunk(data[at : at + cut])
        await (reply.gone() if tv else reply.end())

    async with serving(answer) as origin:
        yield origin


def _positions(game: GameReport) -> Iterator[dict[str, object]]:
    board, clocks = chess.Board(game.start_fen), [5400.0, 5400.0]
    yield {"fen": f"{board.board_fen()} w", "wc": clocks[0], "bc": clocks[1]}
    for move in game.moves:
        clocks[board.turn == chess.BLACK] = move.clock_s or 0.0
        board.push_uci(move.uci)
        side = "w" if board.turn else "b"
        fen = f"{board.board_fen()} {side}"
        yield {"fen": fen, "lm": move.uci, "wc": clocks[0], "bc": clocks[1]}


def _lines(game: GameReport) -> Iterator[object]:
    players = {"white": _side(game.headers.white), "black": _side(game.headers.black)}
    told = {"id": GAME_ID, "variant": {"key": "standard"}, "speed": "classical", "players": players}
    yield {**told, "status": {"id": 20, "name": "started"}}
    yield from _positions(game)
    winner = {"1-0": "white", "0-1": "black"}.get(game.result)
    yield {**told, "status": {"id": 31, "name": "resign"}, "winner": winner}


def _tv_lines(game: GameReport) -> Iterator[object]:
    players = [
        {"color": "white", **_side(game.headers.white)},
        {"color": "black", **_side(game.headers.black)},
    ]
    yield {"t": "featured", "d": {"id": GAME_ID, "players": players, "fen": game.start_fen}}
    for position in _positions(game):
        if "lm" in position:
            yield {"t": "fen", "d": position}


def _side(player: Player) -> dict[str, object]:
    return {"user": {"name": player.name, "title": player.title}, "rating": player.elo}
