"""Conversion of the text of a move to a legal move and to its canonical spelling. No
I/O.

Accepts everything that python-chess' ``Board.parse_san`` accepts, and other spellings
found in real files (``e8(Q)``, ``exd6e.p.``, ``Pe4``, ``o-o``). A plain move keeps its
spelling. That avoids a search for other pieces that could move there, which
``parse_san`` has already done.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import chess

from live.sources.typography import normalise_text

#: Greatest length of a move's text, such as ``Qa1xb2=Q+!?``, with some reserve.
MAX_MOVE_CHARS = 24

_SAN = re.compile(
    r"([NBKRQ]?)([a-h]?)([1-8]?)([-x:]?)([a-h][1-8])(?:[=/]?([nbrqNBRQ])|\(([nbrqNBRQ])\)|=)?\Z"
)
#: A move that is already in canonical spelling, unless another piece can move to the
#: same square.
_PLAIN = re.compile(r"(?:[NBKRQ]x?|(?:[a-h]x)?)[a-h][1-8](?:=[NBRQ])?\Z")
_CASTLING = re.compile(r"[0Oo]-[0Oo](-[0Oo])?\Z")
_NULL = frozenset({"--", "Z0", "0000", "@@@@", "null", "pass"})
_TRAIL = "+#!?†‡♯‼⁇⁈⁉,.;"
#: Translation of chess symbols, and of letters of other alphabets that look like the
#: letters in moves.
LOOK_ALIKES = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟×✕асеоОхΟο", "KQRBNPKQRBNPxxaceoOxOo")
_MOVE_LIKE = re.compile(r"[KQRBNP]?[a-h]?\d?[-x:]?[a-h]\d|[0Oo]-[0Oo]")


class UnplayableMove(ValueError):
    """Raised for a text that is not a legal move in the position, with a reason for
    people.
    """

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(reason, text)
        self.reason = reason
        self.text = text

    def __str__(self) -> str:
        return f"{self.reason} {self.text}"


class _Spec(NamedTuple):
    """Text of a move, converted without knowledge of the position."""

    san: str
    """Text in the form for ``parse_san``."""
    uci: str = ""
    """Origin and target square if the text names no piece; empty otherwise. Castling
    can be written like this in two ways.
    """


@lru_cache(maxsize=16384)
def _read_spec(text: str) -> _Spec | None:
    """Convert the text; return None if it is not the text of a move."""
    word = normalise_text(text).strip().rstrip(_TRAIL).translate(LOOK_ALIKES)
    if word.endswith(("e.p", "ep")):
        word = word.removesuffix("e.p").removesuffix("ep")
    castling = _CASTLING.match(word)
    if castling is not None:
        return _Spec("O-O-O" if castling[1] else "O-O")
    match = _SAN.match(word.removeprefix("P"))
    if match is None:
        return None
    letter, file, rank, sign, target, promo, promo_braced = match.groups()
    promo = (promo or promo_braced or "").upper()
    san = (
        letter
        + file
        + rank
        + sign.replace(":", "x")
        + target
        + (f"={promo}" if promo else "")
    )
    # "e2e4" can be a move of any piece, including castling.
    return _Spec(
        san,
        "" if letter or not (file and rank) else file + rank + target + promo.lower(),
    )


def play_san(board: chess.Board, text: str) -> tuple[str, str]:
    """Play a move given as SAN or UCI; return its UCI and canonical SAN.

    The canonical spelling is that of python-chess' ``Board.san``: origin letters only
    if needed, ``x`` for captures, ``=Q``, and ``+`` or ``#`` if the rules give them,
    whatever the source wrote. Raises :class:`UnplayableMove`, and then leaves the board
    unchanged.
    """
    spec = _read_spec(text) if len(text) <= MAX_MOVE_CHARS else None
    if spec is None:
        reason = "illegal move" if _MOVE_LIKE.match(text) else "unreadable move"
        raise UnplayableMove(
            "null move" if is_null_move(text) else reason, shorten_move(text)
        )
    try:
        move = board.parse_uci(spec.uci) if spec.uci else board.parse_san(spec.san)
    except chess.AmbiguousMoveError:
        raise UnplayableMove("ambiguous move", shorten_move(text)) from None
    except ValueError:
        raise UnplayableMove("illegal move", shorten_move(text)) from None
    core = spec.san
    if not _PLAIN.match(core) or ("x" in core) is not board.is_capture(move):
        core = board.san(move).rstrip("+#")
    board.push(move)
    if board.is_check():
        core += "+" if any(board.generate_legal_moves()) else "#"
    return move.uci(), core


def is_null_move(text: str) -> bool:
    """Return whether the text means that a side passed: ``--``, ``Z0``."""
    return text.rstrip(_TRAIL) in _NULL


def board_after_illegal(board: chess.Board, text: str) -> chess.Board | None:
    """Return the position after an illegal move, if its text tells which piece moved
    where; otherwise None.

    The piece that moved is the only one that could do so if the safety of its king did
    not matter. If no piece could, it is the only piece of that kind. A null move leaves
    the pieces unchanged. None is also returned if the game could not continue from the
    position.
    """
    if is_null_move(text):
        after = board.copy(stack=False)
        after.push(chess.Move.null())
        after.clear_stack()
        return after if after.is_valid() else None
    spec = _read_spec(text) if len(text) <= MAX_MOVE_CHARS else None
    match = _SAN.match(spec.san) if spec is not None else None
    if spec is None or match is None:  # not a move, or castling
        return None
    letter, file, rank, _, square, promo, _ = match.groups()
    target = chess.parse_square(square)
    from_mask = board.occupied_co[board.turn]
    if not spec.uci:
        piece_type = chess.PIECE_SYMBOLS.index(letter.lower() or "p")
        from_mask &= board.pieces_mask(piece_type, board.turn)
        file = file or ("" if letter else square[0])
    if file:
        from_mask &= chess.BB_FILES[chess.FILE_NAMES.index(file)]
    if rank:
        from_mask &= chess.BB_RANKS[int(rank) - 1]
    on_target = board.piece_at(target)
    if on_target is not None and (
        on_target.color == board.turn or on_target.piece_type == chess.KING
    ):
        return None
    reach = {
        move.from_square
        for move in board.generate_pseudo_legal_moves(
            from_mask, chess.BB_SQUARES[target]
        )
    }
    origins = reach or set(chess.scan_forward(from_mask))
    if len(origins) != 1:
        return None
    after = board.copy(stack=False)
    piece = after.remove_piece_at(origins.pop())
    if piece is None:
        return None
    promotion = chess.PIECE_SYMBOLS.index(promo.lower()) if promo else piece.piece_type
    after.set_piece_at(target, chess.Piece(promotion, piece.color))
    after.turn = not board.turn
    after.ep_square = None
    after.castling_rights = after.clean_castling_rights()
    after.halfmove_clock = 0
    after.fullmove_number += board.turn == chess.BLACK
    return after if after.is_valid() else None


#: Moves without spaces between them, each in its shortest form, and an optional result
#: at the end.
_GLUED = re.compile(
    r"(?:\d{1,4}(?:\.++|(?=[KQRBNO])))?+"
    r"((?:[KQRBNP]?(?:[a-h]?[1-8]?[-x:]?)??[a-h][1-8](?:=[QRBN]|(?<=[18])[QRBN](?![a-h1-8x]))?"
    r"|[0O]-[0O](?:-[0O])?)[+#]?)[!?]*+"
    r"|(?:1-0|0-1|1/2-1/2|\*)\Z"
)
#: Greatest length of a text that is split into moves: a game without any space.
MAX_GLUED_CHARS = 2048


def split_glued_moves(text: str) -> list[str]:
    """Return the moves, and the result if there is one, in a text such as
    ``1.e4!!e5?2.Nf3``; an empty list for other texts.
    """
    if len(text) > MAX_GLUED_CHARS:
        return []
    parts: list[str] = []
    end = 0
    for match in _GLUED.finditer(text):
        if match.start() != end:
            return []
        parts.append(match[1] or match[0])
        end = match.end()
    return parts if len(parts) > 1 and end == len(text) else []


def shorten_move(text: str) -> str:
    """Return the text of a move for display: shortened and without control
    characters.
    """
    printable = "".join(
        c if c.isprintable() else "�" for c in text[: MAX_MOVE_CHARS + 1]
    )
    return (
        printable
        if len(printable) <= MAX_MOVE_CHARS
        else f"{printable[: MAX_MOVE_CHARS - 1]}…"
    )
