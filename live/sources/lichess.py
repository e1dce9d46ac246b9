"""Source for a lichess broadcast: the live PGN stream of a round, a tournament or a
group.

Behaviour of the stream (lichess API documentation, "Stream an ongoing broadcast round
as PGN", and lila's RelayPgnStream): on connecting, all games of rounds that have begun
are sent. After each new move the whole game is sent again. Each game is followed by two
blank lines. After a minute without events a single space is sent. The stream does not
end, and does not report missed events.

A lost connection loses nothing, since the next one starts with all games. In addition,
the round's export is read at intervals, and before the source is considered ended: it
includes takebacks, corrected clocks and everything that a stalled connection missed. In
the stream of a tournament or group, the addresses of the games contain the ids of their
rounds.
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
from live.sources.feed import Feed, PolledFeed
from live.sources.feed_session import FeedConditions, FeedSession, Poll
from live.sources.foreign_json import ForeignObject, read_json
from live.sources.game_identity import drop_repeated_games
from live.sources.kept_moves import keep_unread
from live.sources.lichess_game import LichessGameFeed
from live.sources.lichess_token import LichessToken
from live.sources.partial_reads import is_behind
from live.sources.pgn_decoder import PgnDecoder, PgnReader
from live.sources.pgn_detection import describe_non_pgn
from live.sources.pgn_url_feed import PgnUrlFeed
from live.sources.results import read_result
from live.sources.retry import FeedTrouble, create_permanent_trouble
from live.sources.source_address import (
    LICHESS,
    FeedAddress,
    LichessTarget,
    create_unknown_feed,
    is_http_address,
    origin_of,
    read_lichess_target,
)

log = logging.getLogger(__name__)

#: Time after which a stream without events sends a sign of life, seconds (lichess API).
KEEP_ALIVE_S = 60.0
#: Shortest time between two comparisons of the stream with the round, seconds. The
#: stream reports neither takebacks nor added boards, and drops events that a slow
#: reader misses.
COMPARE_S = 20.0
T = TypeVar("T")

#: Longest time between two comparisons if nothing changes, seconds.
RARELY_S = 300.0
#: Longest time between two comparisons after all games have ended, seconds.
RAREST_S = 1800.0
#: Time after which the whole round is read even if the list of boards shows no
#: difference, seconds.
EXPORT_S = 300.0
#: Time between two checks whether the next round has begun, after the end of a round,
#: seconds.
NEXT_ROUND_S = 60.0
#: Greatest number of rounds of a group or tournament per comparison; each needs a
#: request.
MAX_ROUNDS = 16
#: Seconds by which a deadline can fire early, since sums of seconds are not exact.
TICK_S = 0.1
#: A poll of a source that might have more games than its stream has sent. It sets no
#: time for the next poll, since the stream announces new games.
UNFINISHED = Poll(again_in_s=inf)


class _NextRound(Exception):
    """Raised when the next round of the tournament has begun, which has a separate
    stream.
    """


class LichessBroadcastFeed(PolledFeed):
    """Follows the stream of a round, of a tournament (round after round) or of a group.

    A round has ended when all results are in and have not changed for the grace period,
    and its export confirms that. A source that goes on after the end of its round
    compares the ended round with its export less and less often; when the next round of
    its tournament begins, the source continues with that round. A tournament has ended
    when, in addition, lichess reports each of its rounds as ended. A group has no such
    report: it is followed until the service stops.
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
        self._stream_url = f"{api}/stream/broadcast/{target.kind}"
        self._url = f"{api}/broadcast"
        self._scope, self._id = target.kind, target.id
        self._rounds: dict[str, set[str]] = {}
        """Keys of the unfinished games of each round that must still be compared, by
        the round's id; only for a tournament or group.
        """
        self._token = token
        self._earlier: list[str] = []
        """Ids of earlier rounds that this source has followed to their end, the latest
        first.
        """
        self._next_asked_s = -inf
        self._placements: dict[str, tuple[tuple[Move, ...], str]] = {}
        self._stored_games: dict[str, GameReport] = {}
        """Games of the round as they were last reported, by key."""
        self._exported_s = -inf
        self._tried_s: float | None = None
        """Clock time of the last comparison; a new connection does not reset it."""
        self._decoder = PgnDecoder()
        self._readers: dict[str, PgnReader] = {}
        """Readers of the exports of recently compared rounds, by the round's id."""
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
                """Clock time of the last change before the last failed comparison."""
                # Drop the incomplete game at the end of the previous connection: the
                # whole game will be sent again.
                self._decoder.reset()
                self._news = asyncio.Event()
                self._read_next()
                try:
                    yield
                finally:
                    self._reading.cancel()
                    await asyncio.gather(self._reading, return_exceptions=True)

    def _read_next(self) -> None:
        # A separate task reads the stream, so that a deadline does not interrupt it.
        news = self._news
        assert news is not None
        self._reading = asyncio.create_task(
            _read_chunk(self._chunks), name="lichess stream"
        )
        self._reading.add_done_callback(lambda _: news.set())

    def _request_headers(self) -> dict[str, str]:
        # Compression would delay moves.
        return {"Accept-Encoding": "identity", **self._token.auth_headers()}

    async def poll(self, session: FeedSession) -> Poll:
        """Return the games that the stream has completed. If it has sent nothing and a
        comparison is due, return the result of the comparison.
        """
        # Received data is processed before a comparison that is due.
        if self._reading.done():
            return await self._poll_stream(session)
        if session.is_over and self._compared_s > session.changed_s:
            return Poll()
        now_s = self._clock.now() + TICK_S
        is_ending = session.is_over and self._failed_s != session.changed_s
        if now_s >= self._heard_s + self._silence_s and not is_ending:
            silence = format_duration(self._silence_s)
            raise FeedTrouble(f"nothing received for {silence}")
        if session.is_idle:
            await self._look_for_next_round()
        if now_s < self._next_comparison_s(session) and not is_ending:
            return self._unanswered
        self._tried_s = self._clock.now()
        poll = await self._poll_rounds(session)
        if poll.again_in_s is None:
            self._compared_s = self._clock.now()
        else:
            self._failed_s = session.changed_s
            if not poll.games:
                return self._unanswered
        return poll

    @property
    def _unanswered(self) -> Poll:
        """A poll without an answer. It includes the clock time at which the stream or
        the connection was last active.
        """
        return UNFINISHED._replace(heard_s=self._heard_s)

    def _next_comparison_s(self, session: FeedSession) -> float:
        """Return the clock time of the next comparison. Comparisons are frequent while
        games change and become rarer after the end, but never stop: results are
        corrected hours later.
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
            # After the grace period, a keep-alive is taken as confirmation of the end,
            # as a failed comparison is.
            return Poll()
        if not is_blank and not self._has_begun:
            if description := describe_non_pgn(chunk, self._content_type):
                remedy = "Check the address and [feeds.lichess] base_url"
                raise create_permanent_trouble(
                    self.name, f"answers with {description}", remedy
                )
            self._has_begun = True
        # Blank chunks are decoded too, since a blank line ends a game.
        games = await LoopSlices().run(self._decoder.decode_in_pieces(chunk))
        # The export can be more recent than the stream. lila's stream sends no
        # takebacks. So a streamed game that is shorter than the stored one is outdated,
        # even if an error in its last moves has been corrected since. The same applies
        # to a game that only lacks its result. Takebacks and withdrawn results come
        # with the next comparison.
        news = [game for game in games if not self._is_old(game)]
        return UNFINISHED._replace(games=self._fill_and_store_games(news))

    def _keep_unread(self, game: GameReport) -> GameReport:
        """Return the game, with its unread parts filled from the stored game."""
        stored_game = self._stored_games.get(game.key)
        return game if stored_game is None else keep_unread(game, stored_game)

    def _is_old(self, game: GameReport) -> bool:
        stored_game = self._stored_games.get(game.key)
        return stored_game is not None and is_behind(
            self._keep_unread(game), stored_game, corrected=2
        )

    async def _poll_rounds(self, session: FeedSession) -> Poll:
        """Fetch from lichess what the stream does not send. Return an unfinished poll
        if that fails or if more is to come.
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
                earlier_games, _ = await self._fetch_round(round_id)
                games += earlier_games
            games = self._fill_and_store_games(games, complete=complete)
            return poll._replace(games=games, complete=complete)
        changed_games: list[GameReport] = []
        for round_id in list(self._rounds)[:MAX_ROUNDS]:
            games, _ = await self._fetch_round(round_id)
            changed_games += self._fill_and_store_games(games)
            if games and not self._rounds[round_id]:
                del self._rounds[round_id]
        is_over = False
        if self._scope == "tour" and session.is_over:
            tour = await self._fetch_json(self._id, Tour) or Tour()
            is_over = bool(tour.rounds) and all(
                round_.is_over for round_ in tour.rounds
            )
        return (Poll() if is_over else UNFINISHED)._replace(games=changed_games)

    async def _fetch_round(self, round_id: str) -> tuple[list[GameReport], bool]:
        """Return the games of a round (none if the request failed), and whether they
        are complete.
        """
        answer = await self._fetch_body(f"round/{round_id}.pgn")
        if answer is None or describe_non_pgn(answer.body, answer.content_type):
            return [], False
        reader = self._readers.pop(round_id, PgnReader())
        self._readers[round_id] = reader
        if len(self._readers) > MAX_ROUNDS:
            del self._readers[next(iter(self._readers))]
        games = await LoopSlices().run(reader.read_in_pieces(answer.body, closed=True))
        # An empty export is not accepted as complete, since the stream has sent games.
        return games, bool(games) and not reader.left_out

    def _fill_and_store_games(
        self, games: Sequence[GameReport], *, complete: bool = False
    ) -> list[GameReport]:
        """Fill the unread parts of the games from the stored games; store and return
        the result.
        """
        if self._scope != "round":
            self._note_unfinished(games)
        games = [self._keep_unread(game) for game in games]
        if complete:
            games = list(drop_repeated_games(games))
            self._stored_games.clear()
        self._stored_games.update((game.key, game) for game in games)
        return games

    def _note_unfinished(self, games: Sequence[GameReport]) -> None:
        """Record which games of each round are unfinished. The rounds' ids are in the
        games' addresses.
        """
        for game in games:
            target = read_lichess_target(game.headers.url)
            if target is None or target.kind != "round":
                continue
            unfinished = self._rounds.setdefault(target.id, set())
            if game.result == "*":
                unfinished.add(game.key)
            else:
                unfinished.discard(game.key)

    async def _matches_board_list(self) -> bool:
        """Return whether the short list of the round's boards agrees with the stored
        games.

        The list has a tenth of the size of the export. It shows takebacks, pairings
        that have not begun, removed boards and results, but neither earlier moves nor
        ratings. So :data:`EXPORT_S` seconds after the last export the answer is always
        False, and the export is read.
        """
        if self._clock.now() - self._exported_s >= EXPORT_S:
            return False
        listed = await self._fetch_json(f"-/-/{self._id}", RoundList)
        if listed is None or len(listed.games) != len(self._stored_games):
            return False
        return all(map(self._is_board_unchanged, listed.games))

    def _is_board_unchanged(self, board: RoundBoard) -> bool:
        stored_game = self._stored_games.get(board.id)
        if (
            stored_game is None
            or read_result(board.status or "*") != stored_game.result
        ):
            return False
        moves, placement = self._placements.get(board.id, ((), ""))
        if not placement or moves != stored_game.moves:
            position = chess.Board(
                stored_game.start_fen,
                chess960=stored_game.headers.variant == "chess960",
            )
            for move in stored_game.moves:
                position.push_uci(move.uci)
            placement = position.board_fen()
            self._placements[board.id] = stored_game.moves, placement
        return (board.fen or chess.STARTING_FEN).partition(" ")[0] == placement

    async def _look_for_next_round(self) -> None:
        """Switch to the next round if it has begun; the round before it is still
        compared.

        Raises:
            _NextRound: the next round has begun.
        """
        now_s = self._clock.now()
        if self._scope != "round" or now_s - self._next_asked_s < NEXT_ROUND_S:
            return
        self._next_asked_s = now_s
        listed = await self._fetch_json(f"-/-/{self._id}", RoundList) or RoundList()
        if not listed.tour.id:
            return
        tour = await self._fetch_json(listed.tour.id, Tour) or Tour()
        for round_, following in pairwise(tour.rounds):
            if round_.id == self._id and (following.ongoing or following.is_over):
                log.info("%s: the next round, %s, has begun", self.name, following.id)
                self._earlier.insert(0, self._id)
                self._id = following.id
                self._exported_s = -inf
                self._stored_games.clear()
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
                "%s: cannot be compared with the full file: %s",
                self.name,
                trouble.reason,
            )
            return None

    async def _fetch_json(self, path: str, kind: type[T]) -> T | None:
        answer = await self._fetch_body(path)
        return read_json(answer.body, kind) if answer is not None else None


