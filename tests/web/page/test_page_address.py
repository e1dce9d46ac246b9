"""live/web/page/page_address.js: what the page shows, as an address that can be shared."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.web.page.games import Pages

#: Lone halves of a surrogate pair cannot be written into an address.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
PLACES = st.fixed_dictionaries(
    {
        "view": st.sampled_from(["boards", "players", "wall", "health", "arbiter"]),
        "layout": st.sampled_from(["auto", "cards", "table"]),
        "state": st.sampled_from(["all", "running", "over"]),
        "figure": st.sampled_from(["", "perceived", "algorithm4"]),
        "game": st.just(""),
        "player": st.just(""),
        "event": TEXT,
        "round": TEXT,
        "q": TEXT,
        "sort": TEXT,
        "cols": TEXT,
        "follow": TEXT,
        "ply": st.none() | st.integers(0, 9999),
        "down": st.booleans(),
        "flip": st.booleans(),
    }
)


def read(pages: Pages, fragment: str) -> dict[str, Any]:
    found: dict[str, Any] = pages(
        "call", module="page/page_address.js", name="readPlace", args=[fragment]
    )
    return found


def write(pages: Pages, place: dict[str, Any]) -> str:
    return str(pages("call", module="page/page_address.js", name="writePlace", args=[place]))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(place=PLACES)
def test_what_is_written_is_read_again(pages: Pages, place: dict[str, Any]) -> None:
    assert read(pages, write(pages, place)) == place


@settings(max_examples=50, deadline=None)
@given(name=TEXT.filter(bool), number=st.none() | st.integers(0, 300))
def test_a_board_is_named_by_its_game_alone(pages: Pages, name: str, number: int | None) -> None:
    home = read(pages, "")
    place = {**home, "view": "board", "game": name, "ply": number}
    fragment = write(pages, place)
    assert "view=" not in fragment
    assert read(pages, fragment) == place


def test_home_needs_no_fragment(pages: Pages) -> None:
    home = read(pages, "")
    assert write(pages, home) == ""
    assert home["view"] == "boards"
    assert home["ply"] is None


@pytest.mark.parametrize(
    "fragment",
    [
        "#view=nothing&layout=<b>&state=&figure=1",
        # What version 0.2 offered.
        "#figure=level",
        "#figure=auto",
        "#ply=-1",
        "#ply=12345",
        "#ply=1e3",
        "#view=board",
        "#__proto__=x&constructor=y&down=yes&flip=true",
        "#%zz&&&=",
    ],
)
def test_what_is_odd_counts_as_not_said(pages: Pages, fragment: str) -> None:
    assert read(pages, fragment) == read(pages, "")


def test_a_shared_address_keeps_what_is_seen_and_not_who_sees_it(pages: Pages) -> None:
    place = {**read(pages, ""), "view": "board", "game": "a b&c", "ply": 3}
    shared = pages(
        "call",
        module="page/page_address.js",
        name="shareAddress",
        args=["https://host/?event=Open+A&token=geheim#view=health", place],
    )
    assert shared == "https://host/?event=Open+A#game=a+b%26c&ply=3"


def test_a_board_as_it_is_now_is_shared_by_the_address_that_has_a_picture(pages: Pages) -> None:
    place = {**read(pages, ""), "view": "board", "game": "a b&c"}

    def shared(href: str, **more: object) -> object:
        args = [href, {**place, **more}, True]
        return pages("call", module="page/page_address.js", name="shareAddress", args=args)

    assert (
        shared("https://host/live/?token=x#view=health") == "https://host/live/share?game=a+b%26c"
    )
    assert shared("https://host/", ply=3) == "https://host/#game=a+b%26c&ply=3"
    assert shared("https://host/", view="players") == "https://host/#game=a+b%26c&view=players"
    assert shared("https://host/?event=A") == "https://host/?event=A#game=a+b%26c"
