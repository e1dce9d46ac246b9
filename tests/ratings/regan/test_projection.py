from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from live.ratings.choice_model import ChoiceSkill, Spread, TurnArrays, probabilities
from live.ratings.intrinsic_rating import Projection, project
from tests.benchmarks.ratings.regan_recovery import real_turns, simulate

SKILL = ChoiceSkill(0.1, 0.5)
SPREADS = [
    Spread((0, 0.05, 0.4), 1, 0.0),
    Spread((0, 0.3), 0, 0.0),
    Spread((0, 0.02, 0.02, 1.1), 3, 0.0),
]


def projected(spreads: list[Spread] | TurnArrays) -> Projection:
    found = project(spreads, SKILL)
    assert found is not None
    return found


def test_projections_agree_with_listing_every_outcome() -> None:
    chances = [probabilities(spread.deltas, SKILL) for spread in SPREADS]
    outcomes = list(itertools.product(*(range(len(p)) for p in chances)))
    weight = np.array([math.prod(p[i] for p, i in zip(chances, o, strict=True)) for o in outcomes])
    matches = np.array([sum(i == 0 for i in o) for o in outcomes])
    losses = np.array(
        [np.mean([s.deltas[i] for s, i in zip(SPREADS, o, strict=True)]) for o in outcomes]
    )
    found = projected(SPREADS)
    for figure, values in ((found.matches, matches), (found.difference, losses)):
        mean = float(weight @ values)
        assert figure.projected == pytest.approx(mean)
        assert figure.sd == pytest.approx(math.sqrt(float(weight @ (values - mean) ** 2)))
    assert found.matches.actual == 1
    assert found.difference.actual == pytest.approx((0.05 + 1.1) / 3)


def test_z_is_positive_towards_the_engine() -> None:
    engine = projected([Spread((0, 0.1, 0.4), 0, 0.0)] * 50)
    assert engine.matches.z is not None and engine.matches.z > 3
    assert engine.difference.z is not None and engine.difference.z > 3
    beginner = projected([Spread((0, 0.1, 0.4), 2, 0.0)] * 50)
    assert beginner.matches.z is not None and beginner.matches.z < -3
    assert beginner.difference.z is not None and beginner.difference.z < -3


@pytest.mark.slow
def test_z_of_honest_players_is_standard_normal() -> None:
    pool, rng = real_turns(), np.random.default_rng(11)
    found = [projected(simulate(pool, SKILL, 200, rng)) for _ in range(500)]
    for figures in ([f.matches for f in found], [f.difference for f in found]):
        z = np.array([figure.z for figure in figures], dtype=float)
        assert abs(z.mean()) < 0.16
        assert abs(z.std() - 1) < 0.12
        assert 0.01 <= np.mean(np.abs(z) > 1.96) <= 0.09


def test_where_nothing_can_vary_there_is_no_z() -> None:
    found = projected([Spread((0,), 0, 0.0)])
    assert found.matches.z is None
    assert found.difference.z is None
    assert found.matches.projected == 1


def test_no_turn_has_no_projection() -> None:
    assert project([], SKILL) is None
