"""Starts and stops the service in order, and connects its parts.

Start: check the sources' addresses, start the engines, open the port, then run the
sources. Stop: end the sources, say goodbye to subscribers, then end the engines. Every
task has a name; only the task ``reports`` changes the state.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from live.errors import LiveRateError, first_of
from live.event.choose_measure import describe_models
from live.games.player_lists import add_neighbouring_lists
from live.journal.event_journal import EventJournal, journal_path
from live.outlets.open_outlets import open_outlets
from live.process.clock import LOOP_CLOCK
from live.process.limits import cap_connections, raise_file_limit
from live.process.memory import freeze_startup_objects
from live.process.sd_notify import ServiceManager
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr, set_log_level
from live.process.supervision import Supervisor, run_in_background
from live.screens.display import choose_display
from live.screens.output_mode import OutputMode
from live.server.authentication import public_filter
from live.server.listening import check_exposure
from live.server.public_delay import (
    find_unpublished,
    record_publication,
    reset_delay,
    restore_delay_s,
    restore_pseudonyms,
    run_delay,
    wait_until_published,
)
from live.server.public_view import PublicView
from live.server.server import Publisher
from live.server.static_files import open_study_files
from live.service.event_service import EventService
from live.settings import Config
from live.settings_reload import (
    DELAY_KEYS,
    PORT_KEYS,
    SOURCE_KEYS,
    ReloadablePart,
    SettingsReloader,
)
from live.sources.source_runner import SourceRunner

log = logging.getLogger(__name__)

Part = Callable[[], Awaitable[None]]
"""A part of the service, which is restarted if it fails."""


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run a coroutine to its end and return its exit code; raise the package's own
    errors alone, not wrapped in a group.
    """
    try:
        return asyncio.run(main)
    except (
        BaseExceptionGroup
    ) as group:  # Python before 3.11.4 wraps errors that except* raises
        if group.split(LiveRateError)[1] is None:
            raise first_of(group) from None
        raise


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
    """Follow, analyse, publish and show, for ``live-rate --feed``; return the exit
    code.

    ``load`` reads the settings again when their file, ``path``, has changed.
    """
    log_to_stderr(config.log.level)
    sources = SourceRunner(specs, config.feeds, lasting=not once)
    names = sources.names
    loaded_config = config
    feeds = add_neighbouring_lists(sources.folders, config.feeds)
    config = msgspec.structs.replace(config, feeds=feeds)
    journal = EventJournal(journal_path(config.journal, names, once=once))
    service = EventService(config, journal, human=True)
    display = choose_display(headless=headless, json=json)
    stop = asyncio.Event()
    supervisor = Supervisor(service.inbox.health)
    manager = ServiceManager(os.environ, os.getpid(), service.busy)
    # Imported now; otherwise the first interval would import it, which takes a third of
    # a second in the middle of a round.
    await asyncio.to_thread(import_module, "scipy.special")
    async with (
        service.with_engine(feeds=names),
        build_publisher(config, service) as publisher,
        _publishing_to_broker(config, service, publisher.public, supervisor),
        manager.running(),
    ):
        service.bus.subscribe(publisher.publish)
        service.bus.subscribe(manager.publish)
        public = publisher.public
        parts = open_outlets(
            config, public, service.bus, service.state, service.inbox.health
        )
        headlines = [describe_models(service.state.measure.models)]
        if journal.summary:
            headlines.append(journal.summary)
        screen = OutputMode(
            display,
            service.state,
            service.bus,
            service.arbiter,
            public,
            journal.journal,
            config.server.hide_scores,
            headlines,
            publisher.url,
            Console(),
            stop,
        )
        parts["public"] = lambda: run_delay(public, LOOP_CLOCK)
        if display == "app":
            parts["display"] = screen.run
        public.listen(partial(record_publication, public, journal.journal))
        if load is not None and path is not None:
            reloader = _build_reloader(
                loaded_config, load, path, sources, publisher, service
            )
            parts["settings"] = reloader.run
        with stop_on_signals(stop) as stopped:
            # The address is printed only after signals are handled, so Ctrl-C already
            # works.
            screen.begin()
            freeze_startup_objects()
            serving = _serve(service, sources, publisher, supervisor, parts, once)
            await run_until_stopped(serving, stop)
        if once and not stop.is_set():
            screen.end()
    if not once:
        return 0
    return derive_exit_code(stopped) or sources.exit_code


