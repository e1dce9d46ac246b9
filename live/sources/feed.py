"""The contract of a source, and the runner that follows one until it is over.

A source is polled: :meth:`PolledFeed.poll` returns a :class:`Poll`, what the source
holds now. Or it is streamed: :meth:`SessionFeed._follow_source` hands what comes to
:meth:`FeedSession.report`. Either raises :class:`FeedTrouble` for what ends a
connection. Retry, health, staleness and the grace period after the last result are the
runner's alone, so no source can bring the service down.

Loss policy feed → game: lossless. A report is a whole game, so a missed one is healed
by the next; ``FeedSink.report`` waits when the consumer is busy, so nothing is dropped
here.
"""

import asyncio
import logging
import random
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from live.errors import FeedError
from live.messages.from_sources import FeedReport, GameReport, GameReports
from live.messages.health import FeedHealth, FeedState
from live.messages.values import FeedName
from live.process.backoff import Chance, format_duration, generate_backoff_s
from live.process.clock import LOOP_CLOCK, Clock
from live.settings import FeedsConfig
from live.sources.game_identity import Identity, identify_games
from live.sources.retry import FeedTrouble


class FeedSink(Protocol):
    """Where a source puts what it learns."""

    async def report(self, report: FeedReport) -> None:
        """Hand over games; waits while the consumer is behind. Cancel-safe."""

    async def wait_until_rated(self) -> None:
        """Return once all that was reported is rated. Games that are being played wait
        for nobody; a replay that would run ahead of its figures does.
        """

    def known_games(self, feed: FeedName) -> Sequence[GameReport]:
        """Return the games of this source as they stood when the service ended; none
        before its first run.
        """

    def health(self, health: FeedHealth) -> None:
        """Say how the source is doing; only changes of state or detail are worth
        saying.
        """


class Feed(Protocol):
    """One followed source.

    ``run`` returns when the source is over (end of input, every game finished and the
    source said so), having reported health ``finished``; one that lasts says
    ``finished`` and looks on, since the next round may come from it. What is not there
    yet (404, 401, a page that is not PGN, a name that does not resolve) is health
    ``waiting`` and asked for again; what fails after its first report is health
    ``retrying``. Only where nobody waits (``--once``, a look) does a source that cannot
    be followed raise :class:`live.errors.FeedError`.
    """

    name: FeedName
    """What people call it: the ``--feed`` text without secrets."""

    async def run(self, sink: FeedSink) -> None: ...


def describe_failure(feed: FeedName, error: FeedError) -> FeedHealth:
    """Return what is shown of a source that cannot be followed; its name stands beside
    it already.
    """
    return FeedHealth(feed, "failed", str(error).removeprefix(f"{feed}: "))


log = logging.getLogger(__name__)

#: Stands between what is wrong and when it is tried again.
RETRY = ", trying again in "
#: What is not there yet is asked for again after so long at the soonest: lila does the
#: same.
WAITING_S = 10.0
#: A source that worked within so many seconds is asked again after :data:`SOON_S` at
#: the latest: one bad answer of a cache must not cost half a minute of moves.
RECENT_S = 600.0
SOON_S = 10.0
#: How often a page or a service is asked whether the next round has come, where all is
#: over.
RESTING_S = 30.0


@dataclass(frozen=True)
class FeedConditions:
    """What every source works under: settings, time and chance."""

    config: FeedsConfig
    clock: Clock = LOOP_CLOCK
    random: Chance = random.random
    """For the first wait before a reconnect."""
    passing: bool = False
    """Only a look: nothing is left behind at the source, and nobody who follows it is
    disturbed.
    """
    lasting: bool = False
    """What is not there yet is waited for, and no answer ends the following. A source
    whose games are all over is shown as finished and looked at all the same: the next
    round may come from it. Otherwise its following ends.
    """


class Poll(NamedTuple):
    """What one poll of a source found."""

    games: Sequence[GameReport] = ()
    complete: bool = False
    """These are all the games that it has."""
    again_in_s: float | None = None
    """It may have more than this: poll it again after so many seconds at the latest,
    and do not take it for over.
    """
    note: str = ""
    """What people should know of a source that works: boards that fail, games left
    out.
    """
    trouble: Exception | None = None
    """What ended the connection, or asks for fewer requests: raised once the games are
    reported.
    """
    heard_s: float | None = None
    """Where this poll got no answer and so has no games: when the source answered last,
    clock time.
    """


class WrongBoard(NamedTuple):
    """A board of a source, and what could not be read of it."""

    name: str
    problem: str


#: Boards that are named of one problem, and problems, where a source has more of them.
MOST_NAMED = 5


def describe_wrong_boards(wrong: Iterable[WrongBoard]) -> str:
    """Return which boards of a source have a problem, for people: ``board 2, board 4:
    …``.
    """
    boards: defaultdict[str, list[str]] = defaultdict(list)
    for each in wrong:
        boards[each.problem].append(each.name)
    texts = []
    for problem, names in list(boards.items())[:MOST_NAMED]:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        texts.append(f"{', '.join(names[:MOST_NAMED])}{more}: {problem}")
    if len(boards) > MOST_NAMED:
        left = sum(map(len, list(boards.values())[MOST_NAMED:]))
        texts.append(f"{left} more boards with other problems")
    return "; ".join(texts)


