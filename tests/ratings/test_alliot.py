"""Conformance and complexity, covariance and convolution, predictions and the battle
royale.
"""

import math
import random
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.messages.from_sources import Score
from live.messages.values import Color
from live.ratings.complexity import Complexity, measure_complexity
from live.ratings.conformance import (
    GUID_BRATKO,
    PONDERATED,
    PONDERATED_BY_REGRESSION,
    RAW,
    AccumulatedConformance,
    Conformance,
    ConformanceLine,
    average_periods,
    is_counted,
    predict_by_conformance,
)
from live.ratings.covariance import (
    RAW_STEP_FIT,
    STEP,
    TANH,
    TANH_CONFORMANCE,
    Convolution,
    OutcomeVector,
    convert_conformance_to_gain,
    predict_by_convolution,
    predict_by_covariance,
)
from live.ratings.ferreira import compute_expected_score_between
from live.ratings.gains import GainHistogram
from live.ratings.predictions import BattleRoyale, Prediction, compute_bounded_interval
from live.ratings.score_interval import USUAL_DESIGN_EFFECT

# --- conformance ----------------------------------------------------------------------


KINDS = [RAW, GUID_BRATKO, PONDERATED, PONDERATED_BY_REGRESSION]


class Played(NamedTuple):
    best_cp: int
    gain_cp: int
    ply: int
    forced: bool


moves = st.builds(
    Played,
    st.integers(-3900, 3900) | st.integers(-300, 300),
    st.integers(-3900, 0) | st.integers(-40, 0),
    st.integers(1, 120),
    st.booleans(),
)
games = st.lists(moves, max_size=50)
kinds = st.sampled_from(KINDS)


def accumulate(kind: Conformance, played: list[Played]) -> AccumulatedConformance:
    found = AccumulatedConformance(kind)
    for move in played:
        found.add(move.best_cp, move.gain_cp, ply=move.ply, forced=move.forced)
    return found


def brute_force(kind: Conformance, played: list[Played], x_cp: float) -> float | None:
    """Compute p(x) from the printed formulas of Alliot 2017, sections 3.2.3 and 4.2.1,
    in pawns.
    """
    good = []
    for move in played:
        v, delta = move.best_cp / 100, -move.gain_cp / 100
        if move.ply <= 18 or move.forced:
            continue
        if kind.name == "guid-bratko" and (v > 2 or v < -2):
            continue
        if kind.ponderation is not None:
            k1, k2 = kind.ponderation.k1_pawns, kind.ponderation.k2_pawns
            delta = delta / (1 + v / k1) if v >= 0 else delta / (1 + v / k2)
        good.append(delta <= x_cp / 100 + 1e-12)
    return float(np.mean(good)) if good else None


@settings(max_examples=100)
@given(kinds, games, st.sampled_from([0, 10, 20, 30, 95]), st.randoms())
def test_shares_equal_the_printed_formula_in_whatever_order(
    kind: Conformance, played: list[Played], x_cp: int, rng: random.Random
) -> None:
    rng.shuffle(played)
    found = accumulate(kind, played)
    assert found.share == pytest.approx(brute_force(kind, played, kind.x_cp), abs=1e-9)
    assert found.compute_share_at(x_cp) == pytest.approx(
        brute_force(kind, played, x_cp), abs=1e-9
    )


def test_nine_game_turns_and_forced_moves_do_not_count() -> None:
    assert [ply for ply in range(1, 25) if is_counted(ply)] == list(range(19, 25))
    assert not is_counted(40, forced=True)


def test_past_periods_count_half_of_the_next() -> None:
    now = accumulate(RAW, [Played(0, 0, 20, False)] * 3 + [Played(0, -90, 20, False)])
    before = accumulate(RAW, [Played(0, 0, 20, False), Played(0, -90, 20, False)])
    oldest = accumulate(RAW, [Played(0, -90, 20, False)] * 4)
    expected = (3 + 1 / 2 + 0 / 4) / (4 + 2 / 2 + 4 / 4)
    assert average_periods([now, before, oldest]) == pytest.approx(expected)
    assert average_periods([]) is average_periods([AccumulatedConformance()]) is None


