"""Move spreads, the choice model, intrinsic ratings and projections."""

import itertools
import math
from statistics import fmean
from typing import get_args

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from live.errors import InputError
from live.ratings.choice_model import (
    FIRST_CHOICE_PLY,
    ChoiceSkill,
    Curve,
    LeftOut,
    Model,
    Spread,
    TurnArrays,
    build_spread,
    compute_choices,
    compute_probabilities,
    explain_left_out,
    scale_delta,
)
from live.ratings.choice_projection import Projection, project_choices
from live.ratings.intrinsic_rating import (
    RYBKA_3,
    TABLES,
    estimate_rating,
    predict_choices,
)
from live.server.analysis import to_json
from tests.ratings.known_players import (
    compute_log_likelihood,
    real_turns,
    simulate,
    spreads_of,
)


def curve_value(curve: Curve, delta: float, s: float, c: float) -> float:
    """Return the value of the curve ``g``. In the shares model, it is the ratio of two
    probabilities.
    """
    best, other = compute_probabilities(
        (0.0, delta), ChoiceSkill(s, c, "shares", curve)
    )
    return float(other / best)


# --- move spread ----------------------------------------------------------------------


pawns = st.floats(-39, 39)
LINES = [("e4e5", 63), ("d2d4", 59), ("g1f3", 51), ("b1c3", 51), ("a2a3", 24)]


def test_a_spread_is_how_far_each_move_lies_behind_the_best() -> None:
    # First example of Regan and Haworth 2011, section 5: "Eval +0.63,
    # (0.00,0.04,*0.12,0.12,…)".
    shuffled = [LINES[4], LINES[2], LINES[0], LINES[3], LINES[1]]
    spread = build_spread(shuffled, "g1f3")
    behind = (0, 0.04, 0.12, 0.12, 0.39)
    assert spread.deltas == pytest.approx([scale_delta(0.63, each) for each in behind])
    assert spread.played == 2
    assert spread.loss == spread.deltas[2]
    assert build_spread(LINES, "h2h4").loss is None
    assert spread.evaluation == pytest.approx(0.63)


@given(pawns, st.floats(0, 78))
def test_the_scale_correction_is_the_integral_it_says(e: float, delta: float) -> None:
    points = [0.0] if e - delta < 0 < e else None
    area, _ = quad(lambda x: 1 / (1 + abs(x)), e - delta, e, points=points, limit=200)
    assert scale_delta(e, delta) == pytest.approx(area, abs=1e-6)


@pytest.mark.parametrize(
    ("spread", "ply", "repeated", "reason"),
    [
        (Spread((0, 0.1), 0, 0.0), FIRST_CHOICE_PLY, False, None),
        (Spread((0, 0.1), 0, 0.0), FIRST_CHOICE_PLY + 1, False, None),
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
    assert explain_left_out(spread, ply, repeated=repeated) == reason


# --- choice model ---------------------------------------------------------------------


gaps = st.lists(st.floats(0, 5), min_size=0, max_size=20)
skills = st.builds(
    ChoiceSkill,
    st.floats(0.005, 2),
    st.floats(0.2, 4),
    st.sampled_from(get_args(Model)),
    st.sampled_from(get_args(Curve)),
)


def deltas_of(gaps: list[float]) -> tuple[float, ...]:
    return tuple(float(x) for x in np.cumsum([0.0, *gaps]))


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        # Calculated by hand for δ = 0.2, s = 0.1 and c = 1.5, so that (δ/s)^c =
        # 2.828427.
        ("invexp", math.exp(-2.8284271247461903)),
        ("ipa", 1 / 3.8284271247461903),
        ("ipb", 1 / 3**1.5),
        ("secha", 2 / (math.exp(2.8284271247461903) + math.exp(-2.8284271247461903))),
        (
            "sechb",
            4 / (math.exp(2.8284271247461903) + 2 + math.exp(-2.8284271247461903)),
        ),
    ],
)
def test_curves_are_those_of_section_4(curve: Curve, expected: float) -> None:
    assert curve_value(curve, 0.2, 0.1, 1.5) == pytest.approx(expected, rel=1e-12)


