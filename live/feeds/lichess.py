"""lichess: the live PGN stream of a broadcast round or tournament, one game, or a TV
channel.

What the stream does (lichess API documentation, "Stream an ongoing broadcast round as
PGN", and lila's RelayPgnStream): on connecting every game of a round that has begun
comes whole; after that a game comes whole again at each new move, each followed by two
blank lines; a single space comes when nothing has happened for a minute. It never ends
by itself and never says that anything was missed, so a lost connection is healed by the
burst of the next one, and now and then (and before the end is believed) the round's
export is read: it has the takebacks, the corrected clocks and whatever a stalled
connection kept from us. In the stream of a tournament or group the games themselves
name their rounds, in their addresses.

``--feed https://lichess.org/GAMEID`` and ``…/tv[/CHANNEL]``: one game, or the featured
one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import TypeVar

import chess
import httpx

from live.events import GameReport, Headers, Move, Player, Result, Unread, Value
from live.feeds import http_client
from live.feeds.charset import describe_no_pgn
from live.feeds.feed import (
    Feed,
    FeedConditions,
    FeedSession,
    SessionFeed,
    drop_repeated_games,
)
from live.feeds.foreign_json import (
    ForeignObject,
    add_unread,
    describe_no_json,
    fill_unread,
    read_json,
)
from live.feeds.kept_moves import keep_unread
from live.feeds.lichess_token import LichessToken
from live.feeds.pgn_decoder import PgnDecoder, PgnReader
from live.feeds.pgn_headers import clean_text, create_player
from live.feeds.pgn_snapshots import is_behind
from live.feeds.position_tracker import PositionTracker, read_fen
from live.feeds.results import read_result
from live.feeds.retry import FeedTrouble, create_fatal_trouble, format_duration
from live.feeds.source_address import (
    LICHESS,
    FeedAddress,
    LichessTarget,
    create_unknown_feed,
    is_http_address,
    origin_of,
    read_lichess_target,
)
from live.feeds.web_page_feed import WebPageFeed

log = logging.getLogger(__name__)

#: How often a stream shows a sign of life when nothing happens, seconds (lichess API).
KEEP_ALIVE_S = 60.0
#: How often a stream is compared with the round while games are played, seconds: it
#: reports neither takebacks nor boards added, and drops what a slow reader misses.
COMPARE_S = 20.0
T = TypeVar("T")

#: The list of boards is compared every so often at most where nothing happens, seconds.
RARELY_S = 300.0
#: The same when all games are over.
RAREST_S = 1800.0
#: The whole round is read this often, whatever the list says.
EXPORT_S = 300.0
#: How often it is asked, after the end, whether the next round has begun.
NEXT_ROUND_S = 60.0
#: Rounds of one group or tournament compared at a time, one request each.
MAX_ROUNDS = 16


class LichessBroadcastFeed(SessionFeed):
    """Follows the stream of a round, of a tournament (round after round) or of a group.

    A round is over when all results are in, stay so for the grace period, and its
    export says the same. Where the next round is waited for, it is compared ever more
    rarely from then on, and its address leads on to the next round of its tournament
    when that has begun. A tournament is over when, besides, lichess says so of each of
    its rounds. A group has no such word: it is followed until somebody stops us.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        target: LichessTarget,
        conditions: FeedConditions,
        token: LichessToken,
    ) -> None:
        super().__init__(name, conditions)
        api = f"{base_url.rstrip('/')}/api"
        self._stream_url = f"{api}/stream/broadcast/{target.what}"
        self._url = f"{api}/broadcast"
        self._scope, self._id = target.what, target.id
        self._rounds: dict[str, set[str]] = {}
        """Rounds of a tournament or group worth comparing, each with its unfinished
        games.
        """
        self._token = token
        self._earlier: list[str] = []
        """Rounds that this one's address has led to after its end, the last one before
        first.
        """
        self._next_asked_s = -inf
        self._placements: dict[str, tuple[tuple[Move, ...], str]] = {}
        self._held: dict[str, GameReport] = {}
        """Games of the round as they were reported last, by key."""
        self._exported_s = -inf
        self._tried_s: float | None = None
        """When the round was compared last; a new connection changes nothing about
        it.
        """
        self._decoder = PgnDecoder()
        self._readers: dict[str, PgnReader] = {}
        """Of the rounds compared last."""

    async def _follow_source(self, session: FeedSession) -> None:
        going_on = True
        while going_on:
            url = f"{self._stream_url}/{self._id}.pgn"
            with self._token.explain_refusal(self.name):
                async with (
                    http_client.open_client(self._config) as client,
                    http_client.open_request(
                        client,
                        self.name,
                        url,
                        headers=self._request_headers(),
                        endless=True,
                    ) as response,
                ):
                    session.mark_alive()
                    going_on = await self._follow_stream(client, response, session)

    def _request_headers(self) -> dict[str, str]:
        # Compression would hold moves back.
        return {"Accept-Encoding": "identity", **self._token.auth_headers()}

    def _comparison_interval_s(self, session: FeedSession) -> float:
        """Often while something happens; ever more rarely where all is over, but never
        not at all: results are corrected hours later.
        """
        still_s = self._clock.now() - session.changed_s
        return min(
            RAREST_S if session.is_idle else RARELY_S, max(COMPARE_S, still_s / 10)
        )

    async def _follow_stream(
        self, client: httpx.AsyncClient, response: httpx.Response, session: FeedSession
    ) -> bool:
        """One connection; whether the next round is to be followed."""
        clock = self._clock
        silence_s = 2 * KEEP_ALIVE_S + self._config.timeout_s
        read_s = clock.now()
        if self._tried_s is None:
            self._tried_s = read_s
        same_s = -inf  # last successful comparison
        given_up: float | None = None  # the change after which a comparison failed
        # The half of a game that the last connection ended with is worth nothing: the
        # whole game comes again.
        self._decoder.reset()
        chunks = http_client.yield_between_pieces(response.aiter_bytes())
        first = True
        # A task of its own: a deadline that passes must not break the stream off.
        reading = _start_reading(chunks)
        try:
            while True:
                now_s, changed_s = clock.now(), session.changed_s
                due_s = [
                    read_s + silence_s,
                    self._tried_s + self._comparison_interval_s(session),
                ]
                ends_in_s = session.ends_in_s()
                if session.is_idle:
                    due_s.append(self._next_asked_s + NEXT_ROUND_S)
                elif ends_in_s is not None and given_up != changed_s:
                    due_s.append(now_s + ends_in_s)
                try:
                    async with clock.deadline(max(0.0, min(due_s) - now_s)):
                        # What has come is read before anything that is due.
                        if not reading.done():
                            await asyncio.wait([reading])
                except TimeoutError:
                    if session.is_over and same_s > changed_s:
                        return False
                    silent = clock.now() - read_s >= silence_s
                    if silent and (not session.is_over or given_up == changed_s):
                        raise FeedTrouble(
                            f"not a sign of life for {format_duration(silence_s)}"
                        ) from None
                    if session.is_idle:
                        if await self._switch_to_next_round(client):
                            return True
                        if clock.now() - self._tried_s < self._comparison_interval_s(
                            session
                        ):
                            continue
                    self._tried_s = clock.now()
                    if await self._compare_rounds(client, session):
                        same_s = clock.now()
                        if session.is_over:
                            return False
                    else:
                        given_up = session.changed_s
                    session.mark_alive()
                    continue
                chunk, read_s = reading.result(), clock.now()
                if chunk is None:
                    raise FeedTrouble("the stream ended")
                reading = _start_reading(chunks)
                if not chunk.strip() and session.is_over and self._scope == "round":
                    # A keep-alive after the grace period says as much as a comparison
                    # that failed would have.
                    return False
                if first and chunk.strip():
                    first = False
                    if what := describe_no_pgn(
                        chunk, response.headers.get("Content-Type", "")
                    ):
                        remedy = "Check the address and [feeds.lichess] base_url"
                        raise create_fatal_trouble(
                            self.name, f"answers with {what}", remedy
                        )
                for games in self._decoder.decode_slices(chunk):
                    # The export may overtake the stream. A game of the stream never
                    # only shrinks (lila sends no takebacks), so one that is shorter
                    # than what is held is old news, also where a slip at its end was
                    # put right since, and so is one that only lacks its result; a
                    # takeback and a result withdrawn come with the next comparison.
                    if news := [game for game in games if not self._is_old(game)]:
                        await self._report_games(news, session)
                    await asyncio.sleep(0)  # a slice is some milliseconds of work
                session.mark_alive()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def _keep_unread(self, game: GameReport) -> GameReport:
        """Return the game with what is known of its unread parts."""
        held = self._held.get(game.key)
        return game if held is None else keep_unread(game, held)

    def _is_old(self, game: GameReport) -> bool:
        held = self._held.get(game.key)
        return held is not None and is_behind(
            self._keep_unread(game), held, corrected=2
        )

    async def _compare_rounds(
        self, client: httpx.AsyncClient, session: FeedSession
    ) -> bool:
        """Ask lichess for what the stream does not send; False when that failed, or
        when there is more to come.
        """
        if self._scope == "round":
            if not session.is_over and await self._matches_board_list(client):
                return True
            whole = not self._earlier
            compared = await self._compare_round(client, session, self._id, whole=whole)
            if compared:
                self._exported_s = self._clock.now()
            for round_id in self._earlier[:1]:
                await self._compare_round(client, session, round_id, whole=False)
            return compared
        for round_id in list(self._rounds)[:MAX_ROUNDS]:
            told = await self._compare_round(client, session, round_id, whole=False)
            if told and not self._rounds[round_id]:
                del self._rounds[round_id]
        if self._scope == "group" or not session.is_over:
            return False
        tour = await self._fetch_json(client, self._id, Tour) or Tour()
        return bool(tour.rounds) and all(each.is_over for each in tour.rounds)

    async def _compare_round(
        self,
        client: httpx.AsyncClient,
        session: FeedSession,
        round_id: str,
        *,
        whole: bool,
    ) -> bool:
        """Report a round's export; ``whole``: there are no games but those in it."""
        answer = await self._fetch_body(client, f"round/{round_id}.pgn")
        if answer is None or describe_no_pgn(answer.body, answer.content_type):
            return False
        games: list[GameReport] = []
        reader = self._readers.pop(round_id, PgnReader())
        self._readers[round_id] = reader
        if len(self._readers) > MAX_ROUNDS:
            del self._readers[next(iter(self._readers))]
        for some in reader.read_slices(answer.body, closed=True):
            games += some
            await asyncio.sleep(0)  # a slice is some milliseconds of work
        if not games:
            return False  # the stream sent some: an empty export is not believed
        await self._report_games(games, session, complete=whole and not reader.left_out)
        return True

    async def _report_games(
        self,
        games: Sequence[GameReport],
        session: FeedSession,
        *,
        complete: bool = False,
    ) -> None:
        for game in games if self._scope != "round" else ():
            if (
                found := read_lichess_target(game.headers.url)
            ) and found.what == "round":
                unfinished = self._rounds.setdefault(found.id, set())
                (unfinished.add if game.result == "*" else unfinished.discard)(game.key)
        games = [self._keep_unread(game) for game in games]
        if complete:
            games = drop_repeated_games(games)
            self._held.clear()
        self._held.update((game.key, game) for game in games)
        await session.report(games, complete=complete)

    async def _matches_board_list(self, client: httpx.AsyncClient) -> bool:
        """Ask for the short list of the round's boards: does it say the same as what is
        held?

        It costs a tenth of the export, and shows takebacks, pairings that have not
        begun, boards that were removed, and results. Every :data:`EXPORT_S` the export
        is read in any case: the list has neither earlier moves nor ratings.
        """
        if self._clock.now() - self._exported_s >= EXPORT_S:
            return False
        listed = await self._fetch_json(client, f"-/-/{self._id}", RoundList)
        if listed is None or len(listed.games) != len(self._held):
            return False
        return all(map(self._is_unchanged, listed.games))

    def _is_unchanged(self, board: RoundBoard) -> bool:
        held = self._held.get(board.id)
        if held is None or read_result(board.status or "*") != held.result:
            return False
        moves, placement = self._placements.get(board.id, ((), ""))
        if not placement or moves != held.moves:
            position = chess.Board(
                held.start_fen, chess960=held.headers.variant == "chess960"
            )
            for move in held.moves:
                position.push_uci(move.uci)
            placement = position.board_fen()
            self._placements[board.id] = held.moves, placement
        return (board.fen or chess.STARTING_FEN).partition(" ")[0] == placement

    async def _switch_to_next_round(self, client: httpx.AsyncClient) -> bool:
        """Whether the round after ours has begun; it is followed then, and ours looked
        at still.
        """
        now_s = self._clock.now()
        if self._scope != "round" or now_s - self._next_asked_s < NEXT_ROUND_S:
            return False
        self._next_asked_s = now_s
        listed = (
            await self._fetch_json(client, f"-/-/{self._id}", RoundList) or RoundList()
        )
        if not listed.tour.id:
            return False
        tour = await self._fetch_json(client, listed.tour.id, Tour) or Tour()
        for one, other in pairwise(tour.rounds):
            if one.id == self._id and (other.ongoing or other.is_over):
                log.info("%s: the next round, %s, has begun", self.name, other.id)
                self._earlier.insert(0, self._id)
                self._id = other.id
                self._exported_s = -inf
                self._held.clear()
                return True
        return False

    async def _fetch_body(
        self, client: httpx.AsyncClient, path: str
    ) -> http_client.HttpBody | None:
        url = f"{self._url}/{path}"
        try:
            return await http_client.fetch_body(
                client, self.name, url, headers=self._request_headers()
            )
        except FeedTrouble as trouble:
            level = logging.WARNING if path.endswith(".pgn") else logging.DEBUG
            log.log(
                level,
                "%s: cannot be compared with the whole: %s",
                self.name,
                trouble.reason,
            )
            return None

    async def _fetch_json(
        self, client: httpx.AsyncClient, path: str, kind: type[T]
    ) -> T | None:
        answer = await self._fetch_body(client, path)
        return read_json(answer.body, kind) if answer is not None else None