@pytest.mark.parametrize(
    ("kind", "x_cp", "alpha", "beta"),
    [
        (RAW, 30, 0.043, 4.00),
        (GUID_BRATKO, 20, 0.067, 3.37),
        (PONDERATED, 30, -0.007, 3.64),
    ],
)
def test_the_predicted_result_is_the_papers_line(
    kind: Conformance, x_cp: int, alpha: float, beta: float
) -> None:
    good, bad = Played(0, -x_cp, 30, False), Played(0, -x_cp - 1, 30, False)
    white = accumulate(kind, [good] * 19 + [bad])
    black = accumulate(kind, [good] * 9 + [bad])
    result = beta * (0.95 - 0.90) + alpha
    found = predict_by_conformance(white, black)
    assert found.expected_score == pytest.approx((1 + result) / 2)
    assert found.low is not None and found.high is not None
    assert found.low < (1 + result) / 2 < found.high


def test_what_cannot_be_predicted_says_why() -> None:
    some = accumulate(RAW, [Played(0, 0, 30, False)])
    found = predict_by_conformance(some, AccumulatedConformance())
    assert found.expected_score is None and found.low is None
    assert found.missing == "no counted move of Black yet"
    unfitted = AccumulatedConformance(PONDERATED_BY_REGRESSION)
    assert "published" in predict_by_conformance(unfitted, unfitted).missing


# --- complexity -----------------------------------------------------------------------


scores = st.lists(st.none() | st.integers(-3900, 3900).map(Score), max_size=30)


@given(scores)
def test_indicators_equal_a_loop(by_depth: list[Score | None]) -> None:
    changes: list[int] = []
    at: list[int] = []
    for n in range(1, len(by_depth)):
        before, after = by_depth[n - 1], by_depth[n]
        if before is not None and after is not None:
            changes.append(abs(after.cp - before.cp))
            at.append(n)
    found = measure_complexity(by_depth)
    if not changes:
        assert found is None
        return
    assert found is not None
    assert found.stability_cp == pytest.approx(sum(changes) / len(changes))
    assert (found.jump_cp, found.changes) == (max(changes), len(changes))
    assert found.jump_depth == (
        at[changes.index(max(changes))] if max(changes) else None
    )


def test_corpora_hold_complexity_by_name() -> None:
    names = {"stability_cp": 1.5, "jump_cp": 2, "jump_depth": None, "changes": 4}
    assert msgspec.to_builtins(Complexity(*names.values())) == names  # type: ignore[arg-type]


Move = tuple[Color, int, int]
COLORS: tuple[Color, ...] = ("white", "black")

one_move = st.tuples(
    st.sampled_from(COLORS),
    st.integers(-3900, 3900) | st.integers(-300, 300),
    st.integers(-3900, 0) | st.integers(-60, 0),
)
pairs_of_moves = st.lists(one_move, max_size=50)
vectors = st.sampled_from([STEP, TANH, OutcomeVector(0.3)])
all_kinds = st.sampled_from([RAW, GUID_BRATKO, PONDERATED, TANH_CONFORMANCE])
losses = st.lists(st.integers(-150, 0), min_size=1, max_size=25)


@settings(max_examples=100, deadline=None)
@given(vectors, all_kinds, pairs_of_moves)
def test_the_scalar_product_equals_a_double_loop(
    vector: OutcomeVector, kind: Conformance, played: list[Move]
) -> None:
    """The loop follows section 3.3 of Alliot 2017, with e as in section 4.3.1."""
    gains: dict[Color, list[int]] = {"white": [], "black": []}
    for color, best_cp, gain_cp in played:
        found = convert_conformance_to_gain(kind, best_cp, gain_cp)
        shortfall = kind.measure_move(best_cp, gain_cp)
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
            rise = (
                (d > 0) - (d < 0)
                if vector == STEP
                else math.tanh(vector.slope_per_pawn * d)
            )
            total += 0.5 * (1 + rise)
    assert predicted.expected_score == pytest.approx(
        total / (white.n * black.n), abs=1e-9
    )
    if vector == STEP:
        ferreira = compute_expected_score_between(white, black)
        assert predicted.expected_score == pytest.approx(ferreira, abs=1e-12)


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
    white, black = (
        GainHistogram([0] * 6 + [-50] * 4),
        GainHistogram([0] * 5 + [-50] * 5),
    )
    plain = predict_by_covariance(white, black).expected_score
    assert plain == pytest.approx(0.55)
    stretched = predict_by_covariance(white, black, fit=RAW_STEP_FIT)
    assert stretched.expected_score == pytest.approx((1 + 2.682 * 0.1 + 0.082) / 2)
    assert stretched.low is not None and stretched.high is not None
    assert stretched.low < 0.675 < stretched.high
    assert (
        predict_by_covariance(white, black, fit=ConformanceLine(0, 100)).expected_score
        == 1.0
    )


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


