"""Where a game stands, found from the placement of its pieces. Pure.

LiveChess sends only the placement until it has been sent the starting position. Whether
it remembers that position after a lost connection is not documented. If it does not,
the game in progress is found again here, and LiveChess is sent the position to continue
from.
"""

from collections.abc import Sequence

import chess

from live.messages.from_sources import Move
from live.sources.position_tracker import PositionTracker, find_single_move

#: Plies at the end of a game among which a placement is looked for: to try each costs
#: time.
SOUGHT_PLIES = 40


def find_placement(
    start_fen: str, moves: Sequence[Move], placed: str
) -> tuple[tuple[Move, ...], str] | None:
    """Return the moves that lead to the pieces as ``placed`` (the first field of a
    FEN), and the position.

    They are the moves held, some of the last ones fewer or one corrected, or one or two
    more; None where no such way leads there, as with a piece in the air. More moves
    than that have no order that could be known.
    """
    settled = max(0, len(moves) - SOUGHT_PLIES)
    position = chess.Board(start_fen)
    for move in moves[:settled]:
        position.push_uci(move.uci)
    game = PositionTracker(position)
    for move in moves[settled:]:
        game.play_move(move.uci)
    for turn in chess.COLORS:
        if game.resume_at(_create_board(placed, turn)):
            return (*moves[:settled], *game.moves), game.board.fen()
    return None


def count_plies_before(
    start_fen: str, moves: Sequence[Move], position: chess.Board
) -> int | None:
    """Return after how many plies a game stood as in ``position``; None where it never
    did.

    Of several the ply that the numbers of the FEN fit, else the last.
    """
    fen = position.fen()
    if fen == start_fen:
        return 0
    board = chess.Board(start_fen)
    found = None
    for plies, move in enumerate(moves, 1):
        board.push_uci(move.uci)
        if board.occupied == position.occupied and board.turn == position.turn:
            if board.fen() == fen:
                return plies
            if board.board_fen() == position.board_fen():
                found = plies
    return found


def find_position_after(before: str, now: str) -> str | None:
    """Return the FEN of a game met in the middle: ``now`` came from ``before`` by one
    side's move, so the other is to move. Castling is allowed where king and rook stand
    at home. None where no move, or one of either side, leads there.
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
    """Return the board. Raises ValueError where it is no placement."""
    board = chess.Board(None)
    board.set_board_fen(placed)
    board.turn = turn
    return board
