from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import Score
from live.ratings.conformance import TIME_EDGES_MS, Complexity, DepthsByTime, complexity

scores = st.lists(st.none() | st.integers(-3900, 3900).map(Score), max_size=30)
searches = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 300)), max_size=60)


def test_five_depths_by_hand() -> None:
    found = complexity([Score(10), Score(53), Score(40), Score(40), Score(-3)])
    assert found == Complexity(stability_cp=99 / 4, jump_cp=43, jump_depth=1, changes=4)
    assert found is not None and found.jump_by_depth == 43


def test_the_papers_example_names_the_lower_of_the_two_depths() -> None:
    # Section 2.4: dmean 8, (dmax 43, at n = 3): between depths n and n + 1.
    found = complexity([Score(60), Score(62), Score(59), Score(102), Score(101)])
    assert found is not None
    assert (found.jump_cp, found.jump_depth, found.jump_by_depth) == (43, 3, 129)


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
    assert found.jump_by_depth == found.jump_cp * (found.jump_depth or 0)


@pytest.mark.slow
@given(scores)
def test_black_and_white_see_the_same_complexity(by_depth: list[Score | None]) -> None:
    turned = [None if score is None else Score(-score.cp) for score in by_depth]
    assert complexity(turned) == complexity(by_depth)


def test_a_gap_is_no_change() -> None:
    assert complexity([Score(0), None, Score(500), Score(510)]) == Complexity(10, 10, 3, 1)
    assert complexity([Score(0), None, Score(500), None]) is None
    assert complexity([]) is None


def test_a_quiet_search_has_no_jump() -> None:
    assert complexity([Score(7)] * 5) == Complexity(0, 0, None, 4)


# --- depth against time -------------------------------------------------------------------------


def figure_1() -> DepthsByTime:
    """What section 3.1 reads from Figure 1 for searches of 240 s, the rest put at depth 20."""
    found = DepthsByTime(edges_ms=(235_000, 245_000))
    shares = {26: 170, 25: 155, 27: 145, 23: 30, 31: 30, 24: 120, 28: 110, 29: 80, 30: 60, 20: 100}
    assert sum(shares.values()) == 1000
    for depth, count in shares.items():
        for _ in range(count):
            found.add(depth, 240_000)
    return found


def test_the_papers_depths_after_240_seconds() -> None:
    found = figure_1()
    assert found.share(26, 240_000) == 0.17
    assert found.depth_against_time(26, 240_000) == 0
    # "a little bit above average complexity" at depth 25, "a little bit below" at depth 27.
    assert found.depth_against_time(25, 240_000) == pytest.approx((0.155 - 0.17) / 0.17)
    assert found.depth_against_time(27, 240_000) == pytest.approx((0.17 - 0.145) / 0.17)
    assert found.depth_against_time(3, 240_000) == -1
    assert found.depth_against_time(60, 240_000) == 1


def test_other_times_are_not_mixed_in() -> None:
    found = figure_1()
    assert found.share(26, 60_000) is found.depth_against_time(26, 60_000) is None
    found.add(22, 60_000)
    assert found.share(26, 240_000) == 0.17


@pytest.mark.slow
@given(searches, searches)
def test_every_prefix_equals_a_count_and_remove_undoes_add(
    kept: list[tuple[int, int]], taken_back: list[tuple[int, int]]
) -> None:
    edges = (50, 100, 200)
    found = DepthsByTime(edges)
    for search in kept + taken_back:
        found.add(*search)
    for search in taken_back:
        found.remove(*search)
    for depth, time_ms in kept + taken_back:
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
        assert found.share(depth, time_ms) == pytest.approx(counts[depth] / len(alike))
        assert found.depth_against_time(depth, time_ms) == pytest.approx(expected)


@pytest.mark.slow
@given(searches, st.randoms())
def test_order_does_not_matter(played: list[tuple[int, int]], rng: random.Random) -> None:
    shuffled = played[:]
    rng.shuffle(shuffled)
    one, other = DepthsByTime(), DepthsByTime()
    for search, moved in zip(played, shuffled, strict=True):
        one.add(*search)
        other.add(*moved)
    for search in played:
        assert one.depth_against_time(*search) == other.depth_against_time(*search)


def test_what_was_no_search_is_refused() -> None:
    found = DepthsByTime()
    with pytest.raises(ValueError, match="take back"):
        found.remove(20, 100)
    with pytest.raises(ValueError, match="no search has"):
        found.add(-1, 100)
    assert list(TIME_EDGES_MS) == sorted(set(TIME_EDGES_MS))
