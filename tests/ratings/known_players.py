"""Simulated players whose sensitivity s and competence c are known.

They choose moves from real positions with 20 searched lines (see
``tests/data/README.md``), drawn with replacement. Tests use them to check whether fits
and ratings find the known values.
"""

import json
from pathlib import Path

import numpy as np

from live.ratings.choice_model import (
    ChoiceSkill,
    Spread,
    TurnArrays,
    build_spread,
    compute_choices,
    explain_left_out,
)

SPREADS = Path(__file__).parents[1] / "data" / "multi-pv-spreads.json"


def real_turns() -> TurnArrays:
    """Return every turn of the data file that a fit would use."""
    found = []
    for row in json.loads(SPREADS.read_text(encoding="utf-8")):
        lines = [(str(place), cp) for place, cp in enumerate(row["lines_cp"])]
        spread = build_spread(lines, str(row["played"]))
        if explain_left_out(spread, row["ply"], repeated=row["repeated"]) is None:
            found.append(spread)
    return TurnArrays(found)


def simulate(
    pool: TurnArrays, skill: ChoiceSkill, n: int, rng: np.random.Generator
) -> TurnArrays:
    """Return ``n`` turns drawn from a pool, with the moves chosen by a player of
    ``skill``.
    """
    rows = rng.integers(len(pool), size=n)
    drawn = TurnArrays(())
    drawn.deltas, drawn.is_move = pool.deltas[rows], pool.is_move[rows]
    drawn.played = pool.played[rows]
    chances = compute_choices(drawn, skill).probability.cumsum(axis=1)
    drawn.played = (chances < rng.random(n)[:, None] * chances[:, -1:]).sum(axis=1)
    return drawn


def spreads_of(turns: TurnArrays) -> list[Spread]:
    """Return the turns as a list of spreads."""
    return [
        Spread(
            tuple(turns.deltas[row][turns.is_move[row]].tolist()),
            int(turns.played[row]),
            0.0,
        )
        for row in range(len(turns))
    ]


def compute_log_likelihood(turns: TurnArrays, skill: ChoiceSkill) -> float:
    """Return the natural logarithm of the probability of all moves played."""
    return float(turns.select_played(compute_choices(turns, skill).log).sum())
