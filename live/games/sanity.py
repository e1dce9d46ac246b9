"""What sources say that cannot be so, told from one report alone.

Each function looks at one report, so what is held in the end does not depend on the order in
which the news came, and following a game live ends where reading its PGN afterwards ends.
"""

from __future__ import annotations

import re

import chess
import msgspec

from live.events import GameReport, Move, Result
from live.games.identity import is_bye, is_known

SUPPORTED_VARIANTS = frozenset({"standard", "chess960"})

# At the end of a game players put the kings on the centre to tell the board the result: on the
# white squares e4 and d5 when White won, on the black ones when Black did (DGT LiveChess).
_KING_TO_CENTRE = re.compile(r"K[de][45]")
_ILLEGAL_KING = re.compile(r"illegal move (K[de][45])[+#]? at ply \d+")
_WON_SQUARES: dict[Result, frozenset[str]] = {
    "1-0": frozenset({"Ke4", "Kd5"}),
    "0-1": frozenset({"Kd4", "Ke5"}),
}


def is_no_game(report: GameReport) -> bool:
    """A bye, or a pairing without a player: nothing is played until there are moves."""
    players = (report.headers.white, report.headers.black)
    return not report.moves and (any(map(is_bye, players)) or not all(map(is_known, players)))


def without_unsupported(report: GameReport) -> GameReport:
    """A variant we do not know keeps its headers and result; its moves are left alone."""
    variant = report.headers.variant
    if variant in SUPPORTED_VARIANTS:
        return report
    problem = f"variant {variant} is not supported"
    return msgspec.structs.replace(report, moves=(), start_eval=None, problem=problem)


def without_centred_kings(report: GameReport, result: Result) -> GameReport:
    """``report`` of a game that ended with ``result``, less the kings put in the centre.

    Only what is proved is cut. The illegal king move at the end is no problem of the game. A legal
    one before it is cut when the two kings show the result and its mover is the one who lost:
    nobody makes a king move and resigns at once. Any other legal king move stands, for nothing
    tells it from a real one. While the game has no result, the problem stays shown.
    """
    illegal = _ILLEGAL_KING.fullmatch(report.problem or "")
    if illegal is None or result == "*":
        return report
    moves = report.moves
    if moves and _KING_TO_CENTRE.fullmatch(last := moves[-1].san.rstrip("+#")):
        lost = result == ("0-1" if _white_moved_last(report) else "1-0")
        if lost and {last, illegal[1]} == _WON_SQUARES[result]:
            moves = moves[:-1]
    return msgspec.structs.replace(report, moves=moves, problem=None)


def _white_moved_last(report: GameReport) -> bool:
    white_begins = report.start_fen.split()[1:2] != ["b"]
    return white_begins == (len(report.moves) % 2 == 1)


def board_after(start_fen: str, moves: tuple[Move, ...], *, chess960: bool) -> chess.Board:
    """The position after ``moves``, which are legal; O(plies), 7 µs each."""
    board = chess.Board(start_fen, chess960=chess960)
    push_all(board, moves)
    return board


def push_all(board: chess.Board, moves: tuple[Move, ...]) -> None:
    """Play ``moves`` on ``board`` and forget how it got there."""
    for move in moves:
        board.push(chess.Move.from_uci(move.uci))
    board.clear_stack()


def result_by_rule(board: chess.Board) -> Result:
    """How the rules ended the game on ``board``: mate, stalemate, dead position, or ``*``.

    (FIDE Laws 5.1.1, 5.2.1, 5.2.2. Repetition and the 75 moves need the arbiter: the source's
    word.)
    """
    if board.is_checkmate():
        return "0-1" if board.turn else "1-0"
    if board.is_stalemate() or board.is_insufficient_material():
        return "1/2-1/2"
    return "*"
