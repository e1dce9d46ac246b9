"""PGN bytes → whole-game reports, for every source that speaks PGN.

* :class:`PgnDecoder` for streams: bytes as they come, cut anywhere; a game is reported when its
  result token is there, so at every resend.
* :class:`PgnReader` for texts read again and again as a whole (a file being written, a URL polled,
  a message): all games of the text at every reading.

Both keep what they know of each game (:class:`~live.feeds.movetext.Movetext`), so that a game
sent again costs its new moves only. Neither raises for any bytes, and one bad game does not harm
the others: what is wrong with a game is in its ``problem``.

Result: the token at the end of the moves counts, except that a ``*`` there gives way to a decided
``Result`` tag. The tag is written first and lies while the game runs (cutechess issue 184), so a
decided token is the later word; but operators and lila (RelayUpdatePlan) close a game by the tag
alone. A ``*`` is not corrected from the position here: that is for ``live.games``.

Nothing here blocks: ``slices`` hands back control after some milliseconds of work whatever the
text. ``feed``, ``finish`` and ``read`` do all at once, for small texts and for threads.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

import msgspec

from live.events import STANDS, GameReport, Result
from live.feeds.movetext import MAX_PLIES, Movetext
from live.feeds.pgn_headers import GameHead, read_head
from live.feeds.pgn_splitter import LineEnd, PgnSegment, PgnSplitter
from live.feeds.position_tracker import PROOF_PLIES

#: Work between two slices, in tokens of up to some 20 microseconds.
_SLICE_TOKENS = 500
#: What finding and reporting a game costs, in tokens.
_GAME_TOKENS = 5
#: What reading the tags of a game and setting up its board costs besides, in tokens.
_NEW_GAME_TOKENS = 20
#: Bytes taken at once, and what splitting costs between two pauses, in tokens.
_PIECE_BYTES = 8192
_PAUSE_TOKENS = 20


class PgnLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of what one source can make us hold. Passing one costs that game only."""

    game_bytes: int = 1 << 19
    """Of one game; the rest is left out. Engine events write 600 bytes a move."""
    plies: int = MAX_PLIES
    tags: int = 100
    tag_line_bytes: int = 2000
    comment_bytes: int = 8192
    """How far into a comment commands like ``[%clk]`` are looked for."""
    games: int = 20_000
    """Games in one text; also how many games are remembered."""


class _Known:
    """One game as it was read last."""

    __slots__ = ("closed", "going_on", "head", "header", "moves", "report", "segment")

    def __init__(self, header: bytes, head: GameHead, moves: Movetext) -> None:
        self.header = header
        self.head = head
        self.moves = moves
        self.segment: PgnSegment | None = None
        self.closed = False
        self.report: GameReport | None = None
        self.going_on: GameReport | None = None
        """The game from an illegal move on, where it went on from there."""


class _GameCache:
    """Games by their headers, so that a game sent again is recognised. Least recent go first.

    What is recognised changes only what reading costs, never what is read.
    """

    def __init__(self, limits: PgnLimits, fallback_charset: str) -> None:
        self._limits = limits
        self._charset = fallback_charset
        self._by_header: OrderedDict[tuple[bytes, int], _Known] = OrderedDict()
        self._by_identity: dict[tuple[object, ...], _Known] = {}

    def find(self, header: bytes, nth: int) -> _Known:
        """What is known of the game with these tag lines, ``nth`` of those that share them."""
        known = self._by_header.get((header, nth))
        if known is not None:
            self._by_header.move_to_end((header, nth))
            return known
        limits = self._limits
        head = read_head(
            header,
            max_tags=limits.tags,
            max_line_bytes=limits.tag_line_bytes,
            fallback_charset=self._charset,
        )
        identity = (*_identity(head), nth)
        known = self._by_identity.get(identity)
        if known is not None:  # its tags changed: a result, a rating
            del self._by_header[(known.header, nth)]
            known.header = header
            known.head = head
            known.segment = None
        else:
            moves = Movetext(
                head.board(),
                max_plies=limits.plies,
                max_comment_bytes=limits.comment_bytes,
                playable=head.playable,
            )
            known = _Known(header, head, moves)
            self._by_identity[identity] = known
        self._by_header[(header, nth)] = known
        while len(self._by_header) > limits.games:
            (_, nth), oldest = self._by_header.popitem(last=False)
            del self._by_identity[(*_identity(oldest.head), nth)]
        return known


