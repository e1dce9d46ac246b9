"""Sources of one game that contradict each other. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding

#: How much later than the other one source may learn of a correction, seconds.
WAIT_S = 60.0


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """A move or a result that one source has and another has otherwise."""
    if board.dispute_s is None or now_s - board.dispute_s < WAIT_S:
        return
    yield Finding(
        kind="sources-differ",
        severity="warning",
        game=board.view.id,
        ply=len(board.moves),
        text=f"{board.label}: its sources contradict each other: {board.view.dispute}.",
        advice="Compare with the score sheet, and have the wrong source corrected.",
    )
