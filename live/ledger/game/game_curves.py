"""Both players' curves of one game, and Algorithm 1 between them.

Gains enter in ply order for each colour, and leave from the end when moves are taken back, so
that a curve after any history equals the curve of the moves that stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from live.events import Color, CurvePoint, Curves, GainKind
from live.ledger.calibrations_in_use import (
    ELO_DECIMALS,
    SCORE_DECIMALS,
    FieldPriors,
    rounded,
)
from live.ledger.game.game_strength import GameStrength, PlayedTurn
from live.ratings.calibration.calibrated_rating import CalibratedRating, OwnRating
from live.ratings.calibration.calibration_choice import CalibrationChoice
from live.ratings.calibration.move_evidence import Population
from live.ratings.ferreira.algorithm_1 import Algorithm1
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.ferreira.engine_distribution import EngineDistribution, SpikeAtZero
from live.ratings.strength.agreement import ChoiceModel
from live.ratings.strength.loss_model import LossReader
from live.ratings.strength.percentile import Surprise


class AppliedGain(NamedTuple):
    """One gain that is in the histogram."""

    ply: int
    gain_cp: int
    score_before_cp: int
    previous_gain_cp: int | None
    point: CurvePoint
    counted: int = 0
    """Turns that count beside what others lose, up to this one."""
    over: bool = False


class PlayerCurve:
    """One player's gains in one game, with a point after each."""

    def __init__(
        self,
        gain: GainKind,
        choice: CalibrationChoice,
        elo: int | None,
        priors: FieldPriors,
        reader: LossReader | None = None,
        forecast: ChoiceModel | None = None,
        engine_gains: EngineDistribution = SpikeAtZero(),  # noqa: B008 - without state
    ) -> None:
        self.rating = Algorithm4(gain=gain, engine=engine_gains)
        self._choice = choice
        self._priors = priors
        self.calibrated = self._unrated()
        # The same moves seen from the player's own rating: how far above or below it they are.
        self._own = None if elo is None else OwnRating(elo)
        self.strength = (
            GameStrength(reader, elo, self._prior, forecast) if reader is not None else None
        )
        self.applied: list[AppliedGain] = []

    def _unrated(self) -> CalibratedRating | None:
        weigher = self._choice.weigher
        return CalibratedRating(weigher) if weigher else None

    def _prior(self) -> Population:
        calibration = self._choice.calibration
        return self._priors.of(calibration) if calibration else _NOBODY_KNOWN

    def add(
        self,
        ply: int,
        gain_cp: int,
        score_before_cp: int,
        played: PlayedTurn | None = None,
        opponent: Sequence[Surprise] = (),
    ) -> CurvePoint:
        """Append one gain; ``score_before_cp`` is from the mover's side, ``opponent`` how the other
        side has fared.

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
        counted, over = self._count(played), played is not None and played.over
        if self.strength is not None and counted:
            figures = self.strength.figures(counted, opponent, over=over)
            point = msgspec.structs.replace(point, **figures)
        self.applied.append(
            AppliedGain(ply, gain_cp, score_before_cp, previous, point, counted, over)
        )
        return point

    def _count(self, played: PlayedTurn | None) -> int:
        if self.strength is None:
            return 0
        if played is not None:
            self.strength.add(played.turn, played.match, played.human)
        return len(self.strength.turns)

    def resume(self, points: Sequence[tuple[CurvePoint, int, PlayedTurn | None]]) -> None:
        """Go on behind points that were made before, each with ``score_before_cp``."""
        for point, score_before_cp, played in points:
            last = self.applied[-1] if self.applied else None
            previous = last.gain_cp if last is not None and last.ply == point.ply - 2 else None
            self.rating.add(point.gain_cp)
            if self.calibrated is not None:
                self.calibrated.add(point.gain_cp, score_before_cp, point.ply, previous)
            over = played is not None and played.over
            held = AppliedGain(
                point.ply,
                point.gain_cp,
                score_before_cp,
                previous,
                point,
                self._count(played),
                over,
            )
            self.applied.append(held)

    def rewind(self, ply: int) -> list[AppliedGain]:
        """Take back every gain at ``ply`` or later; returns them, latest first."""
        taken: list[AppliedGain] = []
        while self.applied and self.applied[-1].ply >= ply:
            last = self.applied.pop()
            self.rating.remove(last.gain_cp)
            if self.calibrated is not None:
                self.calibrated.remove(
                    last.gain_cp, last.score_before_cp, last.ply, last.previous_gain_cp
                )
            taken.append(last)
        if taken and self.strength is not None:
            self.strength.truncate(self.applied[-1].counted if self.applied else 0)
        return taken

    def reread(self, opponent: Sequence[Surprise]) -> bool:
        """The field has changed: every point's figures that rest on it anew. Returns whether there
        are any. ``opponent`` is how the other side has fared, by the new field.
        """
        again = self._unrated()
        if again is None or not self.applied:
            return False
        for index, held in enumerate(self.applied):
            again.add(held.gain_cp, held.score_before_cp, held.ply, held.previous_gain_cp)
            figures = self._calibrated_figures(again)
            if self.strength is not None and held.counted:
                figures |= self.strength.level(held.counted)
                rank = self.strength.percentile(held.counted, opponent, over=held.over)
                figures["percentile"] = rank
            self.applied[index] = held._replace(
                point=msgspec.structs.replace(held.point, **figures)
            )
        return True

    def mend(self, index: int, opponent: Sequence[Surprise], *, over: bool) -> bool:
        """Put right what the opponent's moves, or the end of the game, say of one point; returns
        whether it is another now.
        """
        held = self.applied[index]
        strength = self.strength
        if strength is None or not held.counted:
            return False
        if over != held.over:
            figures = strength.figures(held.counted, opponent, over=over)
        else:
            figures = {"percentile": strength.percentile(held.counted, opponent, over=over)}
        point = msgspec.structs.replace(held.point, **figures)
        self.applied[index] = held._replace(point=point, over=over)
        return point != held.point

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


#: A field of which nothing is known.
_NOBODY_KNOWN = Population(2000.0, 400.0)


class GameCurves:
    """The two curves and the head-to-head of one game."""

    def __init__(
        self,
        gain: GainKind,
        choice: CalibrationChoice,
        elo: dict[Color, int | None],
        priors: FieldPriors,
        reader: LossReader | None = None,
        forecast: ChoiceModel | None = None,
        engine_gains: EngineDistribution = SpikeAtZero(),  # noqa: B008 - without state
    ) -> None:
        self._curves = {
            color: PlayerCurve(gain, choice, known, priors, reader, forecast, engine_gains)
            for color, known in elo.items()
        }
        # From which ply on a side's moves have changed since the other side was put right.
        self._changed: dict[Color, int] = {}
        self.head_to_head = Algorithm1()

    def add(
        self,
        color: Color,
        ply: int,
        gain_cp: int,
        score_before_cp: int,
        played: PlayedTurn | None = None,
    ) -> CurvePoint:
        """Append one gain of ``color``; ``score_before_cp`` is from the mover's side."""
        point = self._curves[color].add(
            ply, gain_cp, score_before_cp, played, self._surprises(_other(color))
        )
        self._changed[color] = min(ply, self._changed.get(color, ply))
        self.head_to_head.add(color, gain_cp)
        return point

    def _surprises(self, color: Color) -> Sequence[Surprise]:
        strength = self._curves[color].strength
        return strength.surprises if strength is not None else ()

    def strength(self, color: Color) -> GameStrength | None:
        """The turns of ``color``; None where no model holds."""
        return self._curves[color].strength

    def mend(self, plies: int, *, ended: bool) -> list[tuple[Color, CurvePoint]]:
        """Put right what later news of the other side, or of the end, says of points; those that
        are others now. The game has ``plies`` plies.
        """
        changed: list[tuple[Color, CurvePoint]] = []
        for color, curve in self._curves.items():
            first = self._changed.get(_other(color))
            opponent = self._surprises(_other(color))
            earliest = len(curve.applied)
            for index in range(len(curve.applied) - 1, -1, -1):
                held = curve.applied[index]
                over = ended and held.ply >= plies - 1
                affected = first is not None and held.ply > first
                if not affected and over == held.over:
                    break
                if curve.mend(index, opponent, over=over):
                    earliest = index
            # A point's message drops those behind it, so these follow again.
            changed += [(color, held.point) for held in curve.applied[earliest:]]
        self._changed.clear()
        return changed

    def resume(
        self, color: Color, points: Sequence[tuple[CurvePoint, int, PlayedTurn | None]]
    ) -> None:
        """Go on behind points that were made before, each with the score before the move."""
        self._curves[color].resume(points)
        for point, *_ in points:
            self.head_to_head.add(color, point.gain_cp)

    def rewind(self, color: Color, ply: int) -> list[int]:
        """Take back every gain of ``color`` at ``ply`` or later; returns them, latest first."""
        taken = self._curves[color].rewind(ply)
        if taken:
            self._changed[color] = taken[-1].ply
        for held in taken:
            self.head_to_head.remove(color, held.gain_cp)
        return [held.gain_cp for held in taken]

    def reread(self) -> Curves:
        """The field has changed: the curves anew; one is empty where nothing of it is calibrated.

        What was to be expected of a player without a rating goes by the field, and the percentile
        of the other one by how that player has fared.
        """
        for color in self._curves:
            if (strength := self.strength(color)) is not None:
                strength.reread()
        found: dict[Color, tuple[CurvePoint, ...]] = {
            color: self.points(color) if curve.reread(self._surprises(_other(color))) else ()
            for color, curve in self._curves.items()
        }
        return Curves(white=found["white"], black=found["black"])

    def last(self, color: Color) -> CurvePoint | None:
        """The latest point of ``color``."""
        applied = self._curves[color].applied
        return applied[-1].point if applied else None

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


def points_of(curves: Curves, color: Color) -> tuple[CurvePoint, ...]:
    """One side's curve."""
    return curves.white if color == "white" else curves.black


def _other(color: Color) -> Color:
    return "black" if color == "white" else "white"
