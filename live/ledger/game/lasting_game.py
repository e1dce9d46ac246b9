"""A tracked game that can be put to rest and go on from there."""

from __future__ import annotations

from live.events import Curves
from live.ledger.game.archived_game import ArchivedDetails, ArchivedSide, ArchivedValues
from live.ledger.game.tracked_game import TrackedGame
from live.ledger.methods.game_methods import COLORS


class LastingGame(TrackedGame):
    """What it holds equals what a game holds that never rested."""

    def rest(self) -> tuple[ArchivedValues, ArchivedDetails]:
        """All that is known of it, as values. Searches that are open are not part of it."""
        curves = self._sides.curves
        white, black = (
            ArchivedSide.of(
                self._judgement.sides[color], curves.gains(color), curves.calibrated(color)
            )
            for color in COLORS
        )
        rest = ArchivedValues(self.game, self.view(), white, black, dict(self._priors.known))
        quick = self._evaluations.quick
        details = ArchivedDetails(
            plies=tuple(self._plies),
            curves=Curves(white=curves.points("white", 0), black=curves.points("black", 0)),
            full=self._evaluations.look(),
            quick=quick.look() if quick else None,
            judged=self._judgement.moves,
            given_up=dict(self._given_up),
        )
        return rest, details

    def resume(self, details: ArchivedDetails) -> None:
        """Know again what was known when it was put to rest; in what is pooled it still is.

        Raises:
            ValueError: that was of other moves.
        """
        for move in self.game.moves:
            self._evaluations.extend(move.uci)
        self._evaluations.learn(details.full)
        if self._evaluations.quick is not None and details.quick is not None:
            self._evaluations.quick.learn(details.quick)
        self._plies = list(details.plies)
        self._scored = sum(view.final for view in self._plies)
        self._judgement.resume(details.judged, self._evaluations)
        self._sides.resume(self._evaluations, details.curves)
        self._given_up = dict(details.given_up)
        self._shown = self.view()