class _Round(ForeignObject):
    """A round of a tournament, with lichess' field names; times are in milliseconds."""

    id: str = ""
    ongoing: bool = False
    finishedAt: int | None = None
    finished: bool = False

    @property
    def is_over(self) -> bool:
        return self.finished or self.finishedAt is not None


class Tour(Value):
    """Contents of ``/api/broadcast/{tourId}``."""

    rounds: tuple[_Round, ...] = ()


class _TourId(Value):
    id: str = ""


class RoundBoard(Value):
    """One board in the short list of a round."""

    id: str = ""
    fen: str | None = None
    """FEN of the present position; missing at the starting position."""
    status: str | None = None


class RoundList(Value):
    """Contents of ``/api/broadcast/-/-/{roundId}``."""

    tour: _TourId = _TourId()
    games: tuple[RoundBoard, ...] = ()


async def _read_chunk(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)


def open_lichess(source: FeedAddress, conditions: FeedConditions) -> Feed:
    """Return the feed for a lichess address. Raises UnknownFeed, and ConfigError if the
    token cannot be used.
    """
    settings, target = conditions.config.lichess, read_lichess_target(source.target)
    if target is None or not is_http_address(source.target):
        raise create_unknown_feed(
            source.name,
            "is not a lichess broadcast or game: their URLs end in an eight-letter id",
        )
    # With a forced kind, requests go to the server in the address (a rehearsal, a
    # private instance). Otherwise they go to the configured server, whichever host the
    # URL names.
    origin = origin_of(source.target)
    base_url = origin if source.forced and origin != LICHESS else settings.base_url
    token = LichessToken(
        settings.token_file, sent=origin_of(base_url) == origin_of(settings.base_url)
    )
    if target.kind == "page":
        url = f"{base_url.rstrip('/')}{target.id}"
        return PgnUrlFeed(
            source.name, url, conditions, poll_s=target.poll_s, token=token
        )
    kind = LichessGameFeed if target.kind in ("game", "tv") else LichessBroadcastFeed
    return kind(source.name, base_url, target, conditions, token)
