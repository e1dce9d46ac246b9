"""MQTT messages → whole-game reports. Pure.

A topic holds one game at a time (or, as PGN, any number). Three kinds of payload are
read, recognised by how they begin; the manual (``sources``) describes them for
publishers:

* our own JSON, the whole game each time: :class:`~live.sources.mqtt_feed.MqttGame`; its
  moves may be a text as in PGN
* a position: JSON with the last move
  (:class:`~live.sources.mqtt_feed.MqttPosition`), or the text ``FEN [move]`` where the
  FEN has all six fields or ends with the side to move
* PGN

A payload that cannot be used is nothing heard: the topic's games stay and say what
came. An empty one, which removes a retained message from the broker, removes an
unfinished game. Finished games stay, because brokers are tidied up after the round.
Games are identified by their ``id``, else by event, round, board and players, else by
their topic.

``--feed mqtt(s)://[user@]BROKER[:port]/TOPIC``: games that somebody publishes. Shell.

Loss policy broker → us: QoS 1 with a session that the broker keeps for us, so nothing
is lost in a short break; a retained message gives the state after a long one. Messages
are taken from the library at once and read into
:class:`~live.sources.mqtt_feed.MqttGames`, where those of one topic become one while
the consumer is busy.
"""

import asyncio
import hashlib
import logging
import platform
import re
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, TypeVar

import aiomqtt
import chess
import msgspec
from aiomqtt.exceptions import MqttConnectError
from msgspec.structs import asdict, replace
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from live.errors import FeedUnreadable
from live.messages.from_sources import GameReport, Headers, Move, Player, Result, Unread
from live.messages.values import Value
from live.process.loop_slices import LoopSlices
from live.sources.feed import (
    FeedConditions,
    FeedSession,
    Poll,
    PolledFeed,
)
from live.sources.foreign_json import (
    ForeignObject,
    add_unread,
    describe_no_json,
    read_json,
    read_value,
)
from live.sources.game_identity import (
    Identified,
    Identity,
    count_shared_plies,
    identify_game,
)
from live.sources.game_line import GameLine, ListedMove
from live.sources.movetext import Movetext
from live.sources.mqtt_client import MqttClient, create_tls_context
from live.sources.pgn_decoder import PgnReader
from live.sources.pgn_detection import HEAD_BYTES, describe_no_pgn
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
from live.sources.retry import FeedTrouble, create_fatal_trouble
from live.sources.source_address import (
    FeedAddress,
    create_unknown_feed,
    describe_wrong_topic,
    read_mqtt_address,
)
from live.sources.typography import normalise_text
from live.user_files import read_file_of_setting

# What publishers may send over MQTT as JSON: our own schema. Values without behaviour.
#
# Unknown fields are passed over, so that a publisher may send more than we read.


Elo = Annotated[int, msgspec.Meta(ge=0, le=5000)]
FideId = Annotated[int, msgspec.Meta(ge=0, le=10**11)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**7)]
BoardNumber = Annotated[int, msgspec.Meta(ge=0, le=10**6)]


MovesText = Annotated[str, msgspec.Meta(max_length=1 << 18)]


class MqttPlayer(Value):
    """A player; a bare name may stand in its place."""

    name: str = "?"
    elo: Elo | None = None
    title: str | None = None
    fide_id: FideId | None = None
    federation: str | None = None
    team: str | None = None


class MqttMove(Value):
    """A move with its clock; bare SAN or UCI may stand in its place."""

    move: str = ""
    """SAN (``Nf3``) or UCI (``g1f3``)."""
    clock_s: Seconds | None = None
    """The mover's clock after the move, seconds."""
    spent_s: Seconds | None = None
    """Time the move took, seconds."""


class MqttGameHeaders(ForeignObject, kw_only=True):
    """What a payload may say about its game."""

    white: str | MqttPlayer = "?"
    black: str | MqttPlayer = "?"
    id: str = ""
    """Stable name of the game; needed only where the players' names do not identify
    it.
    """
    event: str = ""
    site: str = ""
    round: str = ""
    board: BoardNumber | None = None
    date: str = ""
    """``2026.11.21``"""
    time_control: str = ""
    url: str = ""
    eco: str = ""
    opening: str = ""
    """Its name; ``eco`` is its code."""
    result: Result = "*"


