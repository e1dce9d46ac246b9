"""Both players' curves of one game, and Algorithm 1 between them.

Gains enter in ply order for each colour, and leave from the end when moves are taken back, so
that a curve after any history equals the curve of the moves that stand.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from live.events import Color, CurvePoint
from live.ledger.measure import ELO_DECIMALS, SCORE_DECIMALS, Measure, rounded
from live.ratings.calibrated import CalibratedRating, OwnRating
from live.ratings.head_to_head import HeadToHead
from live.ratings.perceived import PerceivedRating


class Applied(NamedTuple):
    """One gain that is in the histogram."""

    ply: int
    gain_cp: int
    score_before_cp: int
    previous_gain_cp: int | None
    point: CurvePoint


def rebase(point: CurvePoint, engine_rating: int) -> CurvePoint:
    """The same point against another engine rating: each rating is the sum, nothing else."""

    def shift(difference: float | None) -> float | None:
        return None if difference is None else engine_rating + difference

    return msgspec.structs.replace(
        point,
        rating=shift(point.difference),
        low=shift(point.difference_low),
        high=shift(point.difference_high),
    )


class PlayerCurve:
    """One player's gains in one game, with a point after each."""

    def __init__(self, measure: Measure, elo: int | None) -> None:
        self.rating = PerceivedRating(gain=measure.gain)
        weigher = measure.weigher
        self.calibrated = CalibratedRating(weigher) if weigher else None
        # The same moves seen from the player's own rating: how far above or below it they are.
        self._form = CalibratedRating(weigher, OwnRating(elo)) if weigher and elo else None
        self.applied: list[Applied] = []

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
        for calibrated in (self.calibrated, self._form):
            if calibrated is not None:
                calibrated.add(gain_cp, score_before_cp, ply, previous)
        point = self._point(ply, gain_cp)
        self.applied.append(Applied(ply, gain_cp, score_before_cp, previous, point))
        return point

    def pop(self) -> int:
        """Take back the last gain and return it."""
        last = self.applied.pop()
        self.rating.remove(last.gain_cp)
        for calibrated in (self.calibrated, self._form):
            if calibrated is not None:
                calibrated.remove(
                    last.gain_cp, last.score_before_cp, last.ply, last.previous_gain_cp
                )
        return last.gain_cp

    def _point(self, ply: int, gain_cp: int) -> CurvePoint:
        low, high = self.rating.interval()
        expected = self.rating.expected_score
        assert expected is not None  # a gain has just been added
        calibrated = self.calibrated.posterior if self.calibrated else None
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
            calibrated=rounded(calibrated.mean, ELO_DECIMALS) if calibrated else None,
            calibrated_low=rounded(calibrated.interval[0], ELO_DECIMALS) if calibrated else None,
            calibrated_high=rounded(calibrated.interval[1], ELO_DECIMALS) if calibrated else None,
            form=rounded(self._form.form, ELO_DECIMALS) if self._form else None,
        )


class GameCurves:
    """The two curves and the head-to-head of one game."""

    def __init__(self, measure: Measure, elo: dict[Color, int | None]) -> None:
        self._curves = {color: PlayerCurve(measure, known) for color, known in elo.items()}
        self.head_to_head = HeadToHead()

    def add(
        self, color: Color, ply: int, gain_cp: int, score_before_cp: int, engine_rating: int
    ) -> CurvePoint:
        """Append one gain of ``color``; ``score_before_cp`` is from the mover's side."""
        point = self._curves[color].add(ply, gain_cp, score_before_cp)
        self.head_to_head.add(color, gain_cp)
        return rebase(point, engine_rating)

    def rewind(self, color: Color, ply: int) -> list[int]:
        """Take back every gain of ``color`` at ``ply`` or later; returns them, latest first."""
        curve = self._curves[color]
        taken: list[int] = []
        while curve.applied and curve.applied[-1].ply >= ply:
            taken.append(curve.pop())
            self.head_to_head.remove(color, taken[-1])
        return taken

    def last_ply(self, color: Color) -> int:
        """The latest ply in this colour's curve, 0 when empty."""
        applied = self._curves[color].applied
        return applied[-1].ply if applied else 0

    def points(self, color: Color, engine_rating: int) -> tuple[CurvePoint, ...]:
        return tuple(rebase(each.point, engine_rating) for each in self._curves[color].applied)

    def gains(self, color: Color) -> list[int]:
        """The gains in this colour's histogram, in ply order."""
        return [applied.gain_cp for applied in self._curves[color].applied]

    def mean_gain_cp(self, color: Color) -> float | None:
        """Mean of the gains in this colour's histogram."""
        return self._curves[color].rating.histogram.mean

    def calibrated(self, color: Color) -> CalibratedRating | None:
        """The calibrated rating of ``color``; None where no calibration fits."""
        return self._curves[color].calibrated
