"""What the clocks and evaluations of one game count: hours or minutes, pawns or
centipawns. Pure.

One comment does not tell. ``59:01`` is 59 hours on a DGT clock and 59 minutes for a
writer who leaves out the hour once it is used up; ``23,14`` is a depth of 14 and a
score that its writer counted in pawns or in centipawns. So a unit is decided once, for
all of a game, by its other clocks, its time control and its other evaluations. What
fits no unit is left out, and it is said.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from live.messages.from_sources import MATE_CP, GameReport, Move, Score
from live.sources.comment_commands import Unsure

#: No clock over the board shows more, seconds; only correspondence does.
MOST_CLOCK_S = 10 * 3600
#: Nobody begins with more on a clock of hours and minutes, seconds.
_MOST_SHORT_S = 4 * 3600
#: The most that a clock gains at once, at a time control, seconds.
MOST_ADDED_S = 2 * 3600
#: What a clock may show beyond the header's first period, seconds.
_OVER_BASE_S = 3600
#: Evaluations of so many pawns are not written without a fraction, but for mates; and
#: nobody is so far ahead in the opening.
_MOST_PAWNS, _MOST_OPENING_PAWNS, _OPENING_PLIES = 100, 10, 20

#: PGN's own form, in seconds: so large a number counts no minutes.
_SECONDS = re.compile(r"\*?(?:\d{1,3}/)?(\d{3,6})(?:[+:]|\Z)")
_LEAST_SECONDS = 151

AS_MINUTES = "clocks read as minutes and seconds"
AS_CENTIPAWNS = "evaluations read as centipawns"
LEFT_OUT = "impossible clocks left out"


def read_start_clock_s(time_control: str) -> float | None:
    """Return what a clock shows at the start; None where the header's unit is not
    plain.
    """
    found = _SECONDS.match(time_control)
    return float(found[1]) if found and int(found[1]) >= _LEAST_SECONDS else None


class BareClock(NamedTuple):
    """A comment that is nothing but a time, as ICC writes clocks."""

    ply: int
    clock_s: float
    is_short: bool
    """It has two parts."""


class GameUnits:
    """Collects what may mean two things while a game is read; :meth:`resolve_units`
    decides.
    """

    def __init__(self) -> None:
        self._short: list[int] = []
        """Plies whose clock has two parts, read as hours and minutes."""
        self._has_minutes = False
        """Some clock can only be minutes and seconds."""
        self._bare: list[BareClock] = []
        self._whole: dict[int, int] = {}
        """Evaluations without a fraction by ply, as they were written."""
        self._has_depths = False

    def note_unsure(self, ply: int, unsure: Unsure) -> None:
        """Take down what a comment leaves open; ``ply`` is 0 before the first move."""
        if unsure.is_short and ply:
            self._short.append(ply)
        self._has_minutes |= unsure.is_minutes
        if unsure.whole_pawns is not None:
            self._whole[ply] = unsure.whole_pawns
            self._has_depths |= unsure.has_depth

    def note_bare_clock(self, clock: BareClock) -> None:
        """Take down a comment that is nothing but a time."""
        self._bare.append(clock)

    def resolve_units(
        self, moves: list[Move], start: Score | None, base_s: float | None
    ) -> tuple[Score | None, list[str]]:
        """Put right the moves; return the evaluation before the first one, and what
        people should know, each thing once.

        ``start``: that evaluation as it was read. ``base_s``: what a clock shows at the
        start, where that is known.
        """
        notes: list[str] = []
        if self._bare and self._are_clocks(base_s):
            self._apply_bare_clocks(moves)
        if self._short and (self._has_minutes or not self._may_be_hours(moves, base_s)):
            for ply in self._short:
                clock_s = moves[ply - 1].clock_s or 0.0
                moves[ply - 1] = replace(moves[ply - 1], clock_s=clock_s / 60)
            notes.append(AS_MINUTES)
        if self._are_centipawns([start, *(move.eval for move in moves)]):
            for ply, number in self._whole.items():
                if ply:
                    moves[ply - 1] = replace(moves[ply - 1], eval=_clamp_score(number))
                else:
                    start = _clamp_score(number)
            notes.append(AS_CENTIPAWNS)
        return start, notes

    def _are_centipawns(self, scores: Sequence[Score | None]) -> bool:
        """Return whether the evaluations, by ply, count centipawns. Who writes pawns
        writes fractions.
        """
        if not any(self._whole.values()):
            return False
        for ply, score in enumerate(scores):
            if score is not None and score.mate is None and ply not in self._whole:
                return False
        return self._has_depths or any(
            abs(number)
            >= (_MOST_OPENING_PAWNS if ply <= _OPENING_PLIES else _MOST_PAWNS)
            for ply, number in self._whole.items()
        )

    def _may_be_hours(self, moves: Sequence[Move], base_s: float | None) -> bool:
        start_s = _MOST_SHORT_S if base_s is None else base_s + _OVER_BASE_S
        short = {*self._short}
        # By side, what its clock may show; one with three parts tells.
        most_s = [start_s, start_s]
        for ply, move in enumerate(moves, 1):
            if move.clock_s is None:
                continue
            if ply not in short:
                most_s[ply % 2] = move.clock_s + MOST_ADDED_S
            elif move.clock_s > most_s[ply % 2]:
                return False
        return True

    def _are_clocks(self, base_s: float | None) -> bool:
        """Return whether bare times are clocks, which fall, rather than times spent,
        which do both.
        """
        first_s = self._bare[0].clock_s / (60 if self._bare[0].is_short else 1)
        if base_s is not None:
            return base_s / 2 <= first_s <= base_s + _OVER_BASE_S
        steps = [
            after.clock_s - before.clock_s
            for before, after in zip(self._bare, self._bare[2:], strict=False)
            if before.is_short == after.is_short
        ]
        rises = sum(step > 0 for step in steps)
        return 3 * rises <= len(steps) and (
            len(steps) > 0 or not self._bare[0].is_short
        )

    def _apply_bare_clocks(self, moves: list[Move]) -> None:
        for ply, clock_s, is_short in self._bare:
            if moves[ply - 1].clock_s is None:
                moves[ply - 1] = replace(moves[ply - 1], clock_s=clock_s)
                if is_short:
                    self._short.append(ply)
        self._short.sort()


def _clamp_score(number: int) -> Score:
    return Score(max(-MATE_CP, min(MATE_CP, number)))


def drop_impossible_clocks(moves: list[Move]) -> bool:
    """Leave out clocks of more than ten hours between others of less; return whether
    any was.
    """
    dropped = False
    for side in (0, 1):
        clocked = [
            at for at in range(side, len(moves), 2) if moves[at].clock_s is not None
        ]
        shown_s = [moves[at].clock_s or 0.0 for at in clocked]
        for place, at in enumerate(clocked):
            beside_s = (
                shown_s[max(0, place - 1) : place] + shown_s[place + 1 : place + 2]
            )
            if (
                shown_s[place] > MOST_CLOCK_S
                and beside_s
                and max(beside_s) <= MOST_CLOCK_S
            ):
                moves[at] = replace(moves[at], clock_s=None)
                dropped = True
    return dropped


def apply_clock_tags(
    report: GameReport, tags_s: tuple[float | None, float | None]
) -> GameReport:
    """Return the report with the clocks that the tags say, White's first, on each
    side's last move.

    A tag fills in a clock that is missing. Where there is one, the tag counts only if
    it shows more, as when the time of the next period was added, though no more than
    the side ever had: what runs down in a tag is the clock of who is thinking, and some
    write the time at the start there.
    """
    if tags_s == (None, None):
        return report
    told = list(report.moves)
    black_began = " b " in report.start_fen
    for side, tag_s in enumerate(tags_s):
        of_side = range((side + black_began) % 2, len(told), 2)
        if tag_s is None or not of_side:
            continue
        last = told[of_side[-1]]
        most_s = max((told[at].clock_s or 0.0 for at in of_side), default=0.0)
        if last.clock_s is None or last.clock_s < tag_s < most_s:
            told[of_side[-1]] = replace(last, clock_s=tag_s)
    return replace(report, moves=tuple(told))