@pytest.mark.parametrize("n", [20, 80])
def test_the_interval_covers_known_distributions(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("live.ratings.predictions.USUAL_DESIGN_EFFECT", 1)
    rng = np.random.default_rng(n)
    values = np.array([0, -3, -8, -15, -25, -45, -90, -250])
    white_share = np.array([0.58, 0.08, 0.08, 0.09, 0.07, 0.05, 0.03, 0.02])
    black_share = np.array([0.50, 0.08, 0.09, 0.10, 0.09, 0.07, 0.05, 0.02])
    stronger, weaker = (
        GainHistogram(np.repeat(values, np.rint(share * 100).astype(int)).tolist())
        for share in (white_share, black_share)
    )
    predictors: tuple[Callable[[GainHistogram, GainHistogram], Prediction], ...] = (
        predict_by_covariance,
        partial(predict_by_covariance, vector=TANH),
        predict_by_convolution,
    )
    truths = [predict(stronger, weaker).expected_score for predict in predictors]
    covered = [0, 0, 0]
    for _ in range(400):
        white = GainHistogram(rng.choice(values, n, p=white_share).tolist())
        black = GainHistogram(rng.choice(values, n, p=black_share).tolist())
        for i, (predict, truth) in enumerate(zip(predictors, truths, strict=True)):
            found = predict(white, black)
            assert (
                found.low is not None and found.high is not None and truth is not None
            )
            covered[i] += found.low <= truth <= found.high
    assert all(0.92 <= count / 400 <= 0.99 for count in covered), covered


# --- prediction -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "freedom", "reach"), [(0.4, math.inf, 1.96e-3), (0.5, 4, 2.776e-3)]
)
def test_a_small_variance_gives_the_normal_interval_or_students(
    score: float, freedom: float, reach: float
) -> None:
    ends = compute_bounded_interval(score, 1e-6 / USUAL_DESIGN_EFFECT, freedom)
    assert ends == pytest.approx((score - reach, score + reach), abs=1e-5)


# --- battle royale --------------------------------------------------------------------


#: Alliot 2017, Table 9: expected scores by the Markov predictor, in per cent. Each row
#: has one player's scores against all others, in the order of the rows.
TABLE_9 = """
Carlsen 52 54 54 57 58 57 58 56 60 61 59 60 61 61 64 66 69 70 82
Kramnik 49 52 52 55 56 56 57 55 59 60 58 60 60 60 63 65 68 70 83
Fischer 47 49 51 53 57 56 57 56 59 60 60 61 61 62 64 68 70 73 85
Kasparov 47 49 50 53 54 54 54 53 57 58 56 56 58 58 60 62 66 68 82
Anand 44 46 48 48 54 52 53 53 57 56 57 57 59 59 62 64 69 71 86
Khalifman 43 45 44 47 47 50 51 52 53 54 55 55 56 56 60 62 64 67 79
Smyslov 43 45 45 47 49 51 50 51 53 55 54 54 54 55 59 63 64 68 82
Petrosian 43 44 45 47 49 50 51 52 53 54 54 55 55 56 59 63 63 67 80
Karpov 44 46 45 48 48 49 50 49 51 52 52 52 52 52 56 58 60 63 76
Kasimdzhanov 41 43 42 45 45 48 48 48 50 52 52 52 54 53 56 60 62 65 80
Botvinnik 40 41 41 44 45 48 46 48 49 49 50 54 52 52 56 60 60 64 80
Ponomariov 42 43 41 45 44 47 47 47 49 49 51 51 52 52 55 58 59 62 77
Lasker 41 41 40 45 44 46 47 46 49 49 48 50 51 50 54 58 59 63 78
Spassky 40 41 40 43 42 45 47 46 48 47 49 49 50 51 53 58 57 61 75
Topalov 40 41 39 44 42 45 46 45 49 48 49 49 50 51 54 57 57 61 75
Capablanca 37 38 37 41 39 42 42 42 45 45 45 47 47 48 47 53 54 59 76
Tal 35 36 34 39 37 39 39 38 43 41 41 43 43 43 44 48 49 54 72
Euwe 32 33 32 36 32 37 37 38 41 39 41 42 43 44 44 47 52 56 75
Alekhine 31 31 29 34 30 35 33 35 38 36 37 39 38 40 40 43 47 45 69
Steinitz 20 19 17 20 16 22 19 22 25 22 22 25 24 27 27 26 30 27 33
"""


