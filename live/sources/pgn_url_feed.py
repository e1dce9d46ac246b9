"""Source ``--feed http(s)://…/games.pgn``: PGN at a URL, requested again and again.

To spare the server, requests are conditional and become rarer while nothing changes,
and ``Retry-After`` is obeyed. A page can contain many games, which all come with one
request.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from live.sources import http_client
from live.sources.feed import RESTING_S, Feed, PolledFeed
from live.sources.feed_session import FeedConditions, FeedSession, Poll
from live.sources.lichess_token import LichessToken
from live.sources.partial_reads import PartialReadFilter, create_partial_read_filter
from live.sources.pgn_text import PgnText
from live.sources.retry import RefusedRequest
from live.sources.source_address import (
    FeedAddress,
    create_unknown_feed,
    is_http_address,
)

#: Every TRUST_POLLS polls, the request is unconditional: an ETag made of size and whole
#: seconds would never show a second change within one second.
TRUST_POLLS = 30
#: If nothing has changed for QUIET_S seconds, polls become rarer, until their period
#: has grown by the factor SLOWEST.
QUIET_S = 120.0
SLOWEST = 2.5


class PgnUrlFeed(PolledFeed):
    """Reports the games of one PGN page whenever it changes.

    The source has ended when every game has a result and nothing has changed for the
    grace period.
    """

    def __init__(
        self,
        name: str,
        url: str,
        conditions: FeedConditions,
        *,
        poll_s: float = 0.0,
        token: LichessToken | None = None,
    ) -> None:
        """Create the source. ``poll_s`` is the shortest time between two requests,
        seconds, if a service requires more than the settings. ``token`` is sent with
        each request.
        """
        super().__init__(name, conditions)
        self._poll_s = max(poll_s, conditions.config.poll_s)
        self._token = token
        self._url = url
        self._text = PgnText(name, conditions, cached=True)
        self._filter: PartialReadFilter | None = None

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[None]:
        self._since: dict[str, str] = {}
        self._may_be_conditional = True
        self._polls = 0
        async with http_client.open_client(self._config) as self._client:
            yield

    async def poll(self, session: FeedSession) -> Poll:
        """Return the present games of the page."""
        if self._polls % TRUST_POLLS == 0:
            self._since = {}
        self._polls += 1
        asked_s = self._clock.now()
        try:
            answer = await self._fetch_page(self._since)
        except RefusedRequest:
            if not self._since:
                raise
            # Some servers reject conditional requests (lila's HttpClient).
            self._may_be_conditional = False
            answer = await self._fetch_page({})
        if answer is not None:
            is_taken = await self._text.take_unless_outdated(
                answer.body, answer.content_type
            )
            is_known = is_taken and self._may_be_conditional
            self._since = answer.validators if is_known else {}
        reading = await self._text.build_reading(asked_s)
        if self._filter is None:
            self._filter = create_partial_read_filter(
                session, self._conditions, cached=True
            )
        notes = [self._text.note]
        return self._filter.confirm_games([reading], self._clock.now(), notes)

    def _poll_period_s(self, session: FeedSession) -> float:
        still_s = self._clock.now() - session.changed_s
        period_s = self._poll_s * min(SLOWEST, max(1.0, still_s / QUIET_S))
        return max(period_s, RESTING_S) if session.is_idle else period_s

    async def _fetch_page(self, since: dict[str, str]) -> http_client.HttpBody | None:
        token = self._token
        if token is None:
            return await http_client.fetch_body(
                self._client, self.name, self._url, headers=since
            )
        headers = {"Accept": "application/x-chess-pgn", **token.auth_headers(), **since}
        with token.explain_refusal(self.name):
            return await http_client.fetch_body(
                self._client, self.name, self._url, headers=headers
            )


def open_pgn_url(source: FeedAddress, conditions: FeedConditions) -> Feed:
    """Return the feed for a PGN at a URL. Raises UnknownFeed."""
    if not is_http_address(source.target):
        raise create_unknown_feed(source.name, "is not an http or https address")
    return PgnUrlFeed(source.name, source.target, conditions)