async def _serve(
    service: EventService,
    sources: SourceRunner,
    publisher: Publisher,
    supervisor: Supervisor,
    extra: Mapping[str, Part],
    once: bool,
) -> None:
    """Run the parts that every run needs and the ``extra`` ones until stopped."""
    parts: dict[str, Part] = {
        "reports": service.inbox.run,
        "engine figures": service.watch_engines,
        "port": publisher.watch,
        **extra,
    }
    async with asyncio.TaskGroup() as tasks:
        background = [
            tasks.create_task(supervisor.keep(name, run), name=f"keep {name}")
            for name, run in parts.items()
        ]
        if not once:
            measuring = supervisor.keep(
                "calibration", service.measure_engine, ends=True
            )
            background.append(tasks.create_task(measuring, name="keep calibration"))
        async with sources.running(
            service.inbox.follow, service.inbox.health, supervisor
        ):
            await sources.wait_until_over()
            await service.settled()
            if once:
                # The figures printed at the end depend on this measurement.
                await service.measure_engine()
            service.report_engines()
            if once:
                await wait_until_published(publisher.public, LOOP_CLOCK)
            else:
                # Continue for people who look at the pages, and for new settings.
                await asyncio.Event().wait()
        for task in background:
            task.cancel()


def _build_reloader(
    config: Config,
    load: Callable[[], Config],
    path: Path,
    sources: SourceRunner,
    publisher: Publisher,
    service: EventService,
) -> SettingsReloader:
    """Return the object that applies changed settings while the service runs."""
    journal = service.journal.journal
    parts = (
        ReloadablePart(
            frozenset({"log.level"}), lambda new: set_log_level(new.log.level)
        ),
        ReloadablePart(
            PORT_KEYS,
            lambda new: publisher.reconfigure(new.server),
            lambda new: check_exposure(new.server),
        ),
        ReloadablePart(
            # Sources that cannot be restarted cannot use new settings.
            SOURCE_KEYS if len(sources.fixed) < len(sources.names) else frozenset(),
            lambda new: sources.reconfigure(new.feeds),
            lambda new: sources.check(new.feeds),
        ),
        ReloadablePart(
            DELAY_KEYS,
            lambda new: reset_delay(publisher.public, journal, new.feeds.delay_s),
        ),
    )
    return SettingsReloader(load, path, config, parts, record=service.arbiter.record)


def build_publisher(config: Config, service: EventService) -> Publisher:
    """Build the publisher on the service's port, with the state as the public sees
    it.
    """
    journal = service.journal.journal
    delay_s = restore_delay_s(config.feeds.delay_s, journal)
    public = PublicView(
        service.state,
        delay_s=delay_s,
        hide_scores=config.server.hide_scores,
        unshown=find_unpublished(journal, service.state, delay_s),
        stored_engine=service.state.stored_engine,
        pseudonyms=restore_pseudonyms(journal),
    )
    service.public = public
    connections = cap_connections(config.server.max_connections, raise_file_limit())
    return Publisher(
        msgspec.structs.replace(config.server, max_connections=connections),
        service.state,
        public=public,
        incidents=service.arbiter.incidents,
        desk=service.arbiter.command,
        on_air=service.put_on_air,
        study=open_study_files(config.study.folder),
        report=service.inbox.health,
    )


@contextlib.asynccontextmanager
async def _publishing_to_broker(
    config: Config,
    service: EventService,
    public: PublicView,
    supervisor: Supervisor,
) -> AsyncIterator[None]:
    """Keep a broker up to date during the block, if the settings name one."""
    if not config.mqtt.publish:
        yield
        return
    from live.server.broker import BrokerPublisher
    from live.server.site_stream import SiteStream

    visible = public_filter(config.server.hide_scores)
    stream = SiteStream(
        public,
        visible,
        epoch=secrets.token_hex(6),
        clock=time.monotonic,
        delay=public.describe_delay,
    )
    broker = BrokerPublisher(
        config.mqtt,
        public,
        visible,
        report=service.inbox.health,
        stream=stream if config.mqtt.site else None,
    )
    public.listen(service.bus.guard(broker.publish), broker.reset)
    async with run_in_background(supervisor.keep("broker", broker.run), "broker"):
        yield
