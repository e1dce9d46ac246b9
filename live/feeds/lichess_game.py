"""``--feed https://lichess.org/GAMEID`` and ``…/tv[/CHANNEL]``: one game, or the featured one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import chess
import msgspec

from live.errors import FeedUnreadable
from live.events import GameReport, Headers, Move, Player, Result
from live.feeds import http_client
from live.feeds.feed import FeedSink
from live.feeds.feed_session import FeedConditions, FeedSession, follow
from live.feeds.lichess_token import LichessToken
from live.feeds.pgn.charset import not_pgn
from live.feeds.pgn.pgn_headers import clean
from live.feeds.san import MAX_PLIES, MoveReader, UnplayableMove
from live.network.retry import FeedTrouble, spoken

# The ndjson of lichess' game and TV streams → whole-game reports. Pure.
#
# Game stream (lichess API documentation, "Stream moves of a game"): a description, one line for
# each position from the start, moves held back by three while the game runs, and the description
# again with the result. TV: a description of the featured game whenever it changes, and one line a
# move.


#: Status ids from 25 (aborted) on are ends of games; 30 and up have a result or are draws.
_ABORTED, _NO_START, _UNKNOWN = 25, 37, 38
_STARTED = 20
_STANDARD = frozenset({"standard", "fromPosition"})


class _User(msgspec.Struct):
    name: str | None = None
    title: str | None = None


class _Side(msgspec.Struct):
    user: _User | None = None
    rating: int | None = None
    ai: int | None = None
    """Level of lichess' own engine, which has no user."""
    color: str | None = None


class _Players(msgspec.Struct):
    white: _Side | None = None
    black: _Side | None = None


class _Keyed(msgspec.Struct):
    key: str = "standard"


class _Status(msgspec.Struct):
    id: int = _STARTED


class _Line(msgspec.Struct):
    """A description has an id, a position has none."""

    id: str | None = None
    variant: _Keyed | None = None
    speed: str | None = None
    initialFen: str | None = None
    status: _Status | None = None
    winner: str | None = None
    players: _Players | None = None
    fen: str | None = None
    lm: str | None = None
    wc: float | None = None
    bc: float | None = None


class _Featured(msgspec.Struct):
    id: str | None = None
    players: list[_Side] = []
    fen: str = ""
    lm: str | None = None
    wc: float | None = None
    bc: float | None = None


class _TvLine(msgspec.Struct):
    t: str
    d: _Featured


class _Moves:
    """A game as its lines describe it."""

    def __init__(self, start: chess.Board) -> None:
        self.start_fen = start.fen()
        self.moves: list[Move] = []
        self.problem: str | None = None
        self.chess960 = start.chess960
        self._mover = MoveReader(start)

    @property
    def placement(self) -> str:
        return self._mover.board.board_fen()

    def play(self, uci: str, white_s: float | None, black_s: float | None) -> None:
        """One more move with both clocks after it."""
        if self.problem is not None or len(self.moves) >= MAX_PLIES:
            return
        clock_s = white_s if self._mover.board.turn == chess.WHITE else black_s
        try:
            played, san = self._mover.play_uci(uci[:5])
        except UnplayableMove as error:
            self.problem = f"{error} at ply {len(self.moves) + 1}"
            return
        self.moves.append(Move(played, san, clock_s))


