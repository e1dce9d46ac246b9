"""Health of the engines and of the network of human moves, as people see it."""

from collections.abc import Callable

import msgspec

from live.event.bus import Follower
from live.event.event import Event
from live.messages.health import EngineHealth, HumanHealth, MeasuringProgress
from live.watch.overload import describe_overload

#: Number of times that people are shown how far the measurement of an engine is.
SHOWN_STEPS = 20


class EngineWatch:
    """Gives the event the figures of its engines.

    Args:
        event: the event.
        publish: receives the changes.
        read_engines: returns the figures of the engines.
        read_human: returns those of the network of human moves; None without one.
    """

    def __init__(
        self,
        event: Event,
        publish: Follower,
        read_engines: Callable[[], EngineHealth],
        read_human: Callable[[], HumanHealth] | None = None,
    ) -> None:
        self._event = event
        self._publish = publish
        self._read_engines = read_engines
        self._read_human = read_human
        self._measuring: MeasuringProgress | None = None

    def report(self) -> None:
        """Publish the present figures. Call this about once a second."""
        health = self._read_engines()
        updates: dict[str, object] = {"measuring": self._measuring}
        if self._read_human is not None:
            updates["human"] = self._read_human()
        if health.queued:
            updates["behind"] = describe_overload(self._event.list_records())
        health = msgspec.structs.replace(health, **updates)
        self._publish(self._event.update_engine_health(health))

    def show_measuring(self, progress: MeasuringProgress | None) -> None:
        """Show how far the measurement of an unknown engine is; None once it has
        ended.
        """
        self._measuring = progress
        if progress is None or progress.done % max(1, progress.of // SHOWN_STEPS) == 0:
            self.report()
