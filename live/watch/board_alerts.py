"""What is wrong with a board's clocks, moves, pairing and result, or with how it is reported, and
draws to claim. Pure.
"""

from collections.abc import Iterator

import chess

from live.event.rate_game import COLORS
from live.games.game import LEAST_PLIES
from live.messages.alerts import AlertKind, Severity
from live.messages.from_sources import IN_DOUBT, NO_LONGER, NOT_READ, STANDS
from live.messages.values import Color
from live.watch.finding import Finding, dial, move_number, span
from live.watch.watched_board import (
    CLAIMED_TIMES,
    DRAWS,
    FIFTY_PLIES,
    SHALLOW_PLIES,
    WatchedBoard,
)

#: What people call each kind.
NAMES: dict[AlertKind, str] = {
    "illegal-move": "Illegal move in a feed",
    "illegal-stands": "Illegal move stands",
    "unreadable": "Game cannot be read",
    "sources-differ": "Sources contradict each other",
    "vanished": "Board gone from its source",
    "correction": "Move corrected",
    "takeback": "Move taken back",
    "clock-still": "No time used",
    "clock-rising": "Clock rises",
    "flag": "Flag",
    "stale": "Board stands still",
    "not-begun": "Board has not begun",
    "last-move": "Last move missing",
    "late-move": "Moves after the result",
    "result": "Result and position disagree",
    "result-corrected": "Result corrected",
    "drawn": "Drawn by the rules",
    "players-swapped": "Players swapped",
    "repetition": "Threefold repetition",
    "fifty-moves": "Fifty moves",
    "feed": "Feed",
    "engine": "Engine",
    "agreement": "Engine agreement",
    "plugin": "Plugin",
}

#: Things that have happened, rather than a state that lasts: an arbiter who takes note ends them.
PASSING: frozenset[AlertKind] = frozenset(
    {
        "correction",
        "takeback",
        "clock-rising",
        "late-move",
        "illegal-stands",
        "result-corrected",
        "players-swapped",
        "drawn",
        "flag",
        "last-move",
    }
)

#: Those that stay one entry while they stand; the text carries the count.
COUNTED: frozenset[AlertKind] = frozenset({"late-move"})


def is_lost(board: WatchedBoard) -> bool:
    """Whether moves were made that nobody could read."""
    problem = board.view.problem or ""
    # What an engine could not do is no fault of the source, and a name or a date no
    # move.
    known = ("no score", IN_DOUBT, NO_LONGER, NOT_READ)
    return problem != "" and not problem.startswith(known) and STANDS not in problem


def is_gone(board: WatchedBoard) -> bool:
    """Whether the source has lost this game; what is shown of it is the last that it sent."""
    return (board.view.problem or "").startswith(NO_LONGER)


# --- how it is reported ---------------------------------------------------------------------------


_SET_RIGHT = (
    "Set the pieces as they stand and correct the moves in the broadcast software; "
    "until then nothing after this move is known."
)
_ENTER = "Enter the rest of the moves in the broadcast software, from the score sheets."


