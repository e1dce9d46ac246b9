"""Where one PGN game ends and the next begins, found in bytes that may be cut anywhere.

Only whole lines are looked at, so cuts change nothing. A game is tag lines, then movetext. It ends

* at a line that ends in a result, outside comments (a following line goes on with the same game
  unless a blank line, a tag or move number 1 comes first), or
* at a tag line that follows movetext, with or without a blank line between, outside comments.

Blank lines alone end nothing: sources put them between tags, and two of them between tags and
moves. A tag line inside a comment does not split. But a comment that was never closed must not
swallow the games after it: when a tag line was seen in it and then another ``{``, or the game
outgrows its bound, or the input ends, the game ended at that tag line.

Bytes are scanned once, by regular expressions that do not backtrack; a comment left open costs a
second look at what it held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from live.feeds.charset import PlainLines, decode
from live.feeds.pgn_headers import DOUBTFUL_WORDS, RESULT_WORDS, read_result

_INDENT = rb"(?:\xef\xbb\xbf|[ \t])*+"
_HEADER_LINES = re.compile(rb"(?:" + _INDENT + rb"(?:[\[%;][^\n]*+)?\n)*+")
_HEADER_START = re.compile(_INDENT + rb"[\[%;]")
_BLANK_LINES = re.compile(rb"(?:" + _INDENT + rb"\n)*+")
_TAG_LINE = re.compile(_INDENT + rb'\[[ \t]*+[A-Za-z0-9][^\n"]*+"')
_EVENT_LINE = re.compile(_INDENT + rb"\[[ \t]*+Event\b")
#: A line end worth a look: behind what ends a result, before a bracket, before an escaped line.
_STOP = re.compile(
    rb"\n(?:(?<=[*\xbd \t=+F-]\n)|(?<=[-:/.,\x92\x93\x96][0125]\n)|%|"
    + _INDENT
    + rb"\[[ \t]*+[A-Za-z0-9])"
)
#: The last word of a line, comments apart.
_LAST_WORD = re.compile(rb"(?<![^\s})])[^\s{}()]++[ \t]*+\Z")
_RESULT_TAG = re.compile(rb'\[[ \t]*+Result[ \t]*+"([^"\n]*+)"')
_PLAYED = re.compile(rb"[a-h][1-8]|O-O")
_RESULT_END_BYTES = 40
_FIRST_MOVE = re.compile(rb"[ \t]*+1(?:\.(?!\.)|[ \t])")
#: Lines looked at in one step. Many games in one buffer must not each look at all the others.
_STEP_BYTES = 8192
_MOVE_LIKE = re.compile(rb"\d\s*+\.|[a-h][1-8]|O-O|\*|\d-\d")
_NEXT_TAG = re.compile(rb"\n" + _INDENT + rb"\[[ \t]*+[A-Za-z0-9]")
_NEXT_EVENT = re.compile(rb"\n" + _INDENT + rb"\[[ \t]*+Event[ \t]")
#: Comments and escapes, for text in which line comments occur.
_COMMENTS = re.compile(rb"\{[^}]*+(\})?|;[^\n]*+(\n?)|^%[^\n]*+(\n?)", re.MULTILINE)
#: A text that keeps going on after its result is not given more often than this until it is over.
_MAX_RESULTS = 4
#: Steps after which control is given back.
_PAUSE_STEPS = 50


class LineEnd(Enum):
    """How a game's text came to its end."""

    WHOLE = "whole"
    """A result, or the next game, followed."""
    CUT = "cut"
    """The input ended; its last word may be half a word."""
    TOO_LONG = "too long"
    """The rest was left out: the game passed the bound."""


class PgnSegment(NamedTuple):
    """The text of one game."""

    header: bytes
    movetext: bytes
    end: LineEnd


class _Phase(Enum):
    HEADERS = 1
    MOVES = 2
    ENDED = 3
    SKIPPING = 4


