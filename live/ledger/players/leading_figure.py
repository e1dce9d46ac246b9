"""Which figure of a player stands first on a screen, and in which order players are listed. Pure.

Where the Elo is known, the level leads while these moves say enough of it, else the percentile;
where it is not, the level by the field, else the Elo of the moves alone. Algorithm 4 leads nowhere
unless it is asked for: its scale is its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import msgspec

from live.events import CurvePoint, EngineInfo, FigureChoice, PlayerView

FigureKind = Literal["level", "percentile", "alone", "performance", "algorithm4"]
FigureScale = Literal["level", "alone", "algorithm4"]
"""What a column can be drawn on."""
CurveScale = FigureScale | Literal["percentile"]
"""What a curve can be drawn on."""
CHOICES: tuple[FigureChoice, ...] = get_args(FigureChoice)

#: The least share of the level that these moves must carry for it to lead.
LEAST_SHARE = 0.15
#: With fewer counted moves nobody has a place.
LEAST_MOVES = 5


#: With fewer counted moves a percentile still jumps about.
SETTLED_MOVES = 15


class Figure(msgspec.Struct, frozen=True):
    """One figure with its 95 % interval; ``value`` is null where it is unbounded."""

    kind: FigureKind
    value: float | None
    low: float | None = None
    high: float | None = None
    share: float | None = None
    """Of a level: how much of it comes from these moves, 0 to 1; null where nobody says."""

    @property
    def is_elo(self) -> bool:
        """Whether this level is the Elo: one game says nothing beyond it."""
        if self.kind != "level" or self.low is None or self.high is None:
            return False
        return self.high - self.low < 1


def is_early(found: Figure, moves: int) -> bool:
    """Whether a percentile rests on too few moves to say more than that."""
    return found.kind == "percentile" and moves < SETTLED_MOVES


def percentile_figure(value: float | None) -> str:
    """A percentile in whole points; nobody is better than all."""
    return "–" if value is None else f"{min(value, 99.0):.0f}"


def figure(held: CurvePoint | PlayerView, kind: FigureKind) -> Figure | None:
    """This figure of a point or of a player over the event; None where there is none."""
    share = None
    found: tuple[float | None, float | None, float | None]
    match kind:
        case "level":
            found, share = (held.level, held.level_low, held.level_high), held.level_share
            if found == (None, None, None):
                # Services of before sent the posterior over the field under this name.
                found, share = (held.calibrated, held.calibrated_low, held.calibrated_high), None
        case "percentile":
            found = held.percentile, None, None
        case "alone":
            found = held.alone, held.alone_low, held.alone_high
        case "performance":
            if not isinstance(held, PlayerView):
                return None
            found = held.performance, held.performance_low, held.performance_high
        case "algorithm4":
            found = held.rating, held.low, held.high
    value, low, high = found
    if low is None and high is None and (kind != "percentile" or value is None):
        return None  # nothing bounds it on either side: nothing is known
    return Figure(kind, value, low, high, share)


def leading(
    held: CurvePoint | PlayerView, elo: int | None, choice: FigureChoice = "auto"
) -> tuple[Figure | None, Figure | None]:
    """The large figure, and the one beneath it."""
    level, percentile, alone = (
        figure(held, "level"),
        figure(held, "percentile"),
        figure(held, "alone"),
    )
    says_enough = level is not None and (level.share is None or level.share >= LEAST_SHARE)
    if choice != "auto":
        wanted = figure(held, choice)
        others = (alone,) if choice in ("level", "percentile") else (level, percentile)
        beneath = (percentile if choice == "level" else level, *others)
        if choice == "algorithm4":
            beneath = ()
        return wanted, next((each for each in beneath if each is not None), None)
    if elo is None:
        pair = (level, alone) if says_enough else (alone, level)
        return pair if pair[0] is not None else (pair[1], None)
    if says_enough:
        return level, percentile or alone
    counted = held.moves if isinstance(held, PlayerView) else held.n
    if percentile is None and counted >= LEAST_MOVES:
        return (level, alone) if level is not None else (alone, None)
    return percentile, level or alone


def scale_of(
    found: Iterable[CurvePoint | PlayerView], choice: FigureChoice = "auto"
) -> FigureScale:
    """What columns and curves of these show: the level where anybody has one, else the moves
    alone, else Algorithm 4 under its own name.
    """
    if choice in ("alone", "algorithm4"):
        return "alone" if choice == "alone" else "algorithm4"
    best: FigureScale = "algorithm4"
    for each in found:
        if figure(each, "level") is not None or each.percentile is not None:
            return "level"
        if figure(each, "alone") is not None:
            best = "alone"
    return best


def curve_scale_of(points: Sequence[CurvePoint], choice: FigureChoice = "auto") -> CurveScale:
    """What curves show: as :func:`scale_of`, but where levels are nothing but the Elo, what leads
    instead of them.
    """
    scale = scale_of(points, choice)
    levels = [figure(point, "level") for point in points]
    flat = all(level is None or level.is_elo for level in levels)
    if scale == "level" and (choice == "percentile" or (choice == "auto" and flat)):
        others: tuple[CurveScale, ...] = ("percentile", "alone")
        for other in others:
            if any(figure(point, other) is not None for point in points):
                return other
    return scale


def is_transferred(engine: EngineInfo, note: str = "") -> bool:
    """Whether the calibration was learned on another engine; ``note`` is that of the game."""
    # A note may also say why nothing is transferred: then there is no calibration.
    return engine.calibration is not None and (
        "transferred" in f"{engine.calibration_note} {note}".lower()
    )


class Standing(msgspec.Struct, frozen=True):
    """A player's place in a ranking."""

    view: PlayerView
    figure: Figure | None
    place: int | None
    """1 + how many are certainly better: their interval lies above this one's. None: too little
    is known."""
    tied: bool = False
    """Others have the same place."""

    @property
    def text(self) -> str:
        """``3``, ``3=``, or nothing."""
        return "" if self.place is None else f"{self.place}{'=' if self.tied else ''}"


