"""Splitter of PGN bytes, cut anywhere, into the texts of single games. No I/O."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from live.messages.from_sources import Result
from live.sources.charset import PlainLines, decode
from live.sources.results import read_result, read_result_at_end, read_result_word
from live.sources.typography import normalise_line

_INDENT = rb"(?:\xef\xbb\xbf|[ \t])*+"
_INDENTED = re.compile(_INDENT)
#: A line that is blank, escaped, or begins like a tag.
_HEADER_LINE = re.compile(_INDENT + rb"[\[%;\n]")
_BLANK_LINE = re.compile(_INDENT + rb"\n")
_TAG_LINE = re.compile(_INDENT + rb'\[[ \t]*+[A-Za-z0-9][^\n"]*+"')
_EVENT_LINE = re.compile(_INDENT + rb"\[[ \t]*+Event\b")
#: A line that begins the next game after a game that was too long.
_SOME_TAG = re.compile(_INDENT + rb"\[[ \t]*+[A-Za-z0-9]")
#: Last word of a line, not counting comments.
_LAST_WORD = re.compile(rb"(?<![^\s})])[^\s{}()]++[ \t]*+\Z")
#: One or more complete tags at the beginning of a line.
_TAGS = re.compile(
    rb'(?:%b\[[ \t]*+\w++[ \t]*+"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"[ \t]*+\])++' % _INDENT
)
#: Beginning of movetext after tags in the same line.
_MOVES_BEGIN = re.compile(
    rb"[ \t]*+(?:1[ \t]*+\.|[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8]|O-O|\*|1-0|0-1|1/2-1/2)"
)
#: A second move number 1 in a line of movetext. Few lines have one, so the others need
#: no closer inspection.
_SECOND_ONE = re.compile(rb" 1\.(?![\d.])")
#: Possible beginning of another game within a line of movetext; a result must precede
#: it, and it must be outside comments.
_GAME_BEGINS = re.compile(
    rb'[ \t](?:1[ \t]*+\.(?!\.)|1[ \t]++[KQRBNOa-h]|\[[ \t]*+[A-Za-z]\w*+[ \t]++")'
)
_RESULT_TAG = re.compile(rb'\[[ \t]*+Result[ \t]*+"([^"\n]*+)"')
_PLAYED = re.compile(rb"[a-h][1-8]|O-O")
_RESULT_END_BYTES = 40
_FIRST_MOVE = re.compile(rb"[ \t]*+1(?:\.(?!\.)|[ \t])")
_MOVE_LIKE = re.compile(rb"\d\s*+\.|[a-h][1-8]|O-O|\*|\d-\d")
#: Comments and escaped lines, for lines that can contain line comments.
_COMMENTS = re.compile(rb"\{[^}]*+(\})?|;[^\n]*+\n?|^%[^\n]*+\n?")
#: Greatest number of times that a game is returned early because a line ends in a
#: result although the game continues. After that, the game is returned at its end.
_MAX_RESULTS = 4
#: Number of lines after which other tasks get a turn.
_PAUSE_LINES = 100


class LineEnd(Enum):
    """The way in which the text of a game ended."""

    WHOLE = "whole"
    """A result or the next game followed."""
    CUT = "cut"
    """The input ended; the last word might be incomplete."""
    TOO_LONG = "too long"
    """The game exceeded the size limit; its rest was ignored."""


class PgnSegment(NamedTuple):
    """Text of one game."""

    header: bytes
    movetext: bytes
    end: LineEnd


class _Phase(Enum):
    HEADERS = 1
    MOVES = 2
    ENDED = 3
    SKIPPING = 4


SegmentsAndPauses = Iterator[PgnSegment | None]
"""Iterator of games, and of None as a pause, in which other tasks get a turn."""


class PgnSplitter:
    """Splits PGN bytes, cut anywhere, into games; stores at most one game.

    A game consists of tag lines and then movetext, which can follow the tags in the
    same line. It ends

    * after a line that ends in a result outside comments (unless the next line
      continues the game: it is not blank, not a tag, and does not begin with move
      number 1), or
    * before a tag line outside comments that follows movetext, with or without a blank
      line between them, or
    * within a line, after a result outside comments that is followed by a tag or move
      number 1.

    A blank line alone does not end a game: some sources write blank lines between tags,
    and two between tags and moves. A tag line inside a comment does not end the game
    either. But an unclosed comment must not swallow the next games. So if a comment
    contains a tag line, and then another ``{``, the size limit or the end of input
    follows, the game ended at that tag line.

    If ``eager``, a game is returned as soon as the line with its result has arrived,
    and again if it continues after that. Otherwise it is returned only when the next
    game begins or the input ends.

    Each line is read once; the contents of an unclosed comment are read twice.
    """

    def __init__(
        self, *, max_game_bytes: int, eager: bool, fallback_charset: str = "cp1252"
    ) -> None:
        self._limit = max_game_bytes
        self._fallback_charset = fallback_charset
        self._eager = eager
        self._read = 0
        self.whole = False
        """Whether the last finished input ended with the result of its last game."""
        self.reset()

    def reset(self) -> None:
        """Forget the incomplete game: the input was interrupted, and starts again."""
        self._plain = PlainLines()
        self._line = bytearray()  # the beginning of an incomplete line
        self._again: list[bytes] = []  # lines to read again
        self._reset_game()

    def _reset_game(self) -> None:
        """Start an empty game."""
        self._phase = _Phase.HEADERS
        self._text = bytearray()  # lines of the game
        self._moves_at = 0  # index at which movetext begins
        self._event_seen = False
        self._tag: Result | None = None  # result in the headers
        self._in_comment = False
        self._tag_in_comment = -1  # index of the open comment's first tag line, or -1
        self._results = 0  # number of lines that ended in a result
        self._is_returned = False  # whether the text has been returned already

    def split_bytes(self, data: bytes) -> SegmentsAndPauses:
        """Yield the games that ``data`` completes, and None after at most a millisecond
        of work without a game. Exhaust the iterator before the next call.
        """
        yield from self._split_lines(self._plain.decode_lines(data))

    def finish_input(self) -> SegmentsAndPauses:
        """Yield the games that are still open at the end of input. After that, new
        input can start.
        """
        yield from self._split_lines(self._plain.decode_lines(b"", final=True))
        cut = bool(self._line)
        if cut:
            yield from self._split_lines(b"\n")
        while self._phase is _Phase.MOVES and self._tag_in_comment > 0:
            yield self._end_overlong()
            yield from self._read_whole_lines([])
        self.whole = self._phase is _Phase.ENDED or (
            self._phase is _Phase.HEADERS and not self._text.strip()
        )
        yield self._take_last(cut)
        self.reset()

    def _take_last(self, cut: bool) -> PgnSegment | None:
        """Return the last game at the end of input, or None."""
        text = self._text
        if self._phase is _Phase.ENDED:
            return self._take_game()
        segment = PgnSegment(*self._split_header(len(text) - cut), LineEnd.CUT)
        if self._phase is _Phase.MOVES:
            return segment
        # Tags that are still being written do not identify a game yet.
        ready = text.endswith(b"\n\n") or (b"[White " in text and b"[Black " in text)
        if self._phase is _Phase.HEADERS and ready and b"[" in segment.header:
            return segment
        return None

    def _split_lines(self, data: bytes) -> SegmentsAndPauses:
        self._line += data
        if b"\n" in data:
            *lines, self._line = self._line.split(b"\n")
            yield from self._read_whole_lines([bytes(line) + b"\n" for line in lines])
        while True:
            if not self._text and self._line.startswith((b" ", b"\t", b"\xef")):
                self._line = bytearray(_strip_indent(self._line))
            if len(self._text) + len(self._line) <= self._limit:
                return
            if self._is_over:
                yield self._end_overlong()
                yield from self._read_whole_lines([])
                continue
            line = bytes(self._line)
            # The rest of the long line must not count as the beginning of a line.
            self._line = bytearray(b".")
            if self._phase is not _Phase.SKIPPING or self._has_next_game_begun(line):
                yield self._cut_game(line)

    @property
    def _is_over(self) -> bool:
        """Whether the game that exceeded the size limit had already ended before
        that.
        """
        return self._phase is _Phase.ENDED or self._tag_in_comment > 0

    def _end_overlong(self) -> PgnSegment | None:
        """End the game at its result, or at the tag line in its unclosed comment;
        return it unless it was returned before.
        """
        return self._take_game(
            self._tag_in_comment if self._tag_in_comment > 0 else None
        )

    def _read_whole_lines(self, lines: Iterable[bytes]) -> SegmentsAndPauses:
        """Yield the games that these whole lines complete, with pauses."""
        pending = deque(lines)
        while pending or self._again:
            pending.extendleft(reversed(self._again))
            self._again.clear()
            segment = self._read_line(pending.popleft())
            self._read = (self._read + 1) % _PAUSE_LINES
            if segment is not None or self._read == 0:
                yield segment

    def _split_header(self, end: int) -> tuple[bytes, bytes]:
        """Return header and movetext of the first ``end`` bytes of the game."""
        text = bytes(self._text[: max(0, end)])
        if self._phase in (_Phase.MOVES, _Phase.ENDED):
            return text[: self._moves_at], text[self._moves_at :]
        # The last tag might be incomplete.
        tags_end = text.rfind(b'"]') + 2
        return (text if tags_end < 2 else text[:tags_end]), b""

    def _take_game(self, end: int | None = None) -> PgnSegment | None:
        """End the game at index ``end`` and return it; None if it was just returned."""
        end = len(self._text) if end is None else end
        segment = (
            None
            if self._is_returned
            else PgnSegment(*self._split_header(end), LineEnd.WHOLE)
        )
        self._again[:0] = bytes(self._text[end:]).splitlines(keepends=True)
        self._reset_game()
        return segment

    def _cut_game(self, line: bytes) -> PgnSegment | None:
        """End the game at the size limit; return it unless it was returned before.

        Its rest is skipped, up to a line that begins the next game.
        """
        line = self._normalise_line(line)[: self._limit - len(self._text)]
        if self._phase is _Phase.HEADERS and not _HEADER_LINE.match(line):
            self._phase, self._moves_at = _Phase.MOVES, len(self._text)
        self._text += line
        segment = PgnSegment(*self._split_header(self._limit), LineEnd.TOO_LONG)
        was_returned, moves = self._is_returned, self._phase is not _Phase.HEADERS
        self._reset_game()
        self._phase = _Phase.SKIPPING
        self._next_game = _SOME_TAG if moves else _EVENT_LINE
        return None if was_returned else segment

    def _has_next_game_begun(self, line: bytes) -> bool:
        """Return whether a line begins the next game after one that was too long."""
        if match := self._next_game.match(self._normalise_line(line)):
            self._reset_game()
        return bool(match)

    def _read_line(self, line: bytes) -> PgnSegment | None:
        """Read one line. Return the game that it completes, or None."""
        if self._phase is _Phase.SKIPPING and not self._has_next_game_begun(line):
            return None
        if not self._text:
            line = _strip_indent(line)
            if line == b"\n":
                return None
        if len(self._text) + len(line) > self._limit:
            if not self._is_over:
                return self._cut_game(line)
            self._again.append(line)
            return self._end_overlong()
        if not line.isascii():
            line = self._normalise_line(line)
            if not self._text and (line := _strip_indent(line)) == b"\n":
                return None
        if parts := self._split_line(line):
            self._again += parts
            return None
        if self._phase is _Phase.ENDED:
            if (
                _BLANK_LINE.match(line)
                or _TAG_LINE.match(line)
                or _FIRST_MOVE.match(line)
            ):
                self._again.append(line)
                return self._take_game()
            self._phase = _Phase.MOVES  # words after the result continue the same game
            self._is_returned = False
        return (
            self._read_header(line)
            if self._phase is _Phase.HEADERS
            else self._read_moves(line)
        )

    def _normalise_line(self, line: bytes) -> bytes:
        """Return the line in UTF-8, with ASCII spaces, dashes and quotes."""
        if line.isascii():
            return line
        text = decode(line.removesuffix(b"\n"), self._fallback_charset)
        end = b"\n" if line.endswith(b"\n") else b""
        return normalise_line(text).encode("utf-8", "replace") + end

    def _split_line(self, line: bytes) -> list[bytes]:
        """Return both parts of a line in the middle of which a game begins, after tags
        or after another game; otherwise an empty list.
        """
        if line.endswith(b"]\n") or self._in_comment or line.startswith((b"%", b";")):
            return []
        if tags := _TAGS.match(line):
            end = tags.end() if _MOVES_BEGIN.match(line, tags.end()) else 0
        else:
            end = _find_next_game(line)
        return [line[:end] + b"\n", line[end:].lstrip()] if end else []

    def _read_header(self, line: bytes) -> PgnSegment | None:
        segment = None
        if not _HEADER_LINE.match(line):
            self._phase, self._moves_at = _Phase.MOVES, len(self._text)
            return self._read_moves(line)
        # Games without moves follow each other without movetext between them: the Event
        # tag begins the next one.
        if _EVENT_LINE.match(line):
            if self._event_seen:
                segment = self._take_game()
            self._event_seen = True
        if (
            self._tag is None
            and b"Result" in line
            and (tag := _RESULT_TAG.search(line))
        ):
            self._tag = read_result(decode(tag[1]))
        self._text += line
        return segment

    def _read_moves(self, line: bytes) -> PgnSegment | None:
        if len(self._text) > self._moves_at and _TAG_LINE.match(line):
            if self._in_comment:
                if self._tag_in_comment < 0:
                    self._tag_in_comment = len(self._text)
            elif _EVENT_LINE.match(line) or _MOVE_LIKE.search(
                self._text, self._moves_at
            ):
                self._again.append(line)
                return self._take_game()
            else:
                # The supposed movetext was a damaged line between the tags of one game.
                self._phase = _Phase.HEADERS
                return self._read_header(line)
        close = line.find(b"}") if self._in_comment else -1
        if (
            self._tag_in_comment > 0
            and line.find(b"{", 0, close if close >= 0 else None) >= 0
        ):
            self._again.append(line)
            return self._end_overlong()
        self._text += line
        if self._update_comment_state(line, close) or not self._is_result(line):
            return None
        self._phase = _Phase.ENDED
        self._results += 1
        if not self._eager or self._results > _MAX_RESULTS:
            return None
        self._is_returned = True
        return PgnSegment(*self._split_header(len(self._text)), LineEnd.WHOLE)

    def _update_comment_state(self, line: bytes, close: int) -> bool:
        """Return whether the line ends inside a comment. ``close`` is the index at
        which the open comment ends, or -1.
        """
        if self._in_comment:
            if close < 0:
                return True
            self._tag_in_comment = -1
        self._in_comment = to_the_end = False
        for match in _COMMENTS.finditer(line, close + 1):
            to_the_end = not match[0].startswith(b"{")
            self._in_comment = not to_the_end and match[1] is None
        return self._in_comment or to_the_end

    def _is_result(self, line: bytes) -> bool:
        """Return whether the line, which has been added to the text, ends in a result.

        A word with several meanings counts only if the Result tag is the same, or if no
        moves were played, as when a player did not appear.
        """
        end = len(line) - 1
        match = _LAST_WORD.search(line, max(0, end - _RESULT_END_BYTES), end)
        if match is None:
            return False
        word = match[0].rstrip()
        if read_result_word(word) is not None or read_result_at_end(line) is not None:
            return True
        result = read_result_word(word, doubtful=True)
        if result is None or result == self._tag:
            return result is not None
        if word == b"0-0" or self._results > _MAX_RESULTS:
            return False
        start = len(self._text) - len(line) + match.start()
        return _PLAYED.search(self._text, self._moves_at, start) is None


def _find_next_game(line: bytes) -> int:
    """Return the index at which another game begins in a line of movetext; 0 if there
    is none.
    """
    if not (
        b" 1 " in line or b'"]' in line or b"\t" in line or _SECOND_ONE.search(line)
    ):
        return 0
    start = _find_behind_result(line)
    if start and (b"{" in line or b";" in line):
        start = _find_behind_result(
            _COMMENTS.sub(lambda comment: b" " * len(comment[0]), line)
        )
    return start


def _find_behind_result(line: bytes) -> int:
    for match in _GAME_BEGINS.finditer(line):
        start = match.start()
        word = _LAST_WORD.search(line, max(0, start - _RESULT_END_BYTES), start)
        if word is not None and read_result_word(word[0].rstrip()) is not None:
            return start
    return 0


def _strip_indent(line: bytes | bytearray) -> bytes:
    match = _INDENTED.match(line)
    return bytes(line[match.end() :] if match else line)
