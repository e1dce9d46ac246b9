"""Connects the parts of the service, and starts and stops them in order.

Start: check the sources' addresses, start the engines, open the port, then run the
sources. Stop: end the sources, close all connections, then end the engines. Every
task has a name. Reports from sources wait in a bounded queue for the task ``reports``;
answers of engines arrive in the event loop. Both change the event, and every change
goes over the bus, in order.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from functools import partial
from importlib import import_module
from pathlib import Path

import msgspec
from rich.console import Console

from live.event.choose_measure import describe_models
from live.event_parts import EngineParts, EventParts, run_event
from live.games.player_lists import (
    add_neighbouring_lists,
)
from live.journal.event_journal import EventJournal, find_journal_place
from live.messages.values import GameId
from live.outlets.open_outlets import open_outlets
from live.process.clock import LOOP_CLOCK
from live.process.limits import cap_connections, raise_file_limit
from live.process.memory import freeze_startup_objects
from live.process.sd_notify import ServiceManager
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr
from live.process.supervision import Supervisor, run_every
from live.screens.display import Display, choose_display, import_display
from live.screens.output_mode import OutputMode
from live.server.public_delay import (
    note_moves_shown,
    open_public,
    publish_due_changes,
    wait_until_published,
)
from live.server.server import Publisher
from live.server.static_files import open_study_files
from live.settings import Config
from live.settings_reload import SettingsReloader, list_reloadable_parts
from live.sources.source_runner import SourceRunner

log = logging.getLogger(__name__)

#: Time between two checks of the engines, of alerts that depend on time, and of old
#: games, seconds.
LOOK_PERIOD_S = 1.0

#: Time after which the first boards are drawn, seconds.
DRAWN_S = 1.0

Task = Callable[[], Awaitable[None]]
"""A task of the service, which is restarted if it fails."""


async def follow(
    config: Config,
    specs: Sequence[str],
    *,
    headless: bool,
    once: bool,
    json: bool = False,
    load: Callable[[], Config] | None = None,
    path: Path | None = None,
) -> int:
    """Follow, analyse, publish and display games, for ``live-rate --feed``.

    Return the exit code.

    ``load`` reads the settings again when their file, ``path``, has changed.
    """
    log_to_stderr(config.log.level)
    sources = SourceRunner(specs, config.feeds, lasting=not once)
    names = sources.names
    loaded_config = config
    feeds = add_neighbouring_lists(sources.folders, config.feeds)
    config = msgspec.structs.replace(config, feeds=feeds)
    place = find_journal_place(config.journal, names, once=once)
    journal = EventJournal(place.path, removes_unused=not place.is_named)
    display = choose_display(headless=headless, json=json)
    stop = asyncio.Event()
    # Imported while the engines start, which is waiting for the most part.
    importing = asyncio.create_task(asyncio.to_thread(import_display, display))
    async with (
        run_event(config, journal, feeds=names, human=True) as (parts, engine_parts),
        build_publisher(parts, engine_parts.engines.pool.put_on_air) as publisher,
        _reporting_outside(parts, publisher) as supervisor,
    ):
        public = publisher.public
        tasks = _list_tasks(parts, engine_parts, publisher)
        tasks |= open_outlets(
            config, public, parts.bus, parts.event, parts.inbox.health
        )
        screen = _build_screen(parts, publisher, display, stop)
        if display == "app":
            tasks["display"] = screen.run
        public.listen(partial(note_moves_shown, public, journal.journal))
        if load is not None and path is not None:
            reloader = SettingsReloader(
                load,
                path,
                loaded_config,
                list_reloadable_parts(sources, publisher, journal.journal),
                record=parts.arbiter.record,
            )
            tasks["settings"] = reloader.run
        with stop_on_signals(stop) as stopped:
            await importing
            # The signal handlers are set before the address is printed, so that Ctrl-C
            # works as soon as people see it.
            screen.begin()
            freeze_startup_objects()
            serving = _serve(
                parts, engine_parts, sources, publisher, supervisor, tasks, once
            )
            await run_until_stopped(serving, stop)
        if once and not stop.is_set():
            screen.print_end()
    if not once:
        return 0
    return derive_exit_code(stopped) or sources.exit_code


def build_publisher(
    parts: EventParts, put_on_air: Callable[[Iterable[GameId]], None]
) -> Publisher:
    """Return the web server of the service, with the public's view of the event."""
    config = parts.config.server
    public = open_public(parts.config, parts.event, parts.journal.journal)
    parts.arbiter.should_log = lambda: not public.is_withholding
    connections = cap_connections(config.max_connections, raise_file_limit())
    publisher = Publisher(
        msgspec.structs.replace(config, max_connections=connections),
        parts.event,
        public=public,
        incidents=parts.arbiter.incidents,
        desk=parts.arbiter.command,
        on_air=put_on_air,
        study=open_study_files(parts.config.study.folder),
        report=parts.inbox.health,
    )
    # Subscribed at once: opening the port takes some turns of the event loop, and the
    # public's copy of the event would lack the changes of these turns.
    parts.bus.subscribe(publisher.audiences.publish)
    return publisher


