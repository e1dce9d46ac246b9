"""PGN bytes → whole-game reports, for every source that speaks PGN.

* :class:`PgnDecoder` for streams: bytes as they come, cut anywhere; a game is reported
  when its result token is there, so at every resend.
* :class:`PgnReader` for texts read again and again as a whole (a file being written, a
  URL polled, a message): all games of the text at every reading.

Both keep what they know of each game (:class:`~live.sources.movetext.Movetext`), so
that a game sent again costs its new moves only. Neither raises for any bytes, and one
bad game does not harm the others: what is wrong with a game is in its ``problem``.

Result: the token at the end of the moves counts, except that a ``*`` there gives way to
a decided ``Result`` tag. The tag is written first and lies while the game runs
(cutechess issue 184), so a decided token is the later word; but operators and lila
(RelayUpdatePlan) close a game by the tag alone. A ``*`` is not corrected from the
position here: that is for ``live.games``.

Nothing here blocks: what reads in pieces hands back control after less than a
millisecond of work, whatever the text. ``decode``, ``finish_input`` and ``read_text``
do all at once, for small texts and for threads.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence

import msgspec

from live.messages.from_sources import GameReport, GameReports, Unread
from live.messages.values import Value
from live.process.loop_slices import run_at_once
from live.sources.game_units import apply_clock_tags, read_start_clock_s
from live.sources.movetext import Movetext
from live.sources.pgn_headers import GameHead, read_head
from live.sources.pgn_splitter import LineEnd, PgnSegment, PgnSplitter, Segments
from live.sources.position_tracker import split_continuations

#: Bytes that are split at once.
_PIECE_BYTES = 8192


class PgnLimits(Value, kw_only=True):
    """Bounds of what one source can make us hold. Passing one costs that game only."""

    game_bytes: int = 1 << 19
    """Of one game; the rest is left out. Engine events write 600 bytes a move."""
    games: int = 20_000
    """Games in one text."""


#: Games of a stream that are remembered: a round of a large event. Of a text those that
#: it holds.
STREAMED = 1_000


class _Known(msgspec.Struct, eq=False):
    """One game as it was read last."""

    head: GameHead
    moves: Movetext
    read: tuple[PgnSegment, bool] | None = None
    """What was read last, and whether it was all there is."""
    reports: GameReports = ()
    """None where there is nothing to report; two where it went on from an illegal
    move.
    """


_Who = tuple[object, ...]
Reading = Generator[None, None, list[GameReport]]
"""Gives back control between pieces of work; returns the reports in order."""


def _identify_game(head: GameHead) -> _Who:
    """Return what stays the same while a game goes on, and what its moves depend on."""
    start = (head.start_fen, head.chess960, head.playable)
    if head.key:
        return (head.key, *start)
    headers = head.headers
    names = (headers.white.name, headers.black.name, headers.event, headers.round)
    return (*names, headers.site, headers.date, headers.board, *start)


class _GameReader:
    """Game texts → reports. Games sent again are recognised, until they are
    forgotten: those that a whole text holds no more, and of a stream the least recent.

    What is recognised changes only what reading costs, never what is read.
    """

    _eager = False

    def __init__(
        self,
        *,
        limits: PgnLimits = PgnLimits(),  # noqa: B008 - frozen
        fallback_charset: str = "cp1252",
    ) -> None:
        """``fallback_charset`` reads what is not UTF-8 (``iso-8859-2`` if a server says
        so).
        """
        self._limits = limits
        self._splitter = PgnSplitter(
            max_game_bytes=limits.game_bytes,
            eager=self._eager,
            fallback_charset=fallback_charset,
        )
        self._notes = Counter[str]()
        # What was read last is last.
        self._heads: dict[bytes, GameHead] = {}
        self._known: dict[_Who, _Known] = {}

    def _read_reports(
        self,
        segments: Iterable[PgnSegment | None],
        *,
        numbered: bool,
        closed: bool = False,
    ) -> Reading:
        """Return reports of the games.

        None among ``segments`` stands for work done without finding a game.
        ``numbered`` separates games with equal tags by counting them. ``closed``: the
        text is known to be all there is, so the last game may end without a result
        token.
        """
        reports: list[GameReport] = []
        seen: Counter[_Who] = Counter()
        for segment in segments:
            yield
            if segment is None:
                continue
            known = self._find_known(segment.header.strip(), seen if numbered else None)
            if known.read != (segment, closed):
                known.read = None
                yield from self._read_moves(known, segment, closed=closed)
                known.read = segment, closed
            self._notes.update(known.moves.notes)
            reports += known.reports
        return reports

    def _read_moves(
        self, known: _Known, segment: PgnSegment, *, closed: bool
    ) -> Iterator[None]:
        """Read the moves of a game, and those behind illegal ones."""
        is_whole = segment.end is LineEnd.WHOLE
        is_closed = closed and segment.end is LineEnd.CUT
        yield from known.moves.read_text(
            segment.movetext,
            whole=is_whole,
            closed=is_closed,
            tag=known.head.result,
            base_s=read_start_clock_s(known.head.headers.time_control),
        )
        rests = yield from known.moves.read_rests(whole=is_whole, closed=is_closed)
        known.reports = self._build_reports(known, rests, segment.end, closed)

    def _find_known(self, header: bytes, seen: Counter[_Who] | None) -> _Known:
        """Return what is known of the game with these tag lines, the next of those that
        are ``seen``.
        """
        head = self._heads.pop(header, None) or read_head(header)
        self._heads[header] = head
        who = _identify_game(head)
        if seen is not None:
            seen[who] += 1
            who = (*who, seen[who])
        known = self._known.pop(who, None)
        if known is None:
            known = _Known(head, Movetext(head.create_board(), playable=head.playable))
        self._known[who] = known
        if known.head != head:  # its tags changed: a result, a rating
            known.head, known.read = head, None
        return known

    def _forget_oldest(self, most: int) -> None:
        """Forget all but the games read last."""
        for header in list(self._heads)[: max(0, len(self._heads) - most)]:
            del self._heads[header]
        for who in list(self._known)[: max(0, len(self._known) - most)]:
            del self._known[who]

    def _build_reports(
        self, known: _Known, rests: Sequence[Movetext], end: LineEnd, closed: bool
    ) -> GameReports:
        """Return the game as it stands, and what goes on from an illegal move as
        another.
        """
        head, moves = known.head, known.moves
        if not head.tags and not moves.moves:
            return ()
        problem = head.problem if not head.playable else moves.problem
        if end is LineEnd.TOO_LONG:
            problem = f"the game is longer than {self._limits.game_bytes} bytes"
        unread: tuple[Unread, ...] = () if problem is None else ("moves",)
        # A text that breaks off without a token says nothing yet: writers put the final
        # tag first.
        untold = head.result if end is LineEnd.WHOLE or closed else "*"
        report = GameReport(
            key=head.key,
            headers=head.headers,
            start_fen=head.start_fen,
            moves=tuple(moves.moves),
            result=head.result if moves.result == "*" else moves.result or untold,
            start_eval=moves.start_eval,
            problem=problem or head.problem,
            unread=unread,
        )
        told = head.headers
        who = "/".join(
            (told.event, told.round, told.white.name, told.black.name, told.date)
        )
        *others, last = split_continuations(report, who, rests)
        return *others, apply_clock_tags(last, head.clocks_s)


class PgnDecoder(_GameReader):
    """PGN as it streams in. Keep one per connection, or call :meth:`reset` on a new
    one.
    """

    _eager = True

    def decode_in_pieces(self, data: bytes) -> Reading:
        """Return reports of the games that ``data`` completes.

        Use it up before giving more. A game that is sent again is reported again,
        changed or not.
        """
        pieces = _split_pieces(self._splitter, data)
        reports = yield from self._read_reports(pieces, numbered=False)
        self._forget_oldest(min(STREAMED, self._limits.games))
        return reports

    def decode(self, data: bytes) -> list[GameReport]:
        """Decode at once: for up to some 8 KiB where nothing may block."""
        return run_at_once(self.decode_in_pieces(data))

    def finish_input(self) -> list[GameReport]:
        """End of input: the last game, if it is still open, as far as it is complete.

        A comment or tag cut at the end is left out, and a last word that is no move.
        The end is taken for the true one, so a game without result token has the result
        that its tag says. Where a connection just broke, call :meth:`reset`.
        """
        last = self._splitter.finish_input()
        return run_at_once(self._read_reports(last, numbered=False, closed=True))

    def reset(self) -> None:
        """Forget the game that was coming in, but not the games known: a new
        connection.
        """
        self._splitter.reset()


class PgnReader(_GameReader):
    """A PGN text that is read again and again while it grows or changes."""

    left_out = 0
    """Games of the last text beyond ``PgnLimits.games``."""
    whole = False
    """The last text went to the result of its last game; known when it is used up."""
    _games = 0

    def read_in_pieces(self, text: bytes, *, closed: bool = False) -> Reading:
        """Return reports of all games in ``text``.

        Cheap when the text, or most of it, was read before. ``closed`` says that the
        text is not being written any more: then a last word that is a move is taken,
        and a last game without result token has the result that its tag says, and
        otherwise ``*``, since what follows may be missing still.
        """
        self.left_out = 0
        self._notes.clear()
        reports = yield from self._read_reports(
            self._split_text(text), numbered=True, closed=closed
        )
        # What a text that is just being written lacks will be there again in a moment.
        whole = closed or (self.whole and self._games)
        self._forget_oldest(self._games if whole else self._limits.games)
        return reports

    def read_text(self, text: bytes, *, closed: bool = False) -> list[GameReport]:
        """Do as :meth:`read_in_pieces`, at once: for short texts, or in a thread."""
        return run_at_once(self.read_in_pieces(text, closed=closed))

    @property
    def notes(self) -> list[str]:
        """What people should know of how clocks and evaluations of the last text were
        read.
        """
        return [
            f"{note} in {games} game{'s' if games > 1 else ''}"
            for note, games in self._notes.items()
        ]

    def _split_text(self, text: bytes) -> Segments:
        self._splitter.reset()
        games = 0
        for segment in _split_pieces(self._splitter, text, finish=True):
            games += segment is not None
            beyond = games > self._limits.games
            self.left_out += beyond and segment is not None
            yield None if beyond else segment
        self.whole, self._games = self._splitter.whole, games - self.left_out


def _split_pieces(
    splitter: PgnSplitter, data: bytes, *, finish: bool = False
) -> Segments:
    """Yield games in ``data``, which is given in pieces; None after each piece."""
    for start in range(0, len(data), _PIECE_BYTES):
        yield from splitter.split_bytes(data[start : start + _PIECE_BYTES])
        yield None
    if finish:
        yield from splitter.finish_input()
