"""Results that come without the last move, or before it. Pure.

Only games that were seen running are looked at: of an old game nobody knows how it was entered.
In 36 of 336 games of a real open the winner was to move when the game ended: the board had missed
the last move, as a rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding, move_number

#: How long the last moves may take to follow a result, seconds.
WAIT_S = 60.0


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    if board.result_s is None or board.running:
        return
    if board.late_plies:
        moves = "a move" if board.late_plies == 1 else f"{board.late_plies} moves"
        yield Finding(
            kind="late-move",
            severity="look",
            game=board.view.id,
            ply=len(board.moves),
            occurrence=board.late_plies,
            text=f"{board.label}: {moves} came after the result {board.view.result} was reported.",
            advice="Compare the result and the last moves with the scoresheets.",
        )
    if now_s - board.result_s < WAIT_S:
        return
    missing = _missing(board)
    if missing:
        yield Finding(
            kind="last-move",
            severity="look",
            game=board.view.id,
            ply=len(board.moves),
            text=f"{board.label}: {missing}.",
            advice="Compare the last move with the scoresheets.",
        )


def _missing(board: BoardHistory) -> str:
    result = board.view.result
    if not board.moves:
        return f"{result} without any move: a forfeit, or the moves are missing"
    winner = {"1-0": "white", "0-1": "black"}.get(result)
    if winner is None or board.to_move != winner or board.position().mated:
        return ""
    last = board.moves[-1]
    return (
        f"{result} after {move_number(last.ply)} {last.san}, with the winner to move: the last "
        "move may be missing"
    )
