"""Source for a lichess game, or for the game that a TV channel features, as ndjson.

The addresses are ``--feed https://lichess.org/GAMEID`` and ``…/tv[/CHANNEL]``.

The game stream (lichess API documentation, "Stream moves of a game") sends a
description, then one line for each position from the start, then the description again
with the result. While the game is in progress, it is three moves late. A TV stream
sends a description of the featured game whenever that changes, and one line per move.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import TypeVar

import chess

from live.messages.from_sources import GameReport, Headers, Player, Result, Unread
from live.messages.values import Value
from live.process.backoff import format_duration
from live.sources import http_client
from live.sources.feed import Feed
from live.sources.feed_session import FeedConditions, FeedSession
from live.sources.foreign_json import (
    ForeignObject,
    add_unread,
    describe_non_json,
    fill_unread,
    read_json,
)
from live.sources.lichess_token import LichessToken
from live.sources.pgn_detection import describe_non_pgn
from live.sources.pgn_headers import clean_text, create_player
from live.sources.position_tracker import PositionTracker, read_fen
from live.sources.retry import FeedTrouble, create_permanent_trouble
from live.sources.source_address import LichessTarget

T = TypeVar("T")
#: Ids of game statuses at lichess. Above 20 (started) the game has ended. Above 25
#: (aborted) it has a result or is a draw, except for 37 (not started) and 38 (unknown).
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
    """Level of lichess' built-in engine, which has no user name."""
    color: str | None = None


class _Players(Value):
    white: _Side | None = None
    black: _Side | None = None


class _Keyed(Value):
    key: str | None = None


class _Status(Value):
    id: int = _STARTED


