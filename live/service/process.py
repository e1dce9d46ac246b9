"""What a run has to do with its process: signals, open files, garbage collection, and long work on
the event loop in slices, so that everybody else has a turn between them; and sleeps of the machine.

Part of the composition root. Loads little, since SIGHUP is to be heard before anything slow.

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
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn, Self, TypeVar

import msgspec
import typer

from live.clock import Clock, LoopClock
from live.feeds.retry import spoken
from live.operating_system import StopSignals, awake_s, elapsed_s

if TYPE_CHECKING:
    from live.config import ServerConfig


def attended(*, headless: bool = False, json: bool = False) -> bool:
    """Whether a terminal shows the service: SIGHUP then means that the terminal is gone."""
    return not (headless or json) and sys.stdout.isatty()


class HangupSignals:
    """SIGHUP asks a service to read its settings again, at any moment of its life.

    Without a handler it would end the service, while it starts as while it ends: whoever sends it
    cannot know which. What comes before somebody answers is answered then, once.
    """

    def __init__(self) -> None:
        self._came = asyncio.Event()
        self._heard: Callable[[], object] = self._came.set

    @classmethod
    def of_service(cls, *, headless: bool, json: bool) -> Self:
        """Heard from now on, unless a terminal shows the service."""
        hangups = cls()
        if not attended(headless=headless, json=json):
            hangups.hear()
        return hangups

    def hear(self) -> None:
        """From now on; Windows has no such signal."""
        if sys.platform != "win32":
            signal.signal(signal.SIGHUP, lambda number, frame: self._heard())

    @contextlib.contextmanager
    def answered_by(self, answer: Callable[[], None]) -> Iterator[None]:
        """``answer`` is called, on the running loop, for each SIGHUP and for those before."""
        # Wakes a loop that waits; nothing of the loop is touched in the middle of its work.
        self._heard = partial(asyncio.get_running_loop().call_soon_threadsafe, answer)
        if self._came.is_set():
            answer()
        try:
            yield
        finally:
            self._heard = bool


@contextlib.contextmanager
def stop_on_signals(stop: asyncio.Event) -> Iterator[list[int]]:
    """The first Ctrl-C or SIGTERM sets ``stop``, the second ends at once. Gives the signals that
    came.
    """
    came: list[int] = []

    def first(number: signal.Signals) -> None:
        came.append(number)
        stop.set()

    signals = StopSignals(asyncio.get_running_loop(), first)
    signals.hear()
    try:
        yield came
    finally:
        signals.ignore()


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


log = logging.getLogger(__name__)

#: For engines, journal, sources and files; what is left is for connections.
RESERVED: Final = 128
#: So many are asked for: far beyond what connections need, and no system refuses it for its size.
WANTED: Final = 65_536


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
    if limit is None or config.max_connections <= limit - RESERVED:
        return config
    room = max(1, limit - RESERVED if limit > 2 * RESERVED else limit // 2)
    if room >= config.max_connections:
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
    # What was not written is not tried again at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


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
SLICE_S = 0.01

Result = TypeVar("Result")


class LoopSlices:
    """Says when a slice of time is used up, and gives way then; ``clock`` never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
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
    clock: Clock | None = None,
    elapsed: Callable[[], float] = elapsed_s,
    awake: Callable[[], float] = awake_s,
) -> None:
    """Call ``act`` after every sleep of the machine; until cancelled."""
    clock = clock or LoopClock()
    lead_s = elapsed() - awake()
    while True:
        await clock.sleep(LOOK_S)
        before_s, lead_s = lead_s, elapsed() - awake()
        slept_s = lead_s - before_s
        if slept_s >= SLEEP_S:
            log.warning("the machine slept for %s: every source begins anew", spoken(slept_s))
            act()
