"""The perceived rating once more, slowly: written from its definition, sharing no code with it.

Plain Python over lists; models are read as JSON. Every figure after every move is summed anew.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import NormalDist
from typing import Any, NamedTuple

GRID = [400.0 + 100 * step for step in range(33)]
NORMAL = NormalDist()
USUAL, SURE = NORMAL.inv_cdf(0.9), NORMAL.inv_cdf(0.975)
Model = dict[str, Any]


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


def shares(models: Sequence[Model], move: Move, elo: float) -> list[float]:
    """``pi_k(x, E)``: the mean over the models."""
    found = [_shares(model, move, elo) for model in models]
    return [sum(each) / len(found) for each in zip(*found, strict=True)]


def _shares(model: Model, move: Move, elo: float) -> list[float]:
    at = {name: CIRCUMSTANCES[name](move) for name in model["circumstances"]}
    z = (elo - model["centre_elo"]) / model["scale_elo"]
    odds = [0.0]
    for k in range(len(model["loss_edges_cp"])):
        level = sum(
            at[name] * row[k]
            for name, row in zip(model["circumstances"], model["level"], strict=True)
        )
        slope = sum(
            at[name] * row[k] for name, row in zip(model["changing"], model["slope"], strict=True)
        )
        odds.append(level + slope * z + model["bend"][k] * z * z)
    top = max(odds)
    weights = [math.exp(each - top) for each in odds]
    return [each / sum(weights) for each in weights]


def class_of(model: Model, move: Move) -> int:
    """Which class the loss falls into; a loss equal to an edge lies below it."""
    return bisect_left(model["loss_edges_cp"], -move.gain_cp)


def score(pi: Sequence[float], k: int) -> float:
    """``s``: what class ``k`` scores against players of these shares."""
    return sum(pi[k + 1 :]) + pi[k] / 2


def variance(pi: Sequence[float]) -> float:
    """``v``: of their own scores."""
    return sum(pi[k] * score(pi, k) ** 2 for k in range(len(pi))) - 0.25


def average(pi: Sequence[float], rated: Sequence[float]) -> float:
    """``a``: what players with shares ``rated`` score against those with ``pi``."""
    return sum(rated[k] * score(pi, k) for k in range(len(pi)))


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
    read = [_in_own_centipawns(move, scale) for move in sorted(moves, key=lambda m: m.ply)]
    known = [elo for elo in elos.values() if elo is not None]
    level = _clip(sum(known) / len(known) if known else field, 800, 3200)
    own = {c: None if elo is None else _clip(elo, 800, 3200) for c, elo in elos.items()}
    seen: list[tuple[Move, dict[str, Any]]] = []
    for move in read:
        k, rated = class_of(models[0], move), own[move.color]
        grid = [shares(models, move, elo) for elo in GRID]
        of_level = shares(models, move, level)
        of_own = None if rated is None else shares(models, move, rated)
        seen.append(
            (
                move,
                {
                    "s": [score(pi, k) for pi in grid],
                    "v": [variance(pi) for pi in grid],
                    "af": [average(pi, of_level) for pi in grid],
                    "ar": None if of_own is None else [average(pi, of_own) for pi in grid],
                    "vr": None if of_own is None else variance(of_own),
                    "u": None
                    if of_own is None
                    else (score(of_own, k) - 0.5) / math.sqrt(variance(of_own)),
                },
            )
        )
    return {
        color: [
            _after(models, seen, color, n, over=over)
            for n in range(1, 1 + sum(move.color == color for move in read))
        ]
        for color in ("white", "black")
    }


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
    seen: Sequence[tuple[Move, dict[str, Any]]],
    color: str,
    n: int,
    *,
    over: bool,
) -> Figures:
    mine = [(move, of) for move, of in seen if move.color == color]
    last = over and n == len(mine)
    mine = mine[:n]
    less = sum(_hardness(models, seen, move) for move, _ in mine)
    kappa = _kappa(models, n, over=last)
    gained = [sum(of["s"][e] for _, of in mine) - less - n / 2 for e in range(len(GRID))]
    pull = [30 / n * (sum(of["af"][e] for _, of in mine) - n / 2) for e in range(len(GRID))]
    rating = _crossing([a + b for a, b in zip(gained, pull, strict=True)])
    sure = [SURE * math.sqrt(kappa * sum(of["v"][e] for _, of in mine)) for e in range(len(GRID))]
    low = _on_grid([a - b for a, b in zip(gained, sure, strict=True)])
    high = _on_grid([a + b for a, b in zip(gained, sure, strict=True)])
    if any(of["ar"] is None for _, of in mine):
        return Figures(mine[-1][0].ply, n, rating, low, high, None, None, None)
    of_own = [sum(of["ar"][e] for _, of in mine) - n / 2 for e in range(len(GRID))]
    deviation = math.sqrt(kappa * sum(of["vr"] for _, of in mine))
    usual = [
        _crossing([a + b + sign * USUAL * deviation for a, b in zip(of_own, pull, strict=True)])
        for sign in (-1, 1)
    ]
    z = _at(rating, [a - b for a, b in zip(gained, of_own, strict=True)]) / deviation
    return Figures(mine[-1][0].ply, n, rating, low, high, usual[0], usual[1], 100 * NORMAL.cdf(z))


def _hardness(
    models: Sequence[Model], seen: Sequence[tuple[Move, dict[str, Any]]], move: Move
) -> float:
    theirs = [of["u"] for each, of in seen if each.color != move.color and each.ply < move.ply]
    if any(each is None for each in theirs):
        return 0.0
    betas = []
    for model in models:
        steps = [beta for last, beta in model["shared"] if move.ply <= last]
        betas.append(steps[0] if steps else model["shared"][-1][1])
    return float(sum(betas) / len(betas) * sum(theirs) / (len(theirs) + 5))


def _kappa(models: Sequence[Model], n: int, *, over: bool) -> float:
    found = []
    for model in models:
        if over:
            found.append(model["finished_dispersion"])
            continue
        steps = model["dispersion"]
        if n <= steps[0][0]:
            found.append(steps[0][1])
        elif n >= steps[-1][0]:
            found.append(steps[-1][1])
        else:
            (a, low), (b, high) = next(
                (one, two) for one, two in pairwise(steps) if one[0] <= n <= two[0]
            )
            found.append(low + (high - low) * math.log(n / a) / math.log(b / a))
    return float(sum(found) / len(found))


def _crossing(line: Sequence[float]) -> float:
    if line[0] <= 0:
        return GRID[0]
    for at in range(1, len(line)):
        if line[at] <= 0:
            return GRID[at - 1] + 100 * line[at - 1] / (line[at - 1] - line[at])
    return GRID[-1]


def _on_grid(line: Sequence[float]) -> float | None:
    return None if line[0] <= 0 or line[-1] > 0 else _crossing(line)


def _at(elo: float, line: Sequence[float]) -> float:
    at = min(int((elo - GRID[0]) // 100), len(GRID) - 2)
    part = (elo - GRID[at]) / 100
    return line[at] + (line[at + 1] - line[at]) * part
