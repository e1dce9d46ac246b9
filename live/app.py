"""Builds everything, starts and stops it in order, and wires the rooms together. No logic.

Start: feeds recognised, engine, port, then the feeds run. Stop: feeds, then subscribers hear
goodbye, then engines. Every task has a name; state has one writer, the task ``keep``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from live.config import Config
from live.dashboard import tables
from live.dashboard.display import display
from live.dashboard.figures import plain
from live.dashboard.lines import LineWriter
from live.errors import InputError, LiveRateError
from live.events import Change, FeedReport
from live.feeds.base import Feed
from live.feeds.open import open_feed
from live.feeds.pgn import PgnReader
from live.hall import Hall
from live.ledger.keeper import Keeper
from live.publish.analysis import Analysis, analysis, to_json
from live.publish.guard import everybody
from live.publish.pgn_export import export
from live.publish.server import Publisher
from live.publish.supervisor import supervised

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
    _log_to_stderr(config)
    feeds = [open_feed(spec, config.feeds) for spec in specs]
    hall = Hall(config)
    console = Console()
    stop = asyncio.Event()
    async with (
        hall.with_engine(),
        Publisher(config.server, hall.keeper) as publisher,
        _telling_broker(config, hall),
        supervised(os.environ, os.getpid(), hall.busy) as pulse,
    ):
        hall.listen(publisher.publish)
        hall.listen(pulse.publish)
        if headless or not console.is_terminal:
            console.print(f"live-rate is serving {publisher.url}", highlight=False)
            hall.listen(_print_lines(console))
        with _stop_on_signals(stop):
            async with asyncio.TaskGroup() as tasks:
                service = tasks.create_task(
                    _serve(hall, feeds, publisher.url, console, headless, once), name="serve"
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
    return 130 if stop.is_set() and once else 0


async def _serve(
    hall: Hall, feeds: Sequence[Feed], address: str, console: Console, headless: bool, once: bool
) -> None:
    async with asyncio.TaskGroup() as tasks:
        background = [
            tasks.create_task(hall.keep(), name="keep"),
            tasks.create_task(hall.watch_engines(), name="engine figures"),
        ]
        if not headless and console.is_terminal:
            background.append(
                tasks.create_task(display(hall.keeper, address, console), name="display")
            )
        async with asyncio.TaskGroup() as sources:
            for feed in feeds:
                sources.create_task(hall.follow(feed), name=f"feed {feed.name}")
        # Every source is over; without --once the service stays for those who look.
        await hall.settled()
        hall.tell_engines()
        if not once:
            await asyncio.Event().wait()
        for task in background:
            task.cancel()


@contextlib.asynccontextmanager
async def _telling_broker(config: Config, hall: Hall) -> AsyncIterator[None]:
    """A broker is kept up to date, if one is named."""
    if not config.mqtt.publish:
        yield
        return
    from live.publish.mqtt import Broker  # costs 0.1 s that others need not wait

    broker = Broker(config.mqtt, hall.keeper, everybody(config.server.hide_scores))
    hall.listen(broker.publish)
    task = asyncio.create_task(broker.run(), name="broker")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _print_lines(console: Console) -> Callable[[Iterable[Change]], None]:
    writer = LineWriter()

    def tell(changes: Iterable[Change]) -> None:
        for line in writer.lines(changes):
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    return tell


@contextlib.contextmanager
def _stop_on_signals(stop: asyncio.Event) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM stops in order, the second ends at once."""
    loop = asyncio.get_running_loop()

    def first(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, first, number)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _log_to_stderr(config: Config) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=config.log.level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


# --- analyze ------------------------------------------------------------------------------------


async def analyze(
    config: Config,
    files: Sequence[Path],
    *,
    evals: Literal["engine", "pgn"],
    json: str | None,
    pgn: Path | None,
) -> int:
    """``live-rate analyze``: the same pipeline over finished games; returns the exit code."""
    keeper = await analysed(config, files, evals=evals)
    result = analysis(keeper)
    if json is not None:
        write(json, to_json(result))
    if pgn is not None:
        write(str(pgn), "\n".join(export(game) for game in result.games).encode())
    if json != "-":
        _print_analysis(result)
    return 0


async def analysed(
    config: Config, files: Sequence[Path], *, evals: Literal["engine", "pgn"]
) -> Keeper:
    """All games of the files with every figure that follows.

    Raises:
        InputError: a file is not there, or holds no game.
    """
    _log_to_stderr(config)
    reports = [read_pgn(file) for file in files]
    hall = Hall(config)
    if evals == "pgn":
        hall.open_ledger("[%eval] of the PGN", "as given", engine_scores=False)
        for report in reports:
            await hall.take(report)
        await hall.settled()
    else:
        async with hall.with_engine(live=False):
            with _progress(hall):
                for report in reports:
                    await hall.take(report)
                await hall.settled()
    return hall.keeper


def read_pgn(file: Path) -> FeedReport:
    """All games of one file.

    Raises:
        InputError: there is no such file, or no game in it.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(str(file), error.strerror or "cannot be read", "Check the path") from None
    games = tuple(PgnReader().read(data))
    if not games:
        raise InputError(str(file), "holds no game", "Give a PGN file: tags, then moves")
    return FeedReport(str(file), games, complete=True)


@contextlib.contextmanager
def _progress(hall: Hall) -> Iterator[None]:
    """A bar over the plies that have their score, on a terminal's standard error."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("analysing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("plies"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as bar:
        task = bar.add_task("plies")
        plies = 0

        def tell(changes: Iterable[Change]) -> None:
            nonlocal plies
            views = list(hall.keeper.games())
            played = sum(view.plies_played for view in views)
            scored = sum(view.plies_scored for view in views)
            if scored != plies:
                plies = scored
                bar.update(task, completed=scored, total=played)

        hall.listen(tell)
        yield


def write(target: str, data: bytes) -> None:
    if target == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        raise InputError(target, f"cannot be written ({error.strerror})") from None


def _print_analysis(result: Analysis) -> None:
    console = Console()
    console.print(tables.games(result.games, result.engine, result.gain, width=console.width))
    console.print(tables.players(result.players, result.engine, result.gain, width=console.width))
    for game in result.games:
        if game.problem:
            label = f"{plain(game.white.name)} - {plain(game.black.name)}"
            console.print(f"{label}: {plain(game.problem)}", markup=False)
