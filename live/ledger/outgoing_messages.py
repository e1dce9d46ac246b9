"""What follows from one step or result: messages for subscribers, requests for engines."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from live.engine.search import Search
from live.events import Change, GameId
from live.human.question import HumanQuestion
from live.ledger.game.game_evaluations import RequestId

Urgency = Literal["head", "closing", "backlog", "finished", "spare"]
"""The newest position of a running game, the last of one that has just ended, the rest of a running
game, a game that was over; and what no rating waits for."""


class SearchRequest(msgspec.Struct, frozen=True):
    """A search that the ledger needs. The same id again changes the urgency."""

    id: RequestId
    search: Search
    urgency: Urgency


class HumanRequest(msgspec.Struct, frozen=True):
    """A question for the network of human moves; it is answered, or given up, once."""

    game: GameId
    ply: int
    """The position's index."""
    question: HumanQuestion
    newest: bool = False
    """The last position of a running game: people look at it."""


class Effects(NamedTuple):
    """What one call of the ledger leads to, each in the order it must be carried out."""

    changes: tuple[Change, ...] = ()
    """Messages that bring subscribers to the state after the call."""
    dropped: tuple[RequestId, ...] = ()
    """Requests whose results nobody needs any more; before ``requests``."""
    requests: tuple[SearchRequest, ...] = ()
    questions: tuple[HumanRequest, ...] = ()
    """For the network of human moves; after everything else."""


class OutgoingMessages:
    """Collects the effects of one call; all parts of the ledger share one."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.dropped: list[RequestId] = []
        self.requests: list[SearchRequest] = []
        self.questions: list[HumanRequest] = []

    def take(self) -> Effects:
        """All that was collected; nothing is held then."""
        effects = Effects(
            tuple(self.changes),
            tuple(self.dropped),
            tuple(self.requests),
            tuple(self.questions),
        )
        self.clear()
        return effects

    def clear(self) -> None:
        """Forget what was collected."""
        self.changes, self.dropped, self.requests, self.questions = [], [], [], []
