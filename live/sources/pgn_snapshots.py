"""Which part of a re-read text to believe. Pure.

What cannot be read is nothing heard, see :mod:`live.sources.kept_moves`; here it is
what can be read that is doubted.

A file that is being uploaded can be read when half of it is there: the last game is
cut, games behind it are missing. Believed at once, that would be a takeback and a dozen
vanished boards, and all of it back a second later. So whatever makes a reading *less*
than the one before it is doubted: the board stays as it was, marked, until the loss has
stood for a minute in at least three readings (upload by FTP is what organisers' guides
prescribe). A game that was lost for good is doubted in the same way when it comes back
within ten minutes with less than it had. Whatever is new is believed at once, and so is
a takeback on one board of a text that is otherwise whole.

A text that had an end and now breaks off cannot be read to its end, however long that
lasts: its last game keeps its moves.

Texts that are read again and again as a whole: a file being written, a page being
polled.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from itertools import chain

import msgspec
from msgspec.structs import replace

from live.messages.from_sources import NO_LONGER, STANDS, GameReport, GameReports
from live.messages.values import FeedName, Value
from live.process.loop_slices import LoopSlices
from live.sources.charset_guess import guess_charset
from live.sources.feed import (
    FeedConditions,
    FeedSession,
    Poll,
)
from live.sources.game_identity import (
    Identified,
    Identity,
    drop_repeated_games,
    identify_games,
    is_same_line,
)
from live.sources.kept_moves import LESS, keep_unread
from live.sources.pgn_decoder import PgnReader
from live.sources.pgn_detection import HEAD_BYTES, describe_no_pgn, suggest_source
from live.sources.retry import create_fatal_trouble

#: Readings in which a loss must be seen, besides the time it must stand.
LEAST_READINGS = 3
#: Games remembered that the text has lost for good, and for how long: an upload takes
#: less.
MAX_GONE = 1000
GONE_S = 600.0
#: Plies played alike after which a game that is missing is one that has got other
#: names.
PROOF_PLIES = 20
#: As many are enough where one of the players, event and round are the same.
SEATED_PLIES = 4


class TextReading(Value):
    """One text as it was read last."""

    games: GameReports
    whole: bool = True
    """It goes to the result of its last game."""
    closed: bool = False
    """It has stood still for a moment, which makes no text whole: an upload may
    pause.
    """
    complete: bool = True
    """All its games were read."""
    stands: bool = False
    """It was there before, and again for so long that it is no old copy."""
    settles_s: float | None = None
    """Read again after so many seconds: it may have stood still by then."""
    name: str = ""
    """What distinguishes it from the other texts of its source."""


class _Loss(msgspec.Struct):
    """What a source has lost of one game, and since when."""

    now: GameReport | None
    """The game as it has it now; None where it has none."""
    since_s: float
    readings: int = 0


class PartialReadFilter:
    """Keeps what a source seems to have lost until the loss has stood for
    ``lost_after_s``.
    """

    def __init__(
        self,
        lost_after_s: float,
        before: Sequence[GameReport] = (),
        *,
        copies_s: float = 0.0,
    ) -> None:
        """``before``: what was shown when the service ended. ``copies_s``: a text may
        be an old copy, so what only goes back has to stand for so long, be it on one
        board alone; and for ``lost_after_s`` once something went back and came again.
        """
        self._lost_after_s = lost_after_s
        self._copies_s = copies_s
        former = dict(zip(identify_games(before), before, strict=True))
        # Over, or gone: nobody misses it.
        gone = {
            who
            for who, game in former.items()
            if game.result != "*" or (game.problem or "").startswith(NO_LONGER)
        }
        self._held = {who: game for who, game in former.items() if who not in gone}
        self._catching_up = bool(before)
        """Something of the former run may be missing yet: all that goes back is
        doubted.
        """
        self._endless: set[Identity] = set()
        """Games believed from the end of a text that had none: its writer may never
        write one.
        """
        self._places: dict[Identity, str] = {}
        """The text in which a game was last; none for what a former run had."""
        self._losses: dict[Identity, _Loss] = {}
        # Games whose loss was believed, and those of a former run that are past: they
        # may come back half-written. Each is read when it is asked for, and remembered
        # from when it was lost; of a former run from the first reading on.
        self._gone: dict[Identity, tuple[Callable[[], GameReport], float]] = {
            who: (partial(replace, former[who], problem=None), math.inf) for who in gone
        }

    def confirm_games(
        self, readings: Iterable[TextReading], now_s: float, notes: Iterable[str] = ()
    ) -> Poll:
        """Judge all texts of the source, as they were read last. Cost is O(games).
        ``notes`` say more of the texts.
        """
        readings = list(readings)
        named, cut = self._identify_games(readings)
        halves = [who for who in cut if self._is_half_a_game(who, named, cut)]
        for who in halves:
            del named[who]
        complete = not halves and all(each.complete for each in readings)
        whole = {each.name: each for each in readings if each.whole}
        lost = self._find_lost(named, whole, cut)
        waits_s = [each.settles_s for each in readings if each.settles_s is not None]
        doubted: Identified = {}
        broken_off: set[Identity] = set()
        # A board that is kept stands there once, whatever its name.
        twins: set[int] = set()
        before = self._losses
        self._losses = {}
        for who, (now, lasts_s) in lost.items():
            loss = before.pop(who, None)
            if loss is None or loss.now != now:
                loss = _Loss(now, now_s)
            loss.readings += 1
            wait_s = loss.since_s + lasts_s - now_s
            if wait_s > 0 or loss.readings < LEAST_READINGS:
                waits_s.append(max(wait_s, 0.0))
                doubted[who] = self._known_game(who)
                self._losses[who] = loss
                if who not in named:
                    twins.add(id(now))
            elif who in cut and who in self._held and who not in self._endless:
                named[who] = keep_unread(_keep_broken_off(named[who]), self._held[who])
                broken_off.add(who)
        if self._copies_s:
            # What was lost and has come again was lost in an old copy.
            for who in before.keys() & named.keys() & self._held.keys():
                moves = self._held[who].moves
                if named[who].moves[: len(moves)] == moves:
                    self._copies_s = self._lost_after_s
        believed = {who: game for who, game in named.items() if id(game) not in twins}
        believed |= doubted
        self._remember_gone(believed, now_s)
        self._held = believed
        kept = doubted.keys() | broken_off
        self._endless = believed.keys() & ((self._endless & kept) | (cut.keys() - kept))
        self._places = {who: at for who, at in self._places.items() if who in believed}
        self._catching_up &= bool(doubted) or not complete
        # Caches that take turns would mark a board at every other reading.
        unmarked_readings = 1 if self._copies_s else 0
        marked = {
            who
            for who, loss in self._losses.items()
            if loss.readings > unmarked_readings
        }
        games = dict(believed)
        for who in marked:
            games[who] = _mark_doubtful(games[who])
        # Their games are over, and say nothing themselves.
        unmarked = sum(believed[who].result != "*" for who in marked)
        note = "; ".join(filter(None, [_describe_kept(unmarked), *notes]))
        again_in_s = min(waits_s, default=None)
        return Poll(tuple(games.values()), complete, again_in_s, note)

    def _identify_games(
        self, readings: Iterable[TextReading]
    ) -> tuple[Identified, dict[Identity, bool]]:
        """Return the games with what is known of their unread parts, and the last ones
        of texts that break off: whether their text stands still. Note where each is.
        """
        named: Identified = {}
        cut: dict[Identity, bool] = {}
        games = list(chain.from_iterable(each.games for each in readings))
        in_order = iter(identify_games(games))
        for each in readings:
            for game in each.games:
                who = next(in_order)
                named[who] = keep_unread(game, self._held.get(who, game))
                self._places[who] = each.name
            if each.games and not each.whole:
                cut[who] = each.closed
        return named, cut

    def _is_half_a_game(
        self, who: Identity, named: Identified, cut: dict[Identity, bool]
    ) -> bool:
        """Return whether a game that is cut has a new name because half of its headers
        are there: it would be a second board beside the one of before.
        """
        if who in self._held:
            return False
        has_half_headers = not cut[who] and not named[who].moves
        return has_half_headers or self._is_renamed(named[who], named)

    def _remember_gone(self, believed: Container[Identity], now_s: float) -> None:
        """Remember games that the source has lost for good, each for a while."""
        gone = {}
        for who, (read, lost_s) in self._gone.items():
            since_s = min(lost_s, now_s)
            if who not in believed and now_s - since_s < GONE_S:
                gone[who] = (read, since_s)
        for who, game in self._held.items():
            if who not in believed:
                gone[who] = (_pack_game(game), now_s)
        self._gone = dict(list(gone.items())[-MAX_GONE:])

    def _is_renamed(self, last: GameReport, named: Container[Identity]) -> bool:
        """Return whether the last game may be one of before under another name, as far
        as it is there.
        """
        new = last.headers
        return any(
            {new.white.name, new.black.name} & {old.white.name, old.black.name}
            and (new.event, new.round) == (old.event, old.round)
            and len(last.moves) < len(before.moves)
            and is_same_line(last, before)
            for who, before in self._held.items()
            if who not in named and (old := before.headers)
        )

    def _find_lost(
        self,
        named: Identified,
        whole: dict[str, TextReading],
        cut: Container[Identity],
    ) -> dict[Identity, tuple[GameReport | None, float]]:
        """Return the games of which something is missing that cannot be believed at
        once, and after how long it can. Each text is judged by itself: in a hall boards
        of several files take back at once.
        """
        held = Counter(self._places.get(who) for who in self._held)
        # What was gone and is back takes nobody's place.
        now = Counter(self._places[who] for who in named if who not in self._gone)
        new = {}
        for who, game in named.items():
            if who not in self._held:
                new.update(dict.fromkeys(_lookup_keys(game), game))
        missing: dict[Identity, GameReport | None] = {}
        for who, known in self._held.items():
            if who in named:
                continue
            keys = [key for key in _lookup_keys(known) if key in new]
            renamed = new[keys[0]] if keys else None
            # As many games under other names: renamed, reordered, or the next round.
            # What has got another name and less at once is an old copy, from before the
            # name was put right.
            place = self._places.get(who)
            if place is None:
                fewer = now.total() < len(self._held)
            else:
                fewer = place not in whole or now[place] < held[place]
            if fewer if renamed is None else is_behind(renamed, known):
                missing[who] = renamed
        # Under its old name again: that is the held one, and missing as such.
        again = set(map(id, missing.values()))
        behind: dict[Identity, GameReport | None] = {
            who: game
            for who, game in named.items()
            if (who in self._held or (who in self._gone and id(game) not in again))
            and is_behind(game, self._known_game(who), cut=who in cut)
        }
        losses = Counter(self._places.get(who) for who in (*missing, *behind))
        lost: dict[Identity, tuple[GameReport | None, float]] = {}
        for who, less in {**missing, **behind}.items():
            place = self._places.get(who)
            alone = less is not None and less.moves and losses[place] == 1
            lasts_s = self._lost_after_s
            if alone and who in behind and place in whole and not self._catching_up:
                lasts_s = 0.0 if whole[place].stands else self._copies_s
            if lasts_s:
                lost[who] = less, lasts_s
        return lost

    def _known_game(self, who: Identity) -> GameReport:
        """Return the game as it was believed last."""
        return self._held[who] if who in self._held else self._gone[who][0]()


_decode = msgspec.msgpack.Decoder(GameReport).decode


def _pack_game(game: GameReport) -> Callable[[], GameReport]:
    """Return a function that gives the game again, and holds a twentieth of it: round
    after round goes.
    """
    packed = zlib.compress(msgspec.msgpack.encode(game), 1)
    return lambda: _decode(zlib.decompress(packed))


def _lookup_keys(game: GameReport) -> list[tuple[str, ...]]:
    """Return what shows that a game under another name is the same one: how it began,
    and for how long where no player's name is the same.
    """
    line, headers = (game.start_fen, *(move.uci for move in game.moves)), game.headers
    marks = [line[: PROOF_PLIES + 1]] if len(game.moves) >= PROOF_PLIES else []
    if len(game.moves) >= SEATED_PLIES:
        place = (headers.event, headers.round, *line[: SEATED_PLIES + 1])
        marks += [(player.name, *place) for player in (headers.white, headers.black)]
    return marks


def is_behind(
    now: GameReport, before: GameReport, *, cut: bool = False, corrected: int = 0
) -> bool:
    """Return whether ``now`` is the same game with its last moves or its result gone,
    and no new result that would explain it. Of a game that is ``cut`` no result
    explains anything: its tag is written first. So many of its last plies may have been
    ``corrected`` since.
    """
    # The text may be cut in the last move's clock: what was played is what counts.
    fewer = len(now.moves) < len(before.moves)
    withdrawn = now.result == "*" != before.result and len(now.moves) == len(
        before.moves
    )
    return (
        (fewer or withdrawn)
        and (cut or now.result in ("*", before.result))
        and now.headers.variant == before.headers.variant
        and STANDS not in (now.problem or "")
        and is_same_line(now, before, corrected)
    )


def _mark_doubtful(game: GameReport) -> GameReport:
    # A game that is over loses nothing.
    if game.problem is not None or game.result != "*":
        return game
    return replace(game, problem=LESS)


def _keep_broken_off(game: GameReport) -> GameReport:
    """Return the game as one whose line, and result, may stand in the part that is not
    there.
    """
    return replace(game, problem="its text breaks off", unread=("moves", "result"))


#: A page may be an old copy, from a cache: a move taken back there is believed after so
#: long.
FIRST_COPY_S = 10.0
#: Texts remembered to recognise old copies by.
MAX_COPIES = 256


class PgnText:
    """One text that somebody else writes, and its games."""

    def __init__(
        self, name: FeedName, conditions: FeedConditions, *, cached: bool = False
    ) -> None:
        """``cached``: caches stand between us and who writes it, and may give old
        copies.
        """
        self._name = name
        self._cached = cached
        self._config = conditions.config
        self._copies_s = min(FIRST_COPY_S, self._config.lost_after_s)
        self._replaced: dict[int, None] = {}
        """Texts that a newer one has replaced, by their hash."""
        self._again_s: float | None = None
        """Since when one of them comes again."""
        self._stands = False
        self._clock = conditions.clock
        self._charset = ""
        self._guessed = ""
        """The charset, where nobody has named it."""
        self._reader = PgnReader()
        self._text = b""
        self._since_s = self._clock.now()
        self._closed = False
        """Read as a text that nobody is writing any more."""
        self._games: GameReports = ()
        self._repeated = 0  # games that it holds a second time

    async def take_text(self, text: bytes, content_type: str = "") -> bool:
        """Read the text as it is now; return False where it is left alone as an old
        copy.

        Raises :class:`FeedTrouble` when it is not PGN.
        """
        if what := describe_no_pgn(text[:HEAD_BYTES], content_type):
            remedy = suggest_source(self._name)
            reason = f"the source sends {what}; {remedy}"
            remedy = f"{remedy[:1].upper()}{remedy[1:]}"
            raise create_fatal_trouble(self._name, f"holds {what}", remedy, reason)
        if self._cached and self._is_outdated(text):
            return False
        named = self._config.charset or read_charset(content_type)
        charset = named or guess_charset(text)
        self._guessed = "" if named else charset
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
        """Return whether to leave this text alone as an old copy. A move taken back
        gives such a text, too, but that stays; and for longer than where caches were
        seen to take turns.
        """
        again, now_s = hash(text) in self._replaced, self._clock.now()
        if again:
            self._again_s = now_s if self._again_s is None else self._again_s
            if now_s - self._again_s < self._copies_s:
                return True
        elif self._again_s is not None:
            self._copies_s = self._config.lost_after_s
        self._again_s = None
        if text == self._text:
            return False
        self._stands = again
        self._replaced.pop(hash(text), None)
        self._replaced[hash(self._text)] = None
        if len(self._replaced) > MAX_COPIES:
            del self._replaced[next(iter(self._replaced))]
        return False

    async def build_reading(self, looked_s: float) -> TextReading:
        """Return what the text holds, the source having been looked at from
        ``looked_s`` on.
        """
        # What was read once, however long ago, has not stood still.
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
            # Beyond our bound a game that is not there may still be there.
            complete=not self._reader.left_out,
            stands=self._stands,
            settles_s=settles_s,
            name=self._name,
        )

    @property
    def note(self) -> str:
        """What people should know of a text that is read all the same; empty for
        nothing.
        """
        notes = self._reader.notes
        if self._guessed:
            notes.append(f"charset guessed: {self._guessed}")
        if self._reader.left_out:
            more = f"{self._reader.left_out} more left out"
            notes.append(f"{more}, since so many are read at most")
        if self._repeated:
            notes.append(f"{self._repeated} in it twice, counted once")
        return "; ".join(notes)

    async def _read_text(self) -> None:
        games = await LoopSlices().run(
            self._reader.read_in_pieces(self._text, closed=self._closed)
        )
        self._games = drop_repeated_games(games)
        self._repeated = len(games) - len(self._games)


class PgnSnapshots:
    """What the texts of a source hold, as far as it is believed. Kept over reconnects.

    What games of a former run have lost is doubted as anything else that a text loses.
    """

    def __init__(self, conditions: FeedConditions, *, cached: bool = False) -> None:
        """``cached``: caches stand between us and who writes it, and may give old
        copies.
        """
        self._clock = conditions.clock
        self._lost_after_s = conditions.config.lost_after_s
        self._copies_s = min(FIRST_COPY_S, self._lost_after_s) if cached else 0.0
        self._filter: PartialReadFilter | None = None

    def confirm_texts(
        self,
        readings: Iterable[TextReading],
        session: FeedSession,
        notes: Iterable[str] = (),
    ) -> Poll:
        """Return the games of all texts of a source together, to be polled again where
        something was not believed yet. ``notes`` are shown beside the number of games.
        """
        if self._filter is None:
            before = session.sink.known_games(session.name)
            self._filter = PartialReadFilter(
                self._lost_after_s, before, copies_s=self._copies_s
            )
        return self._filter.confirm_games(readings, self._clock.now(), notes)


_CHARSET = re.compile(r"\bcharset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)


def read_charset(content_type: str) -> str:
    """Return the ``charset`` that a Content-Type header names, lower case; empty when
    it names none.

    ISO 8859-1 counts as none: it is what servers say of every text they know nothing
    about, and Windows-1252 reads it too.
    """
    named = _CHARSET.search(content_type)
    charset = named[1].lower() if named else ""
    return (
        ""
        if charset in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "utf-8")
        else charset
    )


def _describe_kept(boards: int) -> str:
    """Return how many finished boards are kept although their source has less of
    them.
    """
    if not boards:
        return ""
    what = "1 finished board is" if boards == 1 else f"{boards} finished boards are"
    return f"{what} missing or shorter just now, and kept"
