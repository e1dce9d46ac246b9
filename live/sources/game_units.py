"""Units of the clocks and evaluations of a game: hours or minutes, pawns or centipawns.
No I/O.

A single comment can be ambiguous. ``59:01`` is 59 hours on a DGT clock, but 59 minutes
if the writer omits hours that have been used up. ``23,14`` is a score at depth 14, in
pawns or in centipawns. So each unit is decided once for a whole game, from its other
clocks, its time control and its other evaluations. Values that fit no unit are removed,
and a note for people says so.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from live.messages.from_sources import MATE_CP, GameReport, Move, Score
from live.sources.comment_commands import Unsure

#: Greatest time on a clock in a game over the board, seconds; only correspondence games
#: have more.
MOST_CLOCK_S = 10 * 3600
#: Greatest time at the start of a game if clocks show hours and minutes, seconds.
_MOST_SHORT_S = 4 * 3600
#: Greatest time that a clock gains at once, at a time control, seconds.
MOST_ADDED_S = 2 * 3600
#: Time that a clock can show in addition to the first period in the header, seconds.
_OVER_BASE_S = 3600
#: Limits on evaluations written without a fraction, in pawns: in the whole game, and in
#: the first _OPENING_PLIES plies. Only mate scores are greater.
_MOST_PAWNS, _MOST_OPENING_PAWNS, _OPENING_PLIES = 100, 10, 20

#: A time control in PGN's own form. A first number of at least ``_LEAST_SECONDS`` is in
#: seconds, because it is too large for minutes.
_SECONDS = re.compile(r"\*?(?:\d{1,3}/)?(\d{3,6})(?:[+:]|\Z)")
_LEAST_SECONDS = 151

AS_MINUTES = "clocks read as minutes and seconds"
AS_CENTIPAWNS = "evaluations read as centipawns"
LEFT_OUT = "impossible clocks left out"


def read_start_clock_s(time_control: str) -> float | None:
    """Return the seconds on a clock at the start of the game; None if the header's unit
    is unclear.
    """
    match = _SECONDS.match(time_control)
    return float(match[1]) if match and int(match[1]) >= _LEAST_SECONDS else None


class BareClock(NamedTuple):
    """A comment that consists only of a time, as ICC writes clocks."""

    ply: int
    clock_s: float
    is_short: bool
    """Whether the time has two parts, such as ``59:01``."""


class GameUnits:
    """Collector of the ambiguous values of a game; :meth:`resolve_units` decides on
    them.
    """

    def __init__(self) -> None:
        self._short: list[int] = []
        """Plies whose clock has two parts and was read as hours and minutes."""
        self._has_minutes = False
        """Whether any clock can only be in minutes and seconds."""
        self._bare: list[BareClock] = []
        self._whole: dict[int, int] = {}
        """Evaluations written without a fraction, by ply, as the number that was
        written.
        """
        self._has_depths = False

    def record_ambiguous_units(self, ply: int, unsure: Unsure) -> None:
        """Record the ambiguities of a comment; ``ply`` is 0 before the first move."""
        if unsure.is_short and ply:
            self._short.append(ply)
        self._has_minutes |= unsure.is_minutes
        if unsure.whole_pawns is not None:
            self._whole[ply] = unsure.whole_pawns
            self._has_depths |= unsure.has_depth

    def record_bare_clock(self, clock: BareClock) -> None:
        """Record a comment that consists only of a time."""
        self._bare.append(clock)

    def resolve_units(
        self, moves: list[Move], start: Score | None, base_s: float | None
    ) -> tuple[Score | None, list[str]]:
        """Correct the units in ``moves``. Return the corrected evaluation before the
        first move, and messages for people.

        ``start`` is that evaluation as it was read. ``base_s`` is the time on a clock
        at the start of the game, seconds, if known.
        """
        notes: list[str] = []
        if self._bare and self._is_bare_time_remaining(base_s):
            self._apply_bare_clocks(moves)
        if self._short and (self._has_minutes or not self._may_be_hours(moves, base_s)):
            for ply in self._short:
                clock_s = moves[ply - 1].clock_s or 0.0
                moves[ply - 1] = replace(moves[ply - 1], clock_s=clock_s / 60)
            notes.append(AS_MINUTES)
        if self._is_eval_in_centipawns([start, *(move.eval for move in moves)]):
            for ply, number in self._whole.items():
                if ply:
                    moves[ply - 1] = replace(moves[ply - 1], eval=_clamp_score(number))
                else:
                    start = _clamp_score(number)
            notes.append(AS_CENTIPAWNS)
        return start, notes

    def _is_eval_in_centipawns(self, scores: Sequence[Score | None]) -> bool:
        """Return whether the evaluations, given by ply, are in centipawns. Programs
        that write pawns write fractions.
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
        # Greatest time that each side's clock can show. A clock with three parts is
        # unambiguous.
        most_s = [start_s, start_s]
        for ply, move in enumerate(moves, 1):
            if move.clock_s is None:
                continue
            if ply not in short:
                most_s[ply % 2] = move.clock_s + MOST_ADDED_S
            elif move.clock_s > most_s[ply % 2]:
                return False
        return True

    def _is_bare_time_remaining(self, base_s: float | None) -> bool:
        """Return whether comments that consist only of a time show clocks, and not the
        time spent: clocks mostly fall.
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
    """Remove clocks above :data:`MOST_CLOCK_S` whose neighbours are below it. Return
    whether any was removed.
    """
    dropped = False
    for side in (0, 1):
        clocked = [
            index
            for index in range(side, len(moves), 2)
            if moves[index].clock_s is not None
        ]
        shown_s = [moves[index].clock_s or 0.0 for index in clocked]
        for place, index in enumerate(clocked):
            adjacent_s = (
                shown_s[max(0, place - 1) : place] + shown_s[place + 1 : place + 2]
            )
            if (
                shown_s[place] > MOST_CLOCK_S
                and adjacent_s
                and max(adjacent_s) <= MOST_CLOCK_S
            ):
                moves[index] = replace(moves[index], clock_s=None)
                dropped = True
    return dropped


def apply_clock_tags(
    report: GameReport, tags_s: tuple[float | None, float | None]
) -> GameReport:
    """Return the report with the clocks from its tags (White's first) on each side's
    last move.

    The tag is used if the move has no clock. Otherwise the tag is used only if it shows
    more than the move, as when the time of the next period has been added, but less
    than the side's greatest clock so far. Tags can be misleading: the clock of the side
    to move is running, and some programs write the time at the start.
    """
    if tags_s == (None, None):
        return report
    moves = list(report.moves)
    black_began = " b " in report.start_fen
    for side, tag_s in enumerate(tags_s):
        of_side = range((side + black_began) % 2, len(moves), 2)
        if tag_s is None or not of_side:
            continue
        last = moves[of_side[-1]]
        most_s = max((moves[index].clock_s or 0.0 for index in of_side), default=0.0)
        if last.clock_s is None or last.clock_s < tag_s < most_s:
            moves[of_side[-1]] = replace(last, clock_s=tag_s)
    return replace(report, moves=tuple(moves))
