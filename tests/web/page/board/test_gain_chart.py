"""live/web/page/board/gain_chart.js: gains at one centipawn, and what their spike is called."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.web.page.games import Pages


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