def _identity(head: GameHead) -> tuple[object, ...]:
    """What stays while a game goes on, and what its moves depend on."""
    start = (head.start_fen, head.chess960, head.playable)
    if head.key:
        return (head.key, *start)
    headers = head.headers
    names = (headers.white.name, headers.black.name, headers.event, headers.round)
    return (*names, headers.site, headers.date, headers.board, *start)


class _GameReader:
    """Game texts → reports, in slices."""

    def __init__(self, limits: PgnLimits, fallback_charset: str) -> None:
        self._limits = limits
        self._cache = _GameCache(limits, fallback_charset)

    def slices(
        self, segments: Iterable[PgnSegment | None], *, numbered: bool, closed: bool = False
    ) -> Iterator[list[GameReport]]:
        """Reports of the games, in order, a slice of work at a time.

        None among ``segments`` stands for work done without finding a game. ``numbered``
        separates games with equal tag lines by counting them. ``closed``: the text is known to be
        all there is, so the last game may end without a result token.
        """
        reports: list[GameReport] = []
        seen: dict[bytes, int] = {}
        budget = _SLICE_TOKENS
        for segment in segments:
            if segment is None:
                budget -= _PAUSE_TOKENS
            else:
                header = segment.header.strip()
                nth = 0
                if numbered:
                    nth = seen.get(header, 0)
                    seen[header] = nth + 1
                known = self._cache.find(header, nth)
                if known.segment is None:
                    budget -= _NEW_GAME_TOKENS
                if known.segment != segment or known.closed is not closed:
                    known.segment = None
                    whole = segment.end is LineEnd.WHOLE
                    moves = known.moves
                    moves.begin(segment.movetext, whole=whole, tag=known.head.result)
                    while True:
                        budget = moves.advance(budget)
                        if moves.done:
                            break
                        yield reports
                        reports = []
                        budget = _SLICE_TOKENS
                    known.report = self._report(known, segment.end, closed)
                    known.going_on = self._going_on(known, segment)
                    if known.going_on is not None and known.report is not None:
                        problem = f"{known.report.problem} {STANDS}"
                        known.report = msgspec.structs.replace(known.report, problem=problem)
                    known.segment = segment
                    known.closed = closed
                if known.report is not None:
                    reports.append(known.report)
                if known.going_on is not None:
                    reports.append(known.going_on)
                budget -= _GAME_TOKENS
            if budget <= 0:
                yield reports
                reports = []
                budget = _SLICE_TOKENS
        if reports:
            yield reports

    def _report(self, known: _Known, end: LineEnd, closed: bool) -> GameReport | None:
        """The game as it stands; None when there is nothing to report."""
        head, moves = known.head, known.moves
        if not head.tags and not moves.moves:
            return None
        problem = head.problem if not head.playable else moves.problem
        if end is LineEnd.TOO_LONG:
            problem = f"the game is longer than {self._limits.game_bytes} bytes"
        return GameReport(
            key=head.key,
            headers=head.headers,
            start_fen=head.start_fen,
            moves=tuple(moves.moves),
            result=_result(moves.result, head.result, end is LineEnd.WHOLE or closed),
            start_eval=moves.start_eval,
            problem=problem or head.problem,
        )

    def _going_on(self, known: _Known, segment: PgnSegment) -> GameReport | None:
        """What follows an illegal move, as a game of its own that begins in the new position.

        The laws let such a move stand when the game went on (FIDE Laws 7.5 and A.4), and two more
        moves that fit the position show that it did. Engines and ratings need games in which every
        move is legal, so the game is two: up to the move, and from behind it.
        """
        found = known.moves.after_illegal() if known.report is not None else None
        if found is None or known.report is None:
            return None
        board, text = found
        limits = self._limits
        rest = Movetext(board, max_plies=limits.plies, max_comment_bytes=limits.comment_bytes)
        rest.begin(text, whole=segment.end is LineEnd.WHOLE)
        while not rest.done:
            rest.advance(_SLICE_TOKENS)
        if len(rest.moves) < PROOF_PLIES:
            return None
        told = known.report.headers
        plies = len(known.moves.moves) + 1
        who = known.head.key or "/".join(
            (told.event, told.round, told.white.name, told.black.name, told.date)
        )
        return msgspec.structs.replace(
            known.report,
            key=f"{who} from ply {plies}",
            start_fen=board.fen(),
            moves=tuple(rest.moves),
            start_eval=None,
            problem=rest.problem,
        )


