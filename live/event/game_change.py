"""What listeners of the event are told, in the order in which it happened."""

from collections.abc import Iterable

from live.messages.figures import PlyView
from live.messages.to_clients import Change
from live.messages.values import GameId, Value


class GameChange(Value):
    """The moves of a game have changed, from one ply on.

    The new ones stand in its record; messages to subscribers follow.
    """

    game: GameId
    from_ply: int
    """The first ply that differs."""
    withdrawn: tuple[PlyView, ...] = ()
    """The moves that stood from this ply on."""


EventChange = GameChange | Change


def select_messages(changes: Iterable[EventChange]) -> list[Change]:
    """Return the changes that are messages to subscribers, in their order."""
    return [change for change in changes if not isinstance(change, GameChange)]
