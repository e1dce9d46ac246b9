"""Spreads and choices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

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
    played_log,
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
    spread = spread_of(LINES, "g1f3", scale_per_pawn=0)
    assert spread.deltas == pytest.approx((0, 0.04, 0.12, 0.12, 0.39), abs=1e-12)
    assert spread.played == 2
    assert spread.loss == pytest.approx(0.12)
    assert spread.evaluation == pytest.approx(0.63)


def test_lines_are_ranked_and_equal_ones_keep_their_order() -> None:
    shuffled = [LINES[4], LINES[2], LINES[0], LINES[3], LINES[1]]
    assert spread_of(shuffled, "b1c3") == spread_of(LINES, "b1c3")
    assert spread_of(LINES, "b1c3").played == 3


def test_a_move_that_is_not_among_the_lines_has_no_loss() -> None:
    spread = spread_of(LINES, "h2h4")
    assert spread.played is None
    assert spread.loss is None
    assert left_out(spread, 40) == "move not among the lines"


@given(pawns, st.floats(0, 78), st.floats(0.01, 5))
def test_the_scale_correction_is_the_integral_it_says(e: float, delta: float, scale: float) -> None:
    points = [0.0] if e - delta < 0 < e else None
    area, _ = quad(lambda x: 1 / (1 + scale * abs(x)), e - delta, e, points=points, limit=200)
    assert scaled_delta(e, delta, scale) == pytest.approx(area, abs=1e-6)


def test_the_papers_own_example_of_the_scale_correction() -> None:
    # Section 5: e = +0.50 and an error of 1.25 is the integral from -0.75 to +0.50.
    assert scaled_delta(0.5, 1.25) == pytest.approx(math.log(1.75) + math.log(1.5), abs=1e-12)


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


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "there are none"),
        ([("e2e4", 20), ("e2e4", 10)], "twice"),
        ([("e2e4", 3901)], "clamp"),
        ([("e2e4", -30000)], "clamp"),
    ],
)
def test_lines_that_make_no_spread_are_refused(lines: list[tuple[str, int]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        spread_of(lines, "e2e4")


@pytest.mark.parametrize(
    ("deltas", "played", "evaluation"),
    [
        ((), None, 0.0),
        ((0.1, 0.2), 0, 0.0),
        ((0.0, 0.2, 0.1), 0, 0.0),
        ((0.0, math.nan), 0, 0.0),
        ((0.0, math.inf), 0, 0.0),
        ((0.0, 0.1), 2, 0.0),
        ((0.0, 0.1), -1, 0.0),
        ((0.0, 0.1), 0, math.nan),
    ],
)
def test_what_is_no_spread_is_refused(
    deltas: tuple[float, ...], played: int | None, evaluation: float
) -> None:
    with pytest.raises(ValueError):
        Spread(deltas, played, evaluation)


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
def test_the_best_moves_probability_agrees_with_a_plain_root_search(model: Model) -> None:
    deltas = (0.0, 0.05, 0.2, 0.2, 1.0)
    g = [curve_value("invexp", delta, 0.1, 0.5) for delta in deltas]

    def of(p0: float, g_i: float) -> float:
        if model == "shares":
            return p0 * g_i
        if model == "powers":
            return float(p0 ** (1 / g_i))
        # x log(1/p0) / (p0 log(1/x)) = g_i, solved for x.
        return brentq(
            lambda x: x * math.log(1 / p0) - g_i * p0 * math.log(1 / x), 1e-300, 1 - 1e-15
        )

    root = brentq(lambda p0: p0 + sum(of(p0, x) for x in g[1:]) - 1, 0.2, 1 - 1e-9, xtol=1e-14)
    found = probabilities(deltas, ChoiceSkill(0.1, 0.5, model))
    assert found[0] == pytest.approx(root, rel=1e-9)
    assert found[1:] == pytest.approx([of(root, x) for x in g[1:]], rel=1e-6)


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


@pytest.mark.slow
@given(gaps.filter(bool), st.sampled_from(MODELS), st.sampled_from(CURVES), st.data())
def test_many_players_at_once_agree_with_each(
    gaps: list[float], model: Model, curve: Curve, data: st.DataObject
) -> None:
    spread = Spread(deltas_of(gaps), data.draw(st.integers(0, len(gaps))), 0.0)
    s, c = np.array([0.05, 0.1, 0.5]), np.array([0.5, 1.0, 0.4])
    together = played_log(spread, model, curve, s, c)
    for log, a, b in zip(together, s, c, strict=True):
        alone = choices(TurnArrays([spread]), ChoiceSkill(float(a), float(b), model, curve)).log
        assert log == pytest.approx(alone[0, spread.played], rel=1e-6, abs=1e-7)


def test_a_turn_without_a_move_is_refused() -> None:
    unknown = Spread((0, 0.1), None, 0.0)
    with pytest.raises(ValueError, match="leave it out"):
        TurnArrays([unknown])
    with pytest.raises(ValueError, match="leave the turn out"):
        played_log(unknown, "shares", "invexp", np.array([0.1]), np.array([0.5]))


@pytest.mark.parametrize(("s", "c"), [(0, 1), (-1, 1), (math.nan, 1), (1, 0), (1, math.inf)])
def test_what_is_no_skill_is_refused(s: float, c: float) -> None:
    with pytest.raises(ValueError, match="finite and above 0"):
        ChoiceSkill(s, c)
