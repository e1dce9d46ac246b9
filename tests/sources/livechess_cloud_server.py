"""Local simulation of DGT LiveChess Cloud: the files of one round, which change while
games are played.
"""

import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import chess
import msgspec

from live.messages.from_sources import GameReport, Move, Player
from live.process.clock import LOOP_CLOCK, Clock
from live.rehearse.rehearsal import Rehearsal
from live.rehearse.web_server import ServedReply, ServedRequest, serve_http
from live.sources.cloud_files import STANDARD_POSITION
from tests.rehearse.faults import ALL_GOOD, ConnectionFaults, FaultyReply

UUID = "11111111-2222-3333-4444-555555555555"
_CODES = {"1-0": "WHITEWIN", "0-1": "BLACKWIN", "1/2-1/2": "DRAW"}


class LiveChessCloudRehearsal(Rehearsal):
    """A round in which games are played back, with one file per board."""

    def __init__(
        self,
        games: Sequence[GameReport] = (),
        *,
        clock: Clock = LOOP_CLOCK,
        fates: Iterator[ConnectionFaults] = ALL_GOOD,
    ) -> None:
        super().__init__(games, clock)
        self._fates = fates
        self._held: dict[int, GameReport] = {}
        self.files: dict[str, Any] = {}
        """Answer by path: an object to send as JSON, bytes to send unchanged, or an
        HTTP status. If empty, nothing is uploaded yet.
        """
        self.requests: list[ServedRequest] = []
        self._list()

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block is active; yield the text for ``--feed``."""
        async with serve_http(self.answer, host, port) as origin:
            yield f"livechess-cloud+{origin}/#{UUID}/1"

    def show_report(self, index: int, report: GameReport) -> None:
        """Show this game as number ``index``, counted from 0, of the round."""
        self._held[index] = report
        self.files[f"round-1/game-{index + 1}.json"] = _board(report)
        self._list()

    async def answer(self, request: ServedRequest, reply: ServedReply) -> None:
        self.requests.append(request)
        found = self.files.get(request.path.removeprefix(f"/get/{UUID}/"), 404)
        if self.files and request.path == f"/meta/{UUID}":
            found = {"host": request.headers.get("host", ""), "format": 1}
        if isinstance(found, int):
            await reply.send_whole(found)
            return
        body = found if isinstance(found, bytes) else msgspec.json.encode(found)
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if tag in request.headers.get("if-none-match", ""):
            await reply.send_whole(304, headers={"ETag": tag})
            return
        headers = {"ETag": tag, "Content-Type": "application/json"}
        await FaultyReply(reply, next(self._fates)).send_whole(200, body, headers)

    def _list(self) -> None:
        if not self._games:
            return
        shown = [self._held.get(index) for index in range(len(self._games))]
        headers = self._games[0].headers
        live = sum(each is not None and each.result == "*" for each in shown)
        self.files["tournament.json"] = {
            "name": headers.event,
            "timecontrol": headers.time_control,
            "rounds": [{"count": len(self._games), "live": live}],
        }
        pairings = []
        for game, held in zip(self._games, shown, strict=True):
            told, result = (held or game).headers, held.result if held else "*"
            players = {"white": _person(told.white), "black": _person(told.black)}
            pairings.append({**players, "result": result, "live": result == "*"})
        self.files["round-1/index.json"] = {"date": None, "pairings": pairings}


def _person(player: Player) -> dict[str, object]:
    last, _, first = player.name.partition(", ")
    return {
        "fname": first or None,
        "lname": last,
        "title": player.title,
        "federation": player.federation,
        "fideid": player.fide_id,
    }


def _board(report: GameReport) -> dict[str, object]:
    """Return the file of a board. The clocks of a running game have fractions of a
    second.
    """
    live = report.result == "*"
    clocks = {}
    for ply, move in enumerate(report.moves):
        clocks["black" if ply % 2 else "white"] = move.clock_s
    position = chess.Board(report.start_fen, chess960=True).chess960_pos()
    return {
        "live": live,
        "chess960": STANDARD_POSITION if position is None else position,
        "result": _CODES.get(report.result),
        "clock": clocks
        if live and len(clocks) == 2 and None not in clocks.values()
        else None,
        "moves": [_move(move) for move in report.moves],
    }


def _move(move: Move) -> str:
    left = "" if move.clock_s is None else str(int(move.clock_s))
    spent = "" if move.spent_s is None else f"+{int(move.spent_s)}"
    return f"{move.san} {left}{spent}".strip()
