"""A table of all alerts about a board, with the functions that find them. Pure."""

from collections.abc import Callable, Iterator

from live.messages.alerts import AlertKind
from live.watch import clock_alerts, reporting_alerts, result_alerts
from live.watch.finding import Finding
from live.watch.watched_board import WatchedBoard

Rule = Callable[[WatchedBoard, float], Iterator[Finding]]
"""A function that yields findings of one kind. Its arguments are a board and the
current time, seconds since 1970 UTC.
"""

#: Kinds that are checked at every board.
ALWAYS: dict[AlertKind, Rule] = {
    "illegal-move": reporting_alerts.find_illegal_move,
    "illegal-stands": reporting_alerts.find_standing_illegal_move,
    "unreadable": reporting_alerts.find_unreadable_moves,
    "vanished": reporting_alerts.find_vanished_game,
    "correction": reporting_alerts.find_correction,
    "takeback": reporting_alerts.find_takeback,
    "result-corrected": reporting_alerts.find_result_correction,
    "players-swapped": reporting_alerts.find_player_swap,
    "sources-differ": reporting_alerts.find_source_dispute,
    "clock-still": clock_alerts.find_still_clock,
    "clock-rising": clock_alerts.find_rising_clock,
    "drawn": result_alerts.find_drawn_game,
}
#: Kinds that are checked only while all moves of the game can be read.
WHILE_READ: dict[AlertKind, Rule] = {
    "flag": clock_alerts.find_fallen_flag,
    "stale": clock_alerts.find_stalled_board,
    "not-begun": clock_alerts.find_board_not_begun,
    "late-move": result_alerts.find_late_moves,
    "last-move": result_alerts.find_missing_last_move,
    "result": result_alerts.find_contradicted_result,
    "repetition": result_alerts.find_repetition,
    "fifty-moves": result_alerts.find_fifty_moves,
}


def find_board_alerts(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Yield the findings of all alert rules that apply to one board."""
    for find in ALWAYS.values():
        yield from find(board, now_s)
    if reporting_alerts.has_unread_moves(board) or reporting_alerts.has_vanished(board):
        return
    for find in WHILE_READ.values():
        yield from find(board, now_s)
