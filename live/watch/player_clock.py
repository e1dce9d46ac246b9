"""One player's clock: what it has shown, and what is odd about it. Pure.

Measured over the board (336 games of an open with ``90+30``, clocks at every move): a
clock shows the very same second after three own moves in a row in no game but those
whose clock was not connected, and rises by up to 35 s more than the increment where the
board was read a little late.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

#: Own moves in a row with the same second on the clock that are too many: in a slow
#: game, and in a fast one, where a move in no time is nothing strange.
STILL_MOVES = 4
STILL_MOVES_FAST = 10
#: Own moves in a row in no time, after each of which the clock rose by the increment.
FREE_MOVES = 6
FREE_MOVES_FAST = 20
#: A game that begins with less is a fast one, seconds.
FAST_S = 600.0
#: A clock may be read this late: a share of the first clock, between these bounds,
#: seconds.
LATE_SHARE, LATE_LEAST_S, LATE_MOST_S = 1 / 60, 5.0, 60.0
#: Own moves at which time controls end, give or take one: the clock may gain a whole
#: period.
CONTROLS = (30, 35, 36, 40, 45, 50, 56, 60, 80)
#: No period is shorter, seconds: a smaller gain is an increment or a penalty.
LEAST_PERIOD_S = 300.0
#: With less left than this, seconds, the next period may begin at once: some clocks
#: count no moves.
NEXT_PERIOD_S = 60.0
#: The largest usual increment, for an unknown one, seconds.
UNKNOWN_INCREMENT_S = 60.0
#: No game has more own moves in which a time control could end.
MOST_MOVES = 600

_INCREMENT = re.compile(
    r"\+\s*(\d{1,4}(?:\.\d+)?)(?![\d.]|\s*(?:m\b|min|'(?!')))", re.ASCII
)
_A_MOVE = re.compile(
    r"(\d{1,4})\s*(?:s|sec|secs|seconds?|\"|″|'')\s*(?:/|per|a|each)\s*move", re.I
)
_SUDDEN = re.compile(r"(?:\d+/\d+:)*(?:\d+/)?\d+")
#: What ends a period: ``40/7200``, ``90/40``, ``90 min/40``, ``40 moves``, ``move 40``.
_CONTROL = re.compile(
    r"(?<![\d/])(?P<one>\d{1,6})\s*/\s*(?P<other>\d{1,6})(?![\d/])"
    r"|(?:min|minutes?|m|h|hours?|hrs?|['\u2019\u2032])\s*/\s*"
    r"(?P<of_time>\d{2})(?:\s*moves)?\b"
    r"|(?P<moves>\d{2})\s*moves\b"
    r"|\b(?:after|move)\s+(?:move\s+)?(?P<at>\d{2})\b",
    re.ASCII | re.I,
)
_NOTHING_BUT_INCREMENT = re.compile(r"\s*(?:\+\s*\d+)?\s*", re.ASCII)
#: Periods are for so many moves, and most often for so many.
_LEAST_CONTROL, _MOST_CONTROL, _USUAL_CONTROL = 10, 80, 40


def read_increment_s(time_control: str) -> float | None:
    """Return the seconds added a move; None if a ``TimeControl`` does not say it.

    PGN's own form (``5400+30``, ``40/5400+30:1800+30``, ``300``), minutes before the
    plus as broadcasts write them (``90+30``), and prose (``15 min/game + 10
    sec/move``). The last number of ``90:30`` may be an increment or not: all but PGN's
    last period count moves.
    """
    text = time_control.strip()
    if found := _A_MOVE.search(text):
        return float(found[1])
    if plus := _INCREMENT.findall(text):
        return float(plus[-1])
    return 0.0 if _SUDDEN.fullmatch(text) else None


def read_time_controls(time_control: str) -> tuple[int, ...]:
    """Return the own moves after which a ``TimeControl`` gives more time, ascending.

    PGN's form (``40/7200:20/3600:900+30``), where a last period for a number of moves
    repeats; minutes and moves either way round (``40/90+30,30+30``,
    ``100/40+50/20+15+30``); and prose (``90 min/40 moves + 30 min``, ``30 min after
    move 40``).

    >>> read_time_controls("40/7200:20/3600:900+30")
    (40, 60)
    >>> read_time_controls("90+30")
    ()
    """
    found = set[int]()
    made = moves = 0
    repeats = False
    for match in _CONTROL.finditer(time_control):
        if match["at"]:
            found.add(int(match["at"]))
            continue
        moves = _moves_of(match, time_control)
        if _LEAST_CONTROL <= moves <= _MOST_CONTROL:
            made += moves
            found.add(made)
            is_last = _NOTHING_BUT_INCREMENT.fullmatch(time_control, match.end())
            repeats = match["one"] == str(moves) and is_last is not None
    if repeats:
        found.update(range(made, MOST_MOVES, moves))
    return tuple(sorted(found))


def _moves_of(match: re.Match[str], time_control: str) -> int:
    """Return the moves of one period; 0 if the pair is minutes and an increment."""
    if match["one"] is None:
        return int(match["of_time"] or match["moves"])
    pair = sorted((int(match["one"]), int(match["other"])))
    if _USUAL_CONTROL in pair:
        return _USUAL_CONTROL
    is_in_seconds = pair[1] >= _LEAST_PERIOD_S
    if not is_in_seconds and not _NEXT_PERIOD.match(time_control, match.end()):
        # 15/10 is a quarter of an hour with ten seconds a move.
        return 0
    return pair[0] if pair[0] != pair[1] else 0


#: A period of fewer seconds is written in minutes, and another one follows it.
_LEAST_PERIOD_S = 300
_NEXT_PERIOD = re.compile(r"\s*[,:;+]\s*\d")


class ClockRise(NamedTuple):
    """A clock gained more than a move can give it."""

    ply: int
    from_s: float
    to_s: float
    over_s: float
    """More than the increment."""


class SideClock(NamedTuple):
    """What one side's clock has shown, and what is odd about it."""

    ply: int = 0
    """Of the last own move that had a clock."""
    clock_s: float | None = None
    """What it showed then."""
    unmoved: int = 0
    """Own moves in a row that left it where it was or took no time, if too many."""
    rises: tuple[ClockRise, ...] = ()
    """Every time it gained more than a move can give it."""
    fallen: int = 0
    """The last ply at which it showed 0:00 with no more time to come; 0 for none."""
    period: int = 0
    """The last ply at which it got the time of another period; 0 for none."""
    time_to_come: bool = False
    """The moves of a period are made, and it has not shown the next one's time yet:
    some clocks add it only when the time of the first is used up."""


