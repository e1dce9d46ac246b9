"""Texts that are read again and again as a whole: a file being written, a page being polled."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from email.message import Message

from live.errors import FeedUnreadable
from live.events import FeedName, GameReport
from live.feeds.feed_session import FeedConditions, FeedSession
from live.feeds.files.partial_reads import BelievedText, PartialReadFilter, ends_whole
from live.feeds.pgn.not_pgn import HEAD_BYTES, not_pgn
from live.feeds.pgn.pgn_decoder import PgnReader
from live.network.retry import LASTING_S, FeedTrouble


class PgnText:
    """One text that somebody else writes: its games, and which of them to believe now."""

    def __init__(self, name: FeedName, conditions: FeedConditions) -> None:
        self._name = name
        self._clock = conditions.clock
        self._settle_s = conditions.config.settle_s
        self._settling = PartialReadFilter(self._settle_s)
        self._charset = ""
        self._reader = PgnReader()
        self._text = b""
        self._since_s = self._clock.now()
        self._closed = False
        """Read as a text that nobody is writing any more."""
        self._games: tuple[GameReport, ...] = ()

    async def take(self, text: bytes, content_type: str = "") -> None:
        """A new reading. Raises :class:`FeedTrouble` when the text is not PGN."""
        if what := not_pgn(text[:HEAD_BYTES], content_type):
            error = FeedUnreadable(self._name, f"holds {what}", "Give the address of PGN text")
            raise FeedTrouble(f"the source sends {what}", wait_s=LASTING_S, fatal=error)
        self._use_charset(charset_of(content_type))
        if text != self._text:
            self._text = text
            self._since_s = self._clock.now()
            self._closed = False
        await self._read()

    async def believe(self) -> BelievedText:
        """What to report now. Asked again while the text stands still, it believes more."""
        if not self._closed and self._clock.now() - self._since_s >= self._settle_s:
            self._closed = True
            await self._read()
        whole = self._closed or ends_whole(self._text[-4096:])
        belief = self._settling.believe(self._games, whole=whole, now_s=self._clock.now())
        look_again_s = belief.look_again_s
        if not whole and look_again_s is None:
            look_again_s = self._since_s + self._settle_s - self._clock.now()
        # With games beyond our bound a game that is not there may still be there.
        complete = belief.complete and not self._reader.left_out
        return BelievedText(belief.games, complete, look_again_s)

    async def _read(self) -> None:
        games: list[GameReport] = []
        for some in self._reader.slices(self._text, closed=self._closed):
            games += some
            await asyncio.sleep(0)  # a slice is some milliseconds of work
        self._games = tuple(games)

    def _use_charset(self, charset: str) -> None:
        if charset != self._charset:
            self._charset = charset
            self._reader = PgnReader(fallback_charset=charset) if charset else PgnReader()


class PgnSnapshots:
    """Reports what is new in the beliefs about a source. Kept over reconnects."""

    def __init__(self) -> None:
        self._reported: tuple[tuple[GameReport, ...], bool] | None = None

    async def report(self, beliefs: Iterable[BelievedText], session: FeedSession) -> float | None:
        """Report all texts of a source together; returns after how many seconds to read again
        at the latest because something was not believed yet, or None.
        """
        beliefs = list(beliefs)
        games = tuple(game for belief in beliefs for game in belief.games)
        complete = all(belief.complete for belief in beliefs)
        if (games, complete) != self._reported:
            await session.report(games, complete=complete)
            self._reported = (games, complete)
        else:
            session.alive()
        waits_s = [b.look_again_s for b in beliefs if b.look_again_s is not None]
        return min(waits_s, default=None)


def charset_of(content_type: str) -> str:
    """The ``charset`` that a Content-Type header names, lower case; empty when it names none.

    ISO 8859-1 counts as none: it is what servers say of every text they know nothing about, and
    Windows-1252 reads it too.
    """
    message = Message()
    message["Content-Type"] = " ".join(content_type.split())
    charset = (message.get_content_charset() or "").strip()
    return "" if charset in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "utf-8") else charset
