"""Everybody in one order, by every method that ranks."""

from __future__ import annotations

import msgspec
import pytest

from live.ledger.comparisons import PAIRED_BY, rank
from tests.ledger.event_of_three import event


@pytest.mark.slow
@pytest.mark.parametrize("by", sorted(PAIRED_BY))
def test_everybody_has_a_place_or_a_reason(by: str) -> None:
    held = event()
    ranks = rank(held.study(), held.players(), by, engine_rating=2800)
    assert {each.name for each in ranks} == {"Anand", "Carlsen", "Ding, Liren"}
    for each in ranks:
        assert (each.place is None) == bool(each.missing)
        assert each.algorithm_2 is not None
        assert each.algorithm_4 is not None
    if by != "markov":
        places = {each.place: each for each in ranks}
        assert sorted(filter(None, places)) == [1, 2, 3]
        scores = [places[place].expected_score or 0 for place in (1, 2, 3)]
        assert scores == sorted(scores, reverse=True)
        assert sum(scores) == pytest.approx(1.5)


def test_an_event_without_a_move_ranks_nobody() -> None:
    held = event(0)
    ranks = rank(held.study(), held.players(), engine_rating=2800)
    assert [(each.place, each.standing) for each in ranks] == [(None, None)] * 3


@pytest.mark.slow
def test_everybody_comes_by_what_is_known_of_them_and_ties_are_ties() -> None:
    held = event()
    views = [
        msgspec.structs.replace(view, perceived=rating)
        for view, rating in zip(held.players(), (2400.0, 2400.0, 2900.0), strict=True)
    ]
    ranks = rank(held.study(), views, "markov", engine_rating=2800)
    assert [(each.name, each.standing, each.tied) for each in ranks] == [
        ("Ding, Liren", 1, False),
        ("Anand", 2, True),
        ("Carlsen", 2, True),
    ]
    assert [each.place for each in ranks] == [None] * 3  # Markov needs more moves
