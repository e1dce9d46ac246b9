"""Chances of the results of a game, from its position, its stage and the ratings.

The model is a multinomial logit over win, draw and loss, learned from scored games. The
log-odds of each side against a draw are linear in that side's features: the score, the
stage of the game, the difference of ratings, and the mean rating. Both sides use the
same weights, so a position has the same chances from either side.
"""

import math
from functools import lru_cache
from typing import Literal, NamedTuple

from live.messages.values import Value
from live.ratings.learned_files import LearnedFiles

#: Number of weights if a rating is missing, and if both ratings are known, in the order
#: of :func:`compute_features`.
_UNRATED = 8
_RATED = 14


class Chances(NamedTuple):
    """Chances of White; they add up to 1."""

    win: float
    draw: float
    loss: float

    @property
    def score(self) -> float:
        """Return White's expected points, 0 to 1."""
        return self.win + self.draw / 2


class ResultModel(Value, eq=False):
    """Weights of a model, with their provenance."""

    name: str
    time_control: str
    data: str
    date: str
    games: int
    positions: int
    centre_elo: float
    rated: tuple[float, ...]
    """Weights of a side's log-odds if both players are rated, in the order of
    :func:`compute_features`.
    """
    unrated: tuple[float, ...]
    """Weights of a side's log-odds if a rating is missing."""
    format: Literal[1] = 1

    def __post_init__(self) -> None:
        if (len(self.unrated), len(self.rated)) != (_UNRATED, _RATED):
            raise ValueError(
                f"{_UNRATED} weights are needed without ratings, {_RATED} with them"
            )

    # Cached, because a position is evaluated at every change of its game.
    @lru_cache(maxsize=8192)  # noqa: B019 - models live as long as the service
    def predict_chances(
        self,
        score_cp: int,
        ply: int,
        white_elo: float | None = None,
        black_elo: float | None = None,
    ) -> Chances:
        """Return the chances in the position after ``ply`` plies, in a few
        microseconds.

        ``score_cp`` is from White's side. If one rating is missing, the other one is
        ignored.
        """
        has_both_elos = white_elo is not None and black_elo is not None
        weights = self.rated if has_both_elos else self.unrated
        odds = []
        for white in (True, False):
            own, opponent = (white_elo, black_elo) if white else (black_elo, white_elo)
            features = compute_features(
                score_cp if white else -score_cp,
                ply,
                white,
                own,
                opponent,
                self.centre_elo,
            )
            odds.append(
                math.fsum(w * x for w, x in zip(weights, features, strict=True))
            )
        top = max(0.0, *odds)
        win = math.exp(odds[0] - top)
        loss = math.exp(odds[1] - top)
        draw = math.exp(-top)
        total = win + loss + draw
        return Chances(win / total, draw / total, loss / total)


def compute_features(
    score_cp: int,
    ply: int,
    white: bool,
    own: float | None,
    opponent: float | None,
    centre: float,
) -> list[float]:
    """Return the features of one side; ``score_cp`` is from this side.

    The list is shorter if a rating is missing.
    """
    late = min(ply, 160) / 80
    size = math.log1p(abs(score_cp) / 100)
    score = math.copysign(size, score_cp)
    large = max(-1000, min(1000, score_cp)) / 400
    features = [
        1.0,
        1.0 if white else 0.0,
        late,
        score,
        large,
        score * late,
        size,
        size * late,
    ]
    if own is None or opponent is None:
        return features
    # Rating differences above 800 count as 800. If the higher-rated side is two pawns
    # down, differences above 400 count as 400. Players rated at least 500 above their
    # opponents scored .22 in blitz (125 positions) when four pawns down, and .43 over
    # the board (14); the full difference would have predicted .63 and .72.
    behind = (own - opponent) * score_cp < 0
    largest = 800.0 - (4 * min(100, max(0, abs(score_cp) - 100)) if behind else 0.0)
    difference = max(-largest, min(largest, own - opponent)) / 400
    mean = max(-2.5, min(2.5, ((own + opponent) / 2 - centre) / 400))
    closeness = math.exp(-size)
    return [
        *features,
        difference,
        difference * late,
        difference * closeness,
        mean,
        mean * late,
        mean * score,
    ]


load_result_model = LearnedFiles("results", ResultModel, "model of results").load
