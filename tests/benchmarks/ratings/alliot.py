"""What Alliot's methods cost and how well they know their limits: ``python -m
tests.benchmarks.ratings.alliot`` from the project's folder.

First table: one move more, taken back again, with each figure read, after 10² to 10⁵ moves of
both players, and how many times longer the full recomputation takes. Second: reading what has no
incremental form. Third: how often the 95 % intervals of the predictors cover the truth, in games
simulated from known matrices and known distributions of gain.

Processor time of the fastest of several runs. What counts are the ratios.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from live.events import Color, Score
from live.ratings.alliot.battle_royale import BattleRoyale
from live.ratings.alliot.complexity import complexity
from live.ratings.alliot.conformance import (
    PONDERATED,
    AccumulatedConformance,
    Conformance,
    ConformanceLine,
    predict_by_conformance,
)
from live.ratings.alliot.covariance import (
    CONVOLUTION_32,
    STEP,
    TANH,
    TANH_CONFORMANCE,
    Covariance,
    OutcomeVector,
    predict_by_convolution,
    predict_by_covariance,
)
from live.ratings.alliot.markov import (
    NINETEEN,
    TEN,
    Chain,
    EvaluationClasses,
    Transitions,
    outcome_vector,
    predict_by_markov,
    stationary_of,
)
from live.ratings.alliot.prediction import Prediction
from live.ratings.gain_histogram import GainHistogram
from tests.ratings.matrices import FISCHER, SPASSKY, played, with_slips

SIZES = (10**2, 10**3, 10**4, 10**5)
SAMPLES = 1000
Move = tuple[Color, int, int]


def microseconds(work: Callable[[], object], repeats: int, runs: int = 3) -> float:
    """Processor time of one call, the fastest of ``runs`` averages over ``repeats`` calls."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        for _ in range(repeats):
            work()
        best = min(best, (time.process_time() - start) / repeats)
    return best * 1e6


def random_move(rng: random.Random, color: Color) -> Move:
    """Half of the moves lose nothing, the others as much as real ones."""
    best_cp = max(-3900, min(3900, round(rng.gauss(0, 180))))
    lost_cp = 0 if rng.random() < 0.5 else int(rng.lognormvariate(3.3, 1.2)) + 1
    return color, best_cp, -min(lost_cp, best_cp + 3900)


def random_moves(rng: random.Random, n: int) -> list[Move]:
    return [random_move(rng, "white" if i % 2 == 0 else "black") for i in range(n)]


def conformance_costs(rng: random.Random, moves: list[Move]) -> tuple[float, float]:
    def built() -> AccumulatedConformance:
        found = AccumulatedConformance(PONDERATED)
        for _, best_cp, gain_cp in moves:
            found.add(best_cp, gain_cp, ply=30)
        return found

    held = built()

    def one_more() -> None:
        _, best_cp, gain_cp = random_move(rng, "white")
        held.add(best_cp, gain_cp, ply=30)
        _ = held.share, held.interval
        held.remove(best_cp, gain_cp, ply=30)

    return microseconds(one_more, 300), microseconds(built, 1, 1)


def covariance_costs(
    rng: random.Random, moves: list[Move], vector: OutcomeVector
) -> tuple[float, float]:
    held = Covariance(vector, TANH_CONFORMANCE)
    for move in moves:
        held.add(*move)

    def one_more() -> None:
        move = random_move(rng, "white")
        held.add(*move)
        _ = held.expected_score
        held.remove(*move)

    def again() -> Prediction:
        fresh = GainHistogram(), GainHistogram()
        for color, best_cp, gain_cp in moves:
            found = TANH_CONFORMANCE.of(best_cp, gain_cp)
            fresh[color == "black"].add(-round(found or 0))
        return predict_by_covariance(*fresh, vector)

    return microseconds(one_more, 30), microseconds(again, 1, 1)


