"""The reference client: it applies all messages to its last snapshot. Pure.

It is the model for clients in other languages. Tests compare its state with a new
snapshot. It is strict: a message that does not fit the earlier ones raises an error.
Other clients should then reconnect without ``since`` and get a new snapshot.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from live.messages.alerts import Alert
from live.messages.figures import (
    CurvePoint,
    Curves,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    GameView,
    PlayerView,
    PlyView,
    view_of,
)
from live.messages.health import EngineHealth, FeedHealth, PublicDelay
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    ClockMessage,
    EngineMessage,
    GainsMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    HeartbeatMessage,
    HelloMessage,
    Message,
    MomentMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    SnapshotMessage,
    StandingMessage,
)
from live.messages.values import GameId, Value
from live.server.filtered_reader import snapshot
from live.server.stream_filter import ALL


class OutOfStep(Exception):
    """A message does not fit the state of the client, so a message was lost."""


Named = TypeVar("Named", Alert, GameDetail, Moment, PlayerView)


class _Envelope(Value):
    seq: int


_message: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_envelope = msgspec.json.Decoder(_Envelope)
#: Placeholder for the engine before the first snapshot.
_UNKNOWN = EngineInfo("", "")


class ReferenceClient:
    """The state of one client.

    Messages can be applied as objects (:meth:`apply`) or as JSON (:meth:`receive`).
    """

    def __init__(self) -> None:
        self.hello: HelloMessage | None = None
        self.public_delay = PublicDelay()
        """The public delay that the service reported last."""
        self.seq: int | None = None
        """Number of the last applied message; None before the first snapshot."""
        self._take_over_snapshot(SnapshotMessage(_UNKNOWN, ()))

    def _take_over_snapshot(self, message: SnapshotMessage) -> None:
        self._engine = message.engine
        self._feeds = message.feeds
        self._engines = message.engines
        self._players = _index_by_id(message.players)
        self._games = _index_by_id(message.games)
        self._alerts = _index_by_id(message.alerts)
        self._moments = _index_by_id(message.moments)
        # For each player, by id: the number of moves with each gain in centipawns.
        self._gains = {
            player_gains.player: dict(player_gains.counts)
            for player_gains in message.gains
        }
        self._engine_gains = message.engine_gains

    def receive(self, text: str | bytes) -> Message:
        """Apply one message given as JSON, check its number, and return the message.

        Raises:
            OutOfStep: a number is missing or repeated, or the message does not fit the
                state.
            msgspec.ValidationError: the text is not a message of this protocol.
        """
        seq = _envelope.decode(text).seq
        message = _message.decode(text)
        match message:
            case SnapshotMessage():
                fits = True
            case HelloMessage(resumed=resumed):
                fits = not resumed or seq == self.seq
            case HeartbeatMessage():
                fits = seq == self.seq
            case _:
                fits = self.seq is not None and seq == self.seq + 1
        if not fits:
            raise OutOfStep(
                f"{message.__struct_config__.tag} {seq} does not follow {self.seq}"
            )
        if not isinstance(message, HelloMessage):
            self.seq = seq
        self.apply(message)
        return message

    def apply(self, message: Message) -> None:
        """Apply one message without checking its number.

        Raises:
            OutOfStep: the message is about a game or ply that the client does not have.
        """
        match message:
            case HelloMessage():
                self.hello = message
                self.public_delay = message.public_delay
            case HeartbeatMessage(public_delay=PublicDelay() as delay):
                self.public_delay = delay
            case SnapshotMessage():
                self._take_over_snapshot(message)
            case GameMessage(game=view):
                fields = asdict(view)
                detail = self._games.get(view.id)
                self._games[view.id] = (
                    replace(detail, **fields) if detail else GameDetail(**fields)
                )
            case GoneMessage(game=game):
                self._games.pop(game, None)
                self._alerts = _index_by_id(
                    alert for alert in self.alerts() if alert.game != game
                )
                self._drop_moments(game, 0)
            case MoveMessage(game=game, ply=ply, move=move):
                self._apply_move(self._require_game(game), ply, move)
                self._drop_moments(game, ply)
            case ClockMessage(game=game, ply=ply):
                plies = self._require_game(game).plies
                if ply <= len(plies):
                    clocks = {"clock_s": message.clock_s, "spent_s": message.spent_s}
                    self._replace_ply(game, replace(plies[ply - 1], **clocks))
            case ScoreMessage(game=game, ply=scored):
                if scored.ply <= len(self._require_game(game).plies):
                    self._replace_ply(game, scored)
            case PointMessage(game=game, color=color, point=point):
                detail = self._require_game(game)
                before = _truncate_curve(point.ply, getattr(detail.curves, color))
                curves = replace(detail.curves, **{color: (*before, point)})
                self._games[game] = replace(detail, curves=curves)
            case StandingMessage(player=player):
                is_present = bool(player.games or player.moves)
                _set_or_delete(self._players, player.id, player, is_present)
                if not is_present:
                    self._gains.pop(player.id, None)
            case GainsMessage(player=id, gain_cp=gain_cp, moves=moves):
                _set_or_delete(
                    self._gains.setdefault(id, {}), gain_cp, moves, bool(moves)
                )
            case EngineMessage(engine=engine):
                self._engine = engine
            case HealthMessage(feeds=feeds, engines=engines):
                self._feeds = feeds
                self._engines = engines
            case AlertMessage(alert=alert):
                _set_or_delete(self._alerts, alert.id, alert, alert.cleared_s is None)
            case MomentMessage(game=game, moment=moment, holds=holds):
                self._require_game(game)
                _set_or_delete(self._moments, moment.id, moment, holds)

    def _drop_moments(self, game: GameId, ply: int) -> None:
        remaining = (
            moment
            for moment in self.moments()
            if moment.game != game or moment.ply < ply
        )
        self._moments = _index_by_id(remaining)

    def snapshot(self) -> SnapshotMessage:
        """Return the state as a snapshot, in the same order as one from the service.

        Raises:
            OutOfStep: no snapshot has been applied yet.
        """
        if self._engine is _UNKNOWN:
            raise OutOfStep("no snapshot yet")
        return snapshot(self, ALL)

    # --- the state, as an EventReader -------------------------------------------------

    def engine(self) -> EngineInfo:
        """Return the engine; before the first snapshot, the engine from ``hello``."""
        if self._engine is _UNKNOWN and self.hello is not None:
            return self.hello.engine
        return self._engine

    def gain(self) -> GainKind:
        return self.hello.gain if self.hello else "same-search"

    def games(self) -> list[GameView]:
        return [view_of(game) for game in self._games.values()]

    def game(self, id: GameId) -> GameDetail | None:
        return self._games.get(id)

    def players(self) -> list[PlayerView]:
        return list(self._players.values())

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """Return ``PlayerView.id`` of each player of a game.

        Players are found by FIDE id, or else by name.
        """
        game = self._games.get(id)
        sides = (game.white, game.black) if game else ()
        names = {str(side.fide_id) for side in sides if side.fide_id} | {
            s.name for s in sides
        }
        return tuple(
            player.id
            for player in self.players()
            if not names.isdisjoint((player.id, player.name))
        )

    def gains(self, player: str) -> GainCounts:
        """Return a player's gains; empty without ``detail=gains``."""
        return tuple(sorted(self._gains.get(player, {}).items()))

    def engine_gains(self) -> GainCounts:
        """Return the engine's gains; empty without ``detail=gains``."""
        return self._engine_gains

    def feeds(self) -> tuple[FeedHealth, ...]:
        return self._feeds

    def engines(self) -> EngineHealth:
        return self._engines

    def alerts(self) -> list[Alert]:
        return list(self._alerts.values())

    def moments(self) -> list[Moment]:
        return list(self._moments.values())

    def _require_game(self, game: GameId) -> GameDetail:
        try:
            return self._games[game]
        except KeyError:
            raise OutOfStep(f"game {game!r} is unknown") from None

    def _replace_ply(self, game: GameId, ply: PlyView) -> None:
        detail = self._games[game]
        plies = (*detail.plies[: ply.ply - 1], ply, *detail.plies[ply.ply :])
        self._games[game] = replace(detail, plies=plies)

    def _apply_move(self, detail: GameDetail, ply: int, move: PlyView | None) -> None:
        plies = detail.plies[: ply - 1]
        if move is not None:
            if move.ply != ply or len(plies) != ply - 1:
                raise OutOfStep(
                    f"ply {ply} does not follow {len(plies)} in {detail.id!r}"
                )
            plies = (*plies, move)
        curves = Curves(
            _truncate_curve(ply, detail.curves.white),
            _truncate_curve(ply, detail.curves.black),
        )
        self._games[detail.id] = replace(detail, plies=plies, curves=curves)


def _index_by_id(values: Iterable[Named]) -> dict[str, Named]:
    return {value.id: value for value in values}


def _set_or_delete(
    values: dict[Any, Any], key: object, value: object, is_present: bool
) -> None:
    """Set a value under its key if ``is_present`` is true; delete the key otherwise."""
    if is_present:
        values[key] = value
    else:
        values.pop(key, None)


def _truncate_curve(ply: int, points: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
    return points[: bisect_left(points, ply, key=lambda point: point.ply)]
