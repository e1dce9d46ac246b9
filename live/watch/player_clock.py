"""The readings of one player's clock, and anything unusual about them. Pure.

The limits come from measurements over 336 games of an open tournament (``90+30``, a
clock reading after every move). If a clock showed the same second after three
consecutive moves of its player, it was not connected to the board. Electronic boards
that were read a little late made clocks rise by up to 35 s more than the increment.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

#: Number of a player's consecutive moves with the same clock reading that raises an
#: alert: in a slow game, and in a fast game, where instant moves are common.
STILL_MOVES = 4
STILL_MOVES_FAST = 10
#: Number of a player's consecutive moves without any time used that raises an alert, in
#: a slow and in a fast game. After each such move the clock rose by the increment.
FREE_MOVES = 6
FREE_MOVES_FAST = 20
#: A game is fast if the first readings of its clocks are below this limit, seconds.
FAST_S = 600.0
#: Assumed delay between a move and the reading of its clock: a share of the clock's
#: first reading, with a lower and an upper limit, seconds.
LATE_SHARE, LATE_LEAST_S, LATE_MOST_S = 1 / 60, 5.0, 60.0
#: Move numbers at which time controls usually end. At these moves, or one move earlier
#: or later, a clock can gain the time of a whole period.
CONTROLS = (30, 35, 36, 40, 45, 50, 56, 60, 80)
#: Minimum length of a period, seconds. A smaller gain is an increment or a penalty.
LEAST_PERIOD_S = 300.0
#: Remaining time, seconds, below which the next period can begin at any move, since
#: some clocks do not count moves.
NEXT_PERIOD_S = 60.0
#: Increment that is assumed if it is unknown: the largest usual one, seconds.
UNKNOWN_INCREMENT_S = 60.0
#: Maximum number of moves of one player that a time control can cover.
MOST_MOVES = 600

_INCREMENT = re.compile(
    r"\+\s*(\d{1,4}(?:\.\d+)?)(?![\d.]|\s*(?:m\b|min|'(?!')))", re.ASCII
)
_A_MOVE = re.compile(
    r"(\d{1,4})\s*(?:s|sec|secs|seconds?|\"|″|'')\s*(?:/|per|a|each)\s*move", re.I
)
_SUDDEN = re.compile(r"(?:\d+/\d+:)*(?:\d+/)?\d+")
#: Ways to write the end of a period: ``40/7200``, ``90/40``, ``90 min/40``,
#: ``40 moves``, ``move 40``.
_CONTROL = re.compile(
    r"(?<![\d/])(?P<one>\d{1,6})\s*/\s*(?P<other>\d{1,6})(?![\d/])"
    r"|(?:min|minutes?|m|h|hours?|hrs?|['\u2019\u2032])\s*/\s*"
    r"(?P<of_time>\d{2})(?:\s*moves)?\b"
    r"|(?P<moves>\d{2})\s*moves\b"
    r"|\b(?:after|move)\s+(?:move\s+)?(?P<at>\d{2})\b",
    re.ASCII | re.I,
)
_NOTHING_BUT_INCREMENT = re.compile(r"\s*(?:\+\s*\d+)?\s*", re.ASCII)
#: Minimum, maximum and most common number of moves in one period.
_LEAST_CONTROL, _MOST_CONTROL, _USUAL_CONTROL = 10, 80, 40


def read_increment_s(time_control: str) -> float | None:
    """Return the increment in seconds per move; None if ``TimeControl`` has none.

    Three forms are understood: the PGN standard (``5400+30``, ``40/5400+30:1800+30``,
    ``300``), minutes before the plus sign as broadcasts write them (``90+30``), and
    prose (``15 min/game + 10 sec/move``). For ``90:30`` the result is None: in PGN only
    the last period can lack a number of moves, so the 30 can be an increment.
    """
    text = time_control.strip()
    if match := _A_MOVE.search(text):
        return float(match[1])
    if plus := _INCREMENT.findall(text):
        return float(plus[-1])
    return 0.0 if _SUDDEN.fullmatch(text) else None


def read_time_controls(time_control: str) -> tuple[int, ...]:
    """Return the move numbers after which a ``TimeControl`` adds time, ascending.

    Three forms are understood: the PGN standard (``40/7200:20/3600:900+30``), where a
    last period with a number of moves repeats; minutes and moves in either order
    (``40/90+30,30+30``, ``100/40+50/20+15+30``); and prose (``90 min/40 moves + 30
    min``, ``30 min after move 40``).

    >>> read_time_controls("40/7200:20/3600:900+30")
    (40, 60)
    >>> read_time_controls("90+30")
    ()
    """
    controls = set[int]()
    last_control = moves = 0
    repeats = False
    for match in _CONTROL.finditer(time_control):
        if match["at"]:
            controls.add(int(match["at"]))
            continue
        moves = _moves_of(match, time_control)
        if _LEAST_CONTROL <= moves <= _MOST_CONTROL:
            last_control += moves
            controls.add(last_control)
            is_last = _NOTHING_BUT_INCREMENT.fullmatch(time_control, match.end())
            repeats = match["one"] == str(moves) and is_last is not None
    if repeats:
        controls.update(range(last_control, MOST_MOVES, moves))
    return tuple(sorted(controls))


def _moves_of(match: re.Match[str], time_control: str) -> int:
    """Return the number of moves in one period of a time control.

    Return 0 if the pair of numbers is minutes and an increment.
    """
    if match["one"] is None:
        return int(match["of_time"] or match["moves"])
    pair = sorted((int(match["one"]), int(match["other"])))
    if _USUAL_CONTROL in pair:
        return _USUAL_CONTROL
    # A period has at least this many seconds, so a smaller number is minutes.
    is_in_seconds = pair[1] >= LEAST_PERIOD_S
    if not is_in_seconds and not _NEXT_PERIOD.match(time_control, match.end()):
        # For example, 15/10 means 15 minutes with ten seconds per move.
        return 0
    return pair[0] if pair[0] != pair[1] else 0


_NEXT_PERIOD = re.compile(r"\s*[,:;+]\s*\d")


class ClockRise(NamedTuple):
    """A gain of a clock that is larger than the increment can explain."""

    ply: int
    from_s: float
    to_s: float
    over_s: float
    """The part of the gain above the increment, seconds."""


class SideClock(NamedTuple):
    """The readings of one side's clock, and anything unusual about them."""

    ply: int = 0
    """The last ply of this side with a clock reading."""
    clock_s: float | None = None
    """The last reading, seconds."""
    unmoved: int = 0
    """Number of this side's last consecutive moves that did not change the clock or
    took no time; 0 unless this number is unusually high.
    """
    rises: tuple[ClockRise, ...] = ()
    """All gains of the clock that are larger than the increment can explain."""
    fallen: int = 0
    """The last ply at which the clock showed 0:00 with no further period; 0 for none.
    """
    period: int = 0
    """The last ply at which the clock got the time of another period; 0 for none."""
    time_to_come: bool = False
    """True if the player has made the moves of a period but the clock does not show the
    time of the next period yet. Some clocks add it only when the time of the first
    period is used.
    """


