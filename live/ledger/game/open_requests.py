"""Which searches of one game are asked for and not yet answered."""

from __future__ import annotations

from live.events import GameId
from live.ledger.game.game_evaluations import GameEvaluations, RequestId, RequestKind
from live.ledger.outgoing_messages import OutgoingMessages, SearchRequest, Urgency


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