class _Round(ForeignObject):
    """As lichess names things; times in milliseconds."""

    id: str = ""
    ongoing: bool = False
    finishedAt: int | None = None
    finished: bool = False

    @property
    def is_over(self) -> bool:
        return self.finished or self.finishedAt is not None


class Tour(Value):
    """``/api/broadcast/{tourId}``."""

    rounds: tuple[_Round, ...] = ()


class _TourId(Value):
    id: str = ""


class RoundBoard(Value):
    """One board in the short list of a round."""

    id: str = ""
    fen: str | None = None
    """Left out at the starting position."""
    status: str | None = None


class RoundList(Value):
    """``/api/broadcast/-/-/{roundId}``."""

    tour: _TourId = _TourId()
    games: tuple[RoundBoard, ...] = ()


def _start_reading(chunks: AsyncIterator[bytes]) -> asyncio.Task[bytes | None]:
    async def read() -> bytes | None:
        return await anext(chunks, None)

    return asyncio.create_task(read(), name="lichess stream")


# The ndjson of lichess' game and TV streams → whole-game reports. Pure.
#
# Game stream (lichess API documentation, "Stream moves of a game"): a description, one
# line for each position from the start, moves held back by three while the game runs,
# and the description again with the result. TV: a description of the featured game
# whenever it changes, and one line a move.


