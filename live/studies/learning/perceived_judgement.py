"""Evaluation of a model on players to whose games it was not fitted: for example, how
many ratings lie in their bands after a number of moves.

There is one row per player-game, in arrays. The bounds that the figures must satisfy
are on the page ``numbers`` of the manual.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from live.ratings.perceived_model import MoveReader, PerceivedModel
from live.ratings.perceived_rating import (
    GRID_ELO,
    LEAST_ELO,
    MOST_ELO,
    SURE_QUANTILE,
    Evidence,
    Floats,
    compute_z_score,
    estimate_level,
    find_limits,
    read_rating,
)
from live.studies.learning.followed_games import (
    COLORS,
    Which,
    Whom,
    choose_sides,
    follow_game,
)
from live.studies.learning.played_games import PlayedGame

AFTER = (5, 10, 20, 40)
WHOLE = "whole"
PERCENTILES = (5, 25, 50, 75, 95)
BANDS = ((0, 1600), (1600, 2000), (2000, 2300), (2300, 2600), (2600, 4000))
BEYOND_ELO = 3200
#: Distance of a rating from the player's own Elo that counts as far, Elo.
FAR_ELO = 400


class Judged(NamedTuple):
    """Player-games after some of their moves, one row each."""

    game: Floats
    side: Floats
    """0 for White, 1 for Black."""
    elo: Floats
    level: Floats
    """Level of the game (``F``), Elo."""
    rating: Floats
    z: Floats
    """Z-score of the perceived rating among games by players of the same official
    rating.
    """
    usual_low: Floats
    usual_high: Floats
    inside: Floats
    """1 if the 95 % interval contains the player's Elo, else 0."""
    blind: Floats
    """Perceived rating computed without official ratings, from one Elo for all players.
    """


def judge(
    games: Sequence[PlayedGame], model: PerceivedModel, is_chosen: Whom
) -> dict[str, Judged]:
    """Rate the players for whom ``is_chosen`` returns true by ``model``. Return their
    player-games after each number of moves in ``AFTER``, and whole games as ``whole``.
    """
    reader = MoveReader((model,))
    rows_after: dict[str, list[tuple[float, ...]]] = {
        str(stage): [] for stage in (*AFTER, WHOLE)
    }
    for index, (game, sides) in enumerate(
        zip(games, choose_sides(games, is_chosen), strict=True)
    ):
        if not sides:
            continue
        moves = list(follow_game(game, reader, model.shared))
        # Without ratings, the hardness of the game is unknown, so ``beta`` is 0.
        blind = list(follow_game(game, reader, ((0, 0.0),), level=model.mean_elo))
        level = estimate_level(game.white.elo, game.black.elo, model.mean_elo)
        for color in sides:
            side = COLORS.index(color)
            totals = [move.total for move in moves if move.color == color]
            unrated = [move.total for move in blind if move.color == color]
            elo = float(game.sides[side].elo or 0)
            stages = {str(n): n for n in AFTER if n <= len(totals)}
            for stage, n in (stages | {WHOLE: len(totals)}).items():
                kappa = reader.dispersion.find_factor(n, over=stage == WHOLE)
                total = totals[n - 1]._replace(kappa=kappa)
                figures = _rate_side(total, elo, unrated[n - 1], reader.prior_sd)
                rows_after[stage].append((index, side, elo, level, *figures))
    judged = {}
    for stage, rows in rows_after.items():
        columns = np.array(rows, dtype=np.float64).reshape(-1, len(Judged._fields)).T
        judged[stage] = Judged(*columns)
    return judged


