"""What a run has to do with its process: signals, open files, garbage collection, and long work on
the event loop in slices, so that everybody else has a turn between them; and sleeps of the machine.

Part of the composition root. Loads little: :func:`outlive_terminal` comes before anything slow.

Parts of the service are kept alive: each end is noticed, said, and mended by a new start. A part
that fails costs nobody else anything: it is started again for ever, after waits that are random and
grow. Only what no new start can mend comes out, and whoever keeps the part decides whether the
service can do without it.

Systemd: the unit that ``live-rate systemd-unit`` prints, and notices that the service is ready,
does its work, and ends (sd_notify(3)). The watchdog is fed only while there is progress: work that
waits while nothing comes of it for :data:`PATIENCE_S` is a service that only looks alive, and is
restarted.

Deadlines here are kept on a clock that neither steps nor, on Linux, runs while the machine sleeps;
so nothing counts as hung after a night in a bag. But connections may be dead without a word, and
nobody should wait for their time-outs: after a sleep every source begins anew. The wall clock is
not asked, since it also jumps when somebody sets it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import random
import signal
import socket
import sys
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec
import typer

from live.clock import LOOP_CLOCK, Clock, ReadClock
from live.errors import LiveRateError, first_of
from live.messages.health import FeedHealth, HealthReport, part_health
from live.messages.to_clients import Change, HealthMessage
from live.operating_system import awake_s, elapsed_s
from live.sources.retry import Chance, format_duration, generate_doubling_s

if TYPE_CHECKING:
    from live.config import ServerConfig


log = logging.getLogger(__name__)


def attended(*, headless: bool, json: bool = False) -> bool:
    """Whether a terminal shows the service: SIGHUP then means that the terminal is gone."""
    return not (headless or json) and sys.stdout.isatty()


def outlive_terminal(*, headless: bool, json: bool) -> None:
    """A service that no terminal shows goes on when the terminal it was started from goes."""
    if sys.platform != "win32" and not attended(headless=headless, json=json):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextlib.contextmanager
def stop_on_signals(stop: asyncio.Event) -> Iterator[list[int]]:
    """The first Ctrl-C or SIGTERM sets ``stop``, the second ends at once. Gives the signals that
    came.
    """
    came: list[int] = []
    loop = asyncio.get_running_loop()

    def first(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        came.append(number)
        # Wakes a loop that waits; nothing of the loop is touched in the middle of its work.
        loop.call_soon_threadsafe(stop.set)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        # Python calls its own handlers only between two instructions: a loop that is just about to
        # sleep would sleep on. Those of the loop wake it; loops of Windows wake by themselves.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop.set)
        signal.signal(number, first)
    try:
        yield came
    finally:
        for number, handler in before.items():
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL if number in came else handler)


def exit_code_of(signals: list[int]) -> int:
    """As a shell has it for a program that a signal ended before its work was done; 0 without."""
    return 128 + signals[0] if signals else 0


async def unless_stopped(work: Awaitable[object], stop: asyncio.Event) -> bool:
    """Do the work, or as much of it as comes before ``stop``. Returns whether it was all."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.create_task(stop.wait(), name="stop")
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            return False
        await task
        return True
    finally:
        for each in (task, stopped):
            each.cancel()
        await asyncio.wait({task, stopped})


#: For engines, journal, sources and files; what is left is for connections.
RESERVED = 128
#: So many are asked for: far beyond what connections need, and no system refuses it for its size.
WANTED = 65_536


