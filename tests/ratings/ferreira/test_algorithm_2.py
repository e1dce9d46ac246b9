from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.algorithm_2 import Algorithm2, Comparisons
from live.ratings.expected_score import difference_of
from live.ratings.gain import GainHistogram, expected_score_exact

PLAYERS = "abcdef"
ELO = {"a": 2400, "b": 2300, "d": 2500}
player = st.sampled_from(PLAYERS)
steps = st.lists(
    st.tuples(st.just("add"), player, st.integers(-30, 5) | st.just(0))
    | st.tuples(st.just("meet"), player, player).filter(lambda step: step[1] != step[2]),
    max_size=60,
)


def batch(gains: dict[str, list[int]], met: set[tuple[str, str]]) -> Comparisons:
    comparisons = Comparisons()
    for name, elo in ELO.items():
        comparisons.rate(name, elo)
    histograms = {name: GainHistogram(values) for name, values in gains.items()}
    for one, other in met:
        if gains[one] and gains[other]:
            score = expected_score_exact(histograms[one], histograms[other])
            comparisons.compare(one, other, difference_of(score))
    return comparisons


def agree(event: Algorithm2, wanted: Comparisons) -> None:
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
        agree(event, batch(gains, met))


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