def markov_costs(
    rng: random.Random, moves: list[Move], classes: EvaluationClasses
) -> tuple[float, float]:
    def built() -> Transitions:
        found = Transitions(classes)
        for move in moves:
            found.add(*move)
        return found

    held = built()
    opponent = held.chain("black")

    def one_more() -> None:
        move = random_move(rng, "white")
        held.add(*move)
        _ = predict_by_markov(held.chain("white"), opponent)
        held.remove(*move)

    def again() -> Prediction:
        return predict_by_markov(built().chain("white"), opponent)

    return microseconds(one_more, 30), microseconds(again, 1, 1)


def chain_of(counts: npt.NDArray[np.int64], color: Color) -> Chain:
    """A chain from counts from White's side."""
    rows = counts.sum(axis=1)
    matrix = np.eye(len(counts))
    matrix[rows > 0] = counts[rows > 0] / rows[rows > 0, None]
    return Chain(color, TEN, matrix, rows.astype(np.float64), int(rows.sum()))


def markov_recovery(games: int, seed: int) -> tuple[float, float, float]:
    """Coverage where an interval is told, share of those, mean error of the expected score."""
    rng = np.random.default_rng(seed)
    white, black = with_slips(FISCHER, 0.02), with_slips(SPASSKY, 0.02)
    truth = float(stationary_of(white, black) @ outcome_vector(10))
    covered = told = 0
    error = 0.0
    for _ in range(SAMPLES):
        counts = played(rng, white, black, TEN.level, games, 40)
        found = predict_by_markov(
            chain_of(counts[0], "white"), chain_of(counts[1], "black"), design_effect=1
        )
        error += abs((found.expected_score or 0.0) - truth) / SAMPLES
        if found.low is not None and found.high is not None:
            told += 1
            covered += found.low <= truth <= found.high
    return covered / max(told, 1), told / SAMPLES, error


#: Gains of a stronger and a weaker player, centipawns, and how likely each is.
GAINS_CP = (0, -3, -8, -15, -25, -45, -90, -250)
STRONGER = (0.58, 0.08, 0.08, 0.09, 0.07, 0.05, 0.03, 0.02)
WEAKER = (0.50, 0.08, 0.09, 0.10, 0.09, 0.07, 0.05, 0.02)


def covariance_recovery(
    predict: Callable[[GainHistogram, GainHistogram], Prediction], n: int
) -> float:
    """Coverage of the interval after n moves of each player."""
    rng = np.random.default_rng(n)
    truth = predict(
        *(
            GainHistogram(np.repeat(GAINS_CP, np.rint(100 * np.array(s)).astype(int)).tolist())
            for s in (STRONGER, WEAKER)
        )
    ).expected_score
    assert truth is not None
    covered = 0
    for _ in range(SAMPLES):
        found = predict(
            GainHistogram(rng.choice(GAINS_CP, n, p=STRONGER).tolist()),
            GainHistogram(rng.choice(GAINS_CP, n, p=WEAKER).tolist()),
        )
        covered += (
            found.low is not None and found.high is not None and (found.low <= truth <= found.high)
        )
    return covered / SAMPLES


