"""Texts that are read again and again as a whole: a file being written, a page being polled."""

from __future__ import annotations

import asyncio
import email.utils
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from email.message import Message

import msgspec

from live.errors import FeedUnreadable
from live.events import FeedName, GameReport
from live.feeds.feed_session import FeedConditions, FeedSession
from live.feeds.files.partial_reads import BelievedText, PartialReadFilter
from live.feeds.game_roster import distinct_games
from live.feeds.pgn.charset import HEAD_BYTES, likely_charset, not_pgn, what_instead
from live.feeds.pgn.pgn_decoder import PgnReader
from live.network.retry import FeedTrouble


class PgnText:
    """One text that somebody else writes: its games, and which of them to believe now."""

    def __init__(self, name: FeedName, conditions: FeedConditions, *, cached: bool = False) -> None:
        """``cached``: caches stand between us and who writes it, and may give old copies."""
        self._name = name
        self._clock = conditions.clock
        self._settle_s = conditions.config.settle_s
        self._filter = PartialReadFilter(conditions.config.lost_after_s)
        self._copies = OldCopies(conditions.config.lost_after_s) if cached else None
        self._named_charset = conditions.config.charset
        self._charset = ""
        self._reader = PgnReader()
        self._text = b""
        self._since_s = self._clock.now()
        self._closed = False
        """Read as a text that nobody is writing any more."""
        self._games: tuple[GameReport, ...] = ()
        self.repeated = 0
        """Games that the text holds a second time."""

    async def take(self, text: bytes, content_type: str = "", modified: str = "") -> None:
        """A new reading; ``modified`` is its ``Last-Modified``. An old copy is left alone.

        Raises :class:`FeedTrouble` when the text is not PGN.
        """
        if what := not_pgn(text[:HEAD_BYTES], content_type):
            remedy = what_instead(self._name)
            error = FeedUnreadable(self._name, f"holds {what}", f"{remedy[:1].upper()}{remedy[1:]}")
            raise FeedTrouble(f"the source sends {what}; {remedy}", fatal=error)
        named = self._named_charset or charset_of(content_type)
        self._use_charset(named or likely_charset(text))
        if self._copies is not None and self._copies.is_old(text, modified, self._clock.now()):
            return
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
        whole = self.whole
        belief = self._filter.believe(
            self._games,
            whole=whole,
            now_s=self._clock.now(),
            closed=self._closed,
            suspect=self.old_copies,
        )
        whole = whole or self._closed
        look_again_s = belief.look_again_s
        if not whole and look_again_s is None:
            look_again_s = self._since_s + self._settle_s - self._clock.now()
        # With games beyond our bound a game that is not there may still be there.
        complete = belief.complete and not self._reader.left_out
        return msgspec.structs.replace(belief, complete=complete, look_again_s=look_again_s)

    @property
    def old_copies(self) -> bool:
        """Old copies of the text were seen to come between the new ones."""
        return self._copies is not None and self._copies.seen

    @property
    def whole(self) -> bool:
        """The text goes to the result of its last game."""
        return self._reader.whole

    @property
    def left_out(self) -> int:
        """Games of the text beyond our bound."""
        return self._reader.left_out

    async def _read(self) -> None:
        games: list[GameReport] = []
        for some in self._reader.slices(self._text, closed=self._closed):
            games += some
            await asyncio.sleep(0)  # a slice is some milliseconds of work
        self._games = distinct_games(games)
        self.repeated = len(games) - len(self._games)

    def _use_charset(self, charset: str) -> None:
        if charset != self._charset:
            self._charset = charset
            self._reader = PgnReader(fallback_charset=charset) if charset else PgnReader()


