"""Which searches of one game are asked for and not yet answered."""

from __future__ import annotations

from collections.abc import Iterable

from live.events import GameId
from live.ledger.game.game_evaluations import (
    GameEvaluations,
    QuickAndFull,
    RequestId,
    RequestKind,
    Tier,
)
from live.ledger.outgoing_messages import OutgoingMessages, SearchRequest, Urgency


class OpenRequests:
    """The open requests of one game; each is sent once, and again with another urgency."""

    def __init__(self, game: GameId, outgoing: OutgoingMessages) -> None:
        self._game = game
        self._outgoing = outgoing
        self._generation = 0
        self._open: dict[tuple[RequestKind, int, Tier], tuple[RequestId, Urgency]] = {}

    def __len__(self) -> int:
        """How many requests are open."""
        return len(self._open)

    @property
    def rating(self) -> bool:
        """Whether a figure waits for one of them; what is searched deeper, or to say how hard a
        position is, keeps no figure waiting.
        """
        return any(urgency not in ("deepen", "spare") for _, urgency in self._open.values())

    def __contains__(self, request_id: RequestId) -> bool:
        known = self._open.get((request_id.kind, request_id.ply, request_id.tier))
        return known is not None and known[0] == request_id

    def review(self, ply: int, urgency: Urgency, known: QuickAndFull) -> None:
        """Request whatever is missing at ``ply``; where a quick look comes first, the full search
        waits until engines have nothing else to do.
        """
        if known.quick is None:
            self._review(ply, urgency, known, "full")
        else:
            self._review(ply, urgency, known.quick, "quick")
            self._review(ply, "deepen", known, "full")

    def _review(self, ply: int, urgency: Urgency, look: GameEvaluations, tier: Tier) -> None:
        kinds: list[RequestKind] = []
        if look.needs_position(ply):
            kinds.append("position")
        if ply and look.needs_played(ply):
            kinds.append("played")
        self._request(kinds, ply, urgency, look, tier)
        if tier == "full" and look.needs_replies(ply):
            self._request(["replies"], ply, "spare", look, tier)

    def _request(
        self,
        kinds: Iterable[RequestKind],
        ply: int,
        urgency: Urgency,
        look: GameEvaluations,
        tier: Tier,
    ) -> None:
        for kind in kinds:
            open_ = self._open.get((kind, ply, tier))
            request_id = (
                open_[0] if open_ else RequestId(self._game, ply, kind, self._generation, tier)
            )
            if open_ is None or open_[1] != urgency:
                self._open[kind, ply, tier] = (request_id, urgency)
                self._outgoing.requests.append(
                    SearchRequest(request_id, look.search(kind, ply), urgency)
                )

    def close(self, request_id: RequestId) -> bool:
        """Close the request; False for one that is not open, whose result is void."""
        if request_id not in self:
            return False
        del self._open[request_id.kind, request_id.ply, request_id.tier]
        return True

    def drop_from(self, ply: int) -> None:
        """The plies from ``ply`` on are gone, and so are the requests for them."""
        self._generation += 1
        for key in [key for key in self._open if key[1] >= ply]:
            self._outgoing.dropped.append(self._open.pop(key)[0])
