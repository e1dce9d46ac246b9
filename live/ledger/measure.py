"""What everybody of one event is measured with, and how figures are rounded."""

from __future__ import annotations

from typing import NamedTuple

from live.engine.asking import Asking
from live.events import GainKind
from live.ratings.calibration import Weigher

#: Decimals published: a hundredth of an Elo point, a millionth of a point of score. Figures are
#: rounded once, so that every subscriber adds the very same numbers.
ELO_DECIMALS = 2
SCORE_DECIMALS = 6


class Measure(NamedTuple):
    """The gain that feeds the curves, the calibration that fits engine, limit and gain, and how
    searches are asked for.
    """

    gain: GainKind
    weigher: Weigher | None = None
    asking: Asking = Asking()


def rounded(value: float | None, decimals: int) -> float | None:
    """``value`` as published; None stays None (unbounded or unknown)."""
    # Adding 0.0 turns -0.0, which JSON would show, into 0.0.
    return None if value is None else round(value, decimals) + 0.0
