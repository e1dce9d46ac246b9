"""How much perceived ratings change from move to move, and how they react to costly
moves.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from live.ratings.perceived_model import MoveReader, PerceivedModel
from live.ratings.perceived_rating import Floats, read_rating
from live.studies.learning.followed_games import Whom, choose_sides, follow_game
from live.studies.learning.perceived_judgement import (
    FAR_ELO,
    WHOLE,
    Judged,
    compute_share,
)
from live.studies.learning.played_games import PlayedGame

#: Number of a player's first moves that count as early, and the changes of a rating by
#: one move that count as large: early, later, and at any time.
EARLY_MOVES = 10
BIG_EARLY_ELO = 100
BIG_LATER_ELO = 60
JUMP_ELO = 300

#: Steepness of the expected score, as lichess has it (see ``live.ratings.accuracy``);
#: here the score is not capped.
WIN_PER_CP = 0.00368208
#: Edges of the classes of loss, in points of expected score that a move costs.
LOSSES = (0, 2, 5, 10, 20, 101)
#: Moves that cost less than this count as costing nothing, in the same points.
NOTHING = 5.0


class RatingChange(NamedTuple):
    """A move that changed a rating: any move but the first of a player-game."""

    counted: int
    """Number of counted moves, including this one."""
    change_elo: float
    lost: float
    """Points of expected score that the move cost; NaN where a score is unknown."""


def list_rating_changes(
    games: Sequence[PlayedGame], model: PerceivedModel, is_chosen: Whom
) -> Iterator[RatingChange]:
    """Yield the changes of the ratings of the players for whom ``is_chosen`` returns
    true.
    """
    reader = MoveReader((model,))
    for game, sides in zip(games, choose_sides(games, is_chosen), strict=True):
        moves = list(follow_game(game, reader, model.shared)) if sides else []
        for color in sides:
            own_moves = [move for move in moves if move.color == color]
            readings = [read_rating(move.total, reader.prior_sd) for move in own_moves]
            ratings = [reading.rating for reading in readings if reading is not None]
            for at, (before, after) in enumerate(pairwise(ratings), 1):
                lost = compute_lost_points(game, own_moves[at].turn.ply)
                yield RatingChange(at + 1, after - before, lost)


def compute_expected_score(score_cp: float) -> float:
    """Return the expected score, 0 to 1, of the side that is ahead by ``score_cp``."""
    return 1 / (1 + math.exp(-WIN_PER_CP * score_cp))


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


def summarise_changes(
    games: Sequence[PlayedGame],
    changes: Sequence[RatingChange],
    after: dict[str, Judged],
) -> dict[str, Any]:
    """Return how much ratings change from move to move, and how they react to costly
    moves; shares are 0 to 1.
    """
    counted, change, lost = np.array(changes, dtype=np.float64).reshape(-1, 3).T
    size = np.abs(change)
    early = counted <= EARLY_MOVES
    big_later = ~early & (size >= BIG_LATER_ELO)
    is_known = ~np.isnan(lost)
    medians = []
    for least_loss, most_loss in pairwise(LOSSES):
        costly = ~early & is_known & (lost >= least_loss) & (lost < most_loss)
        median = round(float(np.median(change[costly])), 1) if costly.any() else None
        medians.append(median)
    ahead = measure_winners_lead(games, after[WHOLE])
    return {
        "n": len(size),
        "mean_change_early": compute_mean(size[early]),
        "mean_change_later": compute_mean(size[~early]),
        "big_early": compute_share(size[early] >= BIG_EARLY_ELO),
        "big_later": compute_share(size[~early] >= BIG_LATER_ELO),
        "big_for_nothing": compute_share(lost[big_later & is_known] < NOTHING),
        "median_by_loss": medians,
        "beyond_300": compute_share(size > JUMP_ELO),
        "decided": len(ahead),
        "winner_above": compute_share(ahead > 0),
        "winner_100_below": compute_share(ahead <= -100),
        "beyond_400": {
            stage: compute_share(np.abs(rows.rating - rows.elo) > FAR_ELO)
            for stage, rows in after.items()
            if stage in ("10", "20")
        },
    }


def compute_mean(values: Floats) -> float | None:
    """Return the mean, rounded; None without values."""
    return round(float(values.mean()), 1) if len(values) else None


def measure_winners_lead(games: Sequence[PlayedGame], judged: Judged) -> Floats:
    """Return how far the winners of decided games are rated above the losers, Elo."""
    ratings: dict[int, dict[int, float]] = {}
    for game, side, rating in zip(judged.game, judged.side, judged.rating, strict=True):
        ratings.setdefault(int(game), {})[int(side)] = float(rating)
    leads = []
    for game, sides in ratings.items():
        if len(sides) == 2 and games[game].result in ("1-0", "0-1"):
            lead = sides[0] - sides[1]
            leads.append(lead if games[game].result == "1-0" else -lead)
    return np.array(leads)
