"""Conversion of the MQTT messages of one topic to reports of games. No I/O.

A topic has one game at a time or, in PGN, any number. The manual (``sources``)
describes three kinds of payload for publishers. They are recognised by their beginning:

* our own JSON, the whole game each time: :class:`MqttGame`; its moves can be a text as
  in PGN
* a position: JSON with the last move (:class:`MqttPosition`), or the text
  ``FEN [move]``, where the FEN has all six fields or ends after the side to move
* PGN

An unusable payload is treated as if it had not been received: the topic's games stay,
and their ``problem`` describes the payload. An empty payload, which removes a retained
message from the broker, removes an unfinished game. Finished games stay, because
brokers are tidied up after the round. A game is identified by its ``id``; without one,
by event, round, board and players; without players, by its topic.
"""

import re
from collections.abc import Generator, Sequence
from typing import Annotated, TypeVar

import chess
import msgspec
from msgspec.structs import asdict, replace

from live.messages.from_sources import GameReport, Headers, Move, Player, Result, Unread
from live.messages.values import Value
from live.sources.foreign_json import (
    ForeignObject,
    add_unread,
    describe_non_json,
    read_json,
    read_value,
)
from live.sources.game_identity import (
    Identified,
    count_shared_plies,
    identify_game,
)
from live.sources.game_line import GameLine, ListedMove
from live.sources.movetext import Movetext
from live.sources.pgn_decoder import PgnReader
from live.sources.pgn_detection import HEAD_BYTES, describe_non_pgn
from live.sources.pgn_headers import (
    NAME_CHARS,
    TEXT_CHARS,
    clean_text,
    create_player,
    safe_web_address,
)
from live.sources.position_tracker import (
    NEW_GAME_PLIES,
    PositionTracker,
    read_continuation,
    read_fen,
    split_continuations,
)
from live.sources.typography import normalise_text

Elo = Annotated[int, msgspec.Meta(ge=0, le=5000)]
FideId = Annotated[int, msgspec.Meta(ge=0, le=10**11)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**7)]
BoardNumber = Annotated[int, msgspec.Meta(ge=0, le=10**6)]
MovesText = Annotated[str, msgspec.Meta(max_length=1 << 18)]


class MqttPlayer(Value):
    """A player. In JSON, a text with the name can take its place."""

    name: str = "?"
    elo: Elo | None = None
    title: str | None = None
    fide_id: FideId | None = None
    federation: str | None = None
    team: str | None = None


class MqttMove(Value):
    """A move with its clock. In JSON, a text with SAN or UCI can take its place."""

    move: str = ""
    """SAN (``Nf3``) or UCI (``g1f3``)."""
    clock_s: Seconds | None = None
    """The mover's clock after the move, seconds."""
    spent_s: Seconds | None = None
    """Time spent on the move, seconds."""


class MqttGameHeaders(ForeignObject, kw_only=True):
    """Headers of a game in a payload."""

    white: str | MqttPlayer = "?"
    black: str | MqttPlayer = "?"
    id: str = ""
    """Unchanging identifier of the game; needed only if the players' names do not
    identify it.
    """
    event: str = ""
    site: str = ""
    round: str = ""
    board: BoardNumber | None = None
    date: str = ""
    """Date of the game, such as ``2026.11.21``."""
    time_control: str = ""
    url: str = ""
    eco: str = ""
    opening: str = ""
    """Name of the opening; ``eco`` is its code."""
    result: Result = "*"


class MqttGame(MqttGameHeaders, kw_only=True):
    """A whole game: all moves so far, each time."""

    moves: MovesText | tuple[str | MqttMove, ...] | None = None
    """All moves from the start, as a list or as one text in PGN: ``"e4 e5 Nf3"`` or
    ``"1. e4 e5 2. Nf3 *"``.
    """
    start_fen: str = ""
    """Starting position; empty for the standard one."""
    variant: str = ""
    """``standard`` or ``chess960``; empty for standard."""


