"""What goes wrong during a rehearsal, decided from a seed; and the rehearsals it
befalls.
"""

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Literal

import msgspec

from live.messages.from_sources import GameReport
from live.rehearse.rehearsal import (
    FolderRehearsal,
    LichessRehearsal,
    PgnUrlRehearsal,
    Rehearsal,
    write_pgn,
)
from live.rehearse.web_server import ServedReply, ServedRequest
from live.sources.game_timeline import PlannedIncident

#: Connections after this many are good: a rehearsal has to come to its end. So are the
#: answers of a server that is asked again and again, and messages of a source that
#: speaks by itself.
BAD_CONNECTIONS = 6
BAD_REQUESTS = 60
BAD_MESSAGES = 400
#: How many of those answers are bad.
BAD_SHARE = 0.25

#: ``drop``: the connection breaks off first; ``repeat``: it is sent twice; ``garble``:
#: something unreadable comes before it; ``stall``: it comes only with the next of its
#: game.
Mishap = Literal["", "drop", "repeat", "garble", "stall"]
_MISHAPS: tuple[Mishap, ...] = ("drop", "repeat", "garble", "stall")

ALL_WELL: Iterator[Mishap] = repeat("")


class ConnectionFaults(msgspec.Struct, frozen=True):
    """How one connection fares."""

    refuse: int = 0
    """HTTP status it is refused with; 0 for none."""
    retry_after_s: int | None = None
    drop_after: int | None = None
    """Bytes of the body after which it breaks off, in mid-line as it happens."""
    stall_after: int | None = None
    """Bytes of the body after which nothing more comes, though the connection stays."""
    cuts: tuple[int, ...] = ()
    """Lengths of the pieces that the bytes come in, again and again; empty: uncut."""
    repeat: bool = False
    """Every game comes twice."""
    half: bool = False
    """Only the first half comes and nothing says so: a file that was just being
    written.
    """


GOOD = ConnectionFaults()
ALL_GOOD: Iterator[ConnectionFaults] = repeat(GOOD)


def fates(
    seed: int | None, most: int, *, share: float = 1.0, half: bool = False
) -> Iterator[ConnectionFaults]:
    """What becomes of each connection or answer in turn, without end; all are good when
    ``seed`` is None, and but for cuts after ``most``, of which a ``share`` is bad.
    ``half``: a text may be cut where nothing says so.

    None asks for fewer requests: a follower would stay away for a minute.
    """
    if seed is None:
        yield from ALL_GOOD
    chance = random.Random(seed)
    for _ in range(most if share < 1 else chance.randint(1, most)):
        yield _bad(chance, half) if chance.random() < share else GOOD
    cuts = tuple(chance.randint(1, 3000) for _ in range(17))
    yield from repeat(ConnectionFaults(cuts=cuts))


def _bad(chance: random.Random, half: bool) -> ConnectionFaults:
    cuts = tuple(chance.randint(1, 200) for _ in range(17))
    after = chance.randint(0, 30_000)
    refused = ConnectionFaults(refuse=chance.choice([500, 502, 503]))
    dropped = ConnectionFaults(
        drop_after=after, cuts=cuts, repeat=chance.random() < 0.3
    )
    stalled = ConnectionFaults(stall_after=after, cuts=cuts)
    return chance.choice(
        [refused, dropped, stalled, *[ConnectionFaults(half=True)] * half]
    )


def mishaps(seed: int | None) -> Iterator[Mishap]:
    """What goes wrong with each message of a source that speaks by itself; without end.

    All is well after :data:`BAD_MESSAGES`, and when ``seed`` is None.
    """
    if seed is not None:
        chance = random.Random(seed)
        rate = chance.choice([0.02, 0.1, 0.3])
        for _ in range(BAD_MESSAGES):
            bad = chance.random() < rate
            yield chance.choice(_MISHAPS) if bad else ""
    yield from ALL_WELL


def incidents(seed: int | None, games: Sequence[GameReport]) -> list[PlannedIncident]:
    """Which boards take a move back or send a wrong one first; none when ``seed`` is
    None.
    """
    if seed is None:
        return []
    chance = random.Random(seed)
    found = []
    for index, game in enumerate(games):
        if game.moves and chance.random() < 0.5:
            kind: Literal["slip", "takeback"] = (
                "slip" if chance.random() < 0.7 else "takeback"
            )
            found.append(
                PlannedIncident(kind, index, chance.randint(1, len(game.moves)))
            )
    return found


class _Stalled(Exception):
    """Nothing more is sent, though the connection stays."""