@given(gaps, skills)
def test_probabilities_sum_to_1_and_fall(gaps: list[float], skill: ChoiceSkill) -> None:
    p = compute_probabilities(deltas_of(gaps), skill)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert np.all(np.diff(p) <= 1e-12)


@given(gaps, skills)
def test_probabilities_stand_in_the_ratio_the_model_says(
    gaps: list[float], skill: ChoiceSkill
) -> None:
    deltas = deltas_of(gaps)
    p = compute_probabilities(deltas, skill)
    for p_i, delta in zip(p[1:], deltas[1:], strict=True):
        g = curve_value(skill.curve, delta, skill.s, skill.c)
        if p_i < 1e-12 or g < 1e-12 or p[0] > 1 - 1e-9:
            continue
        shares = p_i / p[0]
        powers = math.log(1 / p[0]) / math.log(1 / p_i)
        ratio = {"shares": shares, "powers": powers, "product": shares * powers}[
            skill.model
        ]
        assert ratio == pytest.approx(g, rel=1e-5)


@pytest.mark.parametrize("model", get_args(Model))
@pytest.mark.parametrize("curve", get_args(Curve))
def test_slopes_agree_with_differences(model: Model, curve: Curve) -> None:
    turns = TurnArrays(
        [
            Spread((0, 0.05, 0.3, 0.9), 2, 0.0),
            Spread((0, 0, 0.4), 1, 0.0),
            Spread((0, 1.5), 0, 0.0),
        ]
    )
    at, step = ChoiceSkill(0.12, 0.6, model, curve), 1e-5
    slope = compute_choices(turns, at).slope
    for column, (ds, dc) in enumerate(((step, 0.0), (0.0, step))):
        high, low = (
            compute_choices(
                turns,
                ChoiceSkill(
                    at.s * math.exp(sign * ds), at.c * math.exp(sign * dc), model, curve
                ),
            ).log
            for sign in (1, -1)
        )
        difference = (high[turns.is_move] - low[turns.is_move]) / (2 * step)
        assert slope[turns.is_move][:, column] == pytest.approx(
            difference, rel=1e-5, abs=1e-6
        )


# --- intrinsic rating -----------------------------------------------------------------


def test_between_and_beyond_mileposts_skill_goes_on_smoothly() -> None:
    s, c = RYBKA_3.interpolate_parameters(
        np.array([2600.0, 2650.0, 2700.0, 2900.0, 1600.0, 1300.0])
    )
    assert s[1] == pytest.approx(math.sqrt(0.089 * 0.080))
    assert s[3] < s[2] and c[3] > c[2]
    assert s[5] > s[4] and c[5] < c[4]
    assert np.all(s > 0.03) and np.all(s < 0.4)


@pytest.mark.parametrize(("model", "curve"), [("shares", "invexp"), ("powers", "ipa")])
def test_the_rating_is_the_most_likely_elo(model: Model, curve: Curve) -> None:
    table = msgspec.structs.replace(RYBKA_3, model=model, curve=curve)
    turns = simulate(
        real_turns(), table.interpolate_skill(2300), 300, np.random.default_rng(2)
    )
    found = estimate_rating(table, spreads_of(turns))
    assert found.elo is not None and found.low is not None and found.high is not None
    grid = np.arange(1200, 3100, 10)
    logs = [
        compute_log_likelihood(turns, table.interpolate_skill(float(elo)))
        for elo in grid
    ]
    best = float(grid[int(np.argmax(logs))])
    assert found.elo == pytest.approx(best, abs=15)
    inside = grid[np.array(logs) > max(logs) - 1.920729]
    assert (found.low, found.high) == pytest.approx((inside[0], inside[-1]), abs=20)
    assert not found.beyond


def test_a_player_beyond_what_is_known_has_one_end_and_a_reason() -> None:
    found = estimate_rating(RYBKA_3, [Spread((0, 0.05, 0.3), 0, 0.0)] * 60)
    assert found.elo is None and found.high is None
    assert found.low is not None and found.low > 2500
    assert found.reason is not None and found.reason.startswith(
        "stronger than any player"
    )
    found = estimate_rating(RYBKA_3, [Spread((0, 0.5, 2.0), 2, 0.0)] * 40)
    assert found.elo is None and found.low is None
    assert found.high is not None and found.high < 1700
    assert found.reason is not None and found.reason.startswith(
        "weaker than any player"
    )


