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
    MeasuringProgress,
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
    info = EngineInfo("Stockfish", "depth 9", 2200, "field", 40, note="none fits")
    rows = dict(call(pages, "engineRows", {"engines": BUSY, "engine": info}))
    assert rows["Problem"] == "the cluster is lost"
    assert rows["Positions waiting: after the newest moves"] == "2"
    assert rows["Positions waiting: of games over for longer"] == "0"
    assert rows["Known already (cache)"] == "50, 25 %"
    assert rows["Foreseen (searched ahead)"] == "30 of 40, 75 %"
    assert rows["Ratings read by"] == "none: none fits"
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


def lines(pages: Pages, *feeds: FeedHealth, **held: Any) -> list[tuple[str, str]]:
    """Name and text of what stands above every view."""
    known = {"feeds": [plain(each) for each in feeds], "games": [], "engines": None, **held}
    return [(each["name"], each["detail"]) for each in call(pages, "troubleLines", known)]


WELL = (FeedHealth("a", "live"), FeedHealth("b", "finished"))
SILENT = FeedHealth("hall", "stale", "nothing new for 13 min")
COUNTS = {"late_boards": 2.0, "running_boards": 2.0}
GONE = FeedHealth("http://10.0.0.7:8790/g.pgn", "retrying", "cannot reach 10.0.0.7")


def test_above_the_figures_stands_only_what_is_not_as_it_should_be(pages: Pages) -> None:
    well = plain(EngineHealth(engines=(EngineState(0, "idle"),)))
    assert lines(pages, *WELL, engines=well) == []
    assert lines(pages, *WELL, SILENT, engines=well) == []
    seen = lines(pages, *WELL, SILENT, hello={"sight": "arbiter"})
    assert seen == [("hall", "stale: nothing new for 13 min")]
    delay = {"public_delay": {"delay_s": 900, "first_s": None, **COUNTS}}
    assert lines(pages, *WELL, hello=delay) == [("public", "15:00 behind")]


@pytest.mark.parametrize(
    ("feeds", "said"),
    [
        ((GONE,), ("source", "lost, trying again")),
        ((FeedHealth("a", "failed", "404"),), ("source", "lost")),
        ((*WELL, GONE), ("sources", "1 of 3 lost, trying again")),
        ((FeedHealth("a", "waiting", "no such file"),), ("source", "not there yet, waiting")),
    ],
)
def test_who_watches_reads_no_address_and_no_error_of_a_source(
    pages: Pages, feeds: tuple[FeedHealth, ...], said: tuple[str, str]
) -> None:
    assert lines(pages, *feeds) == [said]


def test_who_looks_after_it_reads_both(pages: Pages) -> None:
    [(name, detail)] = lines(pages, GONE, hello={"sight": "arbiter"})
    assert (name, detail) == (GONE.feed, "retrying: cannot reach 10.0.0.7")


def test_of_engines_it_is_said_how_many_moves_wait_for_them(pages: Pages) -> None:
    late = [{"plies_played": 90, "plies_scored": 13}, {"plies_played": 5, "plies_scored": 5}]
    measuring = plain(
        EngineHealth(engines=(EngineState(0, "searching"),), measuring=MeasuringProgress(3, 294))
    )
    assert lines(pages, *WELL, engines=measuring, games=late) == [
        ("scores", "77 moves still to be rated")
    ]
    assert lines(pages, *WELL, engines=measuring) == []
    assert lines(pages, *WELL, engines=plain(BUSY), games=late) == [
        ("scores", "they come more slowly at the moment, 77 moves still to be rated")
    ]
    venue = {"sight": "venue"}
    assert lines(pages, *WELL, engines=plain(BUSY), games=late, hello=venue) == []
    rows = call(pages, "engineRows", {"engines": measuring, "engine": None})
    assert ["Measuring the engine, once", "3 of 294 positions"] in rows


@pytest.mark.parametrize(
    ("feeds", "said"),
    [
        ((), "live"),
        ((GONE,), "not live"),
        ((GONE, FeedHealth("b", "finished")), "not live"),
        ((GONE, SILENT), "live"),
        ((GONE, FeedHealth("director", "live", part=True)), "not live"),
        ((FeedHealth("a", "waiting"),), "not live yet"),
        ((FeedHealth("a", "finished"),), "over"),
    ],
)
def test_it_is_live_only_while_a_source_is(
    pages: Pages, feeds: tuple[FeedHealth, ...], said: str
) -> None:
    def words(**connection: Any) -> Any:
        args = [{"heardAt": 0, **connection}, [plain(each) for each in feeds], 8000.0]
        where = {"module": "page/connection_status.js", "name": "connectionWords"}
        return pages("call", **where, args=args)["said"]

    assert words(status="live") == said
    assert words(status="waiting") == "connection lost, trying again; shown as of 8 s ago"


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
    late = {"delay_s": 900.0, "first_s": None, **COUNTS}
    assert said(late) == "15:00 behind"
    assert said({**late, "running_boards": 7}) == "2 of 7 running boards 15:00 behind"
    assert said({**late, "late_boards": 0}) == said({"delay_s": 900, "first_s": None}) == ""
    assert said({"delay_s": 900, "first_s": 1852.0}) == "15:00 behind; first moves in 14:12"
    assert said({**late, "first_s": 999.0}) == "15:00 behind"
