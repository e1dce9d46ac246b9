"""Do the fits of Regan and Haworth find known players?

``python tests/benchmarks/ratings/regan_recovery.py``

Players of known sensitivity s and competence c choose moves from real spreads (Multi-PV 20, see
``tests/data/README.md``), drawn with replacement; the moves are fitted, and the 95 % interval
holds the truth or does not. A fit that is refused counts in its own column, not in the coverage.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from live.ratings.intrinsic_rating import (
    CURVES,
    MODELS,
    RYBKA_3,
    ChoiceSkill,
    Curve,
    IntrinsicTable,
    Model,
    Spread,
    TurnArrays,
    choices,
    intrinsic_rating,
    left_out,
    spread_of,
)
from live.studies.regan_fit import MIN_TURNS, Method, NoFit, fit_likelihood, fit_percentile

SPREADS = Path(__file__).parents[2] / "data" / "multi-pv-spreads.json"

#: Players of the published table: 2700, 2300 and 1600.
PLAYERS = ((0.080, 0.513), (0.111, 0.485), (0.168, 0.436))
FIT = {"likelihood": fit_likelihood, "percentile": fit_percentile}


class Recovery(NamedTuple):
    """One line of the table."""

    s: float
    """Share of intervals that hold s."""
    c: float
    refused: float
    """Share of samples without a fit."""
    bias_s: float
    """Median of the estimate over the truth, less 1."""
    ms: float
    """Milliseconds a fit."""


def real_turns() -> TurnArrays:
    """Every turn of the file that counts."""
    return TurnArrays([spread for _, spread in real_spreads()])


def real_spreads() -> list[tuple[int, Spread]]:
    """Every turn of the file that counts, with the player's Elo."""
    found = []
    for row in json.loads(SPREADS.read_text(encoding="utf-8")):
        lines = [(str(place), cp) for place, cp in enumerate(row["lines_cp"])]
        spread = spread_of(lines, str(row["played"]))
        if left_out(spread, row["ply"], repeated=row["repeated"]) is None:
            found.append((row["elo"], spread))
    return found


def simulate(pool: TurnArrays, skill: ChoiceSkill, n: int, rng: np.random.Generator) -> TurnArrays:
    """``n`` turns drawn from a pool, with moves chosen by a player of ``skill``."""
    drawn = pool.take(rng.integers(len(pool), size=n))
    chances = choices(drawn, skill).probability.cumsum(axis=1)
    drawn.played = (chances < rng.random(n)[:, None] * chances[:, -1:]).sum(axis=1)
    return drawn


def spreads_of(turns: TurnArrays) -> list[Spread]:
    """The turns one by one."""
    return [
        Spread(tuple(turns.deltas[row][turns.is_move[row]].tolist()), int(turns.played[row]), 0.0)
        for row in range(len(turns))
    ]


def recover(method: Method, skill: ChoiceSkill, n: int, samples: int, seed: int) -> Recovery:
    """How a method does on ``samples`` games of ``n`` turns by a known player."""
    rng = np.random.default_rng(seed)
    pool = real_turns()
    s = c = refused = 0
    estimates = []
    took = 0.0
    for _ in range(samples):
        turns = simulate(pool, skill, n, rng)
        start = time.perf_counter()
        fit = FIT[method](turns, model=skill.model, curve=skill.curve)
        took += time.perf_counter() - start
        if isinstance(fit, NoFit):
            refused += 1
            continue
        s += fit.s_interval[0] <= skill.s <= fit.s_interval[1]
        c += fit.c_interval[0] <= skill.c <= fit.c_interval[1]
        estimates.append(fit.skill.s / skill.s)
    fitted = max(1, samples - refused)
    bias = float(np.median(estimates)) - 1 if estimates else float("nan")
    return Recovery(s / fitted, c / fitted, refused / samples, bias, 1000 * took / samples)


class EloRecovery(NamedTuple):
    """One line of the table of intrinsic ratings."""

    coverage: float
    open_ends: float
    """Share of intervals that go beyond the table's reach at one end or both."""
    sd: float
    """Standard deviation of the estimates, Elo."""


def recover_elo(table: IntrinsicTable, elo: float, n: int, samples: int, seed: int) -> EloRecovery:
    """How intrinsic ratings do on ``samples`` games of ``n`` turns by players of known Elo."""
    rng = np.random.default_rng(seed)
    pool = real_turns()
    covered = open_ends = 0
    estimates = []
    for _ in range(samples):
        rating = intrinsic_rating(table, spreads_of(simulate(pool, table.skill(elo), n, rng)))
        low, high = rating.low, rating.high
        covered += (low is None or low <= elo) and (high is None or elo <= high)
        open_ends += low is None or high is None
        if rating.elo is not None:
            estimates.append(rating.elo)
    return EloRecovery(covered / samples, open_ends / samples, float(np.std(estimates)))


def main(samples: int) -> None:
    out = sys.stdout.write
    out(f"{len(real_turns())} real turns, {samples} simulations a line\n\n")
    out("method      model    curve       s     c     n  covers s  covers c  refused  bias s  ms\n")
    methods: tuple[Method, ...] = ("likelihood", "percentile")
    for method in methods:
        for s, c in PLAYERS:
            for n in (20, 40, 80, 160, 320):
                if n >= MIN_TURNS[method]:
                    _line(method, ChoiceSkill(s, c), n, samples)
    out("\nintrinsic rating along the published table\n")
    out("  Elo     n  coverage  open ends  sd of estimates\n")
    for elo in (1700, 2200, 2600):
        for n in (5, 10, 20, 40, 80, 160):
            line = recover_elo(RYBKA_3, elo, n, samples, seed=n)
            out(f"{elo:5d} {n:5d}  {line.coverage:8.3f}  {line.open_ends:9.3f}  {line.sd:6.0f}\n")
            sys.stdout.flush()
    out("\nother curves and models, by likelihood, a quarter of the simulations\n")
    kinds: list[tuple[Model, Curve]] = [("shares", curve) for curve in CURVES[1:]]
    kinds += [(model, "invexp") for model in MODELS[1:]]
    for model, curve in kinds:
        for n in (40, 160):
            _line("likelihood", ChoiceSkill(*PLAYERS[1], model, curve), n, samples // 4)


def _line(method: Method, skill: ChoiceSkill, n: int, samples: int) -> None:
    row = recover(method, skill, n, samples, seed=n)
    sys.stdout.write(
        f"{method:<11} {skill.model:<8} {skill.curve:<7} {skill.s:.3f} {skill.c:.3f} {n:5d}"
        f"  {row.s:8.3f}  {row.c:8.3f}  {row.refused:7.3f}  {row.bias_s:+6.2f}  {row.ms:.1f}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