def read_side_clock(
    readings: Sequence[tuple[int, float]],
    increment_s: float | None,
    controls: Sequence[int] = (),
    *,
    plies_before: int = 0,
) -> SideClock:
    """Return a summary of a clock's readings.

    Args:
        readings: the ply and the clock, seconds, after each of the player's moves.
        increment_s: increment, seconds per move; None if unknown.
        controls: numbers of the player's moves after which a period ends, ascending.
        plies_before: number of plies before the starting position. Periods that ended
            in them count as begun.
    """
    if not readings:
        return SideClock()
    first_s = readings[0][1]
    added_s = UNKNOWN_INCREMENT_S if increment_s is None else increment_s
    late_s = min(LATE_MOST_S, max(LATE_LEAST_S, first_s * LATE_SHARE))
    periods = bisect_right(controls, plies_before // 2)
    period = fallen = 0
    rises = []
    before_s = None
    for ply, now_s in readings:
        own_move = (plies_before + ply + 1) // 2
        if before_s is not None:
            over_s = now_s - before_s - added_s
            # Some clocks begin the next period one move early.
            is_due = bisect_right(controls, own_move + 1) > periods
            is_period = is_due or _can_be_period(own_move, before_s, over_s)
            if over_s > late_s and is_period:
                periods += 1
                if is_due or _can_be_period(own_move, before_s, over_s, controls):
                    period = ply
                    fallen = 0
            elif over_s > late_s and before_s >= NEXT_PERIOD_S:
                rises.append(ClockRise(ply, before_s, now_s, over_s))
        if now_s <= 0 and bisect_right(controls, own_move) <= periods:
            fallen = ply
        before_s = now_s
    ply, clock_s = readings[-1]
    return SideClock(
        ply,
        clock_s,
        unmoved=_count_moves_without_running_clock(
            [clock_s for _, clock_s in readings], increment_s
        ),
        rises=tuple(rises),
        fallen=fallen,
        period=period,
        time_to_come=bisect_right(controls, own_move) > periods,
    )


def _count_moves_without_running_clock(
    clocks_s: Sequence[float], increment_s: float | None
) -> int:
    """Return the number of last consecutive moves that did not change the clock or took
    no time; 0 unless this number is unusually high.
    """
    still_moves = free_moves = 0
    for before_s, now_s in pairwise(clocks_s):
        gained_s = now_s - before_s
        still_moves = still_moves + 1 if gained_s == 0 else 0
        free_moves = free_moves + 1 if _is_instant_move(gained_s, increment_s) else 0
    is_fast = clocks_s[0] < FAST_S
    if still_moves >= (STILL_MOVES_FAST if is_fast else STILL_MOVES):
        return still_moves
    if free_moves >= (FREE_MOVES_FAST if is_fast else FREE_MOVES):
        return free_moves
    return 0


def _is_instant_move(gained_s: float, increment_s: float | None) -> bool:
    """Return whether a move took no time, so that the clock gained the increment."""
    if increment_s is None or increment_s < 2:
        return False
    return gained_s >= increment_s - 0.5


def _can_be_period(
    own_move: int, before_s: float, over_s: float, controls: Sequence[int] = ()
) -> bool:
    """Return whether a clock's gain can be the time of another period.

    ``over_s`` is the part of the gain above the increment, seconds. ``controls`` are
    the move numbers from the game's header; without any, :data:`CONTROLS` applies.
    """
    if over_s < LEAST_PERIOD_S:
        return False
    if any(abs(own_move - control) <= 1 for control in controls or CONTROLS):
        return True
    # Clocks that do not count moves begin the next period when the time is used up.
    is_used_up = before_s < NEXT_PERIOD_S and own_move >= CONTROLS[0] - 1
    return is_used_up and not controls
