"""Move text → legal move, and the one spelling of it that this package uses.

Accepts what python-chess' ``Board.parse_san`` accepts, and more of what the wild holds (``e8(Q)``,
``exd6e.p.``, ``Pe4``, ``o-o``). The common case, a plain move that can be only one piece and cannot
expose its king, is found from attack tables without generating moves; all else is left to
``parse_san``, so both agree on every legal input.

Movetext → mainline, reading only what is new.

Sources send a whole game again at every move. What was read is kept: when the new text begins with
the old one (less its result), only the rest is read; when they part earlier, reading goes on from
the last move before that point. Comparing two
texts costs nanoseconds a kilobyte, so a resend costs the same at move 60 as at move 10.

The mainline is what is outside parentheses. Variations are skipped by counting parentheses, so
what is in them, and how deep, costs only its length. Nothing here recurses or looks back.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import NamedTuple

import chess

from live.events import MATE_CP, Move, Result, Score
from live.feeds.charset import decode
from live.feeds.pgn_headers import DOUBTFUL_WORDS, RESULT_WORDS

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
    uci: str = ""
    """Both squares, where the text names no piece: castling may be written so in two ways."""


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
        return _SLOW._replace(san=san, uci=f"{file}{rank}{target}{(promo or '').lower()}")
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
    turn, to, occupied = board.turn, spec.to, board.occupied
    target = chess.BB_SQUARES[to]
    own = board.occupied_co[turn]
    if own & target or spec.piece == chess.KING:
        return None
    promotes = spec.piece == chess.PAWN and bool(target & chess.BB_BACKRANKS)
    if (spec.promotion is not None) is not promotes:
        return None
    pieces = board.pieces_mask(spec.piece, turn) & spec.from_mask
    if spec.piece == chess.PAWN and spec.from_mask & chess.BB_FILES[to & 7]:  # straight ahead
        back = -8 if turn else 8
        origin = to + back
        if occupied & target or not 0 <= origin < 64:
            return None
        if not pieces & chess.BB_SQUARES[origin]:
            rank = chess.BB_RANK_4 if turn else chess.BB_RANK_5
            if occupied & chess.BB_SQUARES[origin] or not target & rank:
                return None
            origin += back
        return origin if pieces & chess.BB_SQUARES[origin] else None
    if spec.piece == chess.PAWN and not occupied & target:  # en passant, or nothing to take
        return None
    pieces &= board.attackers_mask(turn, to)
    return pieces.bit_length() - 1 if pieces.bit_count() == 1 else None


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
                move = board.parse_uci(spec.uci) if spec.uci else board.parse_san(spec.san)
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


# Commands inside PGN comments: ``[%clk]``, ``[%emt]``, ``[%eval]``.
#
# Defined by the "PGN specification and implementation supplement" (Cowderoy, 2001); ``%eval`` is as
# lichess and python-chess write it. Writers differ: DGT LiveChess pads with zeros, uses a brace for
# each command and wraps lines inside the command; others leave out the seconds.


_COMMAND = re.compile(rb"\[%\s*+(clk|emt|eval)\s++([^\[\]]*+)\]")
_TIME = re.compile(rb"(\d{1,6}+)(?::(\d{1,2}+))?(?::(\d{1,2}+))?(\.\d*+)?\Z")
_EVAL = re.compile(
    rb"(?:(?:#|M|#M)([+-]?)(\d{1,4}+)|([+-]?(?:\d{1,7}+(?:\.\d*+)?|\.\d++)))(?:,\s*+\d++)?\Z"
)


class CommentValues(NamedTuple):
    """What one comment says about the move before it."""

    clock_s: float | None
    spent_s: float | None
    eval: Score | None


def read_comment(comment: bytes, white_moved: bool) -> CommentValues | None:
    """The commands of one comment (text between its braces), None when it holds none.

    ``white_moved`` says who made the move before it, which ``[%eval #0]`` (mated) needs.
    The first readable command of a kind counts.
    """
    clock_s: float | None = None
    spent_s: float | None = None
    score: Score | None = None
    for name, text in _COMMAND.findall(comment):
        text = text.strip()
        if name == b"clk":
            if clock_s is None:
                clock_s = read_time_s(text)
        elif name == b"emt":
            if spent_s is None:
                spent_s = read_time_s(text, short_is_minutes=True)
        elif score is None:
            score = read_eval(text, white_moved)
    found = CommentValues(clock_s, spent_s, score)
    return found if any(value is not None for value in found) else None


def read_time_s(text: bytes, *, short_is_minutes: bool = False) -> float | None:
    """Seconds of ``h:m:s``, ``h:m:s.f``, ``h:m`` or plain seconds; None when it is none of them.

    Two parts are hours and minutes on a clock, but minutes and seconds when ``short_is_minutes``:
    nobody writes the time a move took in whole minutes.
    """
    match = _TIME.match(text)
    if match is None:
        return None
    first, second, third, fraction = match.groups()
    if third is not None:
        whole = int(first) * 3600 + int(second) * 60 + int(third)
    elif second is not None:
        whole = int(first) * 60 + int(second)
        if not short_is_minutes:
            return whole * 60.0 if fraction is None else None
    else:
        whole = int(first)
    return whole + float(b"0" + fraction) if fraction else float(whole)


def read_eval(text: bytes, white_moved: bool) -> Score | None:
    """White's score of ``0.23`` (pawns), ``#-3`` (mate), each with ``,depth`` or without.

    Clamped to ±3900 centipawns, mate ±3900 (Ferreira 2012, section 3). ``#0`` is the position
    in which the side to move is already mated.
    """
    match = _EVAL.match(text)
    if match is None:
        return None
    sign, mate_in, pawns = match.groups()
    if pawns is not None:
        return Score(max(-MATE_CP, min(MATE_CP, round(float(pawns) * 100))))
    mate = int(mate_in)
    if mate == 0:
        return Score(MATE_CP if white_moved else -MATE_CP, 0)
    return Score(-MATE_CP, -mate) if sign == b"-" else Score(MATE_CP, mate)


# lastindex: 1 comment left open, 2 comment, 3 word, 4 opening parenthesis, 5 line comment,
# 6 end; None for what says nothing (NAG, stray closing signs).
_TOKEN = re.compile(
    rb"\s*+(?:\{([^}]*+)(\})?+"
    rb"|([^\s{}();$]++(?:\([QRBNqrbn]\)[^\s{}();$]*+)?)"
    rb"|(\()|(;[^\n]*+\n?+)|(\Z)|[)}]|\$\d*+)"
)
_IN_VARIATION = re.compile(rb"[()]|\{[^}]*+(\})?+|;[^\n]*+|\n%[^\n]*+")
_DELIMITERS = b" \t\n{}();$"
_NUMBER = re.compile(rb"\d{1,4}+(?:\.++|\xe2\x80\xa6)|\.++(?=.)|\d{1,4}(?=[KQRBNOa-h])")
#: Words that are neither move nor number: evaluation signs (no letter, no digit), and the
#: abbreviations of printed annotations.
_SIGN = re.compile(rb"(?!--\Z)[^0-9A-Za-z\x80-\xff]*+\Z|(?:e\.?p\.?|N|TN|D|RR|ch|mate|\d++)\Z")


class Movetext:
    """The mainline of one game, as the text given last has it.

    Use: :meth:`begin` with a text, :meth:`advance` until it says it is done, then read the
    attributes. Any text may follow any other.
    """

    def __init__(
        self, start: chess.Board, *, max_plies: int, max_comment_bytes: int, playable: bool = True
    ) -> None:
        self._start = start
        self._max_plies = max_plies
        self._max_comment = max_comment_bytes
        self._playable = playable
        self._mover = MoveReader(start.copy(stack=False))
        self._stands = 0
        """Plies after which the mover stands, or -1."""
        self.moves: list[Move] = []
        self._offsets: list[int] = []
        """Where the word of each move begins."""
        self.result: Result | None = None
        """The result the text ends with, None while it has none."""
        self.problem: str | None = None
        """Why the moves end before the text does."""
        self.start_eval: Score | None = None
        self._text = b""
        self._whole_text = b""
        """The text given last, all of it."""
        self._known = b""
        """The part of the last text that was kept; apart, so that comparing copies nothing."""
        self._whole = False
        self._pos = 0
        """How far the text was read."""
        self._kept = 0
        """How far the text may be kept when another follows: the end of the last token before
        a result, outside of anything left open."""
        self._result_at = -1
        self._problem_at = -1
        self._opened_at = -1
        """Where the variation that is being skipped begins, or -1."""
        self._depth = 0
        self._tag: Result = "*"
        self.done = True

    def begin(self, text: bytes, *, whole: bool, tag: Result = "*") -> None:
        """Take a text to read, and keep of the last one what both begin with.

        ``whole``: the text ended by itself, so its last word is a word; otherwise a word that
        touches its end is left out, since ``O-O`` may be half of ``O-O-O``. ``tag``: the result
        that the headers say, which decides on words that may say something else as well.
        """
        if not self.done:  # the last text was given up in the middle
            self._known = self._text[: self._kept]
        known = self._known
        keep = len(known) if text.startswith(known) else _common_prefix(known, text)
        if keep < len(known) or not _ends_clean(text, keep, whole):
            # The word at the parting may have been the beginning of another.
            index = bisect_right(self._offsets, keep) - 1
            keep = self._offsets[index] if index >= 0 else 0
        self._rewind(keep)
        self._text = self._whole_text = text
        self._whole = whole
        self._pos = self._kept = keep
        self._opened_at = -1
        self._depth = 0
        self._tag = tag
        self.done = False

    def _rewind(self, pos: int) -> None:
        """Forget what was read from ``pos`` on."""
        plies = bisect_left(self._offsets, pos)
        if plies < self._stands:
            self._stands = -1
        del self.moves[plies:], self._offsets[plies:]
        if self._result_at >= pos:
            self.result = None
            self._result_at = -1
        if self._problem_at >= pos:
            self.problem = None
            self._problem_at = -1
        if pos == 0:
            self.start_eval = None

    def advance(self, budget: int) -> int:
        """Read about ``budget`` tokens; returns what is left of it, 0 or less when used up.

        A token costs up to some 20 microseconds, so 1,000 of them stay well under 50 ms.
        """
        while not self.done and budget > 0:
            if self._opened_at >= 0:
                budget = self._skip_variation(budget)
            else:
                budget = self._read_mainline(budget)
        if self.done:
            self._known = self._text[: self._kept]
            self._text = b""
            self._mover.board.clear_stack()
        return budget

    def _read_mainline(self, budget: int) -> int:
        """Tokens outside variations."""
        text = self._text
        pos = self._pos
        for match in _TOKEN.finditer(text, pos):
            if budget <= 0:
                self._pos = pos
                return budget
            budget -= 1
            kind = match.lastindex
            end = match.end()
            if kind == 3:
                start = match.start(3)
                word = match[3]
                if end == len(text) and not self._whole and word not in RESULT_WORDS:
                    break  # perhaps half a word
                if word[0] == 0x25 and (start == 0 or text[start - 1] == 0x0A):
                    line_end = text.find(b"\n", end)
                    if line_end < 0:
                        break
                    self._pos = self._keep(line_end + 1)
                    return budget
                self._word(word, start)
            elif kind == 2:
                self._comment(match[1])
            elif kind == 1:
                self._left_open("comment", match.start(1) - 1)
                break
            elif kind == 4:
                self._opened_at = match.start(4)
                self._depth = 1
                self._pos = end
                return budget
            elif kind == 6 or (kind == 5 and text[end - 1] != 0x0A):
                break
            pos = self._keep(end)
        self.done = True
        return budget

    def _keep(self, end: int) -> int:
        if self._result_at < 0:
            self._kept = end
        return end

    def _skip_variation(self, budget: int) -> int:
        """Parentheses until the one that closes the variation."""
        for match in _IN_VARIATION.finditer(self._text, self._pos):
            if budget <= 0:
                self._pos = match.start()
                return budget
            budget -= 1
            sign = match[0]
            if sign == b"(":
                self._depth += 1
            elif sign == b")":
                self._depth -= 1
                if self._depth == 0:
                    self._opened_at = -1
                    self._pos = self._keep(match.end())
                    return budget
            elif sign[0] == 0x7B and match[1] is None:
                break
        self._left_open("variation", self._opened_at)
        self.done = True
        return budget

    def _left_open(self, what: str, at: int) -> None:
        """A comment or variation has no end: an error in a whole text, a cut in another."""
        if not self._whole:
            return
        if self.problem is None and self._playable:
            self.problem = f"a {what} is never closed after ply {len(self.moves)}"
            self._problem_at = at
        last = self._text.rsplit(None, 1)[-1:]
        result = RESULT_WORDS.get(last[0]) if last else None
        if result is not None:
            self.result, self._result_at = result, at

    def _comment(self, comment: bytes) -> None:
        if b"[%" not in comment:
            return
        plies = len(self.moves)
        white_moved = (plies % 2 == 1) == self._start.turn
        note = read_comment(comment[: self._max_comment], white_moved)
        if note is None or self.problem is not None:
            return
        if self._result_at >= 0:  # behind what is kept: another text may not have it
            self._kept = min(self._kept, self._offsets[-1] if plies else 0)
        if plies == 0:
            if self.start_eval is None:
                self.start_eval = note.eval
            return
        move = self.moves[-1]
        self.moves[-1] = Move(
            move.uci,
            move.san,
            note.clock_s if move.clock_s is None else move.clock_s,
            note.spent_s if move.spent_s is None else move.spent_s,
            note.eval if move.eval is None else move.eval,
        )

    def after_illegal(self) -> tuple[chess.Board, bytes] | None:
        """Where the game stands after the illegal move that ended it, and the text behind it; None
        where no such move did, or it does not say which piece went where.
        """
        if self.problem is None or not self.problem.startswith("illegal move"):
            return None
        text = self._whole_text
        end = self._problem_at
        while end < len(text) and text[end] not in _DELIMITERS:
            end += 1
        word = text[self._problem_at : end]
        number = _NUMBER.match(word)
        move = decode(word[number.end() :] if number else word)
        self._stand_at(len(self.moves))
        board = after_illegal(self._mover.board, move)
        return (board, text[end:]) if board is not None else None

    def _word(self, word: bytes, start: int) -> None:
        """A word of the mainline: a move, a move number, a result, or a sign."""
        if word[-1] == 0x2E and (word[0] < 0x3A or word == b"e.p."):  # "12." or "12..."
            return
        result = RESULT_WORDS.get(word)
        if result is not None:
            self.result, self._result_at = result, start
            return
        if self.problem is not None or not self._playable:
            return
        plies = len(self.moves)
        number = _NUMBER.match(word)
        text = word[number.end() :] if number else word
        if _SIGN.match(text) or not (text.isascii() or _has_letters(text)):
            self._may_end(text, start)
            return
        if plies >= self._max_plies:
            self._stop(f"more than {self._max_plies} plies", start)
            return
        self._stand_at(plies)
        try:
            uci, san = self._mover.play_san(text.decode() if text.isascii() else decode(text))
        except UnplayableMove as error:
            if self._may_end(text, start):
                return
            self._stop(f"{error.why} {error.text} {self._where(plies)}", start)
        except Exception as error:  # python-chess on a position it did not foresee
            what = f"cannot read {printable(decode(text))} {self._where(plies)}"
            self._stop(f"{what}: {type(error).__name__}", start)
            self._stands = -1
        else:
            self.moves.append(Move(uci, san))
            self._offsets.append(start)
            self._stands = plies + 1

    def _may_end(self, text: bytes, start: int) -> bool:
        """Whether a word that may say something else is the result, which is then taken in."""
        result = DOUBTFUL_WORDS.get(text)
        if result is None or (result != self._tag and (self.moves or text == b"0-0")):
            return False  # castling, or who stands better
        self.result, self._result_at = result, start
        return True

    def _stop(self, problem: str, at: int) -> None:
        self.problem = problem
        self._problem_at = at

    def _where(self, plies: int) -> str:
        board = self._mover.board
        return f"at ply {plies + 1} ({board.fullmove_number}{'.' if board.turn else '...'})"

    def _stand_at(self, plies: int) -> None:
        """Bring the mover to the position after ``plies`` moves of ``moves``."""
        if self._stands == plies:
            return
        board = self._start.copy(stack=False)
        for move in self.moves[:plies]:
            board.push(chess.Move.from_uci(move.uci))
        self._mover, self._stands = MoveReader(board), plies


def _common_prefix(a: bytes, b: bytes) -> int:
    """Length of what ``a`` and ``b`` have in common in front. Compares O(length) bytes in all."""
    high = min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _ends_clean(text: bytes, at: int, whole: bool) -> bool:
    """True when the token before ``at`` cannot go on behind it."""
    if at == 0 or text[at - 1] in b"})\n":
        return True
    return text[at] in _DELIMITERS if at < len(text) else whole


def _has_letters(text: bytes) -> bool:
    return any(c.isalnum() for c in decode(text))
