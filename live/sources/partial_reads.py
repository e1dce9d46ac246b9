"""Filter for texts that are read again and again: a file being written, a polled page.
It decides which losses of moves and games are real. No I/O.

Unreadable parts of a text are handled in :mod:`live.sources.kept_moves`; this module is
about readable texts.

A file can be read while it is being uploaded: its last game is then incomplete, and
later games are missing. If that were accepted at once, it would look like a takeback
and a dozen vanished boards, all of which return a second later. So every loss, compared
with the previous reading, is in doubt: the board stays as it was, marked as doubtful,
until the loss has been seen for a minute and in at least three readings. (Guides for
organisers prescribe upload by FTP.) A game that was accepted as lost, and returns
within ten minutes with fewer moves, is doubted in the same way. New moves and games are
accepted at once, and so is a takeback on one board of a text that is otherwise whole.

If a text was whole before and now breaks off, its end is unknown, however long that
lasts: its last game keeps its moves.
"""

import math
import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence, Set
from functools import partial
from itertools import chain
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from live.messages.from_sources import NO_LONGER, STANDS, GameReport, GameReports
from live.messages.values import Value
from live.sources.feed_session import FeedConditions, FeedSession, Poll
from live.sources.game_identity import (
    Identified,
    Identity,
    identify_games,
    is_same_line,
)
from live.sources.kept_moves import LESS, keep_unread

#: Least number of readings in which a loss must be seen before it is accepted.
LEAST_READINGS = 3
#: Time after which a move withdrawn on a web page is accepted, seconds: until then the
#: page might be an old copy from a cache.
FIRST_COPY_S = 10.0
#: Greatest number of lost games remembered, and the time for which they are remembered,
#: seconds. An upload takes less time.
MAX_GONE = 1000
GONE_S = 600.0
#: Number of equal plies that prove that a missing game has been renamed.
PROOF_PLIES = 20
#: Number of equal plies that prove that a missing game has been renamed, if a player,
#: the event and the round are the same.
SEATED_PLIES = 4


class TextReading(Value):
    """Last reading of a text."""

    games: GameReports
    whole: bool = True
    """Whether the text ends with the result of its last game."""
    closed: bool = False
    """Whether the text has not changed for a moment. Even then it might not be whole:
    an upload can pause.
    """
    complete: bool = True
    """Whether all games of the text were read."""
    is_settled: bool = False
    """Whether the text equals an earlier one, but has been read for so long that it is
    not an old copy from a cache.
    """
    settles_s: float | None = None
    """Seconds after which to read the text again: by then it might have been unchanged
    for long enough.
    """
    name: str = ""
    """Name that distinguishes the text from the source's other texts."""


class _Loss(msgspec.Struct):
    """A loss in one game, and the clock time since which it exists."""

    now: GameReport | None
    """The game as the source now has it; None if it is missing."""
    since_s: float
    readings: int = 0


class _Doubts(NamedTuple):
    """Losses that a comparison found and that are not accepted yet."""

    games: Identified
    """Games whose loss is in doubt, as they were before."""
    broken_off: Identified
    """Games at the broken end of a text, with the moves known before."""
    twins: set[int]
    """Object ids of games that must not appear a second time, since each is a game in
    doubt under its new name.
    """
    waits_s: list[float]
    """Seconds until each loss in doubt has lasted long enough to be accepted."""


