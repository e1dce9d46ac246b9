"""Move text → legal move, and the one spelling of it that this package uses.

Accepts what python-chess' ``Board.parse_san`` accepts, and more of what the wild holds (``e8(Q)``,
``exd6e.p.``, ``Pe4``, ``o-o``). The common case, a plain move that can be only one piece and cannot
expose its king, is found from attack tables without generating moves; all else is left to
``parse_san``, so both agree on every legal input.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import chess

#: Longest text that can be a move: ``Qa1xb2=Q+!?`` and then some.
MAX_MOVE_CHARS = 24
#: The longest game that is followed, in plies; the rest is left out.
MAX_PLIES = 1200

_SAN = re.compile(
    r"([NBKRQ]?)([a-h]?)([1-8]?)([-x:]?)([a-h][1-8])(?:[=/]?([nbrqNBRQ])|\(([nbrqNBRQ])\)|=)?\Z"
)
_CASTLING = re.compile(r"[0Oo]-[0Oo](-[0Oo])?\Z")
_NULL = frozenset({"--", "Z0", "0000", "@@@@", "null", "pass"})
_SUFFIX = re.compile(r"(?:\s*(?:e\.p\.|ep|[+#!?=†‡×]|\+\+|mate))*+\Z")
_TRAIL = "+#!?†‡,.;"
_FIGURINES = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP")
_MOVE_LIKE = re.compile(r"[KQRBNP]?[a-h]?\d?[-x:]?[a-h]\d|[0Oo]-[0Oo]")


class UnplayableMove(ValueError):
    """Move text that makes no move in the position; says why, for people."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(why, text)
        self.why = why
        self.text = text

    def __str__(self) -> str:
        return f"{self.why} {self.text}"


class _Spec(NamedTuple):
    """What move text says before a board is asked."""

    san: str
    """As ``parse_san`` wants it; empty when no fast way leads to it."""
    piece: int
    from_mask: int
    to: int
    promotion: int | None
    core: str
    """The canonical spelling without check sign, if the text has it; else empty."""
    captures: bool


_SLOW = _Spec("", 0, 0, 0, None, "", False)


@lru_cache(maxsize=16384)
def _spec(text: str) -> _Spec | None:
    """Read the letters; None when it is no move text at all."""
    word = text.rstrip(_TRAIL).translate(_FIGURINES)
    if word.endswith(("e.p", "ep")):
        word = word.removesuffix("e.p").removesuffix("ep")
    castling = _CASTLING.match(word)
    if castling is not None:
        return _SLOW._replace(san="O-O-O" if castling[1] else "O-O")
    match = _SAN.match(word.removeprefix("P"))
    if match is None:
        return None
    letter, file, rank, sign, target, promo, promo_braced = match.groups()
    promo = promo or promo_braced
    to = chess.parse_square(target)
    san = letter + file + rank + sign.replace(":", "x") + target + (f"={promo}" if promo else "")
    promotion = chess.PIECE_SYMBOLS.index(promo.lower()) if promo else None
    if not letter and file and rank:  # "e2e4": any piece, and castling too
        return _SLOW._replace(san=san)
    from_mask = chess.BB_ALL
    if file:
        from_mask &= chess.BB_FILES[chess.FILE_NAMES.index(file)]
    if rank:
        from_mask &= chess.BB_RANKS[int(rank) - 1]
    if letter:
        piece = chess.PIECE_SYMBOLS.index(letter.lower())
        plain = not file and not rank and sign != "-" and promotion is None
        core = f"{letter}{'x' if sign else ''}{target}" if plain else ""
    else:
        piece = chess.PAWN
        if not file:
            from_mask &= chess.BB_FILES[chess.square_file(to)]
        plain = not rank and sign != "-" and (bool(file) == bool(sign)) and file != target[0]
        core = f"{file}{'x' if sign else ''}{target}" if plain else ""
        if core and promotion is not None:
            core += f"={chess.piece_symbol(promotion).upper()}"
    return _Spec(san, piece, from_mask, to, promotion, core, bool(sign) and sign != "-")


def _single_origin(board: chess.Board, spec: _Spec) -> int | None:
    """The square the move comes from, if tables alone can show it; None leaves it open.

    A move found here is legal: its piece is the only one that reaches the target, and leaves no
    line through its own king.
    """
    turn = board.turn
    own = board.occupied_co[turn]
    to = spec.to
    target = chess.BB_SQUARES[to]
    if own & target:
        return None
    piece = spec.piece
    occupied = board.occupied
    if piece == chess.PAWN:
        pawns = board.pawns & own & spec.from_mask
        back = -8 if turn else 8
        if (spec.promotion is not None) is not bool(target & chess.BB_BACKRANKS):
            return None
        if spec.from_mask & chess.BB_FILES[to & 7]:  # straight ahead
            origin = to + back
            if occupied & target or not 0 <= origin < 64:
                return None
            if not pawns & chess.BB_SQUARES[origin]:
                rank = chess.BB_RANK_4 if turn else chess.BB_RANK_5
                if occupied & chess.BB_SQUARES[origin] or not target & rank:
                    return None
                origin += back
                if not pawns & chess.BB_SQUARES[origin]:
                    return None
        else:
            if not occupied & target:  # en passant, or nothing to take
                return None
            candidates = pawns & chess.BB_PAWN_ATTACKS[not turn][to]
            if not candidates or candidates & (candidates - 1):
                return None
            origin = candidates.bit_length() - 1
    else:
        if spec.promotion is not None:
            return None
        if piece == chess.KNIGHT:
            candidates = board.knights & chess.BB_KNIGHT_ATTACKS[to]
        elif piece == chess.KING:
            return None
        else:
            candidates = 0
            if piece != chess.ROOK:
                diagonal = chess.BB_DIAG_ATTACKS[to][chess.BB_DIAG_MASKS[to] & occupied]
                candidates |= diagonal
            if piece != chess.BISHOP:
                candidates |= chess.BB_RANK_ATTACKS[to][chess.BB_RANK_MASKS[to] & occupied]
                candidates |= chess.BB_FILE_ATTACKS[to][chess.BB_FILE_MASKS[to] & occupied]
            if piece == chess.BISHOP:
                candidates &= board.bishops
            elif piece == chess.ROOK:
                candidates &= board.rooks
            else:
                candidates &= board.queens
        candidates &= own & spec.from_mask
        if not candidates or candidates & (candidates - 1):
            return None
        origin = candidates.bit_length() - 1
    return origin


