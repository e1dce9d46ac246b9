"""Builds everything, starts and stops it in order, and wires the rooms together. No logic.

Start: feeds recognised, engine, port, then the feeds run. Stop: feeds, then subscribers hear
goodbye, then engines. Every task has a name; state has one writer, the task ``keep``.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import logging
import os
import signal
import sys
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from typing import Any

from rich.console import Console

from live.config import Config
from live.dashboard import tables
from live.dashboard.display import display
from live.dashboard.lines import LineWriter
from live.errors import ConfigError, FeedError, LiveRateError
from live.events import Change, FeedHealth, GameMessage, GameView
from live.feeds.base import Feed
from live.feeds.open import open_feed
from live.hall import Hall
from live.journalling import EventJournal
from live.publish.guard import everybody
from live.publish.server import Publisher
from live.publish.supervisor import supervised
from live.supervision import Supervisor, noticing

log = logging.getLogger(__name__)


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run to the end; an error of ours comes out alone, not wrapped in a group."""
    try:
        return asyncio.run(main)
    except* LiveRateError as group:
        raise _first(group) from None


def _first(group: BaseExceptionGroup[LiveRateError]) -> LiveRateError:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, LiveRateError)
    return error


async def follow(config: Config, specs: Sequence[str], *, headless: bool, once: bool) -> int:
    """``live-rate --feed``: follow, analyse, publish, show; returns the exit code."""
    log_to_stderr(config)
    feeds = open_feeds(specs, config)
    names = [feed.name for feed in feeds]
    hall = Hall(config, EventJournal.of(config.journal, names, once=once))
    console = Console()
    interactive = not headless and sys.stdout.isatty()
    stop = asyncio.Event()
    supervisor = Supervisor(hall.health)
    lost: list[FeedError] = []
    async with (
        hall.with_engine(feeds=names),
        Publisher(config.server, hall.keeper) as publisher,
        _telling_broker(config, hall, supervisor),
        supervised(os.environ, os.getpid(), hall.busy) as pulse,
    ):
        hall.listen(publisher.publish)
        hall.listen(pulse.publish)
        if not interactive:
            console.print(f"live-rate is serving {publisher.url}", highlight=False)
            if hall.journal.restored:
                console.print(hall.journal.summary, markup=False, highlight=False, soft_wrap=True)
            hall.listen(_print_lines(console, hall.keeper.games()))
        # What is here stays: sweeping it again and again would only hold up the loop.
        gc.collect()
        gc.freeze()
        with _stop_on_signals(stop) as stopped, noticing(asyncio.get_running_loop()):
            async with asyncio.TaskGroup() as tasks:
                screen = console if interactive else None
                service = tasks.create_task(
                    _serve(hall, feeds, publisher, screen, supervisor, once, lost), name="serve"
                )
                stopper = tasks.create_task(stop.wait(), name="stop")
                await asyncio.wait({service, stopper}, return_when=asyncio.FIRST_COMPLETED)
                service.cancel()
                stopper.cancel()
        if once and not stop.is_set():
            keeper = hall.keeper
            console.print(
                tables.players(
                    keeper.players(), keeper.engine(), keeper.gain(), width=console.width
                )
            )
    # As the shell has it for a program that a signal ended before its work was done.
    if stopped and once:
        return 128 + stopped[0]
    return lost[0].exit_code if lost and once else 0


def open_feeds(specs: Sequence[str], config: Config) -> list[Feed]:
    """The sources to follow, each under a name of its own.

    Raises:
        ConfigError: the same source is given twice.
        FeedError: see :func:`live.feeds.open.open_feed`.
    """
    feeds: list[Feed] = []
    names: set[str] = set()
    for spec in specs:
        if specs.count(spec) > 1:
            raise ConfigError(f"--feed {spec}", "is given twice", "Give it once")
        feed = open_feed(spec, config.feeds)
        if feed.name in names:
            # Two addresses may differ only in a secret, which names do not show.
            feed = open_feed(spec, config.feeds, name=f"{feed.name} ({len(feeds) + 1})")
        names.add(feed.name)
        feeds.append(feed)
    return feeds


async def _serve(
    hall: Hall,
    feeds: Sequence[Feed],
    publisher: Publisher,
    console: Console | None,
    supervisor: Supervisor,
    once: bool,
    lost: list[FeedError],
) -> None:
    """Run all parts. ``lost`` gets the feeds that could not be followed at all."""
    parts: dict[str, Callable[[], Awaitable[None]]] = {
        "reports": hall.keep,
        "engine figures": hall.watch_engines,
        "port": publisher.watch,
    }
    if console is not None:
        parts["display"] = lambda: display(hall.keeper, publisher.url, console)
    async with asyncio.TaskGroup() as tasks:
        background = [
            tasks.create_task(supervisor.keep(name, run), name=f"keep {name}")
            for name, run in parts.items()
        ]
        async with asyncio.TaskGroup() as sources:
            for feed in feeds:
                follow = _follow(hall, feed, supervisor, lost)
                sources.create_task(follow, name=f"feed {feed.name}")
        if len(lost) == len(feeds):
            # Nothing can be followed: somebody has just mistyped it, or is told to look.
            raise lost[0]
        # Every source is over; without --once the service stays for those who look.
        await hall.settled()
        hall.tell_engines()
        if not once:
            await asyncio.Event().wait()
        for task in background:
            task.cancel()


async def _follow(hall: Hall, feed: Feed, supervisor: Supervisor, lost: list[FeedError]) -> None:
    """One feed to its end. One that cannot be followed at all is shown, and the others go on."""
    try:
        await supervisor.keep(
            feed.name,
            lambda: hall.follow(feed),
            source=True,
            ends=True,
            fatal=lambda error: isinstance(error, FeedError),
        )
    except FeedError as error:
        log.error("%s", error)
        hall.health(FeedHealth(feed.name, "failed", str(error)))
        lost.append(error)


@contextlib.asynccontextmanager
async def _telling_broker(
    config: Config, hall: Hall, supervisor: Supervisor
) -> AsyncIterator[None]:
    """A broker is kept up to date, if one is named."""
    if not config.mqtt.publish:
        yield
        return
    from live.publish.mqtt import Broker  # costs 0.1 s that others need not wait

    seen = everybody(config.server.hide_scores)
    broker = Broker(config.mqtt, hall.keeper, seen, tell=hall.health)
    hall.listen(broker.publish)
    task = asyncio.create_task(supervisor.keep("broker", broker.run), name="broker")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _print_lines(console: Console, known: Iterable[GameView]) -> Callable[[Iterable[Change]], None]:
    writer = LineWriter()
    writer.lines(map(GameMessage, known))  # said already, before the start

    def tell(changes: Iterable[Change]) -> None:
        for line in writer.lines(changes):
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    return tell


@contextlib.contextmanager
def _stop_on_signals(stop: asyncio.Event) -> Iterator[list[int]]:
    """The first Ctrl-C or SIGTERM stops in order, the second ends at once. Gives the signals that
    came.
    """
    came: list[int] = []
    loop = asyncio.get_running_loop()

    def first(number: signal.Signals) -> None:
        came.append(number)
        stop.set()
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, first, number)
    try:
        yield came
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def log_to_stderr(config: Config) -> None:
    """Set up logging, and streams that a strange character cannot break."""
    # A terminal that cannot show a character shows a question mark; it never ends the service.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    logging.basicConfig(
        handlers=[_StderrOfTheMoment()],
        level=config.log.level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


class _StderrOfTheMoment(logging.StreamHandler[Any]):
    """Writes to whatever standard error is now: the live display takes it over while it draws."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """Nothing to keep."""
