"""Playback of games as a real broadcast, with simulated mistakes on request.

:class:`FolderRehearsal` writes a folder as DGT LiveChess does: one file per board,
rewritten at every move. :class:`PgnUrlRehearsal` serves a PGN page that changes while
games are played. :class:`LichessRehearsal` serves a broadcast round as lichess does.
:func:`rehearse` is the command ``live-rate rehearse``.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import inspect
import shlex
import tempfile
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal

import chess
from msgspec.structs import replace
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from live.errors import InputError, PortInUse
from live.messages.from_sources import GameReport, Move
from live.process.clock import LOOP_CLOCK, Clock
from live.rehearse.web_server import ServedReply, ServedRequest, serve_http
from live.server.pgn_writer import (
    format_clock,
    format_eval,
    format_tags,
    list_player_tags,
    number_moves,
)
from live.sources.game_timeline import (
    GameMoment,
    Mistake,
    PlannedIncident,
    plan_timeline,
)


def write_pgn(
    game: GameReport, url: str = "", more: Mapping[str, str] | None = None
) -> str:
    """Return one game as PGN, up to its result and one line end.

    The format is that of lichess (lila PgnDump, scalachess Pgn): all moves in one line,
    after every move a clock in whole seconds with unpadded hours, and `` *`` for a game
    without moves. ``url`` is the ``GameURL`` header, the only stable key of a game at
    lichess; ``more`` are further tags.
    """
    headers = game.headers
    setup = game.start_fen != chess.STARTING_FEN
    tags = {
        "Event": headers.event or "?",
        "Site": headers.site,
        "Date": headers.date,
        "Round": headers.round,
        "Board": headers.board,
        "White": headers.white.name or "?",
        "Black": headers.black.name or "?",
        "Result": game.result,
        **dict(list_player_tags(headers.white, headers.black)),
        "TimeControl": headers.time_control,
        "Variant": "Chess960"
        if headers.variant == "chess960"
        else headers.variant.capitalize(),
        "FEN": game.start_fen if setup else None,
        "SetUp": "1" if setup else None,
        "GameURL": url or headers.url,
        **(more or {}),
    }
    moves = number_moves(
        game, ((move.san, _write_commands(move)) for move in game.moves)
    )
    text = " ".join([*moves, *_write_problem(game.problem), game.result])
    return f"{format_tags(tags.items())}\n{'' if game.moves else ' '}{text}\n"


def _write_problem(problem: str | None) -> list[str]:
    """Return text that causes ``problem``: an illegal move or an open comment."""
    match (problem or "").split():
        case ["illegal", "move", san, *_]:
            return [san]
        case ["a", "comment", *_]:
            return ["{ never closed"]
    return []


def _write_commands(move: Move) -> list[str]:
    commands = []
    if move.eval is not None:
        commands.append(format_eval(move.eval.cp, move.eval.mate))
    if move.clock_s is not None:
        commands.append(format_clock(int(move.clock_s)))
    return commands


def plan_mistakes(
    kinds: Sequence[Mistake], games: Sequence[GameReport]
) -> list[PlannedIncident]:
    """Return one mistake for each of the first boards, in the middle of its game."""
    long_games = [
        (index, game) for index, game in enumerate(games) if len(game.moves) > 2
    ]
    return [
        PlannedIncident(kind, index, len(game.moves) // 2)
        for kind, (index, game) in zip(kinds, long_games, strict=False)
    ]


class Rehearsal(ABC):
    """Playback of games over one protocol.

    ::

        async with rehearsal.serve() as feed_spec:
            await rehearsal.play_games(speed=60)
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        self._games = list(games)
        self._clock = clock
        self._texts: dict[int, bytes] = {}
        """PGN of each game as it is now served."""

    @abstractmethod
    def serve(
        self, host: str = "127.0.0.1", port: int = 0
    ) -> AbstractAsyncContextManager[str]:
        """Serve while the block runs; yield the value for ``--feed``."""

    @abstractmethod
    def show_report(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """Serve this report of the game with this index (from 0) from now on."""

    def play_moment(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """Serve the next moment of the game with this index (from 0), for
        :meth:`play_games`.
        """
        return self.show_report(index, report)

    async def play_games(
        self,
        speed: float = 1.0,
        incidents: Iterable[PlannedIncident] = (),
        on_moment: Callable[[GameMoment], object] = lambda moment: None,
    ) -> None:
        """Play the games move by move, ``speed`` times as fast as they were played.

        Calls ``on_moment`` after each moment. Returns after the last result; the games
        are still served then.
        """
        start_s = self._clock.now()
        for moment in plan_timeline(self._games, speed=speed, incidents=incidents):
            await self._clock.sleep(max(0.0, start_s + moment.at_s - self._clock.now()))
            result = self.play_moment(moment.game, moment.report)
            if inspect.isawaitable(result):
                await result
            on_moment(moment)


class FolderRehearsal(Rehearsal):
    """Playback into files ``FOLDER/round-1/game-N.pgn``, each overwritten in place, not
    atomically.
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        folder: Path | None = None,
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        super().__init__(games, clock)
        self._given = folder
        self._folder = Path()

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Create the folder for the block; yield the value for ``--feed``.

        A folder given by the caller stays afterwards. Host and port are not used.
        """
        with tempfile.TemporaryDirectory(prefix="live-rate-") as own:
            self._folder = (self._given or Path(own)) / "round-1"
            self._folder.mkdir(parents=True, exist_ok=True)
            yield f"folder+{self._folder.parent}"

    def show_report(self, index: int, report: GameReport) -> None:
        """Write this report to the file of the game with this index (from 0)."""
        self.write_file(index, write_pgn(report))

    def write_file(self, index: int, text: str) -> None:
        """Write ``text`` to the file of the game with this index (from 0)."""
        (self._folder / f"game-{index + 1}.pgn").write_text(text, encoding="utf-8")


_PGN = "application/x-chess-pgn"
PATH = "/games.pgn"


class PgnUrlRehearsal(Rehearsal):
    """Playback as a PGN page with an ETag, sent in full at every request."""

    weak = ""
    """``W/`` if the entity tags are weak."""

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; yield the value for ``--feed``."""
        async with serve_http(self.answer_request, host, port) as origin:
            yield f"{origin}{PATH}"

    def show_report(self, index: int, report: GameReport) -> None:
        """Put this report of the game with this index on the page."""
        self._texts[index] = write_pgn(report).encode()

    def join_games(self) -> bytes:
        """Return the page as it is now."""
        return b"\n".join(self._texts[index] for index in sorted(self._texts))

    async def answer_request(self, request: ServedRequest, reply: ServedReply) -> None:
        """Answer one request: with the page, or with 304 if it has not changed."""
        if request.path != PATH:
            await reply.send_whole(404)
            return
        page = self.join_games()
        tag = f'"{hashlib.sha256(page).hexdigest()[:16]}"'
        headers = {"ETag": self.weak + tag}
        if tag in request.headers.get("if-none-match", ""):
            await reply.send_whole(304, headers=headers)
        else:
            await reply.send_whole(200, page, {**headers, "Content-Type": _PGN})


ROUND_ID = "Rehearse"
#: Text between games and after the last (lila Annotator.toPgnString): two blank lines.
GAME_END = "\n\n"


class LichessRehearsal(Rehearsal):
    """Playback as one lichess broadcast round, with its stream and its export.

    The bytes are those that lichess sends. Sources: lichess API documentation ("Stream
    an ongoing broadcast round as PGN") and lila's RelayPgnStream, RelayRound controller
    and Annotator. Like that of lichess, the stream does not report takebacks, does not
    end by itself, and begins with every game of the round. Before the round has begun,
    the stream sends nothing.

    ``keep_alive_s`` is the time without data after which the stream sends a space: a
    minute on lichess.
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        clock: Clock = LOOP_CLOCK,
        keep_alive_s: float = 60.0,
        round_id: str = ROUND_ID,
    ) -> None:
        super().__init__(games, clock)
        self.round_id = round_id
        self._keep_alive_s = keep_alive_s
        self._sent: dict[int, GameReport] = {}
        self._listeners: set[_Listener] = set()

    @asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; yield the value for ``--feed``."""
        async with serve_http(self.answer_request, host, port) as origin:
            yield f"lichess+{origin}/broadcast/rehearsal/round/{self.round_id}"

    async def play_moment(self, index: int, report: GameReport) -> None:
        """Send the next moment to all listeners, unless the moment only takes moves
        back.
        """
        before = self._sent.get(index, report)
        plies = len(report.moves)
        is_shorter = plies < len(before.moves)
        if is_shorter and replace(before, moves=before.moves[:plies]) == report:
            self.store_unsent(index, report)
            return
        self._sent[index] = report
        self.show_report(index, report)
        await self.wait_until_sent()

    def show_report(self, index: int, report: GameReport) -> None:
        """Put this report of the game with this index in the round, and send it to all
        listeners.
        """
        self.store_unsent(index, report)
        for listener in self._listeners:
            listener.put_game(index, self._texts[index])

    def store_unsent(self, index: int, report: GameReport) -> None:
        """Put this report in the round without sending it (a takeback, a clock
        correction).
        """
        self._texts[index] = self._write_game(index, report)

    async def wait_until_sent(self) -> None:
        """Wait until all queued texts have been sent to every listener."""
        await asyncio.sleep(0)
        for listener in list(self._listeners):
            await listener.empty.wait()

    def join_games(self) -> bytes:
        """Return the round's export as it is now."""
        return b"".join(self._texts[index] for index in sorted(self._texts))

    def _write_game(self, index: int, report: GameReport) -> bytes:
        """Return one game as lila writes it: without scores until the game ends."""
        round_url = f"https://lichess.org/broadcast/rehearsal/round/{self.round_id}"
        broadcast = {
            "BroadcastName": report.headers.event or "Rehearsal",
            "BroadcastURL": round_url,
            "UTCDate": "2026.11.22",
            "UTCTime": "14:58:03",
        }
        if report.result == "*":
            moves = tuple(replace(move, eval=None) for move in report.moves)
            report = replace(report, moves=moves)
        text = write_pgn(
            report, f"{round_url}/{self.chapter_id(index)}", more=broadcast
        )
        return (text + GAME_END).encode()

    def chapter_id(self, index: int) -> str:
        """Return the lichess id of the game with this index."""
        return f"{self.round_id[-2:]}{index:06}"

    async def answer_request(self, request: ServedRequest, reply: ServedReply) -> None:
        """Answer one request with the stream, the export, or lichess's page for 404."""
        if request.path == f"/api/stream/broadcast/round/{self.round_id}.pgn":
            await self.send_stream(reply)
        elif request.path == f"/api/broadcast/round/{self.round_id}.pgn":
            await reply.send_whole(200, self.join_games(), {"Content-Type": _PGN})
        else:
            html = {"Content-Type": "text/html; charset=utf-8"}
            await reply.send_whole(
                404, b"<!DOCTYPE html><title>404</title>Page not found!", html
            )

    async def send_stream(self, reply: ServedReply) -> None:
        """Send all games, then each game that changes, with a space as keep-alive."""
        await reply.begin_chunks({"Content-Type": _PGN})
        listener = _Listener(self.first_games())
        self._listeners.add(listener)
        try:
            while True:
                while (text := listener.take_game()) is not None:
                    await reply.send_chunk(text)
                listener.empty.set()
                try:
                    async with self._clock.deadline(self._keep_alive_s):
                        await listener.some.wait()
                except TimeoutError:
                    await reply.send_chunk(b" ")
        finally:
            listener.empty.set()
            self._listeners.discard(listener)

    def first_games(self) -> dict[int, bytes]:
        """Return the games that are sent first to a new listener."""
        return self._texts


class _Listener:
    """Texts that are still to be sent on one connection, the latest of each game."""

    def __init__(self, texts: dict[int, bytes]) -> None:
        self._waiting = dict(texts)
        self.some = asyncio.Event()
        self.empty = asyncio.Event()

    def put_game(self, index: int, text: bytes) -> None:
        self._waiting.pop(index, None)
        self._waiting[index] = text
        self.empty.clear()
        self.some.set()

    def take_game(self) -> bytes | None:
        if not self._waiting:
            self.some.clear()
            return None
        return self._waiting.pop(next(iter(self._waiting)))


async def rehearse(
    games: Sequence[GameReport],
    protocol: Protocols,
    *,
    speed: float = 1.0,
    mistakes: Sequence[Mistake] = (),
    host: str = "127.0.0.1",
    port: int = 0,
    to: str = "",
    linger_s: float = 60.0,
) -> None:
    """Play games back over one protocol; return ``linger_s`` seconds after the last
    result.

    Prints the ``live-rate`` command to follow the playback to standard output, and
    progress to standard error.

    Raises:
        InputError: the address or folder to serve at cannot be used.
        PortInUse: another program is listening there.
    """
    rehearsal = open_rehearsal(protocol, games, to=to)
    wrong = plan_mistakes(mistakes, games)
    moments = len(plan_timeline(games, incidents=wrong))
    try:
        async with rehearsal.serve(host, port) as spec:
            Console().print(
                f"live-rate --feed {shlex.quote(spec)}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
            console = Console(stderr=True)
            with Progress(console=console, disable=not console.is_terminal) as bar:
                task = bar.add_task(f"{len(games)} games", total=moments)

                def show_progress(moment: GameMoment) -> None:
                    game = moment.report
                    board = game.headers.round or str(moment.game + 1)
                    last = game.moves[-1].san if game.moves else ""
                    text = escape(f"{board}: {last} {game.result}")
                    bar.update(task, advance=1, description=text)

                await rehearsal.play_games(speed, wrong, show_progress)
                over = f"over, serving {linger_s:g} s more"
                bar.update(task, completed=moments, description=over)
                await asyncio.sleep(linger_s)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"{host}:{port}", "is taken", "Choose another --port"
            ) from None
        raise InputError(
            "rehearse",
            f"cannot serve there ({error.strerror})",
            "Check --host, --port and --to",
        ) from None


Protocols = Literal["lichess", "pgn-url", "folder"]


def open_rehearsal(
    protocol: Protocols, games: Sequence[GameReport], *, to: str
) -> Rehearsal:
    """Return a rehearsal of ``games`` over ``protocol``.

    ``to`` is the folder of the protocol ``folder``; if empty, a temporary folder is
    used.

    Raises:
        InputError: ``to`` is given for another protocol.
    """
    if protocol == "folder":
        folder = Path(to).expanduser() if to else None
        return FolderRehearsal(games, folder=folder)
    if to:
        raise InputError("--to", f"means nothing for {protocol}", "It is for folder")
    if protocol == "lichess":
        return LichessRehearsal(games)
    return PgnUrlRehearsal(games)
