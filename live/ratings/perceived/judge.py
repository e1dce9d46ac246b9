"""How well a model does on players it never saw: what its bands hold, after so many moves.

One row a player-game, as arrays; the bounds that must hold are those of ``numbers`` in the manual.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from live.ratings.perceived.loss_logit import Floats
from live.ratings.perceived.many_games import (
    Ints,
    Scored,
    States,
    Turns,
    Which,
    betas,
    crossings,
    in_parts,
    places,
    ratings,
    scored,
    states,
    turns_of,
)
from live.ratings.perceived.model import PerceivedModel
from live.ratings.perceived.perceived_rating import LEAST_ELO, MOST_ELO, PULL_MOVES, Dispersion
from live.ratings.perceived.played_games import PlayedGame

AFTER = (5, 10, 20, 40)
WHOLE = "whole"
PERCENTILES = (5, 25, 50, 75, 95)
BANDS = ((0, 1600), (1600, 2000), (2000, 2300), (2300, 2600), (2600, 4000))
BEYOND_ELO = 3200
_USUAL, _SURE = NormalDist().inv_cdf(0.9), NormalDist().inv_cdf(0.975)


class Judged(NamedTuple):
    """Player-games after some of their moves, one row each."""

    game: Ints
    side: Ints
    counted: Ints
    whole: Which
    elo: Floats
    level: Floats
    rating: Floats
    z: Floats
    """Where the rating lies among those of players rated alike, in standard deviations."""
    usual_low: Floats
    usual_high: Floats
    low: Floats
    """Of the 95 % interval; infinite beyond the grid."""
    high: Floats
    blind: Floats
    """The rating when everybody starts at one Elo and no rating is used."""


class Weak(NamedTuple):
    """Scores of single moves at the player's own Elo, where they are known to be weak."""

    score: Floats
    dead: Which
    """1 for a move at 0.00 after ply 60."""
    won: Which
    """1 for a move at +4 or more."""


def judged_by(
    games: Sequence[PlayedGame], model: PerceivedModel, whom: Callable[[str], bool]
) -> tuple[dict[str, Judged], Weak]:
    """The players that ``whom`` names, by ``model``: after each of ``AFTER`` moves, and whole games
    as ``whole``.
    """
    turns, players = turns_of(games, model.circumstances, model.loss_edges_cp)
    chosen = np.array([whom(player) for player in players], dtype=bool)
    running, weak = _judge(turns, chosen, model, over=False)
    whole, _ = _judge(turns, chosen, model, over=True)
    after = {str(n): Judged(*(each[running.counted == n] for each in running)) for n in AFTER}
    return {**after, WHOLE: whole}, weak


def _judge(
    turns: Turns, judged: Which, model: PerceivedModel, *, over: bool
) -> tuple[Judged, Weak]:
    """The players ``judged`` (one bool each), whose ``turns`` hold the model's circumstances.

    ``over``: whole games, else after each of ``AFTER``.
    """
    games = np.zeros(int(turns.game.max()) + 1, dtype=bool)
    games[turns.game[judged[turns.player]]] = True
    kappa = Dispersion(model.dispersion, model.finished_dispersion)
    logit = model.logit()
    found, weak = [], []
    for part in in_parts(turns.rows(games[turns.game])):
        mine = judged[part.player] & ~np.isnan(part.elo)
        wanted = mine & (part.number == part.of if over else np.isin(part.number, AFTER))
        moves = scored(logit, part)
        held = states(part, moves, betas(part.ply, model.shared), wanted)
        blind = _blind(part, moves, scored(logit, part, level=model.mean_elo), wanted)
        spread = np.array([kappa.at(int(n), over=over) for n in held.turns.number])
        found.append(_figures(held, spread, blind))
        weak.append(_weak(part, moves, model, mine))
    return Judged(*map(np.concatenate, zip(*found, strict=True))), Weak(
        *map(np.concatenate, zip(*weak, strict=True))
    )


