"""What the page says: of health and connection, of scores, to those who listen, to arbiters."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import (
    Agreement,
    Alert,
    Curves,
    EngineHealth,
    EngineInfo,
    EngineState,
    FeedHealth,
    GameDetail,
    HumanHealth,
    MeasuringProgress,
    Player,
    PlyView,
    QueueLengths,
    SpeculationFigures,
)
from tests.web.conftest import Pages
from tests.web.page.games import game, plain, ply, point

# --- health view ---------------------------------------------------------------------------------


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
    return pages.run("page/health_view.js", name, *([plain(arg) for arg in args]))


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
        where = {"module": "page/health_view.js", "name": "connectionWords"}
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
        text: str = pages.run("page/health_view.js", "delayText", *args)
        return text

    assert said(None) == said({"delay_s": 0, "first_s": None}) == ""
    late = {"delay_s": 900.0, "first_s": None, **COUNTS}
    assert said(late) == "15:00 behind"
    assert said({**late, "running_boards": 7}) == "2 of 7 running boards 15:00 behind"
    assert said({**late, "late_boards": 0}) == said({"delay_s": 900, "first_s": None}) == ""
    assert said({"delay_s": 900, "first_s": 1852.0}) == "15:00 behind; first moves in 14:12"
    assert said({**late, "first_s": 999.0}) == "15:00 behind"


# --- score words ---------------------------------------------------------------------------------


CLOUD = msgspec.structs.replace(ply(2, 37), final=False, depth=40, score_source="lichess cloud")


def words(pages: Pages, *plies: PlyView) -> str:
    args: list[Any] = [plain(game(plies=plies)), [plain(each) for each in plies]]
    score = pages.run("page/score_words.js", "scoreAfter", *args)
    said = pages.run("page/score_words.js", "scoreWords", score)
    assert isinstance(said, str)
    return said


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (ply(2, 37, depth=16), "+0.37, depth 16"),
        (msgspec.structs.replace(ply(2, 37, depth=9), final=False), "+0.37 … still searching"),
        (CLOUD, "+0.37 (lichess cloud, depth 40) … still searching"),
        (ply(2, None), "+0.30 … still searching"),
    ],
)
def test_the_board_tells_whose_score_it_is(pages: Pages, last: PlyView, said: str) -> None:
    assert words(pages, ply(1, 30), last) == said


def side(pages: Pages, counted: int, *, elo: int | None = 2000, other: int = 2050) -> Any:
    held = point(2 * counted - 1, counted, 2340.0, **({} if elo else UNRATED))
    players: dict[str, Any] = {"white": Player("Ek", elo=elo), "black": Player("Bo", elo=other)}
    whole = plain(game(curves=Curves(white=(held,)), plies=(ply(1, 20),), **players))
    call: dict[str, Any] = {"module": "page/score_words.js"}
    read = pages("call", **call, name="sideFigure", args=[whole, "white", plain(held)])
    return read, pages("call", **call, name="sideText", args=[whole, "white"])


UNRATED = {"usual_low": None, "usual_high": None, "percentile": None}


def test_a_side_is_read_with_its_band_and_its_place_in_words(pages: Pages) -> None:
    read, said = side(pages, 30)
    assert (read["label"], read["text"], read["beyond"]) == ("playing like", "2340", "above")
    assert read["usual"] == "usual for 2000: 1900\u2060–\u20602300"
    assert read["better"] == "better than 50\u00a0% of games by players of 2000"
    spoken = f"playing like 2340, {read['usual']}, {read['better']}, from 30 moves"
    assert said == f"Ek: {spoken}"


def test_the_figure_of_a_whole_game_is_told_from_a_running_one(pages: Pages) -> None:
    held = point(1, 30, 2340.0)
    rated: dict[str, Any] = {"curves": Curves(white=(held,)), "plies": (ply(1, 20),)}
    open_end = rated | {"plies": tuple(ply(n, None) for n in (1, 2, 3))}
    cases = (rated, "1-0", "played"), (rated, "*", "playing"), (open_end, "1-0", "playing")
    for about, result, said in cases:
        args = [plain(game(**about, result=result)), "white"]
        text = pages.run("page/score_words.js", "sideText", *args)
        assert f" {said} like 2340" in text


def test_between_players_far_apart_the_band_is_that_of_the_pairing(pages: Pages) -> None:
    read, _ = side(pages, 30, other=2500)
    assert read["usual"] == "usual for 2000 against 2500: 1900\u2060–\u20602300"


def test_few_moves_are_called_early_and_have_no_place(pages: Pages) -> None:
    read, said = side(pages, 9)
    assert (read["early"], read["better"], read["beyond"]) == ("early \u00b7 9 moves", "", "")
    assert said.endswith("early \u00b7 9 moves")


def test_without_an_own_rating_nothing_is_usual(pages: Pages) -> None:
    read, said = side(pages, 30, elo=None)
    assert (read["usual"], read["better"]) == ("", "")
    assert said == "Ek: playing like 2340, from 30 moves"


def test_so_do_those_that_say_provisional(pages: Pages) -> None:
    for source, said in (("", "provisional"), ("lichess cloud", "provisional, lichess cloud")):
        name = "provisionalWords"
        assert pages.run("page/score_words.js", name, source) == said


def test_a_service_before_this_one_names_no_source(pages: Pages) -> None:
    held = plain(game(plies=(ply(1, 30),)))
    for each in held["plies"]:
        del each["score_source"]
    score = pages.run("page/score_words.js", "scoreAfter", held, held["plies"])
    assert score["source"] == ""


def test_what_is_withheld_is_not_said_to_be_late(pages: Pages) -> None:
    late = plain(game(plies=[ply(1, None), ply(2, None)]))

    def said(name: str, about: Any, withheld: bool) -> Any:
        args = [about, {"withheld": withheld}]
        return pages.run("page/score_words.js", name, *args)

    assert said("problemText", late, False) == "2 moves not scored yet"
    assert said("scoreWords", {"text": ""}, False) == "not scored yet"
    assert said("problemText", late, True) == said("scoreWords", {"text": ""}, True) == ""


# --- screen reader -------------------------------------------------------------------------------


PAUSE_MS = 8000


def play(pages: Pages, script: list[dict[str, Any]]) -> list[str | None]:
    found: list[str | None] = pages("announce", script=script)
    return found


def test_the_newest_of_a_board_is_said_once(pages: Pages) -> None:
    script: list[dict[str, Any]] = [
        {"say": [("g1", "1. e4."), ("g1", "1… e5.")], "at": 0},
        {"at": 20_000},
    ]
    assert play(pages, script) == ["1… e5.", None]


def test_what_comes_meanwhile_waits_and_is_summed_up(pages: Pages) -> None:
    many = [(f"g{at}", f"S{at}.") for at in range(5)]
    script: list[dict[str, Any]] = [
        {"say": [("g1", "First.")], "at": 0},
        {"say": many, "at": 100},
        {"at": PAUSE_MS},
    ]
    assert play(pages, script) == ["First.", None, "S2. S3. S4. And 2 more."]


def test_a_flood_is_counted_not_kept(pages: Pages) -> None:
    flood = [(f"g{at}", f"S{at}.") for at in range(500)]
    (said,) = play(pages, [{"say": flood, "at": 0}])
    assert said == "S497. S498. S499. And 497 more."


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 5000), st.lists(st.integers(0, 60), max_size=8)), max_size=60
    )
)
def test_it_never_floods(pages: Pages, steps: list[tuple[int, list[int]]]) -> None:
    at = 0
    script: list[dict[str, Any]] = []
    for wait, names in steps:
        at += wait
        script.append({"say": [(f"g{name}", f"S{name}.") for name in names], "at": at})
    told = play(pages, script)
    times = [entry["at"] for entry, said in zip(script, told, strict=True) if said is not None]
    assert all(after - before >= PAUSE_MS for before, after in pairwise(times))
    assert all(said.count(".") <= 4 for said in told if said is not None)


# --- spoken news ---------------------------------------------------------------------------------


QUIET = (ply(1, 20), ply(2, 25))


@pytest.mark.parametrize(
    ("before", "after", "is_open", "said"),
    [
        (None, game(), True, None),
        (game(), game(result="1-0"), False, "Board 1 · Round 1, Anna against Bea: 1–0."),
        (game(plies=QUIET), game(plies=(*QUIET, ply(3, 30))), False, None),
        (
            game(plies=QUIET),
            game(plies=(*QUIET, ply(3, 30))),
            True,
            "2.\u00a0Nf3, score +0.30.",
        ),
        (game(plies=QUIET), game(plies=(*QUIET, ply(3, None))), True, "2.\u00a0Nf3."),
        (game(plies=QUIET), game(plies=QUIET[:1]), True, "1.\u00a0e4, score +0.20."),
        (
            game(plies=QUIET),
            game(plies=(*QUIET, ply(3, -310))),
            False,
            "Board 1 · Round 1, Anna against Bea: the score swings, score −3.10.",
        ),
        # A swing is told once.
        (
            game(plies=(*QUIET, ply(3, -310))),
            game(plies=(*QUIET, ply(3, -310), ply(4, -305))),
            False,
            None,
        ),
    ],
)
def test_it_tells(
    pages: Pages, before: GameDetail | None, after: GameDetail, is_open: bool, said: str | None
) -> None:
    args: list[Any] = [plain(after), is_open]
    answer = pages("told", before=plain(before) if before else None, after=args[0], isOpen=is_open)
    assert answer == said


# --- alert sound ---------------------------------------------------------------------------------


LOOK = Alert(id="a", kind="stale", severity="look", text="t", advice="d", first_seen_s=5.0)
ALARM = msgspec.structs.replace(LOOK, id="b", kind="flag", severity="alarm", game="g1")


def heard(pages: Pages, before: dict[str, int] | None, alerts: list[Alert], choice: str) -> Any:
    args = [before, plain(alerts), choice]
    return pages.run("page/alerts_panel.js", "heardAlerts", *args)


def test_it_sounds_once_for_each_new_alert_that_is_wanted(pages: Pages) -> None:
    assert heard(pages, None, [ALARM], "all") == {"heard": {"b": 1}, "rings": False}
    for choice, rings in (("off", False), ("alarms", False), ("all", True)):
        assert heard(pages, {}, [LOOK], choice)["rings"] is rings
    assert heard(pages, {}, [ALARM], "alarms")["rings"]
    assert not heard(pages, {"b": 1}, [ALARM], "all")["rings"]
    again = msgspec.structs.replace(ALARM, times=2)
    assert heard(pages, {"b": 1}, [again], "alarms")["rings"]


def test_what_is_muted_or_acknowledged_is_neither_heard_nor_marked(pages: Pages) -> None:
    quiet = [
        msgspec.structs.replace(ALARM, muted=True),
        msgspec.structs.replace(ALARM, id="c", acknowledged_s=9.0),
    ]
    assert heard(pages, {}, quiet, "all") == {"heard": {}, "rings": False}


def test_boards_with_alerts_come_first_and_keep_their_order(pages: Pages) -> None:
    games = plain([game(name, board=at) for at, name in enumerate("abc", 1)])
    place = {"q": "", "state": "all", "sort": "alerts", "down": False}
    found = pages.run("page/boards.js", "arranged", games, place, ["c"])
    assert "".join(each["id"] for each in found) == "cab"


# --- alerts panel --------------------------------------------------------------------------------


ALERT = Alert(id="a", kind="stale", severity="look", text="t", advice="d", first_seen_s=5.0)


def test_the_most_urgent_comes_first_then_the_newest(pages: Pages) -> None:
    def alert(name: str, severity: str, at_s: float, muted: bool = False) -> Alert:
        fields = {"id": name, "severity": severity, "first_seen_s": at_s, "muted": muted}
        return msgspec.structs.replace(ALERT, **fields)

    alerts = [
        alert("a", "look", 9),
        alert("b", "alarm", 1),
        alert("c", "warning", 5),
        alert("d", "alarm", 2),
        alert("e", "alarm", 3, muted=True),
    ]
    found = pages.run("page/alerts_panel.js", "rankedAlerts", plain(alerts))
    assert "".join(each["id"] for each in found) == "dbca"


def test_a_screening_figure_never_stands_alone(pages: Pages) -> None:
    agreement = Agreement(40, 0.8, 0.55, 3.21, 56, 0.034, "402 honest player-games.")
    said = pages.run("page/alerts_panel.js", "agreementText", plain(agreement))
    for part in ("80 %", "40 moves", "55 %", "3.2", "56 boards", "3 %", "402", "accuses nobody"):
        assert part in said
    assert pages.run("page/alerts_panel.js", "agreementText", None) == ""
