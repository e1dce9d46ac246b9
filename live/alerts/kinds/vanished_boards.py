"""Boards that their source no longer holds. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding, move_number
from live.events import NO_LONGER


def is_gone(board: BoardHistory) -> bool:
    """Whether the source has lost this game; what is shown of it is the last that it sent."""
    return (board.view.problem or "").startswith(NO_LONGER)


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """A game with moves that was whole, is nowhere any more, and was not over."""
    if not is_gone(board):
        return
    last = board.moves[-1] if board.moves else None
    held = f", {move_number(last.ply)} {last.san} the last of {last.ply} plies" if last else ""
    players = f"{board.view.white.name} - {board.view.black.name}"
    yield Finding(
        kind="vanished",
        severity="warning",
        game=board.view.id,
        ply=len(board.moves),
        text=(
            f"{board.label} ({players}) is no longer in its source;"
            f" it is shown as it was last{held}."
        ),
        advice="See whether the organiser removed the board or its file was overwritten.",
    )
