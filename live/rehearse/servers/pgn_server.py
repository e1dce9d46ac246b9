"""A tournament's web server on this machine: one PGN page that changes while games are played."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

from live.clock import Clock
from live.events import GameReport
from live.rehearse.pgn_text import pgn_text
from live.rehearse.planned_faults import GOOD, ConnectionFaults, connections
from live.rehearse.rehearsal import Rehearsal
from live.rehearse.servers.http_server import ServedReply, ServedRequest, serving

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
