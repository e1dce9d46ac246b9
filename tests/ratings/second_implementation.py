"""The perceived rating once more, slowly: written from its definition, sharing no code with it.

Models are read as JSON; every figure after every move is summed anew.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

GRID = np.linspace(400.0, 3600.0, 33)
NORMAL = NormalDist()
USUAL, SURE = NORMAL.inv_cdf(0.9), NORMAL.inv_cdf(0.975)
Model = dict[str, Any]
Floats = npt.NDArray[np.float64]


class Move(NamedTuple):
    """A counted move, mover's side."""

    color: str
    ply: int
    gain_cp: float
    score_cp: float
    stability_cp: float | None = None
    jump_cp: float | None = None
    legal_moves: int | None = None
    captures: int = 0
    recapture: bool = False
    check: bool = False
    pieces: int = 0


class Figures(NamedTuple):
    """After one counted move of a side."""

    ply: int
    counted: int
    rating: float
    low: float | None
    high: float | None
    usual_low: float | None
    usual_high: float | None
    percentile: float | None


def _clip(value: float, low: float, high: float) -> float:
    return max(low, min(high, value))


def _ramp(ply: int, begin: int, end: int) -> float:
    return _clip((ply - begin) / (end - begin), 0.0, 1.0)


CIRCUMSTANCES: dict[str, Callable[[Move], float]] = {
    "always": lambda m: 1.0,
    "opening": lambda m: 1 - _ramp(m.ply, 0, 20),
    "early": lambda m: 1 - _ramp(m.ply, 20, 40),
    "late": lambda m: _clip((m.ply - 60) / 40, 0.0, 1.5),
    "ahead": lambda m: math.log(1 + max(m.score_cp, 0) / 50),
    "behind": lambda m: math.log(1 + max(-m.score_cp, 0) / 50),
    "level": lambda m: math.exp(-(m.score_cp * m.score_cp) / 3600),
    "dead": lambda m: _ramp(m.ply, 40, 80) if -3 <= m.score_cp <= 3 else 0.0,
    "won": lambda m: _clip((m.score_cp - 400) / 200, 0.0, 1.0),
    "instability": lambda m: math.log(1 + (m.stability_cp or 0) / 5),
    "jump": lambda m: math.log(1 + (m.jump_cp or 0) / 20),
    "choices": lambda m: 0.0 if m.legal_moves is None else math.log(m.legal_moves / 30),
    "pieces": lambda m: 0.0 if m.legal_moves is None else m.pieces / 62 - 0.5,
    "captures": lambda m: math.log(1 + m.captures) / 2,
    "recapture": lambda m: 1.0 if m.recapture else 0.0,
    "check": lambda m: 1.0 if m.check else 0.0,
}


def shares(models: Sequence[Model], move: Move, elo: float) -> Floats:
    """``pi_k(x, E)``: the mean over the models."""
    found = []
    for model in models:
        z = (elo - model["centre_elo"]) / model["scale_elo"]
        odds = z * z * np.array(model["bend"])
        for names, rows, by in (("circumstances", "level", 1), ("changing", "slope", z)):
            for name, row in zip(model[names], model[rows], strict=True):
                odds += CIRCUMSTANCES[name](move) * by * np.array(row)
        weights = np.exp([0.0, *odds])
        found.append(weights / weights.sum())
    mean: Floats = np.mean(found, axis=0)
    return mean


def score(pi: Floats, k: int) -> float:
    """``s``: what class ``k`` scores against players of these shares."""
    return float(pi[k + 1 :].sum() + pi[k] / 2)


def average(pi: Floats, rated: Floats, power: int = 1) -> float:
    """``a``: what players with shares ``rated`` score against those with ``pi``."""
    return sum(float(rated[k]) * score(pi, k) ** power for k in range(len(pi)))


def variance(pi: Floats) -> float:
    """``v``: of their own scores."""
    return average(pi, pi, 2) - 0.25


class Seen(NamedTuple):
    """A move beside players over the grid."""

    move: Move
    s: Floats
    v: Floats
    of_level: Floats
    of_own: Floats | None
    own_variance: float
    surprise: float


