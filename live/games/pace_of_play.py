"""Pace of a game (such as blitz), from its time control or its clocks.

The classes are FIDE's (Laws of Chess, Appendices A and B). They depend on the time of
one player for 60 moves, increments included: up to ten minutes is blitz, less than an
hour is rapid, and anything longer is standard, here ``classical``. Less than three
minutes is bullet, as on chess servers.

Time control headers have several meanings. PGN counts seconds (``40/7200:3600``,
``180+2``; section 9.6.1 of the PGN specification), broadcasts and organisers write
minutes (``90+30``), and people write words. So a first number counts as minutes if
seconds would be too short for the rest of the header, for the clocks, or for the time
that the moves took. A header that contradicts the game in both units is ignored.

``90:30`` is not PGN, where a colon separates periods and all periods but the last name
a number of moves. It can be minutes and seconds, minutes with an increment, or two
periods in minutes; ``1:30`` can also be hours. If these readings are of different
classes, the header is ignored. Days per move (correspondence) count as classical, the
slowest class. Text in brackets is a remark.
"""

import math
import re
from collections.abc import Sequence
from typing import Literal

from live.messages.from_sources import Move

Pace = Literal["bullet", "blitz", "rapid", "classical"]

#: Number of moves for which a time is computed, from "60 times any increment" (Laws of
#: Chess, Appendices A.1 and B.1).
MOVES = 60
#: Limits of the classes, in seconds for 60 moves: bullet is below ``BULLET_BELOW_S``
#: (as on servers), blitz is up to ``BLITZ_UP_TO_S`` (FIDE B.1), and rapid is below
#: ``RAPID_BELOW_S`` (FIDE A.1).
BULLET_BELOW_S = 180
BLITZ_UP_TO_S = 600
RAPID_BELOW_S = 3600

#: Limits of time controls on servers, seconds: no base time is below ``_LEAST_S``, and
#: no base time up to ``_SHORT_S`` has an increment of ``_LONG_INCREMENT_S`` or more.
_LEAST_S = 15
_SHORT_S = 150
_LONG_INCREMENT_S = 5
#: Least seconds per move of any period: ``40/90`` must mean 90 minutes.
_LEAST_PER_MOVE_S = 5
#: Most seconds by which a clock can exceed the header's time. If a clock exceeds it by
#: more, the unit of the header was misread.
_OVER_S = 60

#: In ``90:30``, the first number is in minutes if it is below ``_COLON_MINUTES``, and
#: in seconds if it is at least ``_COLON_SECONDS``. Between these limits it is unclear.
_COLON_MINUTES = 150
_COLON_SECONDS = 300
#: A bare number up to this can mean hours; a larger one means minutes.
_MOST_HOURS = 3
#: Longest increment, in seconds.
_MOST_INCREMENT_S = 60

#: Number of plies whose clocks are read, and number of plies whose time spent is needed
#: to determine a pace without clocks.
OPENING_PLIES = 4
SPENT_PLIES = 20

