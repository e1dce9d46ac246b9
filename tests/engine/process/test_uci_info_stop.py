"""Alliot's conditions for stopping early."""

from __future__ import annotations

import pytest

from live.engine.search import Limit
from live.engine.uci import enough, used_share
from live.events import Score


def scores(*cps: int | None) -> list[Score | None]:
    return [None if cp is None else Score(cp) for cp in cps]


def test_his_own_example_stops_after_two_of_four_minutes() -> None:
    """Scores of 53, -63 and 57 from alternating sides: 53, 63, 57 from one."""
    last = scores(53, 63, 57)
    assert not enough(last, 0.5)
    assert enough(last, 0.5 + 1e-9)


@pytest.mark.parametrize(
    ("last", "used", "stops"),
    [
        (scores(20, 20, 20), 0.25, False),
        (scores(20, 20, 20), 0.26, True),
        (scores(900, -900, 20, 20, 20), 0.26, True),
        (scores(20, 20, 50), 0.74, False),
        (scores(20, 20, 50), 0.75, True),
        (scores(20, 20), 0.74, False),
        (scores(20, None, 20), 0.74, False),
        (scores(), 0.8, True),
    ],
)
def test_stable_scores_stop_it_early_and_time_does_in_the_end(
    last: list[Score | None], used: float, stops: bool
) -> None:
    assert enough(last, used) is stops


def test_the_share_is_of_whatever_the_limit_is() -> None:
    assert used_share(Limit(nodes=1000), 250, 99) == 0.25
    assert used_share(Limit(movetime_ms=1000), 250, 99) == 0.099
    assert used_share(Limit(depth=9), 250, 99) == 0.0
