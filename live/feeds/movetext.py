"""Move text → legal move, and the one spelling of it that this package uses.

Accepts what python-chess' ``Board.parse_san`` accepts, and more of what the wild holds (``e8(Q)``,
``exd6e.p.``, ``Pe4``, ``o-o``). A plain move is spelled as it was sent, which spares the look for
other pieces that could go there: ``parse_san`` has looked already.

The moves of a game, which sources send anew from its start at every move: those sent before are
only compared, so a resend costs little more than its new moves.

Movetext → mainline: what is outside parentheses. Variations are skipped by counting parentheses, so
what is in them, and how deep, costs only its length. Nothing here recurses or looks back.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import chess

from live.events import MATE_CP, Move, Result, Score
from live.feeds.charset import decode
from live.feeds.pgn_headers import result_word

#: Longest text that can be a move: ``Qa1xb2=Q+!?`` and then some.
MAX_MOVE_CHARS = 24
#: The longest game that is followed, in plies; the rest is left out.
MAX_PLIES = 1200

_SAN = re.compile(
    r"([NBKRQ]?)([a-h]?)([1-8]?)([-x:]?)([a-h][1-8])(?:[=/]?([nbrqNBRQ])|\(([nbrqNBRQ])\)|=)?\Z"
)
#: Spelled as it would be here, where no other piece could go there.
_PLAIN = re.compile(r"(?:[NBKRQ]x?|(?:[a-h]x)?)[a-h][1-8](?:=[NBRQ])?\Z")
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
    """As ``parse_san`` wants it."""
    uci: str = ""
    """Both squares, where the text names no piece: castling may be written so in two ways."""


@lru_cache(maxsize=16384)
def _spec(text: str) -> _Spec | None:
    """Read the letters; None when it is no move text at all."""
    word = text.rstrip(_TRAIL).translate(_FIGURINES)
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
    san = letter + file + rank + sign.replace(":", "x") + target + (f"={promo}" if promo else "")
    # "e2e4": any piece, and castling too
    return _Spec(san, "" if letter or not (file and rank) else file + rank + target + promo.lower())


def play_san(board: chess.Board, text: str) -> tuple[str, str]:
    """Play what ``text`` says, SAN or UCI; returns UCI and canonical SAN.

    Canonical is as python-chess' ``Board.san`` has it: only the origin letters that are
    needed, ``x`` for captures, ``=Q``, and ``+`` or ``#`` by the rules, whatever the source
    wrote. Raises :class:`UnplayableMove` and leaves the board as it was.
    """
    spec = _spec(text) if len(text) <= MAX_MOVE_CHARS else None
    if spec is None:
        why = "illegal move" if _MOVE_LIKE.match(text) else "unreadable move"
        raise UnplayableMove("null move" if text.rstrip(_TRAIL) in _NULL else why, printable(text))
    try:
        move = board.parse_uci(spec.uci) if spec.uci else board.parse_san(spec.san)
    except chess.AmbiguousMoveError:
        raise UnplayableMove("ambiguous move", printable(text)) from None
    except ValueError:
        raise UnplayableMove("illegal move", printable(text)) from None
    core = spec.san
    if not _PLAIN.match(core) or ("x" in core) is not board.is_capture(move):
        core = board.san(move).rstrip("+#")
    board.push(move)
    if board.is_check():
        core += "+" if any(board.generate_legal_moves()) else "#"
    return move.uci(), core


def after_illegal(board: chess.Board, text: str) -> chess.Board | None:
    """The position after a move that the rules forbid, where its text says which piece went where.

    First what the piece could do but for its king's safety, then one piece that is put there.
    None where the text fits no piece or several, or where no game could go on from the position.
    """
    spec = _spec(text) if len(text) <= MAX_MOVE_CHARS else None
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
        for move in board.generate_pseudo_legal_moves(from_mask, chess.BB_SQUARES[target])
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


def printable(text: str) -> str:
    """Move text as it may be shown: short, without control characters."""
    shown = "".join(c if c.isprintable() else "�" for c in text[: MAX_MOVE_CHARS + 1])
    return shown if len(shown) <= MAX_MOVE_CHARS else f"{shown[: MAX_MOVE_CHARS - 1]}…"


class ListedMove(NamedTuple):
    """One move as sent: SAN or UCI, with the mover's clock after it and the time it took."""

    text: str
    clock_s: float | None = None
    spent_s: float | None = None


