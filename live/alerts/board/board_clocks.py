"""The two clocks of a board, and what is odd about them; O(1) a move. Pure.

Measured over the board (336 games of an open with ``90+30``, clocks at every move): a clock shows
the very same second after three own moves in a row in no game but those whose clock was not
connected, and rises by up to 35 s more than the increment where the board was read a little late.
"""

from __future__ import annotations

import re

import msgspec

from live.events import Color

#: Own moves in a row after which the clock showed the same second: a game with time to think, and
#: a fast one, where moves made in no time are nothing strange.
STILL_MOVES = 4
STILL_MOVES_FAST = 10
#: Own moves in a row that took no time at all, so the clock rose by the increment each time.
FREE_MOVES = 6
FREE_MOVES_FAST = 20
#: A game that begins with less is a fast one, seconds.
FAST_S = 600.0
#: A clock may be read this late: a share of the first clock, between these bounds, seconds.
LATE_SHARE, LATE_LEAST_S, LATE_MOST_S = 1 / 60, 5.0, 60.0
#: Own moves at which time controls end, give or take one: the clock may gain a whole period.
CONTROLS = (30, 35, 36, 40, 45, 50, 56, 60, 80)
#: With less left than this, seconds, the next period may begin at once: some clocks count no moves.
NEXT_PERIOD_S = 60.0
#: Largest increment anybody plays with, where nothing says which, seconds.
UNKNOWN_INCREMENT_S = 60.0

_INCREMENT = re.compile(r"\+\s*(\d{1,4}(?:\.\d+)?)(?![\d.]|\s*(?:m\b|min|'(?!')))", re.ASCII)
_A_MOVE = re.compile(r"(\d{1,4})\s*(?:s|sec|secs|seconds?|\"|″|'')\s*(?:/|per|a|each)\s*move", re.I)
_SUDDEN = re.compile(r"(?:\d+/\d+:)*(?:\d+/)?\d+")


def increment_s(time_control: str) -> float | None:
    """Seconds added a move, as far as a ``TimeControl`` says; None where it does not.

    PGN's own form (``5400+30``, ``40/5400+30:1800+30``, ``300``), minutes before the plus as
    broadcasts write them (``90+30``), and prose (``15 min/game + 10 sec/move``). The last number
    of ``90:30`` may be an increment or not: all but PGN's last period count moves.
    """
    text = time_control.strip()
    if found := _A_MOVE.search(text):
        return float(found[1])
    if plus := _INCREMENT.findall(text):
        return float(plus[-1])
    return 0.0 if _SUDDEN.fullmatch(text) else None


class ClockRise(msgspec.Struct, frozen=True):
    """A clock gained more than a move can give it."""

    ply: int
    from_s: float
    to_s: float
    over_s: float
    """More than the increment."""


class _SideClock:
    __slots__ = ("free", "plies", "rises", "still", "times")

    def __init__(self) -> None:
        self.plies: list[int] = []
        self.times: list[float] = []
        self.still: list[int] = []
        """Own moves in a row, up to each, that left the clock as it was."""
        self.free: list[int] = []
        """Own moves in a row, up to each, that took no time."""
        self.rises: list[ClockRise] = []


class BoardClocks:
    """The clocks after each move, from White's and Black's side."""

    def __init__(self, time_control: str, *, white_begins: bool = True) -> None:
        self.increment_s = increment_s(time_control)
        self._white_begins = white_begins
        self._sides: dict[Color, _SideClock] = {"white": _SideClock(), "black": _SideClock()}

    def _side(self, ply: int) -> _SideClock:
        return self._sides["white" if (ply % 2 == 1) == self._white_begins else "black"]

    def add(self, ply: int, clock_s: float | None) -> None:
        """The mover's clock after ``ply``, which is the latest."""
        if clock_s is None:
            return
        side = self._side(ply)
        still = free = 0
        if side.times:
            rise = clock_s - side.times[-1]
            still = side.still[-1] + 1 if rise == 0 else 0
            increment = self.increment_s
            if increment is not None and increment >= 2 and rise >= increment - 0.5:
                free = side.free[-1] + 1
            if (found := self._rise(side, ply, clock_s)) is not None:
                side.rises.append(found)
        side.plies.append(ply)
        side.times.append(clock_s)
        side.still.append(still)
        side.free.append(free)

    def _rise(self, side: _SideClock, ply: int, clock_s: float) -> ClockRise | None:
        before_s = side.times[-1]
        increment = UNKNOWN_INCREMENT_S if self.increment_s is None else self.increment_s
        over_s = clock_s - before_s - increment
        late_s = min(LATE_MOST_S, max(LATE_LEAST_S, side.times[0] * LATE_SHARE))
        own_move = (ply + 1) // 2
        control = any(abs(own_move - each) <= 1 for each in CONTROLS) and over_s >= 300
        if over_s <= late_s or control or before_s < NEXT_PERIOD_S:
            return None
        return ClockRise(ply, before_s, clock_s, over_s)

    def cut(self, from_ply: int) -> None:
        """Plies from this one on do not stand."""
        for side in self._sides.values():
            while side.plies and side.plies[-1] >= from_ply:
                for held in (side.plies, side.times, side.still, side.free):
                    held.pop()
            while side.rises and side.rises[-1].ply >= from_ply:
                side.rises.pop()

    def correct(self, ply: int, clock_s: float | None) -> None:
        """The clock after an earlier ply is another one: those of its side are looked at again."""
        side = self._side(ply)
        times = dict(zip(side.plies, side.times, strict=True))
        times.pop(ply, None)
        if clock_s is not None:
            times[ply] = clock_s
        color: Color = "white" if side is self._sides["white"] else "black"
        self._sides[color] = _SideClock()
        for at in sorted(times):
            self.add(at, times[at])

    def used_s(self, ply: int, clock_s: float | None) -> float | None:
        """What the mover of ``ply``, which comes next, used by this clock; None where that cannot
        be known: nothing before it, or more time than the increment added.
        """
        before = self._side(ply).times
        if clock_s is None or not before or self.increment_s is None:
            return None
        used = before[-1] + self.increment_s - clock_s
        return used if used >= 0 else None

    # --- what is odd ----------------------------------------------------------------------------

    def last_s(self, color: Color) -> float | None:
        """What the clock showed after this side's last move that had one."""
        times = self._sides[color].times
        return times[-1] if times else None

    def last_ply(self, color: Color) -> int:
        plies = self._sides[color].plies
        return plies[-1] if plies else 0

    def unmoved(self, color: Color) -> int:
        """Own moves in a row that left the clock where it was or took no time, if too many."""
        side = self._sides[color]
        if not side.times:
            return 0
        fast = side.times[0] < FAST_S
        if side.still[-1] >= (STILL_MOVES_FAST if fast else STILL_MOVES):
            return side.still[-1]
        if side.free[-1] >= (FREE_MOVES_FAST if fast else FREE_MOVES):
            return side.free[-1]
        return 0

    def rises(self, color: Color) -> list[ClockRise]:
        """Every time this clock gained more than a move can give it."""
        return self._sides[color].rises
