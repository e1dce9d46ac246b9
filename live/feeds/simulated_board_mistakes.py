"""What boards, clocks and operators get wrong for good, done to the moments of one game. Pure.

Each is what one alert of :mod:`live.alerts` is raised for. Unlike a slip that is put right before
the next move, these last: the game ends as the mistake leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import msgspec

from live.events import GameReport, Move, Result

Mistake = Literal[
    "illegal-move",
    "unreadable",
    "clock-still",
    "clock-rising",
    "flag",
    "stale",
    "last-move",
    "late-move",
    "result",
]
MISTAKES: tuple[Mistake, ...] = get_args(Mistake)

Told = tuple[float, GameReport]
"""When, seconds, and what the source holds of the game from then on."""

#: Own moves that a clock stands still, and what it gains when it rises, seconds.
STILL_MOVES = 8
RISE_S = 900.0
#: A flag has been down this long before anybody enters the result, seconds.
FLAG_S = 600.0
#: Moves that come only after the result.
LATE_PLIES = 2


def mistaken(told: Sequence[Told], mistake: Mistake, ply: int) -> list[Told]:
    """The same game with one mistake from ``ply`` on."""
    return _MAKE[mistake](list(told), ply)


def _each(told: list[Told], change: Callable[[GameReport], GameReport]) -> list[Told]:
    return [(at_s, change(report)) for at_s, report in told]


def _illegal(told: list[Told], ply: int) -> list[Told]:
    return _broken(told, ply, f"illegal move Qh9 at ply {ply}")


def _unreadable(told: list[Told], ply: int) -> list[Told]:
    return _broken(told, ply, f"a comment is never closed after ply {ply - 1}")


def _broken(told: list[Told], ply: int, problem: str) -> list[Told]:
    def change(report: GameReport) -> GameReport:
        if len(report.moves) < ply:
            return report
        return msgspec.structs.replace(report, moves=report.moves[: ply - 1], problem=problem)

    return _each(told, change)


def _clocks(told: list[Told], clock: Callable[[int, tuple[Move, ...]], float | None]) -> list[Told]:
    """Another clock after some moves: ``clock`` is asked with the index and all moves."""

    def change(report: GameReport) -> GameReport:
        moves = tuple(
            msgspec.structs.replace(move, clock_s=clock(index, report.moves), spent_s=None)
            for index, move in enumerate(report.moves)
        )
        return msgspec.structs.replace(report, moves=moves)

    return _each(told, change)


def _still(told: list[Told], ply: int) -> list[Told]:
    def clock(index: int, moves: tuple[Move, ...]) -> float | None:
        behind = index - (ply - 1)
        frozen = 0 <= behind <= 2 * STILL_MOVES and behind % 2 == 0
        return moves[ply - 1].clock_s if frozen else moves[index].clock_s

    return _clocks(told, clock)


def _rising(told: list[Told], ply: int) -> list[Told]:
    def clock(index: int, moves: tuple[Move, ...]) -> float | None:
        shown = moves[index].clock_s
        later = index >= ply - 1 and (index - ply + 1) % 2 == 0
        return shown + RISE_S if later and shown is not None else shown

    return _clocks(told, clock)


def _flag(told: list[Told], ply: int) -> list[Told]:
    """The player who is to move at ``ply`` runs out of time; the result comes late."""
    kept = [(at_s, report) for at_s, report in told if len(report.moves) < ply]
    at_s, last = kept[-1]
    moves = last.moves
    own = [index for index in range(len(moves)) if (ply - 1 - index) % 2 == 0]
    if own:
        down = msgspec.structs.replace(moves[own[-1]], clock_s=0.0)
        moves = (*moves[: own[-1]], down, *moves[own[-1] + 1 :])
    fallen = msgspec.structs.replace(last, moves=moves)
    lost: Result = "0-1" if ply % 2 else "1-0"
    over = msgspec.structs.replace(fallen, result=lost)
    return [*kept, (at_s + 1, fallen), (at_s + 1 + FLAG_S, over)]


def _stale(told: list[Told], ply: int) -> list[Told]:
    return [(at_s, report) for at_s, report in told if len(report.moves) < ply]


def _last_move(told: list[Told], ply: int) -> list[Told]:
    last = len(told[-1][1].moves)

    def change(report: GameReport) -> GameReport:
        return msgspec.structs.replace(report, moves=report.moves[: last - 1])

    return _each(told, change)


def _late_move(told: list[Told], ply: int) -> list[Told]:
    over_s, whole = told[-1]
    early = msgspec.structs.replace(whole, moves=whole.moves[:-LATE_PLIES])
    before = [each for each in told[:-1] if len(each[1].moves) <= len(early.moves)]
    return [*before, (over_s, early), (over_s + 5, whole)]


def _result(told: list[Told], ply: int) -> list[Told]:
    """The operator enters the wrong one."""
    wrong: dict[Result, Result] = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1-0"}

    def change(report: GameReport) -> GameReport:
        return msgspec.structs.replace(report, result=wrong.get(report.result, report.result))

    return _each(told, change)


_MAKE: dict[Mistake, Callable[[list[Told], int], list[Told]]] = {
    "illegal-move": _illegal,
    "unreadable": _unreadable,
    "clock-still": _still,
    "clock-rising": _rising,
    "flag": _flag,
    "stale": _stale,
    "last-move": _last_move,
    "late-move": _late_move,
    "result": _result,
}
