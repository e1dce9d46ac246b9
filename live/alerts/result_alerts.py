"""Results and endings that do not fit the position, and draws to claim. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import chess

from live.alerts.board_history import FIFTY_PLIES, BoardHistory
from live.alerts.finding import Finding, move_number
from live.events import Result, Severity

#: How long the last moves may take to follow a result, seconds.
ENDING_WAIT_S = 60.0


def missing_endings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """Results that come without the last move, or before it.

    Only games that were seen running are looked at: of an old game nobody knows how it was entered.
    In 36 of 336 games of a real open the winner was to move when the game ended: the board had
    missed the last move, as a rule.
    """
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
    if now_s - board.result_s < ENDING_WAIT_S:
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


#: How long a result may take to follow a position that ends the game, seconds.
RESULT_WAIT_S = 60.0
#: A result against an evaluation of so much, centipawns, is looked at. In none of 201 games over
#: the board (100,000 nodes a search) was the loser ahead by more than 200 when the game ended.
AGAINST_CP = 300
#: With less than this left, seconds, a player may well have lost on time.
SHORT_S = 60.0


def contradicted_results(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """Results that the position on the board contradicts."""
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
    return board.moved_s is None or now_s - board.moved_s < RESULT_WAIT_S


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


_CLAIM = "Be near: the player to move may claim a draw."


def draw_claims(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """What stands on the board, or can be brought about by the next move (FIDE Laws 9.2, 9.3)."""
    if not board.running or not board.moves:
        return
    track = board.position()
    # Nothing can repeat within three plies of a capture or a pawn move.
    if track.board.halfmove_clock < 4:
        return
    if track.times >= 3:
        yield _claim_finding(board, f"the position stands for the {_ordinal(track.times)} time")
    elif (move := track.third_time) is not None:
        san = track.board.san(move)
        yield _claim_finding(board, f"{san} would bring the position for the third time")
    moves = track.board.halfmove_clock // 2
    if track.board.halfmove_clock >= FIFTY_PLIES:
        yield _fifty(board, f"{moves} moves without a capture or a pawn move")
    elif track.board.halfmove_clock == FIFTY_PLIES - 1:
        yield _fifty(board, "the next move can be the fiftieth without a capture or a pawn move")


def _ordinal(times: int) -> str:
    return {3: "third", 4: "fourth", 5: "fifth"}.get(times, f"{times}th")


def _claim_finding(board: BoardHistory, text: str) -> Finding:
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
