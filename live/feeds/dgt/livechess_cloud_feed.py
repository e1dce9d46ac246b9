"""``--feed https://view.livechesscloud.com/#UUID[/ROUND]``: DGT LiveChess Cloud, polled.

The pairing list says who plays and how it ended; each board has a file of its own, asked for only
as often as it is likely to have changed, and conditionally.
"""

from __future__ import annotations

import asyncio
import logging
import re

import httpx
import msgspec

from live.errors import FeedNotFound, FeedUnreadable
from live.events import GameReport
from live.feeds import http_client
from live.feeds.dgt.livechess_cloud_json import (
    CloudBoard,
    CloudPairing,
    CloudRoundIndex,
    CloudTournament,
    T,
    current_round,
    due_s,
    game_reports,
    read,
)
from live.feeds.feed import FeedSink
from live.feeds.feed_session import FeedConditions, FeedSession, follow
from live.feeds.result_spelling import read_result
from live.network.retry import FeedTrouble

log = logging.getLogger(__name__)

LOOKUP = "https://lookup.livechesscloud.com"
#: lila's base period for this service.
PERIOD_S = 4.0
#: The tournament's file is read again this often: another round may have begun.
TOURNAMENT_S = 60.0
#: A round before the current one is still asked about until nothing has come for so long.
LATE_S = 3600.0
#: A board's file that could not be had is asked for again after so long.
AGAIN_S = 20.0
#: A board whose file could not be had for so long says so itself.
MISSING_S = 60.0
#: Boards asked for at the same time.
AT_ONCE = 4
MAX_BOARDS = 768
_BOARD_FILE = re.compile(r"game-(\d+)\.json")
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
        self.since: http_client.HttpValidators | None = None
        self.body: bytes | None = None


class _Round:
    """A round as it was last reported."""

    def __init__(self, now_s: float) -> None:
        self.games: tuple[GameReport, ...] = ()
        self.changed_s = now_s


