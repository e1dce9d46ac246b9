"""What follows from one step or result: messages for subscribers, requests for engines."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from live.engine.search import Search
from live.events import Change, GameId
from live.human.question import HumanQuestion
from live.ledger.game_evaluations import GameEvaluations, RequestId, RequestKind

# --- outgoing messages --------------------------------------------------------------------------

# What follows from one step or result: messages for subscribers, requests for engines.


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


# --- open requests ------------------------------------------------------------------------------

# Which searches of one game are asked for and not yet answered.


class OpenRequests:
    """The open requests of one game; each is sent once, and again with another urgency."""

    def __init__(self, game: GameId, outgoing: OutgoingMessages) -> None:
        self._game = game
        self._outgoing = outgoing
        self._generation = 0
        self._open: dict[tuple[RequestKind, int], tuple[RequestId, Urgency]] = {}

    def __len__(self) -> int:
        """How many requests are open."""
        return len(self._open)

    @property
    def rating(self) -> bool:
        """Whether a figure waits for one of them; what says how hard a position is keeps no figure
        waiting.
        """
        return any(urgency != "spare" for _, urgency in self._open.values())

    def __contains__(self, request_id: RequestId) -> bool:
        known = self._open.get((request_id.kind, request_id.ply))
        return known is not None and known[0] == request_id

    def review(self, ply: int, urgency: Urgency, known: GameEvaluations) -> None:
        """Request whatever is missing at ``ply``."""
        if known.needs_position(ply):
            self._request("position", ply, urgency, known)
        if ply and known.needs_played(ply):
            self._request("played", ply, urgency, known)
        if known.needs_replies(ply):
            self._request("replies", ply, "spare", known)

    def _request(
        self, kind: RequestKind, ply: int, urgency: Urgency, known: GameEvaluations
    ) -> None:
        open_ = self._open.get((kind, ply))
        request_id = open_[0] if open_ else RequestId(self._game, ply, kind, self._generation)
        if open_ is None or open_[1] != urgency:
            self._open[kind, ply] = (request_id, urgency)
            self._outgoing.requests.append(
                SearchRequest(request_id, known.search(kind, ply), urgency)
            )

    def close(self, request_id: RequestId) -> bool:
        """Close the request; False for one that is not open, whose result is void."""
        if request_id not in self:
            return False
        del self._open[request_id.kind, request_id.ply]
        return True

    def drop_from(self, ply: int) -> None:
        """The plies from ``ply`` on are gone, and so are the requests for them."""
        self._generation += 1
        for key in [key for key in self._open if key[1] >= ply]:
            self._outgoing.dropped.append(self._open.pop(key)[0])
