"""Results and players that were reported otherwise before. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.board.board_history import BoardHistory
from live.alerts.finding import Finding

#: A result that is withdrawn is reported after so many seconds: some sources withdraw it for a
#: moment to enter another.
WITHDRAWN_S = 5.0


def findings(board: BoardHistory, now_s: float) -> Iterator[Finding]:
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
