"""Moves that were reported and do not stand: corrected or taken back. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.board.board_history import BoardHistory, Lapse
from live.alerts.finding import Finding, move_number

#: A lapse of at most this many plies is a slip of a sensor or of the operator's hand.
SHALLOW_PLIES = 2
#: Such a slip is over when this many plies stand upon it.
SETTLED_PLIES = 6
#: A takeback is reported after this time, seconds: sources withdraw a move for a moment to report
#: its clock, and kings set in the centre are withdrawn when the result comes.
TAKEBACK_S = 2.0


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
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
