"""The exposition, read back by Prometheus' own parser."""

from __future__ import annotations

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from live.events import (
    EngineHealth,
    EngineState,
    FeedHealth,
    QueueLengths,
    SpeculationFigures,
)
from live.publish.answers import MetricCounts, Metrics
from tests.publish.world import NAMES, World


def samples(world: World, tally: MetricCounts) -> dict[str, float]:
    text = Metrics(world, tally).text().decode()
    return {
        each.name + "".join(f" {value}" for value in each.labels.values()): each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
    }


def test_what_is_counted_is_told() -> None:
    world, tally = World(1), MetricCounts()
    for game in ("g1", "g2"):
        world.appear(game)
        world.move(game)
    world.feed_health = (FeedHealth("a", "live"), FeedHealth("b", "live"), FeedHealth("c", "stale"))
    world.engine_health = EngineHealth(
        (EngineState(0, "idle", knodes_per_s=512.5, depth=17), EngineState(1, "failed")),
        queued=7,
        oldest_wait_s=1.5,
        searches=9,
        asked=12,
        cache_hits=5,
        waiting=QueueLengths(head=2, backlog=5, speculate=30),
        speculation=SpeculationFigures(hits=4, misses=3, wasted_nodes=1000),
    )
    tally.subscribers, tally.deliveries, tally.skips = 3, 40, 2
    tally.snapshots["joined"] += 5
    tally.closes["slow"] += 1
    told = samples(world, tally)
    assert told["live_rate_subscribers"] == 3
    assert told["live_rate_deliveries_total"] == 40
    assert told["live_rate_skips_total"] == 2
    assert told["live_rate_snapshots_total joined"] == 5
    assert told["live_rate_closes_total slow"] == 1
    assert told["live_rate_games"] == 2
    assert told["live_rate_plies"] == 2
    assert told["live_rate_plies_scored"] == 0
    assert told["live_rate_feeds live"] == 2
    assert told["live_rate_feeds stale"] == 1
    assert told["live_rate_engines failed"] == 1
    assert told["live_rate_queue"] == 7
    assert told["live_rate_queue_oldest_seconds"] == 1.5
    assert told["live_rate_searches_total"] == 9
    assert told["live_rate_searches_asked_total"] == 12
    assert told["live_rate_cache_hits_total"] == 5
    assert [told[f"live_rate_waiting {name}"] for name in ("head", "backlog", "speculate")] == [
        2,
        5,
        30,
    ]
    assert told["live_rate_engine_depth 0"] == 17
    assert told["live_rate_engine_nodes_per_second 0"] == 512_500
    assert "live_rate_engine_nodes_per_second 1" not in told
    assert told["live_rate_ahead_hits_total"] == 4
    assert told["live_rate_ahead_misses_total"] == 3
    assert told["live_rate_ahead_wasted_nodes"] == 1000


def test_nobody_is_named_and_the_series_stay_few() -> None:
    world = World(1)
    before = len(samples(world, MetricCounts()))
    for _ in range(300):
        world.step()
    world.appear("g1") if "g1" not in world.held else None
    world.held["g1"] = msgspec.structs.replace(world.held["g1"], event="A secret event")
    text = Metrics(world, MetricCounts()).text().decode()
    assert all(name not in text for name in NAMES if name)
    assert "secret" not in text
    assert len(samples(world, MetricCounts())) <= before + 2
