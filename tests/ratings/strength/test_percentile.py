from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.ratings.strength.loss_model import shipped_loss_models
from live.ratings.strength.percentile import (
    LEAST_MOVES,
    Standings,
    Surprise,
    percentile,
    stage_of,
)
from tests.ratings.strength.test_loss_fit import learned


def told(above: float, moves: int, first: int = 1) -> list[Surprise]:
    return [Surprise(first + 2 * n, above, 1.0) for n in range(moves)]


def test_few_moves_have_no_rank() -> None:
    assert percentile(learned(), 2000, told(0, LEAST_MOVES - 1), []) is None
    assert percentile(learned(), 2000, told(0, LEAST_MOVES), []) is not None


def test_a_model_without_ranks_has_none() -> None:
    assert percentile(msgspec.structs.replace(learned(), ranks=()), 2000, told(0, 20), []) is None


def test_smaller_losses_rank_higher() -> None:
    ranks = [percentile(learned(), 2000, told(above, 20), []) or 0 for above in (-0.4, 0, 0.4)]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] > 90
    assert ranks[2] < 15


def test_a_hard_game_for_the_opponent_excuses() -> None:
    own = told(0.2, 20)
    hard = percentile(learned(), 2000, own, told(0.6, 20, 2)) or 0
    easy = percentile(learned(), 2000, own, told(-0.6, 20, 2)) or 0
    assert hard > easy


def test_what_the_opponent_loses_later_does_not_count() -> None:
    own = told(0.2, 10)
    known = percentile(learned(), 2000, own, told(0.5, 9, 2))
    later = percentile(learned(), 2000, own, [*told(0.5, 9, 2), *told(9.0, 5, 20)])
    assert later == known


@pytest.mark.parametrize(("moves", "stage"), [(0, 0), (9, 0), (10, 1), (20, 2), (39, 2), (99, 3)])
def test_stages(moves: int, stage: int) -> None:
    assert stage_of(moves) == stage


LOSSES = st.lists(st.tuples(st.booleans(), st.floats(-1, 3)), min_size=1, max_size=40)


@given(LOSSES, st.lists(st.tuples(st.integers(0, 39), LOSSES), max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_growing_game_has_the_percentiles_of_the_game_as_it_stands(
    played: list[tuple[bool, float]], replaced: list[tuple[int, list[tuple[bool, float]]]]
) -> None:
    """Some turns do not count; tails are taken back and replaced, on both sides."""
    model, sides = shipped_loss_models()[0], (list[Surprise](), list[Surprise]())
    kept = Standings(model), Standings(model)

    def play(first: int, tail: list[tuple[bool, float]]) -> None:
        for ply, (counts, above) in enumerate(tail, first):
            if counts:
                sides[ply % 2].append(Surprise(ply, above, 1.0 + ply % 3))
            for own in (0, 1):
                found = kept[own].percentile(2000, sides[own], len(sides[own]), sides[1 - own])
                assert found == percentile(model, 2000, sides[own], sides[1 - own])

    play(1, played)
    for ply, tail in replaced:
        for own in (0, 1):
            sides[own][:] = [each for each in sides[own] if each.ply < ply]
            kept[own].truncate(len(sides[own]))
        play(ply, tail)
    for own in (0, 1):
        for moves in range(len(sides[own]), 0, -1):
            found = kept[own].percentile(2000, sides[own], moves, sides[1 - own])
            assert found == percentile(model, 2000, sides[own][:moves], sides[1 - own])
