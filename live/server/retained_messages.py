"""The retained messages that an MQTT broker should have, computed from the state. Pure.

The topics are below the prefix and the number of the protocol (``live-rate/3``). Each
contains one message of the websocket protocol without its ``seq``::

    status                    {"state":"online"|"offline",…}; also the last will
    engine                    engine      the engine and its rating
    health                    health      feeds and engines
    players/PLAYER            standing    a player's figures over the event
    EVENT/BOARD/game          game        headers, result, progress
    EVENT/BOARD/move          move        the last ply, with its score if known
    EVENT/BOARD/white         point       the last point of White's curve
    EVENT/BOARD/black         point       the last point of Black's curve

BOARD is the board number of the game, so a screen that shows board 1 continues with the
next round. For a game without a board number it is the id. If two games have the same
board, the later one in :func:`live.server.event_reader.game_order` is used. Names are
encoded for topics by :func:`encode_level`.

A change only marks its topics. :meth:`RetainedMessages.take` returns the messages that
the broker should have but was not sent. So no old messages collect while a broker is
slow or disconnected; later it is sent the latest state.
"""

import hashlib
from collections.abc import Collection, Iterable

import msgspec

import live
from live.event.rate_game import COLORS
from live.messages.figures import GameView, view_of
from live.messages.to_clients import (
    Change,
    ClockMessage,
    EngineMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    Message,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import GameId, Value
from live.server import wire
from live.server.event_reader import EventReader, game_order
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.server.visibility import redact, should_send

#: Maximum length of a level of a topic, characters. A longer level is cut, and a digest
#: is added.
_LEVEL_CHARS = 120

Place = tuple[str, str]
"""The two levels of a topic for the event and the board."""


def encode_level(name: str) -> str:
    """Return a name encoded as one level of a topic; different names stay different.

    ``%``, ``/``, ``+``, ``#``, unprintable characters and lone surrogates are
    percent-encoded as UTF-8. An empty name becomes ``-``.
    """
    if not name or name == "-":
        return "-" if not name else "%2D"
    whole = "".join(map(_encode_character, name))
    if len(whole) <= _LEVEL_CHARS:
        return whole
    digest = hashlib.blake2b(
        name.encode("utf-8", "surrogatepass"), digest_size=8
    ).hexdigest()
    return f"{whole[:_LEVEL_CHARS]}%~{digest}"


def _encode_character(char: str) -> str:
    if char not in "%/+#" and (char.isprintable() or char == " "):
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def _find_place(view: GameView) -> Place:
    """Return the levels for event and board in the topics of a game."""
    return encode_level(view.event), encode_level(
        view.id if view.board is None else str(view.board)
    )


class BrokerStatus(Value, tag="status"):
    """The message in the status topic."""

    state: str
    """``online`` once every other topic is up to date; ``offline`` if the service has
    ended or lost its connection.
    """
    version: str = live.__version__
    protocol: int = wire.PROTOCOL


def encode_status(state: str) -> bytes:
    """Return the payload of the status topic."""
    return msgspec.json.encode(BrokerStatus(state))


class RetainedMessages:
    """The messages that one broker should have, and the messages sent to it so far."""

    def __init__(
        self,
        state: EventReader,
        prefix: str,
        selected: StreamFilter = EVERYTHING,
        *,
        other_topics: Collection[str] = (),
    ) -> None:
        """Create the messages for a broker that has none yet.

        ``other_topics`` are the topics below the prefix to which another part of the
        service writes.
        """
        self._state = state
        self._prefix = f"{prefix}/{wire.PROTOCOL}"
        self._visibility = selected.visibility
        # The status is sent by the publisher.
        self._other_topics = {self.topic(topic) for topic in ("status", *other_topics)}
        # The payloads that the broker should have, by topic.
        self._payloads: dict[str, bytes] = {}
        # The payloads at the broker, by topic; None if the payload there is unknown.
        self._sent: dict[str, bytes | None] = {}
        # Topics whose payload at the broker can differ from the wanted one, in order.
        self._doubtful: dict[str, None] = {}
        self._places: dict[GameId, Place] = {}
        # What must be computed again: boards by their place, players by their id, and
        # None for engine and health.
        self._stale: set[Place | str | None] = set()
        self.forget()

    def topic(self, *levels: str) -> str:
        return "/".join((self._prefix, *levels))

    # --- changes ----------------------------------------------------------------------

    def mark_changed(self, changes: Iterable[Change]) -> None:
        """Mark the boards and players of these changes to be computed again."""
        for change in changes:
            match change:
                case GameMessage(game=view):
                    self._place_game(view)
                case GoneMessage(game=game):
                    self._remove_game(game)
                case MoveMessage() | ClockMessage() | ScoreMessage() | PointMessage():
                    if at := self._places.get(change.game):
                        self._stale.add(at)
                case StandingMessage(player=player):
                    self._stale.add(player.id)
                case EngineMessage():
                    # All ratings can have changed.
                    self._mark_all_stale()
                case HealthMessage():
                    self._stale.add(None)

    def _mark_all_stale(self) -> None:
        self._stale.update(
            self._places.values(), (player.id for player in self._state.players())
        )
        self._stale.add(None)

    def reset(self) -> None:
        """Mark everything to be computed again, since the ids of games have changed."""
        self._stale.update(self._places.values())
        self._places.clear()
        for view in self._state.games():
            self._place_game(view)
        self._mark_all_stale()

    def note_topic(self, topic: str) -> None:
        """Record that the broker has a message at a topic, maybe from a former run."""
        if topic not in self._other_topics and topic not in self._sent:
            self.doubt(topic)

    def doubt(self, topic: str) -> None:
        """Mark a topic to be sent again, since its payload at the broker is unknown."""
        if topic not in self._other_topics:
            self._sent[topic] = self._doubtful[topic] = None

    def forget(self) -> None:
        """Forget which messages the broker has, because the connection is new."""
        self._sent.clear()
        self._doubtful = dict.fromkeys(self._payloads)
        for view in self._state.games():
            self._place_game(view)
        self._mark_all_stale()

    # --- messages to send -------------------------------------------------------------

    def take(self, limit: int) -> dict[str, bytes]:
        """Return up to ``limit`` topics with new payloads; an empty payload deletes a
        topic.

        The payloads count as sent. Call :meth:`forget` after the connection was lost.
        """
        self._refresh()
        payloads: dict[str, bytes] = {}
        while self._doubtful and len(payloads) < limit:
            topic = next(iter(self._doubtful))
            del self._doubtful[topic]
            payload = self._payloads.get(topic, b"")
            if self._sent.pop(topic, b"") != payload:
                payloads[topic] = payload
            if payload:
                self._sent[topic] = payload
        return payloads

    def _refresh(self) -> None:
        stale = self._stale
        self._stale = set()
        players = (
            self._state.players()
            if any(isinstance(subject, str) for subject in stale)
            else ()
        )
        views = {player.id: player for player in players}
        for subject in stale:
            match subject:
                case None:
                    self._set_payload(
                        self.topic("engine"), EngineMessage(self._state.engine())
                    )
                    health = HealthMessage(self._state.feeds(), self._state.engines())
                    self._set_payload(self.topic("health"), health)
                case str():
                    message = (
                        StandingMessage(views[subject]) if subject in views else None
                    )
                    self._set_payload(
                        self.topic("players", encode_level(subject)), message
                    )
                case _:
                    self._refresh_board(subject)

    def _refresh_board(self, at: Place) -> None:
        """Compute the messages for the four topics of a board."""
        games = (
            self._state.game(game)
            for game, place in self._places.items()
            if place == at
        )
        detail = max(filter(None, games), key=game_order, default=None)
        latest: dict[str, Message | None] = dict.fromkeys(
            ("game", "move", "white", "black")
        )
        if detail is not None:
            latest["game"] = GameMessage(view_of(detail))
            if detail.plies:
                latest["move"] = MoveMessage(
                    detail.id, detail.plies[-1].ply, detail.plies[-1]
                )
            for color in COLORS:
                if points := getattr(detail.curves, color):
                    latest[color] = PointMessage(detail.id, color, points[-1])
        for name, message in latest.items():
            self._set_payload(self.topic(*at, name), message)

    def _set_payload(self, topic: str, message: Message | None) -> None:
        self._doubtful[topic] = None
        if message is None or not should_send(type(message), self._visibility):
            self._payloads.pop(topic, None)
        else:
            self._payloads[topic] = wire.encode(redact(message, self._visibility))

    def _place_game(self, view: GameView) -> None:
        at = _find_place(view)
        if self._places.get(view.id) != at:
            self._remove_game(view.id)
            self._places[view.id] = at
        self._stale.add(at)

    def _remove_game(self, game: GameId) -> None:
        if game in self._places:
            self._stale.add(self._places.pop(game))