class PgnSnapshots:
    """Reports what is new in the beliefs about a source. Kept over reconnects.

    What games of a former run have lost is doubted as anything else that a text loses.
    """

    def __init__(self, conditions: FeedConditions) -> None:
        self._clock = conditions.clock
        self._lost_after_s = conditions.config.lost_after_s
        self._before: PartialReadFilter | None = None
        self._caught_up = False
        """Nothing of the former run is missing any more."""
        self._reported: tuple[tuple[GameReport, ...], bool] | None = None

    async def report(
        self, beliefs: Iterable[BelievedText], session: FeedSession, notes: Iterable[str] = ()
    ) -> float | None:
        """Report all texts of a source together; returns after how many seconds to read again
        at the latest because something was not believed yet, or None. ``notes`` are shown beside
        the number of games.
        """
        beliefs = list(beliefs)
        if not self._caught_up:
            beliefs = [self._with_former(beliefs, session)]
        session.note = "; ".join(filter(None, [_doubted(sum(b.doubted for b in beliefs)), *notes]))
        games = tuple(game for belief in beliefs for game in belief.games)
        complete = all(belief.complete for belief in beliefs)
        if (games, complete) != self._reported:
            await session.report(games, complete=complete)
            self._reported = (games, complete)
        else:
            session.alive()
        waits_s = [b.look_again_s for b in beliefs if b.look_again_s is not None]
        return min(waits_s, default=None)

    def _with_former(self, beliefs: list[BelievedText], session: FeedSession) -> BelievedText:
        """All texts of the source, with what the former run had beyond them."""
        if self._before is None:
            self._before = PartialReadFilter(self._lost_after_s, session.known())
        waits_s = [b.look_again_s for b in beliefs if b.look_again_s is not None]
        games = [game for belief in beliefs for game in belief.games]
        belief = self._before.believe(games, whole=True, now_s=self._clock.now(), suspect=True)
        # A text that is not there to its end yet has lost nothing, but shows no end of losses.
        self._caught_up = not belief.doubted and all(each.complete for each in beliefs)
        waits_s += [belief.look_again_s] if belief.look_again_s is not None else []
        return BelievedText(
            belief.games,
            all(each.complete for each in beliefs),
            min(waits_s, default=None),
            belief.doubted + sum(each.doubted for each in beliefs),
        )


def charset_of(content_type: str) -> str:
    """The ``charset`` that a Content-Type header names, lower case; empty when it names none.

    ISO 8859-1 counts as none: it is what servers say of every text they know nothing about, and
    Windows-1252 reads it too.
    """
    message = Message()
    message["Content-Type"] = " ".join(content_type.split())
    charset = (message.get_content_charset() or "").strip()
    return "" if charset in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "utf-8") else charset


def note_of(text: PgnText) -> str:
    """What people should know of a text that is read all the same; empty for nothing."""
    notes = []
    if text.left_out:
        notes.append(f"{text.left_out} more left out, since so many are read at most")
    if text.repeated:
        notes.append(f"{text.repeated} in it twice, counted once")
    if text.old_copies:
        notes.append("old copies of the page come between, from a cache, and are left alone")
    return "; ".join(notes)


def _doubted(boards: int) -> str:
    if not boards:
        return ""
    what = "1 board is" if boards == 1 else f"{boards} boards are"
    return f"{what} missing or shorter just now, and kept"


#: Texts remembered to recognise old copies by.
MAX_COPIES = 256
#: A copy of before that comes for the first time may be a move taken back: it is believed when it
#: has come for so long. Where copies were seen to alternate, it takes much longer.
FIRST_COPY_S = 10.0


class OldCopies:
    """Recognises texts that were there before, which caches give between newer ones."""

    def __init__(self, lost_after_s: float) -> None:
        self._lost_after_s = lost_after_s
        self._replaced: OrderedDict[int, None] = OrderedDict()
        """Texts that a newer one has replaced."""
        self._now: int | None = None
        self._newest: datetime | None = None
        self._old_since_s: float | None = None
        self.seen = False
        """A newer text came after an old one."""

    def is_old(self, text: bytes, modified: str, now_s: float) -> bool:
        """Whether to leave this reading alone; ``modified`` as the server says it, or empty."""
        digest = hash(text)
        when = _read_date(modified)
        older = when is not None and self._newest is not None and when < self._newest
        if digest != self._now and (digest in self._replaced or older):
            if self._old_since_s is None:
                self._old_since_s = now_s
            wait_s = self._lost_after_s if self.seen or older else FIRST_COPY_S
            if now_s - self._old_since_s < min(wait_s, self._lost_after_s):
                return True
        elif self._old_since_s is not None:
            self.seen = True
        self._old_since_s = None
        if digest != self._now:
            if self._now is not None:
                self._replaced[self._now] = None
            self._replaced.pop(digest, None)
            self._now, self._newest = digest, when or self._newest
            while len(self._replaced) > MAX_COPIES:
                self._replaced.popitem(last=False)
        return False


def _read_date(text: str) -> datetime | None:
    try:
        return email.utils.parsedate_to_datetime(text) if text else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