#: Status ids from 25 (aborted) on are ends of games; 30 and up have a result or are
#: draws.
_ABORTED, _NO_START, _UNKNOWN = 25, 37, 38
_STARTED = 20
_STANDARD = frozenset({"standard", "fromPosition"})


class _User(Value):
    name: str | None = None
    title: str | None = None


class _Side(Value):
    user: _User | None = None
    rating: int | None = None
    ai: int | None = None
    """Level of lichess' own engine, which has no user."""
    color: str | None = None


class _Players(Value):
    white: _Side | None = None
    black: _Side | None = None


class _Keyed(Value):
    key: str | None = None


class _Status(Value):
    id: int = _STARTED


class _Line(ForeignObject):
    """A description has an id, a position has none; TV tells in ``t`` which of both
    ``d`` is.
    """

    id: str | None = None
    variant: _Keyed | None = None
    speed: str | None = None
    initialFen: str | None = None
    status: _Status | None = None
    winner: str | None = None
    players: _Players | tuple[_Side, ...] | None = None
    fen: str = ""
    lm: str | None = None
    wc: float | None = None
    bc: float | None = None

    @property
    def game_variant(self) -> str:
        key = self.variant.key if self.variant else None
        return (
            "standard"
            if key is None or key in _STANDARD
            else clean_text(key, 40).casefold()
        )

    @property
    def sides(self) -> tuple[Player, Player]:
        """White and Black."""
        if isinstance(self.players, tuple):
            by_color = {side.color: side for side in self.players}
            return _read_player(by_color.get("white")), _read_player(
                by_color.get("black")
            )
        sides = self.players or _Players()
        return _read_player(sides.white), _read_player(sides.black)


