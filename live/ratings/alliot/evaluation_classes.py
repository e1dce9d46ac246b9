"""Classes of evaluation, the states of the Markov predictor (Alliot 2017, sections 3.4, 4.4.1)."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import msgspec
import numpy as np
import numpy.typing as npt

from live.events import MATE_CP


class EvaluationClasses(msgspec.Struct, frozen=True):
    """Evaluations from the mover's side, cut into classes from lost to won."""

    lower_cp: tuple[int, ...]
    """The least evaluation of each class but the first, ascending."""

    def __post_init__(self) -> None:
        if not self.lower_cp or list(self.lower_cp) != sorted(set(self.lower_cp)):
            raise ValueError(f"classes have ascending bounds, not {self.lower_cp}")

    def __len__(self) -> int:
        return len(self.lower_cp) + 1

    def of(self, score_cp: int) -> int:
        """Index of the class of an evaluation. Raises ValueError for what is no score."""
        if isinstance(score_cp, bool) or not isinstance(score_cp, int) or abs(score_cp) > MATE_CP:
            raise ValueError(f"score {score_cp!r} is not a whole number within ±{MATE_CP} cp")
        return bisect_right(self.lower_cp, score_cp)

    @property
    def level(self) -> npt.NDArray[np.float64]:
        """Where a game starts: the middle, shape (classes,); halves where two classes meet."""
        n = len(self)
        found = np.zeros(n)
        found[(n - 1) // 2] += 0.5
        found[n // 2] += 0.5
        return found


#: Ten classes of 0.4 pawn in [-2, 2], the outer ones open (section 3.4, Tables 2 and 3). Zero is
#: where the two middle ones meet, and belongs to the upper one, from the mover's side.
TEN = EvaluationClasses(tuple(range(-160, 161, 40)))

#: Widths of the classes from zero outwards to two pawns, centipawns. The paper says that they
#: grow logarithmically, scaled by ``f = (e^(-v/100) - e^-2) / (1 - e^-2)``, from 10 cp to 50 cp
#: (section 4.4.1). Eight equal steps of v put the edges at 200·f, which makes 8.9, 11.4, 14.7,
#: 18.8, 24.2, 31.0, 39.8 and 51.2 cp. These are the whole centipawns next to that with the ends
#: the paper names.
NINETEEN_WIDTHS_CP = (10, 12, 15, 19, 24, 31, 39, 50)

_EDGES = tuple(accumulate(NINETEEN_WIDTHS_CP))

#: Zero alone, both ends alone (two pawns and more), eight on either side (section 4.4.1). An edge
#: belongs to the class further out, so that Black's classes mirror White's.
NINETEEN = EvaluationClasses((*(1 - edge for edge in reversed(_EDGES)), 0, 1, *_EDGES))
