"""Inputs of the neural network of human moves: positions and conditions as arrays.
Pure.

A position is packed into one record of bitboards (:data:`POSITION`), the form in which
training stores it on disk. :func:`build_planes` and :func:`build_conditions` convert
many records at once to the network's two inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from live.human.question import KINDS, LEARNED_ELO

#: One position: six bitboards by kind of piece (pawn to king), and one of the mover's
#: pieces; squares of rooks that can castle; en-passant square or -1; plies since a
#: capture or pawn move; from and to of the last ply and the one before it, or -1; Elo
#: of mover and opponent; kind of game; the move played, as ``from * 64 + to``, or -1;
#: number of the game and ply, to find the position again.
POSITION = np.dtype(
    [
        ("men", "<u8", (6,)),
        ("own", "<u8"),
        ("castling", "<u8"),
        ("en_passant", "i1"),
        ("quiet_plies", "u1"),
        ("history", "i1", (4,)),
        ("elo", "<i2", (2,)),
        ("kind", "u1"),
        ("played", "<i2"),
        ("game", "<i4"),
        ("ply", "<i2"),
    ]
)
Positions = NDArray[np.void]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
#: Number of planes. They are, in order: the mover's six kinds of pieces and the
#: opponent's; castling; en passant; from and to of the last two plies; a plane of ones,
#: by which a convolution sees the edge of the board; for each kind of piece, the number
#: of the mover's pieces that attack or guard a square, then the opponent's; squares
#: from which a pawn, knight, bishop and rook would give check; pieces that alone stand
#: between a king and a line piece of the other side (the mover's pinned, the opponent's
#: pinned) or of their own side (the mover's, the opponent's, which can discover a
#: check); and a plane of ones if the mover is in check. All planes from the nineteenth
#: on follow from the first ones: a small network, or one learned from few games, then
#: need not learn how the pieces move.
PLANES = 40
#: Number of conditions: see :func:`build_conditions`.
CONDITIONS = 20
#: Centres and width of the bell curves that encode a rating for the network, Elo.
_STEPS = np.array([900, 1250, 1600, 1950, 2300, 2650], dtype=np.float32)
_STEP = 350.0


def pack_position(
    board: chess.Board, history: Sequence[chess.Move], elo: tuple[int, int], kind: str
) -> tuple[Any, ...]:
    """Return a position as a row of :data:`POSITION`, not mirrored yet (see
    :func:`build_records`).

    ``history`` has the last two plies or fewer, the latest last. ``elo`` contains the
    ratings of the mover and of the opponent. Raises ``ValueError`` for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}")
    squares: list[int] = []
    for move in history[:-3:-1]:
        squares += (move.from_square, move.to_square)
    return (
        (
            board.pawns,
            board.knights,
            board.bishops,
            board.rooks,
            board.queens,
            board.kings,
        ),
        board.occupied_co[board.turn],
        board.castling_rights,
        -1 if board.ep_square is None else board.ep_square,
        min(board.halfmove_clock, 255),
        (*squares, -1, -1, -1, -1)[:4],
        elo,
        KINDS.index(kind),
        -1,
        -1,
        board.ply(),
    )


def mirror_black(rows: Positions, black: Bools) -> Positions:
    """Return the rows, with those of Black mirrored top to bottom."""
    turned = rows.copy()
    for name in ("men", "own", "castling"):
        # Ranks are the bytes of a bitboard, so swapping the bytes mirrors the board.
        turned[name][black] = rows[name][black].byteswap()
    for name in ("en_passant", "history"):
        squares = rows[name][black]
        turned[name][black] = np.where(squares < 0, squares, squares ^ 56)
    moves = rows["played"][black]
    turned["played"][black] = np.where(moves < 0, moves, moves ^ (56 * 64 + 56))
    return turned


def build_records(rows: Sequence[tuple[Any, ...]], black: Sequence[bool]) -> Positions:
    """Return rows of :func:`pack_position` as records, each from its mover's side."""
    return mirror_black(
        np.array(list(rows), dtype=POSITION), np.array(black, dtype=np.bool_)
    )


