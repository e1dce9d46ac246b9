"""Predictions of the score between two players, and a ranking of all players by them.

The ranking is the battle royale of Alliot 2017 (section 4.5).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

import msgspec

from live.messages.values import Value
from live.ratings.score_interval import USUAL_DESIGN_EFFECT

Player = TypeVar("Player")


class Prediction(Value):
    """White's expected score against Black, 0 to 1, with an interval and chances if
    known.

    ``win``, ``draw`` and ``loss`` are None if the predictor does not model draws. The
    interval is None if the variance is unknown.
    """

    expected_score: float | None = None
    low: float | None = None
    """Lower end of the 95 % interval of ``expected_score``. More moves of the same
    players make the interval narrower.
    """
    high: float | None = None
    win: float | None = None
    """Probability that White wins; ``win``, ``draw`` and ``loss`` add up to 1."""
    draw: float | None = None
    loss: float | None = None
    missing: str = ""
    """Reason why there is no expected score, as text for people; empty if
    there is one.
    """
    caution: str = ""
    """Warning about the data from which the figures are computed, as text
    for people.
    """


def explain_no_data(white: object, black: object, data_name: str) -> Prediction | None:
    """Return a prediction with the reason why two players cannot be compared.

    Return None if both players have data.
    """
    missing_sides = [
        name for name, data in (("White", white), ("Black", black)) if not data
    ]
    return (
        Prediction(missing=f"no {data_name} of {' and '.join(missing_sides)} yet")
        if missing_sides
        else None
    )


def compute_bounded_interval(
    score: float, variance: float, freedom: float = math.inf
) -> tuple[float, float]:
    """Return the 95 % interval of an expected score in (0, 1).

    The interval is symmetric on the scale of Elo differences (the delta method on the
    normal curve of ``live.ratings.expected_score``), so it stays within 0 and 1.
    Differences are unbounded at scores of exactly 0 and 1, where the interval is [0,
    1].

    Args:
        score: the expected score.
        variance: the variance of its estimate for independent moves; it is multiplied
            by :data:`USUAL_DESIGN_EFFECT`, because games vary more.
        freedom: degrees of freedom of the variance, for Student's t.
    """
    if not 0 < score < 1:
        return 0.0, 1.0
    from scipy.special import ndtr, ndtri, stdtrit  # slow import, only when needed

    middle = float(ndtri(score))
    density = math.exp(-middle * middle / 2) / math.sqrt(2 * math.pi)
    sd = math.sqrt(variance * USUAL_DESIGN_EFFECT)
    reach = float(stdtrit(freedom, 0.975)) * sd / density
    return float(ndtr(middle - reach)), float(ndtr(middle + reach))


class BattlePlace(NamedTuple):
    """One player's place in the battle royale."""

    player: str
    rank: int | None
    """Place from 1; players with equal scores share a place. None without a score."""
    expected_score: float | None
    """Mean expected score against all opponents, with half of the games as White."""
    low: float | None
    """Mean of the lower ends of the intervals over all pairings; None if one has no
    interval. More pairings do not make the interval narrower, because the player's own
    uncertainty is the same in each pairing.
    """
    high: float | None
    victories: int
    """Number of opponents against whom the expected score over both colours is above
    1/2.
    """
    opponents: int
    """Number of opponents with a prediction for at least one colour."""
    missing: str = ""
    """Reason why there is no score, as text for people."""


class BattleRoyale:
    """Ranking by simulated games: each pair of players meets once with either colour.

    Source: Alliot 2017, sections 4.3.2, 4.4.2 and 5. Covariance and Markov chains
    compare two players without a common scale. Such comparisons can be circular: the
    paper's Tal plays better than its Euwe against strong opponents, but loses to him.
    So players are ranked by their mean expected score, and the number of opponents they
    beat is reported separately. ``predict`` returns White's chances, given the names of
    White and Black.
    """

    def __init__(
        self, predict: Callable[[str, str], Prediction], players: Iterable[str]
    ) -> None:
        self._players = tuple(dict.fromkeys(players))
        self.pairings = {
            pair: predict(*pair) for pair in permutations(self._players, 2)
        }

    def rank_players(self) -> tuple[BattlePlace, ...]:
        """Return the players from best to worst; players without a score come last.

        Players with equal scores stay in their original order.
        """
        ranked = sorted(
            map(self._score_player, self._players),
            key=lambda place: (
                place.expected_score is None,
                -(place.expected_score or 0.0),
            ),
        )
        scores = [place.expected_score for place in ranked]
        return tuple(
            place._replace(rank=1 + scores.index(place.expected_score))
            if place.expected_score is not None
            else place
            for place in ranked
        )

    def _score_player(self, player: str) -> BattlePlace:
        rows: list[tuple[float | None, ...]] = []
        reasons: dict[str, None] = {}
        for opponent in self._players:
            if opponent == player:
                continue
            colors = (
                self.pairings[player, opponent],
                swap_colors(self.pairings[opponent, player]),
            )
            predicted = [
                (prediction.expected_score, prediction.low, prediction.high)
                for prediction in colors
                if prediction.expected_score is not None
            ]
            reasons.update(
                dict.fromkeys(
                    prediction.missing for prediction in colors if prediction.missing
                )
            )
            if predicted:
                rows.append(tuple(map(average_known, zip(*predicted, strict=True))))
        if not rows:
            missing = "; ".join(reasons) or "nobody else has entered"
            return BattlePlace(player, None, None, None, None, 0, 0, missing)
        score, low, high = map(average_known, zip(*rows, strict=True))
        victories = sum((row[0] or 0.0) > 0.5 for row in rows)
        return BattlePlace(player, None, score, low, high, victories, len(rows))


def predict_both_colors(
    predict: Callable[[Player, Player], Prediction], a: Player, b: Player
) -> Prediction:
    """Return the mean of the forecasts for A as White and A as Black.

    So White's advantage cancels. ``predict`` returns White's chances.
    """
    white = predict(a, b)
    black = swap_colors(predict(b, a))
    if white.expected_score is None or black.expected_score is None:
        return white if white.expected_score is None else black
    names = ("expected_score", "low", "high", "win", "draw", "loss")
    means: dict[str, Any] = {
        name: average_known((getattr(white, name), getattr(black, name)))
        for name in names
    }
    return Prediction(**means, caution=white.caution or black.caution)


def swap_colors(prediction: Prediction) -> Prediction:
    """Return the prediction from Black's side."""
    score, low, high = (
        None if value is None else 1 - value
        for value in (prediction.expected_score, prediction.high, prediction.low)
    )
    win = prediction.loss
    loss = prediction.win
    return msgspec.structs.replace(
        prediction, expected_score=score, low=low, high=high, win=win, loss=loss
    )


def average_known(values: Sequence[float | None]) -> float | None:
    """Return the mean, or None if any value is None."""
    return None if None in values else fmean(values)  # type: ignore[arg-type]  # none is None
