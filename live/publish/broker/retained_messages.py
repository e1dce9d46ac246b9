"""Which retained messages a broker should hold: a function of the state. Pure.

Topics below the prefix and the number of the protocol (``live-rate/2``), each holding one message
of the websocket protocol without its ``seq``::

    status                    {"state":"online"|"offline",…}; "offline" is also the last will
    engine                    engine      which engine, and how strong it counts
    health                    health      feeds and engines
    players/PLAYER            standing    a player's figures over the event
    EVENT/BOARD/game          game        headers, result, progress
    EVENT/BOARD/move          move        the last ply, with its score as far as it is known
    EVENT/BOARD/white         point       the last point of White's curve
    EVENT/BOARD/black         point       the last point of Black's curve

BOARD is the game's board number, so a screen that shows board 1 goes on with the next round; a game
without one has its id there. Where two games claim a board, the later one in
:func:`live.publish.published_state.game_order` has it. Names are made fit for a topic by
:func:`level`.

What changed is only remembered; :meth:`RetainedMessages.take` compares what should be held with
what the
broker was sent. So nothing piles up while a broker is slow or away, and the latest state is what it
is sent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable

import msgspec

import live
from live.events import (
    Change,
    ClockMessage,
    EngineMessage,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    HealthMessage,
    Message,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.publish import wire
from live.publish.published_state import PublishedState, game_order, view_of
from live.publish.stream.stream_filter import EVERYTHING, StreamFilter
from live.publish.visibility import sends, shown

#: Longest level before it is cut and identified by a digest, in characters.
_LEVEL_CHARS = 120

Place = tuple[str, str]
"""Levels of event and board."""


def level(name: str) -> str:
    """A name as one level of a topic: ``%``, ``/``, ``+``, ``#``, what cannot be printed and what
    is no character are percent-encoded UTF-8; no name at all is ``-``. Different names differ.
    """
    if not name or name == "-":
        return "-" if not name else "%2D"
    parts = [
        char
        if char not in "%/+#" and (char.isprintable() or char == " ")
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in name
    ]
    whole = "".join(parts)
    if len(whole) <= _LEVEL_CHARS:
        return whole
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{whole[:_LEVEL_CHARS]}%~{digest}"


#: Where protocol 1 retained, below the prefix alone, and what messages there begin with; ``+`` is
#: one level.
_FORMER = {
    "status": b'{"type":"status"',
    "engine": b'{"type":"engine"',
    "health": b'{"type":"health"',
    "players/+": b'{"type":"standing"',
    "+/+/game": b'{"type":"game"',
    "+/+/move": b'{"type":"move"',
    "+/+/white": b'{"type":"point"',
    "+/+/black": b'{"type":"point"',
    "site/since": b'{"epoch"',
    "site/snapshot": b"\x1f\x8b",  # gzip
}


def place(view: GameView) -> Place:
    """Where a game's topics are."""
    return level(view.event), level(view.id if view.board is None else str(view.board))


class BrokerStatus(msgspec.Struct, frozen=True, tag="status"):
    """What the status topic holds."""

    state: str
    """``online`` once every other topic is right; ``offline`` when the service ended or is lost."""
    version: str = live.__version__
    protocol: int = wire.PROTOCOL


def status(state: str) -> bytes:
    """The payload of the status topic."""
    return msgspec.json.encode(BrokerStatus(state))


