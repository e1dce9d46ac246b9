"""Reader of PGN movetext: it returns the main line, that is, everything outside
parentheses. No I/O.

Variations are skipped by counting parentheses, so their cost depends only on their
length, not on their depth. Nothing here is recursive or backtracks.
"""

import re
from collections.abc import Generator, Iterator
from typing import NamedTuple

import chess

from live.messages.from_sources import Move, Result, Score
from live.sources.charset import decode
from live.sources.comment_commands import (
    Unsure,
    find_bare_clock,
    read_comment,
    read_time_s,
)
from live.sources.game_line import MAX_PLIES, GameLine
from live.sources.game_units import (
    LEFT_OUT,
    MOST_CLOCK_S,
    BareClock,
    GameUnits,
    drop_impossible_clocks,
)
from live.sources.piece_letters import (
    PieceLetters,
    find_letter_translations,
    find_letters,
)
from live.sources.results import read_result_at_end, read_result_word
from live.sources.san import (
    MAX_MOVE_CHARS,
    UnplayableMove,
    board_after_illegal,
    split_glued_moves,
)

# The token's kind is in lastindex. 1: a comment that is not closed, 2: a comment, 3: a
# word, 4: an opening parenthesis, 5: the end of the text, None: something without
# meaning (line comment, escaped line, NAG, stray closing sign).
_TOKEN = re.compile(
    rb"\s*+(?:\{([^}]*+)(\})?+|(?<![^\n])%[^\n]*+"
    rb"|([^\s{}();$]++(?:\([QRBNqrbn]\)[^\s{}();$]*+)?)"
    rb"|(\()|;[^\n]*+|(\Z)|[)}]|\$\d*+)"
)
_IN_VARIATION = re.compile(rb"[()]|\{[^}]*+(\})?+|;[^\n]*+|\n%[^\n]*+")
_NUMBER = re.compile(rb"\d{1,4}+\.++|\.++(?=.)|\d{1,4}(?=[A-Za-h])")
#: Words that are neither moves nor numbers: evaluation signs (without letters and
#: digits), and abbreviations used in printed annotations.
_SIGN = re.compile(
    rb"(?!--\Z)[^0-9A-Za-z\x80-\xff]*+\Z|(?:e\.?p\.?|N|TN|D|RR|ch|mate|\d++)\Z"
)


_TOO_LONG = f"more than {MAX_PLIES} plies"
#: Greatest number of illegal or null moves from which a game is continued.
_MAX_RESTS = 16
#: Greatest length of a comment that can consist only of a clock, bytes.
_BARE_BYTES = 24


class _Text(NamedTuple):
    """Arguments of :meth:`Movetext.read_text`."""

    bytes: bytes
    whole: bool
    closed: bool
    tag: Result


