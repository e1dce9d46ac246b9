"""The interface through which the server reads the state of the event.

:mod:`live.app` passes the event to the server as an object of this type. All methods
are synchronous and return the present state as immutable values. A change passed to
:meth:`live.server.audience.Audiences.publish` must already be part of the state.
Everything runs on one event loop and no method here awaits. So no change can happen
between reading a snapshot and reading its position in the stream.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from live.catalogue import find_event_name
from live.event.rate_game import COLORS
from live.games.rounds import RoundPlace, round_sort_key
from live.messages.alerts import Alert
from live.messages.figures import (
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    GameView,
    PlayerView,
    view_of,
)
from live.messages.health import EngineHealth, FeedHealth
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    MoveMessage,
    PointMessage,
)
from live.messages.values import GameId


class EventReader(Protocol):
    """The state of the event: everything that can be sent to a subscriber."""

    def engine(self) -> EngineInfo: ...

    def gain(self) -> GainKind: ...

    def games(self) -> Iterable[GameView]: ...

    def game(self, game: GameId) -> GameDetail | None: ...

    def players(self) -> Iterable[PlayerView]: ...

    def player_ids(self, game: GameId) -> Iterable[str]:
        """Return ``PlayerView.id`` of each player of a game.

        The result is empty if the game is unknown.
        """
        ...

    def gains(self, player: str) -> GainCounts:
        """Return all gains of a player over the event; empty if the player is unknown.

        ``player`` is a ``PlayerView.id``.
        """
        ...

    def engine_gains(self) -> GainCounts:
        """Return the gains of the engine itself, with which players are compared."""
        ...

    def feeds(self) -> tuple[FeedHealth, ...]: ...

    def engines(self) -> EngineHealth: ...

    def alerts(self) -> Iterable[Alert]:
        """Return all open alerts, in any order."""
        ...

    def moments(self) -> Iterable[Moment]:
        """Return all present moments, in any order."""
        ...


def game_order(view: GameView) -> tuple[str, RoundPlace, int, str]:
    """Return the sort key of a game: event, round, board and id.

    The event is :func:`find_event_name`. Rounds and boards are compared as numbers: 2
    comes before 10, and 2.9 before 2.10.
    """
    parts = round_sort_key(view.round, view.board)
    return (
        find_event_name(view),
        parts,
        view.board if view.board is not None else 1 << 30,
        view.id,
    )


def game_of(change: Change) -> GameId | None:
    """Return the id of the game that a change is about; None if it is not about one."""
    match change:
        case GameMessage(game=view):
            return view.id
        case AlertMessage(alert=alert):
            return alert.game
    game: GameId | None = getattr(change, "game", None)
    return game


def replay_game(detail: GameDetail) -> Iterator[Change]:
    """Yield messages with a whole game, for clients that do not have the game."""
    game = detail.id
    yield GameMessage(view_of(detail))
    yield from (MoveMessage(game, ply.ply, ply) for ply in detail.plies)
    for color in COLORS:
        yield from (
            PointMessage(game, color, point) for point in getattr(detail.curves, color)
        )