class PartialReadFilter:
    """Filter that keeps lost moves and games until the loss has lasted for
    ``lost_after_s`` seconds.
    """

    def __init__(
        self,
        lost_after_s: float,
        before: Sequence[GameReport] = (),
        *,
        copies_s: float = 0.0,
    ) -> None:
        """Create the filter.

        Args:
            lost_after_s: time after which a loss is accepted, seconds.
            before: games shown when the service last stopped.
            copies_s: time after which a loss on a single board is accepted, seconds;
                more than 0 if a text might be an old copy from a cache. After a loss
                that turned out to be temporary, ``lost_after_s`` is used instead.
        """
        self._lost_after_s = lost_after_s
        self._copies_s = copies_s
        former = dict(zip(identify_games(before), before, strict=True))
        # Games that had ended or were gone in the earlier run do not count as lost if
        # they are missing.
        past = {
            identity
            for identity, game in former.items()
            if game.result != "*" or (game.problem or "").startswith(NO_LONGER)
        }
        self._accepted = {
            identity: game for identity, game in former.items() if identity not in past
        }
        self._catching_up = bool(before)
        """Whether games of the earlier run might still be missing. Until they are back,
        every loss is in doubt.
        """
        self._endless: set[Identity] = set()
        """Games that were accepted although they are at the end of a text that breaks
        off: its writer might never write an end.
        """
        self._places: dict[Identity, str] = {}
        """Name of the text in which each game was last seen, by the game's identity;
        games of an earlier run are missing.
        """
        self._losses: dict[Identity, _Loss] = {}
        # Games whose loss was accepted, and finished games of an earlier run, by
        # identity. They might return half-written. Each has a function that returns the
        # game, and the clock time of its loss (infinity before the first reading).
        self._gone: dict[Identity, tuple[Callable[[], GameReport], float]] = {
            identity: (partial(replace, former[identity], problem=None), math.inf)
            for identity in past
        }

    def confirm_games(
        self, readings: Iterable[TextReading], now_s: float, notes: Iterable[str] = ()
    ) -> Poll:
        """Compare all texts of the source with the previous readings, and return the
        accepted games. Takes O(games). ``notes`` are further messages for people about
        the texts.
        """
        readings = list(readings)
        identified, cut = self._identify_games(readings)
        false_boards = [
            identity
            for identity in cut
            if self._is_false_new_board(identity, identified, cut)
        ]
        for identity in false_boards:
            del identified[identity]
        complete = not false_boards and all(reading.complete for reading in readings)
        whole = {reading.name: reading for reading in readings if reading.whole}
        lost = self._find_lost(identified, whole, cut)
        losses_before = self._losses
        doubts = self._keep_doubted_losses(lost, identified, cut, now_s)
        if self._copies_s:
            self._notice_old_copies(losses_before.keys() - lost.keys(), identified)
        believed = {
            identity: game
            for identity, game in identified.items()
            if id(game) not in doubts.twins
        }
        believed |= doubts.broken_off | doubts.games
        self._remember_gone(believed, now_s)
        self._accepted = believed
        unconfirmed = doubts.games.keys() | doubts.broken_off.keys()
        self._endless = believed.keys() & (
            (self._endless & unconfirmed) | (cut.keys() - unconfirmed)
        )
        self._places = {
            identity: place
            for identity, place in self._places.items()
            if identity in believed
        }
        self._catching_up &= bool(doubts.games) or not complete
        # If answers can come from caches, a loss is not marked at its first reading:
        # alternating caches would mark a board at every second reading.
        unmarked_readings = 1 if self._copies_s else 0
        marked = {
            identity: _mark_doubtful(believed[identity])
            for identity, loss in self._losses.items()
            if loss.readings > unmarked_readings
        }
        # Finished games are not marked as doubtful, so the note reports them.
        unmarked = sum(game.result != "*" for game in marked.values())
        note = "; ".join(filter(None, [_describe_kept(unmarked), *notes]))
        waits_s = [
            reading.settles_s for reading in readings if reading.settles_s is not None
        ]
        again_in_s = min([*waits_s, *doubts.waits_s], default=None)
        return Poll(tuple((believed | marked).values()), complete, again_in_s, note)

    def _keep_doubted_losses(
        self,
        lost: dict[Identity, tuple[GameReport | None, float]],
        identified: Identified,
        cut: Container[Identity],
        now_s: float,
    ) -> _Doubts:
        """Record the losses of this comparison. Return the games whose loss is doubted,
        that is, not accepted yet.
        """
        doubts = _Doubts({}, {}, set(), [])
        before = self._losses
        self._losses = {}
        for identity, (now, lasts_s) in lost.items():
            loss = before.get(identity)
            if loss is None or loss.now != now:
                loss = _Loss(now, now_s)
            loss.readings += 1
            wait_s = loss.since_s + lasts_s - now_s
            if wait_s > 0 or loss.readings < LEAST_READINGS:
                doubts.waits_s.append(max(wait_s, 0.0))
                doubts.games[identity] = self._known_game(identity)
                self._losses[identity] = loss
                if identity not in identified:
                    doubts.twins.add(id(now))
            elif (
                identity in cut
                and identity in self._accepted
                and identity not in self._endless
            ):
                doubts.broken_off[identity] = keep_unread(
                    _mark_broken_off(identified[identity]), self._accepted[identity]
                )
        return doubts

    def _notice_old_copies(
        self, recovered: Set[Identity], identified: Identified
    ) -> None:
        """Wait longer from now on if a loss was temporary: then the text with the loss
        was an old copy. ``recovered`` are games that are not lost any more.
        """
        for identity in recovered & identified.keys() & self._accepted.keys():
            moves = self._accepted[identity].moves
            if identified[identity].moves[: len(moves)] == moves:
                self._copies_s = self._lost_after_s

    def _identify_games(
        self, readings: Iterable[TextReading]
    ) -> tuple[Identified, dict[Identity, bool]]:
        """Return two mappings, and record which text each game is in.

        The first holds all games; their unread parts are filled from the games accepted
        before. The second holds the last game of each text that breaks off, and whether
        that text has stopped changing.
        """
        identified: Identified = {}
        cut: dict[Identity, bool] = {}
        games = list(chain.from_iterable(reading.games for reading in readings))
        in_order = iter(identify_games(games))
        for reading in readings:
            for game in reading.games:
                identity = next(in_order)
                identified[identity] = keep_unread(
                    game, self._accepted.get(identity, game)
                )
                self._places[identity] = reading.name
            if reading.games and not reading.whole:
                cut[identity] = reading.closed
        return identified, cut

    def _is_false_new_board(
        self, identity: Identity, identified: Identified, cut: dict[Identity, bool]
    ) -> bool:
        """Return whether an incomplete game only appears to be new because part of its
        headers is missing. It would be shown as a second board.
        """
        if identity in self._accepted:
            return False
        has_half_headers = not cut[identity] and not identified[identity].moves
        return has_half_headers or self._may_be_renamed_copy(
            identified[identity], identified
        )

    def _remember_gone(self, believed: Container[Identity], now_s: float) -> None:
        """Remember games whose loss was accepted, each for a limited time."""
        remembered = {}
        for identity, (unpack_game, lost_s) in self._gone.items():
            since_s = min(lost_s, now_s)
            if identity not in believed and now_s - since_s < GONE_S:
                remembered[identity] = (unpack_game, since_s)
        for identity, game in self._accepted.items():
            if identity not in believed:
                remembered[identity] = (_pack_game(game), now_s)
        self._gone = dict(list(remembered.items())[-MAX_GONE:])

    def _may_be_renamed_copy(
        self, last: GameReport, identified: Container[Identity]
    ) -> bool:
        """Return whether the last game of a text might be a known game with another
        name, as far as it can be read.
        """
        new = last.headers
        return any(
            {new.white.name, new.black.name} & {old.white.name, old.black.name}
            and (new.event, new.round) == (old.event, old.round)
            and len(last.moves) < len(before.moves)
            and is_same_line(last, before)
            for identity, before in self._accepted.items()
            if identity not in identified and (old := before.headers)
        )

    def _find_lost(
        self,
        identified: Identified,
        whole: dict[str, TextReading],
        cut: Container[Identity],
    ) -> dict[Identity, tuple[GameReport | None, float]]:
        """Return the losses that must not be accepted at once. For each game: the game
        as it is now (None if missing), and the seconds after which the loss is
        accepted. Each text is judged separately: boards in different files can have
        takebacks at the same time.
        """
        counts_before = Counter(
            self._places.get(identity) for identity in self._accepted
        )
        # A lost game that has returned does not replace another game.
        counts = Counter(
            self._places[identity]
            for identity in identified
            if identity not in self._gone
        )
        new = {}
        for identity, game in identified.items():
            if identity not in self._accepted:
                new.update(dict.fromkeys(_lookup_keys(game), game))
        missing: dict[Identity, GameReport | None] = {}
        for identity, known_game in self._accepted.items():
            if identity in identified:
                continue
            keys = [key for key in _lookup_keys(known_game) if key in new]
            renamed = new[keys[0]] if keys else None
            # If the number of games is the same, games were renamed or reordered, or
            # the next round has begun. A game that has another name and fewer moves is
            # from an old copy, made before the name was corrected.
            place = self._places.get(identity)
            if place is None:
                is_fewer = counts.total() < len(self._accepted)
            else:
                is_fewer = place not in whole or counts[place] < counts_before[place]
            if is_fewer if renamed is None else is_behind(renamed, known_game):
                missing[identity] = renamed
        # A game that has its old name again is the missing game, and already recorded
        # as such.
        renamed_ids = set(map(id, missing.values()))
        behind: dict[Identity, GameReport | None] = {
            identity: game
            for identity, game in identified.items()
            if (
                identity in self._accepted
                or (identity in self._gone and id(game) not in renamed_ids)
            )
            and is_behind(game, self._known_game(identity), cut=identity in cut)
        }
        losses = Counter(self._places.get(identity) for identity in (*missing, *behind))
        lost: dict[Identity, tuple[GameReport | None, float]] = {}
        for identity, shortened in {**missing, **behind}.items():
            place = self._places.get(identity)
            is_single_loss = (
                shortened is not None and shortened.moves and losses[place] == 1
            )
            lasts_s = self._lost_after_s
            if (
                is_single_loss
                and identity in behind
                and place in whole
                and not self._catching_up
            ):
                lasts_s = 0.0 if whole[place].is_settled else self._copies_s
            if lasts_s:
                lost[identity] = shortened, lasts_s
        return lost

    def _known_game(self, identity: Identity) -> GameReport:
        """Return the game as it was last accepted."""
        return (
            self._accepted[identity]
            if identity in self._accepted
            else self._gone[identity][0]()
        )


