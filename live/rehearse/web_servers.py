"""The least HTTP server that rehearsals need: HTTP/1.1, GET, plain or chunked answers.

Written by hand because a rehearsal has to do what no proper server does: cut bytes anywhere,
break off in mid-line, promise more than it sends.

A tournament's web server on this machine: one PGN page that changes while games are played.

A lichess broadcast round on this machine: the stream as lichess sends it, byte for byte.

Sources: lichess API documentation ("Stream an ongoing broadcast round as PGN") and lila's
RelayPgnStream, RelayRound controller and Annotator. Like the original, the stream never reports
that moves were taken back, never ends by itself, and sends what it has from the start to
whoever connects: nothing at all before the round has begun.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlsplit

import chess
import msgspec

from live.clock import Clock
from live.events import GameReport
from live.rehearse.rehearsal import GOOD, ConnectionFaults, Rehearsal, connections, pgn_text


class ServedRequest(msgspec.Struct, frozen=True):
    """A request's first line and headers; a body is never read."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    """Names in lower case."""


class ServedReply:
    """One answer on one connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def whole(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """An answer of known length."""
        length = {} if status == HTTPStatus.NOT_MODIFIED else {"Content-Length": str(len(body))}
        self._head(status, {**length, **(headers or {})})
        self._writer.write(body)
        await self._writer.drain()

    async def fated(self, fate: ConnectionFaults, body: bytes, headers: Mapping[str, str]) -> None:
        """An answer of known length, or what its fate makes of it."""
        if await self.refused(fate):
            return
        after = min((n for n in (fate.drop_after, fate.stall_after) if n is not None), default=None)
        if fate.half:  # what was read has no tag of the whole
            told = {name: value for name, value in headers.items() if name != "ETag"}
            await self.whole(200, body[: len(body) // 2], told)
            return
        if after is None:
            await self.whole(200, body, headers)
            return
        self._head(200, {"Content-Length": str(len(body)), **headers})
        self._writer.write(body[: min(after, len(body) - 1)])
        await self._writer.drain()
        if fate.stall_after is None:
            self.drop()
        # Stalled: until the other side has had enough.
        await self.gone()

    async def refused(self, fate: ConnectionFaults) -> bool:
        """Whether that is its fate."""
        if fate.refuse:
            wait = {} if fate.retry_after_s is None else {"Retry-After": str(fate.retry_after_s)}
            await self.whole(fate.refuse, b'{"error":"Too many requests"}', wait)
        return fate.refuse != 0

    async def gone(self) -> None:
        """Wait until the other side is gone, and raise ConnectionError."""
        await self._writer.wait_closed()
        raise ConnectionAbortedError

    async def begin(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        """The head of an answer that comes in chunks."""
        self._head(status, {"Transfer-Encoding": "chunked", **(headers or {})})
        await self._writer.drain()

    async def chunk(self, data: bytes) -> None:
        """One chunk; empty data is not sent, as it would end the answer."""
        if data:
            self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await self._writer.drain()

    async def end(self) -> None:
        """The end of a chunked answer."""
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    def drop(self) -> None:
        """Break the connection off, as a proxy that restarts does."""
        self._writer.transport.abort()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))


Handler = Callable[[ServedRequest, ServedReply], Awaitable[None]]


@contextlib.asynccontextmanager
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
        except (ConnectionError, TimeoutError):
            pass
        except asyncio.CancelledError:
            pass  # the block was left; nobody awaits this task
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
    method, _, rest = first.partition(" ")
    target = urlsplit(rest.rpartition(" ")[0])
    pairs = (line.partition(":") for line in lines if line)
    return ServedRequest(
        method=method,
        path=unquote(target.path),
        query=dict(parse_qsl(target.query)),
        headers={name.strip().lower(): value.strip() for name, _, value in pairs},
    )


PATH = "/games.pgn"
Answer = Callable[[ServedRequest, ServedReply], Awaitable[None]]


class PgnUrlRehearsal(Rehearsal):
    """Plays games back as a PGN page with ETag, sent whole at every request.

    ``weak`` gives weak tags. Answers in ``instead`` are sent first, each once, then the page.
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        clock: Clock | None = None,
        weak: bool = False,
        fates: Iterator[ConnectionFaults] | None = None,
    ) -> None:
        super().__init__(games, clock)
        self._weak = weak
        self._fates = fates or connections(None)
        self._texts: dict[int, bytes] = {}
        self.instead: deque[Answer] = deque()
        self.requests: list[ServedRequest] = []
        self.asked = asyncio.Event()
        """Set by every request."""

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
        """One request: what is asked for ``instead``, or the page, or 304."""
        self.requests.append(request)
        self.asked.set()
        if self.instead:
            await self.instead.popleft()(request, reply)
            return
        if request.path != PATH:
            await reply.whole(404)
            return
        page = self.final_pgn()
        strong = f'"{hashlib.sha256(page).hexdigest()[:16]}"'
        tag = f"W/{strong}" if self._weak else strong
        known = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
        if strong in (one.removeprefix("W/") for one in known):
            await reply.whole(304, headers={"ETag": tag})
            return
        headers = {"ETag": tag, "Content-Type": "application/x-chess-pgn"}
        await reply.fated(next(self._fates, GOOD), page, headers)


