"""What a game asks for: searches of the engines, questions to the network of human
moves; and the outbox that everything leaves by.
"""

from __future__ import annotations

from copy import copy
from typing import Literal

import msgspec

from live.engine.look_ahead import ForecastPolicy, rank_speculation
from live.engine.search import Search
from live.engine.search_queue import SearchKind, SearchPriority
from live.event.game_change import EventChange
from live.human.question import HumanRequest
from live.messages.values import GameId, Value

RequestKind = Literal["position", "played", "replies"]

Urgency = Literal["head", "closing", "backlog", "finished", "spare"]
"""The newest position of a running game, the last of one that has just ended, the rest
of a running game, a game that was over; and what no rating waits for.
"""


_SEARCH_KINDS: dict[Urgency, SearchKind] = {
    "head": SearchKind.HEAD,
    "closing": SearchKind.CLOSING,
    "backlog": SearchKind.BACKLOG,
    "finished": SearchKind.FINISHED,
    # As looking ahead asks for the same scouts, so that they cost nothing there.
    "spare": SearchKind.SPECULATE,
}
_SPARE_RANK = rank_speculation(ForecastPolicy().scout)


class RequestId(Value, gc=False):
    """Which request this is: the result comes back with it."""

    game: GameId
    ply: int
    """The position's index (of ``position`` and ``replies``), or the ply of the move
    played.
    """
    kind: RequestKind
    generation: int
    """Counts the changes of the game's past: the result of an older request is dropped.
    """


def build_priority(request_id: RequestId, urgency: Urgency) -> SearchPriority:
    """Return before which other searches the engines make that of a request."""
    rank = _SPARE_RANK if urgency == "spare" else 0
    kind = _SEARCH_KINDS[urgency]
    return SearchPriority(kind, request_id.game, request_id.ply, rank)


class SearchRequest(Value):
    """A search that a game needs. The same id again changes the urgency."""

    id: RequestId
    search: Search
    urgency: Urgency


class Outbox(msgspec.Struct):
    """Collects what follows from one report or answer, in the order in which it must be
    carried out; all games of the event share one.
    """

    dropped: list[RequestId] = []
    """Requests whose results nobody needs any more."""
    requests: list[SearchRequest] = []
    changes: list[EventChange] = []
    """What brings listeners to the present state."""
    questions: list[HumanRequest] = []
    """For the network of human moves."""

    def clear(self) -> None:
        """Drop everything collected."""
        self.dropped, self.requests, self.changes, self.questions = [], [], [], []

    def take(self) -> Outbox:
        """Return everything collected, and hold nothing."""
        taken = copy(self)
        self.clear()
        return taken
