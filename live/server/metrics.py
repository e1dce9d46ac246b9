"""Metrics of the service in Prometheus' text format (OpenMetrics names, base units).

No metric has a player, a board or a client as a label, so the number of time series
stays limited.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from live.server.event_reader import EventReader


class MetricCounts:
    """Counters for the metrics, updated wherever the counted events happen."""

    def __init__(self) -> None:
        self.subscribers = 0
        """Number of connected websocket subscribers."""
        self.deliveries = 0
        """Number of writes of new messages, each to one subscriber."""
        self.skips = 0
        """Number of writes left out because a subscriber had too much unread data."""
        self.snapshots: Counter[str] = Counter()
        """Number of snapshots sent, by reason: ``joined`` or ``skipped``."""
        self.resumes = 0
        """Number of subscribers that got only the messages that they had missed."""
        self.closes: Counter[str] = Counter()
        """Number of connections closed by the service, by the name of the close code.
        """


class Metrics(Collector):
    """Computes all metrics from the state and the counters at each request."""

    def __init__(self, state: EventReader, tally: MetricCounts) -> None:
        self._state = state
        self._tally = tally

    def format_text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self)

    def collect(self) -> Iterator[Metric]:
        tally = self._tally
        games = list(self._state.games())
        yield _gauge("subscribers", "Websockets being served.", tally.subscribers)
        yield _counter(
            "deliveries", "Writes of new messages to a subscriber.", tally.deliveries
        )
        yield _counter("skips", "Writes left out for a slow subscriber.", tally.skips)
        yield _counter(
            "resumes",
            "Subscribers that reconnected and got only what they had missed.",
            tally.resumes,
        )
        yield _counter(
            "snapshots", "Snapshots sent, by reason.", tally.snapshots, "reason"
        )
        yield _counter(
            "closes",
            "Connections closed by the service, by reason.",
            tally.closes,
            "reason",
        )
        yield _gauge("games", "Games in memory.", len(games))
        yield _gauge(
            "plies", "Plies in memory.", sum(game.plies_played for game in games)
        )
        scored = sum(game.plies_scored for game in games)
        yield _gauge("plies_scored", "Plies with a final score.", scored)
        feeds = Counter(feed.state for feed in self._state.feeds() if not feed.part)
        yield _gauge("feeds", "Feeds by state.", feeds, "state")
        health = self._state.engines()
        states = Counter(engine.state for engine in health.engines)
        yield _gauge("engines", "Engines by state.", states, "state")
        yield _gauge("queue", "Positions that wait for an engine.", health.queued)
        yield _gauge(
            "queue_oldest_seconds",
            "Wait of the oldest position that waits for an engine.",
            health.oldest_wait_s,
        )
        waiting = msgspec.structs.asdict(health.waiting)
        yield _gauge(
            "waiting", "Searches that wait for an engine, by class.", waiting, "class"
        )
        speeds = {
            engine.index: engine.knodes_per_s * 1000
            for engine in health.engines
            if engine.knodes_per_s is not None
        }
        yield _gauge(
            "engine_nodes_per_second", "Speed of each engine.", speeds, "engine"
        )
        yield _counter("searches", "Searches done.", health.searches)
        yield _counter(
            "cache_hits",
            "Searches requested whose result was already known.",
            health.cache_hits,
        )
        yield _counter("engine_restarts", "Engines replaced.", health.restarts)
        yield _gauge("set_aside", "Positions given up.", health.set_aside)


def _build_family(
    kind: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    text: str,
    values: float | Mapping[Any, float],
    label: str = "",
) -> Metric:
    """Return a metric with one value, or with one value for each value of a label."""
    if isinstance(values, Mapping):
        family = kind(f"live_rate_{name}", text, labels=[label])
        for label_value, value in values.items():
            family.add_metric([str(label_value)], value)
        return family
    return kind(f"live_rate_{name}", text, value=values)


_gauge = partial(_build_family, GaugeMetricFamily)
_counter = partial(_build_family, CounterMetricFamily)
