"""Texts that are read again and again as a whole: a file being written, a page being polled."""

from __future__ import annotations

import asyncio
from email.message import Message

from live.errors import FeedUnreadable
from live.events import FeedName, GameReport
from live.feeds.pgn import PgnReader
from live.feeds.retry import LASTING_S, Trouble
from live.feeds.settle import Settling, ends_whole
from live.feeds.sniff import HEAD_BYTES, not_pgn
from live.feeds.voice import Conditions, Voice


class Snapshots:
    """Turns successive readings of one text into reports. Kept over reconnects."""

    def __init__(self, name: FeedName, conditions: Conditions) -> None:
        self._name = name
        self._clock = conditions.clock
        self._settle_s = conditions.config.settle_s
        self._settling = Settling(self._settle_s)
        self._charset = ""
        self._reader = PgnReader()
        self._text = b""
        self._since_s = self._clock.now()
        self._closed = False
        """Read as a text that nobody is writing any more."""
        self._games: tuple[GameReport, ...] = ()
        self._reported: tuple[tuple[GameReport, ...], bool] | None = None

    async def take(self, text: bytes, voice: Voice, content_type: str = "") -> float | None:
        """Report what is new in a reading; returns after how many seconds to read again at the
        latest because part of it was not believed yet, or None.

        Raises :class:`Trouble` when the text is not PGN.
        """
        if what := not_pgn(text[:HEAD_BYTES], content_type):
            error = FeedUnreadable(self._name, f"holds {what}", "Give the address of PGN text")
            raise Trouble(f"the source sends {what}", wait_s=LASTING_S, fatal=error)
        self._use_charset(charset_of(content_type))
        if text != self._text:
            self._text = text
            self._since_s = self._clock.now()
            self._closed = False
        await self._read()
        return await self._tell(voice)

    async def again(self, voice: Voice) -> float | None:
        """The source still reads the same: what was doubted may be believed now."""
        if not self._closed and self._clock.now() - self._since_s >= self._settle_s:
            self._closed = True
            await self._read()
        return await self._tell(voice)

    async def _read(self) -> None:
        games: list[GameReport] = []
        for some in self._reader.slices(self._text, closed=self._closed):
            games += some
            await asyncio.sleep(0)  # a slice is some milliseconds of work
        self._games = tuple(games)

    async def _tell(self, voice: Voice) -> float | None:
        whole = self._closed or ends_whole(self._text[-4096:])
        belief = self._settling.believe(self._games, whole=whole, now_s=self._clock.now())
        # With games beyond our bound a game that is not there may still be there.
        complete = belief.complete and not self._reader.left_out
        if (belief.games, complete) != self._reported:
            await voice.report(belief.games, complete=complete)
            self._reported = (belief.games, complete)
        else:
            voice.alive()
        if self._closed or whole:
            return belief.look_again_s
        return belief.look_again_s or self._since_s + self._settle_s - self._clock.now()

    def _use_charset(self, charset: str) -> None:
        if charset != self._charset:
            self._charset = charset
            self._reader = PgnReader(fallback_charset=charset) if charset else PgnReader()


def charset_of(content_type: str) -> str:
    """The ``charset`` that a Content-Type header names, lower case; empty when it names none.

    ISO 8859-1 counts as none: it is what servers say of every text they know nothing about, and
    Windows-1252 reads it too.
    """
    message = Message()
    message["Content-Type"] = " ".join(content_type.split())
    charset = (message.get_content_charset() or "").strip()
    return "" if charset in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "utf-8") else charset
