"""Source for the game that a lichess TV channel features: ``--feed
https://lichess.org/tv[/CHANNEL]``.

The stream (lichess API documentation, "Stream current TV game") is ndjson: a
description of the featured game whenever that changes, and one line per move. It does
not tell how a game ended.
"""

from __future__ import annotations

import asyncio

from live.messages.from_sources import GameReport, Headers, Player
from live.messages.values import Value
from live.process.backoff import format_duration
from live.sources import http_client
from live.sources.feed import Feed
from live.sources.feed_session import FeedConditions, FeedSession
from live.sources.foreign_json import (
    ForeignObject,
    add_unread,
    describe_no_json,
    read_json,
)
from live.sources.lichess_token import LichessToken
from live.sources.pgn_headers import clean_text, create_player
from live.sources.position_tracker import PositionTracker, read_fen
from live.sources.retry import FeedTrouble, create_permanent_trouble

#: Greatest length of a line, bytes. A description has about 1 kB, a position 100 bytes.
MAX_LINE_BYTES = 65_536


class _User(Value):
    name: str | None = None
    title: str | None = None


class _Side(Value):
    user: _User | None = None
    rating: int | None = None
    ai: int | None = None
    """Level of lichess' built-in engine, which has no user name."""
    color: str | None = None


class _Told(ForeignObject):
    """A description of the featured game, which has an id, or a position of it."""

    id: str | None = None
    players: tuple[_Side, ...] | None = None
    fen: str = ""
    lm: str | None = None
    wc: float | None = None
    bc: float | None = None


class _Line(Value):
    t: str = ""
    d: _Told = _Told()


class LichessTvStream:
    """Reader of a channel's stream. Only the featured game is reported, from the
    position at which it was first seen. After a lost connection it goes on.
    """

    def __init__(self, base_url: str, channel: str = "") -> None:
        self.damage = ""
        """Description for people of a fault in the last line; empty if there is
        none.
        """
        self._base_url = base_url
        self._chess960 = channel.casefold() == "chess960"
        self._key = ""
        """Id of the game of which the positions are."""
        self._featured: _Told | None = None
        """Description of the featured game; None if it could not be read."""
        self._game = PositionTracker()
        self._rest = b""
        """Beginning of an incomplete line."""

    def split_lines(self, data: bytes) -> list[bytes]:
        """Return the lines that ``data`` completes, without blank ones. Raises
        :class:`FeedTrouble` if a line is too long.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise FeedTrouble("the source sends a line that never ends")
        return [line for line in lines if line.strip()]

    def forget_incomplete_line(self) -> None:
        """Prepare for a new connection."""
        self._rest = b""

    def read_line(self, raw: bytes) -> GameReport | None:
        """Read one more line and return the featured game; None if it cannot be
        read.
        """
        line = read_json(raw, _Line)
        if line is None:
            self.damage = f"a line of it is {describe_no_json(raw)}"
            return None
        self.damage = ""
        told = line.d
        if line.t == "featured" or told.id:
            # Without an id it is unknown whether this is still the previous game.
            self._featured = told if told.id else None
            if told.id and told.id != self._key:
                self._key = told.id
                self._game = PositionTracker(
                    read_fen(told.fen, chess960=self._chess960)
                )
        if self._featured is None:
            return None
        unread = self._featured.unread | told.unread
        now = read_fen(told.fen, chess960=self._game.chess960)
        if now is not None:
            self._game.track_position(now, (told.lm or "")[:5], told.wc, told.bc)
        elif told.fen:
            unread |= {"fen": "no position"}
        return add_unread(self._build_report(self._featured), unread)

    def _build_report(self, featured: _Told) -> GameReport:
        game, key = self._game, clean_text(self._key, 20)
        by_color = {side.color: side for side in featured.players or ()}
        headers = Headers(
            white=_read_player(by_color.get("white")),
            black=_read_player(by_color.get("black")),
            event="Lichess TV",
            site=self._base_url,
            url=f"{self._base_url}/{key}",
            variant="chess960" if game.chess960 else "standard",
        )
        return GameReport(key, headers, game.start_fen, tuple(game.moves))


def _read_player(side: _Side | None) -> Player:
    if side is None:
        return Player("?")
    if side.user is None:
        return Player(
            f"Stockfish level {side.ai}" if side.ai is not None else "Anonymous"
        )
    return create_player(side.user.name, elo=side.rating, title=side.user.title)


class LichessTvFeed(Feed):
    """Follows a channel without end."""

    def __init__(
        self,
        name: str,
        base_url: str,
        channel: str,
        conditions: FeedConditions,
        token: LichessToken,
    ) -> None:
        super().__init__(name, conditions)
        base_url = base_url.rstrip("/")
        self._stream = LichessTvStream(base_url, channel)
        path = f"tv/{channel}/feed" if channel else "tv/feed"
        self._url = f"{base_url}/api/{path}"
        self._token = token

    async def _follow_source(self, session: FeedSession) -> None:
        stream = self._stream
        stream.forget_incomplete_line()
        # The stream is not known to send keep-alives, and a player might think for
        # long. After this time only a new connection can show whether the old one
        # still works.
        silence_s = self._config.stale_after_s
        with self._token.explain_refusal(self.name):
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
                            chunk = await anext(chunks)
                    except TimeoutError:
                        raise FeedTrouble(
                            f"nothing received for {format_duration(silence_s)}"
                        ) from None
                    except StopAsyncIteration:
                        raise FeedTrouble("the stream ended") from None
                    await self._report_chunk(session, chunk)

    async def _report_chunk(self, session: FeedSession, chunk: bytes) -> None:
        stream = self._stream
        game = None
        for line in stream.split_lines(chunk):
            game = stream.read_line(line) or game
            is_json = line.lstrip().startswith(b"{")
            if game is None and not session.reported and not is_json:
                raise create_permanent_trouble(
                    self.name,
                    f"answers with {describe_no_json(line)}",
                    "Check the address",
                )
            await asyncio.sleep(0)
        session.note = stream.damage
        if game is not None:  # only the chunk's last update matters
            await session.report([game], complete=True)
        elif session.reported:
            session.mark_alive()
