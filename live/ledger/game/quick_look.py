"""A first, quick look at everything beside the full search, until that is done.

A gain compares two scores, so it is taken from one look alone: the full one as soon as that tells
it, the quick one until then. Where the full search is given up the quick one stands.
"""

from __future__ import annotations

from live.engine.search_options import SearchOptions
from live.events import GainKind
from live.ledger.game.game_evaluations import GameEvaluations, Tier


class QuickAndFull(GameEvaluations):
    """The full look, with a quick one beside it where there is to be one."""

    def __init__(
        self, start_fen: str, *, chess960: bool, asking: SearchOptions, gain: GainKind
    ) -> None:
        super().__init__(start_fen, chess960=chess960, asking=asking)
        self._gain = gain
        self.quick: GameEvaluations | None = None
        if asking.quick is not None:
            self.quick = GameEvaluations(
                start_fen, chess960=chess960, asking=asking, limit=asking.quick
            )

    def extend(self, uci: str) -> None:
        super().extend(uci)
        if self.quick is not None:
            self.quick.extend(uci)

    def truncate(self, ply: int) -> None:
        super().truncate(ply)
        if self.quick is not None:
            self.quick.truncate(ply)

    def tier(self, ply: int) -> Tier:
        """Which look tells the gain of ``ply``, or would."""
        if self.quick is None or self.gains(ply).of(self._gain) is not None:
            return "full"
        return "quick" if self.quick.gains(ply).of(self._gain) is not None else "full"

    def of(self, tier: Tier) -> GameEvaluations:
        """One look on its own; there must be one."""
        if tier == "full":
            return self
        assert self.quick is not None, "no quick look was asked for"
        return self.quick

    def at(self, ply: int) -> GameEvaluations:
        """The look that tells the gain of ``ply``."""
        return self.of(self.tier(ply))

    def told(self, ply: int) -> bool:
        """Whether the gain of ``ply`` is known, by any look, or can never be."""
        return self.tier(ply) == "quick" or (
            self.settled(ply, self._gain)
            and (self.quick is None or self.quick.settled(ply, self._gain))
        )
