"""Changes that the event reports to its listeners, in order of occurrence."""

from collections.abc import Iterable

from live.messages.figures import PlyView
from live.messages.to_clients import Change
from live.messages.values import GameId, Value


class GameChange(Value):
    """The moves of a game have changed, from one ply on.

    The new moves are in the game's record; messages to subscribers follow.
    """

    game: GameId
    from_ply: int
    """The first ply that differs."""
    withdrawn: tuple[PlyView, ...] = ()
    """The moves that were in the record from this ply on before the change."""


EventChange = GameChange | Change


def select_messages(changes: Iterable[EventChange]) -> list[Change]:
    """Return the changes that are messages to subscribers, in order."""
    return [change for change in changes if not isinstance(change, GameChange)]