def battle() -> BattleRoyale:
    rows = {
        name: list(map(int, row))
        for name, *row in map(str.split, TABLE_9.split("\n")[1:-1])
    }
    scores = {}
    for name, row in rows.items():
        others = [other for other in rows if other != name]
        for other, score in zip(others, row, strict=True):
            scores[name, other] = score / 100
    return BattleRoyale(lambda *pair: Prediction(expected_score=scores[pair]), rows)


def test_table_9_is_ranked_as_the_paper_reads_it() -> None:
    places = {place.player: place for place in battle().rank_players()}
    order = list(places)
    # Alliot 2017, section 4.4.2: four players lead the table, three are last, "Steinitz
    # being way below". Kasparov is fourth. His row and Anand's both add up to 1095, so
    # the games with Black decide.
    assert set(order[:3]) == {"Carlsen", "Kramnik", "Fischer"}
    assert set(order[3:5]) == {"Kasparov", "Anand"}
    fourth, fifth = (places[player].expected_score for player in order[3:5])
    assert fourth is not None and fourth == pytest.approx(fifth, abs=0.004)
    assert order[-3:] == ["Euwe", "Alekhine", "Steinitz"]
    assert (places["Steinitz"].rank, places["Steinitz"].victories) == (20, 0)
    assert places["Carlsen"].rank == 1
    # Alliot 2017, section 4.4.2: "Tal is performing consistently better than Euwe
    # against stronger players, but is losing to Euwe (with a small margin)."
    tal, euwe = places["Tal"], places["Euwe"]
    assert tal.rank is not None and euwe.rank is not None
    assert tal.rank < euwe.rank


def test_a_score_is_the_mean_over_opponents_and_colours() -> None:
    royale = battle()
    scores = {
        pair: found.expected_score or 0 for pair, found in royale.pairings.items()
    }
    for place in royale.rank_players():
        me = place.player
        against = [
            (scores[me, two] + 1 - scores[two, me]) / 2
            for one, two in scores
            if one == me
        ]
        assert place.expected_score == pytest.approx(sum(against) / 19)
        assert place.victories == sum(score > 0.5 for score in against)
        assert place.opponents == 19
        assert (place.low, place.high) == (None, None)


def test_the_interval_averages_the_ends_from_the_players_side() -> None:
    def predict(white: str, black: str) -> Prediction:
        return Prediction(expected_score=0.5, low=0.4, high=0.7)

    for place in BattleRoyale(predict, "abc").rank_players():
        assert (place.low, place.high) == pytest.approx(
            ((0.4 + 0.3) / 2, (0.7 + 0.6) / 2)
        )


def test_an_unknown_pairing_is_left_out_and_a_player_with_none_says_why() -> None:
    def predict(white: str, black: str) -> Prediction:
        if "new" in (white, black):
            return Prediction(missing="no moves of new yet")
        return Prediction(expected_score=0.6 if white == "a" else 0.45)

    *ranked, last = BattleRoyale(predict, ["new", "a", "b"]).rank_players()
    assert [(p.player, p.rank, p.opponents) for p in ranked] == [
        ("a", 1, 1),
        ("b", 2, 1),
    ]
    assert ranked[0].expected_score == pytest.approx((0.6 + 0.55) / 2)
    assert (last.player, last.rank, last.expected_score) == ("new", None, None)
    assert last.missing == "no moves of new yet"