class MqttGame(MqttGameHeaders, kw_only=True):
    """A whole game: all moves so far, each time."""

    moves: MovesText | tuple[str | MqttMove, ...] | None = None
    """From the start on; as one text as in PGN: ``"e4 e5 Nf3"`` or ``"1. e4 e5 2. Nf3
    *"``.
    """
    start_fen: str = ""
    """Empty for the ordinary one."""
    variant: str = ""
    """``standard`` or ``chess960``."""


class MqttPosition(MqttGameHeaders, kw_only=True):
    """A position and the move that led to it."""

    fen: str = ""
    """The position after the move; the fields after the side to move may be missing."""
    move: str = ""
    """SAN or UCI."""
    white_clock_s: Seconds | None = None
    black_clock_s: Seconds | None = None
    """Both clocks at this moment, seconds."""


Sent = TypeVar("Sent", MqttGame, MqttPosition)

#: Topics, and games finished on topics used again, that are remembered at most.
MAX_TOPICS = 4096
#: One game in JSON: 1200 plies (``MAX_PLIES``), each an object with two clocks on lines
#: of its own, take 128 bytes each, which is 60 % of it.
MAX_JSON_BYTES = 1 << 18
#: One text of PGN, which may be a whole round: 500 games of 8 KB. The library takes a
#: message in at one go, so this bounds for how long nothing else has its turn.
MAX_BYTES = 1 << 22
#: Topics without a game that are named.
MOST_NAMED = 3

#: A position as text is told by its beginning.
_FEN_BYTES = 200
_FEN = re.compile(
    rb"\s*+[1-8pnbrqkPNBRQK]{1,8}+(?:/[1-8pnbrqkPNBRQK]{1,8}+){7}(?:\s|\Z)"
)
_LAST_NUMBER = re.compile(r"(\d{1,4})\Z")


class _NoGame(Exception):
    """What is wrong with a payload, and what could be read of it."""

    def __init__(self, problem: str, sent: MqttGameHeaders | None = None) -> None:
        super().__init__(problem)
        self.sent = sent


class _Topic:
    """What one topic holds."""

    def __init__(self) -> None:
        self.sent: MqttGameHeaders | None = None
        """What could be read of its last game in JSON, that of earlier messages
        included.
        """
        self.moves: tuple[Move, ...] = ()
        """Of that game."""
        self.listed = GameLine()
        self.text = Movetext(chess.Board())
        self.positions = PositionTracker()
        self.pgn = PgnReader()
        self.number = 1
        """Counts games in our own JSON that only their topic identifies."""
        self.games: Identified = {}
        self.problem: str | None = None


