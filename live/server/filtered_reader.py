"""The part of the event that a filter selects and its visibility allows. Pure."""

from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

from msgspec.structs import replace

from live.messages.alerts import Alert
from live.messages.figures import (
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    GameView,
    PlayerGains,
    PlayerView,
)
from live.messages.health import EngineHealth, FeedHealth
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GainsMessage,
    MomentMessage,
    SnapshotMessage,
    StandingMessage,
)
from live.messages.values import GameId
from live.server.event_reader import EventReader, game_order
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.server.visibility import (
    Redactable,
    Visibility,
    redact,
    redact_sources,
    should_send,
)


def snapshot(
    state: EventReader, selected: StreamFilter = EVERYTHING
) -> SnapshotMessage:
    """Return a snapshot of everything that a filter selects and its visibility allows.

    Games are in :func:`game_order`; players, alerts and moments are in the order of
    their ids, so that equal states have equal snapshots.
    """
    ids, rest = snapshot_without_games(state, selected)
    games = (
        redact(game, selected.visibility)
        for id in ids
        if (game := state.game(id)) is not None
    )
    return replace(rest, games=tuple(games))


def snapshot_without_games(
    state: EventReader, selected: StreamFilter
) -> tuple[list[GameId], SnapshotMessage]:
    """Return the ids of a snapshot's games, in order, and the snapshot without them."""
    # The snapshot is built with all fields, and redacted only once, at the end.
    reader = FilteredReader(state, replace(selected, visibility=Visibility.ARBITER))
    by_id = attrgetter("id")
    players = tuple(sorted(reader.players(), key=by_id))
    gains = (
        (player.id, reader.gains(player.id)) for player in players if selected.gains
    )
    rest = SnapshotMessage(
        engine=reader.engine(),
        games=(),
        players=players,
        feeds=reader.feeds(),
        engines=reader.engines(),
        alerts=tuple(sorted(reader.alerts(), key=by_id)),
        moments=tuple(sorted(reader.moments(), key=by_id)),
        gains=tuple(PlayerGains(id, counts) for id, counts in gains if counts),
        engine_gains=reader.engine_gains() if selected.gains else (),
    )
    games = sorted(reader.games(), key=game_order)
    return [view.id for view in games], redact(rest, selected.visibility)


class FilteredReader:
    """An :class:`EventReader` limited to the games and the visibility of a filter."""

    def __init__(self, state: EventReader, selected: StreamFilter) -> None:
        self._state = state
        self._selected = selected

    def engine(self) -> EngineInfo:
        return self._redact(self._state.engine())

    def gain(self) -> GainKind:
        return self._state.gain()

    def games(self) -> Iterable[GameView]:
        return [
            self._redact(game)
            for game in self._state.games()
            if self._selected.has_game(game)
        ]

    def game(self, game: GameId) -> GameDetail | None:
        detail = self._state.game(game)
        return (
            self._redact(detail) if detail and self._selected.has_game(detail) else None
        )

    def players(self) -> Iterable[PlayerView]:
        players = self._state.players() if self._should_send(StandingMessage) else ()
        games = self._find_selected_games()
        if games is not None:
            ids = set(chain.from_iterable(map(self._state.player_ids, games)))
            players = (player for player in players if player.id in ids)
        return [self._redact(player) for player in players]

    def player_ids(self, game: GameId) -> Iterable[str]:
        games = self._find_selected_games()
        return self._state.player_ids(game) if games is None or game in games else ()

    def gains(self, player: str) -> GainCounts:
        return self._state.gains(player) if self._should_send(GainsMessage) else ()

    def engine_gains(self) -> GainCounts:
        return self._state.engine_gains() if self._should_send(GainsMessage) else ()

    def feeds(self) -> tuple[FeedHealth, ...]:
        return redact_sources(self._state.feeds(), self._selected.visibility)

    def engines(self) -> EngineHealth:
        return self._redact(self._state.engines())

    def alerts(self) -> Iterable[Alert]:
        """Return the alerts about selected games, and all alerts not about a game."""
        alerts = self._state.alerts() if self._should_send(AlertMessage) else ()
        games = self._find_selected_games()
        return [
            alert
            for alert in alerts
            if alert.game is None or games is None or alert.game in games
        ]

    def moments(self) -> Iterable[Moment]:
        moments = self._state.moments() if self._should_send(MomentMessage) else ()
        games = self._find_selected_games()
        return [
            self._redact(moment)
            for moment in moments
            if games is None or moment.game in games
        ]

    def _redact(self, value: Redactable) -> Redactable:
        return redact(value, self._selected.visibility)

    def _should_send(self, kind: type[Change]) -> bool:
        return should_send(kind, self._selected.visibility)

    def _find_selected_games(self) -> set[GameId] | None:
        """Return the ids of the games that the filter selects; None for all games."""
        if not self._selected.is_narrow:
            return None
        return {
            view.id for view in self._state.games() if self._selected.has_game(view)
        }
