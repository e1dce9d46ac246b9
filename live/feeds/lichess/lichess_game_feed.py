"""``--feed https://lichess.org/GAMEID`` and ``…/tv[/CHANNEL]``: one game, or the featured one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from live.errors import FeedUnreadable
from live.feeds import http_client
from live.feeds.feed import FeedSink
from live.feeds.feed_session import FeedConditions, FeedSession, follow
from live.feeds.lichess.lichess_ndjson import LichessGameStream, LichessTvStream
from live.feeds.lichess.lichess_token import LichessToken
from live.feeds.pgn.not_pgn import not_pgn
from live.network.retry import FeedTrouble, spoken

#: A description is about 1 kB, a position 100 bytes.
MAX_LINE_BYTES = 65_536


class NdjsonLines:
    """Bytes cut anywhere → whole lines, blank ones left out."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Raises :class:`FeedTrouble` for a line that does not end."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise FeedTrouble("the source sends a line without end")
        yield from (line for line in lines if line.strip())


class LichessGameFeed:
    """Follows one game (``game_id``) to its end, or a TV channel for ever."""

    def __init__(
        self,
        name: str,
        base_url: str,
        conditions: FeedConditions,
        *,
        game_id: str = "",
        channel: str = "",
        token: LichessToken,
    ) -> None:
        self.name = name
        base_url = base_url.rstrip("/")
        if game_id:
            path = f"stream/game/{game_id}"
        else:
            path = f"tv/{channel}/feed" if channel else "tv/feed"
        self._url = f"{base_url}/api/{path}"
        self._stream = (
            LichessGameStream(base_url) if game_id else LichessTvStream(base_url, channel)
        )
        self._conditions = conditions
        self._token = token

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        try:
            await self._listen(session)
        except FeedTrouble as trouble:
            raise self._token.explained(self.name, trouble) from trouble

    async def _listen(self, session: FeedSession) -> None:
        stream = self._stream
        # Neither stream is known to send keep-alives, and a player may think for long: after this
        # long a new connection, which begins from the start, is the way to know.
        silence_s = self._conditions.config.stale_after_s
        lines = NdjsonLines()
        if isinstance(stream, LichessGameStream):
            stream.restart()
        async with (
            http_client.client(self._conditions.config) as client,
            http_client.request(
                client, self.name, self._url, headers=self._token.headers(), endless=True
            ) as response,
        ):
            session.alive()
            chunks = response.aiter_bytes()
            while True:
                try:
                    async with self._conditions.clock.deadline(silence_s):
                        chunk = await anext(chunks, None)
                except TimeoutError:
                    raise FeedTrouble(f"not a sign of life for {spoken(silence_s)}") from None
                if chunk is None:
                    if isinstance(stream, LichessGameStream) and stream.over:
                        return
                    raise FeedTrouble("the stream ended")
                game = None
                for line in lines.feed(chunk):
                    game = stream.line(line) or game
                    if game is None and not session.reported and not line.lstrip().startswith(b"{"):
                        raise self._strange(line)
                    await asyncio.sleep(0)
                if game is not None:  # of what came together only the last matters
                    await session.report([game], complete=True)

    def _strange(self, line: bytes) -> FeedTrouble:
        what = not_pgn(line) or "something else than a game"
        return FeedTrouble(
            f"the source sends {what}",
            fatal=FeedUnreadable(self.name, f"answers with {what}", "Check the address"),
        )