class MqttGames:
    """All games that a subscription gives: :meth:`read_message` each,
    :meth:`take_reports` what is new.

    Loss policy: messages of one topic that were not taken in between become one, the
    last. Memory is bounded by the topics remembered, not by the messages.
    """

    def __init__(self) -> None:
        self._topics: dict[str, _Topic] = {}
        self._past: Identified = {}
        """Finished games whose topic now holds another."""
        self._news: Identified = {}
        self._gone = False

    def read_message(self, topic: str, payload: bytes) -> Generator[None, None, None]:
        """Take in a message, in pieces of less than a millisecond; never raises.

        A payload that cannot be used leaves what the topic held as it was; its games
        say so, and :meth:`describe_problem` and :attr:`note` where it holds none.
        """
        held = self._topics.get(topic)
        if len(payload) <= MAX_BYTES and not payload.strip():
            self._forget_topic(topic)
            return
        if held is None:
            if len(self._topics) >= MAX_TOPICS:
                return
            held = self._topics[topic] = _Topic()
        held.problem = None
        try:
            games = yield from _read_payload(topic, held, payload)
        except _NoGame as error:
            held.problem = str(error)
            games = _report_unusable(topic, held, error)
        before, held.games = held.games, {identify_game(game): game for game in games}
        for who in before.keys() - held.games.keys():
            self._keep_game(who, before[who])
        self._news.update(held.games)

    def take_reports(self) -> tuple[list[GameReport], bool]:
        """Return what is new since the last time: games, and whether they are all that
        is held now.
        """
        complete, self._gone = self._gone, False
        news, self._news = self._news, {}
        if complete:
            news = dict(self._past)
            for held in self._topics.values():
                news.update(held.games)
        return list(news.values()), complete

    def describe_problem(self, topic: str) -> str | None:
        """Return why the last payload of a topic could not be used, for people; None if
        it could.
        """
        return self._topics[topic].problem if topic in self._topics else None

    @property
    def note(self) -> str:
        """Which topics hold no game, for people; a game says itself what is wrong with
        its own.
        """
        without = [
            f"topic {topic!r} holds {held.problem}"
            for topic, held in self._topics.items()
            if held.problem is not None and not held.games
        ]
        if len(without) > MOST_NAMED:
            more = f"{len(without) - MOST_NAMED} more hold no game"
            without[MOST_NAMED:] = [more]
        return "; ".join(without)

    def _forget_topic(self, topic: str) -> None:
        held = self._topics.pop(topic, None)
        if held is None:
            return
        for who, game in held.games.items():
            self._keep_game(who, game)
            if game.result == "*":
                self._news.pop(who, None)
                self._gone = True

    def _keep_game(self, who: Identity, game: GameReport) -> None:
        """Keep a game that its topic no longer holds, if it was finished."""
        if game.result != "*" and len(self._past) < MAX_TOPICS:
            self._past[who] = game


Reading = Generator[None, None, Sequence[GameReport]]
"""Gives back control now and then; returns the games. Raises :class:`_NoGame`."""


def _read_payload(topic: str, held: _Topic, payload: bytes) -> Reading:
    """Read any payload."""
    if len(payload) > MAX_BYTES:
        raise _NoGame(f"more than {MAX_BYTES} bytes")
    head = payload[:HEAD_BYTES].lstrip()
    if head[:1] == b"{":
        return (yield from _read_json(topic, held, payload))
    if _FEN.match(payload[:_FEN_BYTES]):
        return [_read_text(topic, held, payload)]
    return (yield from _read_pgn(topic, held, payload))


def _report_unusable(topic: str, held: _Topic, error: _NoGame) -> Sequence[GameReport]:
    """Return the games of a topic whose last message could not be used."""
    problem = f"its last message cannot be used: {error}"
    games = [*held.games.values()]
    if not games and error.sent is not None:
        games = [_build_report(topic, error.sent, chess.Board(), (), held.number)]
    return [
        replace(game, problem=problem, unread=("moves", "result")) for game in games
    ]


def _read_json(topic: str, held: _Topic, payload: bytes) -> Reading:
    if len(payload) > MAX_JSON_BYTES:
        raise _NoGame(f"JSON of more than {MAX_JSON_BYTES} bytes")
    sent = read_json(payload, object)
    if not isinstance(sent, dict):
        raise _NoGame(describe_no_json(payload))
    if "moves" in sent:
        game = read_value(sent, MqttGame)
        assert game is not None
        filled = _fill_unread(game, held)
        if filled is game:
            _check_start(game)
        return (yield from _read_game(topic, held, filled))
    if "fen" in sent:
        position = read_value(sent, MqttPosition)
        assert position is not None
        return [_read_position(topic, held, _fill_unread(position, held))]
    raise _NoGame("JSON without moves or fen")


#: What shows that a message is of the game that its topic held before.
_IDENTITY = ("id", "white", "black")


def _fill_unread(sent: Sent, held: _Topic) -> Sent:
    """Return what was sent with what the same game had of the fields that could not be
    read, and of a player who is missing beside the other.
    """
    before, held.sent = held.sent, sent
    if not isinstance(before, type(sent)):
        return sent
    unread = {path.partition(".")[0] for path in sent.unread}
    unnamed = {name for name in _IDENTITY if _read_identity(sent, name) in ("", "?")}
    named = [name for name in _IDENTITY if name not in unnamed]
    is_known = bool(named) or unread >= {"white", "black"}
    if not is_known or any(
        _read_identity(sent, name) != _read_identity(before, name) for name in named
    ):
        return sent
    lost = (unread | unnamed) - {"moves", "fen", "move"}
    held.sent = replace(sent, **{name: getattr(before, name) for name in lost})
    return held.sent


