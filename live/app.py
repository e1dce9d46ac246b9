"""Builds everything, starts and stops it in order, and wires the rooms together. No logic.

Start: feeds recognised, engine, port, then the feeds run. Stop: feeds, then subscribers hear
goodbye, then engines. Every task has a name; state has one writer, the task ``keep``.
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

from live.config import Config, StudyConfig
from live.errors import ConfigError, LiveRateError, first_of
from live.games.player_lists import add_neighbouring_lists
from live.messages.health import ARBITERS_NOTIFICATIONS, NOTIFICATIONS
from live.process.clock import LOOP_CLOCK
from live.process.limits import cap_connections, raise_file_limit
from live.process.memory import freeze_startup_objects
from live.process.sd_notify import ServiceManager
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr, set_log_level
from live.process.supervision import Supervisor, run_in_background
from live.server.authentication import public_filter
from live.server.listening import check_exposure
from live.server.public_audience import PublicAudience
from live.server.public_delay import (
    find_unpublished,
    record_publication,
    reset_delay,
    restore_delay_s,
    restore_pseudonyms,
    run_delay,
    wait_until_published,
)
from live.server.server import Publisher
from live.server.static_files import STUDY_TYPES, StaticSite
from live.service.event_journal import EventJournal, journal_path
from live.service.event_service import EventService
from live.service.program_output import OutputMode, choose_display
from live.service.settings_reload import (
    DELAY_KEYS,
    PORT_KEYS,
    SOURCE_KEYS,
    ReloadablePart,
    SettingsReloader,
)
from live.sources.source_runner import SourceRunner

log = logging.getLogger(__name__)

Part = Callable[[], Awaitable[None]]
"""Something that runs beside the others, and is started again where it fails."""


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run to the end; an error of ours comes out alone, not wrapped in a group."""
    try:
        return asyncio.run(main)
    except BaseExceptionGroup as group:  # Python before 3.11.4 wraps what except* raises
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
    """``live-rate --feed``: follow, analyse, publish, show; returns the exit code. ``load`` reads
    the settings again when their file, ``path``, has changed.
    """
    log_to_stderr(config.log.level)
    sources = SourceRunner(specs, config.feeds, lasting=not once)
    names = sources.names
    said = config
    config = msgspec.structs.replace(
        config, feeds=add_neighbouring_lists(sources.folders, config.feeds)
    )
    service = EventService(
        config, EventJournal(journal_path(config.journal, names, once=once)), human=True
    )
    console = Console()
    shown = choose_display(headless=headless, json=json)
    stop = asyncio.Event()
    supervisor = Supervisor(service.health)
    manager = ServiceManager(os.environ, os.getpid(), service.busy)
    # The first interval would import it, for a third of a second in the middle of a round.
    await asyncio.to_thread(import_module, "scipy.special")
    async with (
        service.with_engine(feeds=names),
        publishing(config, service) as publisher,
        _publishing_to_broker(config, service, publisher.public, supervisor),
        manager.running(),
    ):
        service.listen(publisher.publish)
        service.listen(manager.publish)
        public, clock = publisher.public, LOOP_CLOCK
        parts = for_producers(config, service, public)
        screen = OutputMode(shown, service, public, publisher.url, console, stop)
        parts["public"] = lambda: run_delay(public, clock)
        if shown == "app":
            parts["display"] = screen.run
        journal = service.journal.journal
        public.listen(partial(record_publication, public, journal))
        if load is not None and path is not None:
            parts["settings"] = _reloader(said, load, path, sources, publisher, service).run
        with stop_on_signals(stop) as stopped:
            # Whoever reads where it serves may end it.
            screen.begin()
            freeze_startup_objects()
            serving = _serve(service, sources, publisher, supervisor, parts, once)
            await run_until_stopped(serving, stop)
        if once and not stop.is_set():
            screen.end()
    return (derive_exit_code(stopped) or sources.exit_code) if once else 0


