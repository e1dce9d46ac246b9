"""Changes that the event reports to those who follow it, in order of occurrence."""

from collections.abc import Iterable

from live.event.requests import SearchDropped, SearchRequest
from live.human.question import HumanRequest
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
    is_disputed: bool = False
    """Whether sources contradict each other about the game. Then the one with more
    moves is shown, and the withdrawn moves can be those of another source.
    """

    def join(self, later: "GameChange") -> "GameChange":
        """Return this change and a later one of the game as one change."""
        from_ply = min(self.from_ply, later.from_ply)
        # What this change has left in place, and the later one has not.
        left_plies = self.from_ply - from_ply
        withdrawn = later.withdrawn[:left_plies] + self.withdrawn
        is_disputed = self.is_disputed or later.is_disputed
        return GameChange(self.game, from_ply, withdrawn, is_disputed)


EventChange = GameChange | SearchRequest | SearchDropped | HumanRequest | Change
"""What a report, a result or an answer has led to. Those who follow the event pick the
kinds that concern them.
"""

_INTERNAL = (GameChange, SearchRequest, SearchDropped, HumanRequest)


def select_messages(changes: Iterable[EventChange]) -> list[Change]:
    """Return the changes that are messages to subscribers, in order."""
    return [change for change in changes if not isinstance(change, _INTERNAL)]