def _read_identity(sent: MqttGameHeaders, field: str) -> str:
    found = getattr(sent, field)
    return found.name if isinstance(found, MqttPlayer) else str(found)


def _check_start(sent: MqttGame) -> None:
    """Refuse moves from a position that is not known."""
    for name in ("start_fen", "variant"):
        if name in sent.unread:
            raise _NoGame(
                f"JSON with a {name} that cannot be read ({sent.unread[name]})", sent
            )


def _read_game(topic: str, held: _Topic, sent: MqttGame) -> Reading:
    start = read_fen(sent.start_fen or chess.STARTING_FEN)
    if start is None:
        raise _NoGame("JSON with a start_fen that is no position", sent)
    start.chess960 = start.chess960 or sent.variant == "chess960"
    if sent.moves is None:
        raise _NoGame(
            f"JSON with moves that are {sent.unread.get('moves', 'null')}", sent
        )
    read = _read_move_text if isinstance(sent.moves, str) else _read_move_list
    first, *rest = yield from read(topic, held, sent, start)
    others = {path: found for path, found in sent.unread.items() if path != "moves"}
    return [add_unread(first, others), *rest]


def _read_move_list(
    topic: str, held: _Topic, sent: MqttGame, start: chess.Board
) -> Reading:
    assert isinstance(sent.moves, tuple)
    line, moves = held.listed, list(map(_read_move, sent.moves))
    yield from line.play_moves(moves, start)
    problem = line.problem
    if problem is None and "moves" in sent.unread:
        problem = f"its moves cannot be read further ({sent.unread['moves']})"
    game = _read_whole_game(topic, held, sent, start, line.moves, problem)
    return (yield from read_continuation(game, line, moves))


def _read_move(move: str | MqttMove) -> ListedMove:
    given = MqttMove(move) if isinstance(move, str) else move
    return ListedMove(given.move.strip(), given.clock_s, given.spent_s)


def _read_move_text(
    topic: str, held: _Topic, sent: MqttGame, start: chess.Board
) -> Reading:
    """Read moves with whatever PGN has between them."""
    assert isinstance(sent.moves, str)
    before = held.text.start
    if (start, start.chess960) != (before, before.chess960):
        held.text = Movetext(start)
    text = held.text
    moves = normalise_text(sent.moves).encode("utf-8", "replace")
    yield from text.read_text(moves, whole=True, tag=sent.result)
    if sent.result == "*" and text.result is not None:
        sent = replace(sent, result=text.result)
    game = _read_whole_game(topic, held, sent, start, text.moves, text.problem)
    rests = yield from text.read_rests(whole=True)
    return split_continuations(game, "", rests)


def _read_whole_game(
    topic: str,
    held: _Topic,
    sent: MqttGame,
    start: chess.Board,
    moves: Sequence[Move],
    problem: str | None,
) -> GameReport:
    """Return the game with its moves as far as they were read; counts another one that
    begins.
    """
    before, now = held.moves, tuple(moves)
    if problem is None or now:
        held.moves = now
        if len(before) >= NEW_GAME_PLIES and not count_shared_plies(now, before):
            held.number += 1
    unread: list[Unread] = [] if problem is None else ["moves"]
    if "result" in sent.unread:
        unread.append("result")
    game = _build_report(topic, sent, start, now, held.number)
    return replace(game, problem=problem, unread=tuple(unread))


def _read_text(topic: str, held: _Topic, payload: bytes) -> GameReport:
    words = payload[:_FEN_BYTES].decode("ascii", "replace").split()
    fields = 6 if len(words) >= 6 else 2
    move = words[fields] if len(words) > fields else ""
    return _read_position(
        topic, held, MqttPosition(fen=" ".join(words[:fields]), move=move)
    )


