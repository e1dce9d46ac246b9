"""live/web/page/board/gain_chart.js: gains at one centipawn, and what their spike is called."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Curves
from tests.web.page.games import Pages, game, plain, ply, point


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages("call", module="page/board/gain_chart.js", name=name, args=list(args))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-900, 900), max_size=60), st.sampled_from([0, 200]))
def test_every_move_is_in_the_picture_once(pages: Pages, gains: list[int], to: int) -> None:
    counts = call(pages, "countAtOne", gains)
    assert counts == [list(each) for each in sorted(Counter(gains).items())]
    shares = call(pages, "sharesAtOne", counts, to)
    assert len(shares) == 201 + to
    if gains:
        assert abs(sum(share or 0 for share in shares) - 1) < 1e-9
        # What lies beyond stands at the end, what does not at its centipawn.
        far = sum(gain <= -200 for gain in gains) / len(gains)
        assert abs((shares[0] or 0) - far) < 1e-9
        if to:
            assert abs((shares[200] or 0) - gains.count(0) / len(gains)) < 1e-9


def test_the_spike_is_said_in_words(pages: Pages) -> None:
    assert call(pages, "spikeWords", "White", [[-30, 1], [0, 3]]) == "White: 75 % of 4 moves at 0"
    assert call(pages, "spikeWords", "White", [[-30, 1]]) == "White: 0 % of 1 move at 0"
    assert call(pages, "spikeWords", "White", []) == ""


@settings(max_examples=60, deadline=None)
@given(gains=st.lists(st.integers(-7800, 7800), max_size=60), both=st.booleans())
def test_the_table_has_every_gain_in_one_class(pages: Pages, gains: list[int], both: bool) -> None:
    gains = gains if both else [-abs(gain) for gain in gains]
    side = {"name": "White", "counts": call(pages, "countAtOne", gains)}
    subject = {"up": side, "down": side | {"name": "Black"}, "engine": [[0, 1]], "both": both}
    table = pages("gain_table", subject=subject)
    assert table["head"] == ["Gain, cp", "White", "Black", "Engine"]
    assert len(table["rows"]) == (13 if both else 7)
    counts = [int(white.split()[0]) if white else 0 for _, white, _, _ in table["rows"]]
    assert sum(counts) == len(gains)
    rows = dict(zip((name for name, *_ in table["rows"]), counts, strict=True))
    assert rows["lost over 200"] == sum(gain < -200 for gain in gains)
    assert rows["lost 1\u201310"] == sum(-10 <= gain < 0 for gain in gains)
    assert [row[3] for row in table["rows"] if row[3]] == ["1 (100\u00a0%)"]


def test_successive_gains_of_the_engine_are_those_of_its_own_choices(pages: Pages) -> None:
    chosen = game(
        plies=(
            ply(1, 10, best="e2e4", gain_successive_cp=0),
            ply(2, 10, best="e7e5", gain_successive_cp=-15),
            ply(3, 10, best="a2a3", gain_successive_cp=-300),
        )
    )
    assert call(pages, "measuredGains", "successive", plain([chosen])) == [0, -15]
    assert call(pages, "measuredGains", "same-search", plain([chosen])) is None


def test_the_chart_holds_the_gains_of_the_curve(pages: Pages) -> None:
    curves = Curves(white=(point(1, 1, 2100.0, gain_cp=-7), point(3, 2, 2100.0, gain_cp=0)))
    assert call(pages, "gainsOf", plain(game(curves=curves)), "white") == [-7, 0]