class LiveChessCloudFeed:
    """Follows one round, or the tournament: whichever round is being played, and the ones before
    it that we have followed until their last results are in.

    Over when every game has a result and nothing has changed for the grace period; a tournament
    only in its last round.
    """

    def __init__(
        self,
        name: str,
        uuid: str,
        round_number: int | None,
        conditions: FeedConditions,
        base_url: str,
    ) -> None:
        self.name = name
        self._uuid = uuid
        self._round = round_number
        self._conditions = conditions
        self._base_url = base_url.rstrip("/")
        self._pages: dict[str, _Page] = {}
        self._rounds: dict[int, _Round] = {}
        self._read_from: dict[tuple[int, int], tuple[object, tuple[GameReport, ...]]] = {}
        """What each board's game was made of, and the game; two where an illegal move stands."""
        self._told: tuple[GameReport, ...] = ()
        self._troubles: list[FeedTrouble] = []
        """Of the last look."""
        self._failed: set[str] = set()
        """Files that could not be had when they were asked for last."""
        self._warned: set[str] = set()
        self._failing: dict[str, tuple[str, float]] = {}
        """Boards' files that cannot be had: why, and since when."""

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        clock = self._conditions.clock
        async with http_client.client(self._conditions.config) as client:
            root = f"{await self._host(client)}/get/{self._uuid}"
            while True:
                tournament = await self._read(
                    client, f"{root}/tournament.json", CloudTournament, TOURNAMENT_S
                )
                current = self._round or current_round(tournament)
                self._troubles.clear()
                await self._look(client, root, tournament, current)
                for number in self._late(current):
                    try:
                        await self._look(client, root, tournament, number)
                    except FeedTrouble as trouble:
                        self._set_aside(trouble, f"{root}/round-{number}/index.json")
                await self._tell(current, session)
                last = self._round is not None or current >= len(tournament.rounds)
                if session.over and last and not self._failed:  # what was not heard may have more
                    return
                await clock.sleep(session.soonest(PERIOD_S) or PERIOD_S)

    def _late(self, current: int) -> list[int]:
        """Rounds before the current one that may still change: the service says that nothing is
        live there as soon as the last game ends, before all moves and results are in.
        """
        now_s = self._conditions.clock.now()
        late = []
        for number, held in self._rounds.items():
            still_s = now_s - held.changed_s
            if number < current and still_s < LATE_S and not self._settled(held):
                late.append(number)
        return late

    def _settled(self, held: _Round) -> bool:
        still_s = self._conditions.clock.now() - held.changed_s
        over = bool(held.games) and all(game.result != "*" for game in held.games)
        return over and still_s > self._conditions.config.finish_after_s

    async def _tell(self, current: int, session: FeedSession) -> None:
        told = tuple(
            game
            for number in sorted(self._rounds)
            if number <= current
            for game in self._rounds[number].games
        )
        session.note = self._failing_boards()
        if told != self._told or not session.reported:
            await session.report(told, complete=True)
            self._told = told
        else:
            session.alive()
        if asked := [trouble for trouble in self._troubles if trouble.wait_s > 0]:
            raise max(asked, key=lambda trouble: trouble.wait_s)  # fewer requests, please

    def _failing_boards(self) -> str:
        """Which boards cannot be had, by number and with the reason of the last."""
        if not self._failing:
            return ""
        numbers = sorted(
            int(found[1]) for path in self._failing if (found := _BOARD_FILE.search(path))
        )
        reason = list(self._failing.values())[-1][0]
        boards = f"board{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
        return f"{boards} cannot be had: {reason}"

    def _problem(self, path: str) -> str:
        """What to say at a board whose moves have not come for long; empty for nothing."""
        reason, since_s = self._failing.get(path, ("", 0.0))
        still_s = self._conditions.clock.now() - since_s
        return f"its moves cannot be had: {reason}" if reason and still_s >= MISSING_S else ""

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
        self, client: httpx.AsyncClient, root: str, tournament: CloudTournament, number: int
    ) -> None:
        held = self._rounds.setdefault(number, _Round(self._conditions.clock.now()))
        root = f"{root}/round-{number}"
        period_s = TOURNAMENT_S if self._settled(held) else PERIOD_S
        index = await self._read(client, f"{root}/index.json", CloudRoundIndex, period_s)
        gate = asyncio.Semaphore(AT_ONCE)

        async def board(m: int, pairing: CloudPairing) -> tuple[GameReport, ...]:
            async with gate:
                over = read_result(pairing.result or "") != "*"
                found = await self._board(client, f"{root}/game-{m}.json", over)
            event = (tournament.name, tournament.location, tournament.timecontrol, index.date)
            problem = self._problem(f"{root}/game-{m}.json")
            made_of = (*event, pairing, found, problem)
            known = self._read_from.get((number, m))
            if known is None or known[0] != made_of:
                made = game_reports(tournament, number, m, index, found)
                if problem and made[0].problem is None:
                    made = (msgspec.structs.replace(made[0], problem=problem),)
                known = (made_of, made)
                self._read_from[number, m] = known
            return known[1]

        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(board(m, pairing), name=f"board {m}")
                for m, pairing in enumerate(index.pairings[:MAX_BOARDS], start=1)
                if pairing.white or pairing.black  # without players nobody sits there
            ]
        games = tuple(game for task in tasks for game in task.result())
        if games != held.games:
            held.games, held.changed_s = games, self._conditions.clock.now()

    async def _board(self, client: httpx.AsyncClient, path: str, over: bool) -> CloudBoard | None:
        """A board's file as far as it is known; asked for again when that is due."""
        page = self._pages.setdefault(path, _Page(path))
        now_s = self._conditions.clock.now()
        held = read(page.body, CloudBoard) if page.body is not None else None
        due = due_s(held, now_s - page.changed_s, over=over)
        if now_s - page.asked_s >= (AGAIN_S if path in self._failed else due):
            try:
                await self._ask(client, page)
            except FeedTrouble as trouble:
                self._set_aside(trouble, path)
                if not isinstance(trouble.fatal, FeedNotFound):
                    since_s = self._failing.get(path, ("", now_s))[1]
                    self._failing[path] = trouble.reason, since_s
                return held
            self._failed.discard(path)
            self._failing.pop(path, None)
            held = (read(page.body, CloudBoard) if page.body is not None else None) or held
        return held

    def _set_aside(self, trouble: FeedTrouble, path: str) -> None:
        """Trouble with one file, which costs no other."""
        if trouble.fatal is None:
            self._failed.add(path)
            self._troubles.append(trouble)
            return
        self._failed.discard(path)
        # A board without a file, or with none any more: what was seen was played.
        if not isinstance(trouble.fatal, FeedNotFound) and path not in self._warned:
            self._warned.add(path)
            file = path.partition(self._uuid)[2].lstrip("/")
            log.warning("%s: %s left out: %s", self.name, file, trouble.reason)

    async def _read(
        self, client: httpx.AsyncClient, path: str, kind: type[T], period_s: float
    ) -> T:
        page = self._pages.setdefault(path, _Page(path))
        # Without an answer so far it is the patience of the retries that counts.
        if page.body is None or self._conditions.clock.now() - page.asked_s >= period_s:
            await self._ask(client, page)
            self._failed.discard(path)
        found = read(page.body, kind) if page.body is not None else None
        if found is None:
            page.asked_s, page.since = float("-inf"), None
            raise self._strange("sends something else than the file of a tournament")
        return found

    async def _ask(self, client: httpx.AsyncClient, page: _Page) -> None:
        page.asked_s = self._conditions.clock.now()
        answer = await http_client.get(
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

    def _strange(self, problem: str) -> FeedTrouble:
        return FeedTrouble(
            f"the service {problem}",
            fatal=FeedUnreadable(self.name, problem, "Check the address in a browser"),
        )
