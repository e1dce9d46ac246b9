"""What the publisher reads: the whole state, as frozen values, from its one writer.

The ledger is the writer; :mod:`live.app` hands it over in this shape. All calls are synchronous and
answer for *now*: a change given to :meth:`live.publish.server.Publisher.publish` must already be in
the state. Since everything runs on one loop and nothing here awaits, a snapshot and the position
of its stream are read at the same instant, so no change can fall between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from live.events import (
    Alert,
    Change,
    CurvePoint,
    EngineHealth,
    EngineInfo,
    FeedHealth,
    GainCounts,
    GainKind,
    GainsMessage,
    GameDetail,
    GameId,
    GameMessage,
    GameView,
    Moment,
    MomentMessage,
    MoveMessage,
    PlayerGains,
    PlayerView,
    PointMessage,
    SnapshotMessage,
    StandingMessage,
)
from live.games.round_number import RoundPlace, round_place
from live.ledger.players.team_matches import main_event
from live.publish.stream.stream_filter import EVERYTHING, StreamFilter
from live.publish.visibility import Visibility, sends, shown, sources_for


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

    Games are in :func:`game_order`, players in the order of their ids, so that equal states have
    equal snapshots.
    """
    details = [
        detail
        for view in sorted(filter(selected.takes, state.games()), key=game_order)
        if (detail := state.game(view.id)) is not None
    ]
    players: Iterable[PlayerView] = state.players()
    if selected.narrow:
        ids = {each for detail in details for each in state.player_ids(detail.id)}
        players = (player for player in players if player.id in ids)
    players = sorted(players, key=lambda player: player.id)
    whole = SnapshotMessage(
        engine=state.engine(),
        games=tuple(details),
        players=tuple(players),
        feeds=state.feeds(),
        engines=state.engines(),
        alerts=alerts_about(state.alerts(), {detail.id for detail in details}, selected),
        moments=moments_of(state.moments(), {detail.id for detail in details}),
        gains=tuple(gains_of(state, players)) if selected.gains else (),
        engine_gains=state.engine_gains() if selected.gains else (),
    )
    return shown(whole, selected.visibility)


class VisibleState:
    """A :class:`PublishedState` as one filter's subscriber may see it: its games, its players,
    its visibility.
    """

    def __init__(self, state: PublishedState, selected: StreamFilter) -> None:
        self._state = state
        self._selected = selected

    def engine(self) -> EngineInfo:
        return shown(self._state.engine(), self._selected.visibility)

    def gain(self) -> GainKind:
        return self._state.gain()

    def games(self) -> Iterable[GameView]:
        visibility = self._selected.visibility
        return [
            shown(view, visibility) for view in self._state.games() if self._selected.takes(view)
        ]

    def game(self, game: GameId) -> GameDetail | None:
        detail = self._state.game(game)
        if detail is None or not self._selected.takes(detail):
            return None
        return shown(detail, self._selected.visibility)

    def players(self) -> Iterable[PlayerView]:
        visibility = self._selected.visibility
        if not sends(StandingMessage, visibility):
            return []
        players = self._state.players()
        if self._selected.narrow:
            ids = {each for view in self.games() for each in self._state.player_ids(view.id)}
            players = (player for player in players if player.id in ids)
        return [shown(player, visibility) for player in players]

    def player_ids(self, game: GameId) -> Iterable[str]:
        return self._state.player_ids(game) if self.game(game) is not None else ()

    def gains(self, player: str) -> GainCounts:
        seen = sends(GainsMessage, self._selected.visibility)
        return self._state.gains(player) if seen else ()

    def engine_gains(self) -> GainCounts:
        seen = sends(GainsMessage, self._selected.visibility)
        return self._state.engine_gains() if seen else ()

    def feeds(self) -> tuple[FeedHealth, ...]:
        return sources_for(self._state.feeds(), self._selected.visibility)

    def engines(self) -> EngineHealth:
        if self._selected.visibility is Visibility.VENUE:
            return EngineHealth()
        return shown(self._state.engines(), self._selected.visibility)

    def alerts(self) -> Iterable[Alert]:
        if self._selected.visibility is not Visibility.ARBITER:
            return ()
        games = {view.id for view in self.games()} if self._selected.narrow else set()
        return alerts_about(self._state.alerts(), games, self._selected)

    def moments(self) -> Iterable[Moment]:
        if not sends(MomentMessage, self._selected.visibility):
            return ()
        return moments_of(self._state.moments(), {view.id for view in self.games()})


def gain_counts(points: Iterable[CurvePoint]) -> GainCounts:
    """The gains of one side of one game."""
    return tuple(sorted(Counter(point.gain_cp for point in points).items()))


def gains_of(state: PublishedState, players: Iterable[PlayerView]) -> Iterator[PlayerGains]:
    """Of those players who have any."""
    for player in players:
        if counts := state.gains(player.id):
            yield PlayerGains(player.id, counts)


def moments_of(moments: Iterable[Moment], games: Collection[GameId]) -> tuple[Moment, ...]:
    """Those of these games, in the order of their ids."""
    chosen = (moment for moment in moments if moment.game in games)
    return tuple(sorted(chosen, key=lambda moment: moment.id))


def alerts_about(
    alerts: Iterable[Alert], games: Collection[GameId], selected: StreamFilter
) -> tuple[Alert, ...]:
    """Those that ``selected``, which takes ``games``, has to do with, in the order of their ids.

    What is the matter with feeds and engines is everybody's business.
    """
    concerned = (
        alert
        for alert in alerts
        if not selected.narrow or alert.game is None or alert.game in games
    )
    return tuple(sorted(concerned, key=lambda alert: alert.id))


def game_order(view: GameView) -> tuple[str, RoundPlace, int, str]:
    """Event (:func:`main_event`), round and place in it (2 before 10, 2.9 before 2.10), id."""
    parts = round_place(view.round, view.board)
    return main_event(view), parts, view.board if view.board is not None else 1 << 30, view.id


def whole_game(detail: GameDetail) -> Iterator[Change]:
    """A game in the messages that build it up at a client that does not hold it."""
    game = detail.id
    yield GameMessage(view_of(detail))
    yield from (MoveMessage(game, ply.ply, ply) for ply in detail.plies)
    yield from (PointMessage(game, "white", point) for point in detail.curves.white)
    yield from (PointMessage(game, "black", point) for point in detail.curves.black)


def view_of(detail: GameView) -> GameView:
    """The game without its plies and curves."""
    return GameView(**{name: getattr(detail, name) for name in GameView.__struct_fields__})
