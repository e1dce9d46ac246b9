"""Which part of a re-read text to believe. Pure.

A file that is being uploaded can be read when half of it is there: the last game is cut, games
behind it are missing. Believed at once, that would be a takeback and a dozen vanished boards, and
all of it back a second later. So whatever makes a reading *less* than the one before it is doubted:
the board stays as it was, marked, until the loss has stood for a minute in at least three readings
(upload by FTP is what organisers' guides prescribe). What was lost for good and comes back with
less than it had is doubted in the same way. Whatever is new is believed at once, and so is a
takeback on one board of a text that is otherwise whole.

Texts that are read again and again as a whole: a file being written, a page being polled.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from email.message import Message

import msgspec
from msgspec.structs import replace

from live.events import IN_DOUBT, NO_LONGER, FeedName, GameReport
from live.feeds.charset import HEAD_BYTES, likely_charset, not_pgn, what_instead
from live.feeds.feed import FeedConditions, FeedSession, Identity, distinct_games, identities
from live.feeds.pgn_decoder import PgnReader
from live.feeds.retry import unreadable

#: Readings in which a loss must be seen, besides the time it must stand.
LEAST_READINGS = 3
#: Games remembered that the text has lost for good.
MAX_GONE = 1000
#: Plies played alike after which a game that is missing is one that has got other names.
PROOF_PLIES = 20
#: As many are enough where one of the players, event and round are the same.
SEATED_PLIES = 4


class BelievedText(msgspec.Struct, frozen=True):
    """What to report of a text."""

    games: tuple[GameReport, ...]
    complete: bool
    look_again_s: float | None = None
    """Part of it is doubted or left out: read again after this many seconds."""
    doubted: int = 0
    """Boards that are kept although the text has lost them, or moves of them."""


class _Loss(msgspec.Struct):
    """What a text has lost of one game, and since when."""

    now: GameReport | None
    """The game as the text has it now; None where it has none."""
    since_s: float
    readings: int = 0


class PartialReadFilter:
    """Keeps what a text seems to have lost until the loss has stood for ``lost_after_s``."""

    def __init__(self, lost_after_s: float, before: Sequence[GameReport] = ()) -> None:
        """``before``: what was shown when the service ended."""
        self._lost_after_s = lost_after_s
        former = dict(zip(identities(before), before, strict=True))
        gone = {who for who, game in former.items() if _is_past(game)}
        self._held = {who: game for who, game in former.items() if who not in gone}
        self._losses: dict[Identity, _Loss] = {}
        # Games whose loss was believed, and those of a former run that are past: they may come back
        # half-written.
        self._gone = {who: replace(former[who], problem=None) for who in gone}

    def believe(
        self,
        games: Sequence[GameReport],
        *,
        whole: bool,
        now_s: float,
        closed: bool = False,
        copies_s: float = 0.0,
    ) -> BelievedText:
        """Judge one reading of the source.

        ``whole``: the text went to the result of its last game. ``closed``: it has stood
        still for a moment, which makes no text whole: an upload may pause. ``copies_s``: the text
        may be an old copy, so what only goes back has to stand for so long, be it on one board
        alone. Cost is O(games).
        """
        games = tuple(games)
        named = dict(zip(identities(games), games, strict=True))
        complete = True
        cut = None if whole else next(reversed(named), None)
        if cut is not None:
            last = named[cut]
            half_headers = not closed and not last.moves
            # Under a new name, and cut: it would be a second board beside the one of before.
            renamed = any(
                _is_renamed(last, game) for each, game in self._held.items() if each not in named
            )
            if cut not in self._held and (half_headers or renamed):
                del named[cut]
                complete = False
        lost, lasts_s = self._lost(named, whole=whole, cut=cut, copies_s=copies_s)
        left_s: list[float] = []
        doubted: dict[Identity, GameReport] = {}
        losses, self._losses = self._losses, {}
        for who, now in lost.items():
            loss = losses.get(who)
            if loss is None or loss.now != now:
                loss = _Loss(now, now_s)
            loss.readings += 1
            wait_s = loss.since_s + lasts_s - now_s
            if wait_s > 0 or loss.readings < LEAST_READINGS:
                left_s.append(max(wait_s, 0.0))
                doubted[who] = self._known(who)
                self._losses[who] = loss
        # A board that is kept stands there once, whatever its name.
        twins = {id(now) for who, now in lost.items() if who in doubted and who not in named}
        believed = {who: game for who, game in named.items() if id(game) not in twins} | doubted
        self._gone |= {who: game for who, game in self._held.items() if who not in believed}
        for who in believed:
            self._gone.pop(who, None)
        for who in list(self._gone)[:-MAX_GONE]:
            del self._gone[who]
        self._held = believed
        return BelievedText(
            tuple(_marked(game) if who in doubted else game for who, game in believed.items()),
            complete,
            min(left_s, default=None),
            len(doubted),
        )

    def _lost(
        self,
        named: dict[Identity, GameReport],
        *,
        whole: bool,
        cut: Identity | None,
        copies_s: float,
    ) -> tuple[dict[Identity, GameReport | None], float]:
        """Games of which something is missing that cannot be believed at once, and after how long
        it can.
        """
        # What was gone and is back takes nobody's place.
        fewer = not whole or len(named.keys() - self._gone.keys()) < len(self._held)
        new = {
            mark: who
            for who, game in named.items()
            if who not in self._held
            for mark in _marks(game)
        }
        missing: dict[Identity, GameReport | None] = {}
        for who, held in self._held.items():
            if who in named:
                continue
            renamed = next((new[mark] for mark in _marks(held) if mark in new), None)
            # As many games under other names: renamed, reordered, or the next round. What has got
            # another name and less at once is an old copy, from before the name was put right.
            if fewer if renamed is None else is_behind(named[renamed], held):
                missing[who] = None if renamed is None else named[renamed]
        # Under its old name again: that is the held one, and missing as such.
        again = set(map(id, missing.values()))
        behind: dict[Identity, GameReport | None] = {
            who: game
            for who, game in named.items()
            if (who in self._held or (who in self._gone and id(game) not in again))
            and is_behind(game, self._known(who), cut=who == cut)
        }
        emptied = any(game is not None and not game.moves for game in behind.values())
        if whole and not missing and len(behind) == 1 and not emptied:
            return (behind, copies_s) if copies_s else ({}, 0.0)
        return {**missing, **behind}, self._lost_after_s

    def _known(self, who: Identity) -> GameReport:
        """The game as it was believed last."""
        return self._held[who] if who in self._held else self._gone[who]


def _is_past(game: GameReport) -> bool:
    """Over, or gone: nobody misses it."""
    return game.result != "*" or (game.problem or "").startswith(NO_LONGER)


def _is_renamed(now: GameReport, before: GameReport) -> bool:
    """Perhaps the same game under another name, as far as it is there."""
    new, old = now.headers, before.headers
    seated = {new.white.name, new.black.name} & {old.white.name, old.black.name}
    return (
        bool(seated)
        and (new.event, new.round) == (old.event, old.round)
        and all(a.uci == b.uci for a, b in zip(now.moves, before.moves, strict=False))
        and len(now.moves) < len(before.moves)
    )


def _marks(game: GameReport) -> list[tuple[str, ...]]:
    """What shows that a game under another name is the same one: how it began, and for how long
    where no player's name is the same.
    """
    line, headers = (game.start_fen, *(move.uci for move in game.moves)), game.headers
    marks = [line[: PROOF_PLIES + 1]] if len(game.moves) >= PROOF_PLIES else []
    if len(game.moves) >= SEATED_PLIES:
        place = (headers.event, headers.round, *line[: SEATED_PLIES + 1])
        marks += [(player.name, *place) for player in (headers.white, headers.black)]
    return marks


def is_behind(now: GameReport, before: GameReport, *, cut: bool = False) -> bool:
    """The same game with its last moves or its result gone, and no new result that would explain
    it. Of a game that is ``cut`` no result explains anything: its tag is written first.
    """
    # The text may be cut in the last move's clock: what was played is what counts.
    fewer = len(now.moves) < len(before.moves)
    withdrawn = now.result == "*" != before.result and len(now.moves) == len(before.moves)
    return (
        (fewer or withdrawn)
        and (cut or now.result in ("*", before.result))
        and now.start_fen == before.start_fen
        and now.headers.variant == before.headers.variant
        and now.problem is None
        and all(new.uci == old.uci for new, old in zip(now.moves, before.moves, strict=False))
    )


def _marked(game: GameReport) -> GameReport:
    if game.problem is not None or game.result != "*":  # a game that is over loses nothing
        return game
    return replace(game, problem=f"{IN_DOUBT} its source has less of it just now")


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
        self._repeated = 0  # games that it holds a second time

    async def take(self, text: bytes, content_type: str = "") -> None:
        """A new reading. An old copy is left alone.

        Raises :class:`FeedTrouble` when the text is not PGN.
        """
        if what := not_pgn(text[:HEAD_BYTES], content_type):
            remedy = what_instead(self._name)
            reason = f"the source sends {what}; {remedy}"
            raise unreadable(self._name, f"holds {what}", remedy[:1].upper() + remedy[1:], reason)
        named = self._named_charset or charset_of(content_type)
        self._use_charset(named or likely_charset(text))
        if self._copies is not None and self._copies.is_old(text, self._clock.now()):
            return
        if text != self._text:
            self._text = text
            self._since_s = self._clock.now()
            self._closed = False
        await self._read()

    async def believe(self, looked_s: float) -> BelievedText:
        """What to report now, the source having been looked at from ``looked_s`` on. Asked again
        while the text stands still, it believes more.
        """
        # What was read once, however long ago, has not stood still.
        if not self._closed and looked_s - self._since_s >= self._settle_s:
            self._closed = True
            await self._read()
        whole = self.whole
        belief = self._filter.believe(
            self._games,
            whole=whole,
            now_s=self._clock.now(),
            closed=self._closed,
            copies_s=0.0 if self._copies is None else self._copies.lasts_s,
        )
        whole = whole or self._closed
        look_again_s = belief.look_again_s
        if not whole and look_again_s is None:
            look_again_s = self._since_s + self._settle_s - self._clock.now()
        # With games beyond our bound a game that is not there may still be there.
        complete = belief.complete and not self._reader.left_out
        return replace(belief, complete=complete, look_again_s=look_again_s)

    @property
    def whole(self) -> bool:
        """The text goes to the result of its last game."""
        return self._reader.whole

    @property
    def note(self) -> str:
        """What people should know of a text that is read all the same; empty for nothing."""
        notes = []
        if self._reader.left_out:
            more = f"{self._reader.left_out} more left out"
            notes.append(f"{more}, since so many are read at most")
        if self._repeated:
            notes.append(f"{self._repeated} in it twice, counted once")
        if self._copies is not None and self._copies.seen:
            notes.append("old copies of the page come between, from a cache, and are left alone")
        return "; ".join(notes)

    async def _read(self) -> None:
        games: list[GameReport] = []
        for some in self._reader.slices(self._text, closed=self._closed):
            games += some
            await asyncio.sleep(0)  # a slice is some milliseconds of work
        self._games = distinct_games(games)
        self._repeated = len(games) - len(self._games)

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
        return _soonest(beliefs)

    def _with_former(self, beliefs: list[BelievedText], session: FeedSession) -> BelievedText:
        """All texts of the source, with what the former run had beyond them."""
        if self._before is None:
            self._before = PartialReadFilter(self._lost_after_s, session.sink.known(session.name))
        games = [game for each in beliefs for game in each.games]
        now_s, copies_s = self._clock.now(), self._lost_after_s
        belief = self._before.believe(games, whole=True, now_s=now_s, copies_s=copies_s)
        # A text that is not there to its end yet has lost nothing, but shows no end of losses.
        complete = all(each.complete for each in beliefs)
        self._caught_up = not belief.doubted and complete
        doubted = belief.doubted + sum(each.doubted for each in beliefs)
        again_s = _soonest([*beliefs, belief])
        return BelievedText(belief.games, complete, again_s, doubted)


def _soonest(beliefs: Iterable[BelievedText]) -> float | None:
    return min((b.look_again_s for b in beliefs if b.look_again_s is not None), default=None)


def charset_of(content_type: str) -> str:
    """The ``charset`` that a Content-Type header names, lower case; empty when it names none.

    ISO 8859-1 counts as none: it is what servers say of every text they know nothing about, and
    Windows-1252 reads it too.
    """
    message = Message()
    message["Content-Type"] = " ".join(content_type.split())
    charset = (message.get_content_charset() or "").strip()
    return "" if charset in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "utf-8") else charset


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
        self._old_since_s: float | None = None
        self._proved = False  # the text stood for so long as one that is not new
        self.seen = False
        """A newer text came after an old one."""

    @property
    def lasts_s(self) -> float:
        """What goes back may be a copy that was never read when it was new, for so long."""
        first_s = 0.0 if self._proved else min(FIRST_COPY_S, self._lost_after_s)
        return self._lost_after_s if self.seen else first_s

    def is_old(self, text: bytes, now_s: float) -> bool:
        """Whether to leave this reading alone."""
        digest = hash(text)
        if digest != self._now and digest in self._replaced:
            if self._old_since_s is None:
                self._old_since_s = now_s
            if now_s - self._old_since_s < self.lasts_s:
                return True
            self._proved = True
        else:
            self.seen |= self._old_since_s is not None
            self._proved &= digest == self._now
        self._old_since_s = None
        if digest != self._now:
            if self._now is not None:
                self._replaced[self._now] = None
            self._replaced.pop(digest, None)
            self._now = digest
            while len(self._replaced) > MAX_COPIES:
                self._replaced.popitem(last=False)
        return False
