"""live/web/overlay/options.js: addresses read and written, nonsense told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Pages = Callable[..., Any]


def read(pages: Pages, query: str) -> tuple[dict[str, Any], list[str]]:
    answer = pages("call", module="overlay/options.js", name="readOptions", args=[query])
    return answer["options"], answer["problems"]


def write(pages: Pages, options: dict[str, Any]) -> str:
    return str(pages("call", module="overlay/options.js", name="writeOptions", args=[options]))


def test_an_empty_address_has_an_answer_for_everything(pages: Pages) -> None:
    options, problems = read(pages, "")
    assert problems == []
    assert options["layout"] == "board"
    assert options["lang"] == "en"
    assert options["follow"] is None
    assert options["game"] == options["board"] == options["hide"] == []
    assert options["delay"] == 0
    assert options["provisional"] is True
    assert write(pages, options) == ""


def test_options_are_read(pages: Pages) -> None:
    options, problems = read(
        pages,
        "?layout=grid&board=3,12&board=4&hide=clock,elo&ground=%23FFFFFF80&size=1.5"
        "&provisional=0&show=arrow,opening&player=Carlsen,+Magnus&player=1503014&token=secret&layer-width=800",
    )
    assert problems == []
    assert options["layout"] == "grid"
    assert options["board"] == [3, 12, 4]
    assert options["hide"] == ["clock", "elo"]
    assert options["ground"] == "ffffff80"
    assert options["size"] == 1.5
    assert options["show"] == ["arrow", "opening"]
    assert options["provisional"] is False
    assert options["player"] == ["Carlsen, Magnus", "1503014"]
    assert "token" not in options


@pytest.mark.parametrize(
    "nonsense",
    [
        "layout=pie",
        "board=-1",
        "board=one",
        "size=",
        "size=99",
        "delay=-5",
        "delay=Infinity",
        "text=red;}",
        'font=a"; background: url(x)',
        "hide=interval",
        "follow=worst",
        "provisional=maybe",
        "provisional=toString",
        "lang=constructor",
        "swing=NaN",
    ],
)
def test_nonsense_is_told_and_changes_nothing(pages: Pages, nonsense: str) -> None:
    name, _, value = nonsense.partition("=")
    options, problems = read(pages, urlencode({name: value}))
    assert options == read(pages, "")[0]
    assert problems == [f"{name}={value}"]


@pytest.mark.parametrize(
    ("gone", "name", "unless"),
    [
        ("rating=both", "rating", None),
        ("rating=level", "rating", None),
        ("hide=second", "hide", []),
        ("order=percentile", "order", "board"),
    ],
)
def test_addresses_of_before_go_on_working(
    pages: Pages, gone: str, name: str, unless: object
) -> None:
    answer = pages("call", module="overlay/options.js", name="readOptions", args=[gone])
    assert (answer["options"][name], answer["problems"], answer["gone"]) == (unless, [], [gone])


def test_what_is_left_of_an_option_of_before_holds(pages: Pages) -> None:
    options, problems = read(pages, "hide=clock,second&rating=algorithm4")
    assert (options["hide"], options["rating"], problems) == (["clock"], "algorithm4", [])


def test_an_interval_cannot_be_left_out_without_its_rating(pages: Pages) -> None:
    figures = pages("constant", module="overlay/options.js", name="FIGURES")
    assert "rating" in figures
    assert not [figure for figure in figures if "interval" in figure]


COLOURS = st.from_regex(r"\A([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    wanted=st.fixed_dictionaries(
        {},
        optional={
            "layout": st.sampled_from(["board", "bar", "curves", "grid", "ticker", "standings"]),
            "follow": st.sampled_from(["top", "closest", "latest"]),
            "player": st.lists(NAMES, max_size=3),
            "board": st.lists(st.integers(1, 999), max_size=5),
            "hide": st.lists(st.sampled_from(["clock", "elo", "curves"]), unique=True),
            "ground": COLOURS,
            "font": st.sampled_from(["Inter", "Noto Sans", "Ubuntu-Bold", "Ælgreya 2"]),
            "size": st.integers(1, 16).map(lambda quarters: quarters / 4),
            "provisional": st.booleans(),
            "delay": st.integers(0, 3600),
        },
    )
)
def test_what_is_written_is_read_again(pages: Pages, wanted: dict[str, Any]) -> None:
    options = {**read(pages, "")[0], **wanted}
    again, problems = read(pages, write(pages, options))
    assert problems == []
    assert again == options