def _result(token: Result | None, tag: Result, whole: bool) -> Result:
    """The result of a game; see the module's docstring.

    A text that breaks off without a token says nothing yet: writers put the final tag first.
    """
    if token is None:
        return tag if whole else "*"
    return tag if token == "*" else token


class PgnDecoder:
    """PGN as it streams in. Keep one per connection, or call :meth:`reset` on a new one."""

    def __init__(
        self, *, limits: PgnLimits | None = None, fallback_charset: str = "cp1252"
    ) -> None:
        """``fallback_charset`` reads what is not UTF-8 (``iso-8859-2`` if a server says so)."""
        limits = limits or PgnLimits()
        self._splitter = PgnSplitter(max_game_bytes=limits.game_bytes, eager=True)
        self._reader = _GameReader(limits, fallback_charset)

    def slices(self, data: bytes) -> Iterator[list[GameReport]]:
        """Reports of the games that ``data`` completes, some milliseconds of work at a time.

        Use it up before giving more. A game that is sent again is reported again, changed or not.
        """
        return self._reader.slices(_split(self._splitter, data), numbered=False)

    def feed(self, data: bytes) -> list[GameReport]:
        """As :meth:`slices`, at once: for up to some 8 KiB where nothing may block."""
        return [report for reports in self.slices(data) for report in reports]

    def finish_slices(self) -> Iterator[list[GameReport]]:
        """End of input: the last game, if it is still open, as far as it is complete.

        A word, comment or tag cut at the end is left out. The end is taken for the true one, so
        a game without result token has the result that its tag says. Where a connection just
        broke, call :meth:`reset`.
        """
        segments = self._splitter.finish()
        return self._reader.slices(segments, numbered=False, closed=True)

    def finish(self) -> list[GameReport]:
        """As :meth:`finish_slices`, at once."""
        return [report for reports in self.finish_slices() for report in reports]

    def reset(self) -> None:
        """Forget the game that was coming in, but not the games known: a new connection."""
        self._splitter.reset()


class PgnReader:
    """A PGN text that is read again and again while it grows or changes."""

    def __init__(
        self, *, limits: PgnLimits | None = None, fallback_charset: str = "cp1252"
    ) -> None:
        self._limits = limits or PgnLimits()
        self._reader = _GameReader(self._limits, fallback_charset)
        self.left_out = 0
        """Games of the last text beyond ``PgnLimits.games``."""
        self.whole = False
        """The last text went to the result of its last game; known when it is used up."""

    def slices(self, text: bytes, *, closed: bool = False) -> Iterator[list[GameReport]]:
        """Reports of all games in ``text``, in order, some milliseconds of work at a time.

        Cheap when the text, or most of it, was read before. ``closed`` says that the text is
        not being written any more: then a last game without result token has the result that
        its tag says, and otherwise ``*``, since what follows may be missing still.
        """
        self.left_out = 0
        return self._reader.slices(self._segments(text), numbered=True, closed=closed)

    def read(self, text: bytes, *, closed: bool = False) -> list[GameReport]:
        """As :meth:`slices`, at once: for short texts, or in a thread."""
        return [report for reports in self.slices(text, closed=closed) for report in reports]

    def _segments(self, text: bytes) -> Iterator[PgnSegment | None]:
        splitter = PgnSplitter(max_game_bytes=self._limits.game_bytes, eager=False)
        games = 0
        for segment in _split(splitter, text, finish=True):
            games += segment is not None
            beyond = games > self._limits.games
            self.left_out += beyond and segment is not None
            yield None if beyond else segment
        self.whole = splitter.whole


def _split(
    splitter: PgnSplitter, data: bytes, *, finish: bool = False
) -> Iterator[PgnSegment | None]:
    """Games in ``data``, which is given in pieces; None after each piece."""
    for start in range(0, len(data), _PIECE_BYTES):
        yield from splitter.feed(data[start : start + _PIECE_BYTES])
        yield None
    if finish:
        yield from splitter.finish()
