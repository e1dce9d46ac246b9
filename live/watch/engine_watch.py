"""Collects the health of the engines and of the network that predicts human moves."""

from collections.abc import Callable

import msgspec

from live.event.bus import TakeChanges
from live.event.event import Event
from live.messages.health import EngineHealth, HumanHealth, MeasuringProgress
from live.watch.overload import describe_overload

#: Number of progress reports during the measurement of an engine.
SHOWN_STEPS = 20


class EngineWatch:
    """Publishes the health of the engines as part of the event.

    Args:
        event: the event.
        publish: receives the changes.
        read_engines: returns the health of the engines.
        read_human: returns the health of the network of human moves; None without a
            network.
    """

    def __init__(
        self,
        event: Event,
        publish: TakeChanges,
        read_engines: Callable[[], EngineHealth],
        read_human: Callable[[], HumanHealth] | None = None,
    ) -> None:
        self._event = event
        self._publish = publish
        self._read_engines = read_engines
        self._read_human = read_human
        self._measuring: MeasuringProgress | None = None

    def report(self) -> None:
        """Publish the present health of the engines. Call this about once a second."""
        health = self._read_engines()
        updates: dict[str, object] = {"measuring": self._measuring}
        if self._read_human is not None:
            updates["human"] = self._read_human()
        if health.queued:
            updates["behind"] = describe_overload(self._event.list_records())
        health = msgspec.structs.replace(health, **updates)
        self._publish(self._event.update_engine_health(health))

    def show_measuring(self, progress: MeasuringProgress | None) -> None:
        """Publish the progress of the measurement of an unknown engine; None once it
        has ended.
        """
        self._measuring = progress
        if progress is None or progress.done % max(1, progress.of // SHOWN_STEPS) == 0:
            self.report()
