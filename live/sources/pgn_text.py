"""A PGN text written by another program: a file or a web page that is read again and
again.
"""

import re

from live.messages.from_sources import GameReports
from live.messages.values import FeedName
from live.process.loop_slices import LoopSlices
from live.sources.charset_guess import guess_charset
from live.sources.feed_session import FeedConditions
from live.sources.game_identity import drop_repeated_games
from live.sources.partial_reads import FIRST_COPY_S, TextReading
from live.sources.pgn_decoder import PgnReader
from live.sources.pgn_detection import HEAD_BYTES, describe_non_pgn, suggest_source
from live.sources.retry import create_permanent_trouble

#: Greatest number of earlier texts remembered to recognise old copies.
MAX_COPIES = 256


class PgnText:
    """A text written by another program, and its games."""

    def __init__(
        self, name: FeedName, conditions: FeedConditions, *, cached: bool = False
    ) -> None:
        """Create the text. ``cached`` means that answers can come from caches, which
        might return old copies.
        """
        self._name = name
        self._cached = cached
        self._config = conditions.config
        self._copies_s = min(FIRST_COPY_S, self._config.lost_after_s)
        self._replaced: dict[int, None] = {}
        """Hashes of texts that were replaced by a newer one."""
        self._again_s: float | None = None
        """Clock time since which a replaced text has been read again; None if the text
        is new.
        """
        self._is_settled = False
        self._clock = conditions.clock
        self._charset = ""
        self._guessed = ""
        """The guessed charset; empty if the charset was named."""
        self._reader = PgnReader()
        self._text = b""
        self._since_s = self._clock.now()
        self._closed = False
        """Whether the text was read as one that is no longer being written."""
        self._games: GameReports = ()
        self._repeated = 0  # number of games repeated in the text

    async def take_unless_outdated(self, text: bytes, content_type: str = "") -> bool:
        """Process the present text. Return False if it is an outdated copy from a
        cache, which is ignored.

        Raises :class:`FeedTrouble` if it is not PGN.
        """
        if description := describe_non_pgn(text[:HEAD_BYTES], content_type):
            remedy = suggest_source(self._name)
            reason = f"the source sends {description}; {remedy}"
            remedy = f"{remedy[:1].upper()}{remedy[1:]}"
            raise create_permanent_trouble(
                self._name, f"holds {description}", remedy, reason
            )
        if self._cached and self._is_outdated(text):
            return False
        declared = self._config.charset or read_charset(content_type)
        charset = declared or guess_charset(text)
        self._guessed = "" if declared else charset
        if charset != self._charset:
            self._charset = charset
            self._reader = PgnReader(fallback_charset=charset or "cp1252")
        if text != self._text:
            self._text = text
            self._since_s = self._clock.now()
            self._closed = False
        await self._read_text()
        return True

    def _is_outdated(self, text: bytes) -> bool:
        """Return whether to ignore the text as an old copy from a cache.

        A takeback restores an earlier text, too, but that text stays. So a repeated
        text is accepted once it has stayed for a while, and for longer after caches
        were seen to alternate.
        """
        is_repeated, now_s = hash(text) in self._replaced, self._clock.now()
        if is_repeated:
            self._again_s = now_s if self._again_s is None else self._again_s
            if now_s - self._again_s < self._copies_s:
                return True
        elif self._again_s is not None:
            self._copies_s = self._config.lost_after_s
        self._again_s = None
        if text == self._text:
            return False
        self._is_settled = is_repeated
        self._replaced.pop(hash(text), None)
        self._replaced[hash(self._text)] = None
        if len(self._replaced) > MAX_COPIES:
            del self._replaced[next(iter(self._replaced))]
        return False

    async def build_reading(self, looked_s: float) -> TextReading:
        """Return the reading of the present text. ``looked_s`` is the clock time from
        which the source was read.
        """
        # A text that was read only once, however long ago, is not known to be
        # unchanged.
        if not self._closed and looked_s - self._since_s >= self._config.settle_s:
            self._closed = True
            await self._read_text()
        whole = self._reader.whole
        settles_s = None
        if self._again_s is not None:
            settles_s = self._again_s + self._copies_s - self._clock.now()
        elif not whole and not self._closed:
            settles_s = self._since_s + self._config.settle_s - self._clock.now()
        return TextReading(
            self._games,
            whole,
            self._closed,
            # If the text has more games than the limit, a game that was not read might
            # still be in it.
            complete=not self._reader.left_out,
            is_settled=self._is_settled,
            settles_s=settles_s,
            name=self._name,
        )

    @property
    def note(self) -> str:
        """Message for people about how the text was read; empty if there is none."""
        notes = self._reader.notes
        if self._guessed:
            notes.append(f"charset guessed: {self._guessed}")
        if self._reader.left_out:
            left_out = f"{self._reader.left_out} more left out"
            notes.append(f"{left_out}, because there are too many to read")
        if self._repeated:
            notes.append(f"{self._repeated} in it twice, counted once")
        return "; ".join(notes)

    async def _read_text(self) -> None:
        games = await LoopSlices().run(
            self._reader.read_in_pieces(self._text, closed=self._closed)
        )
        self._games = drop_repeated_games(games)
        self._repeated = len(games) - len(self._games)


_CHARSET = re.compile(r"\bcharset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)


def read_charset(content_type: str) -> str:
    """Return the ``charset`` in a Content-Type header, in lower case; empty if there is
    none.

    ISO 8859-1 is ignored: servers name it for every text they know nothing about, and
    Windows-1252 includes its letters.
    """
    match = _CHARSET.search(content_type)
    charset = match[1].lower() if match else ""
    return (
        ""
        if charset in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "utf-8")
        else charset
    )