class Movetext:
    """The main line of one game. Exhaust the iterator of :meth:`read_text`, then read
    the attributes. A later text need not continue the earlier one.
    """

    def __init__(self, start: chess.Board, *, playable: bool = True) -> None:
        self._line = GameLine(start)
        self._playable = playable
        self.result: Result | None = None
        """Result at the end of the text; None if there is none."""
        self.problem: str | None = None
        """Reason why the moves end before the text does; None if they do not."""
        self.start_eval: Score | None = None
        self.notes: list[str] = []
        """Messages for people about the units in which clocks and evaluations were
        read.
        """
        self._units: GameUnits | None = None
        self._language: PieceLetters | None = None
        self._letters: set[str] = set()
        """Piece letters used from the first unplayable move on."""
        self._has_p = False
        """Whether any move has the letter ``P``. If other pawn moves have none, ``P``
        is not a pawn.
        """
        self._has_long_clock = False
        self._rest: tuple[chess.Board, bytes] | None = None
        """Position after the illegal move that ended the moves, and the text after it.
        None if there is no such move, or if it does not tell which piece moved where.
        """

    @property
    def start(self) -> chess.Board:
        """The position before the first move."""
        return self._line.start

    @property
    def moves(self) -> list[Move]:
        return self._line.moves

    def read_text(
        self,
        text: bytes,
        *,
        whole: bool,
        closed: bool = False,
        tag: Result = "*",
        base_s: float | None = None,
    ) -> Iterator[None]:
        """Read a text. Yields after each token, which takes up to 20 µs.

        Args:
            text: movetext with ASCII spaces, dashes and quotes
                (:mod:`live.sources.typography`).
            whole: whether the text is complete, so that its last word is a whole word.
                Otherwise a word at the very end is ignored, since ``O-O`` might be the
                beginning of ``O-O-O``.
            closed: whether the text is no longer being written, so that a word at the
                very end is read if it is a move.
            tag: result in the headers, used to interpret words that have several
                meanings.
            base_s: time on a clock at the start of the game, seconds, if the headers
                give it.
        """
        source = _Text(text, whole, closed, tag)
        yield from self._read_in_language(source, None)
        # If other pawn moves are written as e4, then Pf3 is not a pawn move.
        if self._has_p and self._line.has_bare_pawns:
            self._letters.add("P")
        if self._letters:
            yield from self._read_foreign(source)
        if self.result is None:
            self.result = read_result_at_end(text)
        self.notes = []
        if self._units is not None:
            self.start_eval, self.notes = self._units.resolve_units(
                self.moves, self.start_eval, base_s
            )
        if self._has_long_clock and drop_impossible_clocks(self.moves):
            self.notes.append(LEFT_OUT)

    def read_after_illegal_moves(
        self, *, whole: bool, closed: bool = False
    ) -> Generator[None, None, list["Movetext"]]:
        """Return the moves after each illegal move of the last text. Yields as
        :meth:`read_text` does.
        """
        rests: list[Movetext] = []
        rest = self._rest
        for _ in range(_MAX_RESTS):
            if rest is None:
                break
            board, text = rest
            moves = Movetext(board)
            yield from moves.read_text(text, whole=whole, closed=closed)
            if moves.moves:
                rests.append(moves)
            rest = moves._rest
        return rests

    def _read_foreign(self, source: _Text) -> Iterator[None]:
        """Read the game with the piece letters of another language: the one with which
        most moves can be played, if it is unique.
        """
        used = self._letters | {
            move.san[0] for move in self.moves if move.san[0] in "KQRBN"
        }
        fitting = find_letter_translations(used)
        if not fitting:
            return
        furthest = len(self.moves)
        is_meant = False  # whether a common language fits the whole game
        best: list[PieceLetters | None] = [None]
        for letters in fitting:
            if is_meant and not letters.is_common:
                break
            yield from self._read_in_language(source, letters)
            is_meant |= letters.is_common and self.problem is None
            reached = len(self.moves) + (self.problem is None)
            if reached > furthest:
                furthest, best = reached, []
            if reached == furthest:
                best.append(letters)
        chosen = best[0] if len(best) == 1 else None
        yield from self._read_in_language(source, chosen)
        if self.problem is not None:
            names = " or ".join(
                language.name for language in ([chosen] if chosen else fitting)
            )
            self.problem += f" ({names} piece letters)"

    def _read_in_language(
        self, source: _Text, letters: PieceLetters | None
    ) -> Iterator[None]:
        """Read the text with the piece letters of a language; None for English."""
        self._line.restart()
        self._language = letters
        self._letters = set()
        self._units = None
        self._has_p = self._has_long_clock = False
        self.result = self.problem = self.start_eval = self._rest = None
        text, whole, pos, opened = source.bytes, source.whole, 0, ""
        while match := _TOKEN.match(text, pos):
            yield
            kind, pos = match.lastindex, match.end()
            if kind == 3:
                word = match[3]
                if pos < len(text) or whole or read_result_word(word) is not None:
                    self._read_word(word, source, pos)
                elif source.closed:
                    problem, rest = self.problem, self._rest
                    self._read_word(word, source, pos)
                    # Half a word at the end is not an error.
                    self.problem, self._rest = problem, rest
            elif kind == 2:
                self._read_comment(match[1])
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
        if not whole:  # an open comment is an error only in a whole text
            return
        if self.problem is None and self._playable:
            self.problem = f"a {opened} is never closed after ply {len(self.moves)}"
        self.result = read_result_word(text.rsplit(None, 1)[-1]) or self.result

    def _read_comment(self, comment: bytes) -> None:
        if self.problem is not None:
            return
        plies = len(self.moves)
        if b"[%" not in comment:
            if plies and len(comment) <= _BARE_BYTES:
                self._read_bare_clock(comment)
            return
        values = read_comment(comment, (plies % 2 == 1) == self._line.start.turn)
        if values is None:
            return
        clock_s, spent_s, score, unsure = values
        before = self.moves[-1] if plies else Move("", "", eval=self.start_eval)
        if plies:
            self._line.annotate_last(clock_s, spent_s, score)
        elif self.start_eval is None:
            self.start_eval = score
        if unsure is not None:
            self._record_ambiguous_units(unsure, before)
        if clock_s is not None and clock_s > MOST_CLOCK_S:
            self._has_long_clock = True

    def _record_ambiguous_units(self, unsure: Unsure, before: Move) -> None:
        """Record the ambiguities of a comment, except for values that the move already
        had ``before`` it.
        """
        if before.clock_s is not None:
            unsure = unsure._replace(is_short=False, is_minutes=False)
        if before.eval is not None:
            unsure = unsure._replace(whole_pawns=None)
        self._units = self._units or GameUnits()
        self._units.record_ambiguous_units(len(self.moves), unsure)

    def _read_bare_clock(self, comment: bytes) -> None:
        time = find_bare_clock(comment)
        clock_s = None if time is None else read_time_s(time)
        if time is not None and clock_s is not None:
            is_short = time.count(b":") == 1
            self._units = self._units or GameUnits()
            self._units.record_bare_clock(BareClock(len(self.moves), clock_s, is_short))

    def _read_word(self, word: bytes, source: _Text, end: int) -> None:
        """Read a word of the main line: a move, a move number, a result or a sign."""
        if word[-1] == 0x2E and (word[0] < 0x3A or word == b"e.p."):  # "12." or "12..."
            return
        if (result := read_result_word(word)) is not None:
            self.result = result
            return
        if not self._playable:
            return
        number = _NUMBER.match(word)
        word = word[number.end() :] if number else word
        if self.problem is not None:
            self._letters |= find_letters(decode(word[:MAX_MOVE_CHARS]))
            return
        if _SIGN.match(word) or not (
            word.isascii() or any(map(str.isalnum, decode(word)))
        ):
            self._read_doubtful_result(word, source.tag)
            return
        if len(self.moves) >= MAX_PLIES:
            self.problem = _TOO_LONG
            return
        if word[0] == 0x50:  # the letter P
            self._has_p = True
        move = decode(word)
        if self._language is not None:
            move = self._language.translate_move(move)
        try:
            self._line.compare_or_play(move)
        except UnplayableMove as error:
            remainder = source.bytes[end:]
            if not (
                self._read_doubtful_result(word, source.tag)
                or self._add_glued_moves(move, remainder)
            ):
                self._letters |= find_letters(move)
                self._end_at_error(error, move, remainder)

    def _add_glued_moves(self, text: str, remainder: bytes) -> bool:
        """Play several moves that are not separated by spaces. Return whether the first
        one could be played.
        """
        parts = split_glued_moves(text)
        for number, part in enumerate(parts, 1):
            if (result := read_result_word(part.encode())) is not None:
                self.result = result
            elif len(self.moves) >= MAX_PLIES:
                self.problem = _TOO_LONG
                return True
            else:
                try:
                    self._line.compare_or_play(part)
                except UnplayableMove as error:
                    if number == 1:
                        return False
                    self._end_at_error(
                        error,
                        part,
                        " ".join([*parts[number:], ""]).encode() + remainder,
                    )
                    return True
        return bool(parts)

    def _end_at_error(self, error: UnplayableMove, move: str, remainder: bytes) -> None:
        """Stop before a move that cannot be played."""
        self.problem = self._line.describe_error(error)
        may_go_on = error.reason in ("illegal move", "null move")
        after = board_after_illegal(self._line.board, move) if may_go_on else None
        self._rest = None if after is None else (after, remainder)

    def _read_doubtful_result(self, word: bytes, tag: Result) -> bool:
        """Read a word that has several meanings as the result, if that is its meaning.
        Return whether it was.
        """
        result = read_result_word(word, doubtful=True)
        if result is None or (result != tag and (self.moves or word == b"0-0")):
            return False  # castling or an evaluation sign
        self.result = result
        return True
