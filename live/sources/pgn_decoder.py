"""Conversion of PGN to reports of whole games, for all sources that send PGN.

* :class:`PgnDecoder` is for streams, whose bytes arrive in pieces cut anywhere. A game
  is reported when its result token has arrived, also each time it is sent again.
* :class:`PgnReader` is for texts that are read again and again as a whole: a file being
  written, a polled URL, a message. Each reading returns all games of the text.

Both classes remember each game (:class:`~live.sources.movetext.Movetext`), so that a
game that is sent again costs only its new moves. Neither raises an error for any input,
and one bad game does not affect the others: the game's ``problem`` describes what is
wrong.

The result of a game is the token at the end of its moves. Only if that is ``*`` does a
decided ``Result`` tag replace it. The tag is written first and can be wrong while the
game is in progress (cutechess issue 184), so a decided token is more recent; but
operators and lila (RelayUpdatePlan) end a game by changing only the tag. A ``*`` is not
corrected from the position here; ``live.games`` does that.

Nothing here blocks for long: functions that read in pieces yield after less than a
millisecond of work, whatever the text. ``decode``, ``finish_input`` and ``read_text``
do all work at once, for small texts and for threads.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence

import msgspec

from live.messages.from_sources import GameReport, GameReports, Unread
from live.messages.values import Value
from live.process.loop_slices import run_without_pause
from live.sources.game_units import apply_clock_tags, read_start_clock_s
from live.sources.movetext import Movetext
from live.sources.pgn_headers import GameHead, read_head
from live.sources.pgn_splitter import (
    LineEnd,
    PgnSegment,
    PgnSplitter,
    SegmentsAndPauses,
)
from live.sources.position_tracker import split_continuations

#: Number of bytes that are split into games at once.
_PIECE_BYTES = 8192


class PgnLimits(Value, kw_only=True):
    """Limits on the memory that one source can use. Only a game above a limit is
    affected.
    """

    game_bytes: int = 1 << 19
    """Greatest size of a game, bytes; the rest is ignored. Engine events write 600
    bytes per move.
    """
    games: int = 20_000
    """Greatest number of games in one text."""


#: Greatest number of games remembered of a stream, enough for a round of a large event.
#: Of a text, all its games are remembered.
STREAMED = 1_000


class _KnownGame(msgspec.Struct, eq=False):
    """A game as it was last read."""

    head: GameHead
    moves: Movetext
    read: tuple[PgnSegment, bool] | None = None
    """Last text that was read, and whether it was read as complete; None if it has to
    be read again.
    """
    reports: GameReports = ()
    """Reports of the game: none if there is nothing to report, several if the game
    continued after an illegal move.
    """


_Identity = tuple[object, ...]
Reading = Generator[None, None, list[GameReport]]
"""Generator that yields between pieces of work and returns the reports in order."""


def _identify_game(head: GameHead) -> _Identity:
    """Return an identity that does not change during a game and includes all headers on
    which its moves depend.
    """
    start = (head.start_fen, head.chess960, head.playable)
    if head.key:
        return (head.key, *start)
    headers = head.headers
    names = (headers.white.name, headers.black.name, headers.event, headers.round)
    return (*names, headers.site, headers.date, headers.board, *start)


class _GameReader:
    """Converter of the texts of games to reports. It remembers games, so that a game
    that is sent again is recognised. Games that a whole text no longer contains are
    forgotten; of a stream, the least recent ones.

    Whether a game is recognised only affects the cost of reading, never the result.
    """

    _eager = False

    def __init__(
        self,
        *,
        limits: PgnLimits = PgnLimits(),  # noqa: B008 - frozen
        fallback_charset: str = "cp1252",
    ) -> None:
        """Create the reader. ``fallback_charset`` is used for text that is not UTF-8,
        such as ``iso-8859-2`` if a server names it.
        """
        self._limits = limits
        self._splitter = PgnSplitter(
            max_game_bytes=limits.game_bytes,
            eager=self._eager,
            fallback_charset=fallback_charset,
        )
        self._notes = Counter[str]()
        # Each dictionary is in the order of last use.
        self._heads: dict[bytes, GameHead] = {}
        self._known_games: dict[_Identity, _KnownGame] = {}

    def _update_reports(
        self,
        segments: Iterable[PgnSegment | None],
        *,
        numbered: bool,
        closed: bool = False,
    ) -> Reading:
        """Read the games that are new or have changed, and return the reports of all.

        Args:
            segments: texts of games, and None after each piece of work that found none.
            numbered: whether to distinguish games with equal tags by counting them.
            closed: whether the text is known to be complete, so that the last game can
                end without a result token.
        """
        reports: list[GameReport] = []
        counts: Counter[_Identity] = Counter()
        for segment in segments:
            yield
            if segment is None:
                continue
            game = self._find_known(
                segment.header.strip(), counts if numbered else None
            )
            if game.read != (segment, closed):
                game.read = None
                yield from self._read_moves(game, segment, closed=closed)
                game.read = segment, closed
            self._notes.update(game.moves.notes)
            reports += game.reports
        return reports

    def _read_moves(
        self, game: _KnownGame, segment: PgnSegment, *, closed: bool
    ) -> Iterator[None]:
        """Read the moves of a game and the moves after illegal moves, and build its
        reports.
        """
        is_whole = segment.end is LineEnd.WHOLE
        is_closed = closed and segment.end is LineEnd.CUT
        yield from game.moves.read_text(
            segment.movetext,
            whole=is_whole,
            closed=is_closed,
            tag=game.head.result,
            base_s=read_start_clock_s(game.head.headers.time_control),
        )
        rests = yield from game.moves.read_after_illegal_moves(
            whole=is_whole, closed=is_closed
        )
        game.reports = self._build_reports(game, rests, segment.end, closed)

    def _find_known(
        self, header: bytes, counts: Counter[_Identity] | None
    ) -> _KnownGame:
        """Return the remembered game with these tag lines, which is created if
        necessary. ``counts`` counts games with equal tags, if these are to be
        distinguished.
        """
        head = self._heads.pop(header, None) or read_head(header)
        self._heads[header] = head
        identity = _identify_game(head)
        if counts is not None:
            counts[identity] += 1
            identity = (*identity, counts[identity])
        game = self._known_games.pop(identity, None)
        if game is None:
            game = _KnownGame(
                head, Movetext(head.create_board(), playable=head.playable)
            )
        self._known_games[identity] = game
        if game.head != head:  # a tag has changed, such as the result or a rating
            game.head, game.read = head, None
        return game

    def _forget_oldest(self, limit: int) -> None:
        """Forget all but the ``limit`` games that were read last."""
        for header in list(self._heads)[: max(0, len(self._heads) - limit)]:
            del self._heads[header]
        for identity in list(self._known_games)[
            : max(0, len(self._known_games) - limit)
        ]:
            del self._known_games[identity]

    def _build_reports(
        self, game: _KnownGame, rests: Sequence[Movetext], end: LineEnd, closed: bool
    ) -> GameReports:
        """Return the report of a game; if it continued after illegal moves, further
        reports of the moves after these.
        """
        head, moves = game.head, game.moves
        if not head.tags and not moves.moves:
            return ()
        problem = head.problem if not head.playable else moves.problem
        if end is LineEnd.TOO_LONG:
            problem = f"the game is longer than {self._limits.game_bytes} bytes"
        unread: tuple[Unread, ...] = () if problem is None else ("moves",)
        # A text that breaks off without a result token gives no result yet: some
        # programs write the final tag first.
        tag_result = head.result if end is LineEnd.WHOLE or closed else "*"
        report = GameReport(
            key=head.key,
            headers=head.headers,
            start_fen=head.start_fen,
            moves=tuple(moves.moves),
            result=head.result if moves.result == "*" else moves.result or tag_result,
            start_eval=moves.start_eval,
            problem=problem or head.problem,
            unread=unread,
        )
        headers = head.headers
        name = "/".join(
            (
                headers.event,
                headers.round,
                headers.white.name,
                headers.black.name,
                headers.date,
            )
        )
        *earlier, last = split_continuations(report, name, rests)
        return *earlier, apply_clock_tags(last, head.clocks_s)


class PgnDecoder(_GameReader):
    """Decoder of a PGN stream. Use one per connection, or call :meth:`reset` for a new
    connection.
    """

    _eager = True

    def decode_in_pieces(self, data: bytes) -> Reading:
        """Return reports of the games that ``data`` completes.

        Exhaust the generator before passing more data. A game that is sent again is
        reported again, even if it has not changed.
        """
        pieces = _split_pieces(self._splitter, data)
        reports = yield from self._update_reports(pieces, numbered=False)
        self._forget_oldest(min(STREAMED, self._limits.games))
        return reports

    def decode(self, data: bytes) -> list[GameReport]:
        """Return what :meth:`decode_in_pieces` returns, without pauses.

        On the event loop, pass at most 8 KiB, so that other tasks are not
        blocked.
        """
        return run_without_pause(self.decode_in_pieces(data))

    def finish_input(self) -> list[GameReport]:
        """Return the last game, which is still open, when the input has ended.

        An incomplete comment, tag or word at the end is ignored. The end is taken as
        final, so a game without a result token gets the result in its tag. If only the
        connection was lost, call :meth:`reset` instead.
        """
        last = self._splitter.finish_input()
        return run_without_pause(
            self._update_reports(last, numbered=False, closed=True)
        )

    def reset(self) -> None:
        """Forget the incomplete game, but not the remembered games: a new connection
        begins.
        """
        self._splitter.reset()


class PgnReader(_GameReader):
    """Reader of a PGN text that is read again and again while it grows or changes."""

    left_out = 0
    """Number of games in the last text beyond ``PgnLimits.games``."""
    whole = False
    """Whether the last text ended with the result of its last game; valid once the
    generator is exhausted.
    """
    _games = 0

    def read_in_pieces(self, text: bytes, *, closed: bool = False) -> Reading:
        """Return reports of all games in ``text``.

        This is fast if most of the text was read before. ``closed`` means that the text
        is no longer being written. Then a last word is read if it is a move, and a last
        game without a result token gets the result in its tag; otherwise it gets ``*``,
        since the rest of the game might follow.
        """
        self.left_out = 0
        self._notes.clear()
        reports = yield from self._update_reports(
            self._split_text(text), numbered=True, closed=closed
        )
        # A game that is missing while the text is being written will soon be in it
        # again.
        whole = closed or (self.whole and self._games)
        self._forget_oldest(self._games if whole else self._limits.games)
        return reports

    def read_text(self, text: bytes, *, closed: bool = False) -> list[GameReport]:
        """Read as :meth:`read_in_pieces` does, but at once: for short texts, or in a
        thread.
        """
        return run_without_pause(self.read_in_pieces(text, closed=closed))

    @property
    def notes(self) -> list[str]:
        """Messages for people about the units of clocks and evaluations in the last
        text.
        """
        return [
            f"{note} in {games} game{'s' if games > 1 else ''}"
            for note, games in self._notes.items()
        ]

    def _split_text(self, text: bytes) -> SegmentsAndPauses:
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
) -> SegmentsAndPauses:
    """Split ``data`` piece by piece and yield the games; None after each piece."""
    for start in range(0, len(data), _PIECE_BYTES):
        yield from splitter.split_bytes(data[start : start + _PIECE_BYTES])
        yield None
    if finish:
        yield from splitter.finish_input()