def _name_board(game: GameReport) -> str:
    """Return what people call the board: its number, else its players, else its key."""
    headers = game.headers
    if headers.board is not None:
        return f"board {headers.board}"
    names = (headers.white.name, headers.black.name)
    return game.key if game.key and "?" in names else " - ".join(names)


def _is_ended_illegally(game: GameReport) -> bool:
    """Return whether the game is over but for an illegal move: kings that are set in
    the centre are no trouble of the source.
    """
    return game.result != "*" and (game.problem or "").startswith("illegal move")


class FeedSession:
    """Reports and health of one source, each said once; just enough of its games to see
    change and end.
    """

    def __init__(
        self, name: FeedName, sink: FeedSink, conditions: FeedConditions
    ) -> None:
        self.name = name
        self.sink = sink
        self.reported = False
        """Something was reported: from now on no trouble is fatal."""
        self.changed_s = conditions.clock.now()
        """Clock time of the last change to any game."""
        self.heard_s = float("-inf")
        """When the source answered last as it should."""
        self.note = ""
        """What people should know of a source that works: boards that fail, games left
        out.
        """
        self._polled: tuple[GameReports, bool] | None = None
        self._games: dict[Identity, tuple[object, ...]] = {}
        self._wrong: dict[Identity, WrongBoard] = {}
        self._clock = conditions.clock
        self._config = conditions.config
        self._lasting = conditions.lasting
        self._health: FeedHealth | None = None

    @property
    def games_text(self) -> str:
        """How many games there are, for people."""
        count = len(self._games)
        return f"{count} game{'s' if count != 1 else ''}"

    def _note_games(self, games: Iterable[GameReport], *, complete: bool) -> None:
        """Note games as they are now, O(1) a game: a change in the middle of a game
        that leaves its length, last move, result and headers as they are is no news
        here.
        """
        games = list(games)
        if not complete:
            # A stream that catches up has several states of one game at once.
            games = list(
                {game.key or place: game for place, game in enumerate(games)}.values()
            )
        seen: dict[Identity, tuple[object, ...]] = {
            who: (game.result, len(game.moves), game.moves[-1:], game.headers)
            for who, game in zip(identify_games(games), games, strict=True)
        }
        wrong = {
            who: WrongBoard(_name_board(game), game.problem)
            for who, game in zip(seen, games, strict=True)
            if game.problem is not None and not _is_ended_illegally(game)
        }
        if not complete:
            still = {who: each for who, each in self._wrong.items() if who not in seen}
            wrong = still | wrong
        self._wrong = wrong
        after = seen if complete else self._games | seen
        if after != self._games:
            self.changed_s = self._clock.now()
        self._games = after

    def remember_games(self, games: Iterable[GameReport]) -> None:
        """Count games of a former run: while one of them goes on, the source is not
        over.
        """
        self._note_games(games, complete=False)

    def report_health(self, state: FeedState, detail: str = "") -> None:
        """Report health, unless it was the last thing said."""
        if state in ("live", "stale", "finished"):
            notes = [detail, self.note, describe_wrong_boards(self._wrong.values())]
            detail = "; ".join(filter(None, notes))
        health = FeedHealth(self.name, state, detail)
        if health != self._health:
            self._health = health
            self.sink.health(health)

    async def report(
        self, games: Sequence[GameReport], *, complete: bool = False
    ) -> None:
        """Hand games over and count them as a sign of life. Waits while the consumer is
        behind.
        """
        if games or complete:
            self._note_games(games, complete=complete)
            self.reported = True
            await self.sink.report(FeedReport(self.name, tuple(games), complete))
        self.mark_alive()

    async def report_poll(self, poll: Poll) -> None:
        """Report what a poll found; the same as last time is a sign of life only."""
        self.note = poll.note
        if poll.heard_s is not None:
            self._report_state(poll.heard_s)
            return
        polled = (tuple(poll.games), poll.complete)
        if polled == self._polled:
            self.mark_alive()
        else:
            await self.report(poll.games, complete=poll.complete)
            self._polled = polled

    def mark_alive(self) -> None:
        """Note that the source answered just now, and report its state."""
        self._report_state(self._clock.now())

    def _report_state(self, heard_s: float) -> None:
        """Report ``live``, or ``stale`` when the games stand still for long; the source
        answered at ``heard_s``.
        """
        self.heard_s = max(self.heard_s, heard_s)
        still_s = self._clock.now() - self.changed_s
        running = any(
            result == "*" and plies for result, plies, *_ in self._games.values()
        )
        if not self._games:
            self.report_health("live", "no games yet")
        elif running and still_s >= self._config.stale_after_s:
            self.report_health("stale", f"nothing new for {format_duration(still_s)}")
        else:
            self.report_health("finished" if self.is_idle else "live", self.games_text)

    def ends_in_s(self) -> float | None:
        """Return the seconds until the source counts as over; None while a game is
        unfinished.

        All results are in and nothing has changed for the grace period: a result is
        often entered before the last moves arrive, and wrong ones are mended at once.
        """
        if not self._games or any(result == "*" for result, *_ in self._games.values()):
            return None
        return max(
            0.0, self.changed_s + self._config.finish_after_s - self._clock.now()
        )

    def earliest_wait_s(self, *waits_s: float | None) -> float:
        """Return the shortest of some waits and the time until the source is over, if
        it is not yet; at least one is not None.
        """
        ends_in_s = None if self._has_ended else self.ends_in_s()
        return min(each for each in (*waits_s, ends_in_s) if each is not None)

    @property
    def is_over(self) -> bool:
        """Everything was reported, and following the source may end."""
        return not self._lasting and self._has_ended

    @property
    def is_idle(self) -> bool:
        """Everything was reported, but the next round may come: check now and then."""
        return self._lasting and self._has_ended

    @property
    def _has_ended(self) -> bool:
        left_s = self.ends_in_s()
        # A deadline may fire a clock tick early, and sums of seconds are not exact.
        return left_s is not None and left_s < 0.1


