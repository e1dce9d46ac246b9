"""Evaluations others have made already: lichess cloud evaluations, as provisional scores.

A live position that waits for an engine is looked up at ``GET /api/cloud-eval?fen=FEN``. What is
found there comes from some other engine and limit, so it is shown until this event's own engine
has its final score, and counts for nothing. One request at a time, the newest position first, not
more than one a second; after 429 a pause of a minute, as lichess demands, and after other
trouble a growing one.

Loss policy: positions that cannot be looked up in time are left out.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import Final

import httpx
import msgspec

from live.engine.search import (
    Limit,
    Recent,
    Search,
    SearchFailure,
    SearchKeys,
    SearchProgress,
    SearchResult,
)
from live.engine.search_queue import ResultListener, SearchKind, SearchPriority, SearchRelay
from live.events import MATE_CP, Score
from live.network.retry import doubling

log = logging.getLogger(__name__)

#: Positions that wait to be looked up; older ones are left out.
_WAITING: Final = 32
#: Answers remembered, also that there is none.
_KEPT: Final = 2_000
_PAUSE_S: Final = 1.0
#: "If you receive an HTTP response with a 429 status, please wait a full minute" (lichess API).
_TOO_MANY_S: Final = 60.0
#: After trouble: about so long, and twice as long each time up to the second.
_TROUBLE_S: Final = 2.0
_MOST_S: Final = 300.0
_TIMEOUT_S: Final = 5.0
#: Shown to people as the origin of such a score.
SOURCE: Final = "lichess cloud"
#: Far more than five variations need.
_MOST_BYTES: Final = 65_536


class _Variation(msgspec.Struct):
    cp: int | None = None
    mate: int | None = None


class _CloudEval(msgspec.Struct):
    depth: int
    pvs: list[_Variation]


_decoder = msgspec.json.Decoder(_CloudEval)


def told(body: bytes) -> SearchProgress | None:
    """The score in an answer, White's side; None where it has none.

    Raises ValueError for what is no answer.
    """
    answer = _decoder.decode(body)
    if not answer.pvs:
        return None
    first = answer.pvs[0]
    if first.mate:
        cp = MATE_CP if first.mate > 0 else -MATE_CP
        return SearchProgress(Score(cp, first.mate), answer.depth, SOURCE)
    if first.cp is None:
        return None
    return SearchProgress(Score(max(-MATE_CP, min(MATE_CP, first.cp))), answer.depth, SOURCE)


class CloudEvaluations(SearchRelay):
    """Shows what it finds to who requested the search; :meth:`run` looks up."""

    def __init__(
        self,
        listener: ResultListener,
        base_url: str,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(listener)
        self._url = base_url.rstrip("/") + "/api/cloud-eval"
        self._sleep = sleep
        self._random = random
        # What is to be looked up for whom, newest last.
        self._waiting: Recent[Hashable, str] = Recent(_WAITING)
        # Who waits for an engine, and whether he got a cloud evaluation: the engine's own shallow
        # ones would only flicker.
        self._open: dict[Hashable, bool] = {}
        self._known: Recent[str, SearchProgress | None] = Recent(_KEPT)
        self._news = asyncio.Event()
        # Only its positions are used, so any limit will do.
        self._search_keys = SearchKeys(Limit(nodes=1))

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        """As the desk's own."""
        head = priority.kind is SearchKind.HEAD and search.only is None
        if head and self.desk.known(search) is None:
            search_key = self._search_keys.key_of(search)
            if not isinstance(search_key, SearchFailure) and not search_key.chess960:
                self._open[owner] = False
                self._waiting[owner] = search_key.board().fen()
                self._news.set()
        self.desk.submit(search, owner, priority)

    def drop(self, owner: Hashable) -> None:
        """As the desk's own."""
        self._forget(owner)
        self.desk.drop(owner)

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self._forget(owner)
        self._listener.searched(owner, search, result)

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        if not self._open.get(owner):
            self._listener.progressed(owner, progress)

    async def run(self) -> None:
        """Look up what waits, until cancelled."""
        delays = self._delays()
        async with httpx.AsyncClient(timeout=_TIMEOUT_S) as client:
            while True:
                if not self._waiting:
                    self._news.clear()
                    await self._news.wait()
                    continue
                owner, fen = self._waiting.popitem()
                if fen in self._known:
                    self._report(owner, self._known[fen])
                    continue
                try:
                    progress = await self._look_up(client, fen)
                except _TooMany:
                    log.warning("%s: too many requests, resting for a minute", self._url)
                    await self._sleep(_TOO_MANY_S)
                except (httpx.HTTPError, ValueError) as error:
                    log.warning("%s: %s", self._url, error or type(error).__name__)
                    await self._sleep(_PAUSE_S + next(delays))
                else:
                    delays = self._delays()
                    self._known[fen] = progress
                    self._report(owner, progress)
                    await self._sleep(_PAUSE_S)

    def _delays(self) -> Iterator[float]:
        return doubling(self._random, first_s=_TROUBLE_S, cap_s=_MOST_S, least=0.0)

    async def _look_up(self, client: httpx.AsyncClient, fen: str) -> SearchProgress | None:
        """Ask; None where nobody has evaluated the position.

        Raises:
            _TooMany: for now.
            httpx.HTTPError: no answer, or none that helps.
            ValueError: something else answered.
        """
        async with client.stream("GET", self._url, params={"fen": fen}) as response:
            if response.status_code == httpx.codes.NOT_FOUND:
                return None
            if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
                raise _TooMany
            response.raise_for_status()
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise ValueError(f"an answer of more than {_MOST_BYTES} bytes")
        return told(body)

    def _report(self, owner: Hashable, progress: SearchProgress | None) -> None:
        if progress is not None and owner in self._open:
            self._open[owner] = True
            self._listener.progressed(owner, progress)

    def _forget(self, owner: Hashable) -> None:
        self._open.pop(owner, None)
        self._waiting.pop(owner, None)


class _TooMany(Exception):
    """lichess refuses further queries for a while."""
