"""Move text → legal move, and the one spelling of it that this package uses. Pure.

Accepts what python-chess' ``Board.parse_san`` accepts, and more of what the wild holds
(``e8(Q)``, ``exd6e.p.``, ``Pe4``, ``o-o``). A plain move is spelled as it was sent,
which spares the look for other pieces that could go there: ``parse_san`` has looked
already.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import chess

from live.sources.typography import normalise_text

#: Longest text that can be a move: ``Qa1xb2=Q+!?`` and then some.
MAX_MOVE_CHARS = 24

_SAN = re.compile(
    r"([NBKRQ]?)([a-h]?)([1-8]?)([-x:]?)([a-h][1-8])(?:[=/]?([nbrqNBRQ])|\(([nbrqNBRQ])\)|=)?\Z"
)
#: Spelled as it would be here, where no other piece could go there.
_PLAIN = re.compile(r"(?:[NBKRQ]x?|(?:[a-h]x)?)[a-h][1-8](?:=[NBRQ])?\Z")
_CASTLING = re.compile(r"[0Oo]-[0Oo](-[0Oo])?\Z")
_NULL = frozenset({"--", "Z0", "0000", "@@@@", "null", "pass"})
_TRAIL = "+#!?†‡♯‼⁇⁈⁉,.;"
#: Pictures of pieces, and letters of other alphabets that look like those of moves.
LOOK_ALIKES = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟×✕асеоОхΟο", "KQRBNPKQRBNPxxaceoOxOo")
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
    """As ``parse_san`` wants it."""
    uci: str = ""
    """Both squares, where the text names no piece: castling may be written so in two
    ways.
    """


@lru_cache(maxsize=16384)
def _read_spec(text: str) -> _Spec | None:
    """Read the letters; None when it is no move text at all."""
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
    # "e2e4": any piece, and castling too
    return _Spec(
        san,
        "" if letter or not (file and rank) else file + rank + target + promo.lower(),
    )


def play_san(board: chess.Board, text: str) -> tuple[str, str]:
    """Play what ``text`` says, SAN or UCI; returns UCI and canonical SAN.

    Canonical is as python-chess' ``Board.san`` has it: only the origin letters that are
    needed, ``x`` for captures, ``=Q``, and ``+`` or ``#`` by the rules, whatever the
    source wrote. Raises :class:`UnplayableMove` and leaves the board as it was.
    """
    spec = _read_spec(text) if len(text) <= MAX_MOVE_CHARS else None
    if spec is None:
        why = "illegal move" if _MOVE_LIKE.match(text) else "unreadable move"
        raise UnplayableMove(
            "null move" if is_null_move(text) else why, quote_move(text)
        )
    try:
        move = board.parse_uci(spec.uci) if spec.uci else board.parse_san(spec.san)
    except chess.AmbiguousMoveError:
        raise UnplayableMove("ambiguous move", quote_move(text)) from None
    except ValueError:
        raise UnplayableMove("illegal move", quote_move(text)) from None
    core = spec.san
    if not _PLAIN.match(core) or ("x" in core) is not board.is_capture(move):
        core = board.san(move).rstrip("+#")
    board.push(move)
    if board.is_check():
        core += "+" if any(board.generate_legal_moves()) else "#"
    return move.uci(), core


def is_null_move(text: str) -> bool:
    """Return whether the text says that a side passed: ``--``, ``Z0``."""
    return text.rstrip(_TRAIL) in _NULL


def board_after_illegal(board: chess.Board, text: str) -> chess.Board | None:
    """Return the position after a move that the rules forbid, where its text says which
    piece went where.

    First what the piece could do but for its king's safety, then one piece that is put
    there. A null move leaves the pieces as they are. None where the text fits no piece
    or several, or where no game could go on from the position.
    """
    if is_null_move(text):
        after = board.copy(stack=False)
        after.push(chess.Move.null())
        after.clear_stack()
        return after if after.is_valid() else None
    spec = _read_spec(text) if len(text) <= MAX_MOVE_CHARS else None
    match = _SAN.match(spec.san) if spec is not None else None
    if spec is None or match is None:  # none, or castling
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


#: Moves with nothing between them, the shortest first, and perhaps a result behind.
_GLUED = re.compile(
    r"(?:\d{1,4}(?:\.++|(?=[KQRBNO])))?+"
    r"((?:[KQRBNP]?(?:[a-h]?[1-8]?[-x:]?)??[a-h][1-8](?:=[QRBN]|(?<=[18])[QRBN](?![a-h1-8x]))?"
    r"|[0O]-[0O](?:-[0O])?)[+#]?)[!?]*+"
    r"|(?:1-0|0-1|1/2-1/2|\*)\Z"
)
#: Longest text that is taken apart: a game without any blank.
MAX_GLUED_CHARS = 2048


def split_glued_moves(text: str) -> list[str]:
    """Return the moves, and maybe the result, of ``1.e4!!e5?2.Nf3``; none if it is no
    such text.
    """
    if len(text) > MAX_GLUED_CHARS:
        return []
    parts: list[str] = []
    end = 0
    for found in _GLUED.finditer(text):
        if found.start() != end:
            return []
        parts.append(found[1] or found[0])
        end = found.end()
    return parts if len(parts) > 1 and end == len(text) else []


def quote_move(text: str) -> str:
    """Return move text as it may be shown: short, without control characters."""
    shown = "".join(c if c.isprintable() else "�" for c in text[: MAX_MOVE_CHARS + 1])
    return shown if len(shown) <= MAX_MOVE_CHARS else f"{shown[: MAX_MOVE_CHARS - 1]}…"
