"""Intervals for Algorithm 2: what they follow from, and that they hold the truth."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.comparisons import Comparisons, Strength
from live.ratings.expected import difference_of
from live.ratings.tournament import Tournament
from live.ratings.tournament_interval import (
    SCALE,
    USUAL,
    Margins,
    PlayerMargins,
    strength_intervals,
)

gains = st.lists(st.tuples(st.sampled_from("gh"), st.integers(-400, 0)), min_size=1, max_size=30)


@pytest.mark.parametrize("usual", USUAL.values(), ids=USUAL.keys())
def test_usual_gains_are_a_distribution(usual: object) -> None:
    assert isinstance(usual, type(USUAL["successive"]))
    assert len(usual.parts) == len(usual.edges_cp) + 1
    assert list(usual.edges_cp) == sorted(set(usual.edges_cp))
    assert list(usual.parts) == sorted(set(usual.parts))
    assert usual.parts[0] > 0
    assert usual.parts[-1] < SCALE
    assert usual.of(7800) == usual.ceiling


@given(gains, gains, st.integers(0, 99))
def test_taking_gains_back_leaves_no_trace(
    kept: list[tuple[str, int]], gone: list[tuple[str, int]], seed: int
) -> None:
    held, again = PlayerMargins("same-search"), PlayerMargins("same-search")
    for game, gain_cp in kept:
        again.add(game, gain_cp)
    for game, gain_cp in [*kept, *gone]:
        held.add(game, gain_cp)
    random.Random(seed).shuffle(gone)
    for game, gain_cp in gone:
        held.remove(game, gain_cp)
    assert held.margins == again.margins
    assert held.margins is not None
    assert min(held.margins) >= 0 < max(held.margins)


def test_without_a_move_there_is_no_margin() -> None:
    held = PlayerMargins("successive")
    assert held.margins is None
    with pytest.raises(ValueError, match="no gain"):
        held.remove("g", 0)


def test_the_ends_are_those_of_the_error_less_its_mean() -> None:
    strengths = {name: Strength(0.0, 2000.0, 0) for name in "abc"}
    margins = {name: Margins(30.0**2, 40.0**2) for name in "abc"}
    found = strength_intervals(strengths, "abc", margins)
    assert found["a"] == pytest.approx(
        ((4 * 900 / 9 + 2 * 1600 / 9) ** 0.5, (4 * 1600 / 9 + 2 * 900 / 9) ** 0.5)
    )
    # An unrated player does not make the mean that is kept.
    found = strength_intervals(strengths, "ab", margins)
    assert found["c"] == pytest.approx(((900 + 2 * 1600 / 4) ** 0.5, (1600 + 2 * 900 / 4) ** 0.5))
    assert "a" not in strength_intervals(strengths, "a", margins)
    unrated = {name: Strength(0.0, None, 0) for name in "abc"}
    assert strength_intervals(unrated, "", margins).keys() == set("abc")


#: Shares of gains of 0, -15, -60 and -250: players some 350 Elo apart from first to last.
LEVELS = [(0.50 + 0.02 * n, 0.24 - 0.004 * n, 0.16 - 0.008 * n, 0.10 - 0.008 * n) for n in range(8)]
VALUES = np.array([0, -15, -60, -250])


def true_strengths() -> dict[str, Strength]:
    solved = Comparisons()
    for one, other in combinations(range(8), 2):
        p, q = np.array(LEVELS[one]), np.array(LEVELS[other])
        beats = (VALUES[:, None] > VALUES) + 0.5 * (VALUES[:, None] == VALUES)
        solved.compare(str(one), str(other), difference_of(float(p @ beats @ q)))
    for n in range(8):
        solved.rate(str(n), 2000.0)
    return solved.strengths()


def covered(moves: int, events: int, seed: int, games: int = 1) -> float:
    """Share of intervals that hold the truth, everybody playing ``moves`` against everybody."""
    truth = true_strengths()
    rng = np.random.default_rng(seed)
    inside = total = 0
    for _ in range(events):
        played = Tournament()
        margins = {str(n): PlayerMargins("same-search") for n in range(8)}
        for one, other in combinations(range(8), 2):
            played.meet(str(one), str(other))
        for n in range(8):
            played.rate(str(n), 2000.0)
            for index, gain in enumerate(rng.choice(VALUES, moves, p=LEVELS[n]).tolist()):
                played.add(str(n), gain)
                margins[str(n)].add(str(index % games), gain)
        found = played.strengths()
        known = {key: held.margins for key, held in margins.items() if held.margins is not None}
        for key, (below, above) in strength_intervals(found, found, known).items():
            rating, true = found[key].rating, truth[key].rating
            assert rating is not None and true is not None
            inside += rating - below <= true <= rating + above
            total += 1
    return inside / total


@pytest.mark.parametrize("moves", [10, 40])
def test_the_interval_holds_the_truth(moves: int) -> None:
    # 480 intervals: 0.95 with a standard deviation of 0.01; the benchmark has the whole table.
    assert 0.92 <= covered(moves, 60, seed=moves) <= 0.98
