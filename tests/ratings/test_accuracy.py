"""Accuracy and average centipawn loss, computed as lichess does."""

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.messages.from_sources import MATE_CP, Score
from live.messages.values import Color
from live.ratings.accuracy import CAP_CP, compute_game_accuracy

scores = st.one_of(
    st.integers(-MATE_CP, MATE_CP).map(Score),
    st.integers(1, 20).map(lambda n: Score(MATE_CP, n)),
    st.integers(1, 20).map(lambda n: Score(-MATE_CP, -n)),
)
COLORS: tuple[Color, Color] = ("white", "black")


def measure_side(
    *cps: int | None, first: Color = "white", color: Color = "white"
) -> tuple[float | None, int, float | None, int]:
    """Return the accuracy and the centipawn loss of a side from all scores, each
    followed by its number of moves.
    """
    found = compute_game_accuracy(
        [None if cp is None else Score(cp) for cp in cps], first
    )[color]
    return (*found.accuracy, *found.centipawn_loss)


def move(before: Score, after: Score, mover: Color = "white") -> tuple[float, float]:
    """Return the accuracy and the centipawn loss of one move. The loss is 0 if both
    positions are beyond the cap.
    """
    found = compute_game_accuracy([before, after], mover)[mover]
    assert found.accuracy.value is not None
    return found.accuracy.value, found.centipawn_loss.value or 0.0


def lichess(start_cp: int, cps: Sequence[int], color: Color) -> float | None:
    """Compute accuracy step by step from the description that lichess publishes."""
    chances = [
        50 + 50 * (2 / (1 + math.exp(-0.00368208 * max(-1000, min(1000, cp)))) - 1)
        for cp in [start_cp, *cps]
    ]
    size = min(8, max(2, len(cps) // 10))
    sliding = [chances[i : i + size] for i in range(max(1, len(chances) - size + 1))]
    windows = [chances[:size]] * (min(size, len(chances)) - 2) + sliding
    weights = [min(12, max(0.5, statistics.pstdev(window))) for window in windows]
    own = []
    for index, ((before, after), weight) in enumerate(
        zip(pairwise(chances), weights, strict=False)
    ):
        if (index % 2 == 0) == (color == "white"):
            lost = before - after if color == "white" else after - before
            raw = (
                103.1668100711649 * math.exp(-0.04354415386753951 * lost)
                - 3.166924740191411
                + 1
            )
            own.append((100.0 if lost <= 0 else min(100, max(0, raw)), weight))
    if not own:
        return None
    weighted = sum(a * w for a, w in own) / sum(w for _, w in own)
    harmonic = len(own) / sum(1 / max(1, a) for a, _ in own)
    return (weighted + harmonic) / 2


@settings(max_examples=100)
@given(st.lists(st.integers(-1500, 1500), max_size=120))
def test_a_game_agrees_with_the_published_description(cps: list[int]) -> None:
    for color in COLORS:
        expected, found = lichess(15, cps, color), measure_side(15, *cps, color=color)
        assert found[1] == len(cps[color == "black" :: 2])
        assert found[0] == (
            None if expected is None else pytest.approx(expected, abs=1e-7)
        )


@given(st.lists(st.none() | scores, min_size=1, max_size=40))
def test_what_is_not_scored_is_left_out_and_figures_are_within_bounds(
    told: list[Score | None],
) -> None:
    known = [one is not None and other is not None for one, other in pairwise(told)]
    for color, found in compute_game_accuracy(told).items():
        moves = sum(known[color == "black" :: 2])
        assert found.accuracy.moves == moves >= found.centipawn_loss.moves
        assert (found.accuracy.value is None) == (moves == 0)
        assert 0 <= (found.accuracy.value or 0) <= 100
        assert 0 <= (found.centipawn_loss.value or 0) <= 2 * CAP_CP


def test_the_mating_move_is_one_of_the_moves() -> None:
    # lila issue 11207: Black loses 100, 839 and 2000 centipawns and then gives mate.
    # The mean loss is 735 with the mating move, and 980 without it.
    told = [
        *map(Score, (0, 0, 100, 0, 839, -1000, 1000)),
        Score(-MATE_CP, -1),
        Score(-MATE_CP, 0),
    ]
    found = compute_game_accuracy(told)["black"]
    assert tuple(found.centipawn_loss) == pytest.approx((2939 / 4, 4))
    assert found.accuracy.moves == 4
    assert move(Score(-MATE_CP, -1), Score(-MATE_CP, 0), "black") == (100, 0)


def test_positions_beyond_the_cap_are_not_in_the_denominator() -> None:
    # lila issue 11261. White loses 60, then makes three moves between +12 and +15.
    cps = (15, -45, 0, 1200, 1500, 1300, 1400, 1250, 1350)
    assert measure_side(*cps)[2:] == (30, 2)
    assert measure_side(*cps, color="black")[3] == 1
    # A move that begins beyond the cap and ends below it counts.
    assert measure_side(1500, 1500, 1500, 400)[2:] == (600, 1)
    assert measure_side(1500, 1500, 1500)[2:] == (None, 0)


def test_the_first_move_is_compared_with_the_position_it_was_made_from() -> None:
    # lila issues 13914 and 11779: White gives odds of a knight and starts at -5 pawns.
    assert measure_side(-500, -500) == (100, 1, 0, 1)
    assert measure_side(None, -500) == (None, 0, None, 0)
    assert measure_side(0, 300, first="black", color="black")[2:] == (300, 1)
    assert measure_side(0, 300, first="black")[:2] == (None, 0)


def test_a_mate_counts_the_same_in_every_figure() -> None:
    # lila issue 5617: one page of lichess capped a mate at 1000 centipawns, the next
    # page at 2000.
    for other in (Score(0), Score(-200), Score(-MATE_CP, -1)):
        assert move(Score(MATE_CP, 3), other) == move(Score(2500), other)
    assert move(Score(MATE_CP, 3), Score(-MATE_CP, -2)) == (0.5, 2 * CAP_CP)
