"""Players of an event."""

from __future__ import annotations

import random
from itertools import pairwise

from live.events import PlayerMethods
from live.ledger.players import (
    NO_COMPARISON,
    NOBODY_RATED,
    EventStrengths,
    with_strength,
)
from live.ratings.algorithm_2 import Algorithm2


def test_the_mean_of_the_rated_is_kept_and_figures_are_those_of_algorithm_2() -> None:
    chance = random.Random(4)
    held, batch = EventStrengths("same-search"), Algorithm2()
    names = [f"p{n}" for n in range(8)]
    for each in (held, batch):
        for n, name in enumerate(names):
            each.rate(name, 2000 + 50 * n)
        for one, other in pairwise(names):
            each.meet(one, other)
    for _ in range(400):
        name, gain_cp = chance.choice(names), -chance.choice((0, 0, 10, 40))
        held.add(name, gain_cp, "g")
        batch.add(name, gain_cp)
    for name, found in batch.strengths().items():
        shown = with_strength(PlayerMethods(), held.published().get(name))
        assert found.rating is not None and shown.tournament_rating is not None
        assert abs(found.rating - shown.tournament_rating) <= 0.5 + 1e-6


def test_what_cannot_be_said_has_its_reason() -> None:
    held = EventStrengths("same-search")
    held.meet("a", "b")
    assert with_strength(PlayerMethods(), held.published().get("a")).missing == {
        "tournament_rating": NO_COMPARISON
    }
    for name in ("a", "b"):
        held.add(name, 0, "g")
    shown = with_strength(PlayerMethods(), held.published().get("a"))
    assert (shown.tournament_rating, shown.tournament_difference) == (None, 0)
    assert shown.missing == {"tournament_rating": NOBODY_RATED}
    held.rate("b", 2401)
    shown = with_strength(shown, held.published().get("a"))
    assert shown.tournament_rating == 2401
    assert shown.missing == {}
    assert shown.tournament_low is not None and shown.tournament_high is not None
    assert shown.tournament_low < 2401 < shown.tournament_high
    # The other one's rating is what was told, whatever was played.
    only = with_strength(PlayerMethods(), held.published().get("b"))
    assert (only.tournament_rating, only.tournament_low) == (2401, None)
    assert set(only.missing) == {"tournament_low", "tournament_high"}


def test_somebody_against_themselves_is_left_alone() -> None:
    held = EventStrengths("same-search")
    held.meet("a", "a")
    held.add("a", -5, "g")
    assert held.published() == {}