#: What of a description stays as it was before the last connection, where it cannot be
#: read.
_KEPT = ("variant", "initialFen", "status", "winner", "players")


class _TvLine(Value):
    t: str = ""
    d: _Line = _Line()


class LichessGameStream:
    """One game's stream: lines in, reports out."""

    def __init__(self, base_url: str) -> None:
        self.over = False
        self.damage = ""
        """What is wrong with the last line, for people; empty for nothing."""
        self._base_url = base_url
        self._told: _Line | None = None
        self._described: _Line | None = None
        """The last description, of this connection or the one before."""
        self._game = PositionTracker()
        self._plies_known = 0
        """Plies that were known before and have not all come again yet."""

    def reconnect(self, known: Iterable[GameReport] = ()) -> None:
        """A new connection: all positions come again, one by one. ``known``: the game
        as it stood when the service ended.
        """
        self._told = None
        plies = [len(self._game.moves), *(len(game.moves) for game in known)]
        self._plies_known = max(self._plies_known, *plies)

    def read_line(self, raw: bytes) -> GameReport | None:
        """The game after one more line; None for blank lines and what cannot be
        read.
        """
        line = self._read_json(raw, _Line)
        if line is None:
            return None
        told = self._told
        if line.id is not None:
            before = self._described
            if before is not None and before.id == line.id:
                line = fill_unread(line, before, *_KEPT)
            self.over = line.status is not None and line.status.id > _STARTED
            begins, told = told is None, line
            self._told = self._described = line
            if begins:
                start = read_fen(
                    line.initialFen or "", chess960=told.game_variant == "chess960"
                )
                self._game = PositionTracker(start or chess.Board())
        if told is None:
            return None
        speed, variant = clean_text(told.speed or "game", 40), told.game_variant
        problem = _describe_lost_start(told)
        if variant not in ("standard", "chess960"):
            problem = f"the variant {variant} is not followed"
        unread = told.unread | line.unread
        if line.id is None and problem is None:
            unread |= self._track_position(line)
        report = self._build_report(
            told, f"Lichess {speed}", variant, _read_result(told), problem
        )
        return add_unread(report, unread)

    def _read_json(self, raw: bytes, kind: type[T]) -> T | None:
        line = read_json(raw, kind)
        self.damage = (
            "" if line is not None else f"a line of it is {describe_no_json(raw)}"
        )
        return line

    def _track_position(self, line: _Line) -> dict[str, str]:
        """Take in a position with both clocks; returns what of it could not be read."""
        now = read_fen(line.fen, chess960=self._game.chess960)
        if now is None:
            return {"fen": "no position"} if line.fen else {}
        self._game.track_position(now, (line.lm or "")[:5], line.wc, line.bc)
        return {}

    def _build_report(
        self,
        told: _Line,
        event: str,
        variant: str,
        result: Result | None,
        problem: str | None = None,
    ) -> GameReport:
        """``result``: None where it could not be read."""
        game, key = self._game, clean_text(told.id or "", 20)
        if len(game.moves) >= self._plies_known or self.over:
            self._plies_known = 0
        unread: list[Unread] = ["moves"] if problem or self._plies_known else []
        if result is None:
            unread.append("result")
        url = f"{self._base_url}/{key}"
        headers = Headers(
            *told.sides, event=event, site=self._base_url, url=url, variant=variant
        )
        return GameReport(
            key=key,
            headers=headers,
            start_fen=game.start_fen,
            moves=() if problem else tuple(game.moves),
            result=result or "*",
            problem=problem,
            unread=tuple(unread),
        )


