"""Conformance and complexity."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Score
from live.ratings.alliot import (
    GUID_BRATKO,
    PONDERATED,
    PONDERATED_BY_REGRESSION,
    RAW,
    AccumulatedConformance,
    Conformance,
    ConformanceLine,
    DepthsByTime,
    complexity,
    is_counted,
    predict_by_conformance,
    remembered_share,
)

# --- conformance --------------------------------------------------------------------------------


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
@given(kinds, games, st.sampled_from([0, 10, 20, 30, 95]), st.randoms())
def test_shares_equal_the_printed_formula_in_whatever_order(
    kind: Conformance, played: list[Played], x_cp: int, rng: random.Random
) -> None:
    rng.shuffle(played)
    found = accumulate(kind, played)
    assert found.share == pytest.approx(brute_force(kind, played, kind.x_cp), abs=1e-9)
    assert found.share_at(x_cp) == pytest.approx(brute_force(kind, played, x_cp), abs=1e-9)


def test_guid_and_bratko_keep_two_pawns_themselves() -> None:
    assert GUID_BRATKO.of(200, -5) == GUID_BRATKO.of(-200, -5) == 5
    assert GUID_BRATKO.of(201, -5) is GUID_BRATKO.of(-201, -5) is None


def test_nine_game_turns_and_forced_moves_do_not_count() -> None:
    assert [ply for ply in range(1, 25) if is_counted(ply)] == list(range(19, 25))
    assert not is_counted(40, forced=True)


def test_past_periods_count_half_of_the_next() -> None:
    now = accumulate(RAW, [Played(0, 0, 20, False)] * 3 + [Played(0, -90, 20, False)])
    before = accumulate(RAW, [Played(0, 0, 20, False), Played(0, -90, 20, False)])
    oldest = accumulate(RAW, [Played(0, -90, 20, False)] * 4)
    expected = (3 + 1 / 2 + 0 / 4) / (4 + 2 / 2 + 4 / 4)
    assert remembered_share([now, before, oldest]) == pytest.approx(expected)
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


# --- complexity ---------------------------------------------------------------------------------


scores = st.lists(st.none() | st.integers(-3900, 3900).map(Score), max_size=30)
searches = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 300)), max_size=60)


@pytest.mark.slow
@given(scores)
def test_indicators_equal_a_loop(by_depth: list[Score | None]) -> None:
    changes: list[int] = []
    at: list[int] = []
    for n in range(1, len(by_depth)):
        before, after = by_depth[n - 1], by_depth[n]
        if before is not None and after is not None:
            changes.append(abs(after.cp - before.cp))
            at.append(n)
    found = complexity(by_depth)
    if not changes:
        assert found is None
        return
    assert found is not None
    assert found.stability_cp == pytest.approx(sum(changes) / len(changes))
    assert (found.jump_cp, found.changes) == (max(changes), len(changes))
    assert found.jump_depth == (at[changes.index(max(changes))] if max(changes) else None)


# --- depth against time -------------------------------------------------------------------------


@pytest.mark.slow
@given(searches, searches)
def test_depths_against_time_equal_a_count(
    kept: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    edges = (50, 100, 200)
    found = DepthsByTime(edges)
    for search in kept:
        found.add(*search)
    assert sum(count for *_, count, _ in found.shares()) == len(kept)
    for depth, time_ms in kept + others:
        alike = [
            d for d, t in kept if sum(t >= e for e in edges) == sum(time_ms >= e for e in edges)
        ]
        counts = Counter(alike)
        if not alike:
            assert found.depth_against_time(depth, time_ms) is None
            continue
        most = max(counts.values())
        usual = min(d for d, count in counts.items() if count == most)
        c = (counts[depth] - most) / most
        expected = c if depth <= usual else -c
        assert found.depth_against_time(depth, time_ms) == pytest.approx(expected)