def _unpack_bitboards(boards: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return bitboards ``(n, k)`` as zeros and ones ``(n, k, 64)``, a1 first."""
    as_bytes = np.ascontiguousarray(boards).view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, bitorder="little").reshape(
        *boards.shape, 64
    )


def _build_attack_tables(pawns: list[int]) -> Bools:
    """Return the attacks of each kind of piece on an empty board, ``(7, 64, 64)``; the
    last is for no piece.
    """
    diagonals = [chess.BB_DIAG_ATTACKS[square][0] for square in chess.SQUARES]
    straights = [
        chess.BB_RANK_ATTACKS[square][0] | chess.BB_FILE_ATTACKS[square][0]
        for square in chess.SQUARES
    ]
    queens = [
        diagonal | straight
        for diagonal, straight in zip(diagonals, straights, strict=True)
    ]
    knights = chess.BB_KNIGHT_ATTACKS
    kings = chess.BB_KING_ATTACKS
    boards = np.array(
        [pawns, knights, diagonals, straights, queens, kings, [0] * 64], np.uint64
    )
    return _unpack_bitboards(boards).astype(np.bool_)


#: Attacks by side, the mover's first.
_ATTACKS = np.stack(
    [
        _build_attack_tables(chess.BB_PAWN_ATTACKS[color])
        for color in (chess.WHITE, chess.BLACK)
    ]
)
#: Squares that the mover's pawns can step to, from each square.
_PUSH = np.eye(64, k=8, dtype=np.bool_)
_PUSH[8:16] |= np.eye(64, k=16, dtype=np.bool_)[8:16]
#: Squares between each pair of squares, as bitboards.
_BETWEEN = np.empty((64, 64), np.uint64)
for _start in chess.SQUARES:
    for _end in chess.SQUARES:
        _BETWEEN[_start, _end] = chess.between(_start, _end)


def _find_clear_lines(rows: Positions) -> Bools:
    """Return for each pair of squares whether all squares between them are empty: ``(n,
    64, 64)``.
    """
    occupied = np.bitwise_or.reduce(rows["men"], axis=1)
    clear: Bools = (_BETWEEN & occupied[:, None, None]) == 0
    return clear


def _find_attacked(men: NDArray[np.uint8], side: int, clear: Bools) -> Bools:
    """Return the squares that a side's pieces ``(n, 6, 64)`` attack or guard: ``(n, 64,
    64)``.
    """
    kind = np.where(men.any(1), men.argmax(1), 6)
    reach: Bools = _ATTACKS[side, kind, np.arange(64)] & clear
    return reach


def _find_shields(
    rows: Positions, king: NDArray[np.intp], lines: NDArray[np.uint8]
) -> NDArray[np.uint64]:
    """Return the pieces that stand alone between a king and a bishop, rook or queen.

    ``lines`` contains the bishops, rooks and queens. The returned pieces can be of
    either side.
    """
    bishops, rooks, queens = (lines[:, k].astype(np.bool_) for k in range(3))
    aimed = (_ATTACKS[0, 2, king] & (bishops | queens)) | (
        _ATTACKS[0, 3, king] & (rooks | queens)
    )
    occupied = np.bitwise_or.reduce(rows["men"], axis=1)
    between = _BETWEEN[king] & occupied[:, None]
    alone = aimed & (between & (between - np.uint64(1)) == 0)
    shields: NDArray[np.uint64] = np.bitwise_or.reduce(
        np.where(alone, between, 0), axis=1
    )
    return shields.astype(np.uint64)


def build_planes(rows: Positions) -> Floats:
    """Return the boards as planes ``(n, PLANES, 8, 8)``, rank by rank from the mover's
    side.
    """
    count = len(rows)
    own_mask = rows["own"][:, None]
    boards = np.concatenate(
        [rows["men"] & own_mask, rows["men"] & ~own_mask, rows["castling"][:, None]], 1
    )
    squares = _unpack_bitboards(boards)
    planes = np.zeros((count, PLANES, 64), dtype=np.float32)
    planes[:, :13] = squares
    for plane, marked_squares in enumerate(
        [rows["en_passant"], *rows["history"].T], 13
    ):
        marked_rows = np.flatnonzero(marked_squares >= 0)
        planes[marked_rows, plane, marked_squares[marked_rows]] = 1.0
    planes[:, 18] = 1.0
    clear = _find_clear_lines(rows)
    row_numbers = np.arange(count)
    kings = [squares[:, 6 * side + 5].argmax(1) for side in (0, 1)]
    planes[:, 31:35] = _ATTACKS[1, :4, kings[1]] & clear[row_numbers, kings[1]][:, None]
    for side, mine in enumerate((rows["own"], ~rows["own"])):
        men = squares[:, 6 * side :][:, :6]
        other_men = squares[:, 6 * (1 - side) :][:, :6]
        reach = _find_attacked(men, side, clear).astype(np.float32)
        planes[:, 19 + 6 * side : 25 + 6 * side] = men.astype(np.float32) @ reach
        between = _find_shields(rows, kings[side], other_men[:, 2:5])
        # Between this king and the other side's line pieces: pinned, or able to
        # discover a check.
        planes[:, 35 + side] = _unpack_bitboards((between & mine)[:, None])[:, 0]
        planes[:, 38 - side] = _unpack_bitboards((between & ~mine)[:, None])[:, 0]
    planes[:, 39] = (
        planes[row_numbers, 25:31, kings[0]].max(1, initial=0.0, keepdims=True) > 0
    )
    return planes.reshape(count, PLANES, 8, 8)


def find_reachable_moves(rows: Positions) -> Bools:
    """Return the pseudo-legal moves: ``(n, 4096)``, indexed by ``from * 64 + to``.

    Training divides the network's shares among these moves, so that it need not learn
    how the pieces move.
    """
    squares = _unpack_bitboards(
        np.concatenate([rows["men"] & rows["own"][:, None], rows["men"]], 1)
    )
    men = squares[:, :6]
    occupied: Bools = squares[:, 6:].astype(np.bool_).max(1)
    own_squares: Bools = men.astype(np.bool_).max(1)
    clear = _find_clear_lines(rows)
    moves = _find_attacked(men, 0, clear) & ~own_squares[:, None, :]
    capture = occupied & ~own_squares
    passant = np.flatnonzero(rows["en_passant"] >= 0)
    capture[passant, rows["en_passant"][passant]] = True
    pawn = men[:, 0].astype(np.bool_)[:, :, None]
    moves &= ~pawn | capture[:, None, :]
    moves |= pawn & _PUSH & clear & ~occupied[:, None, :]
    for rook, end in ((7, 6), (0, 2)):
        may_castle = (rows["castling"] >> np.uint64(rook)) & np.uint64(1) == 1
        moves[:, 4, end] |= (
            may_castle & men[:, 5, 4].astype(np.bool_) & clear[:, 4, rook]
        )
    return moves.reshape(len(rows), 4096)


def build_conditions(rows: Positions) -> Floats:
    """Return the conditions of play: ``(n, CONDITIONS)``.

    They are the ratings of both players, as bell curves 350 Elo wide and as a number;
    the kind of game; and the plies since a capture or pawn move, in hundreds.
    """
    conditions = np.zeros((len(rows), CONDITIONS), dtype=np.float32)
    elo = np.clip(rows["elo"].astype(np.float32), *LEARNED_ELO)
    conditions[:, :12] = np.exp(-(((elo[:, :, None] - _STEPS) / _STEP) ** 2)).reshape(
        -1, 12
    )
    conditions[:, 12:14] = (elo - 1900.0) / 500.0
    conditions[np.arange(len(rows)), 14 + rows["kind"]] = 1.0
    conditions[:, 19] = np.minimum(rows["quiet_plies"], 100) / 100.0
    return conditions


def compute_shares(board: chess.Board, logits: Floats) -> dict[str, float]:
    """Return the share of players who choose each legal move, by UCI, the most frequent
    first.

    ``logits`` are the 4096 of this position, from the mover's side. A share is a
    probability: the fraction of players of this rating, in this position and kind of
    game, who choose the move. The shares of all legal moves add up to one. A promotion
    to a piece other than a queen was too rare to learn separately: a pawn's step to the
    last rank counts once, as the promotion to a queen.
    """
    flip = 0 if board.turn else 56
    moves: list[str] = []
    places: list[int] = []
    for move in board.legal_moves:
        if move.promotion in (None, chess.QUEEN):
            moves.append(move.uci())
            places.append((move.from_square ^ flip) * 64 + (move.to_square ^ flip))
    chosen = logits[places].astype(np.float64)
    weights = np.exp(chosen - chosen.max(initial=-np.inf))
    shares = weights / weights.sum()
    return {moves[k]: float(shares[k]) for k in np.argsort(-shares, kind="stable")}
