"""Second implementation of the perceived rating, slow and written from the definition.
It shares no code with the first.

Models are read as JSON. Every figure after every move is summed again from the first
move.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

GRID = np.linspace(400.0, 3600.0, 33)
NORMAL = NormalDist()
USUAL = (NORMAL.inv_cdf(0.1), NORMAL.inv_cdf(0.9))
SURE = (NORMAL.inv_cdf(0.025), NORMAL.inv_cdf(0.975))
Model = dict[str, Any]
Floats = npt.NDArray[np.float64]


class Move(NamedTuple):
    """A counted move. Scores and gains are from the mover's side."""

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
    """Figures of one side after one of its counted moves."""

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


def logit(model: Model, move: Move, elo: float) -> tuple[Floats, Floats]:
    """Return ``pi_k(x, E)`` of one model, and the slope of its logarithm in Elo."""
    z = (elo - model["centre_elo"]) / model["scale_elo"]
    odds = [0.0] * (len(model["loss_edges_cp"]) + 1)
    rises = odds.copy()
    for k in range(1, len(odds)):
        odds[k] += model["bend"][k - 1] * z * z
        rises[k] += model["bend"][k - 1] * 2 * z
        for name, row in zip(model["circumstances"], model["level"], strict=True):
            odds[k] += CIRCUMSTANCES[name](move) * row[k - 1]
        for name, row in zip(model["changing"], model["slope"], strict=True):
            odds[k] += CIRCUMSTANCES[name](move) * row[k - 1] * z
            rises[k] += CIRCUMSTANCES[name](move) * row[k - 1]
    weights = [math.exp(each) for each in odds]
    pi = np.array(weights) / sum(weights)
    rise = np.array(rises) / model["scale_elo"]
    return pi, rise - float(pi @ rise)


def classes(models: Sequence[Model], move: Move, elo: float) -> tuple[Floats, Floats]:
    """Return ``pi_k(x, E)`` and ``t_k(E)`` of one model, or the mean of two models."""
    if len(models) == 1:
        return logit(models[0], move, elo)
    (pi1, t1), (pi2, t2) = (logit(model, move, elo) for model in models)
    pi = (pi1 + pi2) / 2
    slope = (pi1 * t1 + pi2 * t2) / (pi1 + pi2)
    return pi, slope - float(pi @ slope)


def moments(pi: Floats, t: Floats) -> tuple[float, float, float]:
    """Return the mean, variance and third central moment of ``t`` under ``pi``."""
    mean = sum(float(p * x) for p, x in zip(pi, t, strict=True))
    variance = sum(float(p * (x - mean) ** 2) for p, x in zip(pi, t, strict=True))
    third = sum(float(p * (x - mean) ** 3) for p, x in zip(pi, t, strict=True))
    return mean, variance, third