def _rate_side(
    total: Evidence, elo: float, blind: Evidence, prior_sd: float
) -> tuple[float, ...]:
    """Return the values of :class:`Judged` for one side, from ``rating`` on."""
    reading = read_rating(total, prior_sd)
    unrated = read_rating(blind, prior_sd)
    # not None, because at least one move is counted
    assert reading is not None and unrated is not None
    assert (
        reading.usual_low is not None and reading.usual_high is not None
    )  # not None, because the player is rated
    lower, upper = find_limits(total.peers, total.kappa, SURE_QUANTILE)
    own = min(max(elo, LEAST_ELO), MOST_ELO)
    least_own, slope, most_own = (
        float(np.interp(own, GRID_ELO, limit)) for limit in (lower, total.slope, upper)
    )
    inside = least_own <= slope <= most_own
    usual = reading.usual_low, reading.usual_high
    return (
        reading.rating,
        compute_z_score(total, reading.rating),
        *usual,
        inside,
        unrated.rating,
    )


def summarise_judgement(judged: Judged) -> dict[str, Any]:
    """Return the summary figures of these player-games, by name."""
    if not len(judged.elo):
        return {"n": 0}
    elo = np.clip(judged.elo, LEAST_ELO, MOST_ELO)
    pairs = _pair_places(judged)
    below = [
        float((judged.z < NormalDist().inv_cdf(percentile / 100)).mean())
        for percentile in PERCENTILES
    ]
    return {
        "n": len(judged.elo),
        "percentile_below": dict(
            zip(map(str, PERCENTILES), map(round_figure, below), strict=True)
        ),
        "pair_r": compute_correlation(*pairs),
        "pairs": len(pairs[0]),
        "rms": round(float(np.sqrt(((judged.rating - judged.elo) ** 2).mean())), 1),
        "usual_holds": compute_share(is_in_usual_band(judged)),
        "interval_holds": compute_share(judged.inside),
        "own_outside": compute_share(
            (elo < judged.usual_low) | (elo > judged.usual_high)
        ),
        "beyond_3200": compute_share(judged.rating > BEYOND_ELO),
        "beyond_400": compute_share(np.abs(judged.rating - judged.elo) > FAR_ELO),
        "blind_r": compute_correlation(judged.blind, judged.elo),
        "bands": [_summarise_band(judged, *band) for band in BANDS],
    }


def _summarise_band(judged: Judged, low: int, high: int) -> dict[str, Any]:
    inside = (judged.elo >= low) & (judged.elo < high)
    inside_band = Judged(*(column[inside] for column in judged))
    n = len(inside_band.elo)
    percentiles = [100 * NormalDist().cdf(z) for z in inside_band.z]
    return {
        "elo": [low, high],
        "n": n,
        "usual_holds": compute_share(is_in_usual_band(inside_band)),
        "percentile_mean": round(float(np.mean(percentiles)), 1) if n else None,
        "bias": round(float(np.median(inside_band.rating - inside_band.elo)), 1)
        if n
        else None,
        "beyond_3200": compute_share(inside_band.rating > BEYOND_ELO),
    }


def is_in_usual_band(judged: Judged) -> Which:
    """Return whether each rating lies in its usual band."""
    return (judged.usual_low <= judged.rating) & (judged.rating <= judged.usual_high)


def _pair_places(judged: Judged) -> tuple[Floats, Floats]:
    """Return White's and Black's z-scores (``z``) in the games in which both players
    were judged.
    """
    white = judged.side == 0
    black = judged.side == 1
    _, at, black_at = np.intersect1d(
        judged.game[white], judged.game[black], return_indices=True
    )
    return judged.z[white][at], judged.z[black][black_at]


def compute_correlation(x: Floats, y: Floats) -> float | None:
    """Return the correlation of two columns; None for fewer than three values or if a
    column is constant.
    """
    if len(x) < 3 or not x.std() or not y.std():
        return None
    return round_figure(float(np.corrcoef(x, y)[0, 1]))


def compute_share(mask: Which | Floats) -> float | None:
    """Return the share of True, 0 to 1; None without values."""
    return round_figure(float(mask.mean())) if len(mask) else None


def round_figure(value: float) -> float:
    """Round a figure to four decimals."""
    return round(value, 4)
