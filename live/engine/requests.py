"""Requests of games for engine searches, and the priority of these searches."""

from typing import Literal

from live.engine.move_forecast import ForecastPolicy, rank_speculation
from live.engine.search import Search
from live.engine.search_queue import SearchKind, SearchPriority
from live.messages.values import GameId, Value

RequestKind = Literal["position", "played", "replies"]

Urgency = Literal["head", "closing", "backlog", "finished", "spare"]
"""Priority of a search, the most urgent first.

``head``: the newest two positions of a running game. ``closing``: a position of a game
that has just ended. ``backlog``: all other positions of a running game. ``finished``: a
position of a game that had ended before it was reported. ``spare``: a search that no
rating waits for.
"""


_SEARCH_KINDS: dict[Urgency, SearchKind] = {
    "head": SearchKind.HEAD,
    "closing": SearchKind.CLOSING,
    "backlog": SearchKind.BACKLOG,
    "finished": SearchKind.FINISHED,
    # Searches ahead of the players' moves have the same kind, so their results are
    # shared.
    "spare": SearchKind.SPECULATE,
}
_SPARE_RANK = rank_speculation(ForecastPolicy().scout)


class RequestId(Value, gc=False):
    """Identity of a request. The result is returned with it."""

    game: GameId
    ply: int
    """For the kinds ``position`` and ``replies``, the index of the position; for
    ``played``, the ply of the move.
    """
    kind: RequestKind
    generation: int
    """Number of times that moves of the game were taken back before this request.
    Results of older requests are dropped.
    """


def build_priority(request_id: RequestId, urgency: Urgency) -> SearchPriority:
    """Return the priority of a request's search among all searches."""
    rank = _SPARE_RANK if urgency == "spare" else 0
    kind = _SEARCH_KINDS[urgency]
    return SearchPriority(kind, request_id.game, request_id.ply, rank)


class SearchRequest(Value):
    """A search that a game needs. A second request with the same id changes the
    urgency.
    """

    id: RequestId
    search: Search
    urgency: Urgency


class SearchDropped(Value):
    """The result of a requested search is no longer needed."""

    id: RequestId