def unread_moves(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """What keeps the moves from being read to their end, as an illegal one; and an illegal one that
    the laws let stand, since nobody claimed in time: the game is followed on from there.
    """
    problem, ply = board.view.problem or "", len(board.moves) + 1
    if STANDS in problem:
        advice = "Compare the move with the score sheets; it is followed from there."
        yield board.finding("illegal-stands", "warning", problem, advice, ply=ply)
    elif is_lost(board) and "illegal" in problem:
        urgent: tuple[Severity, str] = ("alarm", _SET_RIGHT)
        severity, advice = urgent if board.running else ("warning", _ENTER)
        yield board.finding("illegal-move", severity, problem, advice, ply=ply)
    elif is_lost(board):
        advice = "Look at the game in the broadcast software."
        yield board.finding("unreadable", "warning", problem, advice, ply=ply)


def vanished_boards(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """A game with moves that was whole, is nowhere any more, and was not over."""
    if not is_gone(board):
        return
    last = board.moves[-1] if board.moves else None
    most = f", its last move {move_number(last.ply)} {last.san}" if last else ""
    yield board.finding(
        "vanished",
        "warning",
        f"({board.view.white.name} - {board.view.black.name}) is no longer in its source;"
        f" it is shown as it was last{most}",
        "See whether the organiser removed the board or its file was overwritten.",
        after=" ",
    )


#: How much later than the other one source may learn of a correction, seconds.
SOURCES_WAIT_S = 60.0


def contradicting_sources(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """A move or a result that one source has and another has otherwise."""
    if (
        board.memory.dispute_s is not None
        and now_s - board.memory.dispute_s >= SOURCES_WAIT_S
    ):
        yield board.finding(
            "sources-differ",
            "warning",
            f"its sources contradict each other: {board.view.dispute}",
            "Compare with the score sheet, and have the wrong source corrected.",
        )


# --- what was reported and does not stand ---------------------------------------------------------

#: What does not stand is reported after this time, seconds: sources withdraw a move for a moment to
#: report its clock, kings set in the centre are withdrawn when the result comes, and where boards
#: are exchanged one has the other's moves a moment later, and all of it is one incident.
UNCLEAR_S = 2.0

_LAPSED: dict[AlertKind, str] = {
    "correction": "Compare the move with the board or the scoresheets.",
    "takeback": "Ask whether a move was retracted or the board was read wrongly.",
}


def corrected_moves(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Moves that were reported and do not stand: corrected or taken back."""
    for kind, lapse in board.memory.lapses.items():
        shallow, now = (
            lapse.back <= SHALLOW_PLIES,
            f"reported first and is now {lapse.now}",
        )
        recent = now_s - lapse.at_s < UNCLEAR_S
        early = board.running and recent and not shallow
        if lapse.now is None:
            now, early = "taken back", shallow and (recent or not board.running)
        if lapse.exchanged or early:
            continue
        more = "" if lapse.back == 1 else "; what followed is gone too"
        yield board.finding(
            kind,
            "look" if shallow else "warning",
            f"{move_number(lapse.ply)} {lapse.was} was {now}{more}",
            _LAPSED[kind],
            ply=lapse.ply,
            occurrence=lapse.times,
        )


#: A result that is withdrawn is reported after so many seconds: some sources withdraw it for a
#: moment to enter another.
WITHDRAWN_S = 5.0


def corrected_pairings(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """A decided result that became another, players who changed seats, and two boards that changed
    their moves with each other.
    """
    memory = board.memory
    if memory.exchanged_with:
        yield board.finding(
            "players-swapped",
            "warning",
            f"{memory.exchanged_with} seem exchanged: each has the moves that the other had",
            "See which board is connected to which game; correct the one or the other.",
            after=" and ",
            ply=None,
            about=f"{board.view.id} exchanged",
            other_game=memory.exchanged_game,
            occurrence=memory.exchanges,
        )
    change, now = memory.result_change, board.view.result
    if (
        change
        and change.was != now
        and (now != "*" or now_s - change.at_s >= WITHDRAWN_S)
    ):
        yield board.finding(
            "result-corrected",
            "warning",
            f"the result {change.was} {'was withdrawn' if now == '*' else f'is now {now}'}",
            "Compare it with the score sheet; standings and ratings use the new one.",
            ply=None,
            occurrence=change.times,
        )
    if memory.swaps:
        yield board.finding(
            "players-swapped",
            "warning",
            f"{board.view.white.name} is now White and {board.view.black.name} Black; "
            "it was the other way round",
            "Compare the colours with the pairing.",
            ply=None,
            occurrence=memory.swaps,
        )


# --- clocks ---------------------------------------------------------------------------------------


def clock_faults(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Clocks that stand still, or rise by more than the time control gives."""
    for color in COLORS:
        name, clock = board.name(color), board.clock(color)
        moves, clock_s = clock.unmoved, clock.clock_s
        if moves and clock_s is not None and board.running and not board.view.adjourned:
            yield board.finding(
                "clock-still",
                "warning",
                f"{name} used no time for {moves} moves; the clock shows {dial(clock_s)}",
                "See whether the clock runs and is connected to the board.",
                ply=clock.ply,
                color=color,
            )
        if rises := clock.rises:
            rise = rises[-1]
            yield board.finding(
                "clock-rising",
                "look",
                f"{name}'s clock rose from {dial(rise.from_s)} to {dial(rise.to_s)}, "
                f"{span(rise.over_s)} more than the increment",
                "Nothing if time was added as a penalty or correction; else compare the clocks.",
                ply=rise.ply,
                color=color,
                occurrence=len(rises),
            )


#: So long after the time is up a clock that runs on the arbiter's screen has shown 0:00, seconds:
#: by then the move of a punctual broadcast would have come.
SHOWN_S = 15.0
#: Broadcasts are late, and clocks are stopped for claims: this long after the time is up, seconds.
LATE_S = 90.0


def flag_fall(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """A flag that has fallen, and one that must have by now.

    A clock that has shown 0:00 stays noted whatever it shows later, as when the
    increment comes: whether the flag fell, the arbiter says (FIDE Laws 6.8). A result
    that is no win of this player explains it.
    """
    if board.view.adjourned or board.end is not None:
        return
    for color in COLORS:
        if color in board.memory.fallen:
            yield from _fallen_flag(board, color)
        elif board.running and board.moves:
            yield from _used_up_clock(board, color, now_s)


_AT_THE_BOARD = "Look at the clock; enter the result, or have the clock's feed mended."
_RULE = "Decide whether the flag fell (FIDE Laws 6.8), and acknowledge this then."


def _fallen_flag(board: WatchedBoard, color: Color) -> Iterator[Finding]:
    name = board.name(color)
    ply = board.memory.fallen[color]
    clock = board.clock(color)
    result = board.view.result
    won = "1-0" if color == "white" else "0-1"
    shown = f"{name}'s clock showed 0:00 at move {(ply + 1) // 2}"
    severity: Severity = "alarm"
    text = f"{shown}, and play went on"
    advice = _RULE
    if not board.running:
        if result != won:
            return
        severity = "warning"
        text = f"{shown}, but the result is {result}"
    elif clock.ply == ply and clock.clock_s is not None and clock.clock_s <= 0:
        text = f"{name}'s clock shows 0:00 and there is no result"
        advice = _AT_THE_BOARD
    number = _fall_number(ply, seen=True)
    yield board.finding("flag", severity, text, advice, color=color, occurrence=number)


def _used_up_clock(
    board: WatchedBoard, color: Color, now_s: float
) -> Iterator[Finding]:
    clock = board.clock(color)
    memory = board.memory
    if clock.clock_s is None or clock.time_to_come or color != board.to_move:
        return
    read_s = memory.moved_s if memory.read_s is None else memory.read_s
    ago_s = 0.0 if read_s is None else now_s - read_s
    if ago_s - clock.clock_s <= SHOWN_S:
        return
    text = (
        f"{board.name(color)} had {dial(clock.clock_s)} {span(ago_s)} ago, to move: "
        "the time must be up"
    )
    yield board.finding(
        "flag",
        "warning" if ago_s - clock.clock_s > LATE_S else "look",
        text,
        _AT_THE_BOARD,
        color=color,
        occurrence=_fall_number(clock.ply, seen=False),
    )


def _fall_number(ply: int, *, seen: bool) -> int:
    """Number what happens to a clock: that it must be at 0:00, and that it shows so."""
    return 2 * ply + seen


#: A wait of this many times the usual one is longer than people think.
TIMES_USUAL = 20.0
#: A wait of this share of the time on the clock is a think that happens.
CLOCK_SHARE = 0.5
#: Waits after which the usual one is known: the board's own, those of all boards of its source.
OWN_WAITS = 6
WAITS = 20
#: Moves on the other boards meanwhile: else it is the source that stands still, or a break.
MOVES_ELSEWHERE = 10


def stalled_boards(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """A board that stands still while others move.

    Measured over 336 games of an open with 90 minutes and 30 seconds a move: the longest think was
    49 minutes, 24 times the mean wait; 11 games had a wait of 15 times the mean that was also their
    longest, and one had a wait of 20 times it. Openings are played fast, so that early on the mean
    says little (of the six games of the demo, one has a think of half an hour where 20 times the
    mean are 26 minutes): a wait counts only when it is half of what the clock shows, too. That is
    measured in the time of the players' clocks, which where games are played back runs many times
    as fast as ours.
    """
    own, every = board.memory.pace, board.flow.pace
    if (
        not board.running
        or not board.moves
        or board.memory.moved_s is None
        or every.moves < WAITS
    ):
        return
    # The mean wait for a move, of this board or of all of its source, whichever is longer.
    usual_s = max(own.mean_s if own.moves >= OWN_WAITS else 0.0, every.mean_s)
    # How long the side to move may well think, by our clock; 0 where its clock is not known.
    think_s = (
        CLOCK_SHARE * (board.clock(board.to_move).clock_s or 0.0) / board.flow.speed
    )
    if board.waited_s(now_s) < max(TIMES_USUAL * usual_s, own.longest_s, think_s):
        return
    if board.moves_elsewhere < MOVES_ELSEWHERE or board.view.adjourned or board.end:
        return
    yield board.finding(
        "stale",
        "look",
        f"no move by {board.to_move.title()} for {span(now_s - board.memory.moved_s)}, "
        f"while other boards made {board.moves_elsewhere - board.moves_elsewhere % 10} or more; "
        f"a move here usually takes {span(usual_s)}",
        "See whether the game goes on and the board is connected.",
    )


#: Default times that are customary (FIDE Laws 6.7), seconds: who comes later loses.
DEFAULT_TIMES_S = (900.0, 1800.0, 3600.0)


def boards_not_begun(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """A board without a first move of White or Black long after the others of its round.

    No source says when a round begins, and each event has a default time of its own: so
    it is raised at each of the customary ones, after half of the boards had begun.
    """
    if not board.running or board.view.adjourned or len(board.moves) >= len(COLORS):
        return
    if board.round_began_s is None:
        return
    passed_s = now_s - board.round_began_s
    times = sum(passed_s >= each for each in DEFAULT_TIMES_S)
    if times:
        yield board.finding(
            "not-begun",
            "look",
            f"no move by {board.name(board.to_move)} {span(passed_s)} after the round began",
            "See whether the player is there (default time, FIDE Laws 6.7) and the "
            "board is connected.",
            occurrence=times,
        )


# --- results and endings --------------------------------------------------------------------------

#: How long the last moves may take to follow a result, seconds.
ENDING_WAIT_S = 60.0


def missing_endings(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Results that come without the last move, or before it.

    Only games that were seen running are looked at: of an old game nobody knows how it was entered.
    In 36 of 336 games of a real open the winner was to move when the game ended: the board had
    missed the last move, as a rule.
    """
    if board.memory.result_s is None or board.running:
        return
    if late := board.late_plies:
        moves = "a move" if late == 1 else f"{late} moves"
        yield board.finding(
            "late-move",
            "look",
            f"{moves} came after the result {board.view.result} was reported",
            "Compare the result and the last moves with the scoresheets.",
            occurrence=late,
        )
    if now_s - board.memory.result_s >= ENDING_WAIT_S and (missing := _missing(board)):
        advice = "Compare the last move with the scoresheets."
        yield board.finding("last-move", "look", missing, advice)


def _missing(board: WatchedBoard) -> str:
    result, ended = board.view.result, board.view.termination.casefold()
    if len(board.moves) < LEAST_PLIES:
        if result == "0-0" or "forfeit" in ended or "unplayed" in ended:
            return ""
        made = "only one move" if board.moves else "without any move"
        return f"{result} {made}: a forfeit, or the moves are missing"
    winner = {"1-0": "white", "0-1": "black"}.get(result)
    if winner is None or board.to_move != winner or board.mate_result:
        return ""
    # A flag that fell explains the result.
    loser_s = board.clock("black" if winner == "white" else "white").clock_s
    if (loser_s is not None and loser_s <= 0) or "time" in ended:
        return ""
    last = board.moves[-1]
    return (
        f"{result} after {move_number(last.ply)} {last.san}, with the winner to move: the last "
        "move may be missing"
    )


#: How long a result may take to follow a position that ends the game, seconds.
RESULT_WAIT_S = 60.0
#: Draws that the players need not have noticed: the arbiter has to step in.
_UNNOTICED = {
    chess.Termination.FIVEFOLD_REPETITION,
    chess.Termination.SEVENTYFIVE_MOVES,
}
#: The FIDE Law by which it ends the game.
_LAWS = {
    chess.Termination.STALEMATE: "5.2.1",
    chess.Termination.INSUFFICIENT_MATERIAL: "5.2.2",
    chess.Termination.FIVEFOLD_REPETITION: "9.6.1",
    chess.Termination.SEVENTYFIVE_MOVES: "9.6.2",
}


def games_drawn(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """A game that the rules have drawn while its source has no result.

    The move that did it counts, not the position on the board now: it is drawn though
    play goes on. (A mate has its result by the rules, so such a game does not run.)
    """
    end = board.end
    if end is None or end.why not in DRAWS or not board.running:
        return
    goes_on = len(board.moves) > end.ply or is_lost(board)
    moved_s = board.memory.moved_s
    is_due = moved_s is not None and now_s - moved_s >= RESULT_WAIT_S
    is_urgent = goes_on or end.why in _UNNOTICED
    if not is_urgent and not is_due:
        return
    what = "play goes on" if goes_on else "no result is reported"
    yield board.finding(
        "drawn",
        "alarm" if is_urgent else "warning",
        f"{DRAWS[end.why]} with {board.name_move(end.ply)}: it is drawn, and {what}",
        f"Drawn whatever anybody claims (FIDE Laws {_LAWS[end.why]}): "
        "end the game and enter the draw.",
        ply=end.ply,
        # Another end, after a correction, has happened since.
        occurrence=end.ply,
    )


#: A result against an evaluation of so much, centipawns, is looked at. In none of 201 games over
#: the board (100,000 nodes a search) was the loser ahead by more than 200 when the game ended.
AGAINST_CP = 300
#: With less than this left, seconds, a player may well have lost on time.
SHORT_S = 60.0

_Verdict = tuple[Severity, str, str]
_COMPARE = "Compare the result with the scoresheets"


def contradicted_results(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Results that the position on the board, or one before it, contradicts."""
    if board.moves and not board.running:
        found = _mate(board) or _drawn(board) or _lost(board)
        if found is not None:
            yield board.finding("result", *found)


def _mate(board: WatchedBoard) -> _Verdict | None:
    right, result = board.mate_result, board.view.result
    if right is None or result == right:
        return None
    text = f"mate is on the board, which is {right}, but the result is {result}"
    return "alarm", text, "Correct the result in the broadcast software."


def _drawn(board: WatchedBoard) -> _Verdict | None:
    end, result = board.end, board.view.result
    if end is None or end.why not in DRAWS or result not in ("1-0", "0-1"):
        return None
    why = DRAWS[end.why]
    if end.ply < len(board.moves):
        if not board.memory.ran:
            # Of an old game nobody knows by which rules it was played.
            return None
        why += f" with {board.name_move(end.ply)}"
    # A dead position is easily reached by taking the last piece while a flag falls.
    is_dead = end.why is chess.Termination.INSUFFICIENT_MATERIAL
    text = f"{why}, but the result is {result}"
    return "look" if is_dead else "warning", text, f"{_COMPARE}."


def _lost(board: WatchedBoard) -> _Verdict | None:
    result = board.view.result
    winner = {"1-0": chess.WHITE, "0-1": chess.BLACK}.get(result)
    if winner is None:
        return None
    if board.position().board.has_insufficient_material(winner):
        text = f"the result is {result}, but the winner cannot mate with what is left"
        return "look", text, f"{_COMPARE}; on time this would be a draw."
    last = board.moves[-1]
    left_s = board.clock("black" if winner else "white").clock_s
    if (
        not last.final
        or last.score_cp is None
        or (left_s is not None and left_s < SHORT_S)
    ):
        return None
    ahead_cp = -last.score_cp if winner else last.score_cp
    if ahead_cp < AGAINST_CP:
        return None
    ahead = f"{ahead_cp / 100:.0f} pawns"
    text = f"the result is {result}, but the loser stood better by {ahead}"
    return (
        "look",
        text,
        "See whether the result is the wrong way round, or the game was lost on time.",
    )


def draw_claims(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """What may be claimed now, or after the next move (FIDE Laws 9.2, 9.3)."""
    if not board.running or not board.moves:
        return
    track = board.position()
    halfmoves = track.board.halfmove_clock
    # Nothing can repeat within three plies of a capture or a pawn move.
    if halfmoves < 4 or track.end is not None:
        return
    advice = "Be near: the player to move may claim a draw."
    if track.times >= CLAIMED_TIMES:
        times = "third" if track.times == CLAIMED_TIMES else "fourth"
        text = f"the position stands for the {times} time"
        yield board.finding("repetition", "look", text, advice, occurrence=track.times)
    elif (move := track.third_time) is not None:
        text = f"{track.board.san(move)} would bring the position for the third time"
        yield board.finding("repetition", "look", text, advice)
    if halfmoves >= FIFTY_PLIES:
        text = f"{halfmoves // 2} moves without a capture or a pawn move"
        yield board.finding("fifty-moves", "look", text, advice, occurrence=2)
    elif halfmoves == FIFTY_PLIES - 1:
        text = "the next move can be the fiftieth without a capture or a pawn move"
        yield board.finding("fifty-moves", "look", text, advice)


#: Kinds of alert about a board.
_ALWAYS = (
    unread_moves,
    vanished_boards,
    corrected_moves,
    corrected_pairings,
    clock_faults,
    contradicting_sources,
    games_drawn,
)
#: What rests on knowing where the board stands.
_WHILE_READ = (
    flag_fall,
    stalled_boards,
    boards_not_begun,
    missing_endings,
    contradicted_results,
    draw_claims,
)


def board_findings(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Findings of every kind about one board."""
    read = not is_lost(board) and not is_gone(board)
    for kind in (*_ALWAYS, *_WHILE_READ) if read else _ALWAYS:
        yield from kind(board, now_s)
