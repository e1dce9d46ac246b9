"""Covariance and convolution."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Color
from live.ratings.alliot import (
    GUID_BRATKO,
    PONDERATED,
    RAW,
    RAW_STEP_FIT,
    STEP,
    TANH,
    TANH_CONFORMANCE,
    Conformance,
    ConformanceLine,
    Convolution,
    OutcomeVector,
    Prediction,
    gain_by,
    predict_by_convolution,
    predict_by_covariance,
)
from live.ratings.ferreira import GainHistogram, expected_score_between

Floats = npt.NDArray[np.float64]
Move = tuple[Color, int, int]
COLORS: tuple[Color, ...] = ("white", "black")

one_move = st.tuples(
    st.sampled_from(COLORS),
    st.integers(-3900, 3900) | st.integers(-300, 300),
    st.integers(-3900, 0) | st.integers(-60, 0),
)
moves = st.lists(one_move, max_size=50)
vectors = st.sampled_from([STEP, TANH, OutcomeVector(0.3)])
kinds = st.sampled_from([RAW, GUID_BRATKO, PONDERATED, TANH_CONFORMANCE])
losses = st.lists(st.integers(-150, 0), min_size=1, max_size=25)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(vectors, kinds, moves)
def test_the_scalar_product_equals_a_double_loop(
    vector: OutcomeVector, kind: Conformance, played: list[Move]
) -> None:
    """Section 3.3 over moves, with e as printed in section 4.3.1."""
    gains: dict[Color, list[int]] = {"white": [], "black": []}
    for color, best_cp, gain_cp in played:
        found = gain_by(kind, best_cp, gain_cp)
        shortfall = kind.of(best_cp, gain_cp)
        assert found == (None if shortfall is None else -round(shortfall))
        if found is not None:
            gains[color].append(found)
    white, black = GainHistogram(gains["white"]), GainHistogram(gains["black"])
    predicted = predict_by_covariance(white, black, vector)
    assert bool(predicted.missing) == (not white.n or not black.n)
    if predicted.missing:
        return
    total = 0.0
    for x in gains["white"]:
        for y in gains["black"]:
            d = (x - y) / 100
            rise = (d > 0) - (d < 0) if vector == STEP else math.tanh(vector.slope_per_pawn * d)
            total += 0.5 * (1 + rise)
    assert predicted.expected_score == pytest.approx(total / (white.n * black.n), abs=1e-9)
    if vector == STEP:
        ferreira = expected_score_between(white, black)
        assert predicted.expected_score == pytest.approx(ferreira, abs=1e-12)


@pytest.mark.slow
@given(vectors, losses, losses)
def test_both_sides_scores_make_one(vector: OutcomeVector, x: list[int], y: list[int]) -> None:
    one, other = GainHistogram(x), GainHistogram(y)
    cut = Convolution(3, 40)
    pairs: list[tuple[Prediction, Prediction]] = [
        (predict_by_covariance(one, other, vector), predict_by_covariance(other, one, vector)),
        (predict_by_convolution(one, other, cut), predict_by_convolution(other, one, cut)),
    ]
    for here, there in pairs:
        assert here.expected_score is not None and there.expected_score is not None
        assert here.expected_score + there.expected_score == pytest.approx(1, abs=1e-9)
        if here.low is not None and there.high is not None:
            assert here.low + there.high == pytest.approx(1, abs=1e-6)


@pytest.mark.slow
@given(losses, losses, st.integers(0, 4), st.sampled_from([0, 1, 20, 90, 5000]))
def test_win_draw_and_loss_equal_the_cut_distribution(
    x: list[int], y: list[int], convolutions: int, bound_cp: int
) -> None:
    single: dict[int, float] = {}
    for a in x:
        for b in y:
            single[a - b] = single.get(a - b, 0) + 1 / (len(x) * len(y))
    low, high = min(single), max(single)
    row = np.array([single.get(d, 0.0) for d in range(low, high + 1)])
    whole = row
    for _ in range(convolutions):
        whole = np.convolve(whole, row)
    changes = low * (convolutions + 1) + np.arange(len(whole))
    found = predict_by_convolution(
        GainHistogram(x), GainHistogram(y), Convolution(convolutions, bound_cp)
    )
    assert found.win == pytest.approx(whole[changes > bound_cp].sum(), abs=1e-9)
    assert found.loss == pytest.approx(whole[changes < -bound_cp].sum(), abs=1e-9)
    assert found.draw == pytest.approx(whole[abs(changes) <= bound_cp].sum(), abs=1e-9)


def test_table_6_stretches_the_scalar_product_to_results() -> None:
    white, black = GainHistogram([0] * 6 + [-50] * 4), GainHistogram([0] * 5 + [-50] * 5)
    plain = predict_by_covariance(white, black).expected_score
    assert plain == pytest.approx(0.55)
    stretched = predict_by_covariance(white, black, fit=RAW_STEP_FIT)
    assert stretched.expected_score == pytest.approx((1 + 2.682 * 0.1 + 0.082) / 2)
    assert stretched.low is not None and stretched.high is not None
    assert stretched.low < 0.675 < stretched.high
    assert predict_by_covariance(white, black, fit=ConformanceLine(0, 100)).expected_score == 1.0


def test_what_cannot_be_told_says_so() -> None:
    some, none = GainHistogram([0, -5]), GainHistogram()
    for predict in (predict_by_covariance, predict_by_convolution):
        assert predict(none, some).missing == "no gain of White yet"
        assert predict(none, none).missing == "no gain of White and Black yet"
        assert predict(some, none).expected_score is None
        alike = predict(GainHistogram([0] * 40), GainHistogram([0] * 40))
        assert (alike.expected_score, alike.low, alike.high) == (0.5, None, None)
        assert "too much alike" in alike.caution
        assert "too few" in predict(some, GainHistogram([-3])).caution
    alike = predict_by_convolution(GainHistogram([0]), GainHistogram([0]))
    assert (alike.win, alike.draw, alike.loss) == (0.0, 1.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 40, 80, 500])
def test_the_interval_covers_known_distributions(n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.array([0, -3, -8, -15, -25, -45, -90, -250])
    white_share = np.array([0.58, 0.08, 0.08, 0.09, 0.07, 0.05, 0.03, 0.02])
    black_share = np.array([0.50, 0.08, 0.09, 0.10, 0.09, 0.07, 0.05, 0.02])
    stronger, weaker = (
        GainHistogram(np.repeat(values, np.rint(share * 100).astype(int)).tolist())
        for share in (white_share, black_share)
    )
    truths = [
        predict_by_covariance(stronger, weaker).expected_score,
        predict_by_covariance(stronger, weaker, TANH).expected_score,
        predict_by_convolution(stronger, weaker).expected_score,
    ]
    covered = [0, 0, 0]
    for _ in range(400):
        white = GainHistogram(rng.choice(values, n, p=white_share).tolist())
        black = GainHistogram(rng.choice(values, n, p=black_share).tolist())
        found = (
            predict_by_covariance(white, black, design_effect=1),
            predict_by_covariance(white, black, TANH, design_effect=1),
            predict_by_convolution(white, black, design_effect=1),
        )
        for i, (prediction, truth) in enumerate(zip(found, truths, strict=True)):
            assert prediction.low is not None and prediction.high is not None
            assert truth is not None
            covered[i] += prediction.low <= truth <= prediction.high
    assert all(0.92 <= count / 400 <= 0.99 for count in covered), covered
