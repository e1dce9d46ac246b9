"""Keeping the moves of a game whose source now shows fewer. No I/O.

Moves that were shown are only withdrawn if the source sends a readable line that
contradicts them: a different move at some ply, or a shorter line that was read to its
end. What cannot be read is treated as if it had not been received.
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

#: Text added to the ``problem`` of a game whose known moves are still shown although
#: its source now has fewer.
AS_LAST = "; the last known state is shown"
#: The ``problem`` of a game while its loss of moves is in doubt.
LESS = f"{IN_DOUBT} its source now shows less of this game"


class KnownGame(Protocol):
    """Interface of a game as it was known before."""

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


def keep_unread(report: GameReport, known_game: KnownGame) -> GameReport:
    """Fill the unread parts of ``report`` from ``known_game``, the same game as it was
    known before.

    Returns:
        ``report`` itself if all of it could be read, or if its readable moves
        contradict the known ones. Otherwise a report with the known moves added. It
        has the known result, unless it brings a result itself, and the known starting
        position if not even its first move could be read.
    """
    if "result" in report.unread:
        report = replace(report, result=known_game.result)
    plies = len(report.moves)
    if "moves" not in report.unread or plies >= len(known_game.moves):
        return report
    start_fen, variant = report.start_fen, report.headers.variant
    if plies == 0:
        start_fen, variant = known_game.start_fen, known_game.headers.variant
    if (start_fen, variant) != (known_game.start_fen, known_game.headers.variant):
        return report
    if count_shared_plies(report.moves, known_game.moves) < plies:
        return report
    return replace(
        report,
        headers=replace(report.headers, variant=variant),
        start_fen=start_fen,
        moves=(*report.moves, *known_game.moves[plies:]),
        result=known_game.result if report.result == "*" else report.result,
        start_eval=known_game.start_eval
        if report.start_eval is None
        else report.start_eval,
        problem=_describe_kept(report.problem),
    )


def _describe_kept(problem: str | None) -> str:
    if problem is None or problem.startswith(IN_DOUBT):
        return problem or LESS
    return problem + AS_LAST
