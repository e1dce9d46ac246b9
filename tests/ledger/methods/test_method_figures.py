"""Figures pooled over games: null has its reason, and the order of games does not matter."""

from __future__ import annotations

import random

import msgspec
import pytest

from live.events import Share
from live.ledger.rate_game import (
    NO_CHOICE,
    MoveCounts,
    MoveQuality,
    SideFigures,
    move_figures,
    share,
)
from live.ratings.accuracy import Accuracy, CentipawnLoss


def side(seed: int, plies: int = 60) -> SideFigures:
    chance = random.Random(seed)
    counts = MoveCounts()
    for ply in range(1, plies, 2):
        gain_cp = -chance.choice((0, 0, 12, 30, 31, 200))
        counts = counts.after(MoveQuality(ply, chance.randrange(-150, 150), gain_cp, gain_cp == 0))
    percent = chance.uniform(60, 99)
    return SideFigures(
        pace="classical",
        counts=counts,
        accuracy=Accuracy(percent, percent, plies // 2, 0),
        loss=CentipawnLoss(35.5, 35.5, plies // 2, 0, 0),
    )


def test_nothing_is_null_with_a_reason_and_never_zero() -> None:
    for sides in ((), (SideFigures(pace="classical"),)):
        figures = move_figures(sides)
        for name in ("conformance", "guid_bratko", "ponderated", "first_choice"):
            assert figures[name] == Share()
            assert figures["missing"][name]
        for name in ("accuracy", "centipawn_loss"):
            assert figures[name] is None
            assert figures["missing"][name]


def test_every_null_has_a_reason_and_nothing_else_has() -> None:
    for sides in ((side(1),), (side(1, 12),), (side(1), side(2, 6))):
        figures = move_figures(sides)
        missing = figures.pop("missing")
        null = {
            name
            for name, value in figures.items()
            if value is None or (isinstance(value, Share) and value.share is None)
        }
        assert null == set(missing)


def test_scores_without_a_first_choice_say_so() -> None:
    counts = MoveCounts()
    for ply in range(2, 60, 2):
        counts = counts.after(MoveQuality(ply, best_cp=10))
    made = SideFigures(pace="classical", counts=counts)
    assert move_figures((made,))["missing"]["conformance"] == NO_CHOICE


def test_accuracy_is_that_of_the_moves_scored_so_far() -> None:
    made = msgspec.structs.replace(side(1), accuracy=Accuracy(None, 88.25, 29, 1))
    figures = move_figures((made,))
    assert figures["accuracy"] == 88.25
    assert "accuracy" not in figures["missing"]


def test_the_order_of_games_does_not_matter() -> None:
    sides = [side(seed, 20 + seed) for seed in range(12)]
    figures = move_figures(sides)
    for seed in range(5):
        random.Random(seed).shuffle(sides)
        assert move_figures(sides) == figures


def test_one_game_has_the_interval_of_its_moves_and_several_a_wider_one() -> None:
    alone = share(((40, 30),))
    assert (alone.share, alone.moves) == (0.75, 40)
    uneven = share(((20, 20), (20, 10)))
    assert uneven.share == alone.share
    assert alone.low is not None and alone.high is not None
    assert uneven.low is not None and uneven.high is not None
    assert uneven.high - uneven.low > alone.high - alone.low
    assert share(((40, 30), (0, 0))) == alone


@pytest.mark.parametrize("within", [0, 40])
def test_a_share_at_an_end_keeps_an_interval(within: int) -> None:
    found = share(((40, within),))
    assert found.low is not None and found.high is not None
    assert 0 <= found.low < found.high <= 1