_WORDS: tuple[tuple[str, Pace], ...] = (
    ("bullet", "bullet"),
    ("blitz", "blitz"),
    ("блиц", "blitz"),
    ("rapid", "rapid"),
    ("rápid", "rapid"),
    ("рапид", "rapid"),
    ("быстры", "rapid"),
    ("classical", "classical"),
    ("класси", "classical"),
    ("standard", "classical"),
    ("correspondence", "classical"),
)
#: Longest time that a clock of each pace shows, seconds; unlimited for the slowest.
_MOST_S: dict[Pace, float] = {
    "bullet": BULLET_BELOW_S,
    "blitz": BLITZ_UP_TO_S,
    "rapid": RAPID_BELOW_S,
    "classical": math.inf,
}
#: ``1:30:00`` as a clock shows it, and ``G/30;d5`` as American tournaments write it, in
#: minutes.
_CLOCK_FACE = re.compile(r"(?<![\d:/])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:])")
_GAME_IN = re.compile(
    r"\b(?:(\d{1,3})/(\d{1,3})[\s,;:]+)?(?:g|sd|game)\s*(?:/|in\b)?\s*(\d{1,3})(?!\d)"
)
_REMARK = re.compile(r"\([^()]*\)")
_TWO_PARTS = re.compile(r"(\d{1,6})\s*:\s*(\d{1,6})")
_DAYS = re.compile(r"\b\d{1,3}\s*(?:d|days?)\b")
_PER_MOVE = re.compile(r"(?:\+|\binc)\s*(\d{1,2})(?!\d)")
#: One period, such as ``40/7200+30`` or ``2700d5``. A delay (``d5``) adds no time to
#: the clock.
_PERIOD = re.compile(r"(?:(\d{1,6})/)?(\d{1,6})(?:\+(\d{1,6}))?(?:d(\d{0,3}))?$")
#: ``100/40+50/20+15+30``: periods in minutes, some for a number of moves, with the
#: increment last.
_CHAIN = re.compile(
    r"\d{1,3}(?:/\d{1,3})?(?:\+\d{1,3}(?:/\d{1,3})?)*\+\d{1,3}\+\d{1,3}"
)
_CHAIN_ENDS = re.compile(r"\d{1,3}(?:\+\d{1,3})*\+\d{1,3}/\d{1,3}\+\d{1,3}")
#: Usual numbers of moves of a period, the most frequent first.
_PERIOD_MOVES = (40, 20, 60, 50, 30, 25, 15)
_HOURS = re.compile(
    r"(\d{1,6})\s*(?:hours?|hrs?|heures?|horas?|or[ae]\b|std|stunden?|час(?:а|ов)?|ч\b|h)\.?\s*"
    r"(\d{1,2}(?!\d))?"
)
_MINUTES = re.compile(r"(\d{1,6})\s*(?:min|мин|м\b|m(?![a-z])|['\u2019\u2032])")
_SECONDS = re.compile(r"(\d{1,6})\s*(?:se[ckg]|сек|с\b|s\b|[\"\u201d\u2033])")


def classify_pace(time_control: str, moves: Sequence[Move] = ()) -> Pace | None:
    """Return the pace; None if neither the header nor the clocks of the moves show it.

    Only the first ``SPENT_PLIES`` moves are read, so that the pace of a running game
    does not change.
    """
    moves = moves[:SPENT_PLIES]
    text = _REMARK.sub("", time_control).strip().lower()
    if _DAYS.fullmatch(text.removesuffix("/move").removesuffix("per move").strip()):
        return "classical"
    shown_s = max((move.clock_s or 0 for move in moves[:OPENING_PLIES]), default=0)
    used_s = _most_used_s(moves)
    pace = _classify_header(time_control.lower(), text, shown_s, used_s)
    # Because of increments, times can be a little longer than the initial time.
    if pace is not None and max(shown_s, used_s) <= _MOST_S[pace] + _OVER_S:
        return pace
    if shown_s > 0:
        return _classify_time(shown_s + MOVES * _find_increment_s(moves))
    spent = [move.spent_s for move in moves if move.spent_s is not None]
    if len(spent) < SPENT_PLIES:
        return None
    return _classify_time(MOVES * sum(spent) / len(spent))


def _most_used_s(moves: Sequence[Move]) -> float:
    """Return the seconds spent by the side that spent more."""
    spent_s = [move.spent_s or 0 for move in moves]
    return max(sum(spent_s[::2]), sum(spent_s[1::2]))


def _classify_header(
    header: str, text: str, shown_s: float, used_s: float
) -> Pace | None:
    """Return the pace that the header names, or None; ``text`` is the header without
    remarks.
    """
    for word, pace in _WORDS:
        if word in header:
            return pace
    if match := _TWO_PARTS.fullmatch(text):
        times_s = _read_two_parts_s(int(match[1]), int(match[2]))
        classes = set(map(_classify_time, times_s))
        return classes.pop() if len(classes) == 1 else None
    time_s = _read_time_s(text, shown_s, used_s)
    return None if time_s is None else _classify_time(time_s)


def _classify_time(seconds: float) -> Pace:
    if seconds < BULLET_BELOW_S:
        return "bullet"
    if seconds <= BLITZ_UP_TO_S:
        return "blitz"
    return "rapid" if seconds < RAPID_BELOW_S else "classical"


def _read_time_s(text: str, shown_s: float, used_s: float) -> float | None:
    """Return the seconds for 60 moves according to the header; None if it cannot be
    read.

    ``shown_s`` is the highest clock of the opening, ``used_s`` the time spent by one
    side.
    """
    text = _CLOCK_FACE.sub(_clock_face_to_seconds, text).replace("|", "+")
    plain = text.replace(" ", "").lstrip("*")
    if _CHAIN.fullmatch(plain) or _CHAIN_ENDS.fullmatch(plain):
        return _read_chain_s(plain)
    periods = [_PERIOD.match(part) for part in re.split("[:,;]", plain)]
    if all(periods):
        numbers = [_read_period(match) for match in periods if match]
        return _sum_periods_s(numbers, shown_s, used_s)
    if (game := _GAME_IN.search(text)) and not _MINUTES.search(text):
        return _read_game_in_s(game, text)
    hours = _HOURS.search(text)
    minutes = _MINUTES.findall(text)
    seconds = _SECONDS.findall(text)
    base = sum(map(int, minutes)) * 60.0
    if hours:
        base += int(hours[1]) * 3600 + int(hours[2] or 0) * 60
    if base or seconds:
        return base + (MOVES * int(seconds[-1]) if seconds else 0)
    return None