class GameLine:
    """The moves of one game, given from its start again and again: :meth:`begin`, then :meth:`add`
    each. Those given before are only compared.
    """

    def __init__(self, start: chess.Board | None = None) -> None:
        self.start = start or chess.Board()
        self.moves: list[Move] = []
        self.problem: str | None = None
        """Why the last list of :meth:`set` could not be played to its end."""
        self._texts: list[str] = []
        self._known: list[Move] = []
        """What the texts mean; it and ``moves`` begin alike."""
        self._board = self.start.copy(stack=False)
        self._stands = 0
        """Plies after which the board stands, or -1."""

    def begin(self, start: chess.Board | None = None) -> None:
        """From the start, or from this one."""
        if start is not None and (start != self.start or start.chess960 != self.start.chess960):
            self.start, self._texts, self._known, self._stands = start, [], [], -1
        self.moves, self.problem = [], None

    def add(self, text: str) -> None:
        """The next move. Raises :class:`UnplayableMove`; then it is left out."""
        ply = len(self.moves)
        if ply >= len(self._texts) or self._texts[ply] != text:
            board = self._board_at(ply)
            try:
                uci, san = play_san(board, text)
            except UnplayableMove:
                raise
            except Exception as error:  # python-chess on a position it did not foresee
                self._stands = -1
                raise UnplayableMove("cannot read", printable(text)) from error
            board.clear_stack()
            self._stands += 1
            del self._texts[ply:], self._known[ply:]
            self._texts.append(san if san == text else text)
            self._known.append(Move(uci, san))
        self.moves.append(self._known[ply])

    def say(self, clock_s: float | None, spent_s: float | None, eval: Score | None = None) -> None:
        """What is said of the last move; the first word on a thing counts."""
        if clock_s is None and spent_s is None and eval is None:
            return
        move = self.moves[-1]
        self.moves[-1] = Move(
            move.uci,
            move.san,
            clock_s if move.clock_s is None else move.clock_s,
            spent_s if move.spent_s is None else move.spent_s,
            eval if move.eval is None else move.eval,
        )

    def set(self, given: Iterable[ListedMove], start: chess.Board | None = None) -> None:
        """All moves so far, from the start or from this one. An illegal one ends the game there."""
        for _ in self.play(given, start):
            pass

    def play(self, given: Iterable[ListedMove], start: chess.Board | None = None) -> Iterator[None]:
        """As :meth:`set`; gives back control after each move, which costs up to some 50 us."""
        self.begin(start)
        for each in given:
            if len(self.moves) >= MAX_PLIES:
                return
            try:
                self.add(each.text)
            except UnplayableMove as error:
                self.problem = self.why_not(error)
                return
            self.say(each.clock_s, each.spent_s)
            yield

    def why_not(self, error: UnplayableMove) -> str:
        """What is said of a next move that is none, with its number as on a scoresheet."""
        turns = len(self.moves) + (self.start.turn == chess.BLACK)
        number = self.start.fullmove_number + turns // 2
        return f"{error.why} {number}{'...' if turns % 2 else '.'}{error.text}"

    def back_to(self, plies: int) -> None:
        """Only so many moves."""
        del self.moves[plies:]

    @property
    def board(self) -> chess.Board:
        """The position after the moves; to be left as it is."""
        return self._board_at(len(self.moves))

    def _board_at(self, plies: int) -> chess.Board:
        if self._stands != plies:
            self._board = self.start.copy(stack=False)
            for move in self._known[:plies]:
                self._board.push(chess.Move.from_uci(move.uci))
            self._board.clear_stack()
            self._stands = plies
        return self._board


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
    times_s: dict[bytes, float | None] = {b"clk": None, b"emt": None}
    score: Score | None = None
    for name, text in _COMMAND.findall(comment):
        if name == b"eval":
            score = read_eval(text.strip(), white_moved) if score is None else score
        elif times_s[name] is None:
            times_s[name] = read_time_s(text.strip(), short_is_minutes=name == b"emt")
    found = CommentValues(times_s[b"clk"], times_s[b"emt"], score)
    return None if found == (None, None, None) else found


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


# lastindex: 1 comment left open, 2 comment, 3 word, 4 opening parenthesis, 5 end; None for what
# says nothing (line comment, escaped line, NAG, stray closing signs).
_TOKEN = re.compile(
    rb"\s*+(?:\{([^}]*+)(\})?+|(?<![^\n])%[^\n]*+"
    rb"|([^\s{}();$]++(?:\([QRBNqrbn]\)[^\s{}();$]*+)?)"
    rb"|(\()|;[^\n]*+|(\Z)|[)}]|\$\d*+)"
)
_IN_VARIATION = re.compile(rb"[()]|\{[^}]*+(\})?+|;[^\n]*+|\n%[^\n]*+")
_NUMBER = re.compile(rb"\d{1,4}+(?:\.++|\xe2\x80\xa6)|\.++(?=.)|\d{1,4}(?=[KQRBNOa-h])")
#: Words that are neither move nor number: evaluation signs (no letter, no digit), and the
#: abbreviations of printed annotations.
_SIGN = re.compile(rb"(?!--\Z)[^0-9A-Za-z\x80-\xff]*+\Z|(?:e\.?p\.?|N|TN|D|RR|ch|mate|\d++)\Z")


