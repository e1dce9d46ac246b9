"""Keeps the parts of the service alive: each end is noticed, said, and mended by a new start.

:class:`Restarts` decides how long to wait, purely; :class:`Supervisor` runs parts as tasks, sees
how each of them ended, and reports it. Part of the composition root.

A part that fails costs nobody else anything: it is started again for ever, after waits that are
random and grow. Only what no new start can mend comes out, and whoever keeps the part decides
whether the service can do without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any

from live.clock import Clock, LoopClock
from live.errors import LiveRateError
from live.events import Change, FeedHealth
from live.network.retry import doubling, spoken

log = logging.getLogger(__name__)

#: The first wait is at most this long, seconds; bounds double from there.
FIRST_S = 1.0
#: No wait is longer: an arbiter looks at the screen once a minute.
CAP_S = 60.0
#: A part that ran for so long had been mended: its next wait is short again.
STEADY_S = 120.0
#: A part that has run for so long since its new start is well again, for people.
WELL_S = 5.0


class Restarts:
    """The waits of one part. Pure.

    Equal jitter (:func:`live.network.retry.doubling`): none comes back at once.
    """

    def __init__(self, random: Callable[[], float]) -> None:
        self.count = 0
        """Ends so far."""
        self._random = random
        self._waits: Iterator[float] = iter(())

    def ended(self, ran_s: float) -> float:
        """The part ended after ``ran_s`` seconds; how many seconds to wait before the new start."""
        if not self.count or ran_s >= STEADY_S:
            self._waits = doubling(self._random, first_s=FIRST_S, cap_s=CAP_S, least=0.5)
        self.count += 1
        return next(self._waits)


def reason(error: BaseException | None) -> str:
    """Why a part ended, for people: short, in lower case, without a full stop."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error is None:
        return "ended by itself"
    if isinstance(error, LiveRateError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return f"fault in our own code ({type(error).__name__})"


class Supervisor:
    """Starts parts, and starts them again.

    Args:
        report: called for every part in trouble, and of its recovery (state ``live``).
        clock: for waits; tests bring their own.
        chance: numbers in [0, 1).
    """

    def __init__(
        self,
        report: Callable[[FeedHealth], None],
        *,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._report = report
        self._clock = clock or LoopClock()
        self._chance = chance

    async def keep(
        self,
        name: str,
        run: Callable[[], Awaitable[None]],
        *,
        source: bool = False,
        ends: bool = False,
        fatal: Callable[[BaseException], bool] = lambda error: False,
    ) -> None:
        """Run a part until cancelled.

        Args:
            name: what people call it.
            run: makes a new run of it each time.
            source: It is a feed, and not a part of ours; it says itself when it is well.
            ends: Returning is no failure: it has done its work, and is over.
            fatal: Whether no new start can mend this error; it is raised then.
        """
        restarts = Restarts(self._chance)
        while True:
            began_s = self._clock.now()
            task = asyncio.ensure_future(run())
            if isinstance(task, asyncio.Task):
                task.set_name(name)
            try:
                if restarts.count and not source:
                    await self._watch(name, task)
                await asyncio.wait([task])
            finally:
                # Only when this is cancelled itself; the part's own end has been waited for.
                if not task.done():
                    task.cancel()
                    await asyncio.wait([task])
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is None and ends:
                return
            if error is not None and (fatal(error) or not isinstance(error, _MENDABLE)):
                raise error
            wait_s = restarts.ended(self._clock.now() - began_s)
            self._say(name, error, wait_s, source)
            await self._clock.sleep(wait_s)

    async def _watch(self, name: str, task: asyncio.Future[None]) -> None:
        """A part that was started again is well once it has run for a while."""
        with contextlib.suppress(TimeoutError):
            async with self._clock.deadline(WELL_S):
                await asyncio.wait([task])
                return
        self._report(FeedHealth(name, "live", part=True))
        log.info("%s works again", name)

    def _say(self, name: str, error: BaseException | None, wait_s: float, source: bool) -> None:
        why = reason(error)
        known = error is None or isinstance(error, LiveRateError | OSError)
        log.error(
            "%s: %s; started again in %s",
            name,
            why,
            spoken(wait_s),
            exc_info=None if known else error,
        )
        detail = f"{why}, started again in {spoken(wait_s)}"
        self._report(FeedHealth(name, "retrying", detail, part=not source))


#: What a new start may mend. Anything else (a keyboard's interrupt, a system exit) ends everything.
_MENDABLE = (Exception, asyncio.CancelledError)


class FaultLog:
    """Logs faults of ours that cost something, and not each: a fault at every change must not fill
    disks. The first is logged whole, then those whose number is a power of two.
    """

    def __init__(self, what: str) -> None:
        """``what`` they cost, for people."""
        self.count = 0
        self._what = what

    def note(self, error: Exception) -> None:
        """One more."""
        self.count += 1
        if self.count == 1:
            log.error("%s", self._what, exc_info=error)
        elif self.count & (self.count - 1) == 0:
            log.error("%s, %d times by now: %s", self._what, self.count, reason(error))

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Whatever exception comes out of the block is noted, and ends there."""
        try:
            yield
        except Exception as error:
            # Broad: whichever rule of ours breaks, what is called after this has to be called.
            self.note(error)


@contextlib.asynccontextmanager
async def alongside(
    work: Coroutine[Any, Any, None], name: str, lost: str = ""
) -> AsyncIterator[None]:
    """The work runs as long as the block does. ``lost`` is logged where it fails: that costs
    nothing else.
    """

    def ended(task: asyncio.Task[None]) -> None:
        if lost and not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s", lost, exc_info=error)

    task = asyncio.create_task(work, name=name)
    task.add_done_callback(ended)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def guarded(listener: Callable[[Iterable[Change]], None]) -> Callable[[Iterable[Change]], None]:
    """A listener that may fail and costs the others nothing.

    Loss policy: what it fails on is lost to it alone.
    """
    faults = FaultLog(
        f"{getattr(listener, '__qualname__', 'a listener')} could not take in a change"
    )

    def take(changes: Iterable[Change]) -> None:
        with faults.guarded():
            listener(changes)

    return take


@contextlib.contextmanager
def noticing(loop: asyncio.AbstractEventLoop) -> Iterator[list[str]]:
    """What would die unheard in a callback, or in a task that nobody awaits, is logged. Gives the
    messages, newest last, at most a hundred.
    """
    noticed: list[str] = []
    full: list[int] = []

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            # It is tried again at once, a thousand times a second.
            if not full:
                full.append(1)
                log.error("no more connections: too many open files (raise ulimit -n)")
            return
        noticed.append(f"{context['message']}: {reason(error) if error else 'no exception'}")
        del noticed[:-100]
        log.error("%s", noticed[-1], exc_info=error)

    before = loop.get_exception_handler()
    loop.set_exception_handler(handle)
    try:
        yield noticed
    finally:
        loop.set_exception_handler(before)