def _read_position(topic: str, held: _Topic, sent: MqttPosition) -> GameReport:
    now = read_fen(sent.fen)
    if now is None:
        found = sent.unread.get("fen")
        raise _NoGame(
            f"a fen that is {found}" if found else "a fen that is no position", sent
        )
    game = held.positions
    game.track_position(now, sent.move, sent.white_clock_s, sent.black_clock_s)
    start = chess.Board(game.start_fen, chess960=game.chess960)
    report = _build_report(topic, sent, start, tuple(game.moves), game.number)
    if "result" in sent.unread:
        report = replace(report, unread=("result",))
    return add_unread(report, sent.unread)


def _read_pgn(topic: str, held: _Topic, payload: bytes) -> Reading:
    if what := describe_no_pgn(payload[:HEAD_BYTES]):
        raise _NoGame(what)
    games = yield from held.pgn.read_in_pieces(payload, closed=True)
    if not games:
        raise _NoGame("text without a game")
    if len(games) == 1 and not (games[0].key or _has_name(games[0].headers)):
        return [replace(games[0], key=topic)]
    return games


def _build_report(
    topic: str,
    sent: MqttGameHeaders,
    start: chess.Board,
    moves: tuple[Move, ...],
    count: int,
) -> GameReport:
    """Return the game as it was sent; the topic's levels stand in for event and board
    where nothing is said, and topic and ``count`` for its name, where neither the
    source gives one nor the players.
    """
    parent, _, last = topic.rpartition("/")
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
        "" if _has_name(headers) else f"{topic}/{count}"
    )
    return GameReport(key, headers, start.fen(), moves, sent.result)


def _read_player(sent: str | MqttPlayer) -> Player:
    return (
        create_player(sent) if isinstance(sent, str) else create_player(**asdict(sent))
    )


def _has_name(headers: Headers) -> bool:
    """Return whether a player's name identifies the game."""
    return (headers.white.name, headers.black.name) != ("?", "?")


log = logging.getLogger(__name__)

#: Messages that may wait in the library; one is read in well under a millisecond.
QUEUE = 10_000
#: The broker forgets us when we are away for so long (MQTT 5, section 3.1.2.11.2).
SESSION_S = 3600
#: How often staleness and end are looked at.
LOOK_S = 30.0
#: The largest packet we let the broker send (MQTT 5, section 3.1.2.11.4), beside the
#: payload.
OVERHEAD_BYTES = 70_000

#: What OpenSSL says of a certificate that nobody we trust vouches for.
_UNTRUSTED = re.compile(r".*certificate verify failed: (.+?)(?: \(_ssl\.c:\d+\))?\.?\Z")
#: Reason codes of MQTT 5, section 2.4; the library gives those of 3.1.1 as these too.
_UNSUPPORTED, _REFUSED = (
    132,
    {134: "user name or password", 135: "access", 138: "this client"},
)


