"""Everybody in one order, by every method that ranks."""

from __future__ import annotations

import pytest

from live.ledger.players.ranking import PAIRED_BY, rank
from tests.ledger.event_of_three import event


@pytest.mark.slow
@pytest.mark.parametrize("by", sorted(PAIRED_BY))
def test_everybody_has_a_place_or_a_reason(by: str) -> None:
    held = event()
    ranks = rank(held.study(), held.players(), by)
    assert {each.name for each in ranks} == {"Anand", "Carlsen", "Ding, Liren"}
    for each in ranks:
        assert (each.place is None) == bool(each.missing)
        assert each.algorithm_2 is not None
        assert each.algorithm_4 is not None
    if by != "markov":
        assert [each.place for each in ranks] == [1, 2, 3]
        scores = [each.expected_score or 0 for each in ranks]
        assert scores == sorted(scores, reverse=True)
        assert sum(scores) == pytest.approx(1.5)


def test_an_event_without_a_move_ranks_nobody() -> None:
    held = event(0)
    assert [each.place for each in rank(held.study(), held.players())] == [None] * 3


@pytest.mark.slow
def test_those_without_a_place_come_by_algorithm_4() -> None:
    held = event()
    ranks = rank(held.study(), held.players(), "markov")
    assert [each.place for each in ranks] == [None] * 3
    ratings = [each.algorithm_4 or 0 for each in ranks]
    assert ratings[0] > ratings[-1]
    assert ratings == sorted(ratings, reverse=True)
