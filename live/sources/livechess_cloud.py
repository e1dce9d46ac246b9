"""Source ``--feed https://view.livechesscloud.com/#UUID[/ROUND]``: DGT LiveChess Cloud,
polled.

The pairing list contains players and results. Each board has a separate file, which is
requested conditionally, and only as often as it is likely to have changed.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain
from math import inf
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from live.errors import FeedNotFound
from live.messages.from_sources import IN_DOUBT, GameReport, GameReports
from live.messages.values import Value
from live.sources import http_client
from live.sources.cloud_files import (
    CloudBoard,
    CloudPairing,
    CloudRoundIndex,
    CloudTournament,
    build_reports,
    find_current_round,
    poll_interval_s,
)
from live.sources.feed import PolledFeed
from live.sources.feed_session import FeedConditions, FeedSession, Poll
from live.sources.foreign_json import (
    describe_non_json,
    describe_unread,
    fill_unread,
    read_json,
)
from live.sources.retry import FeedTrouble, create_permanent_trouble
from live.sources.source_address import (
    FeedAddress,
    create_unknown_feed,
    is_http_address,
    origin_of,
    read_cloud_address,
)

T = TypeVar("T", CloudTournament, CloudRoundIndex, CloudBoard)
#: Fields of a file that, if unreadable, keep their previous values. Moves are kept in
#: the same way for all sources, so they are not listed.
_KEPT = ("name", "location", "timecontrol", "date", "live", "chess960", "result")


log = logging.getLogger(__name__)

LOOKUP = "https://lookup.livechesscloud.com"
#: Time between two polls, seconds; lila uses the same time for this service.
PERIOD_S = 4.0
#: Time after which the tournament's file is read again, seconds: the next round might
#: have begun.
TOURNAMENT_S = 60.0
#: An earlier round is still polled until nothing in it has changed for this long,
#: seconds.
LATE_S = 3600.0
#: Time after which a board's file that could not be fetched is requested again,
#: seconds.
AGAIN_S = 20.0
#: Time after which a missing file is reported as a definite problem of its board,
#: seconds.
MISSING_S = 60.0
#: Greatest number of boards requested at the same time.
AT_ONCE = 4
MAX_BOARDS = 768
#: Greatest size of a file, bytes: enough for 768 pairings of half a kilobyte each. The
#: longest game has a tenth of that.
MAX_FILE_BYTES = 1 << 19
#: Pattern of acceptable hosts: the lookup must only name hosts of the service itself.
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+livechesscloud\.com(?::\d+)?", re.IGNORECASE)


class _Meta(Value):
    host: str = ""


class _Wrong:
    """Description of a problem, and the clock time since which it exists."""

    def __init__(self) -> None:
        self.text = ""
        self._since_s = 0.0

    def set_text(self, text: str, now_s: float) -> None:
        """Set the problem; an empty text means that there is none."""
        if text and not self.text:
            self._since_s = now_s
        self.text = text

    def describe_problem(self, now_s: float) -> str:
        """Return the description for a board; for a new problem it is marked as
        doubtful.
        """
        is_new = self.text and now_s - self._since_s < MISSING_S
        return f"{IN_DOUBT} {self.text}" if is_new else self.text


class _Page(msgspec.Struct, Generic[T], eq=False):
    """A file of the service: its last contents, and the state of requests for it."""

    path: str
    kind: type[T]
    asked_s: float = -inf
    changed_s: float = -inf
    since: dict[str, str] = {}
    body: bytes | None = None
    contents: T | None = None
    """Last readable contents."""
    damage: str = ""
    """Description of the answer if it could not be read; empty otherwise."""
    trouble: FeedTrouble | None = None
    """Error of the last request; None if it succeeded."""
    wrong: _Wrong = msgspec.field(default_factory=_Wrong)
    """Problem of the file shown to people; empty if the file was read or none is
    expected.
    """
    wrong_pairing: _Wrong = msgspec.field(default_factory=_Wrong)
    """Problem of the board's pairing shown to people."""
    warned: bool = False
    made_of: object = None
    games: GameReports = ()
    """For a board's file: its reports, built from the values in ``made_of``. There are
    two reports if the game continued after an illegal move.
    """

    @property
    def may_have_more(self) -> bool:
        """Whether the file might contain more than was read of it."""
        return bool(self.damage) or (
            self.trouble is not None and self.trouble.fatal is None
        )


