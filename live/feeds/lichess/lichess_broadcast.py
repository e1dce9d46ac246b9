"""``--feed https://lichess.org/broadcast/…``: the live PGN stream of a round or tournament.

What the stream does (lichess API documentation, "Stream an ongoing broadcast round as PGN", and
lila's RelayPgnStream): on connecting every game of a round that has begun comes whole; after
that a game comes whole again at each new move, each followed by two blank lines; a single space
comes when nothing has happened for a minute. It never ends by itself and never says that
anything was missed, so a lost connection is healed by the burst of the next one, and now and then
(and before the end is believed) the round's export is read: it has the takebacks, the corrected
clocks and whatever a stalled connection kept from us. In the stream of a tournament or group the
games themselves name their rounds, in their addresses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import httpx
import msgspec

from live.errors import FeedUnreadable
from live.events import GameReport
from live.feeds.feed import FeedSink
from live.feeds.feed_session import FeedConditions, FeedSession, follow
from live.feeds.pgn.not_pgn import not_pgn
from live.feeds.pgn.pgn_decoder import PgnDecoder, PgnReader
from live.feeds.source_address import Scope, lichess_broadcast
from live.network import http_client
from live.network.retry import FeedTrouble, spoken

log = logging.getLogger(__name__)

#: Rounds of one group or tournament compared at a time, one request each.
MAX_ROUNDS = 16


class LichessBroadcastFeed:
    """Follows the stream of a round, of a tournament (round after round) or of a group.

    A round is over when all results are in, stay so for the grace period, and its export says the
    same. A tournament is over when, besides, lichess says so of each of its rounds. A group has
    no such word: it is followed until somebody stops us.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        scope: Scope,
        broadcast_id: str,
        conditions: FeedConditions,
        token: str = "",
    ) -> None:
        self.name = name
        api = f"{base_url.rstrip('/')}/api"
        self._stream_url = f"{api}/stream/broadcast/{scope}/{broadcast_id}.pgn"
        self._export_url = f"{api}/broadcast/round/{{}}.pgn"
        self._tour_url = f"{api}/broadcast/{broadcast_id}"
        self._scope = scope
        self._id = broadcast_id
        self._rounds: dict[str, set[str]] = {}
        """Rounds of a tournament or group worth comparing, each with its unfinished games."""
        self._conditions = conditions
        self._headers = {"Accept-Encoding": "identity"}  # compression would hold moves back
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._decoder = PgnDecoder()
        self._reader = PgnReader()

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        async with (
            http_client.client(self._conditions.config) as client,
            http_client.request(
                client, self.name, self._stream_url, headers=self._headers, endless=True
            ) as response,
        ):
            session.alive()
            await self._listen(client, response, session)

    async def _listen(
        self, client: httpx.AsyncClient, response: httpx.Response, session: FeedSession
    ) -> None:
        settings, clock = self._conditions.config.lichess, self._conditions.clock
        silence_s = 2 * settings.keep_alive_s + self._conditions.config.timeout_s
        heard_s = tried_s = clock.now()
        same_s = float("-inf")  # last successful comparison
        given_up: float | None = None  # the change after which a comparison failed
        # The half of a game that the last connection ended with is worth nothing: the whole game
        # comes again.
        self._decoder.reset()
        chunks = response.aiter_bytes()
        first = True
        # A task of its own: a deadline that passes must not break the stream off.
        reading = _next(chunks)
        try:
            while True:
                now_s = clock.now()
                changed_s = session.roster.changed_s
                waits_s = [
                    heard_s + silence_s - now_s,
                    tried_s + settings.reconcile_s - now_s,
                ]
                ends_in_s = session.ends_in_s()
                if ends_in_s is not None and given_up != changed_s:
                    waits_s.append(ends_in_s)
                try:
                    async with clock.deadline(max(0.0, min(waits_s))):
                        await asyncio.wait([reading])
                except TimeoutError:
                    if session.over and same_s > changed_s:
                        return
                    silent = clock.now() - heard_s >= silence_s
                    if silent and (not session.over or given_up == changed_s):
                        raise FeedTrouble(f"not a sign of life for {spoken(silence_s)}") from None
                    tried_s = clock.now()
                    if await self._compare(client, session):
                        same_s = clock.now()
                        if session.over:
                            return
                    else:
                        given_up = session.roster.changed_s
                    continue
                chunk = reading.result()
                heard_s = clock.now()
                if chunk is None:
                    raise FeedTrouble("the stream ended")
                reading = _next(chunks)
                if not chunk.strip() and session.over and self._scope == "round":
                    # A keep-alive after the grace period says as much as a comparison that failed
                    # would have.
                    return
                if first and chunk.strip():
                    first = False
                    self._refuse_other_than_pgn(chunk, response.headers.get("Content-Type", ""))
                for games in self._decoder.slices(chunk):
                    if games:
                        self._note_rounds(games)
                        await session.report(games)
                    await asyncio.sleep(0)  # a slice is some milliseconds of work
                session.alive()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _compare(self, client: httpx.AsyncClient, session: FeedSession) -> bool:
        """Ask lichess what the stream does not tell; False when that could not be had, or when
        there is more to come.
        """
        if self._scope == "round":
            return await self._compare_round(client, session, self._id, whole=True)
        for round_id in list(self._rounds)[:MAX_ROUNDS]:
            told = await self._compare_round(client, session, round_id, whole=False)
            if told and not self._rounds[round_id]:
                del self._rounds[round_id]
        if self._scope == "group" or not session.over:
            return False
        answer = await self._get(client, self._tour_url)
        return answer is not None and tour_is_over(answer.body)

    async def _compare_round(
        self, client: httpx.AsyncClient, session: FeedSession, round_id: str, *, whole: bool
    ) -> bool:
        """Report a round's export; ``whole``: there are no games but those in it."""
        answer = await self._get(client, self._export_url.format(round_id))
        if answer is None or not_pgn(answer.body, answer.content_type):
            return False
        games: list[GameReport] = []
        for some in self._reader.slices(answer.body, closed=True):
            games += some
            await asyncio.sleep(0)  # a slice is some milliseconds of work
        if not games:
            return False  # the stream told some: an empty export is not believed
        self._note_rounds(games)
        await session.report(games, complete=whole and not self._reader.left_out)
        return True

    def _note_rounds(self, games: list[GameReport]) -> None:
        if self._scope == "round":
            return
        for game in games:
            found = lichess_broadcast(game.headers.url)
            if found is None or found[0] != "round":
                continue
            unfinished = self._rounds.setdefault(found[1], set())
            (unfinished.add if game.result == "*" else unfinished.discard)(game.key)

    async def _get(self, client: httpx.AsyncClient, url: str) -> http_client.HttpBody | None:
        limit = self._conditions.config.max_bytes
        try:
            return await http_client.get(
                client, self.name, url, max_bytes=limit, headers=self._headers
            )
        except FeedTrouble as trouble:
            log.warning("%s: cannot be compared with the whole: %s", self.name, trouble.reason)
            return None

    def _refuse_other_than_pgn(self, head: bytes, content_type: str) -> None:
        if what := not_pgn(head, content_type):
            error = FeedUnreadable(
                self.name, f"answers with {what}", "Check the address and [feeds.lichess] base_url"
            )
            raise FeedTrouble(f"the source sends {what}", fatal=error)


class _Round(msgspec.Struct):
    """As lichess names things; times in milliseconds."""

    finishedAt: int | None = None
    finished: bool = False


class _Tour(msgspec.Struct):
    rounds: list[_Round] = []


def tour_is_over(body: bytes) -> bool:
    """Tell from ``/api/broadcast/{tourId}`` whether every round of the tournament has ended."""
    try:
        tour = msgspec.json.decode(body, type=_Tour)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return bool(tour.rounds) and all(
        each.finished or each.finishedAt is not None for each in tour.rounds
    )


def _next(chunks: AsyncIterator[bytes]) -> asyncio.Task[bytes | None]:
    async def read() -> bytes | None:
        return await anext(chunks, None)

    return asyncio.create_task(read(), name="lichess stream")
