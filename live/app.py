"""Builds everything, starts and stops it in order, and wires the rooms together. No logic.

Start: feeds recognised, engine, port, then the feeds run. Stop: feeds, then subscribers hear
goodbye, then engines. Every task has a name; state has one writer, the task ``keep``.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rich.console import Console

from live.config import Config, ServerConfig
from live.errors import LiveRateError
from live.players.player_lists import beside
from live.publish.access import exposure
from live.publish.access.authentication import everybody
from live.publish.server import Publisher
from live.service.event_journal import EventJournal
from live.service.event_service import EventService
from live.service.host.log_output import log_level, log_to_stderr
from live.service.host.signals import HangupSignals, stop_on_signals
from live.service.host.systemd_notify import supervised
from live.service.output_mode import OutputMode, way
from live.service.settings_reload import ReloadablePart, SettingsReloader, unchecked
from live.service.source_runner import SourceRunner
from live.service.supervision import Supervisor, noticing
from live.terminal.tables import event_summary

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


class StartAgain(NamedTuple):
    """Where settings come from, to read them again, and who asks for it."""

    load: Callable[[], Config]
    path: Path | None
    hangups: HangupSignals


async def follow(
    config: Config,
    specs: Sequence[str],
    *,
    headless: bool,
    once: bool,
    plain: bool = False,
    json: bool = False,
    again: StartAgain | None = None,
) -> int:
    """``live-rate --feed``: follow, analyse, publish, show; returns the exit code."""
    log_to_stderr(config)
    following = SourceRunner(specs, config.feeds, lasting=not once)
    names = following.names
    config = msgspec.structs.replace(config, feeds=beside(following.folders, config.feeds))
    hall = EventService(config, EventJournal.of(config, names, once=once))
    console = Console()
    shown = way(headless=headless, plain=plain, json=json)
    stop = asyncio.Event()
    supervisor = Supervisor(hall.health)
    async with (
        hall.with_engine(feeds=names),
        Publisher(config.server, hall.keeper) as publisher,
        _telling_broker(config, hall, supervisor),
        supervised(os.environ, os.getpid(), hall.busy) as pulse,
    ):
        hall.listen(publisher.publish)
        hall.listen(pulse.publish)
        screen = OutputMode(shown, hall, following, publisher.url, console, stop)
        parts: dict[str, Callable[[], Awaitable[None]]] = {}
        if screen.drawn:
            parts["display"] = screen.run
        reloader = _reloader(config, again, following, publisher) if again is not None else None
        if reloader is not None:
            parts["settings"] = reloader.run
        with (
            stop_on_signals(stop) as stopped,
            again.hangups.answered_by(reloader.ask) if again and reloader else nullcontext(),
            noticing(asyncio.get_running_loop()),
        ):
            # Whoever reads where it serves may end it.
            screen.begin()
            # What is here stays: sweeping it again and again would only hold up the loop.
            gc.collect()
            gc.freeze()
            # CPython's next full sweep waits until a quarter as many objects as the last one kept
            # have come anew. This one keeps none, so what is frozen does not put the next off.
            gc.collect()
            async with asyncio.TaskGroup() as tasks:
                service = tasks.create_task(
                    _serve(hall, following, publisher, supervisor, parts, once), name="serve"
                )
                stopper = tasks.create_task(stop.wait(), name="stop")
                await asyncio.wait({service, stopper}, return_when=asyncio.FIRST_COMPLETED)
                service.cancel()
                stopper.cancel()
        if once and not stop.is_set() and shown != "json":
            keeper = hall.keeper
            console.print(
                event_summary.players(
                    keeper.players(), keeper.engine(), keeper.gain(), width=console.width
                )
            )
    # As the shell has it for a program that a signal ended before its work was done.
    if stopped and once:
        return 128 + stopped[0]
    return following.lost[0].exit_code if following.lost and once else 0


async def _serve(
    hall: EventService,
    following: SourceRunner,
    publisher: Publisher,
    supervisor: Supervisor,
    extra: Mapping[str, Callable[[], Awaitable[None]]],
    once: bool,
) -> None:
    """Run all parts; ``extra`` beside those that every run has."""
    parts: dict[str, Callable[[], Awaitable[None]]] = {
        "reports": hall.keep,
        "engine figures": hall.watch_engines,
        "port": publisher.watch,
        **extra,
    }
    async with asyncio.TaskGroup() as tasks:
        background = [
            tasks.create_task(supervisor.keep(name, run), name=f"keep {name}")
            for name, run in parts.items()
        ]
        async with following.running(hall, supervisor):
            await following.over()
            await hall.settled()
            hall.tell_engines()
            if not once:
                # It stays for those who look, and for new settings.
                await asyncio.Event().wait()
        for task in background:
            task.cancel()


def _exposed(config: ServerConfig) -> None:
    """Settings that let in more people than was said are refused, as at the start."""
    exposure.check(config)


def _reloader(
    config: Config, again: StartAgain, following: SourceRunner, publisher: Publisher
) -> SettingsReloader:
    """What takes settings over while the service runs."""
    parts = (
        ReloadablePart("log.", unchecked, log_level),
        ReloadablePart(
            "server.",
            lambda new: _exposed(new.server),
            lambda new: publisher.reconfigure(new.server),
        ),
        ReloadablePart(
            "feeds.",
            lambda new: following.check(new.feeds),
            lambda new: following.reconfigure(new.feeds),
        ),
    )
    return SettingsReloader(again.load, again.path, config, parts)


@contextlib.asynccontextmanager
async def _telling_broker(
    config: Config, hall: EventService, supervisor: Supervisor
) -> AsyncIterator[None]:
    """A broker is kept up to date, if one is named."""
    if not config.mqtt.publish:
        yield
        return
    from live.publish.broker.broker_publisher import (
        BrokerPublisher,  # costs 0.1 s that others need not wait
    )

    seen = everybody(config.server.hide_scores)
    broker = BrokerPublisher(config.mqtt, hall.keeper, seen, tell=hall.health)
    hall.listen(broker.publish)
    task = asyncio.create_task(supervisor.keep("broker", broker.run), name="broker")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
