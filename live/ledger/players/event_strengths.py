"""Algorithm 2 over an event, made when somebody asks: every player's rating from all comparisons.

Source: Ferreira 2012, section 5.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from live.events import GainKind, PlayerMethods
from live.ratings.ferreira.algorithm_2 import Algorithm2
from live.ratings.ferreira.algorithm_2_interval import PlayerMargins, RatingMargins, distances
from live.ratings.ferreira.rating_differences import Solved, Strength

Floats = npt.NDArray[np.float64]

_NO_MARGINS = RatingMargins(math.nan, math.nan)

#: Rounded to this first: a rating that ends in a half (the mean of two) must not be rounded by what
#: solving leaves, some 1e-12.
_SOLVED_DECIMALS = 6

NO_COMPARISON = "no opponent with a bounded comparison yet"
NOBODY_RATED = "nobody of this group of players is rated"


ONE_RATED = "the only rated player of the group: the rating is kept as it is"


#: Ends of intervals are published in steps, rounded outwards.
INTERVAL_STEP_ELO = 5


class PublishedStrength(NamedTuple):
    """What is published of one player: whole Elo."""

    group: int
    rating: int | None
    relative: int | None
    low: int | None
    high: int | None


class EventStrengths:
    """The comparisons of the event and what follows for each player."""

    def __init__(self, gain: GainKind) -> None:
        self._gain: GainKind = gain
        self._tournament = Algorithm2()
        self._margins: dict[str, PlayerMargins] = {}
        self._rated: set[str] = set()

    def rate(self, player: str, elo: int | None) -> None:
        """The player's own rating; None for unrated."""
        self._tournament.rate(player, elo)
        self._rated.discard(player)
        if elo is not None:
            self._rated.add(player)

    def meet(self, white: str, black: str) -> None:
        """Two players sit down to a game; somebody against themselves is a slip of the source."""
        if white != black:
            self._tournament.meet(white, black)

    def add(self, player: str, gain_cp: int, game: str) -> None:
        """One more move of the player in ``game``."""
        self._tournament.add(player, gain_cp)
        held = self._margins.get(player)
        if held is None:
            held = self._margins[player] = PlayerMargins(self._gain)
        held.add(game, gain_cp)

    def forget_games(self) -> None:
        """All games so far are over: their moves stay, and none can be added."""
        for held in self._margins.values():
            held.forget_games()

    def exact(self) -> dict[str, Strength]:
        """Everyone who can be compared, unrounded."""
        return self._tournament.strengths()

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Their 95 % intervals, of the difference where nobody of the part is rated; without the
        only rated player of a part.
        """
        result = {}
        for part in self._tournament.parts():
            ends = (end.tolist() for end in self._ends(part))
            for member, low, high in zip(part.members, *ends, strict=True):
                if not math.isnan(low):
                    result[member] = low, high
        return result

    def margins(self) -> dict[str, RatingMargins]:
        """How uncertain each player's own gains are, for those who have any."""
        known = ((player, held.margins) for player, held in self._margins.items())
        return {player: margins for player, margins in known if margins is not None}

    def published(self) -> dict[str, PublishedStrength]:
        """Everyone who can be compared, in whole Elo."""
        result = {}
        for group, part in enumerate(self._tournament.parts()):
            columns = self._rounded(part)
            for at, member in enumerate(part.members):
                rating, relative, low, high = map(_whole, columns[:, at].tolist())
                result[member] = PublishedStrength(group, rating, relative, low, high)
        return result

    def _ends(self, part: Solved) -> tuple[Floats, Floats]:
        """Both ends of everybody's interval, NaN where there is none."""
        # Compared, so with gains, so with margins.
        margins = [self._margins[member].margins or _NO_MARGINS for member in part.members]
        if part.shift is None:
            kept = np.ones(len(margins), dtype=np.bool_)
        else:
            kept = np.array([member in self._rated for member in part.members])
        below, above = distances(margins, kept)
        middle = part.relative + (part.shift or 0.0)
        return middle - below, middle + above

    def _rounded(self, part: Solved) -> Floats:
        """Rating, relative, low and high, rounded; shape (4, members), NaN for none."""
        relative = np.round(np.round(part.relative, _SOLVED_DECIMALS))
        rating = np.full(len(relative), np.nan)
        if part.shift is not None:
            rating = np.round(np.round(part.relative + part.shift, _SOLVED_DECIMALS))
        low, high = (
            np.round(end, _SOLVED_DECIMALS) / INTERVAL_STEP_ELO for end in self._ends(part)
        )
        return np.stack(
            [rating, relative, np.floor(low) * INTERVAL_STEP_ELO, np.ceil(high) * INTERVAL_STEP_ELO]
        )


def with_strength(methods: PlayerMethods, found: PublishedStrength | None) -> PlayerMethods:
    """``methods`` with what Algorithm 2 says of the player."""
    missing = {
        name: why for name, why in methods.missing.items() if not name.startswith("tournament")
    }
    if found is None or found.relative is None:
        missing["tournament_rating"] = NO_COMPARISON
    elif found.rating is None:
        missing["tournament_rating"] = NOBODY_RATED
    elif found.low is None:
        missing["tournament_low"] = missing["tournament_high"] = ONE_RATED
    return msgspec.structs.replace(
        methods,
        tournament_rating=found.rating if found else None,
        tournament_difference=found.relative if found else None,
        tournament_group=found.group if found else None,
        tournament_low=found.low if found else None,
        tournament_high=found.high if found else None,
        missing=missing,
    )


def _whole(elo: float) -> int | None:
    return None if math.isnan(elo) else int(elo)
