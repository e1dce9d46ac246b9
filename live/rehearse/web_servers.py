"""The least HTTP server that rehearsals need: HTTP/1.1, GET, plain or chunked answers.

Written by hand because tests make of it what no proper server does: cut bytes anywhere, break off
in mid-line, promise more than it sends.

A tournament's web server on this machine: one PGN page that changes while games are played.

A lichess broadcast round on this machine: the stream as lichess sends it, byte for byte.

Sources: lichess API documentation ("Stream an ongoing broadcast round as PGN") and lila's
RelayPgnStream, RelayRound controller and Annotator. Like the original, the stream never reports
that moves were taken back, never ends by itself, and sends what it has from the start to
whoever connects: nothing at all before the round has begun.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec.structs import replace

from live.clock import Clock
from live.events import GameReport
from live.rehearse.rehearsal import Rehearsal, pgn_text


class ServedRequest(msgspec.Struct, frozen=True):
    """A request's path and headers; a body is never read."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""


class ServedReply:
    """One answer on one connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer

    async def whole(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """An answer of known length."""
        length = {} if status == HTTPStatus.NOT_MODIFIED else {"Content-Length": str(len(body))}
        self._head(status, {**length, **(headers or {})})
        await self._send(body)
        await self.writer.drain()

    async def begin(self, headers: Mapping[str, str] | None = None) -> None:
        """The head of an answer that comes in chunks."""
        self._head(200, {"Transfer-Encoding": "chunked", **(headers or {})})
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        """One chunk; empty data is not sent, as it would end the answer."""
        if data:
            self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await self.writer.drain()

    async def _send(self, body: bytes) -> None:
        self.writer.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))


Handler = Callable[[ServedRequest, ServedReply], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve while the block runs; gives the origin, ``http://127.0.0.1:PORT``.

    Leaving the block breaks open connections off.
    """
    open_tasks: set[asyncio.Task[None]] = set()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_tasks.add(task)
        try:
            while (request := await _read(reader)) is not None:
                await handler(request, ServedReply(writer))
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass  # nobody awaits this task
        finally:
            open_tasks.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(connection, host, port)
    bound = server.sockets[0].getsockname()[1]
    try:
        yield f"http://{host}:{bound}"
    finally:
        server.close()
        for task in list(open_tasks):
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> ServedRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    path = urlsplit(first.partition(" ")[2].rpartition(" ")[0]).path
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return ServedRequest(unquote(path), headers)


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
        clock: Clock | None = None,
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
