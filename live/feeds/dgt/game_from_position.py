"""Where a game stands, found from the placement of its pieces. Pure.

LiveChess sends only the placement until it has been sent the starting position. Whether it
remembers that position after a lost connection is not documented. If it does not, the game in
progress is found again here, and LiveChess is sent the position to continue from.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess

from live.events import Move
from live.feeds.position_tracker import changed
from live.feeds.san import MoveReader

#: Moves taken back while nobody listened, at most.
BACK_PLIES = 8
#: A move changes so many squares at most: castling does.
MOVE_SQUARES = 4
#: How far back a move may have been corrected then.
CORRECTED_PLIES = 2


def found_again(start_fen: str, moves: Sequence[Move], placed: str) -> tuple[Move, ...] | None:
    """The moves that lead to the pieces as ``placed`` (the first field of a FEN).

    The moves held, some of the last ones fewer or one corrected, or one or two more; None where no
    such way leads there, as with a piece in the air.
    """
    board = chess.Board(start_fen)
    for move in moves:
        board.push_uci(move.uci)
    end = board.copy()
    ways: list[tuple[int, list[str]]] = []
    for plies in range(len(moves), max(len(moves) - BACK_PLIES, 0) - 1, -1):
        if board.board_fen() == placed:
            return tuple(moves[:plies])
        # The last move or the one before it may have been corrected.
        if not ways and len(moves) - plies <= CORRECTED_PLIES:
            ways += [(plies, way) for way in [_one_more(board, placed)] if way]
        if board.move_stack:
            board.pop()
    if not ways:
        ways += [(len(moves), way) for way in [_two_more(end, placed)] if way]
    if not ways:
        return None
    [(plies, played)] = ways
    while len(end.move_stack) > plies:
        end.pop()
    mover = MoveReader(end.copy(stack=False))
    more = [Move(*mover.play_uci(uci)) for uci in played]
    return (*moves[:plies], *more)


def met(before: str, now: str) -> str | None:
    """The FEN of a game met in the middle: ``now`` came from ``before`` by one side's move, so the
    other is to move. Castling is allowed where king and rook stand at home. None where no move, or
    one of either side, leads there.
    """
    movers = []
    for turn in chess.COLORS:
        board = chess.Board(None)
        board.set_board_fen(before)
        board.turn = turn
        if board.king(chess.WHITE) is None or board.king(chess.BLACK) is None:
            return None
        board.castling_rights = board.rooks
        board.castling_rights = board.clean_castling_rights()
        played = _one_more(board, now)
        if played:
            board.push_uci(played[0])
            board.halfmove_clock, board.fullmove_number = 0, 1
            movers.append(board.fen())
    return movers[0] if len(movers) == 1 else None


def _one_more(board: chess.Board, placed: str) -> list[str]:
    mask = changed(board, chess.BaseBoard(placed))
    if mask.bit_count() > MOVE_SQUARES:  # pieces in the air: not worth a try
        return []
    for move in list(board.generate_legal_moves(from_mask=mask)):
        board.push(move)
        there = board.board_fen() == placed
        board.pop()
        if there:
            return [move.uci()]
    return []


def _two_more(board: chess.Board, placed: str) -> list[str]:
    # The second move is the other side's, so what moved first is gone from its square.
    mask = changed(board, chess.BaseBoard(placed))
    if mask.bit_count() > 2 * MOVE_SQUARES:
        return []
    for move in list(board.generate_legal_moves(from_mask=mask)):
        board.push(move)
        rest = _one_more(board, placed)
        board.pop()
        if rest:
            return [move.uci(), *rest]
    return []
