"""What is measured of the service, as Prometheus text (OpenMetrics names, base units).

Nothing here names a player, a board or a client: the number of series stays bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from live.publish.published_state import PublishedState

CONTENT_TYPE = CONTENT_TYPE_LATEST


class MetricCounts:
    """Plain counts, kept by those who do the things counted."""

    def __init__(self) -> None:
        self.subscribers = 0
        """Websockets being served now."""
        self.deliveries = 0
        """Writes of new messages to one subscriber each."""
        self.skips = 0
        """Writes left out because the subscriber had too much unread."""
        self.snapshots: Counter[str] = Counter()
        """Snapshots given, by ``joined``, ``skipped`` and ``late`` (its first took too long)."""
        self.resumes = 0
        """Subscribers that were given just what they had missed."""
        self.closes: Counter[str] = Counter()
        """Connections we ended, by the close code's name."""


class Metrics(Collector):
    """Reads state and counts whenever somebody asks."""

    def __init__(self, state: PublishedState, tally: MetricCounts) -> None:
        self._state = state
        self._tally = tally
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def text(self) -> bytes:
        """The whole exposition."""
        return generate_latest(self._registry)

    def describe(self) -> list[Metric]:
        """Nothing ahead of time, so registering does not read the state."""
        return []

    def collect(self) -> Iterator[Metric]:
        yield from self._publishing()
        yield from self._engines()
        games = list(self._state.games())
        yield _gauge("games", "Games held.", len(games))
        yield _gauge("plies", "Plies held.", sum(game.plies_played for game in games))
        yield _gauge(
            "plies_scored", "Plies with a final score.", sum(game.plies_scored for game in games)
        )
        feeds = GaugeMetricFamily("live_rate_feeds", "Feeds by state.", labels=["state"])
        sources = [feed for feed in self._state.feeds() if not feed.part]
        for state, count in Counter(feed.state for feed in sources).items():
            feeds.add_metric([state], count)
        yield feeds

    def _publishing(self) -> Iterator[Metric]:
        tally = self._tally
        yield _gauge("subscribers", "Websockets being served.", tally.subscribers)
        yield _counter("deliveries", "Writes of new messages to a subscriber.", tally.deliveries)
        yield _counter("skips", "Writes left out for a slow subscriber.", tally.skips)
        yield _counter("resumes", "Subscribers given just what they missed.", tally.resumes)
        snapshots = CounterMetricFamily(
            "live_rate_snapshots", "Snapshots given, by reason.", labels=["reason"]
        )
        for reason, count in tally.snapshots.items():
            snapshots.add_metric([reason], count)
        yield snapshots
        closes = CounterMetricFamily(
            "live_rate_closes", "Connections ended by us, by reason.", labels=["reason"]
        )
        for reason, count in tally.closes.items():
            closes.add_metric([reason], count)
        yield closes

    def _engines(self) -> Iterator[Metric]:
        health = self._state.engines()
        engines = GaugeMetricFamily("live_rate_engines", "Engines by state.", labels=["state"])
        for state, count in Counter(engine.state for engine in health.engines).items():
            engines.add_metric([state], count)
        yield engines
        yield _gauge("queue", "Positions that wait for an engine.", health.queued)
        yield _gauge(
            "queue_oldest_seconds", "How long the oldest of them has waited.", health.oldest_wait_s
        )
        waiting = GaugeMetricFamily(
            "live_rate_waiting", "Searches that wait for an engine, by class.", labels=["class"]
        )
        for name, number in msgspec.structs.asdict(health.waiting).items():
            waiting.add_metric([name], number)
        yield waiting
        depths = GaugeMetricFamily(
            "live_rate_engine_depth", "Depth of each engine's search.", labels=["engine"]
        )
        for engine in health.engines:
            if engine.depth is not None:
                depths.add_metric([str(engine.index)], engine.depth)
        yield depths
        speeds = GaugeMetricFamily(
            "live_rate_engine_nodes_per_second", "Speed of each engine.", labels=["engine"]
        )
        for engine in health.engines:
            if engine.knodes_per_s is not None:
                speeds.add_metric([str(engine.index)], engine.knodes_per_s * 1000)
        yield speeds
        yield _counter("searches", "Searches done.", health.searches)
        yield _counter("searches_asked", "Searches asked for.", health.asked)
        yield _counter("cache_hits", "Of those, known already.", health.cache_hits)
        if (ahead := health.speculation) is not None:
            yield _counter("ahead_hits", "Searches of moves ready before them.", ahead.hits)
            yield _counter("ahead_misses", "Searches of moves that were not.", ahead.misses)
            yield _gauge(
                "ahead_wasted_nodes", "Spent on what did not come true.", ahead.wasted_nodes
            )
        if (human := health.human) is not None:
            yield _counter("human_answers", "Positions answered for people.", human.answered)
            yield _counter("human_left_out", "Positions given up unanswered.", human.left_out)
            yield _gauge("human_waiting", "Positions not yet answered.", human.waiting)
        yield _counter("engine_restarts", "Engines replaced.", health.restarts)
        yield _gauge("set_aside", "Positions given up.", health.set_aside)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"live_rate_{name}", text, value=value)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"live_rate_{name}", text, value=value)
