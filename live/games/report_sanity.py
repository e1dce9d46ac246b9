"""What cannot be true in a report, found from that report alone.

Each function looks at one report, so what is held in the end does not depend on the order in
which the news came, and following a game live ends where reading its PGN afterwards ends.
"""

from __future__ import annotations

import re

import msgspec

from live.events import GameReport, Result
from live.games.player_identity import is_bye, is_known

SUPPORTED_VARIANTS = frozenset({"standard", "chess960"})

# At the end of a game players put the kings on the centre to enter the result: on the
# white squares e4 and d5 when White won, on the black ones when Black did (DGT LiveChess).
_KING_TO_CENTRE = re.compile(r"K[de][45]")
# What the decoder of moves says of it, move number in brackets; anything behind that is another
# problem.
_ILLEGAL_KING = re.compile(r"illegal move (K[de][45])[+#]? at ply \d+(?: \(\d+\.+\))?")
_WON_SQUARES: dict[Result, frozenset[str]] = {
    "1-0": frozenset({"Ke4", "Kd5"}),
    "0-1": frozenset({"Kd4", "Ke5"}),
}


def sane(report: GameReport) -> GameReport:
    """``report`` with all that this module knows better."""
    return without_centred_kings(with_result_by_rule(without_unsupported(report)))


def is_no_game(report: GameReport) -> bool:
    """A bye, or a pairing without a player: nothing is played until there are moves."""
    players = (report.headers.white, report.headers.black)
    if report.moves or report.problem is not None:
        return False  # somebody plays, even where we cannot follow
    return any(map(is_bye, players)) or not all(map(is_known, players))


def without_unsupported(report: GameReport) -> GameReport:
    """A variant we do not know keeps its headers and result; its moves are left alone."""
    variant = report.headers.variant
    if variant in SUPPORTED_VARIANTS:
        return report
    problem = f"variant {variant} is not supported"
    return msgspec.structs.replace(report, moves=(), start_eval=None, problem=problem)


def without_centred_kings(report: GameReport) -> GameReport:
    """``report``, less the kings put in the centre after the end.

    Only what is proved is cut. The illegal king move at the end is no problem of the game. A legal
    one before it is cut when the two kings show the result and its mover is the one who lost:
    nobody makes a king move and resigns at once. Any other legal king move stands, for nothing
    distinguishes it from a real one. While the game has no result, the problem stays shown.
    """
    illegal = _ILLEGAL_KING.fullmatch(report.problem or "")
    result = report.result
    if illegal is None or result == "*":
        return report
    moves = report.moves
    if moves and _KING_TO_CENTRE.fullmatch(last := moves[-1].san.rstrip("+#")):
        lost = result == ("0-1" if _white_moved_last(report) else "1-0")
        if lost and {last, illegal[1]} == _WON_SQUARES[result]:
            moves = moves[:-1]
    return msgspec.structs.replace(report, moves=moves, problem=None)


def with_result_by_rule(report: GameReport) -> GameReport:
    """On a mated board where no result is reported, the one the rules give.

    (FIDE Laws 5.1.1.) A stalemate or dead position without a result stays ``*`` until the source
    shows the draw: seeing it would cost replaying the game.
    """
    if report.result == "*" and report.moves and report.moves[-1].san.endswith("#"):
        won: Result = "1-0" if _white_moved_last(report) else "0-1"
        return msgspec.structs.replace(report, result=won)
    return report


def _white_moved_last(report: GameReport) -> bool:
    white_begins = report.start_fen.split()[1:2] != ["b"]
    return white_begins == (len(report.moves) % 2 == 1)
