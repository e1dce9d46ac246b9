"""A flag that has fallen, or must have by now. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding, dial, span
from live.events import Color

#: Broadcasts are late, and clocks are stopped for claims: this long after the time is up, seconds.
LATE_S = 90.0


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    if not board.running or not board.moves or board.moves[-1].san.endswith("#"):
        return
    for color in get_args(Color):
        clock_s = board.clocks.last_s(color)
        if clock_s is not None and clock_s <= 0:
            yield _finding(
                board,
                color,
                "alarm",
                f"{board.name(color)}'s clock shows 0:00 and there is no result",
            )
    color = board.to_move
    clock_s = board.clocks.last_s(color)
    if clock_s is None or clock_s <= 0 or board.moved_s is None:
        return
    over_s = now_s - board.moved_s - clock_s
    if over_s > LATE_S:
        yield _finding(
            board,
            color,
            "warning",
            f"{board.name(color)} had {dial(clock_s)} when the opponent moved "
            f"{span(now_s - board.moved_s)} ago: the time must be up",
        )


def _finding(board: BoardHistory, color: Color, severity: str, text: str) -> Finding:
    return Finding(
        kind="flag",
        severity="alarm" if severity == "alarm" else "warning",
        game=board.view.id,
        ply=len(board.moves),
        color=color,
        player=board.name(color),
        text=f"{board.label}: {text}.",
        advice="Look at the clock at the board; enter the result, or restart the clock's feed.",
    )