class LichessTvStream(LichessGameStream):
    """A TV channel's stream: always the one game that is featured, from where it was
    met.
    """

    def __init__(self, base_url: str, channel: str = "") -> None:
        super().__init__(base_url)
        self._chess960 = channel.casefold() == "chess960"

    def reconnect(self, known: Iterable[GameReport] = ()) -> None:
        """A new connection goes on with the game that is featured."""

    def read_line(self, raw: bytes) -> GameReport | None:
        """The featured game after one more line; None for what cannot be read."""
        line = self._read_json(raw, _TvLine)
        if line is None:
            return None
        told = line.d
        if line.t == "featured" or told.id:
            if told.id and (self._described is None or self._described.id != told.id):
                self._game = PositionTracker(
                    read_fen(told.fen, chess960=self._chess960)
                )
            if told.id:
                self._described = told
            # Of a game without an id it is not known whether it is the one of before.
            self._told = told if told.id else None
        if self._told is None:
            return None
        unread = self._told.unread | told.unread | self._track_position(told)
        variant = "chess960" if self._game.chess960 else "standard"
        report = self._build_report(self._told, "Lichess TV", variant, "*")
        return add_unread(report, unread)


def _describe_lost_start(told: _Line) -> str | None:
    """Return why the positions of a game cannot be read, for people."""
    no_variant = told.variant is None or told.variant.key is None
    lost = {
        "initialFen": told.initialFen is None,
        "variant": no_variant,
        "variant.key": no_variant,
    }
    for path, found in told.unread.items():
        if lost.get(path):
            return f"its {path} cannot be read ({found})"
    return None