class MqttPosition(MqttGameHeaders, kw_only=True):
    """A position and the move that led to it."""

    fen: str = ""
    """Position after the move; the fields after the side to move can be missing."""
    move: str = ""
    """Last move, as SAN or UCI."""
    white_clock_s: Seconds | None = None
    black_clock_s: Seconds | None = None
    """Present clock of Black, seconds; ``white_clock_s`` is that of White."""


Sent = TypeVar("Sent", MqttGame, MqttPosition)
#: Greatest size of a game in JSON, bytes. 1200 plies (``MAX_PLIES``), each an object
#: with two clocks on separate lines, take 128 bytes each, which is 60 % of it.
MAX_JSON_BYTES = 1 << 18
#: Greatest size of a PGN text, bytes; it can be a whole round, 500 games of 8 KB. The
#: library receives a message without a pause, so this limits how long other tasks wait.
MAX_BYTES = 1 << 22
#: Number of bytes in which a position as text is recognised.
_FEN_BYTES = 200
_FEN = re.compile(
    rb"\s*+[1-8pnbrqkPNBRQK]{1,8}+(?:/[1-8pnbrqkPNBRQK]{1,8}+){7}(?:\s|\Z)"
)
_LAST_NUMBER = re.compile(r"(\d{1,4})\Z")


class _NoGame(Exception):
    """Raised for an unusable payload, with a description and the parts that could be
    read.
    """

    def __init__(self, problem: str, sent: MqttGameHeaders | None = None) -> None:
        super().__init__(problem)
        self.sent = sent


Reading = Generator[None, None, Sequence[GameReport]]
"""Generator that yields between pieces of work and returns games. Raises
:class:`_NoGame`.
"""
#: Fields by which a message is recognised as being about the topic's previous game.
_IDENTITY = ("id", "white", "black")


