"""What the predictors of Alliot 2017 answer, and players ranked by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

import msgspec


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """White's expected score against Black, in [0, 1], as far as it is known.

    What a predictor does not give is None: ``win``, ``draw`` and ``loss`` where it knows no
    draws, the interval where nothing is known of its spread.
    """

    expected_score: float | None = None
    low: float | None = None
    """95 % interval of ``expected_score``: what more moves of the same players would narrow."""
    high: float | None = None
    win: float | None = None
    """Probability that White wins; with ``draw`` and ``loss`` it makes 1."""
    draw: float | None = None
    loss: float | None = None
    missing: str = ""
    """Why there is no expected score, for people; empty when there is one."""
    caution: str = ""
    """What the figures rest on that they should not, for people."""


def interval_within_bounds(
    score: float, variance: float, freedom: float = math.inf
) -> tuple[float, float]:
    """95 % interval of an expected score in (0, 1) from the variance of its estimate.

    Symmetric on the scale of Elo differences (the delta method on the normal curve of
    ``live.ratings.expected_score``), so that it stays within 0 and 1. ``freedom`` is the degrees of
    freedom of the variance, for Student's t. At 0 and 1 themselves differences are unbounded,
    and the interval is all of [0, 1].
    """
    if not 0 < score < 1:
        return 0.0, 1.0
    from scipy.special import ndtr, ndtri, stdtrit  # where asked for: a slow import

    middle = float(ndtri(score))
    density = math.exp(-middle * middle / 2) / math.sqrt(2 * math.pi)
    reach = float(stdtrit(freedom, 0.975)) * math.sqrt(variance) / density
    return float(ndtr(middle - reach)), float(ndtr(middle + reach))


class BattlePlace(msgspec.Struct, frozen=True):
    """One player's place."""

    player: str
    rank: int | None
    """From 1, equal scores sharing it; None without a score."""
    expected_score: float | None
    """Mean over all opponents, both colours of each weighing alike."""
    low: float | None
    """Mean of the lower ends of the pairings, where all have one: the player's own uncertainty is
    the same in every pairing, so nothing averages out."""
    high: float | None
    victories: int
    """Opponents against whom the expected score over both colours is above a half."""
    opponents: int
    """Opponents of whom a prediction was possible with one colour at least."""
    missing: str = ""
    """Why there is no score, for people."""


class BattleRoyale:
    """All pairings of players with both colours, each once: a ranking by simulated games.

    Source: Alliot 2017, sections 4.3.2, 4.4.2 and 5. Covariance and Markov chains compare two
    players and give no scale, and what they say need not be an order: the paper's Tal plays better
    than its Euwe against strong opponents and loses to him. So players are ranked by their mean
    expected score, with the number of opponents they beat beside it. ``predict`` gives White's
    chances, for the names of White and Black.
    """

    def __init__(self, predict: Callable[[str, str], Prediction], players: Iterable[str]) -> None:
        self._players = tuple(dict.fromkeys(players))
        self.pairings = {
            (white, black): predict(white, black)
            for white in self._players
            for black in self._players
            if white != black
        }

    def places(self) -> tuple[BattlePlace, ...]:
        """Best first, those without a score last; equals in the order they came."""
        found = [self._place(player) for player in self._players]
        found.sort(
            key=lambda place: -math.inf if place.expected_score is None else place.expected_score,
            reverse=True,
        )
        scores = [place.expected_score for place in found]
        return tuple(
            place
            if place.expected_score is None
            else msgspec.structs.replace(place, rank=1 + scores.index(place.expected_score))
            for place in found
        )

    def _place(self, player: str) -> BattlePlace:
        scores: list[float] = []
        ends: list[tuple[float | None, float | None]] = []
        reasons: dict[str, None] = {}
        for other in self._players:
            if other == player:
                continue
            colors = (self.pairings[player, other], _turned(self.pairings[other, player]))
            known = [seen for seen in colors if seen.expected_score is not None]
            reasons.update(dict.fromkeys(seen.missing for seen in colors if seen.missing))
            if known:
                scores.append(fmean(seen.expected_score or 0.0 for seen in known))
                ends.append((_mean([x.low for x in known]), _mean([x.high for x in known])))
        if not scores:
            missing = "; ".join(reasons) or "nobody else has entered"
            return BattlePlace(player, None, None, None, None, 0, 0, missing)
        victories = sum(score > 0.5 for score in scores)
        low, high = (_mean(column) for column in zip(*ends, strict=True))
        return BattlePlace(player, None, fmean(scores), low, high, victories, len(scores))


def _turned(prediction: Prediction) -> Prediction:
    """As Black sees it."""
    score, low, high = (
        None if each is None else 1 - each
        for each in (prediction.expected_score, prediction.high, prediction.low)
    )
    return Prediction(expected_score=score, low=low, high=high, missing=prediction.missing)


def _mean(values: Sequence[float | None]) -> float | None:
    """None when any is."""
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None