class MoveReader:
    """Plays move text on a board of its own."""

    __slots__ = ("board", "in_check")

    def __init__(self, board: chess.Board) -> None:
        self.board = board
        """The position reached. Its move stack is only as long as the caller keeps it."""
        self.in_check = board.is_check()

    def play_san(self, text: str) -> tuple[str, str]:
        """Play what ``text`` says; returns UCI and canonical SAN.

        Canonical is as python-chess' ``Board.san`` has it: only the origin letters that are
        needed, ``x`` for captures, ``=Q``, and ``+`` or ``#`` by the rules, whatever the source
        wrote. Raises :class:`UnplayableMove` and leaves the board as it was.
        """
        board = self.board
        spec = _spec(text) if len(text) <= MAX_MOVE_CHARS else None
        if spec is None:
            raise UnplayableMove(_why_unreadable(text), printable(text))
        move = None
        if spec.piece and not self.in_check:
            king = board.king(board.turn)
            origin = _single_origin(board, spec) if king is not None else None
            if origin is not None and king is not None:
                move = chess.Move(origin, spec.to, spec.promotion)
                if chess.BB_RAYS[king][origin] and board.is_into_check(move):
                    move = None
        if move is None:
            try:
                move = board.parse_san(spec.san)
            except chess.AmbiguousMoveError:
                raise UnplayableMove("ambiguous move", printable(text)) from None
            except ValueError:
                raise UnplayableMove("illegal move", printable(text)) from None
        core = spec.core
        if not core or spec.captures is not board.is_capture(move):
            core = board.san(move).rstrip("+#")
        return self._push(move, core)

    def play_uci(self, uci: str) -> tuple[str, str]:
        """Play a move given as UCI; returns UCI (castling as this board has it) and SAN.

        Castling may be written as the king's two steps or king-to-rook.
        Raises :class:`UnplayableMove` and leaves the board as it was.
        """
        try:
            move = self.board.parse_uci(uci)
        except ValueError:
            raise UnplayableMove("illegal move", printable(uci)) from None
        if not move:
            raise UnplayableMove("null move", printable(uci))
        return self._push(move, self.board.san(move).rstrip("+#"))

    def _push(self, move: chess.Move, core: str) -> tuple[str, str]:
        board = self.board
        uci = move.uci()
        board.push(move)
        king = board.king(board.turn)
        self.in_check = king is not None and bool(board.attackers_mask(not board.turn, king))
        if self.in_check:
            core += "+" if any(board.generate_legal_moves()) else "#"
        return uci, core


def after_illegal(board: chess.Board, text: str) -> chess.Board | None:
    """The position after a move that the rules forbid, where its text says which piece went where.

    First what the piece could do but for its king's safety, then one piece that is put there.
    None where the text fits no piece or several, or where no game could go on from the position.
    """
    spec = _spec(text) if len(text) <= MAX_MOVE_CHARS else None
    if spec is None or not spec.san or spec.san.startswith("O"):
        return None
    if spec.piece:
        from_mask, target, promotion = spec.from_mask, spec.to, spec.promotion
        from_mask &= board.pieces_mask(spec.piece, board.turn)
    else:  # "e2e4"
        squares = spec.san.replace("x", "").replace("-", "")
        from_mask = (
            chess.BB_SQUARES[chess.parse_square(squares[:2])] & board.occupied_co[board.turn]
        )
        target, promotion = spec.to or chess.parse_square(squares[2:4]), None
    on_target = board.piece_at(target)
    if on_target is not None and (
        on_target.color == board.turn or on_target.piece_type == chess.KING
    ):
        return None
    reach = {
        move.from_square
        for move in board.generate_pseudo_legal_moves(from_mask, chess.BB_SQUARES[target])
    }
    origins = reach or set(chess.scan_forward(from_mask))
    if len(origins) != 1:
        return None
    after = board.copy(stack=False)
    piece = after.remove_piece_at(origins.pop())
    if piece is None:
        return None
    after.set_piece_at(target, chess.Piece(promotion or piece.piece_type, piece.color))
    after.turn = not board.turn
    after.ep_square = None
    after.castling_rights = after.clean_castling_rights()
    after.halfmove_clock = 0
    after.fullmove_number += board.turn == chess.BLACK
    return after if after.is_valid() else None


def _why_unreadable(text: str) -> str:
    if text.rstrip(_TRAIL) in _NULL:
        return "null move"
    return "illegal move" if _MOVE_LIKE.match(text) else "unreadable move"


def printable(text: str) -> str:
    """Move text as it may be shown: short, without control characters."""
    shown = "".join(c if c.isprintable() else "�" for c in text[: MAX_MOVE_CHARS + 1])
    return shown if len(shown) <= MAX_MOVE_CHARS else shown[: MAX_MOVE_CHARS - 1] + "…"
