"""What the publisher reads: the whole state, as frozen values, from its one writer.

The ledger is the writer; :mod:`live.app` hands it over in this shape. All calls are synchronous and
answer for *now*: a change given to :meth:`live.server.server.Publisher.publish` must already be in
the state. Since everything runs on one loop and nothing here awaits, a snapshot and the position
of its stream are read at the same instant, so no change can fall between them.

What a client holds: a snapshot with every later message applied to it.

The reference for clients in other languages, and what tests compare with a fresh snapshot. It is
strict: a message that cannot follow from the ones before is an error here, where a client in the
field would reconnect without ``since`` and take a fresh snapshot.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from live.catalogue import main_event
from live.event.rate_game import COLORS
from live.event.tracked_game import view_of
from live.games.rounds import RoundPlace, round_sort_key
from live.messages.alerts import Alert
from live.messages.figures import (
    CurvePoint,
    Curves,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    GameView,
    PlayerGains,
    PlayerView,
    PlyView,
)
from live.messages.health import EngineHealth, FeedHealth, PublicDelay
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
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
from live.server.visibility import (
    ALL,
    EVERYTHING,
    Shown,
    StreamFilter,
    Visibility,
    sends,
    shown,
    sources_for,
)


class PublishedState(Protocol):
    """Everything a subscriber can be sent."""

    def engine(self) -> EngineInfo: ...

    def gain(self) -> GainKind: ...

    def games(self) -> Iterable[GameView]: ...

    def game(self, game: GameId) -> GameDetail | None: ...

    def players(self) -> Iterable[PlayerView]: ...

    def player_ids(self, game: GameId) -> Iterable[str]:
        """``PlayerView.id`` of those who play in ``game``; empty for an unknown game."""
        ...

    def gains(self, player: str) -> GainCounts:
        """All gains of a player by ``PlayerView.id``, over the event; empty for an unknown one."""
        ...

    def engine_gains(self) -> GainCounts:
        """The engine's own, which players are measured against."""
        ...

    def feeds(self) -> tuple[FeedHealth, ...]: ...

    def engines(self) -> EngineHealth: ...

    def alerts(self) -> Iterable[Alert]:
        """Those not cleared, in any order."""
        ...

    def moments(self) -> Iterable[Moment]:
        """Those that stand, in any order."""
        ...


def snapshot(state: PublishedState, selected: StreamFilter = EVERYTHING) -> SnapshotMessage:
    """All that ``selected`` takes and may see: games, who plays in them, and everybody's health.

    Games are in :func:`game_order`, players, alerts and moments in the order of their ids, so that
    equal states have equal snapshots.
    """
    ids, rest = without_games(state, selected)
    games = (shown(game, selected.visibility) for id in ids if (game := state.game(id)) is not None)
    return replace(rest, games=tuple(games))


def without_games(
    state: PublishedState, selected: StreamFilter
) -> tuple[list[GameId], SnapshotMessage]:
    """Which games a snapshot holds, in their order, and all else of it."""
    # What may not be seen is taken out of the whole, by one walk over it.
    taken = VisibleState(state, replace(selected, visibility=Visibility.ARBITER))
    by_id = attrgetter("id")
    players = tuple(sorted(taken.players(), key=by_id))
    gains = ((each.id, taken.gains(each.id)) for each in players if selected.gains)
    rest = SnapshotMessage(
        engine=taken.engine(),
        games=(),
        players=players,
        feeds=taken.feeds(),
        engines=taken.engines(),
        alerts=tuple(sorted(taken.alerts(), key=by_id)),
        moments=tuple(sorted(taken.moments(), key=by_id)),
        gains=tuple(PlayerGains(id, counts) for id, counts in gains if counts),
        engine_gains=taken.engine_gains() if selected.gains else (),
    )
    games = sorted(taken.games(), key=game_order)
    return [view.id for view in games], shown(rest, selected.visibility)


