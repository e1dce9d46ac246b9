"""The battle royale: a ranking of players by simulated pairings of all against all.

Source: Alliot 2017, sections 4.3.2, 4.4.2 and 5. Covariance and Markov chains compare two players
and give no scale, and what they say need not be an order: the paper's Tal plays better than its
Euwe against strong opponents and loses to him. So everybody meets everybody with both colours, and
players are ranked by their mean expected score, with the number of opponents they beat beside it.

Needs a predictor. After a change only that player's pairings are predicted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

import msgspec

from live.ratings.alliot.prediction import Prediction

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
