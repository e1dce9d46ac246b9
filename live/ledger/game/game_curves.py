"""Both players' curves of one game, and Algorithm 1 between them.

Gains enter in ply order for each colour, and leave from the end when moves are taken back, so
that a curve after any history equals the curve of the moves that stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from live.events import Color, CurvePoint, Curves, GainKind
from live.games.game import Game
from live.ledger.game.game_evaluations import QuickAndFull
from live.ledger.measure import (
    ELO_DECIMALS,
    SCORE_DECIMALS,
    FieldPriors,
    Measure,
    choice_of,
    rounded,
)
from live.ledger.methods.game_methods import COLORS, GameMethodsState
from live.ledger.outbox import Outbox
from live.ledger.players.player_totals import PlayerTotals
from live.ratings.calibration.calibrated_rating import CalibratedRating, OwnRating
from live.ratings.calibration.calibration_choice import CalibrationChoice
from live.ratings.ferreira.algorithm_1 import Algorithm1
from live.ratings.ferreira.algorithm_4 import Algorithm4


class AppliedGain(NamedTuple):
    """One gain that is in the histogram."""

    ply: int
    gain_cp: int
    score_before_cp: int
    previous_gain_cp: int | None
    point: CurvePoint


class PlayerCurve:
    """One player's gains in one game, with a point after each."""

    def __init__(
        self, gain: GainKind, choice: CalibrationChoice, elo: int | None, priors: FieldPriors
    ) -> None:
        self.rating = Algorithm4(gain=gain)
        self._choice = choice
        self._priors = priors
        self.calibrated = self._unrated()
        # The same moves seen from the player's own rating: how far above or below it they are.
        self._own = OwnRating(elo) if elo else None
        self.applied: list[AppliedGain] = []

    def _unrated(self) -> CalibratedRating | None:
        weigher = self._choice.weigher
        return CalibratedRating(weigher) if weigher else None

    def add(self, ply: int, gain_cp: int, score_before_cp: int) -> CurvePoint:
        """Append one gain; ``score_before_cp`` is from the mover's side.

        Raises:
            ValueError: ``ply`` does not lie after those already in the curve.
        """
        last = self.applied[-1] if self.applied else None
        if last is not None and last.ply >= ply:
            raise ValueError(f"ply {ply} does not follow ply {last.ply}")
        previous = last.gain_cp if last is not None and last.ply == ply - 2 else None
        self.rating.add(gain_cp)
        if self.calibrated is not None:
            self.calibrated.add(gain_cp, score_before_cp, ply, previous)
        point = self._point(ply, gain_cp)
        self.applied.append(AppliedGain(ply, gain_cp, score_before_cp, previous, point))
        return point

    def resume(self, points: Sequence[tuple[CurvePoint, int]]) -> None:
        """Go on behind points that were made before, each with ``score_before_cp``."""
        for point, score_before_cp in points:
            last = self.applied[-1] if self.applied else None
            previous = last.gain_cp if last is not None and last.ply == point.ply - 2 else None
            self.rating.add(point.gain_cp)
            if self.calibrated is not None:
                self.calibrated.add(point.gain_cp, score_before_cp, point.ply, previous)
            held = AppliedGain(point.ply, point.gain_cp, score_before_cp, previous, point)
            self.applied.append(held)

    def pop(self) -> int:
        """Take back the last gain and return it."""
        last = self.applied.pop()
        self.rating.remove(last.gain_cp)
        if self.calibrated is not None:
            self.calibrated.remove(
                last.gain_cp, last.score_before_cp, last.ply, last.previous_gain_cp
            )
        return last.gain_cp

    def reread(self) -> bool:
        """The field has changed: every point's calibrated figures anew. Returns whether there are
        any.
        """
        again = self._unrated()
        if again is None or not self.applied:
            return False
        for index, held in enumerate(self.applied):
            again.add(held.gain_cp, held.score_before_cp, held.ply, held.previous_gain_cp)
            point = msgspec.structs.replace(held.point, **self._calibrated_figures(again))
            self.applied[index] = held._replace(point=point)
        return True

    def _point(self, ply: int, gain_cp: int) -> CurvePoint:
        low, high = self.rating.interval()
        expected = self.rating.expected_score
        assert expected is not None  # a gain has just been added
        return CurvePoint(
            ply=ply,
            n=self.rating.n,
            gain_cp=gain_cp,
            expected_score=round(expected, SCORE_DECIMALS),
            difference=rounded(self.rating.difference, ELO_DECIMALS),
            difference_low=rounded(low, ELO_DECIMALS),
            difference_high=rounded(high, ELO_DECIMALS),
            rating=None,
            low=None,
            high=None,
            **(self._calibrated_figures(self.calibrated) if self.calibrated else {}),
        )

    def _calibrated_figures(self, rating: CalibratedRating) -> dict[str, float | None]:
        belief = rating.posterior_from(self._priors.of(rating.calibration))
        low, high = belief.interval
        form = rating.posterior_from(self._own).mean - self._own.elo if self._own else None
        return {
            "calibrated": rounded(belief.mean, ELO_DECIMALS),
            "calibrated_low": rounded(low, ELO_DECIMALS),
            "calibrated_high": rounded(high, ELO_DECIMALS),
            "form": rounded(form, ELO_DECIMALS),
        }