class RetainedMessages:
    """What one broker should hold, what it was sent, and the difference."""

    def __init__(
        self,
        state: PublishedState,
        prefix: str,
        selected: StreamFilter = EVERYTHING,
        *,
        others: Collection[str] = (),
    ) -> None:
        """``others``: topics below the prefix that somebody else of ours sends."""
        self._state = state
        self._former = {f"{prefix}/{below}": begins for below, begins in _FORMER.items()}
        self._prefix = f"{prefix}/{wire.PROTOCOL}"
        self._visibility = selected.visibility
        # The status is the publisher's.
        self._others = {self.topic(each) for each in ("status", *others)}
        self._wanted: dict[str, bytes] = {}
        self._told: dict[str, bytes] = {}
        """What the broker holds, by topic; empty where only that it holds something is known."""
        self._look: dict[str, None] = {}
        """Topics where the two may differ, in the order they came to be so."""
        self._places: dict[GameId, Place] = {}
        self._boards: dict[Place, set[GameId]] = {}
        self._stale_boards: set[Place] = set()
        self._stale_players: set[str] = set()
        self._stale_service = True
        self.forget()

    def topic(self, *levels: str) -> str:
        return "/".join((self._prefix, *levels))

    # --- what happens -----------------------------------------------------------------------------

    def changed(self, changes: Iterable[Change]) -> None:
        """Remember what to look at again."""
        for change in changes:
            match change:
                case GameMessage(game=view):
                    self._put(view)
                case GoneMessage(game=game):
                    self._drop(game)
                case (
                    MoveMessage(game=game)
                    | ClockMessage(game=game)
                    | ScoreMessage(game=game)
                    | PointMessage(game=game)
                ):
                    if game in self._places:
                        self._stale_boards.add(self._places[game])
                case StandingMessage(player=player):
                    self._stale_players.add(player.id)
                case EngineMessage():
                    # Every rating is another one now.
                    self._stale_service = True
                    self._stale_boards.update(self._boards)
                    self._stale_players.update(player.id for player in self._state.players())
                case HealthMessage():
                    self._stale_service = True

    @property
    def filters(self) -> list[str]:
        """Where something of ours may stand, as filters of topics."""
        return [self.topic("#"), *self._former]

    def ours(self, topic: str, payload: bytes = b"") -> bool:
        """Whether a topic is ours: below the prefix with the number of the protocol, or where
        protocol 1 retained what this payload looks like. Others may stand beside that.
        """
        return topic.startswith(self.topic("")) or any(
            payload.startswith(begins)
            and re.fullmatch(re.escape(where).replace(r"\+", "[^/]+"), topic)
            for where, begins in self._former.items()
        )

    def holds(self, topic: str) -> None:
        """The broker holds something at this topic, perhaps of a former run of ours."""
        if topic not in self._others and topic not in self._told:
            self._told[topic] = b""
            self._look[topic] = None

    def doubt(self, topics: Iterable[str]) -> None:
        """Somebody else writes there: what the broker holds is not what it was sent."""
        for topic in topics:
            self.holds(topic)
        self._told = dict.fromkeys(self._told, b"")
        self._look |= dict.fromkeys(self._told)

    def forget(self) -> None:
        """Nothing is known of what the broker holds: it is a new connection, or another broker."""
        self._told.clear()
        self._look = dict.fromkeys(self._wanted)
        for view in self._state.games():
            self._put(view)
        self._stale_boards.update(self._boards)
        self._stale_players.update(player.id for player in self._state.players())
        self._stale_service = True

    # --- what to send -----------------------------------------------------------------------------

    def take(self, most: int) -> dict[str, bytes]:
        """Up to ``most`` topics with their new payloads, empty where the topic is to be cleared.

        They count as sent; a broker that did not get them is one to :meth:`forget`.
        """
        self._look_again()
        found: dict[str, bytes] = {}
        while self._look and len(found) < most:
            topic = next(iter(self._look))
            del self._look[topic]
            payload = self._wanted.get(topic, b"")
            if payload and self._told.get(topic) != payload:
                found[topic] = self._told[topic] = payload
            elif not payload and topic in self._told:
                del self._told[topic]
                found[topic] = b""
        return found

    def everything(self) -> dict[str, bytes]:
        """All topics but the status, with what they should hold."""
        self._look_again()
        return dict(self._wanted)

    def _look_again(self) -> None:
        boards, self._stale_boards = self._stale_boards, set()
        for at in boards:
            self._board(at)
        players, self._stale_players = self._stale_players, set()
        if players:
            views = {player.id: player for player in self._state.players()}
            for id in players:
                view = views.get(id)
                message = None if view is None else StandingMessage(view)
                self._want(self.topic("players", level(id)), message)
        if self._stale_service:
            self._stale_service = False
            self._want(self.topic("engine"), EngineMessage(self._state.engine()))
            health = HealthMessage(self._state.feeds(), self._state.engines())
            self._want(self.topic("health"), health)

    def _board(self, at: Place) -> None:
        """What the four topics of a board should hold."""
        held = [
            detail
            for game in self._boards.get(at, ())
            if (detail := self._state.game(game)) is not None
        ]
        if not held:
            self._boards.pop(at, None)
        detail = max(held, key=game_order, default=None)
        latest: dict[str, Message | None] = dict.fromkeys(("game", "move", "white", "black"))
        if detail is not None:
            latest["game"] = GameMessage(view_of(detail))
            if detail.plies:
                latest["move"] = MoveMessage(detail.id, detail.plies[-1].ply, detail.plies[-1])
            if detail.curves.white:
                latest["white"] = PointMessage(detail.id, "white", detail.curves.white[-1])
            if detail.curves.black:
                latest["black"] = PointMessage(detail.id, "black", detail.curves.black[-1])
        for name, message in latest.items():
            self._want(self.topic(*at, name), message)

    def _want(self, topic: str, message: Message | None) -> None:
        self._look[topic] = None
        if message is None or not sends(type(message), self._visibility):
            self._wanted.pop(topic, None)
        else:
            self._wanted[topic] = wire.encode(shown(message, self._visibility))

    def _put(self, view: GameView) -> None:
        at = place(view)
        before = self._places.get(view.id)
        if before != at:
            self._drop(view.id)
            self._places[view.id] = at
            self._boards.setdefault(at, set()).add(view.id)
        self._stale_boards.add(at)

    def _drop(self, game: GameId) -> None:
        at = self._places.pop(game, None)
        if at is not None:
            self._boards[at].discard(game)
            self._stale_boards.add(at)
