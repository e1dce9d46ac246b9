"""The glossary names what the code's own tables define.

A term is what stands in backticks in the first cell of a row; a heading says which
table it is of.
"""

import re
from typing import Any, get_args

from live.catalogue import FIGURES
from live.messages.alerts import AlertKind
from live.screens.terminal import terminal_app
from live.screens.terminal.boards_view import COLUMNS as BOARD_COLUMNS
from live.screens.terminal.printed import FIGURE_COLUMNS
from live.screens.terminal.text import FEED_SIGNS
from live.watch.alert_kinds import PASSING
from live.watch.finding import SIGNS as alert_signs
from tests.manual.html_reader import section
from tests.screens.web.conftest import Pages


def find_terms(rows: list[str]) -> set[str]:
    """Return what stands in code signs."""
    found: set[str] = set()
    for row in rows:
        found.update(re.findall(r"`([^`]+)`", row))
    return found


def terms(*headings: str) -> set[str]:
    """The terms under these headings."""
    text = "\n".join(section("glossary", each) for each in headings)
    rows = re.findall(r"^\| (`.*?) \| ", text, re.M)
    assert rows
    return find_terms(rows)


def test_every_figure_is_in_it_and_every_column_is_explained() -> None:
    figures = terms("Figures")
    assert figures == {figure.head for figure in FIGURES}
    columns = {*BOARD_COLUMNS, *(column.head for column in FIGURE_COLUMNS)}
    obvious = {"Move", "Last"}
    assert columns <= figures | terms("Boards") | {"usual", "95 %"} | obvious


def test_the_signs_of_the_help_of_sources_and_of_alerts() -> None:
    said = terminal_app.SIGNS[1]
    signs = {char for char in said if not char.isalnum() and char not in " ,"}
    assert signs <= terms("Signs")
    assert set(FEED_SIGNS.values()) <= terms("Sources")
    assert set(alert_signs.values()) < terms("Alerts")
    kinds = section("arbiter", "Alerts")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", kinds, re.M)) == set(
        get_args(AlertKind)
    )


def test_the_alerts_that_leave_the_list_when_they_are_acknowledged() -> None:
    text = section("arbiter", "Alerts").partition("that happened once (")[2]
    assert find_terms([text.partition(")")[0]]) == PASSING


def test_the_words_of_page_and_overlays(pages: Pages) -> None:
    def constant(module: str, name: str) -> Any:
        return pages("constant", module=f"page/{module}.js", name=name)

    assert {sign for _, sign, _ in constant("board_panels", "MARKS")} < terms("Signs")
    said: set[str] = set()
    for words in pages("languages")["en"].values():
        said.update([words] if isinstance(words, str) else words)
    assert terms("Page and overlays") - {"not live", "or more"} <= said


def test_the_table_of_options_in_the_producers_page_is_whole(pages: Pages) -> None:
    options = pages("constant", module="overlay/options.js", name="OPTIONS")
    table = section("producer", "Overlays")
    rows = re.findall(r"^\| (`.*?) \| ", table, re.M)
    assert find_terms(rows) == set(options)
    for name in ("layout", "follow", "theme", "hide", "lang", "at", "lost"):
        for value in options[name]["values"]:
            assert re.search(rf"[`, ]{value}[`, ]", table), f"{name}={value}"