class GameCurves:
    """The two curves and the head-to-head of one game."""

    def __init__(
        self,
        gain: GainKind,
        choice: CalibrationChoice,
        elo: dict[Color, int | None],
        priors: FieldPriors,
    ) -> None:
        self._curves = {
            color: PlayerCurve(gain, choice, known, priors) for color, known in elo.items()
        }
        self.head_to_head = Algorithm1()

    def add(self, color: Color, ply: int, gain_cp: int, score_before_cp: int) -> CurvePoint:
        """Append one gain of ``color``; ``score_before_cp`` is from the mover's side."""
        point = self._curves[color].add(ply, gain_cp, score_before_cp)
        self.head_to_head.add(color, gain_cp)
        return point

    def resume(self, color: Color, points: Sequence[tuple[CurvePoint, int]]) -> None:
        """Go on behind points that were made before, each with the score before the move."""
        self._curves[color].resume(points)
        for point, _ in points:
            self.head_to_head.add(color, point.gain_cp)

    def rewind(self, color: Color, ply: int) -> list[int]:
        """Take back every gain of ``color`` at ``ply`` or later; returns them, latest first."""
        curve = self._curves[color]
        taken: list[int] = []
        while curve.applied and curve.applied[-1].ply >= ply:
            taken.append(curve.pop())
            self.head_to_head.remove(color, taken[-1])
        return taken

    def reread(self, color: Color) -> tuple[CurvePoint, ...]:
        """The field has changed: the curve anew; empty where nothing of it is calibrated."""
        return self.points(color) if self._curves[color].reread() else ()

    def last_ply(self, color: Color) -> int:
        """The latest ply in this colour's curve, 0 when empty."""
        applied = self._curves[color].applied
        return applied[-1].ply if applied else 0

    def points(self, color: Color) -> tuple[CurvePoint, ...]:
        return tuple(each.point for each in self._curves[color].applied)

    def gains(self, color: Color) -> list[int]:
        """The gains in this colour's histogram, in ply order."""
        return [applied.gain_cp for applied in self._curves[color].applied]

    def mean_gain_cp(self, color: Color) -> float | None:
        """Mean of the gains in this colour's histogram."""
        return self._curves[color].rating.histogram.mean

    def calibrated(self, color: Color) -> CalibratedRating | None:
        """The calibrated rating of ``color``; None where no calibration fits."""
        return self._curves[color].calibrated


