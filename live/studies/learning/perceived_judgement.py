"""How well a model does on players it never saw: what its bands hold, after so many
moves.

One row a player-game, as arrays; the bounds that must hold are those of ``numbers`` in
the manual.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from live.messages.values import Color
from live.ratings.accuracy import compute_expected_score
from live.ratings.perceived_model import MoveReader, PerceivedModel
from live.ratings.perceived_rating import (
    GRID_ELO,
    LEAST_ELO,
    MOST_ELO,
    SURE_QUANTILE,
    Evidence,
    Floats,
    estimate_level,
    find_limits,
    locate_rating,
    read_rating,
)
from live.studies.learning.followed_games import (
    COLORS,
    FollowedMove,
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
#: From the own Elo.
FAR_ELO = 400
#: Changes of a rating by a move that count as large, within the first moves and later.
EARLY_MOVES = 10
BIG_EARLY_ELO = 100
BIG_LATER_ELO = 60
JUMP_ELO = 300

#: Points of expected score that a move costs, in classes.
LOSSES = (0, 2, 5, 10, 20, 101)
#: Where a move that costs less is nothing, in the same points.
NOTHING = 5.0


class Judged(NamedTuple):
    """Player-games after some of their moves, one row each."""

    game: Floats
    side: Floats
    """0 White, 1 Black."""
    elo: Floats
    level: Floats
    """Of the game (``F``)."""
    won: Floats
    """1 for the winner of the game, -1 for the loser, else 0."""
    rating: Floats
    z: Floats
    """Where the rating lies among those of players rated alike, in standard
    deviations.
    """
    usual_low: Floats
    usual_high: Floats
    inside: Floats
    """1 where the 95 % interval holds the player's Elo, else 0."""
    blind: Floats
    """The rating when everybody starts at one Elo and no rating is used."""


class JudgedMoves(NamedTuple):
    """Moves that changed a rating, one row each: all but the first of each
    player-game.
    """

    counted: Floats
    """How many moves count with it."""
    change: Floats
    """Of the rating, Elo."""
    lost: Floats
    """Points of expected score that it cost; not a number where a score is unknown."""


class Judgement(NamedTuple):
    """What a model makes of players' games."""

    after: dict[str, Judged]
    """After each of ``AFTER`` moves, and whole games as ``whole``."""
    moves: JudgedMoves


def judge(games: Sequence[PlayedGame], model: PerceivedModel, whom: Whom) -> Judgement:
    """Rate the players that ``whom`` names by ``model``, after each of their moves."""
    reader = MoveReader((model,))
    found: dict[str, list[tuple[float, ...]]] = {
        str(when): [] for when in (*AFTER, WHOLE)
    }
    changes: list[tuple[float, ...]] = []
    for index, (game, sides) in enumerate(
        zip(games, choose_sides(games, whom), strict=True)
    ):
        if not sides:
            continue
        moves = list(follow_game(game, reader, model.shared))
        # Without ratings nothing is known of the game's hardness.
        blind = list(follow_game(game, reader, ((0, 0.0),), level=model.mean_elo))
        level = estimate_level(game.white.elo, game.black.elo, model.mean_elo)
        for color in sides:
            side = COLORS.index(color)
            mine = [each for each in moves if each.color == color]
            unrated = [each.total for each in blind if each.color == color]
            elo = float(game.sides[side].elo or 0)
            about = (index, side, elo, level, _score_result(game, color))
            whens = {str(n): n for n in AFTER if n <= len(mine)} | {WHOLE: len(mine)}
            for when, n in whens.items():
                kappa = reader.dispersion.find_factor(n, over=when == WHOLE)
                total = mine[n - 1].total._replace(kappa=kappa)
                figures = _rate_side(total, elo, unrated[n - 1], reader.prior_sd)
                found[when].append((*about, *figures))
            changes += _list_rating_changes(game, mine, reader.prior_sd)
    return Judgement(
        {
            when: Judged(*_stack_columns(rows, len(Judged._fields)))
            for when, rows in found.items()
        },
        JudgedMoves(*_stack_columns(changes, len(JudgedMoves._fields))),
    )


def _stack_columns(rows: Sequence[tuple[float, ...]], count: int) -> Floats:
    columns: Floats = np.array(rows, dtype=np.float64).reshape(-1, count).T
    return columns


def _score_result(game: PlayedGame, color: Color) -> int:
    winner = {"1-0": "white", "0-1": "black"}.get(game.result)
    if winner is None:
        return 0
    return 1 if winner == color else -1


def _rate_side(
    total: Evidence, elo: float, blind: Evidence, prior_sd: float
) -> tuple[float, ...]:
    """Return the columns of :class:`Judged` from ``rating`` on."""
    seen = read_rating(total, prior_sd)
    unrated = read_rating(blind, prior_sd)
    assert seen is not None and unrated is not None  # a move is counted
    assert (
        seen.usual_low is not None and seen.usual_high is not None
    )  # and the player is rated
    least, most = find_limits(total.peers, total.kappa, SURE_QUANTILE)
    own = min(max(elo, LEAST_ELO), MOST_ELO)
    least_own, slope, most_own = (
        float(np.interp(own, GRID_ELO, each)) for each in (least, total.slope, most)
    )
    inside = least_own <= slope <= most_own
    usual = seen.usual_low, seen.usual_high
    return (
        seen.rating,
        locate_rating(total, seen.rating),
        *usual,
        inside,
        unrated.rating,
    )


def _list_rating_changes(
    game: PlayedGame, moves: Sequence[FollowedMove], prior_sd: float
) -> Iterator[tuple[float, ...]]:
    """Yield the rows of :class:`JudgedMoves` of one side."""
    before: float | None = None
    for counted, move in enumerate(moves, 1):
        found = read_rating(move.total, prior_sd)
        assert found is not None  # a move is counted
        if before is not None:
            yield (
                counted,
                found.rating - before,
                compute_lost_points(game, move.turn.ply),
            )
        before = found.rating


