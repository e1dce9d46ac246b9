"""lichess: the live PGN stream of a broadcast round, a tournament or a group.

What the stream does (lichess API documentation, "Stream an ongoing broadcast round as
PGN", and lila's RelayPgnStream): on connecting every game of a round that has begun
comes whole; after that a game comes whole again at each new move, each followed by two
blank lines; a single space comes when nothing has happened for a minute. It never ends
by itself and never says that anything was missed. So a lost connection is healed by the
games that the next one begins with, and now and then (and before the end is believed)
the round's export is read: it has the takebacks, the corrected clocks and whatever a
stalled connection has missed. In the stream of a tournament or group the addresses of
the games name their rounds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from math import inf
from typing import TypeVar

import chess

from live.messages.from_sources import GameReport, Move
from live.messages.values import Value
from live.process.backoff import format_duration
from live.process.loop_slices import LoopSlices
from live.sources import http_client
from live.sources.feed import (
    Feed,
    FeedConditions,
    FeedSession,
    Poll,
    PolledFeed,
)
from live.sources.foreign_json import ForeignObject, read_json
from live.sources.game_identity import drop_repeated_games
from live.sources.kept_moves import keep_unread
from live.sources.lichess_game import LichessGameFeed
from live.sources.lichess_token import LichessToken
from live.sources.pgn_decoder import PgnDecoder, PgnReader
from live.sources.pgn_detection import describe_no_pgn
from live.sources.pgn_snapshots import is_behind
from live.sources.results import read_result
from live.sources.retry import FeedTrouble, create_fatal_trouble
from live.sources.source_address import (
    LICHESS,
    FeedAddress,
    LichessTarget,
    create_unknown_feed,
    is_http_address,
    origin_of,
    read_lichess_target,
)
from live.sources.web_page_feed import WebPageFeed

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
#: Deadlines may pass so much early: sums of seconds are not exact.
TICK_S = 0.1
#: The source may have more than its stream has sent, which says so itself.
UNFINISHED = Poll(again_in_s=inf)


class _NextRound(Exception):
    """The next round of the tournament has begun, and has a stream of its own."""


class LichessBroadcastFeed(PolledFeed):
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
        self._silence_s = 2 * KEEP_ALIVE_S + conditions.config.timeout_s

    async def _follow_source(self, session: FeedSession) -> None:
        while True:
            with suppress(_NextRound):
                return await super()._follow_source(session)

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[None]:
        url = f"{self._stream_url}/{self._id}.pgn"
        with self._token.explain_refusal(self.name):
            async with (
                http_client.open_client(self._config) as self._client,
                http_client.open_request(
                    self._client,
                    self.name,
                    url,
                    headers=self._request_headers(),
                    endless=True,
                ) as response,
            ):
                self._content_type = response.headers.get("Content-Type", "")
                self._chunks = http_client.yield_between_pieces(response.aiter_bytes())
                self._has_begun = False
                self._heard_s = self._clock.now()
                if self._tried_s is None:
                    self._tried_s = self._heard_s
                self._compared_s = -inf
                self._failed_s: float | None = None
                """The last change before a comparison that failed."""
                # Drop the game that the last connection broke off in: the whole game
                # comes again.
                self._decoder.reset()
                self._news = asyncio.Event()
                self._read_next()
                try:
                    yield
                finally:
                    self._reading.cancel()
                    await asyncio.gather(self._reading, return_exceptions=True)

    def _read_next(self) -> None:
        # A task of its own: a deadline that passes must not break the stream off.
        news = self._news
        assert news is not None
        self._reading = asyncio.create_task(
            _read_chunk(self._chunks), name="lichess stream"
        )
        self._reading.add_done_callback(lambda _: news.set())

    def _request_headers(self) -> dict[str, str]:
        # Compression would hold moves back.
        return {"Accept-Encoding": "identity", **self._token.auth_headers()}

    async def poll(self, session: FeedSession) -> Poll:
        """Return what has come of the stream; where nothing has, and a comparison is
        due, what that finds.
        """
        # What has come is read before anything that is due.
        if self._reading.done():
            return await self._poll_stream(session)
        if session.is_over and self._compared_s > session.changed_s:
            return Poll()
        now_s = self._clock.now() + TICK_S
        is_ending = session.is_over and self._failed_s != session.changed_s
        if now_s >= self._heard_s + self._silence_s and not is_ending:
            silence = format_duration(self._silence_s)
            raise FeedTrouble(f"not a sign of life for {silence}")
        if session.is_idle:
            await self._look_for_next_round()
        if now_s < self._next_comparison_s(session) and not is_ending:
            return self._unanswered
        self._tried_s = self._clock.now()
        found = await self._compare_rounds(session)
        if found.again_in_s is None:
            self._compared_s = self._clock.now()
        else:
            self._failed_s = session.changed_s
            if not found.games:
                return self._unanswered
        return found

    @property
    def _unanswered(self) -> Poll:
        """A poll without an answer; it says when the stream or the connection was last
        heard.
        """
        return UNFINISHED._replace(heard_s=self._heard_s)

    def _next_comparison_s(self, session: FeedSession) -> float:
        """Return when the next comparison is due: soon while something happens, ever
        later where all is over, but never without end: results are corrected hours
        later.
        """
        assert self._tried_s is not None
        still_s = self._clock.now() - session.changed_s
        most_s = RAREST_S if session.is_idle else RARELY_S
        return self._tried_s + min(most_s, max(COMPARE_S, still_s / 10))

    def _poll_period_s(self, session: FeedSession) -> float:
        due_s = [self._heard_s + self._silence_s, self._next_comparison_s(session)]
        if session.is_idle and self._scope == "round":
            due_s.append(self._next_asked_s + NEXT_ROUND_S)
        return max(0.0, min(due_s) - self._clock.now())

    async def _poll_stream(self, session: FeedSession) -> Poll:
        """Return the games that the next chunk of the stream completes."""
        chunk = self._reading.result()
        self._heard_s = self._clock.now()
        if chunk is None:
            raise FeedTrouble("the stream ended")
        self._read_next()
        is_blank = not chunk.strip()
        if is_blank and session.is_over and self._scope == "round":
            # A keep-alive after the grace period says as much as a comparison that
            # failed would have.
            return Poll()
        if not is_blank and not self._has_begun:
            if what := describe_no_pgn(chunk, self._content_type):
                remedy = "Check the address and [feeds.lichess] base_url"
                raise create_fatal_trouble(self.name, f"answers with {what}", remedy)
            self._has_begun = True
        # Blanks are decoded, too: a blank line ends a game.
        games = await LoopSlices().run(self._decoder.decode_in_pieces(chunk))
        # The export may overtake the stream. A game of the stream never only shrinks
        # (lila sends no takebacks), so one that is shorter than what is held is old
        # news, also where a slip at its end was put right since, and so is one that
        # only lacks its result; a takeback and a result withdrawn come with the next
        # comparison.
        news = [game for game in games if not self._is_old(game)]
        return UNFINISHED._replace(games=self._hold_games(news))

    def _keep_unread(self, game: GameReport) -> GameReport:
        """Return the game with what is known of its unread parts."""
        held = self._held.get(game.key)
        return game if held is None else keep_unread(game, held)

    def _is_old(self, game: GameReport) -> bool:
        held = self._held.get(game.key)
        return held is not None and is_behind(
            self._keep_unread(game), held, corrected=2
        )

    async def _compare_rounds(self, session: FeedSession) -> Poll:
        """Ask lichess for what the stream does not send. Not finished where that
        failed, or where there is more to come.
        """
        if self._scope == "round":
            if not session.is_over and await self._matches_board_list():
                return Poll()
            games, is_whole = await self._fetch_round(self._id)
            if games:
                self._exported_s = self._clock.now()
            poll = Poll() if games else UNFINISHED
            complete = is_whole and not self._earlier
            for round_id in self._earlier[:1]:
                more, _ = await self._fetch_round(round_id)
                games += more
            games = self._hold_games(games, complete=complete)
            return poll._replace(games=games, complete=complete)
        found: list[GameReport] = []
        for round_id in list(self._rounds)[:MAX_ROUNDS]:
            games, _ = await self._fetch_round(round_id)
            found += self._hold_games(games)
            if games and not self._rounds[round_id]:
                del self._rounds[round_id]
        is_over = False
        if self._scope == "tour" and session.is_over:
            tour = await self._fetch_json(self._id, Tour) or Tour()
            is_over = bool(tour.rounds) and all(each.is_over for each in tour.rounds)
        return (Poll() if is_over else UNFINISHED)._replace(games=found)

    async def _fetch_round(self, round_id: str) -> tuple[list[GameReport], bool]:
        """Return a round's games, none where that failed, and whether they are all."""
        answer = await self._fetch_body(f"round/{round_id}.pgn")
        if answer is None or describe_no_pgn(answer.body, answer.content_type):
            return [], False
        reader = self._readers.pop(round_id, PgnReader())
        self._readers[round_id] = reader
        if len(self._readers) > MAX_ROUNDS:
            del self._readers[next(iter(self._readers))]
        games = await LoopSlices().run(reader.read_in_pieces(answer.body, closed=True))
        # The stream sent some: an empty export is not believed.
        return games, bool(games) and not reader.left_out

    def _hold_games(
        self, games: Sequence[GameReport], *, complete: bool = False
    ) -> list[GameReport]:
        """Return the games with what is known of their unread parts, and hold them."""
        if self._scope != "round":
            self._note_unfinished(games)
        games = [self._keep_unread(game) for game in games]
        if complete:
            games = list(drop_repeated_games(games))
            self._held.clear()
        self._held.update((game.key, game) for game in games)
        return games

    def _note_unfinished(self, games: Sequence[GameReport]) -> None:
        """Note which games of which rounds are unfinished, by their addresses."""
        for game in games:
            target = read_lichess_target(game.headers.url)
            if target is None or target.what != "round":
                continue
            unfinished = self._rounds.setdefault(target.id, set())
            if game.result == "*":
                unfinished.add(game.key)
            else:
                unfinished.discard(game.key)

    async def _matches_board_list(self) -> bool:
        """Ask for the short list of the round's boards: does it say the same as what is
        held?

        It costs a tenth of the export, and shows takebacks, pairings that have not
        begun, boards that were removed, and results. Every :data:`EXPORT_S` the export
        is read in any case: the list has neither earlier moves nor ratings.
        """
        if self._clock.now() - self._exported_s >= EXPORT_S:
            return False
        listed = await self._fetch_json(f"-/-/{self._id}", RoundList)
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

    async def _look_for_next_round(self) -> None:
        """Switch to the round after ours if it has begun, and go on comparing ours.

        Raises:
            _NextRound: it has.
        """
        now_s = self._clock.now()
        if self._scope != "round" or now_s - self._next_asked_s < NEXT_ROUND_S:
            return
        self._next_asked_s = now_s
        listed = await self._fetch_json(f"-/-/{self._id}", RoundList) or RoundList()
        if not listed.tour.id:
            return
        tour = await self._fetch_json(listed.tour.id, Tour) or Tour()
        for one, other in pairwise(tour.rounds):
            if one.id == self._id and (other.ongoing or other.is_over):
                log.info("%s: the next round, %s, has begun", self.name, other.id)
                self._earlier.insert(0, self._id)
                self._id = other.id
                self._exported_s = -inf
                self._held.clear()
                raise _NextRound

    async def _fetch_body(self, path: str) -> http_client.HttpBody | None:
        url = f"{self._url}/{path}"
        try:
            return await http_client.fetch_body(
                self._client, self.name, url, headers=self._request_headers()
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

    async def _fetch_json(self, path: str, kind: type[T]) -> T | None:
        answer = await self._fetch_body(path)
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


async def _read_chunk(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)


def open_lichess(source: FeedAddress, conditions: FeedConditions) -> Feed:
    """Open the feed of a lichess address. Raises UnknownFeed, and ConfigError for a
    token that cannot be used.
    """
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