class RatedSides:
    """Gains enter in ply order for each colour, whatever the order they become known in; one that
    came from a quick look is corrected when the full search gives another.
    """

    def __init__(
        self,
        game: Game,
        tallies: dict[Color, PlayerTotals],
        game_methods: GameMethodsState,
        measure: Measure,
        priors: FieldPriors,
        outbox: Outbox,
    ) -> None:
        self._outbox = outbox
        self.tallies = tallies
        self._id = game.id
        self._measure = measure
        self.choice = choice = choice_of(measure, game)
        self._rated_as = elos_of(game)
        self.curves = GameCurves(measure.gain, choice, self._rated_as, priors)
        # Plies whose gain in the curves is a quick look's.
        self._quick_plies: set[int] = set()
        self.enter(game)
        for color, tally in tallies.items():
            tally.rated(game.id, choice, self.curves.calibrated(color))
            tally.judged(game.id, game_methods.sides[color])

    def enter(self, game: Game) -> None:
        """Tell the pooled players what the game says of them now."""
        self.tallies["white"].enter(game.id, game.headers.white)
        self.tallies["black"].enter(game.id, game.headers.black)

    def serves(self, game: Game, tallies: dict[Color, PlayerTotals]) -> bool:
        """Whether these are still the same players, rated the same and by the same calibration."""
        same = tallies == self.tallies and elos_of(game) == self._rated_as
        return same and choice_of(self._measure, game) == self.choice

    def reread(self) -> None:
        """The field has changed, and with it every calibrated figure."""
        for color in COLORS:
            for point in self.curves.reread(color):
                self._outbox.add_point(self._id, color, point)

    def resume(self, known: QuickAndFull, curves: Curves) -> None:
        """Go on behind these points; in what is pooled their gains are already."""
        for color in COLORS:
            held: list[tuple[CurvePoint, int]] = []
            for point in curves.white if color == "white" else curves.black:
                look = known.at(point.ply)
                before = look.position(point.ply - 1)
                assert before is not None  # it had a gain
                held.append((point, before.score.cp if color == "white" else -before.score.cp))
                if look is not known:
                    self._quick_plies.add(point.ply)
            self.curves.resume(color, held)

    def leave(self) -> None:
        """Nothing of the game stays in what is pooled."""
        self.rewind(1)
        for tally in self.tallies.values():
            tally.leave(self._id)

    def rewind(self, ply: int) -> None:
        """Take back every gain at ``ply`` or later."""
        self._quick_plies = {at for at in self._quick_plies if at < ply}
        for color in COLORS:
            self._rewind(color, ply)

    def _rewind(self, color: Color, ply: int) -> None:
        for gain_cp in self.curves.rewind(color, ply):
            self.tallies[color].remove(self._id, gain_cp)

    def revise(self, known: QuickAndFull, ply: int) -> None:
        """The full search of ``ply`` may have given another gain than the quick look: then it and
        all that follow leave the curve, to be put back by :meth:`advance`.
        """
        if ply in self._quick_plies and known.tier(ply) == "full":
            self._quick_plies -= {*range(ply, len(known) + 1, 2)}
            self._rewind(known.mover(ply), ply)

    def advance(self, known: QuickAndFull) -> None:
        """Put every known gain that is next in ply order into its curve."""
        for color in COLORS:
            first = 1 if known.mover(1) == color else 2
            last = self.curves.last_ply(color)
            for ply in range(last + 2 if last else first, len(known) + 1, 2):
                if not known.is_settled(ply):
                    break
                self._add(known, color, ply)

    def _add(self, known: QuickAndFull, color: Color, ply: int) -> None:
        look = known.at(ply)
        gain_cp = look.gains(ply).of(self._measure.gain)
        if gain_cp is None:
            return  # given up: this ply has no gain, the later ones still count
        before = look.position(ply - 1)
        assert before is not None  # else the ply would have no gain
        if look is not known:
            self._quick_plies.add(ply)
        score_before_cp = before.score.cp if color == "white" else -before.score.cp
        point = self.curves.add(color, ply, gain_cp, score_before_cp)
        self.tallies[color].add(self._id, gain_cp)
        self._outbox.add_point(self._id, color, point)


def elos_of(game: Game) -> dict[Color, int | None]:
    """The players' own ratings."""
    return {"white": game.headers.white.elo, "black": game.headers.black.elo}
