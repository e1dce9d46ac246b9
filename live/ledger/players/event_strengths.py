"""Algorithm 2 over the running event, published in whole Elo.

Source: Ferreira 2012, section 5. One more gain moves every player of the event a little; whole Elo
keep those out of the news whom it moves by less than can be seen.
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

#: Rounded to this first: an update and a fresh solution differ by some 1e-12, and a rating that
#: ends in a half (the mean of two) must not be rounded by that.
_SOLVED_DECIMALS = 6

NO_COMPARISON = "no opponent with a bounded comparison yet"
NOBODY_RATED = "nobody of this group of players is rated"


ONE_RATED = "the only rated player of the group: the rating is kept as it is"


#: Ends of intervals are published in steps, rounded outwards: one more move shifts everybody's a
#: little.
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
        # What these came to; a player's leave when a gain of his comes or goes.
        self._squares: dict[str, RatingMargins] = {}
        self._elo: dict[str, int] = {}
        # As published: by part, and where each player stands in it.
        self._members: list[list[str]] = []
        self._parts: list[Floats] = []
        self._place: dict[str, tuple[int, int]] = {}
        # Players of whom something has changed since.
        self._touched: set[str] = set()
        self._published_now: dict[str, PublishedStrength | None] = {}

    def rate(self, player: str, elo: int | None) -> None:
        """The player's own rating; None for unrated."""
        if self._elo.get(player) != elo:
            self._touched.add(player)
            self._tournament.rate(player, elo)
            self._elo.pop(player, None)
            if elo is not None:
                self._elo[player] = elo

    def meet(self, white: str, black: str) -> None:
        """Two players sit down to a game; somebody against themselves is a slip of the source."""
        if white != black:
            self._touched |= {white, black}
            self._tournament.meet(white, black)

    def part(self, white: str, black: str) -> None:
        """Take one game of the two back."""
        if white != black:
            self._touched |= {white, black}
            self._tournament.part(white, black)

    def add(self, player: str, gain_cp: int, game: str) -> None:
        """One more move of the player in ``game``."""
        self._touched.add(player)
        self._tournament.add(player, gain_cp)
        held = self._margins.get(player)
        if held is None:
            held = self._margins[player] = PlayerMargins(self._gain)
        held.add(game, gain_cp)
        self._squares.pop(player, None)

    def remove(self, player: str, gain_cp: int, game: str) -> None:
        """Take such a move back."""
        self._touched.add(player)
        self._tournament.remove(player, gain_cp)
        self._margins[player].remove(game, gain_cp)
        self._squares.pop(player, None)

    def forget_games(self) -> None:
        """All games so far are over: their moves stay, and none can be added or taken back."""
        for held in self._margins.values():
            held.forget_games()

    def exact(self) -> dict[str, Strength]:
        """Everyone who can be compared, unrounded, for tables made on demand."""
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

    def _ends(self, part: Solved) -> tuple[Floats, Floats]:
        """Both ends of everybody's interval, NaN where there is none."""
        # Compared, so with gains, so with margins. One move changes those of one player.
        held = self._squares
        margins = [held.get(member) or self._margins_of(member) for member in part.members]
        if part.shift is None:
            kept = np.ones(len(margins), dtype=np.bool_)
        else:
            kept = np.array([member in self._elo for member in part.members])
        below, above = distances(margins, kept)
        middle = part.relative + (part.shift or 0.0)
        return middle - below, middle + above

    def _margins_of(self, player: str) -> RatingMargins:
        found = self._squares[player] = self._margins[player].margins or _NO_MARGINS
        return found

    def renew(self) -> list[str]:
        """Solve again if anything has changed; whose published figures did."""
        if not self._touched:
            return []
        touched, self._touched = self._touched, set()
        self._published_now.clear()
        held, held_parts = self._place, self._parts
        parts = self._tournament.parts()
        # What is said of a part follows from its members alone: a round is many parts of two.
        known = dict(zip(map(tuple, self._members), self._parts, strict=True))
        for members in [each for each in known if not touched.isdisjoint(each)]:
            del known[members]
        self._parts = []
        for part in parts:
            published = known.get(tuple(part.members))
            self._parts.append(self._published(part) if published is None else published)
        if [part.members for part in parts] == self._members:
            return [
                self._members[number][at]
                for number, (was, now) in enumerate(zip(held_parts, self._parts, strict=True))
                if was is not now
                for at in np.flatnonzero(((was != now) & ~(np.isnan(was) & np.isnan(now))).any(0))
            ]
        self._members = [list(part.members) for part in parts]
        self._place = {
            member: (number, at)
            for number, members in enumerate(self._members)
            for at, member in enumerate(members)
        }
        # Who is comparable with whom has changed: everybody is sent.
        return [*(held.keys() | self._place.keys())]

    def _published(self, part: Solved) -> Floats:
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

    def published(self, player: str) -> PublishedStrength | None:
        """What is published of ``player``; None without a comparison."""
        if player in self._published_now:
            return self._published_now[player]
        found = None
        if (place := self._place.get(player)) is not None:
            group, at = place
            rating, relative, low, high = map(_whole, self._parts[group][:, at].tolist())
            found = PublishedStrength(group, rating, relative, low, high)
        self._published_now[player] = found
        return found


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
