"""Alerts about results, endings of games and draws that can be claimed. Pure.

Each public function finds one kind of alert.
"""

from collections.abc import Iterator

import chess

from live.games.game import LEAST_PLIES
from live.messages.alerts import Severity
from live.watch.finding import Finding
from live.watch.played_position import CLAIMED_TIMES, DRAWS_WITHOUT_CLAIM, FIFTY_PLIES
from live.watch.reporting_alerts import has_unread_moves
from live.watch.sides import find_opponent_color, find_winner
from live.watch.watched_board import WatchedBoard

#: Delay between a result and an alert about missing last moves, seconds.
ENDING_WAIT_S = 60.0
#: Delay between the move that ends a game and an alert about a missing result, seconds.
RESULT_WAIT_S = 60.0
#: Draws that the players can overlook, so that the arbiter must end the game.
_UNNOTICED = {
    chess.Termination.FIVEFOLD_REPETITION,
    chess.Termination.SEVENTYFIVE_MOVES,
}
#: The article of the FIDE Laws for each draw without a claim.
_LAWS = {
    chess.Termination.STALEMATE: "5.2.1",
    chess.Termination.INSUFFICIENT_MATERIAL: "5.2.2",
    chess.Termination.FIVEFOLD_REPETITION: "9.6.1",
    chess.Termination.SEVENTYFIVE_MOVES: "9.6.2",
}
#: Minimum advantage of the loser in the last position that raises an alert, centipawns.
#: In 201 over-the-board games (100,000 nodes per search) no loser was ahead by more
#: than 200 centipawns when the game ended.
AGAINST_CP = 300
#: Remaining time, seconds, below which the loser has probably lost on time.
SHORT_S = 60.0

_Verdict = tuple[Severity, str, str]
_COMPARE = "Compare the result with the scoresheets"
_CLAIM = "Stay near the board: the player to move may claim a draw."


