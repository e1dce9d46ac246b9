"""What a client holds: a snapshot with every later message applied to it. Pure.

The reference for clients in other languages, and what tests compare with a fresh snapshot. It is
strict: a message that cannot follow from the ones before is an error here, where a client in the
field would reconnect without ``since`` and take a fresh snapshot.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import msgspec

from live.events import (
    Alert,
    AlertMessage,
    ClockMessage,
    CurvePoint,
    Curves,
    EngineHealth,
    EngineInfo,
    EngineMessage,
    FeedHealth,
    GainCounts,
    GainKind,
    GainsMessage,
    GameDetail,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    HealthMessage,
    HelloMessage,
    Message,
    Moment,
    MomentMessage,
    MoveMessage,
    PlayerGains,
    PlayerView,
    PlyView,
    PointMessage,
    ScoreMessage,
    SnapshotMessage,
    StandingMessage,
)
from live.publish.published_state import game_order, view_of


class OutOfStep(Exception):
    """A message that cannot follow from what is held: something was lost."""


class _Envelope(msgspec.Struct, frozen=True):
    type: str
    seq: int


_message = msgspec.json.Decoder(Message)
_envelope = msgspec.json.Decoder(_Envelope)


class _ReplicaGame:
    """One game, open to change."""

    def __init__(self, view: GameView) -> None:
        self.view = view
        self.plies: list[PlyView] = []
        self.curves: dict[str, list[CurvePoint]] = {"white": [], "black": []}

    def detail(self) -> GameDetail:
        fields: dict[str, Any] = msgspec.structs.asdict(self.view)
        return GameDetail(
            **fields,
            plies=tuple(self.plies),
            curves=Curves(tuple(self.curves["white"]), tuple(self.curves["black"])),
        )

    def cut_points(self, color: str, ply: int) -> None:
        points = self.curves[color]
        del points[bisect_left(points, ply, key=lambda point: point.ply) :]


class ClientState:
    """One client's state. Feed it messages (:meth:`apply`) or their JSON (:meth:`receive`)."""

    def __init__(self) -> None:
        self.hello: HelloMessage | None = None
        self.seq: int | None = None
        """Number of the last message applied; null before the first snapshot."""
        self._games: dict[GameId, _ReplicaGame] = {}
        self._players: dict[str, PlayerView] = {}
        self._engine: EngineInfo | None = None
        self._feeds: tuple[FeedHealth, ...] = ()
        self._engines = EngineHealth()
        self._alerts: dict[str, Alert] = {}
        self._moments: dict[str, Moment] = {}
        # Moves by gain in centipawns, by player.
        self._gains: dict[str, dict[int, int]] = {}
        self._engine_gains: GainCounts = ()

    def receive(self, text: str | bytes) -> Message:
        """Apply one message as it came over the wire, checking its number.

        Raises:
            OutOfStep: a number is missing or repeated, or the message makes no sense here.
            msgspec.ValidationError: the text is no message of this protocol.
        """
        seq = _envelope.decode(text).seq
        message: Message = _message.decode(text)
        kind = message.__struct_config__.tag
        match message:
            case HelloMessage():
                if message.resumed and (self.hello is None or self.seq != seq):
                    raise OutOfStep(f"resumed after {seq}, but held is {self.seq}")
            case SnapshotMessage():
                self.seq = seq
            case _ if kind == "heartbeat":
                if seq != self.seq:
                    raise OutOfStep(f"heartbeat at {seq}, but held is {self.seq}")
            case _:
                if self.seq is None or seq != self.seq + 1:
                    raise OutOfStep(f"{kind} {seq} does not follow {self.seq}")
                self.seq = seq
        self.apply(message)
        return message

    def apply(self, message: Message) -> None:
        """Apply one message, whatever its number.

        Raises:
            OutOfStep: it names a game or ply that is not held.
        """
        match message:
            case HelloMessage():
                self.hello = message
            case SnapshotMessage():
                self._replace(message)
            case GameMessage(game=view):
                held = self._games.get(view.id)
                if held is None:
                    self._games[view.id] = _ReplicaGame(view)
                else:
                    held.view = view
            case GoneMessage(game=game):
                self._games.pop(game, None)
                self._alerts = {
                    id: alert for id, alert in self._alerts.items() if alert.game != game
                }
                self._drop_moments(game, 0)
            case MoveMessage(game=game, ply=ply, move=move):
                self._move(self._held(game), ply, move)
                self._drop_moments(game, ply)
            case ClockMessage(game=game, ply=ply):
                plies = self._held(game).plies
                if ply <= len(plies):
                    plies[ply - 1] = msgspec.structs.replace(
                        plies[ply - 1], clock_s=message.clock_s, spent_s=message.spent_s
                    )
            case ScoreMessage(game=game, ply=scored):
                plies = self._held(game).plies
                if scored.ply <= len(plies):
                    plies[scored.ply - 1] = scored
            case PointMessage(game=game, color=color, point=point):
                held = self._held(game)
                held.cut_points(color, point.ply)
                held.curves[color].append(point)
            case StandingMessage(player=player):
                if player.games or player.moves:
                    self._players[player.id] = player
                else:
                    self._players.pop(player.id, None)
                    self._gains.pop(player.id, None)
            case GainsMessage(player=id, gain_cp=gain_cp, moves=moves):
                self._count(id, gain_cp, moves)
            case EngineMessage(engine=engine):
                self._engine = engine
            case HealthMessage(feeds=feeds, engines=engines):
                self._feeds, self._engines = feeds, engines
            case AlertMessage(alert=alert):
                if alert.cleared_s is None:
                    self._alerts[alert.id] = alert
                else:
                    self._alerts.pop(alert.id, None)
            case MomentMessage(game=game, moment=moment, holds=holds):
                self._held(game)
                if holds:
                    self._moments[moment.id] = moment
                else:
                    self._moments.pop(moment.id, None)

    def _count(self, player: str, gain_cp: int, moves: int) -> None:
        counts = self._gains.setdefault(player, {})
        if moves:
            counts[gain_cp] = moves
        else:
            counts.pop(gain_cp, None)
        if not counts:
            del self._gains[player]

    def _drop_moments(self, game: GameId, ply: int) -> None:
        self._moments = {
            id: each for id, each in self._moments.items() if each.game != game or each.ply < ply
        }

    def snapshot(self) -> SnapshotMessage:
        """What is held, in the shape and order of a fresh snapshot.

        Raises:
            OutOfStep: there was no snapshot yet.
        """
        if self._engine is None:
            raise OutOfStep("no snapshot yet")
        games = sorted((game.detail() for game in self._games.values()), key=game_order)
        players = sorted(self._players.values(), key=lambda player: player.id)
        return SnapshotMessage(
            self._engine,
            tuple(games),
            tuple(players),
            self._feeds,
            self._engines,
            tuple(self._alerts[id] for id in sorted(self._alerts)),
            tuple(self._moments[id] for id in sorted(self._moments)),
            tuple(PlayerGains(id, self.gains(id)) for id in sorted(self._gains)),
            self._engine_gains,
        )

    # --- what is held, asked for piece by piece; see
    # :class:`live.publish.published_state.PublishedState` ------------

    def engine(self) -> EngineInfo:
        """Before the first snapshot that of the greeting.

        Raises:
            OutOfStep: there was neither.
        """
        if self._engine is not None:
            return self._engine
        if self.hello is None:
            raise OutOfStep("no greeting yet")
        return self.hello.engine

    def gain(self) -> GainKind:
        return self.hello.gain if self.hello else "same-search"

    def games(self) -> list[GameView]:
        return [game.view for game in self._games.values()]

    def game(self, id: GameId) -> GameDetail | None:
        game = self._games.get(id)
        return game.detail() if game is not None else None

    def players(self) -> list[PlayerView]:
        return list(self._players.values())

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """By FIDE id, else by name, as :class:`live.events.PlayerView` is identified."""
        game = self._games.get(id)
        if game is None:
            return ()
        sides = (game.view.white, game.view.black)
        known = {str(side.fide_id) for side in sides if side.fide_id} | {s.name for s in sides}
        return tuple(p.id for p in self._players.values() if p.id in known or p.name in known)

    def gains(self, player: str) -> GainCounts:
        """Empty without ``detail=gains``."""
        return tuple(sorted(self._gains.get(player, {}).items()))

    def engine_gains(self) -> GainCounts:
        """Empty without ``detail=gains``."""
        return self._engine_gains

    def feeds(self) -> tuple[FeedHealth, ...]:
        return self._feeds

    def engines(self) -> EngineHealth:
        return self._engines

    def alerts(self) -> list[Alert]:
        return list(self._alerts.values())

    def moments(self) -> list[Moment]:
        return list(self._moments.values())

    def _replace(self, message: SnapshotMessage) -> None:
        self._engine = message.engine
        self._feeds, self._engines = message.feeds, message.engines
        self._players = {player.id: player for player in message.players}
        self._alerts = {alert.id: alert for alert in message.alerts}
        self._moments = {moment.id: moment for moment in message.moments}
        self._gains = {each.player: dict(each.counts) for each in message.gains}
        self._engine_gains = message.engine_gains
        self._games = {}
        for detail in message.games:
            game = self._games[detail.id] = _ReplicaGame(view_of(detail))
            game.plies = list(detail.plies)
            game.curves = {
                "white": list(detail.curves.white),
                "black": list(detail.curves.black),
            }

    def _held(self, game: GameId) -> _ReplicaGame:
        try:
            return self._games[game]
        except KeyError:
            raise OutOfStep(f"game {game!r} is not held") from None

    @staticmethod
    def _move(game: _ReplicaGame, ply: int, move: PlyView | None) -> None:
        del game.plies[ply - 1 :]
        game.cut_points("white", ply)
        game.cut_points("black", ply)
        if move is None:
            return
        if move.ply != ply or len(game.plies) != ply - 1:
            raise OutOfStep(f"ply {ply} does not follow {len(game.plies)} in {game.view.id!r}")
        game.plies.append(move)