def raise_limit() -> int | None:
    """Raise the soft limit of open files to the hard one, as far as that is of use; the limit that
    holds then. None where the platform has none that a process could ask for.
    """
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (ValueError, OSError) as error:  # some systems count otherwise than they say
            log.warning("the limit of open files stays at %d (%s)", soft, error)
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def within(config: ServerConfig, limit: int | None) -> ServerConfig:
    """The settings with no more connections than there are files for; says so where it matters."""
    if limit is None or config.max_connections <= (room := max(limit - RESERVED, limit // 2)):
        return config
    log.warning(
        "server.max_connections: %d instead of %d, since this system allows %d open files "
        "(raise it with ulimit -n, or LimitNOFILE= of the unit)",
        room,
        config.max_connections,
        limit,
    )
    return msgspec.structs.replace(config, max_connections=room)


def end_for_want_of_room(error: OSError) -> NoReturn:
    """End a command whose output met a full disk; any other error goes on its way.

    What commands write elsewhere has errors of its own: what is left is the output.
    """
    if error.errno != errno.ENOSPC:
        raise error
    typer.echo("live-rate: the output: its disk is full. Make room, or write elsewhere", err=True)
    give_up_output()
    sys.exit(1)


def give_up_output() -> None:
    """What was not written to standard output is not tried again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """No collection inside the block, for work whose objects all stay: half its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def freeze_what_is_there() -> None:
    """Take every object of the start out of later collections, which would only stop the loop."""
    gc.collect()
    gc.freeze()
    # CPython's next full collection waits until a quarter as many objects as the last one found
    # have come anew. This one finds none, so what is frozen does not put the next one off.
    gc.collect()


#: Longest the loop is kept from other work at a time, seconds.
SLICE_S = 0.005

Result = TypeVar("Result")


class LoopSlices:
    """Says when a slice of time is used up, and gives way then; ``clock`` never goes back."""

    def __init__(self, clock: ReadClock = time.monotonic) -> None:
        self._clock = clock
        self._end_s = 0.0

    async def give_way(self) -> None:
        """Let others have their turn, if this slice is used up."""
        if self._clock() > self._end_s:
            await asyncio.sleep(0)
            self._end_s = self._clock() + SLICE_S

    async def run(self, pieces: Generator[None, None, Result]) -> Result:
        """Do all pieces of a work; gives what it returns."""
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                result: Result = end.value
                return result
            await self.give_way()


#: How often it is looked, seconds.
LOOK_S = 1.0
#: Shorter sleeps break no connection.
SLEEP_S = 5.0


async def watch(
    act: Callable[[], None],
    *,
    clock: Clock = LOOP_CLOCK,
    elapsed: ReadClock = elapsed_s,
    awake: ReadClock = awake_s,
) -> None:
    """Call ``act`` after every sleep of the machine; until cancelled."""
    lead_s = elapsed() - awake()
    while True:
        await clock.sleep(LOOK_S)
        before_s, lead_s = lead_s, elapsed() - awake()
        slept_s = lead_s - before_s
        if slept_s >= SLEEP_S:
            log.warning(
                "the machine slept for %s: every source begins anew", format_duration(slept_s)
            )
            act()


# --- parts that are kept alive ---

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
    if error is None:
        return "ended by itself"
    error = first_of(error)
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
    """

    def __init__(
        self,
        report: HealthReport,
        *,
        clock: Clock = LOOP_CLOCK,
        chance: Chance = random.random,
    ) -> None:
        self._report = report
        self._clock = clock
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
                waits = generate_doubling_s(self._chance, first_s=FIRST_S, cap_s=CAP_S, least=0.5)
            wait_s = next(waits)
            why = f"{reason(error)}, started again in {format_duration(wait_s)}"
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
        self._report(part_health(name, "live"))
        log.info("%s works again", name)


class FaultLog:
    """Logs and counts faults of ours that cost something."""

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
            log.error("%s", self._what, exc_info=error)


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


# --- systemd --------------------------------------------------------------------------------------

#: How glibc is to hold memory: an arena for each thread keeps freed memory apart; two are enough.
#: Large blocks (snapshots, messages) go back to the system: left to itself, glibc soon takes them
#: from the heap, which then grows by its holes for as long as the service runs.
MALLOC = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "32768",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}


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
        clock: ReadClock = time.monotonic,
    ) -> None:
        address = env.get("NOTIFY_SOCKET", "")
        # "@" stands for the zero byte of Linux' abstract names.
        address = f"\0{address[1:]}" if address.startswith("@") else address
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