def read_side_clock(
    readings: Sequence[tuple[int, float]],
    increment_s: float | None,
    controls: Sequence[int] = (),
) -> SideClock:
    """Return what a clock has shown, and what is odd about it.

    Args:
        readings: what it showed after each own move: the ply, and seconds.
        increment_s: seconds added a move; None if unknown.
        controls: own moves after which a period ends, ascending.
    """
    if not readings:
        return SideClock()
    first_s = readings[0][1]
    added_s = UNKNOWN_INCREMENT_S if increment_s is None else increment_s
    late_s = min(LATE_MOST_S, max(LATE_LEAST_S, first_s * LATE_SHARE))
    still = free = periods = period = fallen = 0
    rises = []
    before_s = None
    for ply, now_s in readings:
        own_move = (ply + 1) // 2
        if before_s is not None:
            gained_s = now_s - before_s
            still = still + 1 if gained_s == 0 else 0
            free = free + 1 if _is_free(gained_s, increment_s) else 0
            over_s = gained_s - added_s
            # The clock may count a move early.
            is_due = bisect_right(controls, own_move + 1) > periods
            if over_s <= late_s:
                pass
            elif is_due or may_be_period(own_move, before_s, over_s):
                periods += 1
                if is_due or may_be_period(own_move, before_s, over_s, controls):
                    period = ply
                    fallen = 0
            elif before_s >= NEXT_PERIOD_S:
                rises.append(ClockRise(ply, before_s, now_s, over_s))
        if now_s <= 0 and bisect_right(controls, own_move) <= periods:
            fallen = ply
        before_s = now_s
    fast = first_s < FAST_S
    unmoved = still if still >= (STILL_MOVES_FAST if fast else STILL_MOVES) else 0
    if not unmoved and free >= (FREE_MOVES_FAST if fast else FREE_MOVES):
        unmoved = free
    ply, clock_s = readings[-1]
    to_come = bisect_right(controls, (ply + 1) // 2) > periods
    return SideClock(ply, clock_s, unmoved, tuple(rises), fallen, period, to_come)


def _is_free(gained_s: float, increment_s: float | None) -> bool:
    """Return whether a move took no time: the clock gained the whole increment."""
    if increment_s is None or increment_s < 2:
        return False
    return gained_s >= increment_s - 0.5


def may_be_period(
    own_move: int, before_s: float, over_s: float, controls: Sequence[int] = ()
) -> bool:
    """Return whether a gain of ``over_s`` beyond the increment can be another period.

    ``controls`` are those of the header; without any, the usual ones count.
    """
    if over_s < LEAST_PERIOD_S:
        return False
    if any(abs(own_move - each) <= 1 for each in controls or CONTROLS):
        return True
    # Some clocks count no moves: the next period begins when the time is used up.
    is_used_up = before_s < NEXT_PERIOD_S and own_move >= CONTROLS[0] - 1
    return is_used_up and not controls
