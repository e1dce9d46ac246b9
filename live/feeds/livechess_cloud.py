"""``--feed https://view.livechesscloud.com/#UUID[/ROUND]``: DGT LiveChess Cloud, polled.

The pairing list says who plays and how it ended; each board has a file of its own, asked for only
as often as it is likely to have changed, and conditionally.
"""

import asyncio
import logging
import re
from math import inf
from typing import TypeVar

import chess
import httpx
import msgspec
from msgspec.structs import replace

from live.errors import FeedNotFound
from live.events import GameReport, GameReports, Headers, Player, Result, Value
from live.feeds import http_client
from live.feeds.feed import FeedConditions, FeedSession, SessionFeed
from live.feeds.game_line import MAX_PLIES, GameLine, ListedMove
from live.feeds.http_client import read_json
from live.feeds.pgn_headers import NAME_CHARS, clean, player
from live.feeds.position_tracker import with_going_on
from live.feeds.results import read_result
from live.feeds.retry import FeedTrouble, unreadable
from live.feeds.source_address import FeedAddress, is_http, livechess_cloud, origin, unknown

# The JSON of DGT LiveChess Cloud → whole-game reports. Pure.
#
# There is no public description. The fields are those that lila (``DgtJson``, ``RelayFetch``) and
# pgn-mule (``source/lcc.ts``) read, and what the service was seen to send. Players and results come
# from the pairing list, moves and clocks from one file a board; both may be missing at any time.


#: A file says "standard chess" by this Chess960 position number, and says it always.
STANDARD_POSITION = 518

_TIMES = re.compile(r"(\d{1,7})?(?:\+(\d{1,7}))?\Z")
#: LiveChess marks the result by putting the kings on the centre squares; boards send that as a
#: last move (lila RelayInputSanity).
_KING_TO_CENTRE = re.compile(r"K[a-h]?[1-8]?x?[de][45][+#]?\Z")
RESULTS: dict[str, Result] = {"WHITEWIN": "1-0", "BLACKWIN": "0-1", "DRAW": "1/2-1/2"}


class CloudRound(Value):
    """How many games a round has, and how many of them are being played."""

    count: int = 0
    live: int = 0


class CloudTournament(msgspec.Struct, frozen=True):
    """``tournament.json``."""

    name: str | None = None
    location: str | None = None
    timecontrol: str | None = None
    rounds: list[CloudRound] = []


class CloudPlayer(Value):
    """A player in the pairing list; there is no rating."""

    fname: str | None = None
    mname: str | None = None
    lname: str | None = None
    title: str | None = None
    federation: str | None = None
    fideid: int | str | None = None


class CloudPairing(Value):
    """One board of ``index.json``."""

    white: CloudPlayer | None = None
    black: CloudPlayer | None = None
    result: str | None = None
    live: bool | None = None


class CloudRoundIndex(msgspec.Struct, frozen=True):
    """``round-N/index.json``."""

    date: str | None = None
    pairings: list[CloudPairing] = []


class CloudClocks(Value):
    """The clocks right now, seconds; there while a game is live."""

    white: float | None = None
    black: float | None = None


class CloudBoard(msgspec.Struct, frozen=True):
    """``round-N/game-M.json``."""

    live: bool | None = None
    chess960: int | None = None
    result: str | None = None
    clock: CloudClocks | None = None
    moves: list[str] = []


T = TypeVar("T", CloudTournament, CloudRoundIndex, CloudBoard)


def current_round(tournament: CloudTournament) -> int:
    """The round to follow when none was named: the last with live games, else the last with any."""
    rounds = list(enumerate(tournament.rounds, start=1))
    live = [number for number, each in rounds if each.live > 0]
    return max(live or [number for number, each in rounds if each.count > 0], default=1)