class MqttTopic:
    """The present games of one topic."""

    def __init__(self, name: str) -> None:
        self.games: Identified = {}
        self.problem: str | None = None
        """Reason why the last payload could not be used, as text for display; None if
        it could.
        """
        self._name = name
        self._sent: MqttGameHeaders | None = None
        """Headers and moves of the last game in JSON, including values taken from
        earlier messages.
        """
        self._moves: tuple[Move, ...] = ()
        """Moves of the last game in JSON."""
        self._number = 1
        """Number of the last game in JSON among the topic's games, for the key of a
        game that only its topic identifies.
        """
        self._listed = GameLine()
        self._text = Movetext(chess.Board())
        self._positions = PositionTracker()
        self._pgn = PgnReader()

    def read_message(self, payload: bytes) -> Generator[None, None, None]:
        """Read a payload, in pieces of less than a millisecond; never raises. If it
        cannot be used, the games stay, and their ``problem`` describes it.
        """
        self.problem = None
        try:
            games = yield from self._read_payload(payload)
        except _NoGame as error:
            self.problem = str(error)
            games = self._add_message_problem(error)
        self.games = {identify_game(game): game for game in games}

    def _read_payload(self, payload: bytes) -> Reading:
        """Read a payload of any kind."""
        if len(payload) > MAX_BYTES:
            raise _NoGame(f"more than {MAX_BYTES} bytes")
        head = payload[:HEAD_BYTES].lstrip()
        if head[:1] == b"{":
            return (yield from self._read_json(payload))
        if _FEN.match(payload[:_FEN_BYTES]):
            return [self._read_text(payload)]
        return (yield from self._read_pgn(payload))

    def _add_message_problem(self, error: _NoGame) -> Sequence[GameReport]:
        """Return the games with the problem of the last message, which could not be
        used.
        """
        problem = f"its last message cannot be used: {error}"
        games = [*self.games.values()]
        if not games and error.sent is not None:
            games = [self._build_report(error.sent, chess.Board(), (), self._number)]
        return [
            replace(game, problem=problem, unread=("moves", "result")) for game in games
        ]

    def _read_json(self, payload: bytes) -> Reading:
        if len(payload) > MAX_JSON_BYTES:
            raise _NoGame(f"JSON of more than {MAX_JSON_BYTES} bytes")
        sent = read_json(payload, object)
        if not isinstance(sent, dict):
            raise _NoGame(describe_non_json(payload))
        if "moves" in sent:
            game = read_value(sent, MqttGame)
            assert game is not None
            filled = self._fill_unread(game)
            if filled is game:
                _check_start(game)
            return (yield from self._read_game(filled))
        if "fen" in sent:
            position = read_value(sent, MqttPosition)
            assert position is not None
            return [self._read_position(self._fill_unread(position))]
        raise _NoGame("JSON without moves or fen")

    def _fill_unread(self, sent: Sent) -> Sent:
        """Return ``sent`` with its unreadable fields filled from the previous message,
        if that message was about the same game. A missing player is filled, too, if the
        opponent is named.
        """
        before, self._sent = self._sent, sent
        if not isinstance(before, type(sent)):
            return sent
        unread = {path.partition(".")[0] for path in sent.unread}
        unnamed = {
            name for name in _IDENTITY if _read_identity(sent, name) in ("", "?")
        }
        named_fields = [name for name in _IDENTITY if name not in unnamed]
        is_known = bool(named_fields) or unread >= {"white", "black"}
        if not is_known or any(
            _read_identity(sent, name) != _read_identity(before, name)
            for name in named_fields
        ):
            return sent
        lost = (unread | unnamed) - {"moves", "fen", "move"}
        self._sent = replace(sent, **{name: getattr(before, name) for name in lost})
        return self._sent

    def _read_game(self, sent: MqttGame) -> Reading:
        start = read_fen(sent.start_fen or chess.STARTING_FEN)
        if start is None:
            raise _NoGame("JSON with a start_fen that is not a position", sent)
        start.chess960 = start.chess960 or sent.variant == "chess960"
        if sent.moves is None:
            raise _NoGame(
                f"JSON with moves that are {sent.unread.get('moves', 'null')}", sent
            )
        if isinstance(sent.moves, str):
            games = yield from self._read_text_games(sent, sent.moves, start)
        else:
            games = yield from self._read_list_games(sent, sent.moves, start)
        first, *rest = games
        other_unread = {
            path: description
            for path, description in sent.unread.items()
            if path != "moves"
        }
        return [add_unread(first, other_unread), *rest]

    def _read_list_games(
        self, sent: MqttGame, sent_moves: tuple[str | MqttMove, ...], start: chess.Board
    ) -> Reading:
        line = self._listed
        moves = list(map(_read_move, sent_moves))
        yield from line.play_moves(moves, start)
        problem = line.problem
        if problem is None and "moves" in sent.unread:
            problem = f"its moves cannot be read further ({sent.unread['moves']})"
        game = self._read_whole_game(sent, start, line.moves, problem)
        return (yield from read_continuation(game, line, moves))

    def _read_text_games(
        self, sent: MqttGame, sent_moves: str, start: chess.Board
    ) -> Reading:
        """Return the games of moves that are given as text in PGN."""
        before = self._text.start
        if (start, start.chess960) != (before, before.chess960):
            self._text = Movetext(start)
        text = self._text
        moves = normalise_text(sent_moves).encode("utf-8", "replace")
        yield from text.read_text(moves, whole=True, tag=sent.result)
        if sent.result == "*" and text.result is not None:
            sent = replace(sent, result=text.result)
        game = self._read_whole_game(sent, start, text.moves, text.problem)
        rests = yield from text.read_after_illegal_moves(whole=True)
        return split_continuations(game, "", rests)

    def _read_whole_game(
        self,
        sent: MqttGame,
        start: chess.Board,
        moves: Sequence[Move],
        problem: str | None,
    ) -> GameReport:
        """Return the report of a game with the moves that could be read. If another
        game has begun on the topic, count it.
        """
        before, now = self._moves, tuple(moves)
        if problem is None or now:
            self._moves = now
            if len(before) >= NEW_GAME_PLIES and not count_shared_plies(now, before):
                self._number += 1
        unread: list[Unread] = [] if problem is None else ["moves"]
        if "result" in sent.unread:
            unread.append("result")
        game = self._build_report(sent, start, now, self._number)
        return replace(game, problem=problem, unread=tuple(unread))

    def _read_text(self, payload: bytes) -> GameReport:
        words = payload[:_FEN_BYTES].decode("ascii", "replace").split()
        fields = 6 if len(words) >= 6 else 2
        move = words[fields] if len(words) > fields else ""
        fen = " ".join(words[:fields])
        return self._read_position(MqttPosition(fen=fen, move=move))

    def _read_position(self, sent: MqttPosition) -> GameReport:
        now = read_fen(sent.fen)
        if now is None:
            description = sent.unread.get("fen")
            raise _NoGame(
                f"a fen that is {description}"
                if description
                else "a fen that is not a position",
                sent,
            )
        game = self._positions
        game.track_position(now, sent.move, sent.white_clock_s, sent.black_clock_s)
        start = chess.Board(game.start_fen, chess960=game.chess960)
        report = self._build_report(sent, start, tuple(game.moves), game.number)
        if "result" in sent.unread:
            report = replace(report, unread=("result",))
        return add_unread(report, sent.unread)

    def _read_pgn(self, payload: bytes) -> Reading:
        if description := describe_non_pgn(payload[:HEAD_BYTES]):
            raise _NoGame(description)
        games = yield from self._pgn.read_in_pieces(payload, closed=True)
        if not games:
            raise _NoGame("text without a game")
        if len(games) == 1 and not (games[0].key or _has_name(games[0].headers)):
            return [replace(games[0], key=self._name)]
        return games

    def _build_report(
        self,
        sent: MqttGameHeaders,
        start: chess.Board,
        moves: tuple[Move, ...],
        count: int,
    ) -> GameReport:
        """Return the report of a game. Missing event and board are taken from the
        topic's levels. If neither an id nor the players identify the game, its key is
        made of topic and ``count``.
        """
        parent, _, last = self._name.rpartition("/")
        number = _LAST_NUMBER.search(last)
        headers = Headers(
            white=_read_player(sent.white),
            black=_read_player(sent.black),
            event=clean_text(sent.event, TEXT_CHARS) or clean_text(parent, TEXT_CHARS),
            site=clean_text(sent.site, TEXT_CHARS),
            round=clean_text(sent.round, NAME_CHARS),
            board=sent.board or (int(number[1]) if number else 0) or None,
            date=clean_text(sent.date, 10).replace("-", "."),
            time_control=clean_text(sent.time_control, NAME_CHARS),
            url=safe_web_address(sent.url),
            variant="chess960" if start.chess960 else "standard",
            eco=clean_text(sent.eco, NAME_CHARS),
            opening=clean_text(sent.opening, NAME_CHARS),
        )
        key = clean_text(sent.id, TEXT_CHARS) or (
            "" if _has_name(headers) else f"{self._name}/{count}"
        )
        return GameReport(key, headers, start.fen(), moves, sent.result)


def _read_identity(sent: MqttGameHeaders, field: str) -> str:
    value = getattr(sent, field)
    return value.name if isinstance(value, MqttPlayer) else str(value)


def _check_start(sent: MqttGame) -> None:
    """Raise _NoGame if the starting position of the moves could not be read."""
    for name in ("start_fen", "variant"):
        if name in sent.unread:
            raise _NoGame(
                f"JSON with a {name} that cannot be read ({sent.unread[name]})", sent
            )


def _read_move(move: str | MqttMove) -> ListedMove:
    sent = MqttMove(move) if isinstance(move, str) else move
    return ListedMove(sent.move.strip(), sent.clock_s, sent.spent_s)


def _read_player(sent: str | MqttPlayer) -> Player:
    return (
        create_player(sent) if isinstance(sent, str) else create_player(**asdict(sent))
    )


def _has_name(headers: Headers) -> bool:
    """Return whether any player is named, which identifies the game."""
    return (headers.white.name, headers.black.name) != ("?", "?")