class VisibleState:
    """A :class:`PublishedState` as one filter's subscriber may see it: its games, its players,
    its visibility.
    """

    def __init__(self, state: PublishedState, selected: StreamFilter) -> None:
        self._state = state
        self._selected = selected

    def engine(self) -> EngineInfo:
        return self._shown(self._state.engine())

    def gain(self) -> GainKind:
        return self._state.gain()

    def games(self) -> Iterable[GameView]:
        return [self._shown(each) for each in self._state.games() if self._selected.takes(each)]

    def game(self, game: GameId) -> GameDetail | None:
        detail = self._state.game(game)
        return self._shown(detail) if detail and self._selected.takes(detail) else None

    def players(self) -> Iterable[PlayerView]:
        players = self._state.players() if self._sends(StandingMessage) else ()
        games = self._ids()
        if games is not None:
            ids = {each for game in games for each in self._state.player_ids(game)}
            players = (player for player in players if player.id in ids)
        return [self._shown(player) for player in players]

    def player_ids(self, game: GameId) -> Iterable[str]:
        games = self._ids()
        return self._state.player_ids(game) if games is None or game in games else ()

    def gains(self, player: str) -> GainCounts:
        return self._state.gains(player) if self._sends(GainsMessage) else ()

    def engine_gains(self) -> GainCounts:
        return self._state.engine_gains() if self._sends(GainsMessage) else ()

    def feeds(self) -> tuple[FeedHealth, ...]:
        return sources_for(self._state.feeds(), self._selected.visibility)

    def engines(self) -> EngineHealth:
        return self._shown(self._state.engines())

    def alerts(self) -> Iterable[Alert]:
        """What is the matter with feeds and engines is every arbiter's business."""
        alerts = self._state.alerts() if self._sends(AlertMessage) else ()
        games = self._ids()
        return [each for each in alerts if each.game is None or games is None or each.game in games]

    def moments(self) -> Iterable[Moment]:
        moments = self._state.moments() if self._sends(MomentMessage) else ()
        games = self._ids()
        return [self._shown(each) for each in moments if games is None or each.game in games]

    def _shown(self, value: Shown) -> Shown:
        return shown(value, self._selected.visibility)

    def _sends(self, kind: type[Change]) -> bool:
        return sends(kind, self._selected.visibility)

    def _ids(self) -> set[GameId] | None:
        """The games that are taken; None: all."""
        if not self._selected.narrow:
            return None
        return {view.id for view in self._state.games() if self._selected.takes(view)}


def gain_counts(points: Iterable[CurvePoint]) -> GainCounts:
    """The gains of one side of one game; none of a game that one side never began."""
    return tuple(sorted(Counter(point.gain_cp for point in points if point.n).items()))


def game_order(view: GameView) -> tuple[str, RoundPlace, int, str]:
    """Event (:func:`main_event`), round and place in it (2 before 10, 2.9 before 2.10), id."""
    parts = round_sort_key(view.round, view.board)
    return main_event(view), parts, view.board if view.board is not None else 1 << 30, view.id


def game_of(change: Change) -> GameId | None:
    """Which game a change is of; None where it is of none."""
    match change:
        case GameMessage(game=view):
            return view.id
        case AlertMessage(alert=alert):
            return alert.game
    game: GameId | None = getattr(change, "game", None)
    return game


def whole_game(detail: GameDetail) -> Iterator[Change]:
    """A game in the messages that build it up at a client that does not hold it."""
    game = detail.id
    yield GameMessage(view_of(detail))
    yield from (MoveMessage(game, ply.ply, ply) for ply in detail.plies)
    for color in COLORS:
        yield from (PointMessage(game, color, point) for point in getattr(detail.curves, color))


class OutOfStep(Exception):
    """A message that cannot follow from what is held: something was lost."""


Named = TypeVar("Named", Alert, GameDetail, Moment, PlayerView)


class _Envelope(Value):
    seq: int


_message: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_envelope = msgspec.json.Decoder(_Envelope)


#: Of which no snapshot has told.
_UNKNOWN = EngineInfo("", "")


