"""Which figure leads, and in which order players are listed."""

from __future__ import annotations

import msgspec

from live.events import CurvePoint, PlayerView
from live.ledger.comparisons import Figure, figure, standings

POINT = CurvePoint(
    ply=40,
    n=20,
    counted=19,
    gain_cp=-5,
    perceived=2340.0,
    low=1700.0,
    high=None,
    usual_low=1950.0,
    usual_high=2550.0,
    percentile=62.0,
    score=0.4,
    difference=-70.0,
    difference_low=-150.0,
    difference_high=20.0,
)


def test_the_perceived_rating_comes_with_what_is_usual() -> None:
    assert figure(POINT, "perceived") == Figure("perceived", 2340.0, 1950.0, 2550.0)
    unknown = msgspec.structs.replace(POINT, perceived=None)
    assert figure(unknown, "perceived") is None


def test_algorithm_4_is_above_the_engine_and_may_be_unbounded() -> None:
    assert figure(POINT, "algorithm4", 2400) == Figure("algorithm4", 2330.0, 2250.0, 2420.0)
    unbounded = msgspec.structs.replace(POINT, difference=None, difference_low=None)
    assert figure(unbounded, "algorithm4", 2400) == Figure("algorithm4", None, None, 2420.0)


def test_the_highest_comes_first_and_equal_numbers_share_a_place() -> None:
    ratings = {"A": 2299.8, "B": 2500.0, "C": 2300.2, "D": None}
    views = [
        PlayerView(name, name, None, 1, 20, -5.0, perceived=rating)
        for name, rating in ratings.items()
    ]
    found = [(each.view.name, each.text) for each in standings(views)]
    assert found == [("B", "1"), ("A", "2="), ("C", "2="), ("D", "")]
