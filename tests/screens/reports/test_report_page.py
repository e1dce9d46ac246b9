"""The page holds what was asked for, is self-contained, and lets nothing of a source
out.
"""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from live.messages.figures import Curves
from live.messages.from_sources import Player
from live.screens.reports.report_page import (
    HEIGHT,
    escape_html,
    render_curves,
    render_report,
    render_results,
    sanitise_text,
)
from live.server.analysis import Analysis
from tests.manual.html_reader import HtmlReader
from tests.screens.reports.sample_event import (
    ENGINE,
    FORMULA,
    event,
    game,
    player,
    point,
)

WRITTEN = "2026-11-21 09:00 UTC"


def _names(text: str) -> set[str]:
    return set(text.split())


#: All the markup there is. What could load, run or link is not among it.
TAGS = _names(
    "html head meta title style body h1 h2 h3 p table thead tbody tr th td section "
    "header span div "
    "figure figcaption br svg line path text polyline polygon small b i bdi dl dt dd"
)
ATTRIBUTES = _names(
    "lang charset http-equiv content name class viewbox role aria-label x "
    "x1 x2 y y1 y2 points "
    "text-anchor d"
)


def read(page: str) -> str:
    """Its text; all markup is known, and every element ends."""
    reader = HtmlReader(page)
    assert not reader.open
    assert {*reader.tags} <= TAGS and reader.attributes <= ATTRIBUTES
    return reader.text


def test_hostile_names_are_text() -> None:
    page = render_report(event(), written=WRITTEN, arbiter=True)
    text = read(page)
    assert '<script>alert("1")</script>' in text  # to be read, not run
    assert FORMULA in text
    assert "\x1b" not in page and "\x00" not in page and "javascript:" not in page
    assert "\u202e" not in page  # no turning of what follows
    assert len(page) < 60_000  # the endless name was cut


@settings(max_examples=40, deadline=None)
@given(
    white=st.text(max_size=60),
    event_name=st.text(max_size=60),
    san=st.text(max_size=30),
)
def test_whatever_a_source_says_the_page_stays_whole(
    white: str, event_name: str, san: str
) -> None:
    held = game("g1", white, "Black", board=1)
    ply = replace(held.plies[0], san=san)
    held = replace(held, event=event_name, plies=(ply, *held.plies[1:]))
    read(render_report(Analysis(ENGINE, "same-search", (held,), ()), written=WRITTEN))


def test_games_stand_in_the_order_of_boards_and_screening_only_where_asked() -> None:
    text = read(render_report(event(), written=WRITTEN))
    assert text.index("<script>") < text.index("=HYPERLINK")
    assert "Screening" not in text and "First choices" not in text
    sheet = read(render_results(event(), written=WRITTEN))
    assert sheet.index("<script>") < sheet.index("=HYPERLINK")
    assert "in doubt" not in sheet
    doubtful = replace(event(), in_doubt=(event().games[0].id,))
    for made in (render_results, render_report):
        doubted = read(made(doubtful, written=WRITTEN))
        assert doubted.count("0 ?") == 1 and "in doubt" in doubted
    # Sources that give no event, or each game one of its own, give the sheet no name.
    nameless = tuple(replace(each, event="") for each in event().games)
    sheet = read(
        render_results(Analysis(ENGINE, "same-search", nameless, ()), written=WRITTEN)
    )
    assert "Results" in sheet and "Perceived ratings" not in sheet
    asked = read(render_report(event(), written=WRITTEN, arbiter=True))
    assert "accuse nobody" in asked and "First choices" in asked


def test_every_result_has_its_round_and_board() -> None:
    game = replace(event().games[0], round="7", board=31)
    analysis = Analysis(ENGINE, "same-search", (game,), ())
    assert "7.31" in read(render_results(analysis, written=WRITTEN))


def test_every_rating_has_its_interval_and_the_unbounded_is_no_number() -> None:
    text = read(render_report(event(), written=WRITTEN))
    assert "1800\u20132200" in text  # usual
    assert "2169" in text  # Algorithm 4
    assert "What it is not" in text and "nan" not in text.lower().replace("nance", "")


def test_losses_stand_beside_moves() -> None:
    held = game("g1", "White", "Black", board=1)
    text = read(
        render_report(Analysis(ENGINE, "same-search", (held,), ()), written=WRITTEN)
    )
    assert "e5\xa0\u22120.60" in text
    assert "e4 " in text  # lost nothing: nothing beside it
    thrown = replace(held.plies[4], gain_cp=-3700)
    held = replace(held, plies=(*held.plies[:4], thrown))
    text = read(
        render_report(Analysis(ENGINE, "same-search", (held,), ()), written=WRITTEN)
    )
    assert "Bb5\xa0\u221210 or more" in text


def test_what_is_not_there_is_left_out() -> None:
    bare = game("g1", "", "", board=1, plies=0)
    bare = replace(
        bare,
        white=Player(""),
        black=Player(""),
        start_score_cp=None,
        result="*",
        event="",
        date="",
    )
    page = render_report(
        Analysis(ENGINE, "same-search", (bare,), (player("a", ""),)), written=WRITTEN
    )
    assert "<svg" not in page
    assert "No moves." in read(page)
    assert read(render_report(Analysis(ENGINE, "same-search", (), ()), written=WRITTEN))


def test_names() -> None:
    assert sanitise_text("  A\x1b[2J \n B ") == "A [2J B"
    assert (
        sanitise_text("x" * 500).endswith("…") and len(sanitise_text("x" * 500)) == 80
    )
    assert escape_html("<&>") == "<bdi>&lt;&amp;&gt;</bdi>"


elo = st.floats(400, 3600)
band = st.one_of(st.just((None, None)), st.tuples(elo, elo))


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.tuples(st.one_of(st.none(), elo), band), max_size=20))
def test_nothing_is_drawn_outside(
    values: list[tuple[float | None, tuple[float | None, float | None]]],
) -> None:
    points = tuple(
        replace(
            point(ply, None), perceived=value, usual_low=low, usual_high=high, ply=ply
        )
        for ply, (value, (low, high)) in enumerate(values, 1)
    )
    held = replace(game("g", "W", "B", board=1), curves=Curves(points, points))
    svg = render_curves(held)
    drawn = [value for value, _ in values if value is not None]
    assert "nan" not in svg and "inf" not in svg
    for pair in re.findall(r'points="([^"]*)"', svg):
        for x, y in (each.split(",") for each in pair.split()):
            assert 0 <= float(y) <= HEIGHT
            assert float(x) >= 0
    lines = re.findall(r'<polyline class="line [wb]" points="([^"]*)"', svg)
    assert [len(line.split()) for line in lines] == ([len(drawn)] * 2 if drawn else [])