def figures(
    models: Sequence[Model],
    moves: Sequence[Move],
    elos: dict[str, float | None],
    *,
    field: float,
    over: bool,
    scale: float = 1.0,
) -> dict[str, list[Figures]]:
    """Of both sides after each of their moves; ``over``: the last of each is final."""
    known = [elo for elo in elos.values() if elo is not None]
    level = _clip(sum(known) / len(known) if known else field, 800, 3200)
    seen: list[Seen] = []
    for told in sorted(moves, key=lambda m: m.ply):
        move = _in_own_centipawns(told, scale)
        # A loss equal to an edge lies below it.
        k = sum(edge < -move.gain_cp for edge in models[0]["loss_edges_cp"])
        grid, rated = [shares(models, move, elo) for elo in GRID], elos[move.color]
        own = None if rated is None else shares(models, move, _clip(rated, 800, 3200))
        of_level = shares(models, move, level)
        seen.append(
            Seen(
                move,
                np.array([score(pi, k) for pi in grid]),
                np.array([variance(pi) for pi in grid]),
                np.array([average(pi, of_level) for pi in grid]),
                None if own is None else np.array([average(pi, own) for pi in grid]),
                0.0 if own is None else variance(own),
                0.0 if own is None else (score(own, k) - 0.5) / math.sqrt(variance(own)),
            )
        )
    found: dict[str, list[Figures]] = {}
    for color in ("white", "black"):
        mine = [each for each in seen if each.move.color == color]
        theirs = [each for each in seen if each.move.color != color]
        found[color] = [
            _after(models, mine[:n], theirs, over=over and n == len(mine))
            for n in range(1, len(mine) + 1)
        ]
    return found


def _in_own_centipawns(move: Move, scale: float) -> Move:
    if scale == 1.0:
        return move
    return move._replace(
        gain_cp=round(move.gain_cp / scale),
        score_cp=round(move.score_cp / scale),
        stability_cp=None if move.stability_cp is None else move.stability_cp / scale,
        jump_cp=None if move.jump_cp is None else round(move.jump_cp / scale),
    )


def _after(
    models: Sequence[Model], mine: Sequence[Seen], theirs: Sequence[Seen], *, over: bool
) -> Figures:
    n, last = len(mine), mine[-1].move.ply
    kappa = _kappa(models, n, over=over)
    less = sum(_hardness(models, theirs, each.move.ply) for each in mine)
    gained = np.sum([each.s for each in mine], axis=0) - less - n / 2
    pull = 30 / n * (np.sum([each.of_level for each in mine], axis=0) - n / 2)
    rating = _crossing(gained + pull)
    sure = SURE * np.sqrt(kappa * np.sum([each.v for each in mine], axis=0))
    low, high = (
        None if line[0] <= 0 or line[-1] > 0 else _crossing(line)
        for line in (gained - sure, gained + sure)
    )
    own = [each.of_own for each in mine if each.of_own is not None]
    if len(own) < n:
        return Figures(last, n, rating, low, high, None, None, None)
    deviation = math.sqrt(kappa * sum(each.own_variance for each in mine))
    of_own = np.sum(own, axis=0) - n / 2
    worst, best = (_crossing(of_own + pull + sign * USUAL * deviation) for sign in (-1, 1))
    z = float(np.interp(rating, GRID, gained - of_own)) / deviation
    return Figures(last, n, rating, low, high, worst, best, 100 * NORMAL.cdf(z))


def _hardness(models: Sequence[Model], theirs: Sequence[Seen], ply: int) -> float:
    surprises = [each.surprise for each in theirs if each.move.ply < ply]
    betas = [
        next((beta for last, beta in model["shared"] if ply <= last), model["shared"][-1][1])
        for model in models
    ]
    return float(np.mean(betas)) * sum(surprises) / (len(surprises) + 5)


def _kappa(models: Sequence[Model], n: int, *, over: bool) -> float:
    if over:
        return float(np.mean([model["finished_dispersion"] for model in models]))
    steps = [np.array(model["dispersion"]).T for model in models]
    return float(np.mean([np.interp(math.log(n), np.log(at), kappa) for at, kappa in steps]))


def _crossing(line: Floats) -> float:
    at = next((at for at, each in enumerate(line) if each <= 0), None)
    if at is None or at == 0:
        return float(GRID[-1 if at is None else 0])
    return float(GRID[at - 1] + 100 * line[at - 1] / (line[at - 1] - line[at]))
