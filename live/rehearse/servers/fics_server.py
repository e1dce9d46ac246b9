"""A chess server of the FICS family on this machine, for guests who observe its games."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import chess

from live.clock import Clock
from live.events import GameReport
from live.rehearse.planned_faults import ALL_WELL, Mishap
from live.rehearse.rehearsal import Rehearsal

_PROMPT = b"fics% "


def handle(name: str) -> str:
    """A player's name as such a server has it: letters only, 17 at most (FICS help, addplayer)."""
    letters = "".join(c for c in name if c.isascii() and c.isalpha())
    return letters[:17] or "Guest"


def style12(number: int, game: GameReport) -> str:
    """The line of a game as it stands."""
    board = chess.Board(game.start_fen)
    san, uci = "none", ""
    clocks = [0.0, 0.0]
    first = 0 if board.turn else 1
    for ply, move in enumerate(game.moves, start=first):
        san, uci = move.san, move.uci
        board.push_uci(uci)
        clocks[ply % 2] = move.clock_s or 0.0
    placement = "".join(
        "-" * int(c) if c.isdigit() else c for c in board.board_fen().replace("/", " ")
    )
    pushed = -1
    if board.ep_square is not None:
        pushed = chess.square_file(board.ep_square)
    rights = [
        int(bool(board.castling_rights & square))
        for square in (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
    ]
    told = [
        placement,
        "W" if board.turn else "B",
        pushed,
        *rights,
        board.halfmove_clock,
        number,
        handle(game.headers.white.name),
        handle(game.headers.black.name),
        "0 90 30 39 39",
        *(int(clock) for clock in clocks),
        board.fullmove_number,
        f"P/{uci[:2]}-{uci[2:]}" if uci else "none",
        "(0:00)",
        san,
        "0 1 0",
    ]
    return "<12> " + " ".join(map(str, told))


class FicsRehearsal(Rehearsal):
    """Plays games back to everybody who observes them."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        clock: Clock | None = None,
        mishaps: Iterator[Mishap] = ALL_WELL,
    ) -> None:
        super().__init__(games, clock, mishaps)
        self._held = dict(enumerate(games, start=1))
        self._observers: dict[asyncio.StreamWriter, set[int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.commands: list[str] = []

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; gives the ``--feed`` text."""
        server = await asyncio.start_server(self._talk, host, port)
        bound = server.sockets[0].getsockname()[1]
        numbers = ",".join(map(str, self._held))
        try:
            yield f"telnet://{host}:{bound}/{numbers}"
        finally:
            server.close()
            self.drop()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await server.wait_closed()

    @property
    def observed(self) -> int:
        """How many games somebody observes."""
        return len(set().union(*self._observers.values()))

    async def show(self, index: int, report: GameReport) -> None:
        """The server now holds this of game number ``index`` (from 0)."""
        number = index + 1
        before = self._held.get(number)
        self._held[number] = report
        lines = [style12(number, report)]
        if before is not None and before.moves == report.moves:
            lines = []
        if report.result != "*":
            lines.append(_end(number, report))
        for writer, observed in list(self._observers.items()):
            if number in observed:
                await _say(writer, *lines)

    def drop(self) -> None:
        """Break all connections off."""
        for writer in list(self._observers):
            writer.transport.abort()

    async def garble(self, index: int, report: GameReport) -> None:
        """Half a line, as a server whose buffer is full sends it."""
        half = style12(index + 1, report)[:70]
        for writer, observed in list(self._observers.items()):
            if index + 1 in observed:
                await _say(writer, half)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            writer.write(b"\xff\xfc\x01Welcome.\n\rlogin: ")
            name = (await reader.readline()).decode().strip()
            writer.write(f'Press return to enter the server as "{name}":\n\r'.encode())
            await reader.readline()
            writer.write(b"\n\r**** Starting session ****\n\r" + _PROMPT)
            self._observers[writer] = set()
            while command := (await reader.readline()).decode("ascii", "replace"):
                self.commands.append(command.strip())
                await self._obey(writer, command.split())
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            self._observers.pop(writer, None)
            writer.transport.abort()

    async def _obey(self, writer: asyncio.StreamWriter, words: list[str]) -> None:
        match words:
            case ["observe" | "moves" as verb, number] if number.isdecimal():
                game = self._held.get(int(number))
                if game is None:
                    await _say(writer, "There is no such game.")
                elif verb == "moves":
                    await _say(writer, *_movelist(int(number), game))
                else:
                    self._observers[writer].add(int(number))
                    lines = [f"You are now observing game {number}.", _about(int(number), game)]
                    lines.append(style12(int(number), game))
                    if game.result != "*":
                        lines.append(_end(int(number), game))
                    await _say(writer, *lines)
            case _:
                await _say(writer)


async def _say(writer: asyncio.StreamWriter, *lines: str) -> None:
    text = "".join(f"\n\r{line}\n\r" for line in lines)
    with contextlib.suppress(ConnectionError):
        writer.write(text.encode("ascii", "replace") + _PROMPT)
        await writer.drain()


def _about(number: int, game: GameReport) -> str:
    white, black = game.headers.white, game.headers.black
    return (
        f"Game {number}: {handle(white.name)} ({white.elo or '++++'}) "
        f"{handle(black.name)} ({black.elo or '++++'}) rated standard 90 30"
    )


def _end(number: int, game: GameReport) -> str:
    names = f"{handle(game.headers.white.name)} vs. {handle(game.headers.black.name)}"
    return f"{{Game {number} ({names}) The game is over}} {game.result}"


def _movelist(number: int, game: GameReport) -> list[str]:
    names = [handle(player.name) for player in (game.headers.white, game.headers.black)]
    lines = [
        f"Movelist for game {number}:",
        f"{names[0]} (2000) vs. {names[1]} (2000) --- Sat Nov 21, 10:00 UTC 2026",
        "Rated standard match, initial time: 90 minutes, increment: 30 seconds.",
        f"Move  {names[0]:<22}{names[1]}",
        "----  ----------------      ----------------",
    ]
    moves = [move.san for move in game.moves]
    for start in range(0, len(moves), 2):
        pair = "".join(f"{san:<8}(0:01)       " for san in moves[start : start + 2])
        lines.append(f"{start // 2 + 1:3}.  {pair}".rstrip())
    return [*lines, "      {Still in progress} *"]
