"""``live-rate replay``: an event played back from its journal. Part of the composition root."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from live.config import Config
from live.errors import ConfigError
from live.events import Alert, FeedHealth
from live.games.game import GameGone, NewGame, Step
from live.jobs.recorded_event import RecordedEvent, config_of, run_at
from live.ledger.game.game_evaluations import RequestId
from live.publish.access.origin_policy import is_loopback
from live.publish.server import Publisher
from live.service.alert_service import ALERT, said_in
from live.service.event_service import HEALTH_PERIOD_S
from live.service.output_mode import JsonPrinter, line_printer
from live.service.process import stop_on_signals
from live.service.program_output import log_to_stderr
from live.store.journal_reader import JournalReader
from live.store.journal_records import RecordedNote, RecordedScore, Restated

#: A longer time without anything is not waited out in a replay, milliseconds of the event.
PAUSE_MS = 300_000
#: What is left of it.
REST_MS = 5_000
#: Longest the loop is kept from other work while events are played, seconds.
SLICE_S = 0.01


class _Played:
    """Which answers are due when, as the event is played."""

    def __init__(self, service: RecordedEvent) -> None:
        self._service = service
        self._due: list[tuple[int, int, RequestId, RecordedScore]] = []
        self._count = 0

    def take(self, now_ms: int) -> None:
        """Report what was found by now; remember what will be found later."""
        service = self._service
        # Then, too, they came within moments.
        service.answer_about_people()
        while service.waiting or (self._due and self._due[0][0] <= now_ms):
            while service.waiting:
                search, request_id = service.waiting.popleft()
                found = service.looked_up(search)
                if found is not None:
                    self._count += 1
                    at_ms = found[1].at_ms or 0
                    heapq.heappush(self._due, (at_ms, self._count, request_id, found[1]))
            while self._due and self._due[0][0] <= now_ms:
                _, _, request_id, scored = heapq.heappop(self._due)
                service.state.searched(request_id, scored.result)

    @property
    def next_ms(self) -> int | None:
        return self._due[0][0] if self._due else None


async def replay(
    path: Path,
    *,
    speed: float,
    host: str,
    port: int,
    public: bool = False,
    json: bool = False,
    linger: bool = True,
) -> int:
    """``live-rate replay``: serves pages, overlays and websockets as the service did.

    Raises:
        ConfigError: others can reach ``host``, and not ``public``.
        InputError: ``path`` is no journal that can be played.
        PortInUse: somebody else listens there.
    """
    log_to_stderr(Config())
    if not (public or is_loopback(host)):
        # Not left to the server: a replay reads no settings, and has no tokens to give.
        raise ConfigError(
            f"--host {host}", "everybody who reaches this address could read along", "Say --public"
        )
    console = Console(stderr=json)
    stop = asyncio.Event()
    with JournalReader.open(path) as reader:
        run = run_at(reader, path, None)
        served = {"host": host, "port": port, "public": public}
        service = RecordedEvent(reader, run, config_of(run, path, server=served))
        async with Publisher(service.config.server, service.state) as publisher:
            service.listen(publisher.publish)
            service.listen(JsonPrinter().show if json else line_printer(console))
            with stop_on_signals(stop):
                # Not wrapped: path and address are copied from here.
                serving = f"live-rate replays {path} at {publisher.url}"
                console.print(serving, markup=False, highlight=False, soft_wrap=True)
                console.print(_alerts_in(reader), highlight=False, soft_wrap=True)
                playing = asyncio.create_task(play(service, reader, speed), name="replay")
                stopping = asyncio.create_task(stop.wait(), name="stop")
                telling = asyncio.create_task(tell_moments(service), name="moments")
                await asyncio.wait({playing, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if playing.done():
                    await playing
                    if linger:
                        console.print("the journal ends here; Ctrl-C ends this", highlight=False)
                        await stopping
                playing.cancel()
                stopping.cancel()
                telling.cancel()
                await asyncio.wait({playing, stopping, telling})
    return 0


async def tell_moments(service: RecordedEvent) -> None:
    """Find moments anew as the event goes on."""
    while True:
        await asyncio.sleep(HEALTH_PERIOD_S)
        service.story.tick()


async def play(service: RecordedEvent, reader: JournalReader, speed: float) -> None:
    """Let everything happen again, ``speed`` times as fast; pauses of the service are left out."""
    played = _Played(service)
    loop = asyncio.get_running_loop()
    changes = list(reader.changes())
    clock = _Clock(changes[0].at_ms if changes else 0, loop.time(), speed)
    for feed in service.run.feeds:
        service.health(FeedHealth(feed, "live", "replayed from a journal"))
    slice_s = loop.time()
    notes = deque(note for note in reader.notes() if note.kind == ALERT)
    for change in changes:
        if change.at_ms - clock.now_ms(loop.time()) > PAUSE_MS:
            clock.skip_to(change.at_ms - REST_MS, loop.time())
        while (now_ms := clock.now_ms(loop.time())) < change.at_ms:
            until = min(change.at_ms, played.next_ms or change.at_ms)
            if notes:
                until = max(now_ms, min(until, notes[0].at_ms))
            await asyncio.sleep(clock.seconds(until - now_ms))
            played.take(clock.now_ms(loop.time()))
            _note(service, notes, clock.now_ms(loop.time()))
        for step in _steps(service, change.step):
            with contextlib.suppress(ValueError, KeyError, IndexError):
                service.state.apply(step)
        played.take(now_ms)
        _note(service, notes, change.at_ms)
        if loop.time() - slice_s > SLICE_S:
            await asyncio.sleep(0)
            slice_s = loop.time()
    while (due_ms := played.next_ms) is not None:
        # The service may have been away before the last answers were found.
        if due_ms - clock.now_ms(loop.time()) > PAUSE_MS:
            clock.skip_to(due_ms - REST_MS, loop.time())
        await asyncio.sleep(clock.seconds(due_ms - clock.now_ms(loop.time())))
        played.take(max(due_ms, clock.now_ms(loop.time())))
    while notes:
        if notes[0].at_ms - clock.now_ms(loop.time()) > PAUSE_MS:
            clock.skip_to(notes[0].at_ms - REST_MS, loop.time())
        await asyncio.sleep(clock.seconds(notes[0].at_ms - clock.now_ms(loop.time())))
        _note(service, notes, max(notes[0].at_ms, clock.now_ms(loop.time())))
    for feed in service.run.feeds:
        service.health(FeedHealth(feed, "finished", "replayed from a journal"))


def _alerts_in(reader: JournalReader) -> str:
    """Whether there are alerts to see, for people."""
    held = {alert.id for note in reader.notes() if isinstance(alert := said_in(note), Alert)}
    if not held:
        return "it holds no alerts; nobody can know whether there were any"
    some = "1 alert" if len(held) == 1 else f"{len(held)} alerts"
    return f"it holds {some}, shown here as they were then; pages show none"


def _note(service: RecordedEvent, notes: deque[RecordedNote], now_ms: int) -> None:
    """Publish the alerts that had been raised by now."""
    while notes and notes[0].at_ms <= now_ms:
        if isinstance(alert := said_in(notes.popleft()), Alert):
            service.alert(alert)


def _steps(service: RecordedEvent, step: Step | Restated) -> Iterator[Step]:
    held = [game.id for game in service.state.held()]
    if isinstance(step, Restated):
        yield from (GameGone(id) for id in held)
    else:
        if isinstance(step, NewGame) and step.id in held:
            yield GameGone(step.id)
        yield step


class _Clock:
    """The event's time by the loop's."""

    def __init__(self, start_ms: int, began_s: float, speed: float) -> None:
        self._start_ms, self._began_s, self._speed = start_ms, began_s, speed

    def skip_to(self, ms: int, now_s: float) -> None:
        self._start_ms, self._began_s = ms, now_s

    def now_ms(self, now_s: float) -> int:
        return self._start_ms + round((now_s - self._began_s) * 1000 * self._speed)

    def seconds(self, ms: float) -> float:
        return max(0.0, ms / 1000 / self._speed)
