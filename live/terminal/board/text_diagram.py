"""Games as positions: the board after any ply, drawn with the chess pieces of Unicode. Pure."""

from __future__ import annotations

from functools import lru_cache

import chess
from rich.text import Text

from live.events import GameDetail
from live.terminal.palette import Palette
from live.terminal.text_cells import styled

#: White's men are outlines, Black's are filled: they differ without any colour.
_MEN = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))


def board_after(game: GameDetail, ply: int) -> chess.Board | None:
    """The position after ``ply`` plies; None where it cannot be set up (an unknown variant)."""
    return _replayed(
        game.start_fen, game.variant == "chess960", tuple(each.uci for each in game.plies[:ply])
    )


@lru_cache(maxsize=64)
def _replayed(start_fen: str, chess960: bool, moves: tuple[str, ...]) -> chess.Board | None:
    try:
        board = chess.Board(start_fen, chess960=chess960)
        for uci in moves:
            board.push_uci(uci)
    except ValueError:
        return None
    return board


def san_of(board: chess.Board | None, uci: str | None) -> str:
    """A move from this position in SAN; empty where it is none."""
    if board is None or not uci:
        return ""
    try:
        return board.san(chess.Move.from_uci(uci))
    except ValueError:
        return ""


def diagram(board: chess.Board, palette: Palette, *, large: bool = False) -> list[Text]:
    """White below. Small: 2 cells a square, 9 lines of 18 cells. Large: 4 cells and 2 lines a
    square, 17 lines of 34 cells.
    """
    last = board.peek() if board.move_stack else None
    marked = {last.from_square, last.to_square} if last else set()
    wide = 4 if large else 2
    lines: list[Text] = []
    for rank in range(7, -1, -1):
        line, below = styled(f"{rank + 1} ", palette.dim), styled("  ")
        for file in range(8):
            square = chess.square(file, rank)
            ground = palette.light_square if (file + rank) % 2 else palette.dark_square
            if square in marked:
                ground = palette.last_move or ground
            man = board.piece_at(square)
            if man is None:
                # Without colours a dot marks the dark squares.
                dot = "·" if not palette.dark_square and not (file + rank) % 2 else " "
                line.append(f" {dot}".ljust(wide) if large else f"{dot} ", f"dim {ground}")
            else:
                style = palette.white_piece if man.color else palette.black_piece
                sign = _MEN[man.symbol()]
                line.append(f" {sign}".ljust(wide) if large else f"{sign} ", f"{style} {ground}")
            below.append(" " * wide, ground if palette.dark_square else "")
        lines.append(line)
        if large:
            lines.append(below)
    files = "".join(f" {file}".ljust(wide) if large else f"{file} " for file in "abcdefgh")
    lines.append(styled("  " + files, palette.dim))
    return lines
