"""live/web/page/health_view.js: what people are told of sources and engines."""

from __future__ import annotations

from typing import Any

import pytest

from live.events import (
    EngineHealth,
    EngineInfo,
    EngineState,
    FeedHealth,
    HumanHealth,
    QueueLengths,
    SpeculationFigures,
)
from tests.web.page.games import Pages, plain

BUSY = EngineHealth(
    engines=(EngineState(0, "searching", 450.4, depth=15), EngineState(1, "idle", 50.0, depth=9)),
    queued=11,
    oldest_wait_s=95.0,
    searches=987,
    cache_hits=50,
    asked=200,
    waiting=QueueLengths(head=2, backlog=9, speculate=4),
    speculation=SpeculationFigures(hits=30, misses=10, wasted_nodes=5),
    restarts=3,
    set_aside=1,
    problem="the cluster is lost",
)


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages("call", module="page/health_view.js", name=name, args=[plain(arg) for arg in args])


def test_the_line_says_all_that_matters(pages: Pages) -> None:
    assert call(pages, "engineFacts", BUSY) == [
        "the cluster is lost",
        "1 of 2 searching",
        "depth 9–15",
        "500 knodes/s",
        "waiting: 2 after the newest moves, 9 earlier in games that run, "
        "4 not played yet, searched ahead",
        "the oldest 2 min",
        "987 searches",
        "25 % known before",
        "75 % foreseen",
        "3 restarts",
        "1 positions given up",
    ]


def test_what_is_not_known_is_not_said(pages: Pages) -> None:
    idle = EngineHealth(engines=(EngineState(0, "idle"),))
    assert call(pages, "engineFacts", idle) == [
        "0 of 1 searching",
        "nothing waits",
        "0 searches",
    ]


def test_a_replay_has_no_engine_and_says_so(pages: Pages) -> None:
    assert call(pages, "engineFacts", EngineHealth()) == ["none: scores are as recorded"]
    assert call(pages, "engineFacts", EngineHealth(problem="lost")) == ["lost"]


@pytest.mark.parametrize(
    ("health", "state"),
    [
        (BUSY, "retrying"),
        (EngineHealth(engines=(EngineState(0, "idle"),)), "live"),
        (EngineHealth(engines=(EngineState(0, "idle"), EngineState(1, "restarting"))), "retrying"),
        (EngineHealth(engines=(EngineState(0, "failed"),)), "failed"),
    ],
)
def test_one_dot_for_all_engines(pages: Pages, health: EngineHealth, state: str) -> None:
    assert call(pages, "engineState", health) == state


def test_everything_is_in_the_view(pages: Pages) -> None:
    info = EngineInfo("Stockfish", "depth 9", 2200, "field", 40, None, "none fits")
    rows = dict(call(pages, "engineRows", {"engines": BUSY, "engine": info}))
    assert rows["Problem"] == "the cluster is lost"
    assert rows["Positions waiting: after the newest moves"] == "2"
    assert rows["Positions waiting: of games over for longer"] == "0"
    assert rows["Known already (cache)"] == "50, 25 %"
    assert rows["Foreseen (searched ahead)"] == "30 of 40, 75 %"
    assert rows["Calibration"] == "none: none fits"
    quiet = dict(call(pages, "engineRows", {"engines": EngineHealth(), "engine": info}))
    assert quiet["Foreseen (searched ahead)"] == "switched off"


def test_what_the_network_of_human_moves_does_and_leaves_out(pages: Pages) -> None:
    busy = HumanHealth("network.onnx 1f", "games", 12, 3400, 7, 4.2)
    assert call(pages, "humanWords", busy) == (
        "3,400 positions, 4.2 ms each, 12 wait, 7 left out: too many waited"
    )
    assert call(pages, "humanWords", HumanHealth(problem="human: no room")) == "human: no room"
    assert call(pages, "humanWords", HumanHealth()) == "the network is being loaded"
    rows = dict(call(pages, "engineRows", {"engines": EngineHealth(human=busy), "engine": None}))
    assert "7 left out" in rows["What others would play"]
    assert "What others would play" not in dict(
        call(pages, "engineRows", {"engines": EngineHealth(), "engine": None})
    )


def test_sources_come_first(pages: Pages) -> None:
    held = {"feeds": [plain(FeedHealth("a", "failed", "404"))], "engines": plain(BUSY)}
    first, second = call(pages, "healthLines", held)
    assert first == {"state": "failed", "name": "a", "detail": "failed: 404"}
    assert second["name"] == "engines"


def test_above_the_figures_stands_only_what_is_not_as_it_should_be(pages: Pages) -> None:
    well = EngineHealth(engines=(EngineState(0, "idle"),))
    feeds = [plain(FeedHealth("a", "live")), plain(FeedHealth("b", "finished"))]
    assert call(pages, "troubleLines", {"feeds": feeds, "engines": plain(well)}) == []
    silent = [*feeds, plain(FeedHealth("hall", "stale", "nothing new for 13 min"))]
    held = {"feeds": silent, "engines": plain(well)}
    assert call(pages, "troubleLines", held) == []
    [line] = call(pages, "troubleLines", {**held, "hello": {"sight": "arbiter"}})
    assert (line["name"], line["detail"]) == ("hall", "stale: nothing new for 13 min")
    lost = {"feeds": [*feeds, plain(FeedHealth("c", "failed", "404"))], "engines": plain(BUSY)}
    assert [each["name"] for each in call(pages, "troubleLines", lost)] == ["c", "engines"]
    delay = {"delay_s": 900, "first_s": None}
    late = {"feeds": feeds, "engines": None, "hello": {"public_delay": delay}}
    assert [each["name"] for each in call(pages, "troubleLines", late)] == ["public"]


def test_a_venue_is_not_told_how_strong_the_engine_counts(pages: Pages) -> None:
    info = EngineInfo("Stockfish", "depth 9", 0, "withheld")
    said = call(pages, "engineText", {"engine": info, "hello": {"gain": "same-search"}})
    assert said == "Stockfish, depth 9, same-search gain"


def test_the_delay_says_when_the_first_moves_come(pages: Pages) -> None:
    def said(delay: dict[str, float | None] | None) -> str:
        args = [delay, 1_000_000.0]
        text: str = pages("call", module="page/health_view.js", name="delayText", args=args)
        return text

    assert said(None) == said({"delay_s": 0, "first_s": None}) == ""
    assert said({"delay_s": 900, "first_s": None}) == "15:00 behind"
    assert said({"delay_s": 900, "first_s": 1852.0}) == "15:00 behind; first moves in 14:12"
    assert said({"delay_s": 900, "first_s": 999.0}) == "15:00 behind"
