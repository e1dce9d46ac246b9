"""Algorithm 2."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import lstsq

from live.ratings.algorithm_2 import (
    SCALE,
    USUAL,
    Algorithm2,
    Comparisons,
    PlayerMargins,
    RatingMargins,
    Strength,
    distances,
)
from live.ratings.expected_score import difference_of
from live.ratings.gain import GainHistogram, expected_score_exact
from tests.ratings.events_of_eight import covered

# --- rating differences -------------------------------------------------------------------------


NAMES = "abcdefghijkl"
pairs = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda p: p[0] < p[1])
changes = st.lists(st.tuples(pairs, st.none() | st.floats(-900, 900)), max_size=60)
ratings = st.dictionaries(st.sampled_from(NAMES), st.integers(1000, 2900))


def batch(
    differences: dict[tuple[str, str], float], elo: dict[str, int]
) -> dict[str, tuple[float, float | None]]:
    """Algorithm 2 by scipy's least squares, part by part: relative and anchored ratings."""
    parts = {name: {name} for pair in differences for name in pair}
    for one, other in differences:
        joined = parts[one] | parts[other]
        for name in joined:
            parts[name] = joined
    answer: dict[str, tuple[float, float | None]] = {}
    for part in {id(members): sorted(members) for members in parts.values()}.values():
        edges = [(p, d) for p, d in differences.items() if p[0] in part]
        # The last row asks for a mean of 0, which Eq. 3 leaves open.
        matrix = np.zeros((len(edges) + 1, len(part)))
        for row, ((one, other), _) in enumerate(edges):
            matrix[row, part.index(one)], matrix[row, part.index(other)] = 1, -1
        matrix[-1] = 1
        relative = lstsq(matrix, np.array([d for _, d in edges] + [0.0]))[0]
        rated = [i for i, name in enumerate(part) if name in elo]
        shift = np.mean([elo[part[i]] - relative[i] for i in rated]) if rated else None
        for i, name in enumerate(part):
            value = float(relative[i])
            answer[name] = (value, None if shift is None else value + float(shift))
    return answer


def agree(found: dict[str, Strength], wanted: dict[str, tuple[float, float | None]]) -> None:
    assert found.keys() == wanted.keys()
    for name, (relative, rating) in wanted.items():
        assert found[name].relative == pytest.approx(relative, abs=1e-9)
        assert found[name].rating == pytest.approx(rating, abs=1e-9)


@pytest.mark.slow
@given(changes, ratings)
def test_after_every_change_it_equals_scipys_least_squares(
    given_changes: list[tuple[tuple[str, str], float | None]], elo: dict[str, int]
) -> None:
    comparisons = Comparisons()
    for name, value in elo.items():
        comparisons.rate(name, value)
    differences: dict[tuple[str, str], float] = {}
    for (one, other), difference in given_changes:
        comparisons.compare(one, other, difference)
        if difference is None:
            differences.pop((one, other), None)
        else:
            differences[one, other] = difference
        agree(comparisons.strengths(), batch(differences, elo))


@pytest.mark.slow
def test_a_long_event_stays_within_a_billionth_of_scipy() -> None:
    rng = random.Random(7)
    players = [f"p{i:02}" for i in range(100)]
    elo = {player: rng.randrange(1400, 2700) for player in players}
    comparisons = Comparisons()
    for player in players:
        comparisons.rate(player, elo[player])
    differences: dict[tuple[str, str], float] = {}
    for _ in range(9):
        rng.shuffle(players)
        for pair in zip(players[::2], players[1::2], strict=True):
            one, other = min(pair), max(pair)
            for _ in range(5):
                differences[one, other] = rng.gauss(0, 80)
                comparisons.compare(one, other, differences[one, other])
                comparisons.strengths()
    wanted = batch(differences, elo)
    for name, strength in comparisons.strengths().items():
        assert strength.relative == pytest.approx(wanted[name][0], abs=1e-9)
        assert strength.rating == pytest.approx(wanted[name][1], abs=1e-9)


def test_two_parts_are_anchored_each_on_its_own_rated_players() -> None:
    comparisons = Comparisons()
    comparisons.rate("a", 2000)
    comparisons.compare("a", "b", 100)
    comparisons.compare("x", "y", -50)
    assert comparisons.strengths() == {
        "a": Strength(50, 2000, 0),
        "b": Strength(-50, 1900, 0),
        "x": Strength(-25, None, 1),
        "y": Strength(25, None, 1),
    }
    comparisons.compare("b", "x", 0)
    joined = comparisons.strengths()
    assert {strength.part for strength in joined.values()} == {0}
    assert joined["y"].rating == pytest.approx(1950)


def test_a_comparison_taken_back_parts_the_graph_again() -> None:
    comparisons = Comparisons()
    for one, other in ("ab", "bc", "cd"):
        comparisons.compare(one, other, 10)
    assert {s.part for s in comparisons.strengths().values()} == {0}
    comparisons.compare("b", "c", None)
    assert [s.part for s in comparisons.strengths().values()] == [0, 0, 1, 1]
    comparisons.compare("a", "b", None)
    assert list(comparisons.strengths()) == ["c", "d"]


def test_a_player_nobody_met_has_no_strength() -> None:
    comparisons = Comparisons()
    comparisons.rate("a", 2000)
    assert comparisons.strengths() == {}


def test_a_rating_may_come_and_go() -> None:
    comparisons = Comparisons()
    comparisons.compare("a", "b", 0)
    comparisons.rate("a", 2000)
    assert comparisons.strengths()["b"].rating == 2000
    comparisons.rate("a", None)
    assert comparisons.strengths()["b"].rating is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_distance_is_refused(bad: float) -> None:
    comparisons = Comparisons()
    with pytest.raises(ValueError, match="use None"):
        comparisons.compare("a", "b", bad)
    assert comparisons.strengths() == {}


