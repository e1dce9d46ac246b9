"""A game whose report cannot be read. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding
from live.events import IN_DOUBT, NO_LONGER, STANDS


def is_lost(board: BoardHistory) -> bool:
    """Whether moves were made that nobody could read."""
    problem = board.view.problem
    # What an engine could not do is no fault of the source.
    return problem is not None and not (
        problem.startswith(("no score", IN_DOUBT, NO_LONGER)) or STANDS in problem
    )


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """An illegal move, or whatever else keeps the moves from being read to their end."""
    problem = board.view.problem
    if problem is None or not is_lost(board):
        return
    illegal = "illegal" in problem
    yield Finding(
        kind="illegal-move" if illegal else "unreadable",
        severity="alarm" if illegal and board.running else "warning",
        game=board.view.id,
        ply=len(board.moves) + 1,
        text=f"{board.label}: {problem}.",
        advice=(
            "Set the pieces as they stand and correct the moves in the broadcast software; "
            "until then nothing after this move is known."
            if illegal
            else "Look at the game in the broadcast software."
        ),
    )
