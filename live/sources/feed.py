"""The base classes of sources, which follow a source until it ends.

A polled source implements :meth:`PolledFeed.poll`, which returns the source's present
games as a :class:`Poll`. A streamed source implements :meth:`Feed._follow_source`,
which passes each update to :meth:`FeedSession.report`. Each raises
:class:`FeedTrouble` when a connection has to end.

Only the base classes handle retries, and only the session handles staleness and the
grace period after the last result. :meth:`Feed.run` reports whether the source is
reached, the session what its games do; a source of files also reports a missing file
and a slow drive. The only error that :meth:`Feed.run` raises is :class:`FeedError`.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from live.errors import FeedError
from live.messages.health import FeedHealth
from live.messages.values import FeedName
from live.process.backoff import format_duration, generate_backoff_s
from live.sources.feed_session import FeedConditions, FeedSession, FeedSink, Poll
from live.sources.retry import FeedTrouble

log = logging.getLogger(__name__)

#: Text between the description of a problem and the time of the next attempt.
RETRY = ", trying again in "
#: Shortest time between two requests for a source that does not exist yet, seconds.
#: lila waits as long.
WAITING_S = 10.0
#: If a source last worked within :data:`RECENT_S` seconds, retry it after at most
#: :data:`SOON_S` seconds: one bad answer of a cache must not cost half a minute of
#: moves.
RECENT_S = 600.0
SOON_S = 10.0
#: Seconds between two requests for a page or service whose games have all ended. It is
#: still asked, because the next round can appear there.
RESTING_S = 30.0


class Feed(ABC):
    """A source that can be followed, as a series of sessions, each of which ends when
    the connection is lost.

    :meth:`run` reports health ``finished`` and returns when the source has ended: its
    input has ended, or every game has a result and the source has confirmed it. A
    lasting source reports ``finished`` but keeps polling, since the next round might
    follow. While the source does not exist yet (404, 401, a page that is not PGN, a
    name that does not resolve), health is ``waiting`` and the request is repeated. A
    failure after the first report sets health ``retrying``.
    """

    def __init__(self, name: FeedName, conditions: FeedConditions) -> None:
        self.name = name
        """Name shown to people: the ``--feed`` text without secrets."""
        self._conditions = conditions
        self._clock, self._config = conditions.clock, conditions.config

    async def run(self, sink: FeedSink) -> None:
        """Follow the source until it ends, reconnecting after every failure.

        Raises :class:`FeedError` only for fatal trouble before the first report, and
        never for a lasting source. A fault in our own code is logged and treated like a
        lost connection, so that other sources continue.

        Waits between attempts grow. They start small again after a session that worked
        for longer than the wait before it, so a source that answers and disconnects at
        once is also asked less and less often.
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
                log.exception("feed %s: program fault in its reader", session.name)
                name = type(error).__name__
                trouble = FeedTrouble(
                    f"program fault in the reader of this source ({name})"
                )
            else:
                session.report_health("finished", session.games_text)
                return
            if trouble.fatal is not None and not session.reported and not lasting:
                session.report_health("failed", trouble.reason)
                raise trouble.fatal from trouble
            if session.heard_s != before_s and clock.now() - begun_s > wait_s:
                delays = generate_backoff_s(self._conditions.random)
            wait_s = next(delays)
            is_awaited = lasting and not session.reported
            if is_awaited:
                wait_s = max(wait_s, WAITING_S)
            elif clock.now() - session.heard_s < RECENT_S:
                wait_s = min(wait_s, SOON_S)
            wait_s = max(wait_s, trouble.wait_s)
            description = f"{trouble.reason}{RETRY}{format_duration(wait_s)}"
            session.report_health("waiting" if is_awaited else "retrying", description)
            await clock.sleep(wait_s)

    @abstractmethod
    async def _follow_source(self, session: FeedSession) -> None:
        """Follow the source for one session. Return when the source has ended; raise
        the error that ended the session.
        """


class PolledFeed(Feed):
    """A source that is asked for its games at intervals."""

    _news: asyncio.Event | None = None
    """Event set when the source announces a change; None if it never announces
    changes.
    """

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
        """Keep the connection for polls open for the duration of the block.
        Raises FeedTrouble.
        """
        yield

    @abstractmethod
    async def poll(self, session: FeedSession) -> Poll | None:
        """Return the present games of the source; None if the source does not exist
        now. Raises FeedTrouble.
        """

    def _poll_period_s(self, session: FeedSession) -> float:
        """Return the usual number of seconds between two polls."""
        return self._config.poll_s

    async def _wait(self, wait_s: float) -> None:
        """Wait for this many seconds, or until the source announces a change."""
        if self._news is None:
            await self._clock.sleep(wait_s)
            return
        with suppress(TimeoutError):
            async with self._clock.deadline(wait_s):
                await self._news.wait()
        self._news.clear()


def build_failed_health(feed: FeedName, error: FeedError) -> FeedHealth:
    """Return the health shown for a source that cannot be followed. Its detail omits
    the source's name, which is displayed next to it anyway.
    """
    return FeedHealth(feed, "failed", str(error).removeprefix(f"{feed}: "))
