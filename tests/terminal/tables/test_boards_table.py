"""The screen, drawn to text."""

from __future__ import annotations

import msgspec
import pytest
from rich.cells import cell_len

from live.events import (
    Curves,
    EngineHealth,
    EngineState,
    FeedHealth,
    GameDetail,
    QueueLengths,
    SpeculationFigures,
)
from live.publish.visibility import Visibility, shown
from live.terminal import view_frame
from live.terminal.palette import PLAIN
from live.terminal.tables import boards_table
from tests.terminal.drawing import drawn
from tests.terminal.sample_boards import ENGINE, ENGINES, detail, full_point


def frame(games: tuple[GameDetail, ...], width: int, in_all: int | None = None) -> str:
    view = boards_table.BoardsTableInput(
        engine=ENGINE,
        gain="same-search",
        address="http://127.0.0.1:8765/",
        games=games,
        games_in_all=in_all or len(games),
        feeds=(FeedHealth("demo", "live"), FeedHealth("x.pgn", "retrying", "again in 4 s")),
        engines=ENGINES,
    )
    return drawn(boards_table.screen(view, width=width), width)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_the_figures_are_all_there(width: int) -> None:
    curves = Curves(white=(full_point(1),), black=(full_point(2, 1790.0),))
    whole = msgspec.structs.replace(detail(), curves=curves)
    text = frame((whole, detail("g2", 2, provisional=True)), width)
    assert max(map(cell_len, text.splitlines())) <= width
    for figure in (
        "1...c5",
        "+0.37",
        "2441",
        "1790",
        "2180–2750",
        "74%",
        "takes no keys",
        "2459",
        "1807",
    ):
        assert figure in text
    assert "queue 14" in text
    assert "1010 knodes/s" in text


def test_a_provisional_score_is_marked() -> None:
    assert "+0.37~" in frame((detail(provisional=True),), 120)
    assert "+0.37~" not in frame((detail(),), 120)


def test_feeds_say_how_they_are_in_words_and_signs() -> None:
    text = frame((detail(),), 120)
    assert "● demo  live" in text
    assert "↻ x.pgn  retrying: again in 4 s" in text


def test_what_is_withheld_is_not_taken_for_unknown() -> None:
    engine = shown(ENGINE, Visibility.VENUE)
    told = "this service withholds scores and ratings"
    address = "http://127.0.0.1:8765/"
    plain_title = drawn(boards_table.title(engine, "same-search", address), 80)
    app_title = view_frame.title("Boards", address, engine, "same-search", 0, 80, PLAIN).plain
    for text in (plain_title, app_title):
        assert told in text and "0 Elo" not in text
    assert told not in drawn(boards_table.title(ENGINE, "same-search", address), 80)


def test_boards_that_do_not_fit_are_counted() -> None:
    assert "and 3 more boards" in frame((detail(),), 80, in_all=4)
    assert boards_table.boards_that_fit(24) * 2 + 7 <= 24


def test_hostile_names_stay_text() -> None:
    text = frame((detail(white="[bold red]\x1b[2J Evil", black="名前" * 30),), 80)
    assert "[bold red][2J Ev" in text
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_the_engine_line_tells_depth_queue_by_class_and_what_was_known_before() -> None:
    engines = EngineHealth(
        engines=(
            EngineState(0, "searching", 500.0, depth=17),
            EngineState(1, "searching", 500.0),
            EngineState(2, "idle", depth=16),
        ),
        queued=14,
        searches=900,
        asked=200,
        cache_hits=150,
        waiting=QueueLengths(head=2, backlog=12, speculate=40),
        speculation=SpeculationFigures(hits=30, misses=10, wasted_nodes=42_000_000),
        problem="cache x: is damaged",
    )
    text = boards_table.engine_line(engines).plain
    assert "depth 17/–" in text
    assert "queue 14 (2 live, 12 behind)" in text
    assert "900 searches, 75% known before" in text
    assert "ahead of 75% (42 Mnodes in vain)" in text
    assert "cache x: is damaged" in text


def test_the_engine_line_leaves_out_what_says_nothing() -> None:
    text = boards_table.engine_line(EngineHealth(speculation=SpeculationFigures())).plain
    assert "queue 0 · 0 searches" in text
    assert "known" not in text and "ahead" not in text and "depth" not in text
