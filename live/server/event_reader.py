"""What the server reads from the event: the whole state, as frozen values.

The event is the writer; :mod:`live.app` hands it over in this shape. All calls are
synchronous and answer for *now*: a change given to
:meth:`live.server.server.Publisher.publish` must already be in the state. Since
everything runs on one loop and nothing here awaits, a snapshot and the position of its
stream are read at the same instant, so no change can fall between them.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from live.catalogue import main_event
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
    """Everything a subscriber can be sent."""

    def engine(self) -> EngineInfo: ...

    def gain(self) -> GainKind: ...

    def games(self) -> Iterable[GameView]: ...

    def game(self, game: GameId) -> GameDetail | None: ...

    def players(self) -> Iterable[PlayerView]: ...

    def player_ids(self, game: GameId) -> Iterable[str]:
        """Return ``PlayerView.id`` of those who play in ``game``; empty for an unknown
        game.
        """
        ...

    def gains(self, player: str) -> GainCounts:
        """Return all gains of a player over the event, by ``PlayerView.id``; empty for
        an unknown one.
        """
        ...

    def engine_gains(self) -> GainCounts:
        """Return the engine's own gains, which players are measured against."""
        ...

    def feeds(self) -> tuple[FeedHealth, ...]: ...

    def engines(self) -> EngineHealth: ...

    def alerts(self) -> Iterable[Alert]:
        """Return alerts that are not cleared, in any order."""
        ...

    def moments(self) -> Iterable[Moment]:
        """Return moments that stand, in any order."""
        ...


def game_order(view: GameView) -> tuple[str, RoundPlace, int, str]:
    """Return event (:func:`main_event`), round, board (2 before 10, 2.9 before 2.10)
    and id.
    """
    parts = round_sort_key(view.round, view.board)
    return (
        main_event(view),
        parts,
        view.board if view.board is not None else 1 << 30,
        view.id,
    )


def game_of(change: Change) -> GameId | None:
    """Return the game that a change is about; None where it is about none."""
    match change:
        case GameMessage(game=view):
            return view.id
        case AlertMessage(alert=alert):
            return alert.game
    game: GameId | None = getattr(change, "game", None)
    return game


def replay_game(detail: GameDetail) -> Iterator[Change]:
    """Yield the messages that build a game up at a client that does not hold it."""
    game = detail.id
    yield GameMessage(view_of(detail))
    yield from (MoveMessage(game, ply.ply, ply) for ply in detail.plies)
    for color in COLORS:
        yield from (
            PointMessage(game, color, point) for point in getattr(detail.curves, color)
        )