def conformance_recovery(n: int) -> float:
    """Coverage of the predicted result after n counted moves of each player.

    The line is a gentle one, since a result that the published lines cut at a win is covered by
    whatever ends there.
    """
    kind = Conformance("raw", 30, ConformanceLine(0.0, 1.0))
    rng = np.random.default_rng(n)
    covered = 0
    for share in ((0.95, 0.9), (0.85, 0.85), (0.6, 0.8), (0.99, 0.93)):
        for good in rng.binomial(n, share, (SAMPLES // 4, 2)).tolist():
            sides = AccumulatedConformance(kind), AccumulatedConformance(kind)
            for side, within in zip(sides, good, strict=True):
                for i in range(n):
                    side.add(0, 0 if i < within else -50, ply=30)
            found = predict_by_conformance(*sides)
            truth = kind.fit.expected_score(share[0] - share[1]) if kind.fit else None
            assert found.low is not None and found.high is not None and truth is not None
            covered += found.low <= truth <= found.high
    return covered / SAMPLES


def main() -> None:
    """Print the tables."""
    say = sys.stdout.write
    rng = random.Random(1)
    say("One move more, microseconds (times less than from scratch)\n\n")
    say(f"{'moves of both':>40}" + "".join(f"{n:>20,}" for n in SIZES) + "\n")
    rows: dict[str, Callable[[list[Move]], tuple[float, float]]] = {
        "ponderated conformance": lambda moves: conformance_costs(rng, moves),
        "covariance, step": lambda moves: covariance_costs(rng, moves, STEP),
        "covariance, tanh": lambda moves: covariance_costs(rng, moves, TANH),
        "Markov, 10 classes, with interval": lambda moves: markov_costs(rng, moves, TEN),
        "Markov, 19 classes, with interval": lambda moves: markov_costs(rng, moves, NINETEEN),
    }
    for name, costs in rows.items():
        cells = []
        for n in SIZES:
            update, scratch = costs(random_moves(rng, n))
            cells.append(f"{update:,.0f} ({scratch / update:,.0f} x)")
        say(f"{name:>40}" + "".join(f"{cell:>20}" for cell in cells) + "\n")

    say("\nRead whole, microseconds\n\n")
    white, black = (
        GainHistogram(gain_cp for color, _, gain_cp in random_moves(rng, 80) if color == side)
        for side in ("white", "black")
    )
    cost = microseconds(lambda: predict_by_convolution(white, black, CONVOLUTION_32), 20)
    say(f"{'win, draw, loss by 32 convolutions':>40}{cost:>20,.0f}\n")
    by_depth = [Score(rng.randrange(-60, 60)) for _ in range(20)]
    cost = microseconds(lambda: complexity(by_depth), 200)
    say(f"{'complexity of a search to depth 20':>40}{cost:>20,.0f}\n")
    chains = {}
    for i in range(20):
        transitions = Transitions(NINETEEN)
        for move in random_moves(rng, 600):
            transitions.add(*move)
        chains[f"player {i}"] = transitions.chain("white"), transitions.chain("black")
    royale = BattleRoyale(lambda w, b: predict_by_markov(chains[w][0], chains[b][1]), chains)

    def meet_again() -> None:
        royale.changed("player 3")
        royale.places()

    cost = microseconds(meet_again, 5)
    say(f"{'battle of 20 after one changed':>40}{cost:>20,.0f}\n")

    say(f"\nCoverage of the 95 % intervals, {SAMPLES} simulations\n\n")
    say(f"{'Markov, moves of each player =':>40}" + "".join(f"{40 * g:>20}" for g in GAMES) + "\n")
    found = [markov_recovery(games, games) for games in GAMES]
    for name, index in (("covers", 0), ("interval told", 1), ("mean error of the score", 2)):
        say(f"{name:>40}" + "".join(f"{row[index]:>20.3f}" for row in found) + "\n")
    say(f"{'moves of each player =':>40}" + "".join(f"{n:>20}" for n in MOVES) + "\n")
    say(f"{'raw conformance':>40}" + "".join(f"{conformance_recovery(n):>20.3f}" for n in MOVES))
    say("\n")
    predictors: dict[str, Callable[[GainHistogram, GainHistogram], Prediction]] = {
        "covariance, step": lambda a, b: predict_by_covariance(a, b, design_effect=1),
        "covariance, tanh": lambda a, b: predict_by_covariance(a, b, TANH, design_effect=1),
        "covariance, 29 convolutions": lambda a, b: predict_by_convolution(a, b, design_effect=1),
    }
    for name, predict in predictors.items():
        say(f"{name:>40}" + "".join(f"{covariance_recovery(predict, n):>20.3f}" for n in MOVES))
        say("\n")


#: Games of 40 moves a side that the Markov recovery plays.
GAMES = (13, 25, 50, 100)
MOVES = (5, 10, 20, 40, 80)

if __name__ == "__main__":
    main()