class FaultyReply(ServedReply):
    """An answer that fares as its fate has it."""

    def __init__(self, reply: ServedReply, fate: ConnectionFaults) -> None:
        super().__init__(reply.writer)
        self._fate = fate
        self._sent = self._cut = 0

    async def send_whole(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        if await self.refused():
            return
        more = dict(headers or {})
        if self._fate.half:
            body = body[: len(body) // 2]
            more.pop("ETag", None)  # what was read has no tag of the whole
        try:
            await super().send_whole(status, body, more)
        except _Stalled:
            await self.writer.wait_closed()

    def drop(self) -> None:
        """Break the connection off, as a proxy that restarts does."""
        self.writer.transport.abort()

    async def send_chunk(self, data: bytes) -> None:
        async for piece in self._pieces(data * (1 + self._fate.repeat)):
            await super().send_chunk(piece)

    async def _write_body(self, body: bytes) -> None:
        async for piece in self._pieces(body):
            await super()._write_body(piece)

    async def refused(self) -> bool:
        """Whether that is its fate, which is done then."""
        fate = self._fate
        if fate.refuse:
            wait = (
                {}
                if fate.retry_after_s is None
                else {"Retry-After": str(fate.retry_after_s)}
            )
            await super().send_whole(fate.refuse, headers=wait)
        return fate.refuse != 0

    async def _pieces(self, data: bytes) -> AsyncIterator[bytes]:
        """A part of the body as its fate cuts it, as far as it comes."""
        fate, at = self._fate, 0
        while at < len(data):
            size = len(data) - at
            if fate.cuts:
                size = min(size, fate.cuts[self._cut % len(fate.cuts)])
                self._cut += 1
            for limit in (fate.drop_after, fate.stall_after):
                if limit is not None:
                    size = min(size, limit - self._sent)
            yield data[at : at + size]
            at += size
            self._sent += size
            if self._sent == fate.drop_after:
                await self.writer.drain()
                self.drop()
                raise ConnectionAbortedError
            if self._sent == fate.stall_after:
                raise _Stalled


class FaultyLichess(LichessRehearsal):
    """``fates`` are those of the stream's connections."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        fates: Iterator[ConnectionFaults] = ALL_GOOD,
        **how: Any,
    ) -> None:
        super().__init__(games, **how)
        self._fates = fates
        self._replies: list[FaultyReply] = []
        self.connected = asyncio.Event()
        """Somebody has begun to listen to the stream."""

    async def send_stream(self, reply: ServedReply) -> None:
        faulty = FaultyReply(reply, next(self._fates))
        if await faulty.refused():
            return
        self.connected.set()
        self._replies.append(faulty)
        try:
            await super().send_stream(faulty)
        except _Stalled:  # no longer one of those that are waited for
            await reply.writer.wait_closed()

    def hang_up(self) -> None:
        """Break every connection to the stream off."""
        for reply in self._replies:
            reply.drop()


class FaultyPage(PgnUrlRehearsal):
    """Every answer has one of these fates."""

    fates = ALL_GOOD

    async def answer_request(self, request: ServedRequest, reply: ServedReply) -> None:
        await super().answer_request(request, FaultyReply(reply, next(self.fates)))


class MishapRehearsal(Rehearsal):
    """A source that speaks by itself, and what goes wrong with each moment."""

    mishaps = ALL_WELL

    def drop(self) -> Awaitable[None] | None:
        """Break connections off."""
        raise NotImplementedError

    def garble(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """Show something unreadable of a game."""
        raise NotImplementedError

    async def play_moment(self, index: int, report: GameReport) -> None:
        mishap = next(self.mishaps)
        self._stalled.pop(index, None)
        if mishap == "stall":
            self._stalled[index] = report
            return
        if mishap == "drop":
            await _done(self.drop())
        elif mishap == "garble":
            await _done(self.garble(index, report))
        for _ in range(1 + (mishap == "repeat")):
            await _done(self.show_report(index, report))

    async def play_games(self, *args: Any, **how: Any) -> None:
        self._stalled: dict[int, GameReport] = {}
        await super().play_games(*args, **how)
        for index, report in self._stalled.items():
            await _done(self.show_report(index, report))


async def _done(result: Awaitable[None] | None) -> None:
    if inspect.isawaitable(result):
        await result


class FaultyFolder(MishapRehearsal, FolderRehearsal):
    def garble(self, index: int, report: GameReport) -> None:
        text = write_pgn(report)
        self.write_file(index, text[: len(text) * 2 // 3])

    def drop(self) -> None:
        """All files are gone for a moment, as when a share is connected anew."""
        away = {path: path.read_bytes() for path in self._folder.glob("game-*.pgn")}
        for path in away:
            path.unlink()
        for path, text in away.items():
            path.write_bytes(text)