def _figures(held: States, kappa: Floats, blind: Floats) -> Judged:
    n = held.turns.number.astype(np.float64)[:, None]
    rating = ratings(held)
    pull = (PULL_MOVES / n) * (held.of_level - n / 2)
    usual = held.of_own - n / 2 + pull
    deviation = np.sqrt(kappa * held.own_variance)
    spread = _SURE * np.sqrt(kappa[:, None] * held.variance)
    gained = held.score - n / 2
    return Judged(
        held.turns.game,
        held.turns.side,
        held.turns.number,
        held.turns.number == held.turns.of,
        held.turns.elo,
        held.turns.level,
        rating,
        places(held, rating) / np.sqrt(kappa),
        crossings(usual - _USUAL * deviation[:, None]),
        crossings(usual + _USUAL * deviation[:, None]),
        _open(gained - spread),
        _open(gained + spread),
        blind,
    )


def _open(falling: Floats) -> Floats:
    found = crossings(falling)
    found[falling[:, 0] <= 0] = -np.inf
    found[(falling > 0).all(axis=1)] = np.inf
    return found


def _blind(part: Turns, moves: Scored, same: Scored, wanted: Which) -> Floats:
    """With one F for everybody; without ratings nothing is known of the game's hardness."""
    bare = moves._replace(of_level=same.of_level)
    return ratings(states(part, bare, np.zeros(len(part.game)), wanted))


def _weak(part: Turns, moves: Scored, model: PerceivedModel, mine: Which) -> Weak:
    score_cp = part.score_cp[mine]
    return Weak(
        moves.own_score[mine] + 0.5,
        (np.abs(score_cp) <= 3) & (part.ply[mine] > 60),
        score_cp >= 400,
    )


def summary(of: Judged) -> dict[str, Any]:
    """The figures of one row of the table."""
    if not len(of.elo):
        return {"n": 0}
    elo = np.clip(of.elo, LEAST_ELO, MOST_ELO)
    below = [float((of.z < NormalDist().inv_cdf(each / 100)).mean()) for each in PERCENTILES]
    return {
        "n": len(of.elo),
        "percentile_below": dict(zip(map(str, PERCENTILES), map(rounded, below), strict=True)),
        "pair_r": _pair_r(of),
        "pairs": len(_pairs(of)),
        "usual_holds": share(usual_holds(of)),
        "interval_holds": share((of.low <= elo) & (elo <= of.high)),
        "own_outside": share((elo < of.usual_low) | (elo > of.usual_high)),
        "beyond_3200": share(of.rating > BEYOND_ELO),
        "blind_r": _r(of.blind, of.elo),
        "bands": [_band(of, *band) for band in BANDS],
    }


def _band(of: Judged, low: int, high: int) -> dict[str, Any]:
    inside = (of.elo >= low) & (of.elo < high)
    some = Judged(*(each[inside] for each in of))  # type: ignore[arg-type]
    n = len(some.elo)
    percentiles = [100 * NormalDist().cdf(each) for each in some.z]
    return {
        "elo": [low, high],
        "n": n,
        "usual_holds": share(usual_holds(some)),
        "percentile_mean": round(float(np.mean(percentiles)), 1) if n else None,
        "bias": round(float(np.median(some.rating - some.elo)), 1) if n else None,
        "beyond_3200": share(some.rating > BEYOND_ELO),
    }


def usual_holds(of: Judged) -> Which:
    """Whether each rating lies in its usual band."""
    return (of.usual_low <= of.rating) & (of.rating <= of.usual_high)


def _pairs(of: Judged) -> Floats:
    """Both players' places, of the games that have both: (games, 2)."""
    white = {int(g): z for g, s, z in zip(of.game, of.side, of.z, strict=True) if not s}
    rows = [
        (white[int(g)], z)
        for g, s, z in zip(of.game, of.side, of.z, strict=True)
        if s and int(g) in white
    ]
    return np.array(rows).reshape(-1, 2)


def _pair_r(of: Judged) -> float | None:
    pairs = _pairs(of)
    return _r(pairs[:, 0], pairs[:, 1])


def _r(one: Floats, other: Floats) -> float | None:
    """Their correlation; None for fewer than three, or where all are the same."""
    if len(one) < 3 or not one.std() or not other.std():
        return None
    return rounded(float(np.corrcoef(one, other)[0, 1]))


def share(which: Which) -> float | None:
    """Of those there are, 0 to 1."""
    return rounded(float(which.mean())) if len(which) else None


def rounded(value: float, digits: int = 4) -> float:
    """For people."""
    return round(value, digits)
