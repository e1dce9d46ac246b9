"""Draws that can be claimed: threefold repetition and fifty moves. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.board.board_history import FIFTY_PLIES, BoardHistory
from live.alerts.finding import Finding

_CLAIM = "Be near: the player to move may claim a draw."


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """What stands on the board, or can be brought about by the next move (FIDE Laws 9.2, 9.3)."""
    if not board.running or not board.moves:
        return
    track = board.position()
    # Nothing can repeat within three plies of a capture or a pawn move.
    if track.board.halfmove_clock < 4:
        return
    if track.times >= 3:
        yield _finding(board, f"the position stands for the {_ordinal(track.times)} time")
    elif (move := track.third_time) is not None:
        san = track.board.san(move)
        yield _finding(board, f"{san} would bring the position for the third time")
    moves = track.board.halfmove_clock // 2
    if track.board.halfmove_clock >= FIFTY_PLIES:
        yield _fifty(board, f"{moves} moves without a capture or a pawn move")
    elif track.board.halfmove_clock == FIFTY_PLIES - 1:
        yield _fifty(board, "the next move can be the fiftieth without a capture or a pawn move")


def _ordinal(times: int) -> str:
    return {3: "third", 4: "fourth", 5: "fifth"}.get(times, f"{times}th")


def _finding(board: BoardHistory, text: str) -> Finding:
    return Finding(
        kind="repetition",
        severity="look",
        game=board.view.id,
        ply=len(board.moves),
        text=f"{board.label}: {text}.",
        advice=_CLAIM,
    )


def _fifty(board: BoardHistory, text: str) -> Finding:
    return Finding(
        kind="fifty-moves",
        severity="look",
        game=board.view.id,
        ply=len(board.moves),
        text=f"{board.label}: {text}.",
        advice=_CLAIM,
    )