class SessionFeed(ABC):
    """A source that is followed session by session: what :class:`Feed` is for every
    kind.
    """

    def __init__(self, name: FeedName, conditions: FeedConditions) -> None:
        self.name = name
        self._conditions = conditions
        self._clock, self._config = conditions.clock, conditions.config

    async def run(self, sink: FeedSink) -> None:
        """Follow a source until it is over, whatever happens.

        Raises :class:`FeedError` only for fatal trouble before the first report, and
        not where what is not there yet is waited for. A fault in our own code is logged
        and treated like a lost connection: other feeds must not suffer from it.

        Waits start small again after a session that worked for longer than was waited
        for it: a source that answers and hangs up at once is asked ever more rarely,
        too.
        """
        session = FeedSession(self.name, sink, self._conditions)
        clock, lasting = self._clock, self._conditions.lasting
        session.report_health("connecting")
        delays = generate_backoff_s(self._conditions.random)
        wait_s = 0.0
        while True:
            before_s, begun_s = session.heard_s, clock.now()
            try:
                await self._follow_source(session)
            except FeedTrouble as error:
                trouble = error
            except FeedError as error:
                trouble = FeedTrouble(error.problem, fatal=error)
            except Exception as error:
                log.exception("feed %s: fault in its reader", session.name)
                name = type(error).__name__
                trouble = FeedTrouble(f"fault in our reader of this source ({name})")
            else:
                session.report_health("finished", session.games_text)
                return
            if trouble.fatal is not None and not session.reported and not lasting:
                session.report_health("failed", trouble.reason)
                raise trouble.fatal from trouble
            if session.heard_s != before_s and clock.now() - begun_s > wait_s:
                delays = generate_backoff_s(self._conditions.random)
            wait_s = next(delays)
            waits = lasting and not session.reported
            if waits:
                wait_s = max(wait_s, WAITING_S)
            elif clock.now() - session.heard_s < RECENT_S:
                wait_s = min(wait_s, SOON_S)
            wait_s = max(wait_s, trouble.wait_s)
            what = f"{trouble.reason}{RETRY}{format_duration(wait_s)}"
            session.report_health("waiting" if waits else "retrying", what)
            await clock.sleep(wait_s)

    @abstractmethod
    async def _follow_source(self, session: FeedSession) -> None:
        """Follow the source for one session: return when it is over, or raise what
        ended it.
        """


class PolledFeed(SessionFeed):
    """A source that is asked what it holds, again and again."""

    _news: asyncio.Event | None = None
    """Set when the source has news itself; None for one that never says so."""

    async def _follow_source(self, session: FeedSession) -> None:
        async with self._connect():
            while True:
                poll = await self.poll(session)
                again_in_s = None
                if poll is not None:
                    await session.report_poll(poll)
                    again_in_s = poll.again_in_s
                    if poll.trouble is not None:
                        raise poll.trouble
                    if session.is_over and again_in_s is None:
                        return
                period_s = self._poll_period_s(session)
                wait_s = session.earliest_wait_s(period_s, again_in_s)
                await self._wait(wait_s or period_s)

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[None]:
        """Hold open what polls need, for the block. Raises FeedTrouble."""
        yield

    @abstractmethod
    async def poll(self, session: FeedSession) -> Poll | None:
        """Return what the source holds now; None where it is not there. Raises
        FeedTrouble.
        """

    def _poll_period_s(self, session: FeedSession) -> float:
        """Return the seconds between two polls where nothing speaks for fewer."""
        return self._config.poll_s

    async def _wait(self, wait_s: float) -> None:
        """Wait for so many seconds, or until the source has news."""
        if self._news is None:
            await self._clock.sleep(wait_s)
            return
        with suppress(TimeoutError):
            async with self._clock.deadline(wait_s):
                await self._news.wait()
        self._news.clear()