def test_nobody_is_compared_with_themselves() -> None:
    with pytest.raises(ValueError, match="themselves"):
        Comparisons().compare("a", "a", 0)


# --- algorithm 2 --------------------------------------------------------------------------------


PLAYERS = "abcdef"
ELO = {"a": 2400, "b": 2300, "d": 2500}
player = st.sampled_from(PLAYERS)
steps = st.lists(
    st.tuples(st.just("add"), player, st.integers(-30, 5) | st.just(0))
    | st.tuples(st.just("meet"), player, player).filter(lambda step: step[1] != step[2]),
    max_size=60,
)


def batch_of_algorithm_2(gains: dict[str, list[int]], met: set[tuple[str, str]]) -> Comparisons:
    comparisons = Comparisons()
    for name, elo in ELO.items():
        comparisons.rate(name, elo)
    histograms = {name: GainHistogram(values) for name, values in gains.items()}
    for one, other in met:
        if gains[one] and gains[other]:
            score = expected_score_exact(histograms[one], histograms[other])
            comparisons.compare(one, other, difference_of(score))
    return comparisons


def agree_of_algorithm_2(event: Algorithm2, wanted: Comparisons) -> None:
    found = event.strengths()
    expected = wanted.strengths()
    assert list(found) == list(expected)
    for name, strength in expected.items():
        assert found[name].relative == pytest.approx(strength.relative, abs=1e-9)
        assert found[name].rating == pytest.approx(strength.rating, abs=1e-9)
        assert found[name].part == strength.part


def new_event() -> Algorithm2:
    event = Algorithm2()
    for name, elo in ELO.items():
        event.rate(name, elo)
    return event


@pytest.mark.slow
@given(steps)
def test_after_every_step_it_equals_algorithms_1_and_2_over_the_prefix(
    given_steps: list[tuple[str, str, str | int]],
) -> None:
    event = new_event()
    gains: dict[str, list[int]] = {name: [] for name in PLAYERS}
    met: set[tuple[str, str]] = set()
    for _, one, other in given_steps:
        if isinstance(other, int):
            event.add(one, other)
            gains[one].append(other)
        else:
            event.meet(one, other)
            met.add((min(one, other), max(one, other)))
        agree_of_algorithm_2(event, batch_of_algorithm_2(gains, met))


@pytest.mark.slow
@given(steps, st.integers(0, 60))
def test_taking_steps_back_undoes_them(
    given_steps: list[tuple[str, str, str | int]], kept: int
) -> None:
    event, fresh = new_event(), new_event()
    for number, (_, one, other) in enumerate(given_steps):
        for each in (event, fresh) if number < kept else (event,):
            if isinstance(other, int):
                each.add(one, other)
            else:
                each.meet(one, other)
    for _, one, other in given_steps[kept:]:
        if isinstance(other, int):
            event.remove(one, other)
        else:
            # Colours may be told the other way round.
            event.part(other, one)
    assert event.strengths().keys() == fresh.strengths().keys()
    for name, strength in fresh.strengths().items():
        assert event.strengths()[name].rating == pytest.approx(strength.rating, abs=1e-9)


def test_a_rematch_taken_back_leaves_the_first_game() -> None:
    event = new_event()
    event.meet("a", "b")
    event.meet("b", "a")
    for name in "ab":
        event.add(name, 0)
    event.part("a", "b")
    assert list(event.strengths()) == ["a", "b"]
    event.part("a", "b")
    assert event.strengths() == {}
    with pytest.raises(ValueError, match="no game"):
        event.part("a", "b")


def test_an_unbounded_difference_is_no_distance() -> None:
    event = new_event()
    event.meet("a", "b")
    event.add("a", 0)
    event.add("b", -50)
    assert event.strengths() == {}
    event.add("b", 0)
    assert list(event.strengths()) == ["a", "b"]


def test_nobody_meets_themselves_and_nothing_unplayed_is_taken_back() -> None:
    event = new_event()
    with pytest.raises(ValueError, match="themselves"):
        event.meet("a", "a")
    with pytest.raises(ValueError, match="never added"):
        event.remove("a", 0)


# --- algorithm 2 interval -----------------------------------------------------------------------

# Intervals for Algorithm 2: what they follow from, and that they hold the truth.


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


@pytest.mark.slow
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
    margins = [RatingMargins(30.0**2, 40.0**2)] * 3
    below, above = distances(margins, np.array([True, True, True]))
    assert below == pytest.approx([(4 * 900 / 9 + 2 * 1600 / 9) ** 0.5] * 3)
    assert above == pytest.approx([(4 * 1600 / 9 + 2 * 900 / 9) ** 0.5] * 3)
    # An unrated player does not make the mean that is kept.
    below, above = distances(margins, np.array([True, True, False]))
    assert below[2] == pytest.approx((900 + 2 * 1600 / 4) ** 0.5)
    assert above[2] == pytest.approx((1600 + 2 * 900 / 4) ** 0.5)
    # One who makes it alone keeps the rating told, whatever is played.
    below, above = distances(margins, np.array([True, False, False]))
    assert np.isnan(below[0]) and np.isnan(above[0])
    assert below[1] == pytest.approx((900 + 1600) ** 0.5)
    assert np.isnan(distances(margins, np.array([False] * 3))[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("moves", [10, 40])
def test_the_interval_holds_the_truth(moves: int) -> None:
    # 480 intervals: 0.95 with a standard deviation of 0.01; the benchmark has the whole table.
    assert 0.92 <= covered(moves, 60, seed=moves) <= 0.98
