"""Illegal moves that stand because the game went on from them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding
from live.events import STANDS

#: As the problem of the game names the move.
_AT_PLY = re.compile(r"at ply (\d+)")


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """The laws let it stand when nobody claimed in time; the game is followed on from there."""
    problem = board.view.problem or ""
    if STANDS in problem:
        yield Finding(
            kind="illegal-stands",
            severity="warning",
            game=board.view.id,
            ply=int(found[1]) if (found := _AT_PLY.search(problem)) else len(board.moves),
            text=f"{board.label}: {problem}.",
            advice="Compare the move with the score sheets; it is followed from there.",
        )