@contextlib.asynccontextmanager
async def _reporting_outside(
    parts: EventParts, publisher: Publisher
) -> AsyncIterator[Supervisor]:
    """Keep subscribers, a broker and the service manager up to date during the block;
    yield the supervisor of the tasks.
    """
    supervisor = Supervisor(parts.inbox.health)

    def is_busy() -> bool:
        return not parts.inbox.is_empty or not parts.event.is_analysed

    manager = ServiceManager(os.environ, os.getpid(), is_busy)
    async with contextlib.AsyncExitStack() as stack:
        if parts.config.mqtt.publish:
            # Imported only here because most events have no broker.
            from live.server.broker import publishing_to_broker

            broker = publishing_to_broker(
                parts.config,
                publisher.public,
                parts.inbox.health,
                parts.bus.guard,
                supervisor,
            )
            await stack.enter_async_context(broker)
        await stack.enter_async_context(manager.running())
        parts.bus.subscribe(manager.publish)
        yield supervisor


def _build_screen(
    parts: EventParts, publisher: Publisher, display: Display, stop: asyncio.Event
) -> OutputMode:
    """Return the output of the service to its own terminal."""
    headlines = [describe_models(parts.event.measure.models)]
    if parts.journal.summary:
        headlines.append(parts.journal.summary)
    return OutputMode(
        display,
        parts.event,
        parts.bus,
        parts.arbiter,
        publisher.public,
        parts.journal.journal,
        parts.config.server.hide_scores,
        headlines,
        publisher.url,
        Console(),
        stop,
    )


def _list_tasks(
    parts: EventParts, engine_parts: EngineParts, publisher: Publisher
) -> dict[str, Task]:
    """Return the tasks that every run needs, by their names in health reports."""
    public = publisher.public
    report = parts.inbox.health
    look = partial(
        run_every,
        LOOK_PERIOD_S,
        # Not recorded earlier: with a mistyped address the program ends at once, and
        # should leave no journal.
        lambda: parts.arbiter.record_start(public.delay_s),
        partial(parts.bus.report_missed, report),
        engine_parts.watch.report,
        parts.arbiter.tick,
        parts.moments.tick,
        parts.old_games.forget,
        partial(parts.journal.report_and_save, report),
    )
    return {
        "reports": parts.inbox.run,
        "engine figures": look,
        "port": publisher.watch,
        "public": partial(publish_due_changes, public, LOOP_CLOCK),
    }


async def _serve(
    parts: EventParts,
    engine_parts: EngineParts,
    sources: SourceRunner,
    publisher: Publisher,
    supervisor: Supervisor,
    tasks: Mapping[str, Task],
    once: bool,
) -> None:
    """Run the sources and the tasks until cancelled.

    With ``once``, end when all games are over, analysed and published.
    """
    async with asyncio.TaskGroup() as group:
        background = [
            group.create_task(supervisor.keep(name, run), name=f"keep {name}")
            for name, run in tasks.items()
        ]
        if not once:
            measuring = supervisor.keep(
                "calibration", engine_parts.measuring.run, ends=True
            )
            background.append(group.create_task(measuring, name="keep calibration"))
        importing = group.create_task(_import_for_intervals(), name="late imports")
        background.append(importing)
        async with sources.running(parts.inbox.follow, parts.inbox.health, supervisor):
            await sources.wait_until_over()
            await parts.inbox.wait_until(lambda: parts.event.is_analysed)
            if once:
                # The figures printed at the end depend on this measurement.
                await engine_parts.measuring.run()
            parts.bus.report_missed(parts.inbox.health)
            engine_parts.watch.report()
            if once:
                await wait_until_published(publisher.public, LOOP_CLOCK)
            else:
                # Continue for people who look at the pages, and for new settings.
                await asyncio.Event().wait()
        for task in background:
            task.cancel()


async def _import_for_intervals() -> None:
    """Import what the first interval needs, once the first boards are drawn.

    It takes a third of a second, which nobody should wait for: neither at the start nor
    in the middle of a round.
    """
    await asyncio.sleep(DRAWN_S)
    await asyncio.to_thread(import_module, "scipy.special")
