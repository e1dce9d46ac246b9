"""Spreads and choices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from live.ratings.intrinsic_rating import (
    CURVES,
    FIRST_PLY,
    MODELS,
    ChoiceSkill,
    Curve,
    LeftOut,
    Model,
    Spread,
    TurnArrays,
    choices,
    left_out,
    probabilities,
    scaled_delta,
    spread_of,
)


def curve_value(curve: Curve, delta: float, s: float, c: float) -> float:
    """``g``: by the shares model the ratio of two probabilities."""
    best, other = probabilities((0.0, delta), ChoiceSkill(s, c, "shares", curve))
    return float(other / best)


# --- move spread --------------------------------------------------------------------------------


pawns = st.floats(-39, 39)
LINES = [("e4e5", 63), ("d2d4", 59), ("g1f3", 51), ("b1c3", 51), ("a2a3", 24)]


def test_a_spread_is_how_far_each_move_lies_behind_the_best() -> None:
    # The first example of Regan and Haworth 2011, section 5: Eval +0.63, (0.00,0.04,*0.12,0.12,…).
    shuffled = [LINES[4], LINES[2], LINES[0], LINES[3], LINES[1]]
    spread = spread_of(shuffled, "g1f3")
    behind = (0, 0.04, 0.12, 0.12, 0.39)
    assert spread.deltas == pytest.approx([scaled_delta(0.63, each) for each in behind])
    assert spread.played == 2
    assert spread.loss == spread.deltas[2]
    assert spread_of(LINES, "h2h4").loss is None
    assert spread.evaluation == pytest.approx(0.63)


@given(pawns, st.floats(0, 78), st.floats(0.01, 5))
def test_the_scale_correction_is_the_integral_it_says(e: float, delta: float, scale: float) -> None:
    points = [0.0] if e - delta < 0 < e else None
    area, _ = quad(lambda x: 1 / (1 + scale * abs(x)), e - delta, e, points=points, limit=200)
    assert scaled_delta(e, delta, scale) == pytest.approx(area, abs=1e-6)


@pytest.mark.parametrize(
    ("spread", "ply", "repeated", "reason"),
    [
        (Spread((0, 0.1), 0, 0.0), FIRST_PLY, False, None),
        (Spread((0, 0.1), 0, 0.0), FIRST_PLY + 1, False, None),
        (Spread((0, 0.1), 0, 0.0), 16, False, "opening"),
        (Spread((0, 0.1), 0, 0.0), 30, True, "repeated position"),
        (Spread((0, 0.1), 0, 3.0), 30, False, None),
        (Spread((0, 0.1), 0, 3.01), 30, False, "decided position"),
        (Spread((0, 0.1), 0, -3.01), 30, False, "decided position"),
        (Spread((0,), 0, 0.0), 30, False, "a single line"),
        (Spread((0, 0.1), None, 0.0), 30, False, "move not among the lines"),
    ],
)
def test_what_is_left_out_and_why(
    spread: Spread, ply: int, repeated: bool, reason: LeftOut | None
) -> None:
    assert left_out(spread, ply, repeated=repeated) == reason


# --- choice model -------------------------------------------------------------------------------


gaps = st.lists(st.floats(0, 5), min_size=0, max_size=20)
skills = st.builds(
    ChoiceSkill,
    st.floats(0.005, 2),
    st.floats(0.2, 4),
    st.sampled_from(MODELS),
    st.sampled_from(CURVES),
)


def deltas_of(gaps: list[float]) -> tuple[float, ...]:
    return tuple(float(x) for x in np.cumsum([0.0, *gaps]))


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        # By hand at δ = 0.2, s = 0.1, c = 1.5, so (δ/s)^c = 2.828427.
        ("invexp", math.exp(-2.8284271247461903)),
        ("ipa", 1 / 3.8284271247461903),
        ("ipb", 1 / 3**1.5),
        ("secha", 2 / (math.exp(2.8284271247461903) + math.exp(-2.8284271247461903))),
        ("sechb", 4 / (math.exp(2.8284271247461903) + 2 + math.exp(-2.8284271247461903))),
    ],
)
def test_curves_are_those_of_section_4(curve: Curve, expected: float) -> None:
    assert curve_value(curve, 0.2, 0.1, 1.5) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@given(gaps, skills)
def test_probabilities_sum_to_1_and_fall(gaps: list[float], skill: ChoiceSkill) -> None:
    p = probabilities(deltas_of(gaps), skill)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert np.all(np.diff(p) <= 1e-12)


@pytest.mark.slow
@given(gaps, skills)
def test_probabilities_stand_in_the_ratio_the_model_says(
    gaps: list[float], skill: ChoiceSkill
) -> None:
    deltas = deltas_of(gaps)
    p = probabilities(deltas, skill)
    for p_i, delta in zip(p[1:], deltas[1:], strict=True):
        g = curve_value(skill.curve, delta, skill.s, skill.c)
        if p_i < 1e-12 or g < 1e-12 or p[0] > 1 - 1e-9:
            continue
        shares = p_i / p[0]
        powers = math.log(1 / p[0]) / math.log(1 / p_i)
        ratio = {"shares": shares, "powers": powers, "product": shares * powers}[skill.model]
        assert ratio == pytest.approx(g, rel=1e-5)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("curve", CURVES)
def test_slopes_agree_with_differences(model: Model, curve: Curve) -> None:
    turns = TurnArrays(
        [Spread((0, 0.05, 0.3, 0.9), 2, 0.0), Spread((0, 0, 0.4), 1, 0.0), Spread((0, 1.5), 0, 0.0)]
    )
    at, step = ChoiceSkill(0.12, 0.6, model, curve), 1e-5
    slope = choices(turns, at).slope
    for column, (ds, dc) in enumerate(((step, 0.0), (0.0, step))):
        high, low = (
            choices(
                turns,
                ChoiceSkill(at.s * math.exp(sign * ds), at.c * math.exp(sign * dc), model, curve),
            ).log
            for sign in (1, -1)
        )
        difference = (high[turns.is_move] - low[turns.is_move]) / (2 * step)
        assert slope[turns.is_move][:, column] == pytest.approx(difference, rel=1e-5, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize(("s", "c"), [(1e-4, 5), (1e-4, 20), (100, 0.02), (0.1, 20), (100, 20)])
def test_extreme_players_have_finite_probabilities(
    model: Model, curve: Curve, s: float, c: float
) -> None:
    turns = TurnArrays([Spread((0, 0.01, 39, 78), 3, 0.0), Spread((0, 0), 1, 0.0)])
    found = choices(turns, ChoiceSkill(s, c, model, curve))
    assert found.probability.sum(axis=1) == pytest.approx([1, 1], abs=1e-9)
    assert np.isfinite(found.slope).all()
    assert np.isfinite(found.log[turns.is_move]).all()