class _Line(ForeignObject):
    """A line of a stream: a description of the game, which has an id, or a position,
    which has none. In a TV stream the line is the field ``d`` of a :class:`_TvLine`,
    whose field ``t`` names the kind.
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
        """The players with White and Black."""
        if isinstance(self.players, tuple):
            by_color = {side.color: side for side in self.players}
            return _read_player(by_color.get("white")), _read_player(
                by_color.get("black")
            )
        sides = self.players or _Players()
        return _read_player(sides.white), _read_player(sides.black)


#: Fields of a description that, if unreadable, keep their values from the previous
#: description of the game.
_KEPT = ("variant", "initialFen", "status", "winner", "players")


class _TvLine(Value):
    t: str = ""
    d: _Line = _Line()


class LichessGameStream:
    """Reader of one game's stream: it converts lines to reports."""

    def __init__(self, base_url: str) -> None:
        self.over = False
        self.damage = ""
        """Description for people of a fault in the last line; empty if there is
        none.
        """
        self._base_url = base_url
        self._current: _Line | None = None
        self._described: _Line | None = None
        """Last description of the game, from this connection or the previous one."""
        self._game = PositionTracker()
        self._plies_known = 0
        """Number of plies known from an earlier connection, until all of them have been
        sent again; then 0.
        """

    def reconnect(self, known_games: Iterable[GameReport] = ()) -> None:
        """Prepare for a new connection, in which all positions are sent again, one by
        one. ``known_games`` is the game as it was when the service last stopped.
        """
        self._current = None
        plies = [len(self._game.moves), *(len(game.moves) for game in known_games)]
        self._plies_known = max(self._plies_known, *plies)

    def read_line(self, raw: bytes) -> GameReport | None:
        """Read one more line and return the game; None for blank and unreadable
        lines.
        """
        line = self._read_json(raw, _Line)
        if line is None:
            return None
        description = self._current
        if line.id is not None:
            before = self._described
            if before is not None and before.id == line.id:
                line = fill_unread(line, before, *_KEPT)
            self.over = line.status is not None and line.status.id > _STARTED
            is_first, description = description is None, line
            self._current = self._described = line
            if is_first:
                start = read_fen(
                    line.initialFen or "",
                    chess960=description.game_variant == "chess960",
                )
                self._game = PositionTracker(start or chess.Board())
        if description is None:
            return None
        speed, variant = (
            clean_text(description.speed or "game", 40),
            description.game_variant,
        )
        problem = _describe_lost_start(description)
        if variant not in ("standard", "chess960"):
            problem = f"the variant {variant} is not followed"
        unread = description.unread | line.unread
        if line.id is None and problem is None:
            unread |= self._track_position(line)
        report = self._build_report(
            description, f"Lichess {speed}", variant, _read_result(description), problem
        )
        return add_unread(report, unread)

    def _read_json(self, raw: bytes, kind: type[T]) -> T | None:
        line = read_json(raw, kind)
        self.damage = (
            "" if line is not None else f"a line of it is {describe_non_json(raw)}"
        )
        return line

    def _track_position(self, line: _Line) -> dict[str, str]:
        """Apply a position with the clocks of the two players. Return its unreadable
        parts.
        """
        now = read_fen(line.fen, chess960=self._game.chess960)
        if now is None:
            return {"fen": "no position"} if line.fen else {}
        self._game.track_position(now, (line.lm or "")[:5], line.wc, line.bc)
        return {}

    def _build_report(
        self,
        description: _Line,
        event: str,
        variant: str,
        result: Result | None,
        problem: str | None = None,
    ) -> GameReport:
        """Return the report of the game; ``result`` is None if it could not be read."""
        game, key = self._game, clean_text(description.id or "", 20)
        if len(game.moves) >= self._plies_known or self.over:
            self._plies_known = 0
        unread: list[Unread] = ["moves"] if problem or self._plies_known else []
        if result is None:
            unread.append("result")
        url = f"{self._base_url}/{key}"
        headers = Headers(
            *description.sides,
            event=event,
            site=self._base_url,
            url=url,
            variant=variant,
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
    """Reader of a TV channel's stream. Only the featured game is reported, from the
    position at which it was first seen.
    """

    def __init__(self, base_url: str, channel: str = "") -> None:
        super().__init__(base_url)
        self._chess960 = channel.casefold() == "chess960"

    def reconnect(self, known_games: Iterable[GameReport] = ()) -> None:
        """Do nothing: a new connection continues with the featured game."""

    def read_line(self, raw: bytes) -> GameReport | None:
        """Read one more line and return the featured game; None if it cannot be
        read.
        """
        line = self._read_json(raw, _TvLine)
        if line is None:
            return None
        description = line.d
        if line.t == "featured" or description.id:
            if description.id and (
                self._described is None or self._described.id != description.id
            ):
                self._game = PositionTracker(
                    read_fen(description.fen, chess960=self._chess960)
                )
            if description.id:
                self._described = description
            # Without an id it is unknown whether this is still the previous game.
            self._current = description if description.id else None
        if self._current is None:
            return None
        unread = (
            self._current.unread
            | description.unread
            | self._track_position(description)
        )
        variant = "chess960" if self._game.chess960 else "standard"
        report = self._build_report(self._current, "Lichess TV", variant, "*")
        return add_unread(report, unread)


def _describe_lost_start(description: _Line) -> str | None:
    """Return the reason, for people, why the positions of a game cannot be read; None
    if they can.
    """
    no_variant = description.variant is None or description.variant.key is None
    lost = {
        "initialFen": description.initialFen is None,
        "variant": no_variant,
        "variant.key": no_variant,
    }
    for path, problem in description.unread.items():
        if lost.get(path):
            return f"its {path} cannot be read ({problem})"
    return None


def _read_player(side: _Side | None) -> Player:
    if side is None:
        return Player("?")
    if side.user is None:
        return Player(
            f"Stockfish level {side.ai}" if side.ai is not None else "Anonymous"
        )
    return create_player(side.user.name, elo=side.rating, title=side.user.title)


def _read_result(description: _Line) -> Result | None:
    """Return the result in a description; None if it cannot be read."""
    status = description.status.id if description.status else _STARTED
    if description.unread.keys() & {"status", "status.id"}:
        return None
    if status <= _ABORTED or status == _UNKNOWN:
        return "*"
    if description.winner == "white":
        return "1-0"
    if description.winner == "black":
        return "0-1"
    if description.winner is not None or "winner" in description.unread:
        return None
    return "*" if status == _NO_START else "1/2-1/2"


#: Greatest length of a line, bytes. A description has about 1 kB, a position 100 bytes.
MAX_LINE_BYTES = 65_536


class NdjsonLines:
    """Joins bytes that are cut anywhere into whole lines, and drops blank lines."""

    _rest = b""

    def split_lines(self, data: bytes) -> Iterator[bytes]:
        """Yield the complete lines. Raises :class:`FeedTrouble` if a line is too
        long.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise FeedTrouble("the source sends a line that never ends")
        yield from (line for line in lines if line.strip())


class LichessGameFeed(Feed):
    """Follows one game to its end, or a TV channel without end."""

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
        if target.kind == "tv":
            self._stream = LichessTvStream(base_url, target.id)
            path = f"tv/{target.id}/feed" if target.id else "tv/feed"
        self._url = f"{base_url}/api/{path}"
        self._token = token

    async def _follow_source(self, session: FeedSession) -> None:
        with self._token.explain_refusal(self.name):
            await self._follow_stream(session)

    async def _follow_stream(self, session: FeedSession) -> None:
        stream = self._stream
        # Neither stream is known to send keep-alives, and a player might think for
        # long. After this time only a new connection, which starts from the beginning,
        # can show whether the old one still works.
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
            session.record_source_answer()
            chunks = http_client.yield_between_pieces(response.aiter_bytes())
            while True:
                try:
                    async with self._clock.deadline(silence_s):
                        chunk = await anext(chunks, None)
                except TimeoutError:
                    raise FeedTrouble(
                        f"nothing received for {format_duration(silence_s)}"
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
                        description = (
                            describe_non_pgn(line) or "something other than a game"
                        )
                        raise create_permanent_trouble(
                            self.name,
                            f"answers with {description}",
                            "Check the address",
                        )
                    await asyncio.sleep(0)
                session.note = stream.damage
                if game is not None:  # only the chunk's last update matters
                    await session.report([game], complete=True)
                elif session.reported:
                    session.record_source_answer()
