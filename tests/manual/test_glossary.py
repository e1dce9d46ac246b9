"""The glossary names every column, key and sign that the code's own tables define, and no other.

A term is what stands in backticks in the first cell of a row; a heading says which table it is of.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from live.alerts.finding import NAMES as alert_names
from live.alerts.finding import SIGNS as alert_signs
from live.events import AlertKind, FeedState
from live.manual.pages import manual_page
from live.terminal import controller
from live.terminal.board_view import PANEL_NAMES
from live.terminal.boards_view import ORDERS, heads, layout
from live.terminal.players_view import COLUMNS
from live.terminal.view_context import View
from tests.terminal.stage import Stage
from tests.web.conftest import Pages

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = manual_page("glossary").text


def section(*headings: str) -> str:
    """The text under a heading, the next heading below that, and so on, to the next heading."""
    text = f"\n{TEXT}"
    for level, heading in enumerate(headings, 2):
        begin = "\n" + "#" * level + f" {heading}\n"
        text = "\n" + text.split(begin)[1]
        text = re.split(rf"\n#{{2,{level}}} ", text)[0]
    return text


def terms(*headings: str) -> set[str]:
    """The terms of the first table there."""
    text = re.split(r"\n#+ ", section(*headings))[0]
    rows = re.findall(r"^\| (`.*?) \| ", text, re.M)
    assert rows, headings
    return {term for row in rows for term in re.findall(r"`([^`]+)`", row)}


def words(text: str) -> set[str]:
    return set(text.split())


def test_the_columns_of_boards() -> None:
    found: set[str] = set()
    for odds in (True, False):
        for width in range(60, 400):
            found |= {column.head for column in layout(width, odds=odds).columns}
    row = heads(layout(300, odds=True)).plain
    found |= {"Bd", "Player", "Curve"} & words(row)
    assert terms("Terminal: columns of boards") == found
    assert terms("Terminal: columns of boards", "Sorted by") == set(ORDERS)


def test_the_columns_of_players() -> None:
    found = {column.head for column in COLUMNS} | {column.name for column in COLUMNS}
    assert terms("Terminal: columns of players") == found


def test_the_signs_of_the_help() -> None:
    said = " ".join(controller.SIGNS[:2])
    signs = {char for char in said if not char.isalnum() and char not in " ,"}
    assert signs <= terms("Signs everywhere") | terms("Terminal: signs")


def test_the_signs_of_sources_and_alerts() -> None:
    found = terms("Terminal: signs", "Sources")
    assert found == set(controller.FEED_SIGNS.values()) | set(get_args(FeedState))
    assert set(alert_signs.values()) < terms("Terminal: alerts")
    assert terms("Terminal: alerts", "Kinds of alerts") == set(alert_names.values())
    kinds = manual_page("arbiter").section("Alerts")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", kinds, re.M)) == set(get_args(AlertKind))


@pytest.mark.parametrize("name", ["boards", "board", "players", "alerts", "log"])
def test_the_keys_of_each_screen(name: str) -> None:
    stage = Stage(alerts=True)
    if name == "board":
        stage.press("enter")
    screens = stage.controller
    views: dict[str, View] = {
        "boards": screens.boards,
        "board": screens.board,
        "players": screens.players,
        "alerts": screens.alerts,
        "log": screens.incidents,
    }
    heading = {"board": "One board"}.get(name, name.capitalize())
    found = {word for key in views[name].offers() for word in key.sign.split()}
    assert terms("Terminal: keys", heading) == found


def test_the_keys_of_every_screen() -> None:
    stage = Stage()
    everywhere = stage.controller.everywhere()
    found = {word for key in everywhere for word in key.sign.split()}
    assert terms("Terminal: keys", "On every screen") == found


def test_the_panels_of_one_board() -> None:
    for name in PANEL_NAMES.values():
        assert f"`{name}`" in section("Terminal: one board")


def test_the_page(pages: Pages) -> None:
    def constant(module: str, name: str) -> Any:
        return pages("constant", module=f"page/{module}.js", name=name)

    orders = constant("boards", "ORDERS")
    assert terms("Page: boards", "Sorted by") == {each["label"] for each in orders.values()}
    assert set(constant("health_view", "CLASSES").values()) < terms("Page: health")
    assert {sign for _, sign, _ in constant("board_panels", "MARKS")} < terms("Signs everywhere")


def test_the_overlays(pages: Pages) -> None:
    english = pages("languages")["en"].values()
    said = {form for words in english for form in ([words] if isinstance(words, str) else words)}
    assert terms("Overlays") <= said | {form.removeprefix("{} ") for form in said}


def test_the_table_of_options_in_the_producers_page_is_whole(pages: Pages) -> None:
    options = pages("constant", module="overlay/options.js", name="OPTIONS")
    table = manual_page("producer").section("Overlays")
    rows = re.findall(r"^\| (`.*?) \| ", table, re.M)
    assert {term for row in rows for term in re.findall(r"`([^`]+)`", row)} == set(options)
    for name in ("layout", "follow", "theme", "hide", "lang", "at", "lost"):
        for value in options[name]["values"]:
            assert re.search(rf"[`, ]{value}[`, ]", table), f"{name}={value}"
