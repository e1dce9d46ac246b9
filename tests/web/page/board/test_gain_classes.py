"""live/web/page/board/gain_classes.js: gains counted in classes that people can read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Curves, GainKind
from tests.web.page.games import Pages, game, plain, ply, point


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages("call", module="page/board/gain_classes.js", name=name, args=list(args))


@settings(max_examples=60, deadline=None)
@given(gains=st.lists(st.integers(-7800, 7800), max_size=60))
def test_every_gain_falls_into_one_class(pages: Pages, gains: list[int]) -> None:
    classes = ["lost over 200", "lost 101–200", "lost 51–100", "lost 26–50", "lost 11–25"]
    classes += ["lost 1–10", "0", "won 1–10", "won 11–25", "won 26–50", "won 51–100"]
    classes += ["won 101–200", "won over 200"]
    assert [each["name"] for each in call(pages, "gainClasses", "successive")] == classes
    bounds = [(-7800, -201), (-200, -101), (-100, -51), (-50, -26), (-25, -11), (-10, -1), (0, 0)]
    bounds += [(1, 10), (11, 25), (26, 50), (51, 100), (101, 200), (201, 7800)]
    # Infinity does not travel as JSON, so the page counts with its own classes.
    counted = pages("gains", kind="successive", gains=gains)
    assert counted == [sum(low <= gain <= high for gain in gains) for low, high in bounds]


def test_a_same_search_gain_is_never_above_0(pages: Pages) -> None:
    names = [each["name"] for each in call(pages, "gainClasses", "same-search")]
    assert names[-1] == "0"
    assert len(names) == 7


@pytest.mark.parametrize("kind", ["same-search", "successive"])
def test_the_engine_is_shown_as_far_as_it_is_known(pages: Pages, kind: GainKind) -> None:
    def engine(games: list[Any]) -> Any:
        return pages("engineGains", kind=kind, games=games)

    nothing = engine([])
    chosen = game(
        plies=(
            ply(1, 10, best="e2e4", gain_successive_cp=0),
            ply(2, 10, best="e7e5", gain_successive_cp=-15),
            ply(3, 10, best="a2a3", gain_successive_cp=-300),
        )
    )
    measured = engine(plain([chosen]))
    if kind == "same-search":
        assert nothing["shares"] == measured["shares"] == [0, 0, 0, 0, 0, 0, 1]
        assert "by construction" in nothing["note"]
    else:
        assert nothing["shares"] is None
        # The third move was not the engine's own choice.
        assert measured["shares"] == [0, 0, 0, 0, 0.5, 0, 0.5, 0, 0, 0, 0, 0, 0]
        assert "2 moves" in measured["note"]


def test_the_histogram_holds_the_gains_of_the_curve(pages: Pages) -> None:
    curves = Curves(white=(point(1, 1, 2100.0, gain_cp=-7), point(3, 2, 2100.0, gain_cp=0)))
    found = call(pages, "gainsOf", plain(game(curves=curves)), "white")
    assert found == [-7, 0]
