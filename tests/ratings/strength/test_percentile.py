from __future__ import annotations

import msgspec
import pytest

from live.ratings.strength.percentile import LEAST_MOVES, Surprise, percentile, stage_of
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
