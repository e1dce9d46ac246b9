from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from live.ratings.regan.choice_fit import ChoiceFit, fit_likelihood
from live.ratings.regan.choice_model import ChoiceSkill, TurnArrays, probabilities
from live.ratings.regan.move_spread import Spread
from live.ratings.regan.projection import (
    SCREENING_NOTE,
    NoProjection,
    Projection,
    ScreeningFigure,
    alarm_level,
    chance_of_matches,
    false_alarms,
    project,
)
from tests.benchmarks.ratings.regan_recovery import real_turns, simulate

SKILL = ChoiceSkill(0.1, 0.5)
SPREADS = [
    Spread((0, 0.05, 0.4), 1, 0.0),
    Spread((0, 0.3), 0, 0.0),
    Spread((0, 0.02, 0.02, 1.1), 3, 0.0),
]


def projected(
    spreads: list[Spread] | TurnArrays, by: ChoiceSkill | ChoiceFit = SKILL
) -> Projection:
    found = project(spreads, by)
    assert isinstance(found, Projection)
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
    assert found.chance == pytest.approx(float(weight[matches >= 1].sum()))


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


@pytest.mark.slow
def test_an_uncertain_skill_makes_figures_less_certain_by_as_much_as_it_should() -> None:
    # Fitted on 80 turns, projected to 80 others by the same player.
    pool, rng = real_turns(), np.random.default_rng(12)
    honest, naive = [], []
    for _ in range(250):
        fit = fit_likelihood(simulate(pool, SKILL, 80, rng))
        if isinstance(fit, ChoiceFit):
            others = simulate(pool, SKILL, 80, rng)
            honest.append(projected(others, fit).matches.z)
            naive.append(projected(others, fit.skill).matches.z)
    assert np.std(np.array(honest, dtype=float)) == pytest.approx(1, abs=0.13)
    assert np.std(np.array(naive, dtype=float)) > 1.25


def test_where_nothing_can_vary_there_is_no_z() -> None:
    found = projected([Spread((0,), 0, 0.0)])
    assert found.matches.z is None
    assert found.difference.z is None
    assert found.matches.projected == 1


def test_no_turn_has_no_projection() -> None:
    found = project([], SKILL)
    assert isinstance(found, NoProjection)
    assert "no turn" in found.reason


def test_every_figure_says_what_it_is_not() -> None:
    found = projected(SPREADS)
    for figure in (found.matches, found.difference):
        assert figure.note == SCREENING_NOTE
    assert "accuses nobody" in SCREENING_NOTE
    assert "accuses nobody" in (ScreeningFigure.__doc__ or "")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.integers(-1, 10))
def test_the_chance_of_matches_agrees_with_all_subsets(p: list[float], matches: int) -> None:
    total = 0.0
    for hits in itertools.product((0, 1), repeat=len(p)):
        if sum(hits) >= matches:
            total += math.prod(x if hit else 1 - x for x, hit in zip(p, hits, strict=True))
    assert chance_of_matches(np.array(p), matches) == pytest.approx(total, abs=1e-12)


def test_the_chance_of_matches_of_equal_turns_is_binomial() -> None:
    assert chance_of_matches(np.full(400, 0.55), 250) == pytest.approx(
        stats.binom.sf(249, 400, 0.55), rel=1e-9
    )


def test_false_alarms_over_many_boards() -> None:
    found = false_alarms(3.0, 1000)
    assert found.expected == pytest.approx(1000 * stats.norm.sf(3), rel=1e-9)
    assert found.at_least_one == pytest.approx(1 - stats.norm.cdf(3) ** 1000, rel=1e-9)
    assert false_alarms(3.0, 0).at_least_one == 0
    # Far out, 1 - Φ(z)ⁿ would be 0 for lack of digits.
    assert false_alarms(9.0, 10).at_least_one == pytest.approx(10 * stats.norm.sf(9), rel=1e-6)


def test_false_alarms_come_as_often_as_foretold() -> None:
    rng = np.random.default_rng(4)
    boards = rng.standard_normal((20_000, 40))
    found = false_alarms(2.5, 40)
    assert np.mean((boards >= 2.5).any(axis=1)) == pytest.approx(found.at_least_one, abs=0.01)
    assert (boards >= 2.5).sum(axis=1).mean() == pytest.approx(found.expected, abs=0.01)


@given(st.integers(1, 10**6), st.floats(1e-6, 0.99))
def test_the_alarm_level_is_the_inverse(boards: int, rate: float) -> None:
    z = alarm_level(boards, rate)
    assert false_alarms(z, boards).at_least_one == pytest.approx(rate, rel=1e-6)


def test_one_board_alone_has_the_usual_level() -> None:
    assert alarm_level(1, 0.025) == pytest.approx(1.959964, abs=1e-6)
    assert alarm_level(1000, 0.05) > 3.8


def test_what_has_no_false_alarms_is_refused() -> None:
    with pytest.raises(ValueError, match="no false alarms"):
        false_alarms(math.nan, 5)
    with pytest.raises(ValueError, match="no false alarms"):
        false_alarms(2.0, -1)
    for boards, rate in ((0, 0.05), (10, 0.0), (10, 1.0), (10, math.nan)):
        with pytest.raises(ValueError, match="no level"):
            alarm_level(boards, rate)