def _read_period(period: re.Match[str]) -> list[int]:
    """Return the moves, seconds, increment and delay of a period, each 0 if missing."""
    return [int(number or 0) for number in period.groups()]


def _read_two_parts_s(first: int, second: int) -> list[float]:
    """Return all possible readings of ``90:30``, in seconds for 60 moves."""
    if first >= _COLON_SECONDS:
        return [float(first + second)]
    if not 0 < first < _COLON_MINUTES:
        return []
    times_s = [first * 60.0 + second * 60.0]
    if second < 60:
        times_s = [first * 60.0 + second]
    if 0 < second <= _MOST_INCREMENT_S:
        times_s.append(first * 60.0 + MOVES * second)
    if first <= _MOST_HOURS and second < 60:
        times_s.append(first * 3600.0 + second * 60.0)
    return times_s


def _clock_face_to_seconds(face: re.Match[str]) -> str:
    hours, minutes, seconds = map(int, face.groups())
    return str(hours * 3600 + minutes * 60 + seconds)


def _read_game_in_s(game: re.Match[str], text: str) -> float | None:
    """Return the seconds of ``40/120, SD/60`` and the like, without delays (``d5``);
    None if the text names no minutes.
    """
    moves, session, rest = (int(number or 0) for number in game.groups())
    minutes = rest + session * bool(moves)
    if not minutes:
        return None
    per_move = _PER_MOVE.search(text)
    increments_s = MOVES * int(per_move[1]) if per_move else 0
    return minutes * 60 + increments_s


def _read_chain_s(chain: str) -> float:
    """Return the seconds of ``90+30/40+30``: 30 minutes are added after move 40."""
    *periods, increment = chain.split("+")
    minutes = 0
    for period in periods:
        first, _, second = period.partition("/")
        numbers = [int(number) for number in (first, second) if number]
        if len(numbers) > 1:
            moves = next(
                (usual for usual in _PERIOD_MOVES if usual in numbers), numbers[-1]
            )
            numbers.remove(moves)
        minutes += numbers[0]
    return minutes * 60.0 + MOVES * int(increment)


def _sum_periods_s(
    periods: Sequence[Sequence[int]], shown_s: float, used_s: float
) -> float | None:
    """Return the total seconds of all periods, for 60 moves; None without a time.

    Each period is a sequence: number of moves (0: all remaining moves), seconds,
    increment and delay.
    """
    moves, base, increment, delay = periods[0]
    if not base and not increment:
        return None
    if moves:
        short = not shown_s and 0 < base < _LEAST_PER_MOVE_S * moves
    else:
        is_long = max(increment, delay) >= _LONG_INCREMENT_S
        short = 0 < base < _LEAST_S or (0 < base <= _SHORT_S and is_long)
    more_shown = shown_s > base + increment + _OVER_S and (base or not moves)
    more_used = used_s > base + increment * SPENT_PLIES / 2 and base > 0
    unit = 60 if short or more_shown or more_used else 1
    total = 0.0
    moves_left = MOVES
    for index, (moves, base, increment, _) in enumerate(periods, 1):
        # The last period repeats, if it is for a number of moves.
        played = (
            min(moves_left, moves) if moves and index < len(periods) else moves_left
        )
        total += played / (moves or moves_left) * base * unit + played * increment
        moves_left -= played
        if not moves_left:
            break
    return total


def _find_increment_s(moves: Sequence[Move]) -> float:
    """Return the largest gain of a clock in one move, in seconds. Gains above
    ``_OVER_S`` are ignored, because arbiters add such times by hand.
    """
    rises = [
        after.clock_s - before.clock_s + (after.spent_s or 0)
        for before, after in zip(moves, moves[2:], strict=False)
        if before.clock_s is not None and after.clock_s is not None
    ]
    return max((rise for rise in rises if 0 < rise <= _OVER_S), default=0.0)
