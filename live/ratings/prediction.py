"""What the predictors of Alliot 2017 answer, and players ranked by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from statistics import fmean

import msgspec

# --- prediction ---------------------------------------------------------------------------------

# What the predictors of Alliot 2017 answer: White's chances, or why there are none.


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


# --- battle royale ------------------------------------------------------------------------------

# The battle royale: a ranking of players by simulated pairings of all against all.
#
# Source: Alliot 2017, sections 4.3.2, 4.4.2 and 5. Covariance and Markov chains compare two
# players and give no scale, and what they say need not be an order: the paper's Tal plays better
# than its Euwe against strong opponents and loses to him. So everybody meets everybody with both
# colours, and players are ranked by their mean expected score, with the number of opponents they
# beat beside it.
#
# Needs a predictor. After a change only that player's pairings are predicted again.


#: White's chances, for the names of White and Black.
Predictor = Callable[[str, str], Prediction]


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
    """All pairings of a growing set of players."""

    def __init__(self, predict: Predictor, players: Iterable[str] = ()) -> None:
        self._predict = predict
        # In the order they came, which decides how equals are listed.
        self._players: dict[str, None] = dict.fromkeys(players)
        self._pairings: dict[tuple[str, str], Prediction] = {}

    def enter(self, player: str) -> None:
        """One more player; one already there changes nothing."""
        self._players.setdefault(player)

    def leave(self, player: str) -> None:
        """Take a player out. Raises ValueError for one who is not there."""
        self.changed(player)
        del self._players[player]

    def changed(self, player: str) -> None:
        """A player has moved: predict his pairings again when next asked.

        Raises ValueError for one who is not there.
        """
        if player not in self._players:
            raise ValueError(f"{player!r} has not entered")
        for other in self._players:
            self._pairings.pop((player, other), None)
            self._pairings.pop((other, player), None)

    def pairing(self, white: str, black: str) -> Prediction:
        """One game. Raises ValueError for a player against themselves or one not there."""
        if white == black or not {white, black} <= self._players.keys():
            raise ValueError(f"no game of {white!r} against {black!r} here")
        found = self._pairings.get((white, black))
        if found is None:
            found = self._pairings[white, black] = self._predict(white, black)
        return found

    def places(self) -> tuple[BattlePlace, ...]:
        """Best first, those without a score last."""
        found = [self._place(player) for player in self._players]
        ranked = sorted(
            (place for place in found if place.expected_score is not None),
            key=lambda place: -(place.expected_score or 0),
        )
        places: list[BattlePlace] = []
        for index, place in enumerate(ranked, 1):
            before = places[-1] if places else None
            tied = before is not None and before.expected_score == place.expected_score
            rank = before.rank if before is not None and tied else index
            places.append(msgspec.structs.replace(place, rank=rank))
        return (*places, *(place for place in found if place.expected_score is None))

    def _place(self, player: str) -> BattlePlace:
        scores: list[float] = []
        lows: list[float | None] = []
        highs: list[float | None] = []
        reasons: dict[str, None] = {}
        for other in self._players:
            if other == player:
                continue
            colors = (self.pairing(player, other), _seen_by_black(self.pairing(other, player)))
            known = [seen for seen in colors if seen.expected_score is not None]
            reasons.update(dict.fromkeys(seen.missing for seen in colors if seen.missing))
            if known:
                scores.append(fmean(seen.expected_score or 0.0 for seen in known))
                lows.append(_mean(seen.low for seen in known))
                highs.append(_mean(seen.high for seen in known))
        if not scores:
            missing = "; ".join(reasons) or "nobody else has entered"
            return BattlePlace(player, None, None, None, None, 0, 0, missing)
        victories = sum(score > 0.5 for score in scores)
        score = fmean(scores)
        return BattlePlace(player, None, score, _mean(lows), _mean(highs), victories, len(scores))


def _seen_by_black(prediction: Prediction) -> Prediction:
    def rest(value: float | None) -> float | None:
        return None if value is None else 1 - value

    return Prediction(
        expected_score=rest(prediction.expected_score),
        low=rest(prediction.high),
        high=rest(prediction.low),
        missing=prediction.missing,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """None when any is."""
    known = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return fmean(known)
