"""A board that stands still while others move. Pure.

Measured over 336 games of an open with 90 minutes and 30 seconds a move: the longest think was 49
minutes, 24 times the mean wait; 11 games had a wait of 15 times the mean that was also their
longest, and one had a wait of 20 times it. Openings are played fast, so that early on the mean says
little (of the six games of the demo, one has a think of half an hour where 20 times the mean are 26
minutes): a wait counts only when it is half of what the clock shows, too. That is measured in the
time of the players' clocks, which where games are played back runs many times as fast as ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding, span

#: A wait of this many times the usual one is longer than people think.
TIMES_USUAL = 20.0
#: A wait of this share of the time on the clock is a think that happens.
CLOCK_SHARE = 0.5
#: Waits after which the usual one is known: the board's own, those of all boards of its source.
OWN_WAITS = 6
WAITS = 20
#: Moves on the other boards meanwhile: else it is the source that stands still, or a break.
MOVES_ELSEWHERE = 10


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
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