def ranked_by(views: Sequence[PlayerView], choice: FigureChoice = "auto") -> FigureKind:
    """The figure that players are ranked by: one scale for all. Algorithm 4 where there is
    nothing else.
    """
    if choice != "auto":
        return choice
    kinds: tuple[FigureKind, ...] = ("performance", "level", "alone", "algorithm4")
    for kind in kinds:
        if any(figure(view, kind) is not None for view in views):
            return kind
    return "level"


def standings(views: Sequence[PlayerView], choice: FigureChoice = "auto") -> list[Standing]:
    """Everybody by what is known: first who may be best, and among these the surest first."""
    kind = ranked_by(views, choice)
    known: list[tuple[PlayerView, Figure, float, float]] = []
    unknown: list[Standing] = []
    for view in views:
        found = figure(view, kind)
        if found is None or view.moves < LEAST_MOVES:
            unknown.append(Standing(view, found, None))
        else:
            known.append((view, found, *_ends(found)))
    lows = sorted(low for _, _, low, _ in known)
    places = [1 + len(lows) - bisect_right(lows, high) for _, _, _, high in known]
    held = Counter(places)
    order = sorted(
        range(len(known)), key=lambda at: (places[at], -known[at][2], known[at][0].name, at)
    )
    unknown.sort(key=lambda standing: (standing.view.name, standing.view.id))
    return [
        Standing(known[at][0], known[at][1], places[at], held[places[at]] > 1) for at in order
    ] + unknown


def _ends(found: Figure) -> tuple[float, float]:
    if found.kind == "percentile" and found.value is not None:
        return found.value, found.value
    low = float("-inf") if found.low is None else found.low
    return low, float("inf") if found.high is None else found.high
