"""Clocks that stand still, or rise by more than the time control gives. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding, dial, span
from live.events import Color

COLORS: tuple[Color, ...] = get_args(Color)


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    for color in COLORS:
        yield from _still(board, color)
        yield from _rising(board, color)


def _still(board: BoardHistory, color: Color) -> Iterator[Finding]:
    moves = board.clocks.unmoved(color)
    clock_s = board.clocks.last_s(color)
    if not moves or clock_s is None or not board.running:
        return
    yield Finding(
        kind="clock-still",
        severity="warning",
        game=board.view.id,
        ply=board.clocks.last_ply(color),
        color=color,
        player=board.name(color),
        text=(
            f"{board.label}: {board.name(color)} used no time for {moves} moves; the clock shows "
            f"{dial(clock_s)}."
        ),
        advice="See whether the clock runs and is connected to the board.",
    )


def _rising(board: BoardHistory, color: Color) -> Iterator[Finding]:
    rises = board.clocks.rises(color)
    if not rises:
        return
    rise = rises[-1]
    yield Finding(
        kind="clock-rising",
        severity="look",
        game=board.view.id,
        ply=rise.ply,
        color=color,
        player=board.name(color),
        occurrence=len(rises),
        text=(
            f"{board.label}: {board.name(color)}'s clock rose from {dial(rise.from_s)} to "
            f"{dial(rise.to_s)}, {span(rise.over_s)} more than the increment."
        ),
        advice="Nothing if time was added as a penalty or correction; else compare the clocks.",
    )
