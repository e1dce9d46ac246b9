"""Keeps the parts of the service alive: each end is noticed, said, and mended by a new start; and
what systemd has to do with that. Part of the composition root.

A part that fails costs nobody else anything: it is started again for ever, after waits that are
random and grow. Only what no new start can mend comes out, and whoever keeps the part decides
whether the service can do without it.

Systemd: the unit that ``live-rate systemd-unit`` prints, and notices that the service is ready,
does its work, and ends (sd_notify(3)). The watchdog is fed only while there is progress: work that
waits while nothing comes of it for :data:`PATIENCE_S` is a service that only looks alive, and is
restarted.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import random
import socket
import sys
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import Any

from live.clock import Clock, LoopClock
from live.errors import LiveRateError
from live.events import Change, FeedHealth, HealthMessage
from live.feeds.retry import doubling, spoken

log = logging.getLogger(__name__)

#: The first wait is at most this long, seconds; bounds double from there.
FIRST_S = 1.0
#: No wait is longer: an arbiter looks at the screen once a minute.
CAP_S = 60.0
#: A part that ran for so long had been mended: its next wait is short again.
STEADY_S = 120.0
#: A part that has run for so long since its new start is well again, for people.
WELL_S = 5.0


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


#: What a new start may mend. Anything else (a keyboard's interrupt, a system exit) ends everything.
_MENDABLE = (Exception, asyncio.CancelledError)


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
        waits: Iterator[float] | None = None
        while True:
            began_s = self._clock.now()
            task = asyncio.ensure_future(run())
            if isinstance(task, asyncio.Task):
                task.set_name(name)
            try:
                if waits is not None and not source:
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
            if waits is None or self._clock.now() - began_s >= STEADY_S:
                # Equal jitter: none comes back at once.
                waits = doubling(self._chance, first_s=FIRST_S, cap_s=CAP_S, least=0.5)
            wait_s = next(waits)
            why = f"{reason(error)}, started again in {spoken(wait_s)}"
            known = error is None or isinstance(error, LiveRateError | OSError)
            log.error("%s: %s", name, why, exc_info=None if known else error)
            self._report(FeedHealth(name, "retrying", why, part=not source))
            await self._clock.sleep(wait_s)

    async def _watch(self, name: str, task: asyncio.Future[None]) -> None:
        """A part that was started again is well once it has run for a while."""
        with contextlib.suppress(TimeoutError):
            async with self._clock.deadline(WELL_S):
                await asyncio.wait([task])
                return
        self._report(FeedHealth(name, "live", part=True))
        log.info("%s works again", name)


class FaultLog:
    """Logs faults of ours that cost something, and not each: a fault at every change must not fill
    disks. The first is logged whole, then those whose number is a power of two.
    """

    def __init__(self, what: str) -> None:
        """``what`` they cost, for people."""
        self.count = 0
        self._what = what

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Whatever exception comes out of the block is noted, and ends there."""
        try:
            yield
        except Exception as error:
            # Broad: whichever rule of ours breaks, what is called after this has to be called.
            self.count += 1
            if self.count == 1:
                log.error("%s", self._what, exc_info=error)
            elif self.count & (self.count - 1) == 0:
                log.error("%s, %d times by now: %s", self._what, self.count, reason(error))


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
def noticing(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """What would die unheard in a callback, or in a task that nobody awaits, is logged."""
    full = False

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal full
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
            why = reason(error) if error else "no exception"
            log.error("%s: %s", context["message"], why, exc_info=error)
        elif not full:
            # It is tried again at once, a thousand times a second.
            full = True
            log.error("no more connections: too many open files (raise ulimit -n)")

    before = loop.get_exception_handler()
    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(before)


# --- systemd --------------------------------------------------------------------------------------

#: How glibc is to hold memory: an arena for each thread keeps freed memory apart; two are enough.
MALLOC = {"MALLOC_ARENA_MAX": "2"}


def unit(command: Sequence[str]) -> str:
    """The unit that runs this command; its first word is an absolute path."""
    # A program in somebody's home must at least be readable.
    at_home = command[0].split("/")[1] in ("home", "root")
    return (Path(__file__).with_name("live-rate.service").read_text(encoding="utf-8")).format(
        command=" ".join(map(quoted, command)),
        home="read-only" if at_home else "yes",
        malloc=" ".join(f"{name}={value}" for name, value in MALLOC.items()),
    )


_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "%": "%%", "$": "$$", "\n": "\\n", "\t": "\\t"})


def quoted(word: str) -> str:
    """One word of a command line in a unit (systemd.service(5), "Command lines")."""
    escaped = word.translate(_ESCAPED)
    plain = word and all(char.isalnum() or char in "/.:=_-@,+?&#" for char in word)
    return escaped if plain else f'"{escaped}"'


#: For work that waits, without anything coming of it. Longer than any search should take; a search
#: that deepens counts as progress, too.
PATIENCE_S = 180.0


class ServiceManager:
    """Is notified by datagrams where ``NOTIFY_SOCKET`` names one, and its watchdog fed while there
    is progress. Give it every change: they show what comes of the work.

    Args:
        waiting: whether work waits.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        pid: int,
        waiting: Callable[[], bool],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        address = env.get("NOTIFY_SOCKET", "")
        # "@" stands for the zero byte of Linux' abstract names.
        address = "\0" + address[1:] if address.startswith("@") else address
        self._address = address if address[:1] in ("/", "\0") else ""
        self.period_s: float | None = None
        """How often the watchdog wants to be fed; None where it does not, or not by us."""
        wanted = env.get("WATCHDOG_USEC", "")
        if wanted.isascii() and wanted.isdigit() and env.get("WATCHDOG_PID", f"{pid}") == f"{pid}":
            self.period_s = int(wanted) / 1e6 or None
        self._waiting = waiting
        self._clock = clock
        self._changes = self._known = 0
        self._since_s = clock()

    def publish(self, changes: Iterable[Change]) -> None:
        """Health says how work stands, so it is no work itself."""
        self._changes += sum(not isinstance(change, HealthMessage) for change in changes)

    def notify(self, *lines: str) -> None:
        """If the manager cannot be reached, work goes on."""
        if not self._address or sys.platform == "win32":
            return  # Windows has no such sockets, and no systemd
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
                sock.setblocking(False)
                sock.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            log.warning("systemd cannot be notified of %s: %s", lines[0], error)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ready from now on, stopping at the end; the watchdog is fed meanwhile."""
        self.notify("READY=1")
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self.notify, "STOPPING=1")
            if self._address and self.period_s is not None:
                # Twice within the time allowed, as sd_watchdog_enabled(3) recommends, and some to
                # spare.
                await stack.enter_async_context(
                    alongside(self._feed(self.period_s / 3), "watchdog")
                )
            yield

    def progresses(self) -> bool:
        """Whether nothing waits, or something has come of the work within the patience."""
        if not self._waiting() or self._changes != self._known:
            self._since_s, self._known = self._clock(), self._changes
        return self._clock() - self._since_s <= PATIENCE_S

    async def _feed(self, period_s: float) -> None:
        well = True
        while True:
            before, well = well, self.progresses()
            if well:
                self.notify(
                    "WATCHDOG=1", f"STATUS={'working' if self._waiting() else 'all analysed'}"
                )
            elif before:
                log.error("work waits and nothing has come of it for %.0f s", PATIENCE_S)
                self.notify("STATUS=work waits and nothing comes of it")
            await asyncio.sleep(period_s)
