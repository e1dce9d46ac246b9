from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Score
from live.ratings.conformance import (
    BEST_CORRELATION,
    GUID_BRATKO,
    PONDERATED,
    PONDERATED_BY_REGRESSION,
    RAW,
    REGRESSION,
    AccumulatedConformance,
    Conformance,
    ConformanceLine,
    ScoreWeighting,
    is_counted,
    predict_by_conformance,
    remembered_share,
)
from live.ratings.gain import same_search_gain

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
    """p(x) by the formulas of sections 3.2.3 and 4.2.1, in pawns, as they are printed."""
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


@pytest.mark.slow
@settings(max_examples=200)
@given(kinds, st.lists(moves | st.none(), max_size=60), st.sampled_from([0, 10, 20, 30, 95]))
def test_every_prefix_equals_the_printed_formula(
    kind: Conformance, steps: list[Played | None], x_cp: int
) -> None:
    """A step is a move, or None for taking the last one back."""
    found = AccumulatedConformance(kind)
    held: list[Played] = []
    for step in steps:
        if step is not None:
            held.append(step)
            found.add(step.best_cp, step.gain_cp, ply=step.ply, forced=step.forced)
        elif held:
            last = held.pop()
            found.remove(last.best_cp, last.gain_cp, ply=last.ply, forced=last.forced)
        assert found.share == pytest.approx(brute_force(kind, held, kind.x_cp), abs=1e-9)
        assert found.share_at(x_cp) == pytest.approx(brute_force(kind, held, x_cp), abs=1e-9)


@pytest.mark.slow
@given(kinds, games, games)
def test_remove_undoes_add(kind: Conformance, kept: list[Played], back: list[Played]) -> None:
    found = accumulate(kind, kept + back)
    for move in back:
        found.remove(move.best_cp, move.gain_cp, ply=move.ply, forced=move.forced)
    fresh = accumulate(kind, kept)
    assert (found.n, found.within) == (fresh.n, fresh.within)
    assert all(found.within_cp(x) == fresh.within_cp(x) for x in range(0, 4000, 7))


@pytest.mark.slow
@given(kinds, games, st.randoms())
def test_order_does_not_matter(kind: Conformance, played: list[Played], rng: random.Random) -> None:
    shuffled = played[:]
    rng.shuffle(shuffled)
    assert accumulate(kind, played).share == accumulate(kind, shuffled).share


def test_the_move_of_the_papers_example_file() -> None:
    # Section 2.4: c1d2 90 against b2b4 127, then c6d5 -91 against a8c8 -79.
    white = same_search_gain(Score(127), Score(90), "white")
    black = same_search_gain(Score(79), Score(91), "black")
    assert (RAW.of(127, white), RAW.of(-79, black)) == (37, 12)
    assert PONDERATED.of(127, white) == pytest.approx(37 / (1 + 1.27 / 0.75))
    assert PONDERATED_BY_REGRESSION.of(-79, black) == pytest.approx(12 / (1 + 0.79 / 3.53))


def test_the_regression_constants_come_from_the_printed_slopes_and_offsets() -> None:
    assert pytest.approx(0.26 / 0.18, abs=0.006) == REGRESSION.k1_pawns
    assert pytest.approx(-0.60 / 0.17, abs=0.006) == REGRESSION.k2_pawns


def test_guid_and_bratko_keep_two_pawns_themselves() -> None:
    assert GUID_BRATKO.of(200, -5) == GUID_BRATKO.of(-200, -5) == 5
    assert GUID_BRATKO.of(201, -5) is GUID_BRATKO.of(-201, -5) is None


def test_ponderation_never_enlarges_and_mends_nothing_at_zero() -> None:
    for ponderation in (REGRESSION, BEST_CORRELATION):
        assert ponderation.divisor(0) == 1
        assert min(ponderation.divisor(v) for v in range(-3900, 3901)) == 1


def test_nine_game_turns_and_forced_moves_do_not_count() -> None:
    assert [ply for ply in range(1, 25) if is_counted(ply)] == list(range(19, 25))
    assert not is_counted(40, forced=True)