async def _serve(
    service: EventService,
    sources: SourceRunner,
    publisher: Publisher,
    supervisor: Supervisor,
    extra: Mapping[str, Part],
    once: bool,
) -> None:
    """Run all parts; ``extra`` beside those that every run has."""
    parts: dict[str, Part] = {
        "reports": service.keep,
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
            measuring = supervisor.keep("calibration", service.measure_engine, ends=True)
            background.append(tasks.create_task(measuring, name="keep calibration"))
        async with sources.running(service.follow, service.health, supervisor):
            await sources.wait_until_over()
            await service.settled()
            if once:
                # What is printed at the end rests on it.
                await service.measure_engine()
            service.report_engines()
            if once:
                await wait_until_published(publisher.public, LOOP_CLOCK)
            else:
                # It stays for those who look, and for new settings.
                await asyncio.Event().wait()
        for task in background:
            task.cancel()


def _reloader(
    config: Config,
    load: Callable[[], Config],
    path: Path,
    sources: SourceRunner,
    publisher: Publisher,
    service: EventService,
) -> SettingsReloader:
    """What takes settings over while the service runs."""
    journal = service.journal.journal
    parts = (
        ReloadablePart(frozenset({"log.level"}), lambda new: set_log_level(new.log.level)),
        ReloadablePart(
            PORT_KEYS,
            lambda new: publisher.reconfigure(new.server),
            lambda new: check_exposure(new.server),
        ),
        ReloadablePart(
            # One that cannot be begun anew takes nothing over.
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


def publishing(config: Config, service: EventService) -> Publisher:
    """The port, and before it what keeps its two audiences apart."""
    journal = service.journal.journal
    delay_s = restore_delay_s(config.feeds.delay_s, journal)
    public = PublicAudience(
        service.state,
        delay_s=delay_s,
        hide_scores=config.server.hide_scores,
        unshown=find_unpublished(journal, service.state, delay_s),
        stored_engine=service.state.stored_engine,
        pseudonyms=restore_pseudonyms(journal),
    )
    service.withholding = lambda: public.is_withholding
    service.delay_s = lambda: public.delay_s
    connections = cap_connections(config.server.max_connections, raise_file_limit())
    return Publisher(
        msgspec.structs.replace(config.server, max_connections=connections),
        service.state,
        public=public,
        incidents=service.arbiter.incidents,
        desk=service.arbiter.command,
        on_air=service.put_on_air,
        study=study_files(config.study),
        report=service.health,
    )


def study_files(config: StudyConfig) -> StaticSite | None:
    """The tables and figures that are shown, if a folder of them is named.

    Raises ConfigError where it is not there.
    """
    if not config.folder:
        return None
    folder = Path(config.folder).expanduser()
    if not folder.is_dir():
        remedy = "Correct the path, or fill it: live-rate study table CORPUS all --out FOLDER"
        raise ConfigError(f"study.folder {config.folder}", "no such folder", remedy)
    return StaticSite(folder, STUDY_TYPES)


def for_producers(config: Config, service: EventService, public: PublicAudience) -> dict[str, Part]:
    """What switches scenes and notifies people, if it is asked for. It hears what the public may
    know, so nothing that is delayed or hidden leaves by it; arbiters alone hear of alerts.
    """
    parts: dict[str, Part] = {}
    if config.director.url:
        from live.outlets.producers import ObsDirector

        director = ObsDirector(config.director, report=service.health)

        def begin_director() -> None:
            director.choice.set_known(public.games(), public.moments())

        begin_director()
        public.listen(service.guarded(director.publish), begin_director)
        parts["director"] = director.run
    notify = config.notify
    if notify.urls_file or notify.arbiters_file:
        from live.outlets.producers import ArbiterRules, Notifier, PublicRules

        if file := notify.urls_file:
            people = PublicRules(notify)

            def begin_people() -> None:
                people.set_known(public.games(), public.moments())

            begin_people()
            notifier = Notifier(people, "notify.urls_file", file, report=service.health)
            public.listen(service.guarded(notifier.publish), begin_people)
            parts[NOTIFICATIONS] = notifier.run
        if file := notify.arbiters_file:
            part, arbiters = ARBITERS_NOTIFICATIONS, ArbiterRules(notify)
            arbiters.set_known(service.state.games(), service.alerts())
            notifier = Notifier(
                arbiters, "notify.arbiters_file", file, part=part, report=service.health
            )
            service.listen(service.guarded(notifier.publish))
            parts[part] = notifier.run
    return parts


@contextlib.asynccontextmanager
async def _publishing_to_broker(
    config: Config, service: EventService, public: PublicAudience, supervisor: Supervisor
) -> AsyncIterator[None]:
    """A broker is kept up to date, if one is named."""
    if not config.mqtt.publish:
        yield
        return
    from live.server.broker import BrokerPublisher
    from live.server.site_stream import SiteStream

    seen = public_filter(config.server.hide_scores)
    stream = SiteStream(
        public,
        seen,
        epoch=secrets.token_hex(6),
        clock=time.monotonic,
        delay=public.describe_delay,
    )
    broker = BrokerPublisher(
        config.mqtt,
        public,
        seen,
        report=service.health,
        stream=stream if config.mqtt.site else None,
    )
    public.listen(service.guarded(broker.publish), broker.reset)
    async with run_in_background(supervisor.keep("broker", broker.run), "broker"):
        yield
