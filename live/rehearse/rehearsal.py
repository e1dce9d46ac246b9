"""Plays games back as a real broadcast: the moments, one after the other at their time, with the
mistakes that were asked for.

A report written as PGN, the way lichess exports a broadcast game. A folder as DGT LiveChess exports
it: a file for each board, rewritten at every move.

A tournament's web server: one PGN page that changes while games are played.

A lichess broadcast round on this machine: the stream as lichess sends it, byte for byte. Sources:
lichess API documentation ("Stream an ongoing broadcast round as PGN") and lila's RelayPgnStream,
RelayRound controller and Annotator. Like the original, the stream never reports that moves were
taken back, never ends by itself, and sends what it has from the start to whoever connects: nothing
at all before the round has begun.

``live-rate rehearse``: a rehearsal from start to end, with its progress shown.
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

from live.clock import LOOP_CLOCK, Clock
from live.errors import InputError, PortInUse
from live.events import GameReport, Move
from live.feeds.game_timeline import GameMoment, Mistake, PlannedIncident, timeline
from live.publish.exports import (
    clock_command,
    eval_command,
    numbered,
    player_tags,
    tag_lines,
)
from live.rehearse.web_server import ServedReply, ServedRequest, serving


def pgn_text(game: GameReport, url: str = "", more: Mapping[str, str] | None = None) -> str:
    """One game ending in its result token and one line end.

    As lichess writes it (lila PgnDump, scalachess Pgn): movetext in one line, a clock of whole
    seconds without padded hours after every move, `` *`` for a game without moves. ``url`` is
    the ``GameURL`` header, the only stable key a game has there; ``more`` are further tags.
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
        **dict(player_tags(headers.white, headers.black)),
        "TimeControl": headers.time_control,
        "Variant": "Chess960" if headers.variant == "chess960" else headers.variant.capitalize(),
        "FEN": game.start_fen if setup else None,
        "SetUp": "1" if setup else None,
        "GameURL": url or headers.url,
        **(more or {}),
    }
    moves = numbered(game, ((move.san, _commands(move)) for move in game.moves))
    text = " ".join([*moves, *_broken(game.problem), game.result])
    return f"{tag_lines(tags.items())}\n{'' if game.moves else ' '}{text}\n"


def _broken(problem: str | None) -> list[str]:
    """What a reader cannot read where the report says so: the illegal move, or a comment without an
    end, as far as the next game.
    """
    match (problem or "").split():
        case ["illegal", "move", san, *_]:
            return [san]
        case ["a", "comment", *_]:
            return ["{ never closed"]
    return []


def _commands(move: Move) -> list[str]:
    score = [] if move.eval is None else [eval_command(move.eval.cp, move.eval.mate)]
    return score + ([] if move.clock_s is None else [clock_command(int(move.clock_s))])


