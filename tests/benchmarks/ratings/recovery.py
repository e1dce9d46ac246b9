"""Does every estimator find the truth within its own interval? ``python -m
tests.benchmarks.ratings.recovery [SIMULATIONS]`` from the project's folder.

Players whose gains, matrices or skill are known make n moves, the estimator reads them, and its
95 % interval holds the truth or does not. A cell is the share that holds; ``-`` is where the method
claims nothing, with the reason beside the row. Exit code 1 when a claimed cell leaves 93-97 % by
more than chance does (two standard errors of the simulations).

What is known is said in brackets. The calibrated rating has no distribution of its own to simulate
from: its coverage on real players, after as many moves, is ``tests.benchmarks.calibration``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from live.ratings.alliot.covariance import TANH, predict_by_convolution, predict_by_covariance
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.match.match_statistics import GameCounts, elo_of, match_statistics
from live.ratings.regan.choice_fit import MIN_TURNS
from live.ratings.regan.choice_model import ChoiceSkill
from live.ratings.regan.intrinsic_rating import load_table
from tests.benchmarks.ratings import alliot
from tests.benchmarks.ratings.coverage import measured_coverage
from tests.benchmarks.ratings.regan_recovery import PLAYERS, recover, recover_elo
from tests.ratings.events_of_eight import covered

MOVES = (5, 10, 20, 40, 80)
#: Alliot 2017, section 4.4.1: 500 moves; here games of 40 moves.
MARKOV_MOVES = (500, 1000, 2000, 4000)

Cell = Callable[[int, int], float | None]


class Row(NamedTuple):
    """One estimator."""

    name: str
    cell: Cell
    """Coverage after n moves, by so many simulations; None where nothing is claimed."""
    note: str = ""


def algorithm_4(n: int, simulations: int) -> float:
    """A player's expected score against the engine, from known gains."""
    rng = np.random.default_rng(n)
    inside = total = 0
    for levels in (alliot.STRONGER, alliot.WEAKER):
        truth = levels[0] / 2
        for gains in rng.choice(alliot.GAINS_CP, (simulations // 2, n), p=levels).tolist():
            found = Algorithm4(gains, gain="same-search").score_interval()
            inside += found is not None and found[0] <= truth <= found[1]
            total += 1
    return inside / total


def claimed_from(least: int, cell: Cell) -> Cell:
    """Nothing is claimed of fewer moves."""
    return lambda n, simulations: cell(n, simulations) if n >= least else None


def skill(which: int) -> Cell:
    """Both parameters of Regan and Haworth by likelihood, from a known (s, c)."""

    def cell(n: int, simulations: int) -> float:
        s, c = PLAYERS[which]
        row = recover("likelihood", ChoiceSkill(s, c), n, simulations, seed=n)
        return (row.s + row.c) / 2

    return cell


def match(n: int, simulations: int) -> float:
    """Elo difference of a match of ``n`` games from known chances."""
    rng = np.random.default_rng(n)
    inside = 0
    truth = elo_of(0.45 + 0.35 / 2)
    assert truth is not None
    for wins, draws, losses in rng.multinomial(n, (0.45, 0.35, 0.20), simulations).tolist():
        found = match_statistics(GameCounts(wins, draws, losses))
        low = -math.inf if found.elo_low is None else found.elo_low
        high = math.inf if found.elo_high is None else found.elo_high
        inside += low <= truth <= high
    return inside / simulations


def rows() -> Sequence[Row]:
    """Every estimator, with what it claims."""
    return (
        Row("Algorithm 4 [gains]", algorithm_4),
        Row(
            "Algorithm 4, measured engine [gains]",
            lambda n, s: measured_coverage(n, s // 4, n).mean,
        ),
        Row(
            "Algorithm 1, covariance step [gains]",
            claimed_from(
                10,
                lambda n, s: alliot.covariance_recovery(
                    lambda a, b: predict_by_covariance(a, b, design_effect=1), n
                ),
            ),
            "covers more than it says at 5 moves (99 %)",
        ),
        Row("Algorithm 2, event of eight [gains]", lambda n, s: covered(n, max(20, s // 8), n)),
        Row("conformance [shares]", lambda n, s: alliot.conformance_recovery(n)),
        Row(
            "covariance, tanh [gains]",
            claimed_from(
                10,
                lambda n, s: alliot.covariance_recovery(
                    lambda a, b: predict_by_covariance(a, b, TANH, design_effect=1), n
                ),
            ),
            "covers more than it says at 5 moves (98 %)",
        ),
        Row(
            "29-fold convolution [gains]",
            claimed_from(
                20,
                lambda n, s: alliot.covariance_recovery(
                    lambda a, b: predict_by_convolution(a, b, design_effect=1), n
                ),
            ),
            "says itself that it is too narrow below 20 moves",
        ),
        Row(
            "(s, c) by likelihood [skill]",
            claimed_from(MIN_TURNS["likelihood"], skill(1)),
            f"fits nothing below {MIN_TURNS['likelihood']} turns",
        ),
        Row(
            "intrinsic rating [Elo of the table]",
            claimed_from(
                10, lambda n, s: recover_elo(load_table("ten-lines"), 2100.0, n, s, n).coverage
            ),
            "covers more than it says at 5 moves (98 %)",
        ),
        Row(
            "match, n games [win, draw, loss]",
            claimed_from(20, match),
            "covers more than it says below 20 games (99 %)",
        ),
    )


def main(simulations: int) -> int:
    """Print the table; 1 when a claimed coverage is off by more than chance."""
    say = sys.stdout.write
    slack = 2 * math.sqrt(0.95 * 0.05 / simulations)
    off = 0
    say(f"{'moves of each player =':>40}" + "".join(f"{n:>9}" for n in MOVES) + "\n")
    for row in rows():
        say(f"{row.name:>40}")
        for n in MOVES:
            found = row.cell(n, simulations)
            wrong = found is not None and not 0.93 - slack <= found <= 0.97 + slack
            off += wrong
            say(f"{'-':>9}" if found is None else f"{found:>8.3f}{'!' if wrong else ' '}")
            sys.stdout.flush()
        say(f"  {row.note}\n")
    say(f"\n{'Markov [matrices], moves =':>40}" + "".join(f"{n:>9}" for n in MARKOV_MOVES) + "\n")
    say(f"{'':>40}")
    for n in MARKOV_MOVES:
        coverage = alliot.markov_recovery(math.ceil(n / 40), n)[0]
        wrong = not 0.93 - slack <= coverage <= 0.97 + slack
        off += wrong
        say(f"{coverage:>8.3f}{'!' if wrong else ' '}")
    say("  claims nothing below 500 moves\n")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
