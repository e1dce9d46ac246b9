"""Changes that wait to be sent together; a new one can replace an old one. Pure.

A move, a moment and the removal of a game are sent at once, after all waiting changes
of the same game, so that the order within a game is kept. All other changes wait for
the next tick. A later change replaces an earlier one if it overwrites everything that
the earlier one would have set; it is put **at the end** of the queue. Leaving out the
earlier change does not alter the final state; property tests check this with random
games.

Changes of different games, and changes that are not about a game (standings, engine,
health), affect different parts of a client's state, so they can come in any order.
"""

from collections.abc import Hashable

from live.messages.alerts import Alert
from live.messages.figures import PlayerView, PlyView
from live.messages.to_clients import (
    AlertMessage,
    Change,
    ClockMessage,
    GainsMessage,
    GoneMessage,
    MomentMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import GameId
from live.server.event_reader import game_of


class WaitingChanges:
    """The changes that wait for the next tick, by game.

    A change is left out only if a later one overwrites it. The size is limited: at most
    one change for each field of the state waits.
    """

    def __init__(self) -> None:
        self._by_game: dict[GameId | None, dict[Hashable, Change]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_game)

    def add(self, change: Change) -> list[Change]:
        """Add a change; return the changes to be sent now, in order (usually none)."""
        # Moments are few, so they are sent at once. They come after the game's header,
        # so that clients know the game.
        if isinstance(change, MoveMessage | GoneMessage | MomentMessage):
            return [*self.take_game(change.game), change]
        waiting = self._by_game.setdefault(game_of(change), {})
        key = find_coalescing_key(change)
        # The change must be at the end of the queue: a point of a curve makes clients
        # drop the later points of its colour.
        waiting.pop(key, None)
        waiting[key] = change
        return []

    def take_game(self, game: GameId) -> list[Change]:
        """Remove and return the changes of one game, in order."""
        return list(self._by_game.pop(game, {}).values())

    def take_all(self) -> list[Change]:
        """Remove and return all changes; the changes of one game are in order."""
        changes: list[Change] = []
        for waiting in self._by_game.values():
            changes += waiting.values()
        self._by_game.clear()
        return changes


def find_coalescing_key(change: Change) -> Hashable:
    """Return the key of a change: a later change of a game with the same key replaces
    an earlier one.
    """
    match change:
        case ScoreMessage(ply=PlyView(ply=at)) | ClockMessage(ply=at):
            return type(change), at
        case PointMessage(color=color, point=point):
            return PointMessage, color, point.ply
        case (
            AlertMessage(alert=Alert(id=id)) | StandingMessage(player=PlayerView(id=id))
        ):
            return type(change), id
        case GainsMessage(player=id, gain_cp=gain_cp):
            return GainsMessage, id, gain_cp
    return type(change)
