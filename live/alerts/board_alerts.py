"""What is wrong with a board's clocks, moves and pairing, or with how it is reported. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from live.alerts.board_history import BoardHistory, Lapse
from live.alerts.finding import Finding, dial, move_number, span
from live.events import IN_DOUBT, NO_LONGER, STANDS, Color


def is_lost(board: BoardHistory) -> bool:
    """Whether moves were made that nobody could read."""
    problem = board.view.problem
    # What an engine could not do is no fault of the source.
    return problem is not None and not (
        problem.startswith(("no score", IN_DOUBT, NO_LONGER)) or STANDS in problem
    )


def unreadable_games(board: BoardHistory, now_s: float) -> Iterator[Finding]:
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


#: As the problem of the game names the move.
_AT_PLY = re.compile(r"at ply (\d+)")


def standing_illegal_moves(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """The laws let it stand when nobody claimed in time; the game is followed on from there."""
    problem = board.view.problem or ""
    if STANDS in problem:
        yield Finding(
            kind="illegal-stands",
            severity="warning",
            game=board.view.id,
            ply=int(found[1]) if (found := _AT_PLY.search(problem)) else len(board.moves),
            text=f"{board.label}: {problem}.",
            advice="Compare the move with the score sheets; it is followed from there.",
        )


def is_gone(board: BoardHistory) -> bool:
    """Whether the source has lost this game; what is shown of it is the last that it sent."""
    return (board.view.problem or "").startswith(NO_LONGER)


def vanished_boards(board: BoardHistory, now_s: float) -> Iterator[Finding]:
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


#: A lapse of at most this many plies is a slip of a sensor or of the operator's hand.
SHALLOW_PLIES = 2
#: Such a slip is over when this many plies stand upon it.
SETTLED_PLIES = 6
#: A takeback is reported after this time, seconds: sources withdraw a move for a moment to report
#: its clock, and kings set in the centre are withdrawn when the result comes.
TAKEBACK_S = 2.0


def corrected_moves(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """Moves that were reported and do not stand: corrected or taken back."""
    correction, takeback = board.lapses.get("correction"), board.lapses.get("takeback")
    if correction is not None and not _settled(board, correction):
        deep = correction.back > SHALLOW_PLIES
        yield Finding(
            kind="correction",
            severity="warning" if deep else "look",
            game=board.view.id,
            ply=correction.ply,
            occurrence=correction.times,
            text=(
                f"{board.label}: {move_number(correction.ply)} {correction.was} was reported first "
                f"and is now {correction.now}{_with_it(correction)}."
            ),
            advice="Compare the move with the board or the scoresheets.",
        )
    if takeback is not None and not _settled(board, takeback):
        shallow = takeback.back <= SHALLOW_PLIES
        if shallow and (not board.running or now_s - takeback.at_s < TAKEBACK_S):
            return
        yield Finding(
            kind="takeback",
            severity="look" if shallow else "warning",
            game=board.view.id,
            ply=takeback.ply,
            occurrence=takeback.times,
            text=(
                f"{board.label}: {move_number(takeback.ply)} {takeback.was} was taken back"
                f"{_with_it(takeback)}."
            ),
            advice="Ask whether a move was retracted or the board was read wrongly.",
        )


def _settled(board: BoardHistory, lapse: Lapse) -> bool:
    return lapse.back <= SHALLOW_PLIES and len(board.moves) >= lapse.plies + SETTLED_PLIES


def _with_it(lapse: Lapse) -> str:
    return "" if lapse.back == 1 else f", {lapse.back} plies with it"


#: A result that is withdrawn is reported after so many seconds: some sources withdraw it for a
#: moment to enter another.
WITHDRAWN_S = 5.0


def corrected_pairings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """A decided result that became another, and players who changed seats."""
    change = board.result_change
    if change is not None and change.was != board.view.result:
        now = board.view.result
        if now != "*" or now_s - change.at_s >= WITHDRAWN_S:
            what = "was withdrawn" if now == "*" else f"is now {now}"
            yield Finding(
                kind="result-corrected",
                severity="warning",
                game=board.view.id,
                occurrence=change.times,
                text=f"{board.label}: the result {change.was} {what}.",
                advice="Compare it with the score sheet; standings and ratings use the new one.",
            )
    if board.swaps:
        yield Finding(
            kind="players-swapped",
            severity="warning",
            game=board.view.id,
            occurrence=board.swaps,
            text=(
                f"{board.label}: {board.view.white.name} is now White and"
                f" {board.view.black.name} Black; it was the other way round."
            ),
            advice="Compare the colours with the pairing.",
        )


COLORS: tuple[Color, ...] = get_args(Color)


def clock_faults(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """Clocks that stand still, or rise by more than the time control gives."""
    for color in COLORS:
        yield from _still(board, color)
        yield from _rising(board, color)


def _still(board: BoardHistory, color: Color) -> Iterator[Finding]:
    moves = board.clocks.unmoved(color)
    clock_s = board.clocks.last_s(color)
    if not moves or clock_s is None or not board.running:
        return
    yield Finding(
        kind="clock-still",
        severity="warning",
        game=board.view.id,
        ply=board.clocks.last_ply(color),
        color=color,
        player=board.name(color),
        text=(
            f"{board.label}: {board.name(color)} used no time for {moves} moves; the clock shows "
            f"{dial(clock_s)}."
        ),
        advice="See whether the clock runs and is connected to the board.",
    )


def _rising(board: BoardHistory, color: Color) -> Iterator[Finding]:
    rises = board.clocks.rises(color)
    if not rises:
        return
    rise = rises[-1]
    yield Finding(
        kind="clock-rising",
        severity="look",
        game=board.view.id,
        ply=rise.ply,
        color=color,
        player=board.name(color),
        occurrence=len(rises),
        text=(
            f"{board.label}: {board.name(color)}'s clock rose from {dial(rise.from_s)} to "
            f"{dial(rise.to_s)}, {span(rise.over_s)} more than the increment."
        ),
        advice="Nothing if time was added as a penalty or correction; else compare the clocks.",
    )


#: How much later than the other one source may learn of a correction, seconds.
SOURCES_WAIT_S = 60.0


def contradicting_sources(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """A move or a result that one source has and another has otherwise."""
    if board.dispute_s is None or now_s - board.dispute_s < SOURCES_WAIT_S:
        return
    yield Finding(
        kind="sources-differ",
        severity="warning",
        game=board.view.id,
        ply=len(board.moves),
        text=f"{board.label}: its sources contradict each other: {board.view.dispute}.",
        advice="Compare with the score sheet, and have the wrong source corrected.",
    )


#: Broadcasts are late, and clocks are stopped for claims: this long after the time is up, seconds.
LATE_S = 90.0


def flag_fall(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """A flag that has fallen, or must have by now."""
    if not board.running or not board.moves or board.moves[-1].san.endswith("#"):
        return
    for color in get_args(Color):
        clock_s = board.clocks.last_s(color)
        if clock_s is not None and clock_s <= 0:
            yield _flag_finding(
                board,
                color,
                "alarm",
                f"{board.name(color)}'s clock shows 0:00 and there is no result",
            )
    color = board.to_move
    clock_s = board.clocks.last_s(color)
    if clock_s is None or clock_s <= 0 or board.moved_s is None:
        return
    over_s = now_s - board.moved_s - clock_s
    if over_s > LATE_S:
        yield _flag_finding(
            board,
            color,
            "warning",
            f"{board.name(color)} had {dial(clock_s)} when the opponent moved "
            f"{span(now_s - board.moved_s)} ago: the time must be up",
        )


def _flag_finding(board: BoardHistory, color: Color, severity: str, text: str) -> Finding:
    return Finding(
        kind="flag",
        severity="alarm" if severity == "alarm" else "warning",
        game=board.view.id,
        ply=len(board.moves),
        color=color,
        player=board.name(color),
        text=f"{board.label}: {text}.",
        advice="Look at the clock at the board; enter the result, or restart the clock's feed.",
    )


#: A wait of this many times the usual one is longer than people think.
TIMES_USUAL = 20.0
#: A wait of this share of the time on the clock is a think that happens.
CLOCK_SHARE = 0.5
#: Waits after which the usual one is known: the board's own, those of all boards of its source.
OWN_WAITS = 6
WAITS = 20
#: Moves on the other boards meanwhile: else it is the source that stands still, or a break.
MOVES_ELSEWHERE = 10


def stalled_boards(board: BoardHistory, now_s: float) -> Iterator[Finding]:
    """A board that stands still while others move.

    Measured over 336 games of an open with 90 minutes and 30 seconds a move: the longest think was
    49 minutes, 24 times the mean wait; 11 games had a wait of 15 times the mean that was also their
    longest, and one had a wait of 20 times it. Openings are played fast, so that early on the mean
    says little (of the six games of the demo, one has a think of half an hour where 20 times the
    mean are 26 minutes): a wait counts only when it is half of what the clock shows, too. That is
    measured in the time of the players' clocks, which where games are played back runs many times
    as fast as ours.
    """
    usual_s = usual_wait_s(board)
    if not board.running or not board.moves or board.moved_s is None or usual_s is None:
        return
    if board.waited_s(now_s) < max(TIMES_USUAL * usual_s, board.pace.longest_s, _think_s(board)):
        return
    if board.moves_elsewhere < MOVES_ELSEWHERE or board.position().mated:
        return
    yield Finding(
        kind="stale",
        severity="look",
        game=board.view.id,
        ply=len(board.moves),
        text=(
            f"{board.label}: no move for {span(now_s - board.moved_s)}, while other boards made "
            f"{board.moves_elsewhere - board.moves_elsewhere % 10} or more; "
            f"a move here usually takes {span(usual_s)}."
        ),
        advice="See whether the game goes on and the board is connected.",
    )


def _think_s(board: BoardHistory) -> float:
    """How long the side to move may well think, by our clock; 0 where its clock is not known."""
    clock_s = board.clocks.last_s(board.to_move)
    return CLOCK_SHARE * (clock_s or 0.0) / board.flow.speed


def usual_wait_s(board: BoardHistory) -> float | None:
    """The mean wait for a move, of this board or of all of its source, whichever is longer."""
    own, every = board.pace, board.flow.pace
    if every.moves < WAITS:
        return None
    return max(own.mean_s if own.moves >= OWN_WAITS else 0.0, every.mean_s)
