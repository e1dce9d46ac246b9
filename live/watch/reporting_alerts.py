"""Alerts about errors in the reports of moves, results and players. Pure.

Each public function named ``find_…`` finds one kind of alert.
"""

from collections.abc import Iterator

from live.messages.alerts import AlertKind, Severity
from live.messages.from_sources import IN_DOUBT, NO_LONGER, NOT_READ, STANDS
from live.watch.finding import Finding
from live.watch.watched_board import SHALLOW_PLIES, WatchedBoard

#: Time for which two sources can disagree before an alert, seconds. A correction can
#: reach one source later than the other.
SOURCES_WAIT_S = 60.0
#: Delay before a correction or takeback raises an alert, seconds. Until then it can
#: turn out to have another cause: a source withdraws a move briefly to report its
#: clock, the players put the kings in the centre before the result arrives, or two
#: boards are exchanged.
UNCLEAR_S = 2.0
#: Delay before a withdrawn result raises an alert, seconds. Some sources withdraw a
#: result briefly in order to enter another one.
WITHDRAWN_S = 5.0


def has_unread_moves(board: WatchedBoard) -> bool:
    """Return whether the source reported moves that cannot be read."""
    problem = board.view.problem or ""
    # Problems that begin with these texts are not about unreadable moves.
    other_problems = ("no score", IN_DOUBT, NO_LONGER, NOT_READ)
    return (
        problem != ""
        and not problem.startswith(other_problems)
        and STANDS not in problem
    )


def has_vanished(board: WatchedBoard) -> bool:
    """Return whether the game has disappeared from its source.

    Screens still show the last state of such a game.
    """
    return (board.view.problem or "").startswith(NO_LONGER)


def find_illegal_move(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find an illegal move after which no more moves can be read."""
    if not has_unread_moves(board) or not _is_illegal(board):
        return
    if board.is_running:
        yield _report_problem(
            board,
            "illegal-move",
            "alarm",
            "In the broadcast software, set the pieces as on the board and correct the"
            " moves; until then nothing after this move is known.",
        )
    else:
        yield _report_problem(
            board,
            "illegal-move",
            "warning",
            "Enter the other moves from the scoresheets in the broadcast software.",
        )


def find_standing_illegal_move(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find an illegal move that stands because nobody claimed it in time."""
    if STANDS in (board.view.problem or ""):
        advice = (
            "Compare the move with the scoresheet; the game is followed from there."
        )
        yield _report_problem(board, "illegal-stands", "warning", advice)


def find_unreadable_moves(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find moves that cannot be read for a reason other than an illegal move."""
    if has_unread_moves(board) and not _is_illegal(board):
        advice = "Look at the game in the broadcast software."
        yield _report_problem(board, "unreadable", "warning", advice)


def _is_illegal(board: WatchedBoard) -> bool:
    return "illegal" in (board.view.problem or "")


def _report_problem(
    board: WatchedBoard, kind: AlertKind, severity: Severity, advice: str
) -> Finding:
    """Return a finding with the problem of a board, at the ply after the last move."""
    text = board.view.problem or ""
    ply = board.ply_count + 1
    return board.build_finding(kind, severity, text, advice, ply=ply)


def find_vanished_game(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a game that has disappeared from its source."""
    if not has_vanished(board):
        return
    last = board.ply_count
    last_words = f", after {board.name_move(last)}" if last else ""
    yield board.build_finding(
        "vanished",
        "warning",
        f"({board.view.white.name} - {board.view.black.name}) is no longer in its"
        f" source; its last known state is shown{last_words}",
        "Ask whether the organiser removed the board or overwrote its file.",
        after=" ",
    )


def find_source_dispute(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a game of which two sources report different moves or results."""
    since_s = board.memory.dispute_s
    if since_s is None or now_s - since_s < SOURCES_WAIT_S:
        return
    yield board.build_finding(
        "sources-differ",
        "warning",
        f"its sources contradict each other: {board.view.dispute}",
        "Compare with the scoresheet, and have the wrong source corrected.",
    )


def find_correction(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find moves that were reported and later replaced by others."""
    lapse = board.memory.lapses.get("correction")
    if lapse is None or lapse.exchanged:
        return
    is_shallow = lapse.back <= SHALLOW_PLIES
    is_recent = now_s - lapse.at_s < UNCLEAR_S
    # The next report can show that two boards were exchanged.
    if board.is_running and is_recent and not is_shallow:
        return
    change = f"reported first and is now {lapse.now}"
    advice = "Compare the move with the board or the scoresheets."
    yield _build_lapse(board, "correction", change, advice)


def find_takeback(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find moves that were reported and later taken back."""
    lapse = board.memory.lapses.get("takeback")
    if lapse is None:
        return
    is_shallow = lapse.back <= SHALLOW_PLIES
    is_recent = now_s - lapse.at_s < UNCLEAR_S
    # A source can withdraw a move to report it again with its clock, or because the
    # result followed.
    if is_shallow and (is_recent or not board.is_running):
        return
    advice = "Ask whether a move was retracted or the board was read wrongly."
    yield _build_lapse(board, "takeback", "taken back", advice)


def _build_lapse(
    board: WatchedBoard, kind: AlertKind, change: str, advice: str
) -> Finding:
    lapse = board.memory.lapses[kind]
    consequence = "" if lapse.back == 1 else "; the moves after it are gone"
    return board.build_finding(
        kind,
        "look" if lapse.back <= SHALLOW_PLIES else "warning",
        f"{board.number_move(lapse.ply)} {lapse.was} was {change}{consequence}",
        advice,
        ply=lapse.ply,
        occurrence=lapse.times,
    )


def find_result_correction(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a decided result that was changed or withdrawn."""
    change = board.memory.result_change
    now = board.view.result
    if change is None or change.was == now:
        return
    if now != "*":
        became = f"is now {now}"
    elif now_s - change.at_s >= WITHDRAWN_S:
        became = "was withdrawn"
    else:
        return
    yield board.build_finding(
        "result-corrected",
        "warning",
        f"the result {change.was} {became}",
        "Compare it with the scoresheet; standings and ratings use the new result.",
        ply=None,
        occurrence=change.times,
    )


def find_player_swap(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find players who changed colours, and two boards that exchanged their moves."""
    memory = board.memory
    if memory.exchanged_with:
        yield board.build_finding(
            "players-swapped",
            "warning",
            f"{memory.exchanged_with} seem to be swapped:"
            " each has the moves that the other had",
            "Check which board is connected to which game, and correct it.",
            after=" and ",
            ply=None,
            about=f"{board.view.id} exchanged",
            other_game=memory.exchanged_game,
            occurrence=memory.exchanges,
        )
    if memory.swaps:
        yield board.build_finding(
            "players-swapped",
            "warning",
            f"{board.view.white.name} is now White and {board.view.black.name} Black; "
            "it was the other way round",
            "Compare the colours with the pairing.",
            ply=None,
            occurrence=memory.swaps,
        )