def mistaken_on(kinds: Sequence[Mistake], games: Sequence[GameReport]) -> list[PlannedIncident]:
    """One mistake each on the first boards, in the middle of the game; what the alerts are for."""
    played = [(index, game) for index, game in enumerate(games) if len(game.moves) > 2]
    return [
        PlannedIncident(kind, index, len(game.moves) // 2)
        for kind, (index, game) in zip(kinds, played, strict=False)
    ]


class Rehearsal(ABC):
    """Plays games back over one protocol.

    ::

        async with rehearsal.serving() as feed_spec:
            await rehearsal.play(speed=60)
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        self._games = list(games)
        self._clock = clock
        self._texts: dict[int, bytes] = {}
        """What others can see of each game."""

    @abstractmethod
    def serving(self, host: str = "127.0.0.1", port: int = 0) -> AbstractAsyncContextManager[str]:
        """Serve while the block runs; gives the ``--feed`` text."""

    @abstractmethod
    def show(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """The source now holds this of game number ``index`` (from 0), where others can see it."""

    def tell(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """The next moment of game number ``index``: what :meth:`play` does with it."""
        return self.show(index, report)

    async def play(
        self,
        speed: float = 1.0,
        incidents: Iterable[PlannedIncident] = (),
        shown: Callable[[GameMoment], object] = lambda moment: None,
    ) -> None:
        """Show the games move by move, ``speed`` times as fast as they were played; ``shown`` is
        called with each moment after it was shown.

        Returns when the last result is in, where the protocol sends results; serving goes on.
        """
        start_s = self._clock.now()
        for moment in timeline(self._games, speed=speed, incidents=incidents):
            await self._clock.sleep(max(0.0, start_s + moment.at_s - self._clock.now()))
            result = self.tell(moment.game, moment.report)
            if inspect.isawaitable(result):
                await result
            shown(moment)


class FolderRehearsal(Rehearsal):
    """Writes games into ``FOLDER/round-1/game-N.pgn``, each file in place and not at once."""

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
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """The folder stands while the block runs; gives the ``--feed`` text.

        A folder that was given stays afterwards; host and port mean nothing here.
        """
        with tempfile.TemporaryDirectory(prefix="live-rate-") as own:
            self._folder = (self._given or Path(own)) / "round-1"
            self._folder.mkdir(parents=True, exist_ok=True)
            yield f"folder+{self._folder.parent}"

    def show(self, index: int, report: GameReport) -> None:
        """The file of game number ``index`` (from 0) now holds this."""
        self.write(index, pgn_text(report))

    def write(self, index: int, text: str) -> None:
        """The file of game number ``index`` (from 0) now holds this text."""
        (self._folder / f"game-{index + 1}.pgn").write_text(text, encoding="utf-8")


_PGN = "application/x-chess-pgn"
PATH = "/games.pgn"


class PgnUrlRehearsal(Rehearsal):
    """Plays games back as a PGN page with ETag, sent whole at every request."""

    weak = ""
    """``W/`` where the tags are weak."""

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; gives the ``--feed`` text."""
        async with serving(self.answer, host, port) as origin:
            yield f"{origin}{PATH}"

    def show(self, index: int, report: GameReport) -> None:
        """The page now holds this of game number ``index``."""
        self._texts[index] = pgn_text(report).encode()

    def final_pgn(self) -> bytes:
        """The page as it stands."""
        return b"\n".join(self._texts[index] for index in sorted(self._texts))

    async def answer(self, request: ServedRequest, reply: ServedReply) -> None:
        """One request: the page, or 304."""
        if request.path != PATH:
            await reply.whole(404)
            return
        page = self.final_pgn()
        tag = f'"{hashlib.sha256(page).hexdigest()[:16]}"'
        headers = {"ETag": self.weak + tag}
        if tag in request.headers.get("if-none-match", ""):
            await reply.whole(304, headers=headers)
        else:
            await reply.whole(200, page, {**headers, "Content-Type": _PGN})


ROUND_ID = "Rehearse"
#: Between games and after the last (lila Annotator.toPgnString): two blank lines.
GAME_END = "\n\n"


class LichessRehearsal(Rehearsal):
    """Plays games back as one broadcast round: its stream and its export.

    ``keep_alive_s`` is a minute at lichess.
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
        self._told: dict[int, GameReport] = {}
        self._listeners: set[_Listener] = set()

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; gives the ``--feed`` text."""
        async with serving(self.answer, host, port) as origin:
            yield f"lichess+{origin}/broadcast/rehearsal/round/{self.round_id}"

    async def tell(self, index: int, report: GameReport) -> None:
        """As the stream does: not a word of a move that was only taken back."""
        before, plies = self._told.get(index, report), len(report.moves)
        taken_back = plies < len(before.moves)
        if taken_back and replace(before, moves=before.moves[:plies]) == report:
            self.keep_back(index, report)
            return
        self._told[index] = report
        self.show(index, report)
        await self.heard()

    def show(self, index: int, report: GameReport) -> None:
        """The round now holds this of game number ``index``: send it to all listeners."""
        self.keep_back(index, report)
        for listener in self._listeners:
            listener.put(index, self._texts[index])

    def keep_back(self, index: int, report: GameReport) -> None:
        """The round now holds this, but the stream does not send it (a takeback, a clock fix)."""
        self._texts[index] = self._text(index, report)

    async def heard(self) -> None:
        """Wait until every listener has been sent what there was to send."""
        await asyncio.sleep(0)
        for listener in list(self._listeners):
            await listener.empty.wait()

    def final_pgn(self) -> bytes:
        """The round's export as it stands."""
        return b"".join(self._texts[index] for index in sorted(self._texts))

    def _text(self, index: int, report: GameReport) -> bytes:
        """As lila writes it: no evaluations before server analysis, which follows the end."""
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
        text = pgn_text(report, f"{round_url}/{self.chapter(index)}", more=broadcast)
        return (text + GAME_END).encode()

    def chapter(self, index: int) -> str:
        """The id of game number ``index``."""
        return f"{self.round_id[-2:]}{index:06}"

    async def answer(self, request: ServedRequest, reply: ServedReply) -> None:
        """One request: the stream, the export, or lichess' page for what is not there."""
        if request.path == f"/api/stream/broadcast/round/{self.round_id}.pgn":
            await self.stream(reply)
        elif request.path == f"/api/broadcast/round/{self.round_id}.pgn":
            await reply.whole(200, self.final_pgn(), {"Content-Type": _PGN})
        else:
            html = {"Content-Type": "text/html; charset=utf-8"}
            await reply.whole(404, b"<!DOCTYPE html><title>404</title>Page not found!", html)

    async def stream(self, reply: ServedReply) -> None:
        """All games, then each that changes, and a space where nothing happens; without end."""
        await reply.begin({"Content-Type": _PGN})
        listener = _Listener(self.at_first())
        self._listeners.add(listener)
        try:
            while True:
                while (text := listener.take()) is not None:
                    await reply.chunk(text)
                listener.empty.set()
                try:
                    async with self._clock.deadline(self._keep_alive_s):
                        await listener.some.wait()
                except TimeoutError:
                    await reply.chunk(b" ")
        finally:
            listener.empty.set()
            self._listeners.discard(listener)

    def at_first(self) -> dict[int, bytes]:
        """What whoever connects is sent."""
        return self._texts


class _Listener:
    """What one connection has still to be sent; a game that changes again waits only once."""

    def __init__(self, texts: dict[int, bytes]) -> None:
        self._waiting = dict(texts)
        self.some = asyncio.Event()
        self.empty = asyncio.Event()

    def put(self, index: int, text: bytes) -> None:
        self._waiting.pop(index, None)
        self._waiting[index] = text
        self.empty.clear()
        self.some.set()

    def take(self) -> bytes | None:
        if not self._waiting:
            self.some.clear()
            return None
        return self._waiting.pop(next(iter(self._waiting)))


# --- the command ----------------------------------------------------------------------------------


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
    """Play games back over one protocol; returns ``linger_s`` after the last result.

    The line to follow it with goes to standard output, progress to standard error.

    Raises:
        InputError: the target cannot be used.
        PortInUse: somebody else serves there.
    """
    rehearsal = open_rehearsal(protocol, games, to=to)
    wrong = mistaken_on(mistakes, games)
    moments = len(timeline(games, incidents=wrong))
    try:
        async with rehearsal.serving(host, port) as spec:
            Console().print(
                f"live-rate --feed {shlex.quote(spec)}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
            console = Console(stderr=True)
            with Progress(console=console, disable=not console.is_terminal) as bar:
                task = bar.add_task(f"{len(games)} games", total=moments)

                def shown(moment: GameMoment) -> None:
                    game = moment.report
                    board = game.headers.round or str(moment.game + 1)
                    last = game.moves[-1].san if game.moves else ""
                    said = escape(f"{board}: {last} {game.result}")
                    bar.update(task, advance=1, description=said)

                await rehearsal.play(speed, wrong, shown)
                over = f"over, serving {linger_s:g} s more"
                bar.update(task, completed=moments, description=over)
                await asyncio.sleep(linger_s)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"{host}:{port}", "is taken", "Choose another --port") from None
        raise InputError(
            "rehearse", f"cannot serve there ({error.strerror})", "Check --host, --port and --to"
        ) from None


Protocols = Literal["lichess", "pgn-url", "folder"]


def open_rehearsal(protocol: Protocols, games: Sequence[GameReport], *, to: str) -> Rehearsal:
    """A rehearsal of ``games``. ``to`` names a folder for ``folder``; where it is empty, one of our
    own is used.

    Raises:
        InputError: ``to`` means nothing for this protocol.
    """
    if protocol == "folder":
        folder = Path(to).expanduser() if to else None
        return FolderRehearsal(games, folder=folder)
    if to:
        raise InputError("--to", f"means nothing for {protocol}", "It is for folder")
    return (LichessRehearsal if protocol == "lichess" else PgnUrlRehearsal)(games)