ROUND_ID = "Rehearse"
TOUR_ID = "RehTour1"
#: Between games and after the last (lila Annotator.toPgnString): two blank lines.
GAME_END = "\n\n"


class LichessRehearsal(Rehearsal):
    """Plays games back as one broadcast round.

    ``seed`` decides the connections' faults; ``keep_alive_s`` is a minute at lichess.
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        clock: Clock | None = None,
        keep_alive_s: float = 60.0,
        token: str = "",
        fates: Iterator[ConnectionFaults] | None = None,
        round_id: str = ROUND_ID,
        following: LichessRehearsal | None = None,
    ) -> None:
        """``following``: the next round of the same tournament."""
        super().__init__(games, clock)
        self._round_id = round_id
        self._next = following
        self.started = True
        """Before that the stream is silent, and an export has pairings at most."""
        self._told: dict[int, GameReport] = {}
        self._keep_alive_s = keep_alive_s
        self.token = token
        """Asked for with every request; empty: anybody may read."""
        self._fates = fates or connections(None)
        self._texts: dict[int, bytes] = {}
        self._shown: dict[int, GameReport] = {}
        self._listeners: set[_Listener] = set()
        self.connected = asyncio.Event()
        """Set while somebody listens to the stream."""
        self.tour_over = True
        """Every round of the tournament has ended."""
        self.export = True
        """The round can be had as a whole."""
        self.listing = True
        """The short list of the round's boards can be had."""
        self.stalled = False
        """The last connection to be stalled still hangs."""
        self.requests: list[ServedRequest] = []

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block runs; gives the ``--feed`` text."""
        async with serving(self._answer, host, port) as origin:
            yield f"lichess+{origin}/broadcast/rehearsal/round/{self._round_id}"

    async def tell(self, index: int, report: GameReport) -> None:
        """As the stream does: not a word of a move that was only taken back."""
        before = self._told.get(index)
        if before is not None and _only_shorter(report, before):
            self.keep_back(index, report)
            return
        self._told[index] = report
        self.show(index, report)
        await self.heard()

    def show(self, index: int, report: GameReport) -> None:
        """The round now holds this of game number ``index``: send it to all listeners."""
        self._texts[index] = self._text(index, report)
        self._shown[index] = report
        if self.started:
            for listener in self._listeners:
                listener.put(index, self._texts[index])

    def start(self) -> None:
        """The round begins: everybody who listens is sent what there is."""
        self.started = True
        for listener in self._listeners:
            for index, text in self._texts.items():
                listener.put(index, text)

    def keep_back(self, index: int, report: GameReport) -> None:
        """The round now holds this, but the stream does not send it (a takeback, a clock fix)."""
        self._texts[index] = self._text(index, report)
        self._shown[index] = report

    def forget(self, index: int) -> None:
        """The round no longer holds this game; the stream does not say so."""
        del self._texts[index], self._shown[index]

    def hang_up(self) -> None:
        """Break every connection to the stream off."""
        for listener in self._listeners:
            listener.hang_up()

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
        round_url = f"https://lichess.org/broadcast/rehearsal/round/{self._round_id}"
        broadcast = {
            "BroadcastName": report.headers.event or "Rehearsal",
            "BroadcastURL": round_url,
            "UTCDate": "2026.11.22",
            "UTCTime": "14:58:03",
        }
        if report.result == "*":
            moves = tuple(msgspec.structs.replace(move, eval=None) for move in report.moves)
            report = msgspec.structs.replace(report, moves=moves)
        text = pgn_text(report, f"{round_url}/{self._chapter(index)}", more=broadcast)
        return (text + GAME_END).encode()

    def _chapter(self, index: int) -> str:
        return f"{self._round_id[-2:]}{index:06}"

    async def _answer(self, request: ServedRequest, reply: ServedReply) -> None:
        self.requests.append(request)
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            await reply.whole(401, b'{"error":"Missing or unknown token"}')
            return
        if self._next is not None and self._next._round_id in request.path:
            await self._next._answer(request, reply)
            return
        id = self._round_id
        json = {"Content-Type": "application/json"}
        match request.path:
            case path if path == f"/api/stream/broadcast/round/{id}.pgn":
                await self._stream(reply)
            case path if path == f"/api/stream/broadcast/tour/{TOUR_ID}.pgn":
                await self._stream(reply)
            case path if path == f"/api/broadcast/{TOUR_ID}":
                await reply.whole(200, msgspec.json.encode(self._tournament()), json)
            case path if path == f"/api/broadcast/-/-/{id}" and self.listing:
                await reply.whole(200, msgspec.json.encode(self._round()), json)
            case path if path == f"/api/broadcast/round/{id}.pgn" and self.export:
                kind = {"Content-Type": "application/x-chess-pgn"}
                await reply.whole(200, self.final_pgn(), kind)
            case _:
                html = {"Content-Type": "text/html; charset=utf-8"}
                await reply.whole(404, b"<!DOCTYPE html><title>404</title>Page not found!", html)

    def _tournament(self) -> dict[str, object]:
        rounds: list[dict[str, object]] = []
        each: LichessRehearsal | None = self
        while each is not None:
            ended = each._shown and all(game.result != "*" for game in each._shown.values())
            state = {"finishedAt": 1} if ended and self.tour_over else {"ongoing": each.started}
            rounds.append({"id": each._round_id, "name": "Round", **state})
            each = each._next
        return {"tour": {"id": TOUR_ID}, "rounds": rounds}

    def _round(self) -> dict[str, object]:
        """The short list of the boards (lila ChapterPreview): no FEN at the starting position."""
        boards = []
        for index, report in sorted(self._shown.items()):
            position = chess.Board(report.start_fen, chess960=report.headers.variant == "chess960")
            for move in report.moves:
                position.push_uci(move.uci)
            fen = {} if position.fen() == chess.STARTING_FEN else {"fen": position.fen()}
            status = report.result.replace("1/2", "½")
            boards.append(
                {"id": self._chapter(index), "name": "Chapter 1", "status": status, **fen}
            )
        return {"round": {"id": self._round_id}, "tour": {"id": TOUR_ID}, "games": boards}

    async def _stream(self, reply: ServedReply) -> None:
        fate = next(self._fates, GOOD)
        if await reply.refused(fate):
            return
        listener = _Listener(self._texts if self.started else {}, reply.drop)
        self._listeners.add(listener)
        self.connected.set()
        try:
            await reply.begin(200, {"Content-Type": "application/x-chess-pgn"})
            sender = _Sender(reply, fate)
            await sender.send_all(self._texts_for(listener))
            # Only a stall comes back: the connection stays, until the other side has had enough.
            listener.empty.set()
            self._listeners.discard(listener)
            self.stalled = True
            await asyncio.Event().wait()
        finally:
            self.stalled = False
            listener.empty.set()
            self._listeners.discard(listener)
            if not self._listeners:
                self.connected.clear()

    async def _texts_for(self, listener: _Listener) -> AsyncIterator[bytes]:
        while True:
            while (text := listener.take()) is not None:
                yield text
            listener.empty.set()
            try:
                async with self._clock.deadline(self._keep_alive_s):
                    await listener.some.wait()
            except TimeoutError:
                yield b" "


class _Listener:
    """What one connection has still to be sent; a game that changes again waits only once."""

    def __init__(self, texts: dict[int, bytes], hang_up: Callable[[], None]) -> None:
        self.hang_up = hang_up
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


class _Sender:
    """Sends texts as one connection's fate has it."""

    def __init__(self, reply: ServedReply, fate: ConnectionFaults) -> None:
        self._reply = reply
        self._fate = fate
        self._sent = 0
        self._piece = 0

    async def send_all(self, texts: AsyncIterator[bytes]) -> None:
        """Returns when nothing more is to come though the connection stays."""
        async for text in texts:
            if not await self._send(text * 2 if self._fate.repeat else text):
                return

    async def _send(self, text: bytes) -> bool:
        at = 0
        while at < len(text):
            size = len(text) - at
            if cuts := self._fate.cuts:
                size = min(size, cuts[self._piece % len(cuts)])
                self._piece += 1
            for limit in (self._fate.drop_after, self._fate.stall_after):
                if limit is not None:
                    size = min(size, limit - self._sent)
            await self._reply.chunk(text[at : at + size])
            at += size
            self._sent += size
            if self._sent == self._fate.drop_after:
                self._reply.drop()
                raise ConnectionAbortedError
            if self._sent == self._fate.stall_after:
                return False
        return True


def _only_shorter(now: GameReport, before: GameReport) -> bool:
    """A move was taken back and nothing else changed."""
    return (
        len(now.moves) < len(before.moves)
        and now.moves == before.moves[: len(now.moves)]
        and (now.headers, now.result) == (before.headers, before.result)
    )
