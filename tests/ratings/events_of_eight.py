"""Events of eight players whose gains are drawn from known distributions."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from live.ratings.expected_score import difference_of
from live.ratings.ferreira import Algorithm2, Strength, solve

PLAYERS = tuple(map(str, range(8)))
GAINS_CP = np.array([0, -15, -60, -250])
#: How likely each gain is, player by player: some 70 Elo from first to last.
LEVELS = np.array(
    [(0.50 + 0.02 * n, 0.24 - 0.004 * n, 0.16 - 0.008 * n, 0.10 - 0.008 * n) for n in range(8)]
)


def true_strengths() -> dict[str, Strength]:
    """What Algorithm 2 says of the distributions themselves."""
    beats = (GAINS_CP[:, None] > GAINS_CP) + 0.5 * (GAINS_CP[:, None] == GAINS_CP)
    differences = {
        (str(one), str(other)): difference_of(float(LEVELS[one] @ beats @ LEVELS[other])) or 0.0
        for one, other in combinations(range(8), 2)
    }
    return solve(differences, dict.fromkeys(PLAYERS, 2000.0))


def covered(moves: int, events: int, seed: int, games: int = 1) -> float:
    """Share of intervals that hold the truth, everybody making ``moves`` moves in ``games``."""
    truth = true_strengths()
    rng = np.random.default_rng(seed)
    inside = total = 0
    for _ in range(events):
        played = Algorithm2("same-search")
        for one, other in combinations(PLAYERS, 2):
            played.meet(one, other)
        for player, levels in zip(PLAYERS, LEVELS, strict=True):
            played.rate(player, 2000)
            gains_cp = rng.choice(GAINS_CP, moves, p=levels).tolist()
            for index in range(games):
                played.add_game(player, gains_cp[index::games])
        for player, found in played.strengths().items():
            inside += (found.low or 0) <= (truth[player].rating or 0) <= (found.high or 0)
            total += 1
    return inside / total
