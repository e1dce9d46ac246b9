"""DGT LiveChess Cloud on this machine: the files of one round, changing while games are played."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

import chess
import msgspec

from live.clock import Clock
from live.events import GameReport, Move, Player
from live.feeds.livechess_cloud import STANDARD_POSITION
from live.rehearse.rehearsal import GOOD, ConnectionFaults, Rehearsal, connections
from live.rehearse.web_servers import ServedReply, ServedRequest, serving

UUID = "11111111-2222-3333-4444-555555555555"
FIRST_MOVE_MS = 1_702_888_257_332
_BOARD = re.compile(r"/game-(\d+)\.json")
_CODES = {"1-0": "WHITEWIN", "0-1": "BLACKWIN", "1/2-1/2": "DRAW"}


class LiveChessCloudRehearsal(Rehearsal):
    """Plays games back as one round of a tournament, a file for each board."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        clock: Clock | None = None,
        round_number: int = 1,
        fates: Iterator[ConnectionFaults] | None = None,
    ) -> None:
        super().__init__(games, clock)
        self._round = round_number
        self._fates = fates or connections(None)
        self._held: dict[int, GameReport] = {}
        self._before: dict[int, tuple[list[GameReport], dict[int, GameReport]]] = {}
        self.there = True
        """The tournament was uploaded."""
        self.broken: set[int] = set()
        """Boards (from 1) whose file the service cannot give: it answers 502."""
        self.requests: list[ServedRequest] = []

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; gives the ``--feed`` text."""
        async with serving(self._answer, host, port) as origin:
            yield f"livechess-cloud+{origin}/#{UUID}/{self._round}"

    def next_round(self, games: Sequence[GameReport]) -> None:
        """The next round of the tournament is uploaded; the files of this one stay."""
        self._before[self._round] = self._games, self._held
        self._round, self._games, self._held = self._round + 1, list(games), {}

    def correct(self, round_number: int, index: int, report: GameReport) -> None:
        """A round before now holds this of game number ``index``."""
        held = self._held if round_number == self._round else self._before[round_number][1]
        held[index] = report

    def show(self, index: int, report: GameReport) -> None:
        """The round now holds this of game number ``index`` (from 0)."""
        self._held[index] = report

    async def _answer(self, request: ServedRequest, reply: ServedReply) -> None:
        self.requests.append(request)
        board = _BOARD.search(request.path)
        if board is not None and int(board[1]) in self.broken:
            await reply.whole(502)
            return
        body = self._file(request) if self.there else None
        if body is None:
            await reply.whole(404)
            return
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if tag in request.headers.get("if-none-match", ""):
            await reply.whole(304, headers={"ETag": tag})
            return
        headers = {"ETag": tag, "Content-Type": "application/json"}
        await reply.fated(next(self._fates, GOOD), body, headers)

    def _file(self, request: ServedRequest) -> bytes | None:
        if request.path == f"/meta/{UUID}":
            host = request.headers.get("host", "")
            return msgspec.json.encode({"host": host, "format": 1})
        prefix = f"/get/{UUID}/"
        if not request.path.startswith(prefix):
            return None
        match request.path.removeprefix(prefix).split("/"):
            case ["tournament.json"]:
                return msgspec.json.encode(self._tournament())
            case [folder, name]:
                number = folder.removeprefix("round-")
                found = self._rounds().get(int(number) if number.isdecimal() else 0)
                if found is None:
                    return None
                if name == "index.json":
                    return msgspec.json.encode(_index(*found))
                board = name.removeprefix("game-").removesuffix(".json")
                report = found[1].get(int(board) - 1 if board.isdecimal() else -1)
                if report is None:
                    return None
                return msgspec.json.encode(_board(report, self._clock.now()))
        return None

    def _rounds(self) -> dict[int, tuple[list[GameReport], dict[int, GameReport]]]:
        return {**self._before, self._round: (self._games, self._held)}

    def _tournament(self) -> dict[str, object]:
        known = self._rounds()
        rounds = []
        for number in range(1, self._round + 1):
            games, held = known.get(number, ([], {}))
            live = sum(report.result == "*" for report in held.values())
            rounds.append({"count": len(games), "live": live})
        return {
            "id": UUID,
            "name": self._games[0].headers.event if self._games else "",
            "location": None,
            "country": "ES",
            "rules": "STANDARD",
            "chess960": "STANDARD",
            "timecontrol": self._games[0].headers.time_control if self._games else None,
            "rounds": rounds,
            "eboards": [],
        }


def _index(games: Sequence[GameReport], held: Mapping[int, GameReport]) -> dict[str, object]:
    pairings = []
    for index, game in enumerate(games):
        report = held.get(index, game)
        result = held[index].result if index in held else "*"
        pairings.append(
            {
                "white": _person(report.headers.white),
                "black": _person(report.headers.black),
                "result": result,
                "live": result == "*",
            }
        )
    return {"date": None, "pairings": pairings}


def _person(player: Player) -> dict[str, object]:
    last, _, first = player.name.partition(", ")
    return {
        "fname": first or None,
        "mname": None,
        "lname": last,
        "title": player.title,
        "federation": player.federation,
        "gender": None,
        "fideid": player.fide_id,
    }


def _board(report: GameReport, now_s: float) -> dict[str, object]:
    """A board's file; the clocks of a running game have fractions and the time they were read."""
    live = report.result == "*"
    clocks = dict(zip(("white", "black"), _clocks(report), strict=True))
    return {
        "live": live,
        "serialNr": "10001",
        "firstMove": FIRST_MOVE_MS,
        "chess960": _position(report),
        "result": _CODES.get(report.result),
        "comment": None,
        "clock": {**clocks, "time": FIRST_MOVE_MS + round(now_s * 1000)}
        if live and None not in clocks.values()
        else None,
        "moves": [_move(move) for move in report.moves],
    }


def _move(move: Move) -> str:
    left = "" if move.clock_s is None else str(int(move.clock_s))
    spent = "" if move.spent_s is None else f"+{int(move.spent_s)}"
    return f"{move.san} {left}{spent}".strip()


def _clocks(report: GameReport) -> tuple[float | None, float | None]:
    """Both clocks after the last move."""
    latest: list[float | None] = [None, None]
    for ply, move in enumerate(report.moves):
        latest[ply % 2] = move.clock_s
    return latest[0], latest[1]


def _position(report: GameReport) -> int:
    board = chess.Board(report.start_fen, chess960=True)
    found = board.chess960_pos()
    return STANDARD_POSITION if found is None else found
