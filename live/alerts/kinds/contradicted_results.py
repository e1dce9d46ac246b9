"""Results that the position on the board contradicts. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import chess

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding
from live.events import Result, Severity

#: How long a result may take to follow a position that ends the game, seconds.
WAIT_S = 60.0
#: A result against an evaluation of so much, centipawns, is looked at. In none of 201 games over
#: the board (100,000 nodes a search) was the loser ahead by more than 200 when the game ended.
AGAINST_CP = 300
#: With less than this left, seconds, a player may well have lost on time.
SHORT_S = 60.0


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    if not board.moves:
        return
    found = _mate(board, now_s) or _drawn(board, now_s) or _lost(board)
    if found is None:
        return
    severity, text, advice = found
    yield Finding(
        kind="result",
        severity=severity,
        game=board.view.id,
        ply=len(board.moves),
        text=f"{board.label}: {text}.",
        advice=advice,
    )


Verdict = tuple[Severity, str, str]

_ENTER = "Correct the result in the broadcast software."


def _mate(board: BoardHistory, now_s: float) -> Verdict | None:
    if not board.moves[-1].san.endswith("#"):
        return None
    right: Result = "0-1" if board.to_move == "white" else "1-0"
    if board.view.result == right or (board.running and _just_moved(board, now_s)):
        return None
    return ("alarm", f"mate is on the board, which is {right}, but {_told(board)}", _ENTER)


def _drawn(board: BoardHistory, now_s: float) -> Verdict | None:
    result = board.view.result
    if result not in ("*", "1-0", "0-1"):
        return None
    why = board.position().drawn
    if not why:
        return None
    if result == "*":
        if _just_moved(board, now_s):
            return None
        return ("warning", f"{why}, and no result is reported", "Enter the draw.")
    # A dead position is easily reached by taking the last piece while a flag falls.
    severity: Severity = "look" if board.position().board.is_insufficient_material() else "warning"
    return (severity, f"{why}, but {_told(board)}", "Compare the result with the scoresheets.")


def _just_moved(board: BoardHistory, now_s: float) -> bool:
    """The result may still come."""
    return board.moved_s is None or now_s - board.moved_s < WAIT_S


def _lost(board: BoardHistory) -> Verdict | None:
    result = board.view.result
    winner = {"1-0": chess.WHITE, "0-1": chess.BLACK}.get(result)
    if winner is None:
        return None
    if board.position().board.has_insufficient_material(winner):
        return (
            "look",
            f"{_told(board)}, but the winner cannot mate with what is left",
            "Compare the result with the scoresheets; on time this would be a draw.",
        )
    last = board.moves[-1]
    left_s = board.clocks.last_s("black" if winner else "white")
    if not last.final or last.score_cp is None or (left_s is not None and left_s < SHORT_S):
        return None
    ahead_cp = -last.score_cp if winner else last.score_cp
    if ahead_cp < AGAINST_CP:
        return None
    return (
        "look",
        f"{_told(board)}, but the loser stood better by {ahead_cp / 100:.0f} pawns",
        "See whether the result is the wrong way round, or the game was lost on time.",
    )


def _told(board: BoardHistory) -> str:
    result = board.view.result
    return "no result is reported" if result == "*" else f"the result is {result}"
