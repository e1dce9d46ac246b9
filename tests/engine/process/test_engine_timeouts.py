"""How long a search may take."""

from __future__ import annotations

import pytest

from live.engine.engine_process import EnginePace, EngineTimeouts
from live.engine.search import Limit, SearchResult
from live.events import Score

PATIENCE = EngineTimeouts(floor_s=10, slack=20, unknown_depth_s=120)


def result(nodes: int) -> SearchResult:
    return SearchResult(score=Score(0), best="e2e4", depth=9, nodes=nodes)


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        (Limit(nodes=1), 10),
        (Limit(nodes=100_000), 40),  # at 50 knodes/s, twenty times over
        (Limit(depth=20), 120),
        (Limit(movetime_ms=2500), 12.5),
    ],
)
def test_an_engine_nobody_has_timed(limit: Limit, seconds: float) -> None:
    assert EnginePace(PATIENCE).longest_s(limit) == seconds


def test_speed_is_learned_from_searches() -> None:
    pace = EnginePace(PATIENCE)
    pace.took(Limit(nodes=100_000), 0.2, result(100_000))
    assert pace.knodes_per_s == pytest.approx(500)
    assert pace.longest_s(Limit(nodes=10_000_000)) == pytest.approx(20 * 20)
    pace.took(Limit(nodes=100_000), 0.4, result(100_000))
    assert pace.knodes_per_s == pytest.approx(475)
    assert pace.longest_s(Limit(nodes=100_000)) == 10


def test_a_slow_search_allows_for_slower_ones() -> None:
    pace = EnginePace(PATIENCE)
    pace.took(Limit(depth=20), 30.0, result(9_000_000))
    assert pace.longest_s(Limit(depth=20)) == 600
    assert pace.longest_s(Limit(depth=21)) == 120


def test_a_search_of_no_nodes_teaches_no_speed() -> None:
    pace = EnginePace(PATIENCE)
    pace.took(Limit(nodes=100_000), 0.0, result(0))
    assert pace.knodes_per_s is None


def test_one_starved_search_is_forgotten_after_a_while() -> None:
    pace, limit = EnginePace(PATIENCE), Limit(nodes=100_000)
    pace.took(limit, 60.0, result(100_000))
    assert pace.longest_s(limit) == 1200
    for _ in range(100):
        pace.took(limit, 0.2, result(100_000))
    assert pace.longest_s(limit) == 10
