"""Which retained messages a broker should hold: a function of the state. Pure.

Topics below the prefix and the number of the protocol (``live-rate/3``), each holding
one message of the websocket protocol without its ``seq``::

    status                    {"state":"online"|"offline",…}; offline: last will, too
    engine                    engine      which engine, and how strong it counts
    health                    health      feeds and engines
    players/PLAYER            standing    a player's figures over the event
    EVENT/BOARD/game          game        headers, result, progress
    EVENT/BOARD/move          move        the last ply, with its score as far as known
    EVENT/BOARD/white         point       the last point of White's curve
    EVENT/BOARD/black         point       the last point of Black's curve

BOARD is the game's board number, so a screen that shows board 1 goes on with the next
round; a game without one has its id there. Where two games claim a board, the later one
in :func:`live.server.event_reader.game_order` has it. Names are made fit for a topic by
:func:`encode_level`.

What changed is only remembered; :meth:`RetainedMessages.take` compares what should be
held with what the broker was sent. So nothing piles up while a broker is slow or away,
and the latest state is what it is sent.
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

#: Longest level before it is cut and identified by a digest, in characters.
_LEVEL_CHARS = 120

Place = tuple[str, str]
"""Levels of event and board."""


def encode_level(name: str) -> str:
    """Encode a name as one level of a topic; different names differ.

    ``%``, ``/``, ``+``, ``#``, what cannot be printed and what is no character are
    percent-encoded UTF-8; no name at all is ``-``.
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


def find_place(view: GameView) -> Place:
    """Return where the topics of a game are."""
    return encode_level(view.event), encode_level(
        view.id if view.board is None else str(view.board)
    )


class BrokerStatus(Value, tag="status"):
    """What the status topic holds."""

    state: str
    """``online`` once every other topic is right; ``offline`` when the service ended or
    is lost.
    """
    version: str = live.__version__
    protocol: int = wire.PROTOCOL


def encode_status(state: str) -> bytes:
    """Encode the payload of the status topic."""
    return msgspec.json.encode(BrokerStatus(state))


class RetainedMessages:
    """What one broker should hold, what it was sent, and the difference."""

    def __init__(
        self,
        state: EventReader,
        prefix: str,
        selected: StreamFilter = EVERYTHING,
        *,
        others: Collection[str] = (),
    ) -> None:
        """``others``: topics below the prefix that somebody else of ours sends."""
        self._state = state
        self._prefix = f"{prefix}/{wire.PROTOCOL}"
        self._visibility = selected.visibility
        # The publisher itself sends the status.
        self._others = {self.topic(each) for each in ("status", *others)}
        self._wanted: dict[str, bytes] = {}
        # What the broker holds, by topic; None where it holds something unknown.
        self._sent: dict[str, bytes | None] = {}
        # Topics where the two may differ, in the order in which that came about.
        self._look: dict[str, None] = {}
        self._places: dict[GameId, Place] = {}
        # What to look at again: boards by their place, players by their id, the service
        # as None.
        self._stale: set[Place | str | None] = set()
        self.forget()

    def topic(self, *levels: str) -> str:
        return "/".join((self._prefix, *levels))

    # --- what happens -----------------------------------------------------------------

    def mark_changed(self, changes: Iterable[Change]) -> None:
        """Remember what to look at again."""
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
                    # Every rating may have changed.
                    self._mark_all()
                case HealthMessage():
                    self._stale.add(None)

    def _mark_all(self) -> None:
        self._stale.update(
            self._places.values(), (each.id for each in self._state.players())
        )
        self._stale.add(None)

    def reset(self) -> None:
        """Look at all places again, because games have other ids."""
        self._stale.update(self._places.values())
        self._places.clear()
        for view in self._state.games():
            self._place_game(view)
        self._mark_all()

    def note_topic(self, topic: str) -> None:
        """Note that the broker holds something at this topic, perhaps of an earlier
        run.
        """
        if topic not in self._others and topic not in self._sent:
            self.doubt(topic)

    def doubt(self, topic: str) -> None:
        """Send a topic again: another publisher wrote there."""
        if topic not in self._others:
            self._sent[topic] = self._look[topic] = None

    def forget(self) -> None:
        """Forget what the broker holds: the connection is new, or the broker is."""
        self._sent.clear()
        self._look = dict.fromkeys(self._wanted)
        for view in self._state.games():
            self._place_game(view)
        self._mark_all()

    # --- what to send -----------------------------------------------------------------

    def take(self, most: int) -> dict[str, bytes]:
        """Return up to ``most`` topics with their new payloads, empty where the topic
        is to be cleared.

        They count as sent; after a loss of the connection :meth:`forget` them.
        """
        self._refresh()
        found: dict[str, bytes] = {}
        while self._look and len(found) < most:
            topic = next(iter(self._look))
            del self._look[topic]
            payload = self._wanted.get(topic, b"")
            if self._sent.pop(topic, b"") != payload:
                found[topic] = payload
            if payload:
                self._sent[topic] = payload
        return found

    def _refresh(self) -> None:
        stale = self._stale
        self._stale = set()
        players = (
            self._state.players()
            if any(isinstance(each, str) for each in stale)
            else ()
        )
        views = {player.id: player for player in players}
        for each in stale:
            match each:
                case None:
                    self._set_wanted(
                        self.topic("engine"), EngineMessage(self._state.engine())
                    )
                    health = HealthMessage(self._state.feeds(), self._state.engines())
                    self._set_wanted(self.topic("health"), health)
                case str():
                    message = StandingMessage(views[each]) if each in views else None
                    self._set_wanted(self.topic("players", encode_level(each)), message)
                case _:
                    self._refresh_board(each)

    def _refresh_board(self, at: Place) -> None:
        """Set what the four topics of a board should hold."""
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
            self._set_wanted(self.topic(*at, name), message)

    def _set_wanted(self, topic: str, message: Message | None) -> None:
        self._look[topic] = None
        if message is None or not should_send(type(message), self._visibility):
            self._wanted.pop(topic, None)
        else:
            self._wanted[topic] = wire.encode(redact(message, self._visibility))

    def _place_game(self, view: GameView) -> None:
        at = find_place(view)
        if self._places.get(view.id) != at:
            self._remove_game(view.id)
            self._places[view.id] = at
        self._stale.add(at)

    def _remove_game(self, game: GameId) -> None:
        if game in self._places:
            self._stale.add(self._places.pop(game))