class Movetext:
    """The mainline of one game, as the text given last has it: use :meth:`read` up, then see the
    attributes. Any text may follow any other.
    """

    def __init__(self, start: chess.Board, *, playable: bool = True) -> None:
        self._line = GameLine(start)
        self._playable = playable
        self.result: Result | None = None
        """The result the text ends with, None while it has none."""
        self.problem: str | None = None
        """Why the moves end before the text does."""
        self.start_eval: Score | None = None
        self.rest: tuple[chess.Board, bytes] | None = None
        """Where the game stands after the illegal move that ended it, and the text behind it; None
        where no such move did, or it does not say which piece went where."""

    @property
    def moves(self) -> list[Move]:
        return self._line.moves

    def read(self, text: bytes, *, whole: bool, tag: Result = "*") -> Iterator[None]:
        """Read a text; gives back control after each token, which costs up to some 20 us.

        ``whole``: the text ended by itself, so its last word is a word; otherwise a word that
        touches its end is left out, since ``O-O`` may be half of ``O-O-O``. ``tag``: the result
        that the headers say, which decides on words that may say something else as well.
        """
        self._line.begin()
        self.result = self.problem = self.start_eval = self.rest = None
        pos, opened = 0, ""
        while match := _TOKEN.match(text, pos):
            yield
            kind, pos = match.lastindex, match.end()
            if kind == 3:
                word = match[3]
                if pos == len(text) and not whole and result_word(word) is None:
                    return  # perhaps half a word
                self._word(word, tag, text, pos)
            elif kind == 2:
                self._comment(match[1])
            elif kind == 1:
                opened = "comment"
                break
            elif kind == 4:
                depth = 1
                for sign in _IN_VARIATION.finditer(text, pos):
                    yield
                    if sign[0] == b"(":
                        depth += 1
                    elif sign[0] == b")":
                        depth -= 1
                    elif sign[0].startswith(b"{") and sign[1] is None:
                        break
                    if depth == 0:
                        pos = sign.end()
                        break
                if depth:
                    opened = "variation"
                    break
            elif kind == 5:
                return
        if not whole:  # what has no end is an error in a whole text, a cut in another
            return
        if self.problem is None and self._playable:
            self.problem = f"a {opened} is never closed after ply {len(self.moves)}"
        self.result = result_word(text.rsplit(None, 1)[-1]) or self.result

    def _comment(self, comment: bytes) -> None:
        if b"[%" not in comment or self.problem is not None:
            return
        plies = len(self.moves)
        said = read_comment(comment, (plies % 2 == 1) == self._line.start.turn)
        if said is None:
            return
        if plies:
            self._line.say(*said)
        elif self.start_eval is None:
            self.start_eval = said.eval

    def _word(self, word: bytes, tag: Result, text: bytes, end: int) -> None:
        """A word of the mainline: a move, a move number, a result, or a sign."""
        if word[-1] == 0x2E and (word[0] < 0x3A or word == b"e.p."):  # "12." or "12..."
            return
        if (result := result_word(word)) is not None:
            self.result = result
            return
        if self.problem is not None or not self._playable:
            return
        number = _NUMBER.match(word)
        word = word[number.end() :] if number else word
        if _SIGN.match(word) or not (word.isascii() or any(map(str.isalnum, decode(word)))):
            self._may_end(word, tag)
            return
        if len(self.moves) >= MAX_PLIES:
            self.problem = f"more than {MAX_PLIES} plies"
            return
        move = decode(word)
        try:
            self._line.add(move)
        except UnplayableMove as error:
            if self._may_end(word, tag):
                return
            self.problem = self._line.why_not(error)
            illegal = error.why == "illegal move"
            after = after_illegal(self._line.board, move) if illegal else None
            self.rest = None if after is None else (after, text[end:])

    def _may_end(self, word: bytes, tag: Result) -> bool:
        """Whether a word that may say something else is the result, which is then taken in."""
        result = result_word(word, doubtful=True)
        if result is None or (result != tag and (self.moves or word == b"0-0")):
            return False  # castling, or who stands better
        self.result = result
        return True
