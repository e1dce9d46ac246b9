"""Events of eight players whose gains are drawn from known distributions."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from live.ratings.algorithm_2 import (
    Algorithm2,
    Comparisons,
    PlayerMargins,
    RatingMargins,
    Strength,
    distances,
)
from live.ratings.expected_score import difference_of

PLAYERS = tuple(map(str, range(8)))
GAINS_CP = np.array([0, -15, -60, -250])
#: How likely each gain is, player by player: some 70 Elo from first to last.
LEVELS = np.array(
    [(0.50 + 0.02 * n, 0.24 - 0.004 * n, 0.16 - 0.008 * n, 0.10 - 0.008 * n) for n in range(8)]
)


NOTHING = RatingMargins(0.0, 0.0)


def true_strengths() -> dict[str, Strength]:
    """What Algorithm 2 says of the distributions themselves."""
    beats = (GAINS_CP[:, None] > GAINS_CP) + 0.5 * (GAINS_CP[:, None] == GAINS_CP)
    solved = Comparisons()
    for one, other in combinations(range(8), 2):
        score = float(LEVELS[one] @ beats @ LEVELS[other])
        solved.compare(str(one), str(other), difference_of(score))
    for player in PLAYERS:
        solved.rate(player, 2000.0)
    return solved.strengths()


def covered(moves: int, events: int, seed: int, games: int = 1) -> float:
    """Share of intervals that hold the truth, everybody making ``moves`` moves in ``games``."""
    truth = true_strengths()
    rng = np.random.default_rng(seed)
    inside = total = 0
    for _ in range(events):
        played = Algorithm2()
        margins = {player: PlayerMargins("same-search") for player in PLAYERS}
        for one, other in combinations(PLAYERS, 2):
            played.meet(one, other)
        for player, levels in zip(PLAYERS, LEVELS, strict=True):
            played.rate(player, 2000)
            for index, gain in enumerate(rng.choice(GAINS_CP, moves, p=levels).tolist()):
                played.add(player, gain)
                margins[player].add(str(index % games), gain)
        for part in played.parts():
            known = [margins[member].margins or NOTHING for member in part.members]
            below, above = distances(known, np.ones(len(known), dtype=np.bool_))
            rating = part.relative + (part.shift or 0.0)
            true = np.array([truth[member].rating for member in part.members])
            inside += int(((rating - below <= true) & (true <= rating + above)).sum())
            total += len(known)
    return inside / total