def compute_lost_points(game: PlayedGame, ply: int) -> float:
    """Return what the move at ``ply`` cost its player of the expected score, 0 to 100.

    Not a number where the score of a position is unknown. A gain costs nothing.
    """
    if ply >= len(game.scores_cp):
        return math.nan
    before = game.scores_cp[ply - 1]
    after = game.scores_cp[ply]
    if before is None or after is None:
        return math.nan
    sign = 1 if ply % 2 else -1
    lost = compute_expected_score(sign * before) - compute_expected_score(sign * after)
    return max(0.0, 100 * lost)


def summarise_judgement(of: Judged) -> dict[str, Any]:
    """Return the figures of one row of the table."""
    if not len(of.elo):
        return {"n": 0}
    elo = np.clip(of.elo, LEAST_ELO, MOST_ELO)
    pairs = _pair_places(of)
    below = [
        float((of.z < NormalDist().inv_cdf(each / 100)).mean()) for each in PERCENTILES
    ]
    return {
        "n": len(of.elo),
        "percentile_below": dict(
            zip(map(str, PERCENTILES), map(round_figure, below), strict=True)
        ),
        "pair_r": compute_correlation(*pairs),
        "pairs": len(pairs[0]),
        "rms": round(float(np.sqrt(((of.rating - of.elo) ** 2).mean())), 1),
        "usual_holds": compute_share(is_in_usual_band(of)),
        "interval_holds": compute_share(of.inside),
        "own_outside": compute_share((elo < of.usual_low) | (elo > of.usual_high)),
        "beyond_3200": compute_share(of.rating > BEYOND_ELO),
        "beyond_400": compute_share(np.abs(of.rating - of.elo) > FAR_ELO),
        "blind_r": compute_correlation(of.blind, of.elo),
        "bands": [_summarise_band(of, *band) for band in BANDS],
    }


def summarise_moves(judged: Judgement) -> dict[str, Any]:
    """Return how restless ratings are, and how they answer drama; shares are 0 to 1."""
    moves = judged.moves
    whole = judged.after[WHOLE]
    size = np.abs(moves.change)
    early = moves.counted <= EARLY_MOVES
    big_later = ~early & (size >= BIG_LATER_ELO)
    known = ~np.isnan(moves.lost)
    medians = []
    for least, most in pairwise(LOSSES):
        lost = ~early & known & (moves.lost >= least) & (moves.lost < most)
        medians.append(
            round(float(np.median(moves.change[lost])), 1) if lost.any() else None
        )
    ahead = _measure_winners_lead(whole)
    return {
        "n": len(size),
        "mean_change_early": _compute_mean(size[early]),
        "mean_change_later": _compute_mean(size[~early]),
        "big_early": compute_share(size[early] >= BIG_EARLY_ELO),
        "big_later": compute_share(size[~early] >= BIG_LATER_ELO),
        "big_for_nothing": compute_share(moves.lost[big_later & known] < NOTHING),
        "median_by_loss": medians,
        "beyond_300": compute_share(size > JUMP_ELO),
        "decided": len(ahead),
        "winner_above": compute_share(ahead > 0),
        "winner_100_below": compute_share(ahead <= -100),
        "beyond_400": {
            when: compute_share(np.abs(of.rating - of.elo) > FAR_ELO)
            for when, of in judged.after.items()
            if when in ("10", "20")
        },
    }


def _compute_mean(values: Floats) -> float | None:
    return round(float(values.mean()), 1) if len(values) else None


def _measure_winners_lead(of: Judged) -> Floats:
    """Return by how much the winners of decided games are rated above the losers,
    Elo.
    """
    won = of.won > 0
    lost = of.won < 0
    _, at, there = np.intersect1d(of.game[won], of.game[lost], return_indices=True)
    ahead: Floats = of.rating[won][at] - of.rating[lost][there]
    return ahead


def _summarise_band(of: Judged, low: int, high: int) -> dict[str, Any]:
    inside = (of.elo >= low) & (of.elo < high)
    some = Judged(*(each[inside] for each in of))
    n = len(some.elo)
    percentiles = [100 * NormalDist().cdf(each) for each in some.z]
    return {
        "elo": [low, high],
        "n": n,
        "usual_holds": compute_share(is_in_usual_band(some)),
        "percentile_mean": round(float(np.mean(percentiles)), 1) if n else None,
        "bias": round(float(np.median(some.rating - some.elo)), 1) if n else None,
        "beyond_3200": compute_share(some.rating > BEYOND_ELO),
    }


def is_in_usual_band(of: Judged) -> Which:
    """Return whether each rating lies in its usual band."""
    return (of.usual_low <= of.rating) & (of.rating <= of.usual_high)


def _pair_places(of: Judged) -> tuple[Floats, Floats]:
    """Return both players' places, of the games that have both."""
    white = of.side == 0
    black = of.side == 1
    _, at, there = np.intersect1d(of.game[white], of.game[black], return_indices=True)
    return of.z[white][at], of.z[black][there]


def compute_correlation(one: Floats, other: Floats) -> float | None:
    """Correlate two columns; None for fewer than three values or no spread."""
    if len(one) < 3 or not one.std() or not other.std():
        return None
    return round_figure(float(np.corrcoef(one, other)[0, 1]))


def compute_share(which: Which | Floats) -> float | None:
    """Return the share of True, 0 to 1; None without values."""
    return round_figure(float(which.mean())) if len(which) else None


def round_figure(value: float) -> float:
    """Round a figure for people."""
    return round(value, 4)
