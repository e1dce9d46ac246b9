"""Local simulation of lichess: a broadcast round with its short list, its tournament
and the next round, and the streams of a game and of TV (lichess API documentation,
ndjson).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import chess
import msgspec

from live.messages.from_sources import GameReport, Player
from live.rehearse.web_server import ServedReply, ServedRequest, serve_http
from tests.rehearse.faults import FaultyLichess

TOUR_ID = "RehTour1"
GAME_ID = "Rehears1"


class LichessRound(FaultyLichess):
    """A round of a tournament; ``following`` is its next round."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        token: str = "",
        following: LichessRound | None = None,
        **how: Any,
    ) -> None:
        super().__init__(games, **how)
        self._token = token  # required in every request
        self._next = following
        self._held: dict[int, GameReport] = {}
        self.started = True
        """False before the round begins; until then the stream is silent."""
        self.tour_over = True
        """True if every round of the tournament has ended."""
        self.export = True
        """True if the server answers requests for the whole round."""
        self.requests: list[ServedRequest] = []

    def show_report(self, index: int, report: GameReport) -> None:
        if self.started:
            super().show_report(index, report)
        else:
            self.store_unsent(index, report)

    def store_unsent(self, index: int, report: GameReport) -> None:
        super().store_unsent(index, report)
        self._held[index] = report

    def forget(self, index: int) -> None:
        """Delete a game from the round. The stream does not report the deletion."""
        del self._texts[index], self._held[index]

    def start(self) -> None:
        """Begin the round: send all games to every connected client."""
        self.started = True
        for index, report in self._held.items():
            self.show_report(index, report)

    def first_games(self) -> dict[int, bytes]:
        return super().first_games() if self.started else {}

    async def answer_request(self, request: ServedRequest, reply: ServedReply) -> None:
        self.requests.append(request)
        if (
            self._token
            and request.headers.get("authorization") != f"Bearer {self._token}"
        ):
            await reply.send_whole(401, b'{"error":"Missing or unknown token"}')
        elif self._next is not None and self._next.round_id in request.path:
            await self._next.answer_request(request, reply)
        elif request.path == f"/api/stream/broadcast/tour/{TOUR_ID}.pgn":
            await self.send_stream(reply)
        elif request.path == f"/api/broadcast/{TOUR_ID}":
            await reply.send_whole(200, msgspec.json.encode(self._tournament()))
        elif request.path == f"/api/broadcast/-/-/{self.round_id}":
            await reply.send_whole(200, msgspec.json.encode(self._list()))
        elif request.path.startswith("/api/broadcast/round/") and not self.export:
            await reply.send_whole(404)
        else:
            await super().answer_request(request, reply)

    def _tournament(self) -> dict[str, object]:
        rounds: list[dict[str, object]] = []
        each: LichessRound | None = self
        while each is not None:
            ended = each._held and all(
                game.result != "*" for game in each._held.values()
            )
            state = (
                {"finishedAt": 1}
                if ended and self.tour_over
                else {"ongoing": each.started}
            )
            rounds.append({"id": each.round_id, "name": "Round", **state})
            each = each._next
        return {"tour": {"id": TOUR_ID}, "rounds": rounds}

    def _list(self) -> dict[str, object]:
        """Return the short list of boards (lila ChapterPreview), without a FEN for the
        starting position.
        """
        boards = []
        for index, report in sorted(self._held.items()):
            position = chess.Board(
                report.start_fen, chess960=report.headers.variant == "chess960"
            )
            for move in report.moves:
                position.push_uci(move.uci)
            fen = (
                {} if position.fen() == chess.STARTING_FEN else {"fen": position.fen()}
            )
            status = report.result.replace("1/2", "½")
            boards.append(
                {
                    "id": self.chapter_id(index),
                    "name": "Chapter 1",
                    "status": status,
                    **fen,
                }
            )
        return {
            "round": {"id": self.round_id},
            "tour": {"id": TOUR_ID},
            "games": boards,
        }


@asynccontextmanager
async def lichess_game(
    game: GameReport, *, cut: int = 1 << 20, drop_after: int | None = None
) -> AsyncIterator[str]:
    """Send one game from its start to every client; TV features the same game. Yield
    the origin of the server.

    ``cut`` is the length in bytes of the pieces that are sent. ``drop_after`` is the
    number of lines after which the first connection is broken.
    """
    drops = [drop_after]

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        tv = request.path == "/api/tv/feed"
        if not tv and request.path != f"/api/stream/game/{GAME_ID}":
            await reply.send_whole(404)
            return
        await reply.begin_chunks({"Content-Type": "application/x-ndjson"})
        drop = drops.pop() if drops else None
        for number, line in enumerate(_tv_lines(game) if tv else _lines(game)):
            if number == drop:
                reply.writer.transport.abort()
                raise ConnectionAbortedError
            data = msgspec.json.encode(line) + b"\n"
            for at in range(0, len(data), cut):
                await reply.send_chunk(data[at : at + cut])
        if tv:
            await reply.writer.wait_closed()
        reply.writer.write(b"0\r\n\r\n")

    async with serve_http(answer) as origin:
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
    told = {
        "id": GAME_ID,
        "variant": {"key": "standard"},
        "speed": "classical",
        "players": players,
    }
    yield {**told, "status": {"id": 20, "name": "started"}}
    yield from _positions(game)
    winner = {"1-0": "white", "0-1": "black"}.get(game.result)
    yield {**told, "status": {"id": 31, "name": "resign"}, "winner": winner}


def _tv_lines(game: GameReport) -> Iterator[object]:
    players = [
        {"color": "white", **_side(game.headers.white)},
        {"color": "black", **_side(game.headers.black)},
    ]
    yield {
        "t": "featured",
        "d": {"id": GAME_ID, "players": players, "fen": game.start_fen},
    }
    for position in _positions(game):
        if "lm" in position:
            yield {"t": "fen", "d": position}


def _side(player: Player) -> dict[str, object]:
    return {"user": {"name": player.name, "title": player.title}, "rating": player.elo}
