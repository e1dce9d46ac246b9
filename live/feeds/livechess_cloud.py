"""``--feed https://view.livechesscloud.com/#UUID[/ROUND]``: DGT LiveChess Cloud, polled.

The pairing list says who plays and how it ended; each board has a file of its own, asked for only
as often as it is likely to have changed, and conditionally.
"""

from __future__ import annotations

import asyncio
import re

import httpx
import msgspec

from live.errors import FeedNotFound, FeedUnreadable
from live.events import GameReport
from live.feeds import http
from live.feeds.base import FeedSink
from live.feeds.livechess_cloud_json import (
    Board,
    Index,
    T,
    Tournament,
    current_round,
    due_s,
    game_report,
    read,
)
from live.feeds.results import read_result
from live.feeds.retry import LASTING_S, Trouble
from live.feeds.voice import Conditions, Voice, follow

LOOKUP = "https://lookup.livechesscloud.com"
#: lila's base period for this service.
PERIOD_S = 4.0
#: The tournament's file is read again this often: another round may have begun.
TOURNAMENT_S = 60.0
#: Boards asked for at the same time.
AT_ONCE = 4
MAX_BOARDS = 768
#: The look-up may only name hosts of the service itself.
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+livechesscloud\.com(?::\d+)?", re.IGNORECASE)


class _Meta(msgspec.Struct):
    host: str = ""


class _Page:
    """One file of the service: how it was last, and when to ask again."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.asked_s = float("-inf")
        self.changed_s = float("-inf")
        self.since: http.Validators | None = None
        self.body: bytes | None = None


class CloudFeed:
    """Follows one round, or whichever round is being played.

    Over when every game has a result and nothing has changed for the grace period.
    """

    def __init__(
        self, name: str, uuid: str, round_number: int | None, conditions: Conditions, base_url: str
    ) -> None:
        self.name = name
        self._uuid = uuid
        self._round = round_number
        self._conditions = conditions
        self._base_url = base_url.rstrip("/")
        self._pages: dict[str, _Page] = {}
        self._games: dict[str, GameReport] = {}
        self._troubles: list[Trouble] = []

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._session, sink, self._conditions)

    async def _session(self, voice: Voice) -> None:
        clock = self._conditions.clock
        async with http.client(self._conditions.config) as client:
            root = f"{await self._host(client)}/get/{self._uuid}"
            while True:
                tournament = await self._read(client, f"{root}/tournament.json", Tournament)
                number = self._round or current_round(tournament)
                await self._look(client, f"{root}/round-{number}", tournament, number, voice)
                if voice.over and not self._troubles:  # a board not heard may have more moves
                    return
                await clock.sleep(voice.soonest(PERIOD_S) or PERIOD_S)

    async def _host(self, client: httpx.AsyncClient) -> str:
        """Where this tournament's files are; a configured base URL serves everything."""
        page = _Page(f"{self._base_url or LOOKUP}/meta/{self._uuid}")
        await self._ask(client, page)
        try:
            host = msgspec.json.decode(page.body or b"", type=_Meta).host
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            host = ""
        if self._base_url:
            return self._base_url
        if not _HOST.fullmatch(host):
            raise self._strange("names no host for this tournament")
        return f"https://{host}"

    async def _look(
        self,
        client: httpx.AsyncClient,
        root: str,
        tournament: Tournament,
        number: int,
        voice: Voice,
    ) -> None:
        index = await self._read(client, f"{root}/index.json", Index)
        boards = range(1, min(len(index.pairings), MAX_BOARDS) + 1)
        gate = asyncio.Semaphore(AT_ONCE)

        async def board(m: int) -> tuple[str, GameReport]:
            async with gate:
                over = read_result(index.pairings[m - 1].result or "") != "*"
                held = await self._board(client, f"{root}/game-{m}.json", over)
            key = f"{self._uuid}/{number}/{m}"
            return key, game_report(key, tournament, number, m, index, held)

        before = dict(self._games)
        self._troubles.clear()
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(board(m), name=f"board {m}")
                for m in boards
                # A board without players: nobody sits there.
                if index.pairings[m - 1].white or index.pairings[m - 1].black
            ]
        self._games.update(task.result() for task in tasks)
        if self._games != before or not voice.told:
            await voice.report(list(self._games.values()))
        else:
            voice.alive()
        if asked := [trouble for trouble in self._troubles if trouble.wait_s > 0]:
            raise max(asked, key=lambda trouble: trouble.wait_s)  # fewer requests, please

    async def _board(self, client: httpx.AsyncClient, path: str, over: bool) -> Board | None:
        """A board's file as far as it is known; asked for again when that is due."""
        page = self._pages.setdefault(path, _Page(path))
        now_s = self._conditions.clock.now()
        held = read(page.body, Board) if page.body is not None else None
        if now_s - page.asked_s >= due_s(held, now_s - page.changed_s, over=over):
            try:
                await self._ask(client, page)
            except Trouble as trouble:
                # Without a file, or none any more: what was seen was played. Anything else that
                # is wrong with one board costs no other.
                if not isinstance(trouble.fatal, FeedNotFound):
                    self._troubles.append(trouble)
                return held
            held = (read(page.body, Board) if page.body is not None else None) or held
        return held

    async def _read(self, client: httpx.AsyncClient, path: str, kind: type[T]) -> T:
        page = self._pages.setdefault(path, _Page(path))
        period_s = TOURNAMENT_S if kind is Tournament else PERIOD_S
        # Without an answer so far it is the patience of the retries that counts.
        if page.body is None or self._conditions.clock.now() - page.asked_s >= period_s:
            await self._ask(client, page)
        found = read(page.body, kind) if page.body is not None else None
        if found is None:
            page.asked_s, page.since = float("-inf"), None
            raise self._strange("sends something else than the file of a tournament")
        return found

    async def _ask(self, client: httpx.AsyncClient, page: _Page) -> None:
        page.asked_s = self._conditions.clock.now()
        answer = await http.get(
            client,
            self.name,
            page.path,
            max_bytes=self._conditions.config.max_bytes,
            since=page.since,
        )
        if answer is not None:
            page.since = answer.validators
            if answer.body != page.body:
                page.body = answer.body
                page.changed_s = page.asked_s

    def _strange(self, problem: str) -> Trouble:
        return Trouble(
            f"the service {problem}",
            wait_s=LASTING_S,
            fatal=FeedUnreadable(self.name, problem, "Check the address in a browser"),
        )
