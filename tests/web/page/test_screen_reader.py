"""live/web/page/screen_reader.js: a screen reader is told little at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.web.page.games import Pages

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