def test_one_oddity_cannot_say_everything() -> None:
    steep = msgspec.structs.replace(RYBKA_3, model="powers")
    turns = spreads_of(
        simulate(
            real_turns(), steep.interpolate_skill(2300), 200, np.random.default_rng(4)
        )
    )
    usual = estimate_rating(steep, turns)
    odd = estimate_rating(steep, [Spread((0, 30.0), 1, 0.0), *turns])
    assert usual.elo is not None and odd.elo is not None
    assert 0 <= usual.elo - odd.elo < 500


def test_another_engine_or_limit_is_refused() -> None:
    assert RYBKA_3.explain_mismatch("Rybka 3", "depth 13") is None
    assert RYBKA_3.explain_mismatch("rybka  3", "Depth 13") is None
    for engine, limit, named in (
        ("Stockfish 19", "depth 13", "engine 'Rybka 3', not 'Stockfish 19'"),
        ("Rybka 3", "100000 nodes", "limit 'depth 13', not '100000 nodes'"),
    ):
        assert named in (RYBKA_3.explain_mismatch(engine, limit) or "")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        to_json(RYBKA_3).replace(b'"format": 1', b'"format": 2'),
        to_json(RYBKA_3).replace(b"1600", b"1900"),
        to_json(RYBKA_3).replace(b"0.168", b"-1.0"),
        to_json(RYBKA_3).replace(b"invexp", b"linear"),
    ],
)
def test_what_is_no_table_is_refused_with_its_name(data: bytes) -> None:
    with pytest.raises(InputError, match="my-table: is no intrinsic table"):
        TABLES.decode(data, "my-table")


# --- projection -----------------------------------------------------------------------


SKILL = ChoiceSkill(0.1, 0.5)
SPREADS = [
    Spread((0, 0.05, 0.4), 1, 0.0),
    Spread((0, 0.3), 0, 0.0),
    Spread((0, 0.02, 0.02, 1.1), 3, 0.0),
]


def project(spreads: list[Spread] | TurnArrays) -> Projection:
    found = project_choices(spreads, SKILL)
    assert found is not None
    return found


def test_projections_agree_with_listing_every_outcome() -> None:
    chances = [compute_probabilities(spread.deltas, SKILL) for spread in SPREADS]
    outcomes = list(itertools.product(*(range(len(p)) for p in chances)))

    def compute_chance(choices: tuple[int, ...]) -> float:
        return float(math.prod(p[i] for p, i in zip(chances, choices, strict=True)))

    def average_loss(choices: tuple[int, ...]) -> float:
        return fmean(s.deltas[i] for s, i in zip(SPREADS, choices, strict=True))

    weight = np.array(list(map(compute_chance, outcomes)))
    matches = np.array([choices.count(0) for choices in outcomes])
    losses = np.array(list(map(average_loss, outcomes)))
    found = project(SPREADS)
    for figure, values in ((found.matches, matches), (found.difference, losses)):
        mean = float(weight @ values)
        assert figure.projected == pytest.approx(mean)
        assert figure.sd == pytest.approx(
            math.sqrt(float(weight @ (values - mean) ** 2))
        )
        sign = 1 if figure is found.matches else -1
        assert figure.z == pytest.approx(
            sign * (figure.actual - figure.projected) / figure.sd
        )
    assert found.matches.actual == 1
    assert found.difference.actual == pytest.approx((0.05 + 1.1) / 3)


def test_the_stronger_player_is_expected_to_find_the_better_move() -> None:
    behind = [0, 20, 60]
    strong = predict_choices(2700, behind)
    weak = predict_choices(1600, behind)
    unknown = predict_choices(None, behind)
    assert strong[0] > unknown[0] > weak[0]
    assert sum(strong) == pytest.approx(1)


def test_choices_follow_from_what_each_move_gives_away_in_pawns() -> None:
    chances = compute_probabilities((0.0, 0.2, 0.6), RYBKA_3.interpolate_skill(2700))
    assert predict_choices(2704, [0, 20, 60]) == pytest.approx(list(chances))
