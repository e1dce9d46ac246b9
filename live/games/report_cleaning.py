"""Removal of impossible data from a report, judged from that report alone. No I/O.

Since each function sees only one report, the result does not depend on the order of
reports, and a game followed live ends like one read from its PGN afterwards.
"""

import re

from msgspec.structs import replace

from live.games.game import side_to_play
from live.games.player_identity import is_bye, is_known
from live.messages.from_sources import GameReport, Result

SUPPORTED_VARIANTS = frozenset({"standard", "chess960"})
# At the end of a game players put the kings in the centre to enter the result: on the
# white squares e4 and d5 if White won, on the black ones if Black won (DGT LiveChess).
_KING_TO_CENTRE = re.compile(r"K[de][45]")
# Message of the move decoder for such a king move. A message with more text means
# another problem.
_ILLEGAL_KING = re.compile(r"illegal move \d+\.+(K[de][45])[+#]?")
_WON_SQUARES: dict[Result, frozenset[str]] = {
    "1-0": frozenset({"Ke4", "Kd5"}),
    "0-1": frozenset({"Kd4", "Ke5"}),
}


def normalise_report(report: GameReport) -> GameReport:
    """Return ``report`` without impossible data."""
    return drop_centring_king_moves(
        add_result_after_mate(drop_moves_of_unsupported_variant(report))
    )


def is_no_game(report: GameReport) -> bool:
    """Return whether this is a bye or a pairing with an unknown player, and has no
    moves.
    """
    players = (report.headers.white, report.headers.black)
    if report.moves or report.problem is not None:
        return False  # the game is played, even if its moves cannot be read
    return any(map(is_bye, players)) or not all(map(is_known, players))


def drop_moves_of_unsupported_variant(report: GameReport) -> GameReport:
    """Return ``report`` without its moves if its variant is not supported."""
    variant = report.headers.variant
    if variant in SUPPORTED_VARIANTS:
        return report
    problem = f"variant {variant} is not supported"
    return replace(report, moves=(), start_eval=None, problem=problem)


def drop_centring_king_moves(report: GameReport) -> GameReport:
    """Return ``report`` without the kings put in the centre after the end.

    Only proved cases are removed. An illegal king move at the end is not reported as a
    problem of the game. A legal king move before it is removed if the two kings show
    the result and the player who lost made it, since nobody makes a king move and
    resigns at once. Any other legal king move stays, because it could be a real move.
    While the game has no result, the illegal move stays a problem.
    """
    illegal = _ILLEGAL_KING.fullmatch(report.problem or "")
    result = report.result
    if illegal is None or result == "*":
        return report
    moves = report.moves
    last = moves[-1].san.rstrip("+#") if moves else ""
    if _KING_TO_CENTRE.fullmatch(last):
        mover = side_to_play(report.start_fen, len(moves))
        has_lost = result == ("0-1" if mover == "white" else "1-0")
        if has_lost and {last, illegal[1]} == _WON_SQUARES[result]:
            moves = moves[:-1]
    return replace(report, moves=moves, problem=None)


def add_result_after_mate(report: GameReport) -> GameReport:
    """Return ``report`` with the result by the rules after a mate (FIDE Laws 5.1.1).

    A stalemate or dead position stays ``*`` until the source reports the draw, because
    detecting it would require replaying the game.
    """
    if (
        report.result != "*"
        or not report.moves
        or not report.moves[-1].san.endswith("#")
    ):
        return report
    winner = side_to_play(report.start_fen, len(report.moves))
    return replace(report, result="1-0" if winner == "white" else "0-1")
