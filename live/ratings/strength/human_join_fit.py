"""Learn what a move's likelihood among people counts beside that of its loss.

Both say something of Elo, and partly the same: whoever plays what strong players play also loses
less. The weight is that under which the ratings of players who were not learned from are likeliest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from live.ratings.strength.expected_result import ResultModel
from live.ratings.strength.loss_distributions import (
    Group,
    Seen,
    Told,
    finished,
    measured_roots,
    own_order,
    running,
    summed,
)
from live.ratings.strength.loss_model import GRID_ELO, Floats, HumanJoin, LossModel
from live.ratings.strength.played_games import PlayedGame

#: Weights that are tried.
WEIGHTS = np.arange(0.0, 2.01, 0.05)


def learn_join(
    model: LossModel,
    found: Told,
    seen: Seen,
    human: npt.NDArray[np.float32],
    games: Sequence[PlayedGame],
    results: ResultModel | None,
    network: str,
) -> HumanJoin:
    """``human`` is the log-likelihood of each turn's move among people: (turns, grid)."""
    sums = [
        _summed(model, found, seen, human, group) for group in (*running(found), *finished(found))
    ]
    fits = [_fit(model, sums, weight) for weight in WEIGHTS.tolist()]
    weight = float(WEIGHTS[int(np.argmax(fits))])
    both = seen._replace(log_likelihood=seen.log_likelihood + np.float32(weight) * human)
    return HumanJoin(
        network=network,
        games=sum(len(group.starts) for group in finished(found)),
        weight=round(weight, 3),
        **measured_roots(model, found, both, games, results),
    )


class _Sums(NamedTuple):
    """Of player-games after about so many moves, damped: (player-games, grid)."""

    losses: Floats
    human: Floats
    elo: Floats


def _summed(
    model: LossModel, found: Told, seen: Seen, human: npt.NDArray[np.float32], group: Group
) -> _Sums:
    order = own_order(found)
    starts, ends = group.starts, group.ends
    damped = 1 / (1 + (ends - starts) / model.half_moves)[:, None]
    losses = summed(seen.log_likelihood, order, starts, ends) * damped
    return _Sums(
        losses,
        summed(human.astype(np.float64), order, starts, ends) * damped,
        found.elo[order][starts],
    )


def _fit(model: LossModel, groups: Sequence[_Sums], weight: float) -> float:
    """Mean log-density of the players' own ratings, given their moves and the population."""
    prior = -0.5 * ((GRID_ELO - model.mean_elo) / model.sd_elo) ** 2
    total = 0.0
    for group in groups:
        log = prior + group.losses + weight * group.human
        log -= logsumexp(log, axis=1, keepdims=True)
        total += sum(
            float(np.interp(elo, GRID_ELO, row)) for elo, row in zip(group.elo, log, strict=True)
        )
    return total / sum(len(group.elo) for group in groups)
