"""The changes that the event returns to its caller, in order."""

from collections.abc import Iterable

from live.engine.requests import SearchDropped, SearchRequest
from live.games.game import Step
from live.human.question import HumanRequest
from live.messages.figures import PlyView
from live.messages.to_clients import Change
from live.messages.values import GameId, Value


class GameChange(Value):
    """The moves of a game have changed from one ply on.

    The new moves are in the game's record. Messages to subscribers follow this change.
    """

    game: GameId
    from_ply: int
    """The first ply that differs."""
    withdrawn: tuple[PlyView, ...] = ()
    """The moves that the record had from this ply on before the change."""
    is_disputed: bool = False
    """Whether sources contradict each other about the game. Then the source with more
    moves is shown, and the withdrawn moves can be those of another source.
    """

    def join(self, later: "GameChange") -> "GameChange":
        """Return this change and a later one of the game as one change."""
        from_ply = min(self.from_ply, later.from_ply)
        # The moves that this change left in place and the later change withdrew.
        left_plies = self.from_ply - from_ply
        withdrawn = later.withdrawn[:left_plies] + self.withdrawn
        is_disputed = self.is_disputed or later.is_disputed
        return GameChange(self.game, from_ply, withdrawn, is_disputed)


class ReportedStep(Value):
    """A step of a report that was applied to a source's game, to be stored."""

    step: Step


EventChange = (
    ReportedStep | GameChange | SearchRequest | SearchDropped | HumanRequest | Change
)
"""A consequence of a report, a result or an answer. Each follower of the event selects
the kinds it needs.
"""

_INTERNAL = (ReportedStep, GameChange, SearchRequest, SearchDropped, HumanRequest)


def select_messages(changes: Iterable[EventChange]) -> list[Change]:
    """Return the changes that are messages to subscribers, in order."""
    return [change for change in changes if not isinstance(change, _INTERNAL)]