class ClientState:
    """One client's state. Feed it messages (:meth:`apply`) or their JSON (:meth:`receive`)."""

    def __init__(self) -> None:
        self.hello: HelloMessage | None = None
        self.public_delay = PublicDelay()
        """As the service said last."""
        self.seq: int | None = None
        """Number of the last message applied; null before the first snapshot."""
        self._replace(SnapshotMessage(_UNKNOWN, ()))

    def _replace(self, message: SnapshotMessage) -> None:
        self._engine = message.engine
        self._feeds, self._engines = message.feeds, message.engines
        self._players, self._games = _by_id(message.players), _by_id(message.games)
        self._alerts, self._moments = _by_id(message.alerts), _by_id(message.moments)
        # Moves by gain in centipawns, by player.
        self._gains = {each.player: dict(each.counts) for each in message.gains}
        self._engine_gains = message.engine_gains

    def receive(self, text: str | bytes) -> Message:
        """Apply one message as it came over the wire, checking its number.

        Raises:
            OutOfStep: a number is missing or repeated, or the message makes no sense here.
            msgspec.ValidationError: the text is no message of this protocol.
        """
        seq, message = _envelope.decode(text).seq, _message.decode(text)
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
            raise OutOfStep(f"{message.__struct_config__.tag} {seq} does not follow {self.seq}")
        if not isinstance(message, HelloMessage):
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
                self.hello, self.public_delay = message, message.public_delay
            case HeartbeatMessage(public_delay=PublicDelay() as delay):
                self.public_delay = delay
            case SnapshotMessage():
                self._replace(message)
            case GameMessage(game=view):
                fields, held = asdict(view), self._games.get(view.id)
                self._games[view.id] = replace(held, **fields) if held else GameDetail(**fields)
            case GoneMessage(game=game):
                self._games.pop(game, None)
                self._alerts = _by_id(each for each in self.alerts() if each.game != game)
                self._drop_moments(game, 0)
            case MoveMessage(game=game, ply=ply, move=move):
                self._move(self._held(game), ply, move)
                self._drop_moments(game, ply)
            case ClockMessage(game=game, ply=ply):
                plies = self._held(game).plies
                if ply <= len(plies):
                    clocks = {"clock_s": message.clock_s, "spent_s": message.spent_s}
                    self._put(game, replace(plies[ply - 1], **clocks))
            case ScoreMessage(game=game, ply=scored):
                if scored.ply <= len(self._held(game).plies):
                    self._put(game, scored)
            case PointMessage(game=game, color=color, point=point):
                held = self._held(game)
                before = _before(point.ply, getattr(held.curves, color))
                curves = replace(held.curves, **{color: (*before, point)})
                self._games[game] = replace(held, curves=curves)
            case StandingMessage(player=player):
                stays = bool(player.games or player.moves)
                _keep(self._players, player.id, player, stays)
                if not stays:
                    self._gains.pop(player.id, None)
            case GainsMessage(player=id, gain_cp=gain_cp, moves=moves):
                _keep(self._gains.setdefault(id, {}), gain_cp, moves, bool(moves))
            case EngineMessage(engine=engine):
                self._engine = engine
            case HealthMessage(feeds=feeds, engines=engines):
                self._feeds, self._engines = feeds, engines
            case AlertMessage(alert=alert):
                _keep(self._alerts, alert.id, alert, alert.cleared_s is None)
            case MomentMessage(game=game, moment=moment, holds=holds):
                self._held(game)
                _keep(self._moments, moment.id, moment, holds)

    def _drop_moments(self, game: GameId, ply: int) -> None:
        stay = (each for each in self.moments() if each.game != game or each.ply < ply)
        self._moments = _by_id(stay)

    def snapshot(self) -> SnapshotMessage:
        """What is held, in the shape and order of a fresh snapshot.

        Raises:
            OutOfStep: there was no snapshot yet.
        """
        if self._engine is _UNKNOWN:
            raise OutOfStep("no snapshot yet")
        return snapshot(self, ALL)

    # --- what is held, asked for piece by piece; see
    # :class:`live.server.published_state.PublishedState` ------------

    def engine(self) -> EngineInfo:
        """Before the first snapshot that of the greeting."""
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
        """By FIDE id, else by name, as :class:`live.messages.figures.PlayerView` is identified."""
        game = self._games.get(id)
        sides = (game.white, game.black) if game else ()
        known = {str(side.fide_id) for side in sides if side.fide_id} | {s.name for s in sides}
        return tuple(
            each.id for each in self.players() if not known.isdisjoint((each.id, each.name))
        )

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

    def _held(self, game: GameId) -> GameDetail:
        try:
            return self._games[game]
        except KeyError:
            raise OutOfStep(f"game {game!r} is not held") from None

    def _put(self, game: GameId, ply: PlyView) -> None:
        held = self._games[game]
        plies = (*held.plies[: ply.ply - 1], ply, *held.plies[ply.ply :])
        self._games[game] = replace(held, plies=plies)

    def _move(self, held: GameDetail, ply: int, move: PlyView | None) -> None:
        plies = held.plies[: ply - 1]
        if move is not None:
            if move.ply != ply or len(plies) != ply - 1:
                raise OutOfStep(f"ply {ply} does not follow {len(plies)} in {held.id!r}")
            plies = (*plies, move)
        curves = Curves(_before(ply, held.curves.white), _before(ply, held.curves.black))
        self._games[held.id] = replace(held, plies=plies, curves=curves)


def _by_id(values: Iterable[Named]) -> dict[str, Named]:
    return {value.id: value for value in values}


def _keep(held: dict[Any, Any], key: object, value: object, stays: bool) -> None:
    """Hold the value at its key, or nothing there any more."""
    if stays:
        held[key] = value
    else:
        held.pop(key, None)


def _before(ply: int, points: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
    return points[: bisect_left(points, ply, key=lambda point: point.ply)]
