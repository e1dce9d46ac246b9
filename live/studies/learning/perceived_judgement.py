"""Judgement of a model on players it never saw: for example, how many ratings lie in
their bands after a number of moves.

There is one row per player-game, in arrays. The bounds that the figures must satisfy
are on the page ``numbers`` of the manual.
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
#: Distance of a rating from the player's own Elo that counts as far, Elo.
FAR_ELO = 400
#: Number of a player's first moves that count as early, and the changes of a rating by
#: one move that count as large: early, later, and at any time.
EARLY_MOVES = 10
BIG_EARLY_ELO = 100
BIG_LATER_ELO = 60
JUMP_ELO = 300

#: Edges of the classes of loss, in points of expected score that a move costs.
LOSSES = (0, 2, 5, 10, 20, 101)
#: Moves that cost less than this count as costing nothing, in the same points.
NOTHING = 5.0


class Judged(NamedTuple):
    """Player-games after some of their moves, one row each."""

    game: Floats
    side: Floats
    """0 for White, 1 for Black."""
    elo: Floats
    level: Floats
    """Level of the game (``F``), Elo."""
    won: Floats
    """1 for the winner of the game, -1 for the loser, else 0."""
    rating: Floats
    z: Floats
    """Place of the perceived rating among games by players of the same official rating,
    in standard deviations.
    """
    usual_low: Floats
    usual_high: Floats
    inside: Floats
    """1 if the 95 % interval contains the player's Elo, else 0."""
    blind: Floats
    """The rating if everybody starts at one Elo and no rating is used."""


class JudgedMoves(NamedTuple):
    """Moves that changed a rating, one row each: all moves but the first of each
    player-game.
    """

    counted: Floats
    """Number of counted moves, including this one."""
    change: Floats
    """Change of the rating, Elo."""
    lost: Floats
    """Points of expected score that the move cost; NaN where a score is unknown."""


class Judgement(NamedTuple):
    """Ratings of players' games by a model."""

    after: dict[str, Judged]
    """Player-games after each number of moves in ``AFTER``, and whole games as
    ``whole``.
    """
    moves: JudgedMoves


def judge(
    games: Sequence[PlayedGame], model: PerceivedModel, is_chosen: Whom
) -> Judgement:
    """Rate the players for whom ``is_chosen`` returns true by ``model``, after each of
    their moves.
    """
    reader = MoveReader((model,))
    rows_after: dict[str, list[tuple[float, ...]]] = {
        str(stage): [] for stage in (*AFTER, WHOLE)
    }
    changes: list[tuple[float, ...]] = []
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
            own_moves = [move for move in moves if move.color == color]
            unrated = [move.total for move in blind if move.color == color]
            elo = float(game.sides[side].elo or 0)
            facts = (index, side, elo, level, _score_result(game, color))
            stages = {str(n): n for n in AFTER if n <= len(own_moves)} | {
                WHOLE: len(own_moves)
            }
            for stage, n in stages.items():
                kappa = reader.dispersion.find_factor(n, over=stage == WHOLE)
                total = own_moves[n - 1].total._replace(kappa=kappa)
                figures = _rate_side(total, elo, unrated[n - 1], reader.prior_sd)
                rows_after[stage].append((*facts, *figures))
            changes += _list_rating_changes(game, own_moves, reader.prior_sd)
    return Judgement(
        {
            stage: Judged(*_stack_columns(rows, len(Judged._fields)))
            for stage, rows in rows_after.items()
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
        locate_rating(total, reading.rating),
        *usual,
        inside,
        unrated.rating,
    )


def _list_rating_changes(
    game: PlayedGame, moves: Sequence[FollowedMove], prior_sd: float
) -> Iterator[tuple[float, ...]]:
    """Yield one side's rows of :class:`JudgedMoves`."""
    before: float | None = None
    for counted, move in enumerate(moves, 1):
        reading = read_rating(move.total, prior_sd)
        assert reading is not None  # not None, because a move is counted
        if before is not None:
            yield (
                counted,
                reading.rating - before,
                compute_lost_points(game, move.turn.ply),
            )
        before = reading.rating


def compute_lost_points(game: PlayedGame, ply: int) -> float:
    """Return how much expected score the move at ``ply`` cost its player, 0 to 100
    points.

    Returns NaN if the score of a position is unknown, and 0 for a move that gained.
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


def summarise_moves(judged: Judgement) -> dict[str, Any]:
    """Return how much ratings change from move to move, and how they react to costly
    moves; shares are 0 to 1.
    """
    moves = judged.moves
    whole_games = judged.after[WHOLE]
    size = np.abs(moves.change)
    early = moves.counted <= EARLY_MOVES
    big_later = ~early & (size >= BIG_LATER_ELO)
    is_known = ~np.isnan(moves.lost)
    medians = []
    for least_loss, most_loss in pairwise(LOSSES):
        lost = ~early & is_known & (moves.lost >= least_loss) & (moves.lost < most_loss)
        medians.append(
            round(float(np.median(moves.change[lost])), 1) if lost.any() else None
        )
    ahead = _measure_winners_lead(whole_games)
    return {
        "n": len(size),
        "mean_change_early": _compute_mean(size[early]),
        "mean_change_later": _compute_mean(size[~early]),
        "big_early": compute_share(size[early] >= BIG_EARLY_ELO),
        "big_later": compute_share(size[~early] >= BIG_LATER_ELO),
        "big_for_nothing": compute_share(moves.lost[big_later & is_known] < NOTHING),
        "median_by_loss": medians,
        "beyond_300": compute_share(size > JUMP_ELO),
        "decided": len(ahead),
        "winner_above": compute_share(ahead > 0),
        "winner_100_below": compute_share(ahead <= -100),
        "beyond_400": {
            stage: compute_share(np.abs(rows.rating - rows.elo) > FAR_ELO)
            for stage, rows in judged.after.items()
            if stage in ("10", "20")
        },
    }


def _compute_mean(values: Floats) -> float | None:
    return round(float(values.mean()), 1) if len(values) else None


def _measure_winners_lead(judged: Judged) -> Floats:
    """Return how far the winners of decided games are rated above the losers, Elo."""
    won = judged.won > 0
    lost = judged.won < 0
    _, at, lost_at = np.intersect1d(
        judged.game[won], judged.game[lost], return_indices=True
    )
    ahead: Floats = judged.rating[won][at] - judged.rating[lost][lost_at]
    return ahead


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
    """Return White's and Black's ``z`` in the games in which both players were
    judged.
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