def game_reports(
    tournament: CloudTournament,
    round_number: int,
    number: int,
    index: CloudRoundIndex,
    board: CloudBoard | None,
) -> GameReports:
    """Board ``number`` (from 1) of a round; ``board`` is None while it has no file.

    An illegal move ends the game there with ``problem``, and where the game went on from it, that
    is a second one; kings put in the centre at the end are no moves at all.
    """
    pairing, board = index.pairings[number - 1], board or CloudBoard(live=True)
    position = STANDARD_POSITION if board.chess960 is None else board.chess960
    chess960 = position != STANDARD_POSITION and 0 <= position < 960
    start = chess.Board.from_chess960_pos(position) if chess960 else chess.Board()
    told = [_listed(text) for text in board.moves[:MAX_PLIES]]
    line = GameLine(start)
    line.set(told)
    moves, problem = line.moves, line.problem
    left = told[len(moves) :]
    if problem is not None and len(left) <= 2 and _KING_TO_CENTRE.fullmatch(left[0].text):
        problem = None
    if board.live and board.clock is not None and problem is None and moves:
        # The clock of the side that is not thinking stands still, and is right where the file lags
        # behind (lila RelayFetch replaces the last two; the other one is running).
        left_s = board.clock.white if len(moves) % 2 else board.clock.black
        if left_s is not None and left_s >= 0:
            moves[-1] = replace(moves[-1], clock_s=float(left_s))
    headers = Headers(
        white=player_of(pairing.white),
        black=player_of(pairing.black),
        event=clean(tournament.name or "", 200),
        site=clean(tournament.location or "", 200),
        round=f"{round_number}.{number}",
        board=number,
        date=clean(index.date or "", 10).replace("-", "."),
        time_control=clean(tournament.timecontrol or "", NAME_CHARS),
        variant="chess960" if chess960 else "standard",
    )
    # The pairing's word; the board's own code where the pairing is silent and the game over.
    result = read_result(pairing.result or "")
    if result == "*" and not board.live:
        result = RESULTS.get(board.result or "", "*")
    # No key: organisers reorder boards, so a number is no name of a game.
    game = GameReport("", headers, start.fen(), tuple(moves), result, None, problem)
    names = (headers.white.name, headers.black.name)
    who = "/".join((headers.event, headers.round.partition(".")[0], *names))
    return with_going_on(game, line, told, who=who)


def _listed(text: str) -> ListedMove:
    """``e4 4903+556``: seconds left and spent; either may be missing."""
    san, _, times = text.strip().partition(" ")
    found = _TIMES.match(times.strip())
    left, spent = found.groups() if found else (None, None)
    return ListedMove(san, float(left) if left else None, float(spent) if spent else None)


def player_of(person: CloudPlayer | None) -> Player:
    if person is None:
        return Player("?")
    first = " ".join(clean(part or "", NAME_CHARS) for part in (person.fname, person.mname)).strip()
    name = ", ".join(part for part in (clean(person.lname or "", NAME_CHARS), first) if part)
    return player(name, title=person.title, fide_id=person.fideid, federation=person.federation)


def due_s(board: CloudBoard | None, unchanged_s: float, *, over: bool = False) -> float:
    """Seconds after which a board's file is worth asking for again.

    As kind as lila is: eight minutes for a finished game, 20 s for one without moves or file,
    and 4 s for one being played, growing to 16 s while its player thinks long. ``over``: the
    pairing list has a result already. Then the last moves should be there soon or never, and where
    there is no file none is to come.
    """
    if board is None:
        return 480.0 if over else 20.0
    if not board.live and board.result not in (None, "", "*"):
        return 480.0
    if over and not board.live:
        return min(480.0, max(4.0, unchanged_s / 2))
    return min(16.0, max(4.0, unchanged_s / 8)) if board.moves or over else 20.0


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


class _Page(msgspec.Struct, eq=False):
    """One file of the service: how it was last, and when to ask again."""

    path: str
    asked_s: float = -inf
    changed_s: float = -inf
    since: dict[str, str] = {}
    body: bytes = b""
    trouble: FeedTrouble | None = None
    """Why it could not be had when it was asked for last."""
    reason: str = ""
    """What to say of it then; empty where it is there or none is to come."""
    failing_s: float = 0.0
    """Since when."""
    warned: bool = False
    made_of: object = None
    games: GameReports = ()
    """A board's game, and what it was made of; two where an illegal move stands."""

    @property
    def may_come(self) -> bool:
        return self.trouble is not None and self.trouble.fatal is None


