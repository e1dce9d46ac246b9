"""Which figure of a player stands first on a screen, and in which order players are listed. Pure.

The perceived rating leads unless Algorithm 4 is asked for, whose scale is its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import get_args

import msgspec

from live.events import CurvePoint, FigureChoice, PlayerView

CHOICES: tuple[FigureChoice, ...] = get_args(FigureChoice)


class Figure(msgspec.Struct, frozen=True):
    """One figure with what stands beside it, Elo; ``value`` is null where it is unbounded."""

    kind: FigureChoice
    value: float | None
    low: float | None = None
    """What is usual for the own rating; of Algorithm 4 its 95 % interval."""
    high: float | None = None


def figure(
    held: CurvePoint | PlayerView, kind: FigureChoice, engine_rating: int = 0
) -> Figure | None:
    """This figure of a point or of a player over the event; None where there is none."""
    if kind == "perceived":
        if held.perceived is None:
            return None
        return Figure(kind, held.perceived, held.usual_low, held.usual_high)
    if held.score is None:
        return None
    ends = (held.difference, held.difference_low, held.difference_high)
    return Figure(kind, *(None if end is None else engine_rating + end for end in ends))


class Standing(msgspec.Struct, frozen=True):
    """A player's place in a ranking; numbers count as they are read, in whole Elo."""

    view: PlayerView
    figure: Figure | None
    place: int | None
    """1 + how many are higher; None where nothing is known."""
    tied: bool = False
    """Others have the same number."""

    @property
    def text(self) -> str:
        """``3``, ``3=``, or nothing."""
        return "" if self.place is None else f"{self.place}{'=' if self.tied else ''}"


def standings(
    views: Sequence[PlayerView], choice: FigureChoice = "perceived", engine_rating: int = 0
) -> list[Standing]:
    """Everybody, the highest figure first; those without one last, by name."""
    found = [(view, figure(view, choice, engine_rating)) for view in views]
    known = [
        (view, each, round(each.value)) for view, each in found if each and each.value is not None
    ]
    known.sort(key=lambda one: (-one[2], one[0].name, one[0].id))
    values = [value for _, _, value in known]
    held = Counter(values)
    ranked = [
        Standing(view, each, 1 + values.index(value), held[value] > 1)
        for view, each, value in known
    ]
    unknown = [(view, each) for view, each in found if each is None or each.value is None]
    unknown.sort(key=lambda one: (one[0].name, one[0].id))
    return ranked + [Standing(view, each, None) for view, each in unknown]
