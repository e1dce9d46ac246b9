from __future__ import annotations

import msgspec
import numpy as np
import pytest

from live.ratings.strength.human_join_fit import learn_join
from live.ratings.strength.loss_distributions import Seen, Told, median_line
from live.ratings.strength.loss_model import GRID_ELO, HumanJoin, shipped_loss_models

GAMES, MOVES, SD = 120, 12, 1200.0


def learned(told: float) -> HumanJoin:
    """Losses say nothing; moves say the Elo, 1 as well as they claim, 0 not at all."""
    rng = np.random.default_rng(5)
    model = msgspec.structs.replace(shipped_loss_models()[0], mean_elo=2000.0, sd_elo=400.0)
    elo = np.repeat(rng.normal(2000, 400, GAMES), MOVES)
    game, number = np.repeat(np.arange(GAMES), MOVES), np.tile(np.arange(MOVES), GAMES)
    zeros = np.zeros(GAMES * MOVES)
    whole = zeros.astype(np.int64)
    found = Told(game // 2, game % 2, whole, elo, zeros[:, None], whole, zeros, number)
    shown = 2000 + told * (elo - 2000) + rng.normal(0, SD, len(elo))
    human = -0.5 * ((GRID_ELO - shown[:, None]) / SD) ** 2
    seen = Seen(np.zeros((len(elo), len(GRID_ELO)), dtype=np.float32), zeros, zeros, zeros)
    return learn_join(model, found, seen, human.astype(np.float32), [], None, "network")


def test_what_tells_elo_counts_in_full() -> None:
    found = learned(1.0)
    # Independent moves need no damping, and the weight takes it out.
    assert 1.0 <= found.weight <= 1.7
    assert (found.network, found.games) == ("network", GAMES)
    assert found.roots[0].middle[0] == pytest.approx(0, abs=0.35)


def test_what_tells_nothing_counts_next_to_nothing() -> None:
    assert learned(0.0).weight <= 0.15


def test_half_of_skewed_points_lie_above_the_line() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 801)
    y = 2 + 3 * x + rng.exponential(1, 801)
    line = median_line(x, y)
    assert line == pytest.approx([2 + np.log(2), 3], abs=0.2)
    above = y > line[0] + line[1] * x
    assert 0.48 < above.mean() < 0.52
    assert 0.45 < above[x > 0].mean() < 0.55
