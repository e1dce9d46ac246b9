"""Algorithm 2 as it is published of the players of an event."""

from __future__ import annotations

import random
from itertools import pairwise

from live.events import PlayerMethods, PlayerView
from live.ledger.players import NO_COMPARISON, NOBODY_RATED, with_strengths
from live.ratings.ferreira import Algorithm2


def shown(event: Algorithm2, *names: str) -> list[PlayerMethods]:
    views = [PlayerView(name, name, None, games=1, moves=1, mean_gain_cp=None) for name in names]
    return [view.methods for view in with_strengths(views, event)]


def test_whole_elo_of_algorithm_2_with_ends_rounded_outwards() -> None:
    chance = random.Random(4)
    event = Algorithm2("same-search")
    names = [f"p{n}" for n in range(8)]
    for n, name in enumerate(names):
        event.rate(name, 2000 + 50 * n)
        event.add_game(name, [-chance.choice((0, 0, 10, 40)) for _ in range(50)])
    for one, other in pairwise(names):
        event.meet(one, other)
    strengths = event.strengths()
    for name, methods in zip(names, shown(event, *names), strict=True):
        found, low, high = strengths[name].rating, strengths[name].low, strengths[name].high
        assert (
            found is not None
            and low is not None
            and high is not None
            and methods.tournament_rating is not None
        )
        assert abs(found - methods.tournament_rating) <= 0.5 + 1e-6
        assert methods.tournament_low is not None and methods.tournament_high is not None
        assert low - 5 < methods.tournament_low <= low + 1e-6
        assert high - 1e-6 <= methods.tournament_high < high + 5


def test_what_cannot_be_said_has_its_reason() -> None:
    event = Algorithm2("same-search")
    event.meet("a", "b")
    assert shown(event, "a")[0].missing == {"tournament_rating": NO_COMPARISON}
    for name in ("a", "b"):
        event.add_game(name, [0])
    (methods,) = shown(event, "a")
    assert (methods.tournament_rating, methods.tournament_difference) == (None, 0)
    assert methods.missing == {"tournament_rating": NOBODY_RATED}
    event.rate("b", 2401)
    methods, only = shown(event, "a", "b")
    assert (methods.tournament_rating, methods.missing) == (2401, {})
    assert methods.tournament_low is not None and methods.tournament_high is not None
    assert methods.tournament_low < 2401 < methods.tournament_high
    # The other one's rating is what was told, whatever was played.
    assert (only.tournament_rating, only.tournament_low) == (2401, None)
    assert set(only.missing) == {"tournament_low", "tournament_high"}