class _Round(msgspec.Struct, eq=False):
    """A round as it was last reported."""

    changed_s: float
    games: GameReports = ()
    complete: bool = True
    """Whether all boards of the round could be read."""


class LiveChessCloudFeed(PolledFeed):
    """Follows one round or a tournament. For a tournament, it follows the round in
    progress, and earlier rounds that it has followed until their last results are in.

    The source has ended when every game has a result and nothing has changed for the
    grace period; for a tournament, only in its last round.
    """

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        """Create the source. Raises UnknownFeed."""
        super().__init__(source.name, conditions)
        address = read_cloud_address(source.target)
        if address is None or not is_http_address(source.target):
            raise create_unknown_feed(
                source.name,
                "is not a LiveChess Cloud address: those end in #ID or #ID/ROUND",
            )
        self._uuid, self._round = address
        origin = origin_of(source.target)
        is_other_server = source.forced and not origin.endswith("livechesscloud.com")
        self._base_url = (
            origin
            if is_other_server
            else conditions.config.livechess_cloud.base_url.rstrip("/")
        )
        self._pages: dict[str, _Page[Any]] = {}
        self._rounds: dict[int, _Round] = {}
        self._found_host = ""
        self._current = 1

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[None]:
        async with http_client.open_client(self._config) as self._client:
            self._root = f"{await self._find_host()}/get/{self._uuid}"
            yield

    async def poll(self, session: FeedSession) -> Poll:
        """Return the games of all rounds that are followed."""
        tournament = await self._read_page(
            f"{self._root}/tournament.json", CloudTournament, TOURNAMENT_S
        )
        current = self._round or self._choose_round(tournament)
        looked_s = self._clock.now()
        await self._poll_round(tournament, current)
        for number in self._find_late_rounds(current):
            try:
                await self._poll_round(tournament, number)
            except FeedTrouble as trouble:
                path = f"{self._root}/round-{number}/index.json"
                page = self._page_at(path, CloudRoundIndex)
                self._record_page_trouble(page, trouble, "cannot be fetched")
        rounds = [
            round_
            for number, round_ in sorted(self._rounds.items())
            if number <= current
        ]
        is_listed = self._round is not None or tournament.is_listed
        is_last = self._round is not None or current >= len(tournament.rounds or ())
        # A file that could not be fetched might contain more games or moves.
        is_missing = any(page.may_have_more for page in self._pages.values())
        may_have_more = is_missing or not (is_listed and is_last)
        return Poll(
            tuple(chain.from_iterable(round_.games for round_ in rounds)),
            is_listed and all(round_.complete for round_ in rounds),
            PERIOD_S if may_have_more else None,
            self._describe_damage(),
            self._find_refusal(looked_s),
        )

    def _poll_period_s(self, session: FeedSession) -> float:
        return PERIOD_S

    def _choose_round(self, tournament: CloudTournament) -> int:
        """Return the round to follow. While an entry in the list of rounds cannot be
        read, the source does not go back to an earlier round.
        """
        current = find_current_round(tournament)
        self._current = current if tournament.is_listed else max(current, self._current)
        return self._current

    def _find_late_rounds(self, current: int) -> list[int]:
        """Return the earlier rounds that might still change. The service reports that a
        round has no live games as soon as the last game ends, before all moves and
        results are in.
        """
        now_s = self._clock.now()
        return [
            number
            for number, round_ in self._rounds.items()
            if number < current
            and round_.games
            and now_s - round_.changed_s < LATE_S
            and not self._is_settled(round_)
        ]

    def _is_settled(self, round_: _Round) -> bool:
        still_s = self._clock.now() - round_.changed_s
        is_over = bool(round_.games) and all(
            game.result != "*" for game in round_.games
        )
        return is_over and still_s > self._config.finish_after_s

    def _find_refusal(self, looked_s: float) -> FeedTrouble | None:
        """Return the refusal since clock time ``looked_s`` that asks for the longest
        wait; None if there was none.
        """
        refusals = [
            page.trouble
            for page in self._pages.values()
            if page.asked_s >= looked_s
            and page.trouble is not None
            and page.trouble.wait_s > 0
        ]
        return max(refusals, key=lambda refusal: refusal.wait_s, default=None)

    def _describe_damage(self) -> str:
        """Return a description of the unreadable parts of files, except those that are
        described in the boards' games.
        """
        notes = []
        for page in self._pages.values():
            problem = "" if page.games else page.wrong.text or page.wrong_pairing.text
            match page.contents:
                case CloudTournament(is_listed=False):
                    problem = problem or "its rounds cannot be read"
                case CloudTournament(unread=unread) | CloudRoundIndex(unread=unread):
                    problem = problem or describe_unread(unread)
            if problem:
                notes.append(f"{self._path_below_tournament(page)}: {problem}")
        return "; ".join(notes)

    def _path_below_tournament(self, page: _Page[Any]) -> str:
        """Return the path of a file, relative to its tournament."""
        return page.path.partition(self._uuid)[2].lstrip("/")

    def _page_at(self, path: str, kind: type[T]) -> _Page[T]:
        return self._pages.setdefault(path, _Page(path, kind))

    async def _find_host(self) -> str:
        """Return the base URL of this tournament's files. A configured base URL is used
        for the lookup and the files.
        """
        url = f"{self._base_url or LOOKUP}/meta/{self._uuid}"
        answer = await http_client.fetch_body(
            self._client, self.name, url, max_bytes=MAX_FILE_BYTES
        )
        if self._base_url:
            return self._base_url
        meta = None if answer is None else read_json(answer.body, _Meta)
        if meta is not None and _HOST.fullmatch(meta.host):
            self._found_host = f"https://{meta.host}"
        if not self._found_host:
            raise self._unreadable_source("names no host for this tournament")
        return self._found_host

    async def _poll_round(self, tournament: CloudTournament, number: int) -> None:
        round_ = self._rounds.setdefault(number, _Round(self._clock.now()))
        root = f"{self._root}/round-{number}"
        period_s = TOURNAMENT_S if self._is_settled(round_) else PERIOD_S
        index = await self._read_page(f"{root}/index.json", CloudRoundIndex, period_s)
        pairings = (index.pairings or ())[:MAX_BOARDS]
        gate = asyncio.Semaphore(AT_ONCE)

        async def poll_pairing(m: int, pairing: CloudPairing) -> GameReports:
            page = self._page_at(f"{root}/game-{m}.json", CloudBoard)
            async with gate:
                is_over = pairing.result not in (None, "*")
                contents = await self._poll_board(page, is_over)
            now_s = self._clock.now()
            page.wrong_pairing.set_text("", now_s)
            problem = page.wrong.describe_problem(now_s)
            event = (
                tournament.name,
                tournament.location,
                tournament.timecontrol,
                index.date,
            )
            made_of = (*event, pairing, contents, problem)
            if page.made_of != made_of:
                page.made_of = made_of
                page.games = _add_problem(
                    build_reports(tournament, number, m, index, contents), problem
                )
            return page.games

        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(poll_pairing(m, pairing), name=f"board {m}")
                for m, pairing in enumerate(pairings, start=1)
                if pairing.white or pairing.black  # no players: an unused board
            ]
        games = tuple(chain.from_iterable(task.result() for task in tasks))
        unread_pairings = {
            m: entry.unread[""]
            for m, entry in enumerate(pairings, start=1)
            if "" in entry.unread
        }
        games += self._keep_unpaired(root, unread_pairings, games)
        round_.complete = not unread_pairings
        if games != round_.games:
            round_.games = games
            round_.changed_s = self._clock.now()

    def _keep_unpaired(
        self, root: str, unread_pairings: dict[int, str], other_games: GameReports
    ) -> GameReports:
        """Return the last known games of boards whose pairing cannot be read.

        Args:
            root: base URL of the round's files.
            unread_pairings: what was found instead of each board's pairing, by the
                board's number.
            other_games: games of the other boards. Players who are now at another board
                have left their old one.
        """
        seated = {
            (game.headers.white.name, game.headers.black.name) for game in other_games
        }
        kept_games: list[GameReport] = []
        for m, description in unread_pairings.items():
            page = self._page_at(f"{root}/game-{m}.json", CloudBoard)
            now_s = self._clock.now()
            page.wrong_pairing.set_text(
                f"its pairing cannot be read ({description})", now_s
            )
            page.made_of = None
            problem = page.wrong_pairing.describe_problem(now_s)
            kept_games += [
                replace(game, problem=problem, unread=("moves", "result"))
                for game in page.games
                if (game.headers.white.name, game.headers.black.name) not in seated
            ]
        return tuple(kept_games)

    async def _poll_board(
        self, page: _Page[CloudBoard], is_over: bool
    ) -> CloudBoard | None:
        """Return the last known contents of a board's file, after requesting it again
        if that is due.
        """
        now_s = self._clock.now()
        contents = page.contents
        due = poll_interval_s(contents, now_s - page.changed_s, is_over=is_over)
        if page.damage:
            due = PERIOD_S
        elif page.may_have_more:
            due = AGAIN_S
        if now_s - page.asked_s >= due:
            try:
                await self._fetch_page(page)
            except FeedTrouble as trouble:
                # Some boards have no file, or none any more after the game. That is not
                # a problem: moves that were seen remain.
                is_gone = isinstance(trouble.fatal, FeedNotFound) and (
                    contents is None or is_over
                )
                self._record_page_trouble(
                    page, trouble, "" if is_gone else "its moves cannot be fetched"
                )
            else:
                damage = (
                    page.damage
                    and f"its moves cannot be fetched: the file is {page.damage}"
                )
                page.wrong.set_text(damage, now_s)
        return page.contents

    def _record_page_trouble(
        self, page: _Page[Any], trouble: FeedTrouble, effect: str
    ) -> None:
        """Record trouble with one file; other files are not affected. ``effect``
        describes the effect for people; it is empty if the trouble is not a problem.
        """
        page.trouble = trouble
        page.wrong.set_text(effect and f"{effect}: {trouble.reason}", self._clock.now())
        if effect and trouble.fatal is not None and not page.warned:
            page.warned = True
            log.warning(
                "%s: %s left out: %s",
                self.name,
                self._path_below_tournament(page),
                trouble.reason,
            )

    async def _read_page(self, path: str, kind: type[T], period_s: float) -> T:
        """Return the last readable contents of a file that is needed for all boards,
        after requesting it again if that is due.
        """
        page = self._page_at(path, kind)
        if page.damage:
            period_s = min(period_s, PERIOD_S)
        # If the file has never been read, the retries of the base class determine the
        # wait instead.
        if page.contents is None or self._clock.now() - page.asked_s >= period_s:
            await self._fetch_page(page)
            damage = page.damage and f"cannot be read, it is {page.damage}"
            page.wrong.set_text(damage, self._clock.now())
        if page.contents is None:
            raise self._unreadable_source(
                "sends something other than a tournament file"
            )
        return page.contents

    async def _fetch_page(self, page: _Page[T]) -> None:
        """Fetch the present contents of a file; if they cannot be read, keep the
        previous ones.
        """
        page.asked_s = self._clock.now()
        answer = await http_client.fetch_body(
            self._client,
            self.name,
            page.path,
            max_bytes=MAX_FILE_BYTES,
            headers=page.since,
        )
        page.trouble = None
        if answer is None:
            return
        page.since = answer.validators
        if answer.body == page.body:
            return
        page.body = answer.body
        contents = read_json(answer.body, page.kind)
        if contents is None:
            page.damage = describe_non_json(answer.body)
        elif isinstance(contents, CloudRoundIndex) and contents.pairings is None:
            page.damage = "a file without pairings"
        else:
            names = [name for name in _KEPT if name in page.kind.__struct_fields__]
            page.contents = fill_unread(contents, page.contents, *names)
            page.changed_s = page.asked_s
            page.damage = ""
        if page.damage:
            page.since = {}

    def _unreadable_source(self, problem: str) -> FeedTrouble:
        return create_permanent_trouble(
            self.name, problem, "Check the address in a browser"
        )


def _add_problem(games: GameReports, problem: str) -> GameReports:
    """Return the reports of a board with the problem of its file added to the first
    one.
    """
    if not problem:
        return games
    first, *rest = games
    problem = "; ".join(filter(None, [problem, first.problem]))
    unread = {"moves", *first.unread}
    return replace(first, problem=problem, unread=tuple(sorted(unread))), *rest
