from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from live.ratings.calibration.engine_transfer import (
    CLIP_CP,
    LEAST_CORRELATION,
    LEAST_POSITIONS,
    LimitTerms,
    MeasuredEngine,
    ScoreAgreement,
    Transfer,
    TransferTerms,
    agreement,
)

SCORES = st.lists(st.integers(-3900, 3900), min_size=LEAST_POSITIONS, max_size=120)
UNMEASURED = Transfer(scale=0.9, weight=0.5, offset_elo=0.0)


def terms(*limits: tuple[int, float, float]) -> TransferTerms:
    return TransferTerms(
        data="made up",
        date="2026-11-22",
        unmeasured=UNMEASURED,
        limits=tuple(
            LimitTerms(nodes=nodes, weight=weight, offset_elo=offset, offset_error_elo=5, games=9)
            for nodes, weight, offset in limits
        ),
    )


def noisy(scale: float, noise_cp: float, n: int = 300) -> tuple[list[int], list[int]]:
    rng = random.Random(7)
    known = [round(rng.gauss(0, 150)) for _ in range(n)]
    return known, [round(scale * score + rng.gauss(0, noise_cp)) for score in known]


@pytest.mark.slow
@given(SCORES)
def test_the_same_scores_have_the_scale_1(scores: list[int]) -> None:
    assume(len(set(scores)) > 1 and any(scores))
    found = agreement(scores, scores)
    assert found.scale == pytest.approx(1)
    assert found.scale_error == pytest.approx(0)
    assert found.correlation == pytest.approx(1)
    assert found.positions == len(scores)


@pytest.mark.slow
@given(SCORES)
def test_colours_turned_round_change_nothing(scores: list[int]) -> None:
    assume(len(set(scores)) > 1 and any(scores))
    other = [score // 2 + 11 for score in scores]
    turned = agreement([-score for score in scores], [-score for score in other])
    assert turned.scale == pytest.approx(agreement(scores, other).scale)


@pytest.mark.parametrize("scale", [0.5, 0.88, 1.0, 2.0])
def test_the_scale_is_found_within_its_error(scale: float) -> None:
    found = agreement(*noisy(scale, noise_cp=30 * scale))
    assert abs(found.scale - scale) < 3 * found.scale_error
    assert 0 < found.scale_error < 0.04
    assert found.correlation > LEAST_CORRELATION


def test_the_error_is_the_spread_over_many_measurements() -> None:
    rng = random.Random(3)
    known = [round(rng.gauss(0, 150)) for _ in range(100)]
    found = [
        agreement(known, [round(0.9 * score + rng.gauss(0, 40)) for score in known])
        for _ in range(300)
    ]
    mean = sum(each.scale for each in found) / len(found)
    spread = (sum((each.scale - mean) ** 2 for each in found) / len(found)) ** 0.5
    assert sum(each.scale_error for each in found) / len(found) == pytest.approx(spread, rel=0.15)


def test_a_mate_counts_no_more_than_a_won_game() -> None:
    known, other = noisy(1.0, noise_cp=5)
    mate = agreement([*known, CLIP_CP], [*other, 3900])
    assert mate.scale == pytest.approx(agreement(known, other).scale, abs=0.01)
    assert mate.correlation > LEAST_CORRELATION


def test_scores_of_chance_do_not_fit() -> None:
    rng = random.Random(1)
    known = [round(rng.gauss(0, 150)) for _ in range(300)]
    found = MeasuredEngine(
        agreement=agreement(known, [rng.randint(-300, 300) for _ in known]), nodes=100_000
    )
    assert "its scores do not fit: correlation " in found.refusal
    with pytest.raises(ValueError, match="do not fit"):
        found.transfer(terms((100_000, 0.8, 0.0)))


def test_an_engine_that_scores_for_the_other_side_does_not_fit() -> None:
    known, other = noisy(-1.0, noise_cp=5)
    assert MeasuredEngine(agreement=agreement(known, other), nodes=1).refusal


def test_an_engine_that_always_says_0_does_not_fit() -> None:
    known, _ = noisy(1.0, noise_cp=5)
    assert MeasuredEngine(agreement=agreement(known, [0] * len(known)), nodes=1).refusal


@pytest.mark.parametrize(
    ("known", "other", "why"),
    [
        ([1] * 49, [1] * 49, "49 positions: 50 are needed"),
        ([1] * 50, [1] * 49, "50 scores against 49"),
        ([0] * 50, [1] * 50, "every reference score is 0"),
    ],
)
def test_too_little_to_compare(known: list[int], other: list[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        agreement(known, other)


def test_terms_lie_on_the_line_between_the_limits() -> None:
    held = terms((20_000, 0.6, 40.0), (100_000, 0.8, 0.0))
    assert held.at(20_000) == pytest.approx((0.6, 40))
    assert held.at((20_000 * 100_000) ** 0.5) == pytest.approx((0.7, 20))
    assert held.at(100_000) == pytest.approx((0.8, 0))


@given(st.floats(0, 1e12))
def test_terms_stay_between_those_learned(nodes: float) -> None:
    weight, offset = terms((20_000, 0.6, 40.0), (100_000, 0.8, 0.0)).at(nodes)
    assert 0.6 <= weight <= 0.8
    assert 0 <= offset <= 40


def test_a_measured_engine_has_its_scale_and_the_terms_of_its_limit() -> None:
    known, other = noisy(0.88, noise_cp=20)
    measured = MeasuredEngine(agreement=agreement(known, other), nodes=20_000)
    found = measured.transfer(terms((20_000, 0.6, 40.0), (100_000, 0.8, 0.0)))
    assert found.scale == measured.agreement.scale
    assert (found.weight, found.offset_elo) == pytest.approx((0.6, 40))
    assert found.correlation == measured.agreement.correlation
    assert found.positions == 300


def test_scaled_and_spread() -> None:
    held = Transfer(scale=0.8, weight=0.64, offset_elo=0.0)
    assert held.scaled(-80) == pytest.approx(-100)
    added = held.swap_sd_elo(400)
    # In quadrature the two give the spread of evidence that counts 64 %.
    assert (400**2 + added**2) ** 0.5 == pytest.approx(400 / 0.8)


@pytest.mark.parametrize(
    ("scale", "weight", "offset_elo"),
    [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.1, 0.0), (1.0, 1.0, float("nan"))],
)
def test_a_transfer_that_cannot_be(scale: float, weight: float, offset_elo: float) -> None:
    with pytest.raises(ValueError, match=r"scale|weight|offset"):
        Transfer(scale=scale, weight=weight, offset_elo=offset_elo)


def test_terms_need_increasing_limits() -> None:
    with pytest.raises(ValueError, match="increase"):
        terms((20_000, 0.6, 0.0), (20_000, 0.8, 0.0))
    with pytest.raises(ValueError, match="need a limit"):
        terms()


def test_an_agreement_is_kept_as_json() -> None:
    import msgspec

    held = MeasuredEngine(agreement=ScoreAgreement(0.88, 0.014, 0.98, 294), nodes=100_000)
    assert msgspec.json.decode(msgspec.json.encode(held), type=MeasuredEngine) == held