class LichessGameStream:
    """One game's stream: lines in, reports out."""

    def __init__(self, base_url: str) -> None:
        self.over = False
        self._base_url = base_url
        self._told: _Line | None = None
        self._moves: _Moves | None = None

    def restart(self) -> None:
        """A new connection: all positions come again."""
        self._moves = None

    def line(self, raw: bytes) -> GameReport | None:
        """The game after one more line; None for blank lines and what cannot be read."""
        try:
            line = msgspec.json.decode(raw, type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if line.id is not None:
            self._told = line
            if self._moves is None:
                self._moves = _Moves(_board(line.initialFen, self._variant))
            self.over = line.status is not None and line.status.id > _STARTED
        elif self._moves is not None and line.lm:
            self._moves.play(line.lm, line.wc, line.bc)
        return self._report()

    @property
    def _variant(self) -> str:
        key = self._told.variant.key if self._told and self._told.variant else "standard"
        return "standard" if key in _STANDARD else clean(key, 40).casefold()

    def _report(self) -> GameReport | None:
        told, held = self._told, self._moves
        if told is None or told.id is None or held is None:
            return None
        sides = told.players or _Players()
        key = clean(told.id, 20)
        playable = self._variant in ("standard", "chess960")
        headers = Headers(
            white=_player(sides.white),
            black=_player(sides.black),
            event=f"Lichess {clean(told.speed or 'game', 40)}",
            site=self._base_url,
            url=f"{self._base_url}/{key}",
            variant=self._variant,
        )
        moves = tuple(held.moves) if playable else ()
        problem = held.problem if playable else f"the variant {self._variant} is not followed"
        return GameReport(key, headers, held.start_fen, moves, _result(told), None, problem)


class LichessTvStream:
    """A TV channel's stream: always the one game that is featured, from where it was met."""

    def __init__(self, base_url: str, channel: str = "") -> None:
        self._base_url = base_url
        self._chess960 = channel.casefold() == "chess960"
        self._told: _Featured | None = None
        self._moves: _Moves | None = None

    def line(self, raw: bytes) -> GameReport | None:
        """The featured game after one more line; None for what cannot be read."""
        try:
            line = msgspec.json.decode(raw, type=_TvLine)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if line.t == "featured" and line.d.id:
            board = _tv_board(line.d.fen, chess960=self._chess960)
            same = self._told is not None and self._told.id == line.d.id
            if not (same and self._moves and self._moves.placement == board.board_fen()):
                self._moves = _Moves(board)
            self._told = line.d
        elif line.t == "fen" and self._moves is not None and line.d.lm:
            self._moves.play(line.d.lm, line.d.wc, line.d.bc)
            if self._moves.placement != line.d.fen.partition(" ")[0]:
                # A line was missed (the stream drops what a slow reader misses): start here.
                self._moves = _Moves(_tv_board(line.d.fen, chess960=self._chess960))
        return self._report()

    def _report(self) -> GameReport | None:
        told, held = self._told, self._moves
        if told is None or told.id is None or held is None:
            return None
        sides = {side.color: side for side in told.players}
        key = clean(told.id, 20)
        headers = Headers(
            white=_player(sides.get("white")),
            black=_player(sides.get("black")),
            event="Lichess TV",
            site=self._base_url,
            url=f"{self._base_url}/{key}",
            variant="chess960" if held.chess960 else "standard",
        )
        return GameReport(key, headers, held.start_fen, tuple(held.moves), problem=held.problem)


def _tv_board(fen: str, *, chess960: bool) -> chess.Board:
    """A position as TV sends it: mostly without castling rights, whatever they are.

    Where they are left out, kings and rooks that stand at home may castle: a right too many costs
    nothing, one too few would end the game at its castling. Castling itself comes king-to-rook in
    all variants; whether it is written so depends on the variant alone.
    """
    board = _board(fen, "chess960")
    board.chess960 = chess960 or board.has_chess960_castling_rights()
    if len(fen.split()) < 3:
        board.castling_rights = board.rooks & (chess.BB_RANK_1 | chess.BB_RANK_8)
    board.castling_rights = board.clean_castling_rights()
    return board


def _board(fen: str | None, variant: str) -> chess.Board:
    """The position of a FEN that may end after the side to move; the usual start for none."""
    board = chess.Board(chess960=variant == "chess960")
    if fen and fen != "startpos":
        fields = fen.split()
        try:
            board.set_fen(" ".join([*fields, *("w", "-", "-", "0", "1")[len(fields) - 1 :]]))
        except ValueError:
            board.reset()
    if board.chess960 and not board.has_chess960_castling_rights():
        board.chess960 = variant == "chess960" and board.fen() != chess.STARTING_FEN
    return board


def _player(side: _Side | None) -> Player:
    if side is None:
        return Player("?")
    if side.user is None:
        return Player(f"Stockfish level {side.ai}" if side.ai is not None else "Anonymous")
    return Player(
        name=clean(side.user.name or "", 100) or "?",
        elo=side.rating,
        title=clean(side.user.title or "", 20) or None,
    )


def _result(told: _Line) -> Result:
    status = told.status.id if told.status else _STARTED
    if status <= _ABORTED or status == _UNKNOWN:
        return "*"
    if told.winner == "white":
        return "1-0"
    if told.winner == "black":
        return "0-1"
    return "*" if status == _NO_START else "1/2-1/2"


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
