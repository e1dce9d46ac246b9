"""What stays of a game of which its source now says less. Pure.

Moves that were shown fall only by a line that can be read and contradicts them: one
with another move at some ply, or a shorter one that was read to its end. What cannot be
read is nothing heard, and says nothing of what was played.
"""

from typing import Protocol

from msgspec.structs import replace

from live.messages.from_sources import (
    IN_DOUBT,
    GameReport,
    Headers,
    Move,
    Result,
    Score,
)
from live.sources.game_identity import count_shared_plies

#: What a ``problem`` ends with where the source shows less than the board does.
AS_LAST = "; shown as it was last"
#: What it is while that is in doubt.
LESS = f"{IN_DOUBT} its source has less of it just now"


class KnownGame(Protocol):
    """A game as it was known before, whatever holds it."""

    @property
    def headers(self) -> Headers: ...

    @property
    def start_fen(self) -> str: ...

    @property
    def moves(self) -> tuple[Move, ...]: ...

    @property
    def result(self) -> Result: ...

    @property
    def start_eval(self) -> Score | None: ...


def keep_unread(report: GameReport, known: KnownGame) -> GameReport:
    """Fill the unread parts of ``report`` with what is ``known`` of them.

    Returns:
        The report itself where all of it could be read, or where what could be read of
        its moves contradicts the known ones. A line of which moves are kept has the
        known result, unless it names one, and the known starting position where not
        even its first move could be read.
    """
    if "result" in report.unread:
        report = replace(report, result=known.result)
    plies = len(report.moves)
    if "moves" not in report.unread or plies >= len(known.moves):
        return report
    start_fen, variant = report.start_fen, report.headers.variant
    if plies == 0:
        start_fen, variant = known.start_fen, known.headers.variant
    if (start_fen, variant) != (known.start_fen, known.headers.variant):
        return report
    if count_shared_plies(report.moves, known.moves) < plies:
        return report
    return replace(
        report,
        headers=replace(report.headers, variant=variant),
        start_fen=start_fen,
        moves=(*report.moves, *known.moves[plies:]),
        result=known.result if report.result == "*" else report.result,
        start_eval=known.start_eval if report.start_eval is None else report.start_eval,
        problem=_describe_kept(report.problem),
    )


def _describe_kept(problem: str | None) -> str:
    if problem is None or problem.startswith(IN_DOUBT):
        return problem or LESS
    return problem + AS_LAST
