"""Search for the position of a game from the placement of its pieces. No I/O.

LiveChess sends only the placement until it has been sent the starting position. It is
not documented whether it remembers that position after a lost connection. If it does
not, the game in progress is found here, and its position is sent to LiveChess.
"""

from collections.abc import Sequence

import chess

from live.messages.from_sources import Move
from live.sources.position_tracker import PositionTracker, find_single_move

#: Number of plies at the end of a game that are searched for a placement; each takes
#: time.
SOUGHT_PLIES = 40


def find_placement(
    start_fen: str, moves: Sequence[Move], placed: str
) -> tuple[tuple[Move, ...], str] | None:
    """Return the moves that lead to the placement ``placed`` (first field of a FEN),
    and the FEN of the position after them; None if there are none, for example while a
    piece is lifted.

    The moves found are ``moves``, without some of the last ones, with one of the last
    ones corrected, or with one or two added. If more moves were added, their order
    would be unknown.
    """
    settled = max(0, len(moves) - SOUGHT_PLIES)
    position = chess.Board(start_fen)
    for move in moves[:settled]:
        position.push_uci(move.uci)
    game = PositionTracker(position)
    for move in moves[settled:]:
        game.play_move(move.uci)
    for turn in chess.COLORS:
        if game.try_resume_at(_create_board(placed, turn)):
            return (*moves[:settled], *game.moves), game.board.fen()
    return None


def count_plies_before(
    start_fen: str, moves: Sequence[Move], position: chess.Board
) -> int | None:
    """Return the number of plies after which a game had this position; None if it never
    had.

    If there are several, the move number in the FEN decides, otherwise the last one
    counts.
    """
    fen = position.fen()
    if fen == start_fen:
        return 0
    board = chess.Board(start_fen)
    last_plies = None
    for plies, move in enumerate(moves, 1):
        board.push_uci(move.uci)
        if board.occupied == position.occupied and board.turn == position.turn:
            if board.fen() == fen:
                return plies
            if board.board_fen() == position.board_fen():
                last_plies = plies
    return last_plies


def find_position_after(before: str, now: str) -> str | None:
    """Return the FEN of a game that is first seen after its start, from two placements
    in succession. None unless exactly one side can have moved from ``before`` to
    ``now``; the other side is to move. Castling is allowed where king and rook are on
    their original squares.
    """
    movers = []
    for turn in chess.COLORS:
        board = _create_board(before, turn)
        if board.king(chess.WHITE) is None or board.king(chess.BLACK) is None:
            return None
        board.castling_rights = board.rooks
        board.castling_rights = board.clean_castling_rights()
        played = find_single_move(board, chess.BaseBoard(now))
        if played is not None:
            board.push(played)
            board.halfmove_clock = 0
            board.fullmove_number = 1
            movers.append(board.fen())
    return movers[0] if len(movers) == 1 else None


def _create_board(placed: str, turn: chess.Color) -> chess.Board:
    """Return the board. Raises ValueError if ``placed`` is not a placement."""
    board = chess.Board(None)
    board.set_board_fen(placed)
    board.turn = turn
    return board