def find_late_moves(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find moves that were reported after the result.

    They can be found only if the service saw the game in progress.
    """
    late_plies = board.late_plies
    if board.memory.result_s is None or board.is_running or not late_plies:
        return
    moves = "a move" if late_plies == 1 else f"{late_plies} moves"
    yield board.build_finding(
        "late-move",
        "look",
        f"{moves} came after the result {board.view.result} was reported",
        "Compare the result and the last moves with the scoresheets.",
        occurrence=late_plies,
    )


def find_missing_last_move(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a result that was reported without the last move.

    It can be found only if the service saw the game in progress. In 36 of 336 games of
    an open tournament the winner was to move at the end: usually the electronic board
    had missed the last move.
    """
    result_s = board.memory.result_s
    if result_s is None or board.is_running or now_s - result_s < ENDING_WAIT_S:
        return
    missing = _describe_missing_move(board)
    if missing:
        advice = "Compare the last move with the scoresheets."
        yield board.build_finding("last-move", "look", missing, advice)


def _describe_missing_move(board: WatchedBoard) -> str:
    """Return a text about moves that seem to be missing at the end; empty if none."""
    result = board.view.result
    ended = board.view.termination.casefold()
    if board.ply_count < LEAST_PLIES:
        if result == "0-0" or "forfeit" in ended or "unplayed" in ended:
            return ""
        number_of_moves = "only one move" if board.ply_count else "without any move"
        return f"{result} {number_of_moves}: a forfeit, or the moves are missing"
    winner = find_winner(result)
    if winner is None or board.to_move != winner or board.mate_result:
        return ""
    # A loss on time explains why the winner is to move.
    loser_s = board.read_clock(find_opponent_color(winner)).clock_s
    if (loser_s is not None and loser_s <= 0) or "time" in ended:
        return ""
    return (
        f"{result} after {board.name_move(board.ply_count)}, with the winner to move:"
        " the last move may be missing"
    )


def find_drawn_game(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a game that is drawn by the rules but has no result in its source.

    The alert is about the move that drew the game, even if more moves followed it. A
    game that ended by mate is not found, because it gets its result from the rules.
    """
    end = board.end
    if (
        end is None
        or end.termination not in DRAWS_WITHOUT_CLAIM
        or not board.is_running
    ):
        return
    goes_on = board.ply_count > end.ply or has_unread_moves(board)
    moved_s = board.memory.moved_s
    is_due = moved_s is not None and now_s - moved_s >= RESULT_WAIT_S
    is_urgent = goes_on or end.termination in _UNNOTICED
    if not is_urgent and not is_due:
        return
    state = "play goes on" if goes_on else "no result is reported"
    yield board.build_finding(
        "drawn",
        "alarm" if is_urgent else "warning",
        f"{DRAWS_WITHOUT_CLAIM[end.termination]} with {board.name_move(end.ply)}: "
        f"it is drawn, and {state}",
        (
            f"It is drawn without a claim (FIDE Laws {_LAWS[end.termination]}): "
            "stop the game and enter the draw."
        ),
        ply=end.ply,
        # If a correction moves the end to another ply, the alert is raised again.
        occurrence=end.ply,
    )


def find_contradicted_result(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a result that is contradicted by the last position or an earlier one."""
    if not board.ply_count or board.is_running:
        return
    verdict = _contradict_by_mate(board)
    if verdict is None:
        verdict = _contradict_by_draw(board)
    if verdict is None:
        verdict = _contradict_by_material(board)
    if verdict is None:
        verdict = _contradict_by_advantage(board)
    if verdict is not None:
        yield board.build_finding("result", *verdict)


def _contradict_by_mate(board: WatchedBoard) -> _Verdict | None:
    mate_result = board.mate_result
    result = board.view.result
    if mate_result is None or result == mate_result:
        return None
    text = f"mate is on the board, which is {mate_result}, but the result is {result}"
    return "alarm", text, "Correct the result in the broadcast software."


def _contradict_by_draw(board: WatchedBoard) -> _Verdict | None:
    end = board.end
    result = board.view.result
    if (
        end is None
        or end.termination not in DRAWS_WITHOUT_CLAIM
        or result not in ("1-0", "0-1")
    ):
        return None
    draw = DRAWS_WITHOUT_CLAIM[end.termination]
    if end.ply < board.ply_count:
        if not board.memory.ran:
            # It is unknown which rules applied to an old game.
            return None
        draw += f" with {board.name_move(end.ply)}"
    # Insufficient material is a less serious contradiction: a player can take the last
    # piece at the moment when a flag falls.
    is_dead = end.termination is chess.Termination.INSUFFICIENT_MATERIAL
    text = f"{draw}, but the result is {result}"
    return "look" if is_dead else "warning", text, f"{_COMPARE}."


def _contradict_by_material(board: WatchedBoard) -> _Verdict | None:
    result = board.view.result
    winner = find_winner(result)
    if winner is None:
        return None
    if not board.position.board.has_insufficient_material(winner == "white"):
        return None
    text = f"the result is {result}, but the winner cannot mate with these pieces"
    return "look", text, f"{_COMPARE}; a loss on time would be a draw here."


def _contradict_by_advantage(board: WatchedBoard) -> _Verdict | None:
    result = board.view.result
    winner = find_winner(result)
    if winner is None:
        return None
    last = board.last_move
    if last is None or not last.final or last.score_cp is None:
        return None
    left_s = board.read_clock(find_opponent_color(winner)).clock_s
    if left_s is not None and left_s < SHORT_S:
        return None
    ahead_cp = -last.score_cp if winner == "white" else last.score_cp
    if ahead_cp < AGAINST_CP:
        return None
    ahead = f"{ahead_cp / 100:.0f} pawns"
    text = f"the result is {result}, but the loser was {ahead} ahead"
    advice = "Check whether the result was reversed or the game was lost on time."
    return "look", text, advice


def find_repetition(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a repetition that can be claimed now or with the next move.

    See FIDE Laws 9.2.
    """
    if not _may_be_claimed(board):
        return
    position = board.position
    times = position.times
    move = position.move_to_third_occurrence
    if times >= CLAIMED_TIMES:
        word = "third" if times == CLAIMED_TIMES else "fourth"
        text = f"the position is on the board for the {word} time"
        yield board.build_finding("repetition", "look", text, _CLAIM, occurrence=times)
    elif move is not None:
        san = position.board.san(move)
        text = f"{san} would repeat the position for the third time"
        yield board.build_finding("repetition", "look", text, _CLAIM)


def find_fifty_moves(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a fifty-move draw that can be claimed now or with the next move.

    See FIDE Laws 9.3.
    """
    if not _may_be_claimed(board):
        return
    plies = board.position.board.halfmove_clock
    if plies >= FIFTY_PLIES:
        text = f"{plies // 2} moves without a capture or a pawn move"
        yield board.build_finding("fifty-moves", "look", text, _CLAIM, occurrence=2)
    elif plies == FIFTY_PLIES - 1:
        text = "the next move can be the fiftieth without a capture or a pawn move"
        yield board.build_finding("fifty-moves", "look", text, _CLAIM)


def _may_be_claimed(board: WatchedBoard) -> bool:
    """Return whether a game is in progress and a draw by claim is possible at all."""
    if not board.is_running or not board.ply_count or board.end is not None:
        return False
    # No position can repeat within three plies after a capture or a pawn move.
    return board.position.board.halfmove_clock >= 4