def _read_player(side: _Side | None) -> Player:
    if side is None:
        return Player("?")
    if side.user is None:
        return Player(
            f"Stockfish level {side.ai}" if side.ai is not None else "Anonymous"
        )
    return create_player(side.user.name, elo=side.rating, title=side.user.title)


def _read_result(told: _Line) -> Result | None:
    """Return the result that a description says; None where it cannot be read."""
    status = told.status.id if told.status else _STARTED
    if told.unread.keys() & {"status", "status.id"}:
        return None
    if status <= _ABORTED or status == _UNKNOWN:
        return "*"
    if told.winner == "white":
        return "1-0"
    if told.winner == "black":
        return "0-1"
    if told.winner is not None or "winner" in told.unread:
        return None
    return "*" if status == _NO_START else "1/2-1/2"


#: A description is about 1 kB, a position 100 bytes.
MAX_LINE_BYTES = 65_536


class NdjsonLines:
    """Bytes cut anywhere → whole lines, blank ones left out."""

    _rest = b""

    def split_lines(self, data: bytes) -> Iterator[bytes]:
        """Raises :class:`FeedTrouble` for a line that does not end."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise FeedTrouble("the source sends a line without end")
        yield from (line for line in lines if line.strip())


class LichessGameFeed(SessionFeed):
    """Follows one game to its end, or a TV channel for ever."""

    def __init__(
        self,
        name: str,
        base_url: str,
        target: LichessTarget,
        conditions: FeedConditions,
        token: LichessToken,
    ) -> None:
        super().__init__(name, conditions)
        base_url = base_url.rstrip("/")
        self._stream = LichessGameStream(base_url)
        path = f"stream/game/{target.id}"
        if target.what == "tv":
            self._stream = LichessTvStream(base_url, target.id)
            path = f"tv/{target.id}/feed" if target.id else "tv/feed"
        self._url = f"{base_url}/api/{path}"
        self._token = token

    async def _follow_source(self, session: FeedSession) -> None:
        with self._token.explain_refusal(self.name):
            await self._follow_stream(session)

    async def _follow_stream(self, session: FeedSession) -> None:
        stream = self._stream
        # Neither stream is known to send keep-alives, and a player may think for long:
        # after this long a new connection, which begins from the start, is the way to
        # know.
        silence_s = self._config.stale_after_s
        lines = NdjsonLines()
        stream.reconnect(
            () if session.reported else session.sink.known_games(self.name)
        )
        async with (
            http_client.open_client(self._config) as client,
            http_client.open_request(
                client,
                self.name,
                self._url,
                headers=self._token.auth_headers(),
                endless=True,
            ) as response,
        ):
            session.mark_alive()
            chunks = http_client.yield_between_pieces(response.aiter_bytes())
            while True:
                try:
                    async with self._clock.deadline(silence_s):
                        chunk = await anext(chunks, None)
                except TimeoutError:
                    raise FeedTrouble(
                        f"not a sign of life for {format_duration(silence_s)}"
                    ) from None
                if chunk is None:
                    if stream.over:
                        return
                    raise FeedTrouble("the stream ended")
                game = None
                for line in lines.split_lines(chunk):
                    game = stream.read_line(line) or game
                    if (
                        game is None
                        and not session.reported
                        and not line.lstrip().startswith(b"{")
                    ):
                        what = describe_no_pgn(line) or "something else than a game"
                        raise create_fatal_trouble(
                            self.name, f"answers with {what}", "Check the address"
                        )
                    await asyncio.sleep(0)
                session.note = stream.damage
                if game is not None:  # of what came together only the last matters
                    await session.report([game], complete=True)
                elif session.reported:
                    session.mark_alive()


def open_lichess(source: FeedAddress, conditions: FeedConditions) -> Feed:
    """Raises UnknownFeed, and ConfigError for a token that cannot be used."""
    settings, target = conditions.config.lichess, read_lichess_target(source.target)
    if target is None or not is_http_address(source.target):
        raise create_unknown_feed(
            source.name,
            "is no lichess broadcast or game: its URL ends in an eight-letter id",
        )
    # A forced kind names its own server (a rehearsal, a private instance); otherwise
    # requests go where the configuration says, whatever host the URL was copied from.
    given = origin_of(source.target)
    base_url = given if source.forced and given != LICHESS else settings.base_url
    token = LichessToken(
        settings.token_file, sent=origin_of(base_url) == origin_of(settings.base_url)
    )
    if target.what == "page":
        url = f"{base_url.rstrip('/')}{target.id}"
        return WebPageFeed(
            source.name, url, conditions, poll_s=target.poll_s, token=token
        )
    kind = LichessGameFeed if target.what in ("game", "tv") else LichessBroadcastFeed
    return kind(source.name, base_url, target, conditions, token)
