"""Players of known sensitivity s and competence c, who choose moves from real spreads (Multi-PV 20,
see ``tests/data/README.md``), drawn with replacement; whether fits and ratings find them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from live.ratings.intrinsic_rating import (
    ChoiceSkill,
    IntrinsicTable,
    Spread,
    TurnArrays,
    choices,
    intrinsic_rating,
    left_out,
    spread_of,
)
from live.studies.regan_fit import NoFit, fit_likelihood

SPREADS = Path(__file__).parents[1] / "data" / "multi-pv-spreads.json"

#: Players of the published table: 2700, 2300 and 1600.
PLAYERS = ((0.080, 0.513), (0.111, 0.485), (0.168, 0.436))


def real_turns() -> TurnArrays:
    """Every turn of the file that counts."""
    found = []
    for row in json.loads(SPREADS.read_text(encoding="utf-8")):
        lines = [(str(place), cp) for place, cp in enumerate(row["lines_cp"])]
        spread = spread_of(lines, str(row["played"]))
        if left_out(spread, row["ply"], repeated=row["repeated"]) is None:
            found.append(spread)
    return TurnArrays(found)


def simulate(pool: TurnArrays, skill: ChoiceSkill, n: int, rng: np.random.Generator) -> TurnArrays:
    """``n`` turns drawn from a pool, with moves chosen by a player of ``skill``."""
    rows = rng.integers(len(pool), size=n)
    drawn = TurnArrays(())
    drawn.deltas, drawn.is_move = pool.deltas[rows], pool.is_move[rows]
    drawn.played = pool.played[rows]
    chances = choices(drawn, skill).probability.cumsum(axis=1)
    drawn.played = (chances < rng.random(n)[:, None] * chances[:, -1:]).sum(axis=1)
    return drawn


def spreads_of(turns: TurnArrays) -> list[Spread]:
    """The turns one by one."""
    return [
        Spread(tuple(turns.deltas[row][turns.is_move[row]].tolist()), int(turns.played[row]), 0.0)
        for row in range(len(turns))
    ]


class Recovery(NamedTuple):
    """How maximum likelihood does."""

    s: float
    """Share of intervals that hold s."""
    c: float
    refused: float
    """Share of samples without a fit."""


def recover(skill: ChoiceSkill, n: int, samples: int, seed: int) -> Recovery:
    """How it does on ``samples`` games of ``n`` turns by a known player."""
    rng = np.random.default_rng(seed)
    pool = real_turns()
    s = c = refused = 0
    for _ in range(samples):
        turns = simulate(pool, skill, n, rng)
        try:
            fit = fit_likelihood(turns, model=skill.model, curve=skill.curve)
        except NoFit:
            refused += 1
            continue
        s += fit.s_interval[0] <= skill.s <= fit.s_interval[1]
        c += fit.c_interval[0] <= skill.c <= fit.c_interval[1]
    fitted = max(1, samples - refused)
    return Recovery(s / fitted, c / fitted, refused / samples)


def coverage(table: IntrinsicTable, elo: float, n: int, samples: int, seed: int) -> float:
    """Share of the intervals of intrinsic ratings that hold ``elo``, over ``samples`` games of
    ``n`` turns by players of that rating.
    """
    rng = np.random.default_rng(seed)
    pool = real_turns()
    covered = 0
    for _ in range(samples):
        rating = intrinsic_rating(table, spreads_of(simulate(pool, table.skill(elo), n, rng)))
        low, high = rating.low, rating.high
        covered += (low is None or low <= elo) and (high is None or elo <= high)
    return covered / samples