class PgnSplitter:
    """Bytes in, games out; holds no more than one game.

    With ``eager`` a game is given as soon as the line with its result is there, and once more if
    it goes on after that; without, only when the next game begins or the input ends.
    """

    def __init__(self, *, max_game_bytes: int, eager: bool) -> None:
        self._limit = max_game_bytes
        self._eager = eager
        self._lines = PlainLines()
        self._moves_skipped = True
        self._steps = 0
        self.whole = False
        """The input that ended last had its last game to the result."""
        #: Bytes of the game being collected, from its first one.
        self._buffer = bytearray()
        self._restart(_Phase.HEADERS)

    def _restart(self, phase: _Phase) -> None:
        """Begin a game at the start of the buffer."""
        self._phase = phase
        self._at = 0  # all before is understood; the start of a line
        self._moves_at = 0  # where movetext begins
        self._event_seen = False
        self._in_comment = False
        self._line_comment = False  # the line before _at ended in a ";" or "%" comment
        self._tag_in_comment = -1  # first tag line inside the open comment
        self._results = 0  # lines that ended in a result
        self._given = False  # the text up to _at was given already

    def feed(self, data: bytes) -> Iterator[PgnSegment | None]:
        """Games completed by ``data``. The iterator must be used up before the next call.

        Gives None now and then, after a millisecond of work or less that found no game.
        """
        yield from self._add(self._lines.feed(data))

    def finish(self) -> Iterator[PgnSegment | None]:
        """End of input: the games still open. Afterwards a new input may begin."""
        yield from self._add(self._lines.finish())
        buffer = self._buffer
        cut = bool(buffer) and not buffer.endswith(b"\n")
        if cut:
            buffer += b"\n"
            yield from self._games()
        while self._phase is _Phase.MOVES and self._tag_in_comment > 0:
            segment = self._take(self._tag_in_comment)
            if segment is not None:
                yield segment
            yield from self._games()
        self.whole = self._phase is _Phase.ENDED or (
            self._phase is _Phase.HEADERS and not buffer.strip()
        )
        segment = self._last(cut)
        if segment is not None:
            yield segment
        self.reset()

    def reset(self) -> None:
        """Forget the game being collected: the source broke off and will begin anew."""
        self._buffer.clear()
        self._lines = PlainLines()
        self._restart(_Phase.HEADERS)

    def _last(self, cut: bool) -> PgnSegment | None:
        """What the end of input leaves."""
        buffer = self._buffer
        if self._phase is _Phase.ENDED:
            return self._take(len(buffer))
        if self._phase is _Phase.MOVES:
            header, movetext = self._parts(len(buffer) - cut)
            return PgnSegment(header, movetext, LineEnd.CUT)
        if self._phase is _Phase.HEADERS:
            # Tags that are still being written name nobody yet.
            ready = buffer.endswith(b"\n\n") or (b"[White " in buffer and b"[Black " in buffer)
            header, rest = self._parts(len(buffer) - cut)
            if ready and b"[" in header:
                return PgnSegment(
                    header, b"" if rest.lstrip().startswith(b"[") else rest, LineEnd.CUT
                )
        return None

    def _add(self, data: bytes) -> Iterator[PgnSegment | None]:
        if data:
            self._buffer += data
            if b"\n" in data or len(self._buffer) > self._limit:
                yield from self._games()

    def _parts(self, end: int) -> tuple[bytes, bytes]:
        buffer = self._buffer
        if self._phase in (_Phase.MOVES, _Phase.ENDED):
            moves_at = min(self._moves_at, end)
            return bytes(buffer[:moves_at]), bytes(buffer[moves_at:end])
        # A game whose tags and moves share one line, as JSON and chat programs flatten it.
        tags_end = buffer.rfind(b'"]', 0, end) + 2
        if tags_end < 2:
            return bytes(buffer[:end]), b""
        return bytes(buffer[:tags_end]), bytes(buffer[tags_end:end])

    def _take(self, end: int) -> PgnSegment | None:
        """Cut the game off in front of ``end``; nothing if just that was given already."""
        segment = None if self._given else PgnSegment(*self._parts(end), LineEnd.WHOLE)
        del self._buffer[:end]
        self._restart(_Phase.HEADERS)
        return segment

    def _games(self) -> Iterator[PgnSegment | None]:
        """Everything that the whole lines in the buffer complete, within the bound."""
        buffer = self._buffer
        while True:
            if self._phase is _Phase.SKIPPING and not self._skip():
                return
            end = buffer.rfind(b"\n", 0, self._limit) + 1
            if self._at < end:
                segment = self._step(end)
                self._steps = (self._steps + 1) % _PAUSE_STEPS
                if segment is not None or self._steps == 0:
                    yield segment
            elif len(buffer) <= self._limit:
                return
            elif self._tag_in_comment > 0:
                segment = self._take(self._tag_in_comment)
                if segment is not None:
                    yield segment
            else:
                if self._phase is _Phase.HEADERS and not _HEADER_START.match(
                    buffer, self._at, self._limit
                ):  # movetext without a line end
                    self._phase = _Phase.MOVES
                    self._moves_at = self._at
                if not self._given:
                    yield PgnSegment(*self._parts(self._limit), LineEnd.TOO_LONG)
                self._moves_skipped = self._phase is not _Phase.HEADERS
                del buffer[: self._limit]
                self._restart(_Phase.SKIPPING)

    def _skip(self) -> bool:
        """Drop the rest of a game that is too long; true when the next one begins."""
        match = (_NEXT_TAG if self._moves_skipped else _NEXT_EVENT).search(self._buffer)
        if match is not None:
            del self._buffer[: match.start() + 1]
            self._restart(_Phase.HEADERS)
            return True
        line_end = self._buffer.rfind(b"\n")
        if line_end < 0 or len(self._buffer) - line_end > self._limit:
            self._buffer.clear()
        else:
            del self._buffer[:line_end]
        return False

    def _step(self, end: int) -> PgnSegment | None:
        """Understand one more stretch of lines before ``end``; a game if that completes one."""
        if end - self._at > _STEP_BYTES:
            last = self._buffer.rfind(b"\n", self._at, self._at + _STEP_BYTES)
            end = (last if last >= 0 else self._buffer.find(b"\n", self._at)) + 1
        if self._phase is _Phase.HEADERS:
            return self._step_headers(end)
        if self._phase is _Phase.ENDED:
            return self._step_ended(end)
        return self._step_moves(end)

    def _step_headers(self, end: int) -> PgnSegment | None:
        buffer = self._buffer
        if self._at == 0:
            blank = _BLANK_LINES.match(buffer, 0, end)
            if blank is not None and blank.end():
                del buffer[: blank.end()]
                return None
        match = _HEADER_LINES.match(buffer, self._at, end)
        stop = match.end() if match else self._at
        # Games without moves follow each other without movetext between: Event begins a new one.
        event = buffer.find(b"[Event ", self._at, stop)
        while event >= 0:
            line = buffer.rfind(b"\n", 0, event) + 1
            if _EVENT_LINE.match(buffer, line, stop):
                if self._event_seen:
                    return self._take(line)
                self._event_seen = True
            line_end = buffer.find(b"\n", event, stop)
            event = buffer.find(b"[Event ", line_end, stop)
        self._at = stop
        if stop < end:
            self._phase = _Phase.MOVES
            self._moves_at = stop
        return None

    def _step_ended(self, end: int) -> PgnSegment | None:
        buffer = self._buffer
        blank = _BLANK_LINES.match(buffer, self._at, end)
        if (
            (blank is not None and blank.end() > self._at)
            or _TAG_LINE.match(buffer, self._at)
            or _FIRST_MOVE.match(buffer, self._at)
        ):
            return self._take(self._at)
        self._phase = _Phase.MOVES  # words after the result: the same game goes on
        self._given = False
        return None

    def _step_moves(self, end: int) -> PgnSegment | None:
        buffer = self._buffer
        if self._at > self._moves_at and _TAG_LINE.match(buffer, self._at, end):
            if self._in_comment:
                if self._tag_in_comment < 0:
                    self._tag_in_comment = self._at
            elif self._only_junk():
                self._phase = _Phase.HEADERS
                return None
            else:
                return self._take(self._at)
        match = _STOP.search(buffer, self._at, end)
        stop = match.start() + 1 if match else end
        if self._follow_comments(self._at, stop):
            return self._take(self._tag_in_comment)
        self._at = stop
        if match is None or self._in_comment or self._line_comment:
            return None
        line_end = stop - 1
        tail = max(self._moves_at, line_end - _RESULT_END_BYTES)
        if not self._is_result(tail, line_end):
            return None
        self._phase = _Phase.ENDED
        self._results += 1
        if not self._eager or self._results > _MAX_RESULTS:
            return None
        self._given = True
        return PgnSegment(*self._parts(stop), LineEnd.WHOLE)

    def _is_result(self, start: int, end: int) -> bool:
        """Whether the line that ends at ``end`` ends in a result; it is looked at from ``start``.

        Where the word may say something else it takes the tag to say the same, or that nothing was
        played, as where a player did not come.
        """
        buffer = self._buffer
        found = _LAST_WORD.search(buffer, start, end)
        if found is None:
            return False
        word = found[0].rstrip()
        if word in RESULT_WORDS:
            return True
        result = DOUBTFUL_WORDS.get(word)
        if result is None:
            return False
        tag = _RESULT_TAG.search(buffer, 0, self._moves_at)
        if tag is not None and read_result(decode(tag[1])) == result:
            return True
        return word != b"0-0" and _PLAYED.search(buffer, self._moves_at, found.start()) is None

    def _only_junk(self) -> bool:
        """True when what looked like movetext was a garbled line between the tags of one game."""
        buffer = self._buffer
        if _EVENT_LINE.match(buffer, self._at):
            return False
        return _MOVE_LIKE.search(buffer, self._moves_at, self._at) is None

    def _follow_comments(self, start: int, stop: int) -> bool:
        """Bring the comment state from ``start`` to ``stop``, both starts of lines.

        True when the open comment proves to have been left open: a tag line and then another
        opening brace came before a closing one.
        """
        buffer = self._buffer
        self._line_comment = False
        at = start
        if self._in_comment:
            close = buffer.find(b"}", start, stop)
            if self._tag_in_comment > 0:
                reopened = buffer.find(b"{", start, stop if close < 0 else close)
                if reopened >= 0:
                    return True
            if close < 0:
                return False
            self._in_comment = False
            self._tag_in_comment = -1
            at = close + 1
        # Only a first line can be an escaped one: _STOP stops before them.
        if buffer[start] != 0x25 and buffer.find(b";", at, stop) < 0:
            opened = buffer.rfind(b"{", at, stop)
            self._in_comment = opened >= 0 and buffer.find(b"}", opened, stop) < 0
            return False
        for match in _COMMENTS.finditer(buffer, at, stop):
            if match[0][0] == 0x7B:
                self._in_comment = match[1] is None
            else:
                self._line_comment = match.end() == stop
        return False
