"""Both players' Algorithm 4 curves of one game, and Algorithm 1 between them.

Gains enter in ply order for each colour, and leave from the end when moves are taken back, so
that a curve after any history equals the curve of the moves that stand.
"""

from __future__ import annotations

from typing import NamedTuple

from live.events import Color, CurvePoint, GainKind
from live.ratings.head_to_head import HeadToHead
from live.ratings.perceived import PerceivedRating

#: Decimals published: a hundredth of an Elo point, a millionth of a point of score. Figures are
#: rounded once, here, so that every subscriber adds the very same numbers.
ELO_DECIMALS = 2
SCORE_DECIMALS = 6


def rounded(value: float | None, decimals: int) -> float | None:
    """``value`` as published; None stays None (unbounded or unknown)."""
    # Adding 0.0 turns -0.0, which JSON would show, into 0.0.
    return None if value is None else round(value, decimals) + 0.0


class Applied(NamedTuple):
    """One gain that is in the histogram."""

    ply: int
    gain_cp: int
    point: CurvePoint


def rebase(point: CurvePoint, engine_rating: int) -> CurvePoint:
    """The same point against another engine rating: each rating is the sum, nothing else."""

    def shift(difference: float | None) -> float | None:
        return None if difference is None else engine_rating + difference

    return CurvePoint(
        ply=point.ply,
        n=point.n,
        gain_cp=point.gain_cp,
        expected_score=point.expected_score,
        difference=point.difference,
        difference_low=point.difference_low,
        difference_high=point.difference_high,
        rating=shift(point.difference),
        low=shift(point.difference_low),
        high=shift(point.difference_high),
        calibrated=point.calibrated,
        calibrated_low=point.calibrated_low,
        calibrated_high=point.calibrated_high,
    )


class GameCurves:
    """The two curves and the head-to-head of one game."""

    def __init__(self, gain: GainKind) -> None:
        self._ratings: dict[Color, PerceivedRating] = {
            "white": PerceivedRating(gain=gain),
            "black": PerceivedRating(gain=gain),
        }
        self._applied: dict[Color, list[Applied]] = {"white": [], "black": []}
        self.head_to_head = HeadToHead()

    def add(self, color: Color, ply: int, gain_cp: int, engine_rating: int) -> CurvePoint:
        """Append one gain; ``ply`` must lie after those already in this colour's curve."""
        applied = self._applied[color]
        if applied and applied[-1].ply >= ply:
            raise ValueError(f"ply {ply} does not follow ply {applied[-1].ply}")
        rating = self._ratings[color]
        rating.add(gain_cp)
        self.head_to_head.add(color, gain_cp)
        low, high = rating.interval()
        expected = rating.expected_score
        assert expected is not None  # a gain has just been added
        bare = CurvePoint(
            ply=ply,
            n=rating.n,
            gain_cp=gain_cp,
            expected_score=round(expected, SCORE_DECIMALS),
            difference=rounded(rating.difference, ELO_DECIMALS),
            difference_low=rounded(low, ELO_DECIMALS),
            difference_high=rounded(high, ELO_DECIMALS),
            rating=None,
            low=None,
            high=None,
        )
        point = rebase(bare, engine_rating)
        applied.append(Applied(ply, gain_cp, point))
        return point

    def rewind(self, color: Color, ply: int) -> list[int]:
        """Take back every gain of ``color`` at ``ply`` or later; returns them, latest first."""
        applied = self._applied[color]
        taken: list[int] = []
        while applied and applied[-1].ply >= ply:
            gain_cp = applied.pop().gain_cp
            self._ratings[color].remove(gain_cp)
            self.head_to_head.remove(color, gain_cp)
            taken.append(gain_cp)
        return taken

    def last_ply(self, color: Color) -> int:
        """The latest ply in this colour's curve, 0 when empty."""
        applied = self._applied[color]
        return applied[-1].ply if applied else 0

    def points(self, color: Color, engine_rating: int) -> tuple[CurvePoint, ...]:
        return tuple(rebase(applied.point, engine_rating) for applied in self._applied[color])

    def gains(self, color: Color) -> list[int]:
        """The gains in this colour's histogram, in ply order."""
        return [applied.gain_cp for applied in self._applied[color]]