class MqttFeed(PolledFeed):
    """Follows every game on the topics of one subscription.

    Over when every game has a result and nothing has changed for the grace period.
    """

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        """Raises UnknownFeed, and ConfigError for a file that cannot be used."""
        super().__init__(source.name, conditions)
        address = read_mqtt_address(source.target)
        if address is None:
            raise create_unknown_feed(
                source.name, "is no broker's address: it looks like mqtt://BROKER/TOPIC"
            )
        if wrong := describe_wrong_topic(address.topic):
            raise create_unknown_feed(
                source.name, f"{wrong}: it looks like mqtt://BROKER/chess/#"
            )
        self._address = address
        settings = conditions.config.mqtt
        # Read at once, so that a mistake is reported before anything starts.
        self._password = address.password
        if not self._password and (path := settings.password_file):
            text = read_file_of_setting("feeds.mqtt.password_file", path)
            self._password = text.rstrip("\r\n")
        self._tls = (
            create_tls_context("feeds.mqtt.ca_file", settings.ca_file)
            if address.tls
            else None
        )
        self._games = MqttGames()
        self._warned: set[str] = set()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[None]:
        try:
            async with self._create_client() as client:
                answers = await client.subscribe(self._address.topic, qos=1)
                if (code := max(map(_reason_code, answers), default=0)) >= 128:
                    raise self._create_fatal(f"the broker refuses the topic ({code})")
                self._news = news = asyncio.Event()
                self._reading = asyncio.create_task(
                    self._read_messages(client, news), name=f"mqtt {self.name}"
                )
                self._reading.add_done_callback(lambda _: news.set())
                try:
                    yield
                finally:
                    self._reading.cancel()
                    await asyncio.gather(self._reading, return_exceptions=True)
        except MqttConnectError as error:
            raise self._translate_refusal(_reason_code(error.rc)) from error
        except aiomqtt.MqttCodeError as error:
            raise FeedTrouble("connection to the broker lost") from error
        except aiomqtt.MqttError as error:
            raise FeedTrouble(_describe_unreached(str(error))) from error

    def _create_client(self) -> aiomqtt.Client:
        config, address = self._config, self._address
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        # A second client of one name would push the first one out.
        passing = self._conditions.passing
        properties.SessionExpiryInterval = 0 if passing else SESSION_S
        properties.MaximumPacketSize = MAX_BYTES + OVERHEAD_BYTES
        return MqttClient(
            address.host,
            address.port,
            username=address.user or None,
            password=self._password or None,
            identifier=""
            if passing
            else config.mqtt.client_id or create_client_id(self.name),
            protocol=aiomqtt.ProtocolVersion.V5,
            # The broker keeps our subscription and what comes while we are away.
            clean_start=passing,
            properties=properties,
            timeout=config.timeout_s,
            max_queued_incoming_messages=QUEUE,
            tls_context=self._tls,
        )

    async def poll(self, session: FeedSession) -> Poll:
        """Return the games that have come since the last poll."""
        lost = self._reading.exception() if self._reading.done() else None
        games, complete = self._games.take_reports()
        trouble = lost if isinstance(lost, Exception) else None
        return Poll(games, complete, note=self._games.note, trouble=trouble)

    def _poll_period_s(self, session: FeedSession) -> float:
        return LOOK_S

    async def _read_messages(self, client: aiomqtt.Client, news: asyncio.Event) -> None:
        async for message in client.messages:
            topic = message.topic.value
            payload = message.payload if isinstance(message.payload, bytes) else b""
            await LoopSlices().run(self._games.read_message(topic, payload))
            news.set()
            problem = self._games.describe_problem(topic)
            if problem is None:
                self._warned.discard(topic)
            elif topic not in self._warned and len(self._warned) < QUEUE:
                self._warned.add(topic)
                log.warning("%s: topic %r holds %s", self.name, topic, problem)

    def _translate_refusal(self, code: int) -> FeedTrouble:
        if code == _UNSUPPORTED:
            remedy = "MQTT 5 is spoken by brokers of 2019 and later"
            return create_fatal_trouble(self.name, "speaks no MQTT 5", remedy)
        if what := _REFUSED.get(code):
            return self._create_fatal(f"the broker refuses {what}")
        return FeedTrouble(f"the broker does not let us in now ({code})")

    def _create_fatal(self, problem: str) -> FeedTrouble:
        remedy = (
            "Give the user as mqtt://USER@BROKER/… and the password in the file that"
            " feeds.mqtt.password_file names"
        )
        return FeedTrouble(problem, fatal=FeedUnreadable(self.name, problem, remedy))


def create_client_id(name: str) -> str:
    """Return a client id that is the same whenever this machine follows this source."""
    text = f"{platform.node()}\x1f{name}"
    return f"live-rate-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _reason_code(code: object) -> int:
    value = getattr(code, "value", code)
    return value if isinstance(value, int) else 128


def _describe_unreached(text: str) -> str:
    """Return why there is no connection, in words: the library's without the number in
    front.
    """
    reason = re.sub(r"\A\[[^]]*\] ", "", text.strip())
    if found := _UNTRUSTED.match(reason):
        return (
            f"the broker's certificate is not accepted ({found[1]}): name the file of"
            " the one to trust in feeds.mqtt.ca_file"
        )
    return f"cannot reach the broker ({reason})"