class _Round(msgspec.Struct, eq=False):
    """A round as it was last reported."""

    changed_s: float
    games: GameReports = ()


class LiveChessCloudFeed(SessionFeed):
    """Follows one round, or the tournament: whichever round is being played, and the ones before
    it that we have followed until their last results are in.

    Over when every game has a result and nothing has changed for the grace period; a tournament
    only in its last round.
    """

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        """Raises UnknownFeed."""
        super().__init__(source.name, conditions)
        found = livechess_cloud(source.target)
        if found is None or not is_http(source.target):
            raise unknown(source.name, "is no LiveChess Cloud address: it ends in #ID or #ID/ROUND")
        self._uuid, self._round = found
        given = origin(source.target)
        other = source.forced and not given.endswith("livechesscloud.com")
        self._base_url = given if other else conditions.config.livechess_cloud.base_url.rstrip("/")
        self._pages: dict[str, _Page] = {}
        self._rounds: dict[int, _Round] = {}
        self._told: GameReports = ()

    async def _follow(self, session: FeedSession) -> None:
        clock = self._clock
        async with http_client.client(self._config) as client:
            root = f"{await self._host(client)}/get/{self._uuid}"
            while True:
                tournament = await self._read(
                    client, f"{root}/tournament.json", CloudTournament, TOURNAMENT_S
                )
                current = self._round or current_round(tournament)
                looked_s = clock.now()
                await self._look(client, root, tournament, current)
                for number in self._late(current):
                    try:
                        await self._look(client, root, tournament, number)
                    except FeedTrouble as trouble:
                        self._set_aside(trouble, self._page(f"{root}/round-{number}/index.json"))
                await self._tell(current, session, looked_s)
                last = self._round is not None or current >= len(tournament.rounds)
                # What could not be had may have more.
                missing = any(page.may_come for page in self._pages.values())
                if session.over and last and not missing:
                    return
                await clock.sleep(session.soonest(PERIOD_S) or PERIOD_S)

    def _late(self, current: int) -> list[int]:
        """Rounds before the current one that may still change: the service says that nothing is
        live there as soon as the last game ends, before all moves and results are in.
        """
        now_s = self._clock.now()
        return [
            number
            for number, held in self._rounds.items()
            if number < current and now_s - held.changed_s < LATE_S and not self._settled(held)
        ]

    def _settled(self, held: _Round) -> bool:
        still_s = self._clock.now() - held.changed_s
        over = bool(held.games) and all(game.result != "*" for game in held.games)
        return over and still_s > self._config.finish_after_s

    async def _tell(self, current: int, session: FeedSession, looked_s: float) -> None:
        numbers = [number for number in sorted(self._rounds) if number <= current]
        told = tuple(game for number in numbers for game in self._rounds[number].games)
        session.note = self._failing_boards()
        if told != self._told or not session.reported:
            await session.report(told, complete=True)
            self._told = told
        else:
            session.alive()
        asked = (page.trouble for page in self._pages.values() if page.asked_s >= looked_s)
        longest = max(filter(None, asked), key=lambda trouble: trouble.wait_s, default=None)
        if longest is not None and longest.wait_s > 0:
            raise longest  # fewer requests, please

    def _failing_boards(self) -> str:
        """Which boards cannot be had, by number and with the reason of the last."""
        failing = [page for page in self._pages.values() if page.reason]
        found = [_BOARD_FILE.search(page.path) for page in failing]
        numbers = sorted(int(match[1]) for match in found if match)
        boards = f"board{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
        return f"{boards} cannot be had: {failing[-1].reason}" if numbers else ""

    def _page(self, path: str) -> _Page:
        return self._pages.setdefault(path, _Page(path))

    async def _host(self, client: httpx.AsyncClient) -> str:
        """Where this tournament's files are; a configured base URL serves everything."""
        page = _Page(f"{self._base_url or LOOKUP}/meta/{self._uuid}")
        await self._ask(client, page)
        host = (read_json(page.body, _Meta) or _Meta()).host
        if self._base_url:
            return self._base_url
        if not _HOST.fullmatch(host):
            raise self._strange("names no host for this tournament")
        return f"https://{host}"

    async def _look(
        self, client: httpx.AsyncClient, root: str, tournament: CloudTournament, number: int
    ) -> None:
        held = self._rounds.setdefault(number, _Round(self._clock.now()))
        root = f"{root}/round-{number}"
        period_s = TOURNAMENT_S if self._settled(held) else PERIOD_S
        index = await self._read(client, f"{root}/index.json", CloudRoundIndex, period_s)
        gate = asyncio.Semaphore(AT_ONCE)

        async def board(m: int, pairing: CloudPairing) -> GameReports:
            async with gate:
                over = read_result(pairing.result or "") != "*"
                found = await self._board(client, f"{root}/game-{m}.json", over)
            page = self._page(f"{root}/game-{m}.json")
            still_s = self._clock.now() - page.failing_s
            late = page.reason and still_s >= MISSING_S
            problem = f"its moves cannot be had: {page.reason}" if late else ""
            event = (tournament.name, tournament.location, tournament.timecontrol, index.date)
            if page.made_of != (made_of := (*event, pairing, found, problem)):
                made = game_reports(tournament, number, m, index, found)
                if problem and made[0].problem is None:
                    made = (replace(made[0], problem=problem),)
                page.made_of, page.games = made_of, made
            return page.games

        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(board(m, pairing), name=f"board {m}")
                for m, pairing in enumerate(index.pairings[:MAX_BOARDS], start=1)
                if pairing.white or pairing.black  # without players nobody sits there
            ]
        games = tuple(game for task in tasks for game in task.result())
        if games != held.games:
            held.games, held.changed_s = games, self._clock.now()

    async def _board(self, client: httpx.AsyncClient, path: str, over: bool) -> CloudBoard | None:
        """A board's file as far as it is known; asked for again when that is due."""
        page = self._page(path)
        now_s = self._clock.now()
        held = read_json(page.body, CloudBoard)
        due = due_s(held, now_s - page.changed_s, over=over)
        if now_s - page.asked_s < (AGAIN_S if page.may_come else due):
            return held
        try:
            await self._ask(client, page)
        except FeedTrouble as trouble:
            self._set_aside(trouble, page)
        return read_json(page.body, CloudBoard) or held

    def _set_aside(self, trouble: FeedTrouble, page: _Page) -> None:
        """Trouble with one file, which costs no other."""
        if not page.reason:
            page.failing_s = self._clock.now()
        # A board without a file, or with none any more: what was seen was played.
        gone = isinstance(trouble.fatal, FeedNotFound)
        page.trouble, page.reason = trouble, "" if gone else trouble.reason
        if trouble.fatal is not None and not gone and not page.warned:
            page.warned = True
            file = page.path.partition(self._uuid)[2].lstrip("/")
            log.warning("%s: %s left out: %s", self.name, file, trouble.reason)

    async def _read(
        self, client: httpx.AsyncClient, path: str, kind: type[T], period_s: float
    ) -> T:
        page = self._page(path)
        # Without an answer so far it is the patience of the retries that counts.
        if not page.body or self._clock.now() - page.asked_s >= period_s:
            await self._ask(client, page)
        found = read_json(page.body, kind)
        if found is None:
            page.asked_s, page.since = -inf, {}
            raise self._strange("sends something else than the file of a tournament")
        return found

    async def _ask(self, client: httpx.AsyncClient, page: _Page) -> None:
        page.asked_s = self._clock.now()
        answer = await http_client.get(client, self.name, page.path, headers=page.since)
        page.trouble, page.reason = None, ""
        if answer is not None:
            page.since = answer.validators
            if answer.body != page.body:
                page.body = answer.body
                page.changed_s = page.asked_s

    def _strange(self, problem: str) -> FeedTrouble:
        return unreadable(self.name, problem, "Check the address in a browser")