@pytest.mark.parametrize(("best_cp", "gain_cp"), [(3901, 0), (0, 1), (0, -7801), (0.5, 0)])
def test_what_is_no_shortfall_is_refused_and_changes_nothing(best_cp: int, gain_cp: int) -> None:
    found = accumulate(RAW, [Played(0, 0, 20, False)])
    with pytest.raises(ValueError, match=r"gain|score"):
        found.add(best_cp, gain_cp, ply=20)
    assert (found.n, found.share) == (1, 1.0)


def test_removing_what_is_not_there_is_refused() -> None:
    found = accumulate(RAW, [Played(0, -10, 20, False)])
    with pytest.raises(ValueError, match="take back"):
        found.remove(0, -11, ply=20)
    found.remove(0, -10, ply=3)  # a move that never counted
    assert found.share == 1.0


@pytest.mark.parametrize("k", [(0.0, -1.0), (1.0, 0.0), (float("nan"), -1.0), (1.0, 1.0)])
def test_constants_that_could_divide_by_zero_are_refused(k: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="k1"):
        ScoreWeighting(*k)


def test_past_periods_count_half_of_the_next() -> None:
    now = accumulate(RAW, [Played(0, 0, 20, False)] * 3 + [Played(0, -90, 20, False)])
    before = accumulate(RAW, [Played(0, 0, 20, False), Played(0, -90, 20, False)])
    oldest = accumulate(RAW, [Played(0, -90, 20, False)] * 4)
    expected = (3 + 1 / 2 + 0 / 4) / (4 + 2 / 2 + 4 / 4)
    assert remembered_share([now, before, oldest]) == pytest.approx(expected)
    assert remembered_share([now, before, oldest], 100) == 1.0
    assert remembered_share([]) is remembered_share([AccumulatedConformance()]) is None
    with pytest.raises(ValueError, match="do not add up"):
        remembered_share([now, AccumulatedConformance(PONDERATED)])


@pytest.mark.parametrize(
    ("kind", "x_cp", "alpha", "beta"),
    [(RAW, 30, 0.043, 4.00), (GUID_BRATKO, 20, 0.067, 3.37), (PONDERATED, 30, -0.007, 3.64)],
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


def test_a_result_beyond_a_win_is_a_win() -> None:
    white = accumulate(RAW, [Played(0, 0, 30, False)] * 20)
    black = accumulate(RAW, [Played(0, -99, 30, False)] * 20)
    assert RAW.fit is not None and RAW.fit.result(1.0) > 1
    assert predict_by_conformance(white, black).expected_score == 1.0
    assert predict_by_conformance(black, white).expected_score == 0.0


def test_what_cannot_be_predicted_says_why() -> None:
    some = accumulate(RAW, [Played(0, 0, 30, False)])
    found = predict_by_conformance(some, AccumulatedConformance())
    assert found.expected_score is None and found.low is None
    assert found.missing == "no counted move of Black yet"
    unfitted = AccumulatedConformance(PONDERATED_BY_REGRESSION)
    assert "published" in predict_by_conformance(unfitted, unfitted).missing
    with pytest.raises(ValueError, match="do not compare"):
        predict_by_conformance(some, AccumulatedConformance(PONDERATED))


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 40, 80])
def test_the_interval_covers_the_line_at_known_shares(n: int) -> None:
    # Steep enough to matter, flat enough that nothing is cut at a win.
    kind = Conformance("raw", 30, ConformanceLine(0.0, 1.0))
    rng = np.random.default_rng(n)
    covered = 0
    truths = [(0.95, 0.9), (0.85, 0.85), (0.6, 0.8), (0.99, 0.93)]
    for p_white, p_black in truths * 250:
        sides = []
        for share in (p_white, p_black):
            good = int(rng.binomial(n, share))
            sides.append(
                accumulate(
                    kind,
                    [Played(0, 0, 30, False)] * good + [Played(0, -50, 30, False)] * (n - good),
                )
            )
        found = predict_by_conformance(*sides)
        assert found.low is not None and found.high is not None
        covered += found.low <= (1 + p_white - p_black) / 2 <= found.high
    assert 0.93 <= covered / 1000 <= 0.985
