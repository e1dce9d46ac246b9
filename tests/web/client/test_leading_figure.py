"""live/web/client/leading_figure.js follows the terminal's rule, whatever the figures."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import CurvePoint, PlayerView
from live.ledger.players.leading_figure import CHOICES, leading, scale_of, standings
from tests.web.page.games import Pages, plain

MODULE = "client/leading_figure.js"
NOTHING = CurvePoint(1, 1, 0, 0.4, None, None, None, None, None, None)
NOBODY = PlayerView("n", "Nobody", None, 1, 0, None, None, None, None, None, None, None, None)
ELO = st.none() | st.integers(1000, 2900).map(float)
FIGURES = ("level", "alone", "calibrated")
POINTS = st.builds(
    lambda n, share, percentile, ends: msgspec.structs.replace(
        NOTHING,
        n=n,
        level_share=share,
        percentile=percentile,
        **{
            f"{name}{end}": value
            for name, values in zip(FIGURES, ends, strict=True)
            for end, value in zip(("", "_low", "_high"), values, strict=True)
        },
    ),
    st.integers(1, 60),
    st.none() | st.floats(0, 1),
    st.none() | st.integers(0, 100).map(float),
    st.tuples(*[st.tuples(ELO, ELO, ELO)] * 3),
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(held=POINTS, elo=st.none() | st.integers(1000, 2900), choice=st.sampled_from(CHOICES))
def test_the_same_figures_lead(
    pages: Pages, held: CurvePoint, elo: int | None, choice: Any
) -> None:
    def named(figures: Any) -> list[str | None]:
        return [each and each["kind"] for each in figures]

    wanted = [None if each is None else each.kind for each in leading(held, elo, choice)]
    found = pages("call", module=MODULE, name="leading", args=[plain(held), elo, choice])
    assert named(found) == wanted
    scale = pages("call", module=MODULE, name="scaleOf", args=[[plain(held)], choice])
    assert scale == scale_of([held], choice)


@settings(max_examples=60, deadline=None)
@given(
    ends=st.lists(st.tuples(st.integers(0, 30), ELO, ELO), max_size=8),
)
def test_the_same_places(pages: Pages, ends: list[tuple[int, float | None, float | None]]) -> None:
    views = [
        msgspec.structs.replace(
            NOBODY,
            id=f"{at}",
            name=f"{at}",
            moves=moves,
            performance_low=low,
            performance_high=high,
        )
        for at, (moves, low, high) in enumerate(ends)
    ]
    found = pages("call", module=MODULE, name="standings", args=[plain(views), "auto"])
    shown = [(each["player"]["id"], each["place"], each["tied"]) for each in found]
    assert shown == [(each.view.id, each.place, each.tied) for each in standings(views)]
