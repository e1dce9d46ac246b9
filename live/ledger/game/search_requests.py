"""Which searches of one game have been asked for and not yet answered."""

from __future__ import annotations

from live.events import GameId
from live.ledger.game.game_evaluations import GameEvaluations, RequestId, RequestKind, Tier
from live.ledger.game.quick_look import QuickAndFull
from live.ledger.outbox import Outbox, SearchRequest, Urgency


class OpenRequests:
    """The open questions of one game; each is asked once, and told again when more urgent."""

    def __init__(self, game: GameId) -> None:
        self._game = game
        self._generation = 0
        self._open: dict[tuple[RequestKind, int, Tier], tuple[RequestId, Urgency]] = {}

    def __len__(self) -> int:
        """Searches asked for and not yet answered."""
        return len(self._open)

    def __contains__(self, ask: RequestId) -> bool:
        known = self._open.get((ask.kind, ask.ply, ask.tier))
        return known is not None and known[0] == ask

    def review(self, ply: int, urgency: Urgency, known: QuickAndFull, out: Outbox) -> None:
        """Ask for whatever is missing at ``ply``; where a quick look comes first, the full search
        waits until engines have nothing else to do.
        """
        if known.quick is None:
            self._review(ply, urgency, known, "full", out)
        else:
            self._review(ply, urgency, known.quick, "quick", out)
            self._review(ply, "deepen", known, "full", out)

    def _review(
        self, ply: int, urgency: Urgency, look: GameEvaluations, tier: Tier, out: Outbox
    ) -> None:
        kinds: list[RequestKind] = []
        if look.needs_position(ply):
            kinds.append("position")
        if ply and look.needs_played(ply):
            kinds.append("played")
        for kind in kinds:
            open_ = self._open.get((kind, ply, tier))
            ask = open_[0] if open_ else RequestId(self._game, ply, kind, self._generation, tier)
            if open_ is None or open_[1] != urgency:
                self._open[kind, ply, tier] = (ask, urgency)
                out.wishes.append(SearchRequest(ask, look.search(kind, ply), urgency))

    def answered(self, ask: RequestId) -> bool:
        """Close the question; False for one that is no longer asked, whose answer is void."""
        if ask not in self:
            return False
        del self._open[ask.kind, ask.ply, ask.tier]
        return True

    def drop_from(self, ply: int, out: Outbox) -> None:
        """The plies from ``ply`` on are gone, and so are the questions about them."""
        self._generation += 1
        for key in [key for key in self._open if key[1] >= ply]:
            out.dropped.append(self._open.pop(key)[0])