def between(elo: float, line: Floats) -> float:
    """Return the value of ``line`` at ``elo``, by linear interpolation between grid
    points.
    """
    at = min(int((elo - 400) // 100), len(GRID) - 2)
    part = (elo - GRID[at]) / 100
    return float(line[at] * (1 - part) + line[at + 1] * part)


class ComparedMove(NamedTuple):
    """A move compared with the moves of players at each Elo of the grid."""

    move: Move
    t: Floats
    v: Floats
    """``v(E, E)``."""
    k3: Floats
    a: Floats | None
    """``a(E, R)``, ``v(E, R)`` and ``k3(E, R)``; None without a rating."""
    v_own: Floats | None
    k3_own: Floats | None
    u: float | None


def compare_move(
    models: Sequence[Model], move: Move, rated: float | None
) -> ComparedMove:
    """Compare one move with the moves of players at each Elo of the grid."""
    # A loss that equals an edge belongs to the class below the edge.
    k = sum(edge < -move.gain_cp for edge in models[0]["loss_edges_cp"])
    grid = [classes(models, move, elo) for elo in GRID]
    t = np.array([slopes[k] for _, slopes in grid])
    peers = np.array([moments(pi, slopes) for pi, slopes in grid])
    if rated is None:
        return ComparedMove(move, t, peers[:, 1], peers[:, 2], None, None, None, None)
    pi_own, _ = classes(models, move, rated)
    own = np.array([moments(pi_own, slopes) for _, slopes in grid])
    u = between(rated, t) / math.sqrt(between(rated, own[:, 1]))
    a, v_own, k3_own = own.T
    return ComparedMove(
        move, t, peers[:, 1], peers[:, 2], a, v_own, k3_own, _clip(u, -3, 3)
    )


def figures(
    models: Sequence[Model],
    moves: Sequence[Move],
    elos: dict[str, float | None],
    *,
    field: float,
    over: bool,
    scale: float = 1.0,
) -> dict[str, list[Figures]]:
    """Return the figures of both sides after each of their moves. If ``over`` is true,
    the game is over and the last figures of each side are final.
    """
    known = [elo for elo in elos.values() if elo is not None]
    level = _clip(sum(known) / len(known) if known else field, 800, 3200)
    rated = {
        color: None if elo is None else _clip(elo, 800, 3200)
        for color, elo in elos.items()
    }
    seen = [
        compare_move(models, _in_own_centipawns(told, scale), rated[told.color])
        for told in sorted(moves, key=lambda m: m.ply)
    ]
    found: dict[str, list[Figures]] = {}
    for color in ("white", "black"):
        mine = [each for each in seen if each.move.color == color]
        theirs = [each for each in seen if each.move.color != color]
        found[color] = [
            _after(models, mine[:n], theirs, level, over=over and n == len(mine))
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
    models: Sequence[Model],
    mine: Sequence[ComparedMove],
    theirs: Sequence[ComparedMove],
    level: float,
    *,
    over: bool,
) -> Figures:
    n, last = len(mine), mine[-1].move.ply
    kappa = _kappa(models, n, over=over)
    sigma = float(np.mean([model["prior_sd"] for model in models]))
    prior = (GRID - level) / sigma**2
    s = np.sum([each.t for each in mine], axis=0)
    b = np.sum(
        [_hardness(models, theirs, each.move.ply) * np.sqrt(each.v) for each in mine],
        axis=0,
    )
    rating = _zero(s - b - prior)
    v, k = (
        np.sum([each.v for each in mine], axis=0),
        np.sum([each.k3 for each in mine], axis=0),
    )
    sd = np.sqrt(kappa * v)
    low, high = (_find_end(s - b - _skewed(q, k, sd) * sd) for q in reversed(SURE))
    own = [each for each in mine if each.a is not None]
    if len(own) < n:
        return Figures(last, n, rating, low, high, None, None, None)
    a, v, k = (_add_up(own, name) for name in ("a", "v_own", "k3_own"))
    sd = np.sqrt(kappa * v)
    usual_low, usual_high = (_zero(a - prior + _skewed(q, k, sd) * sd) for q in USUAL)
    sd_there = math.sqrt(kappa * between(rating, v))
    z = _clip(between(rating, s - b - a) / sd_there, -4, 4)
    g = _clip(between(rating, k) / sd_there**3, -0.6, 0.6)
    percentile = 100 * NORMAL.cdf(z - g * (z * z - 1) / 6)
    inside = usual_low <= rating <= usual_high
    ends = (10, 90) if inside else (0, 10) if rating < usual_low else (90, 100)
    return Figures(
        last, n, rating, low, high, usual_low, usual_high, _clip(percentile, *ends)
    )


def _add_up(seen: Sequence[ComparedMove], name: str) -> Floats:
    sums: Floats = np.sum([getattr(each, name) for each in seen], axis=0)
    return sums


def _find_end(line: Floats) -> float | None:
    """Return where an interval ends; None where the line does not cross zero."""
    if line[0] <= 0 or line[-1] > 0:
        return None
    return _zero(line)


def _skewed(q: float, k: Floats, sd: Floats) -> Floats:
    g = np.clip(k / sd**3, -0.6, 0.6)
    return q + g * (q * q - 1) / 6


def _hardness(
    models: Sequence[Model], theirs: Sequence[ComparedMove], ply: int
) -> float:
    u = [each.u for each in theirs if each.move.ply < ply]
    if not u or u[0] is None:
        return 0.0
    betas = [_find_beta(model, ply) for model in models]
    return float(np.mean(betas)) * sum(each or 0.0 for each in u) / (len(u) + 5)


def _find_beta(model: Model, ply: int) -> float:
    for last, beta in model["shared"]:
        if ply <= last:
            return float(beta)
    return float(model["shared"][-1][1])


def _kappa(models: Sequence[Model], n: int, *, over: bool) -> float:
    if over:
        return float(np.mean([model["finished_dispersion"] for model in models]))
    steps = [np.array(model["dispersion"]).T for model in models]
    return float(np.mean([np.interp(n, at, kappa) for at, kappa in steps]))


def _zero(line: Floats) -> float:
    at = next((at for at, each in enumerate(line) if each <= 0), None)
    if at is None or at == 0:
        return float(GRID[-1 if at is None else 0])
    return float(GRID[at - 1] + 100 * line[at - 1] / (line[at - 1] - line[at]))