def create_partial_read_filter(
    session: FeedSession, conditions: FeedConditions, *, cached: bool = False
) -> PartialReadFilter:
    """Return the filter for the texts of a source. It also doubts losses in games of an
    earlier run. ``cached`` means that answers can come from caches, which might return
    old copies.
    """
    lost_after_s = conditions.config.lost_after_s
    return PartialReadFilter(
        lost_after_s,
        session.sink.known_games(session.name),
        copies_s=min(FIRST_COPY_S, lost_after_s) if cached else 0.0,
    )


_decode = msgspec.msgpack.Decoder(GameReport).decode


def _pack_game(game: GameReport) -> Callable[[], GameReport]:
    """Return a function that returns the game. It holds the game in compressed form, a
    twentieth of its size, since games of every round are remembered.
    """
    packed = zlib.compress(msgspec.msgpack.encode(game), 1)
    return lambda: _decode(zlib.decompress(packed))


def _lookup_keys(game: GameReport) -> list[tuple[str, ...]]:
    """Return keys by which a game is recognised under another name: its first moves. If
    a player, event and round are the same, fewer moves are enough.
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
    """Return whether ``now`` is the game ``before`` without its last moves or its
    result, and without a new result that would explain the loss.

    ``cut`` means that the text breaks off in this game; then no result explains a loss,
    since the result tag is written first. The last ``corrected`` plies can differ.
    """
    # Compare moves, not clocks: the text might be cut off inside the last clock.
    is_shorter = len(now.moves) < len(before.moves)
    withdrawn = now.result == "*" != before.result and len(now.moves) == len(
        before.moves
    )
    return (
        (is_shorter or withdrawn)
        and (cut or now.result in ("*", before.result))
        and now.headers.variant == before.headers.variant
        and STANDS not in (now.problem or "")
        and is_same_line(now, before, corrected)
    )


def _mark_doubtful(game: GameReport) -> GameReport:
    # A finished game keeps its moves in any case, so it is not marked.
    if game.problem is not None or game.result != "*":
        return game
    return replace(game, problem=LESS)


def _mark_broken_off(game: GameReport) -> GameReport:
    """Return the game marked as cut off, so that its missing moves and result are
    unknown.
    """
    return replace(game, problem="its text breaks off", unread=("moves", "result"))


def _describe_kept(boards: int) -> str:
    """Return a message about the number of finished boards that are kept although the
    source now has less of them; empty if there are none.
    """
    if not boards:
        return ""
    subject = "1 finished board is" if boards == 1 else f"{boards} finished boards are"
    return f"{subject} missing or shorter in the source now; shown as before"
