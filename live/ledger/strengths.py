"""Algorithm 2 over the running event, published in whole Elo.

Source: Ferreira 2012, section 5. One more gain moves every player of the event a little; whole Elo
keep those out of the news whom it moves by less than can be seen.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from live.events import GainKind, PlayerMethods
from live.ratings.comparisons import Strength
from live.ratings.tournament import Tournament
from live.ratings.tournament_interval import Margins, PlayerMargins, strength_intervals

#: Rounded to this first: an update and a fresh solution differ by some 1e-12, and a rating that
#: ends in a half (the mean of two) must not be rounded by that.
_SOLVED_DECIMALS = 6

NO_COMPARISON = "no opponent with a bounded comparison yet"
NOBODY_RATED = "nobody of this group of players is rated"


ONE_RATED = "the only rated player of the group: the rating is kept as it is"


class _Shown(NamedTuple):
    """What is published of one player."""

    rating: int | None = None
    relative: int | None = None
    group: int | None = None
    low: int | None = None
    high: int | None = None


class EventStrengths:
    """The comparisons of the event and what follows for each player."""

    def __init__(self, gain: GainKind) -> None:
        self._gain: GainKind = gain
        self._tournament = Tournament()
        self._margins: dict[str, PlayerMargins] = {}
        self._elo: dict[str, int] = {}
        self._shown: dict[str, _Shown] = {}
        self._stale = False

    def rate(self, player: str, elo: int | None) -> None:
        """The player's own rating; None for unrated."""
        if self._elo.get(player) != elo:
            self._stale = True
            self._tournament.rate(player, elo)
            self._elo.pop(player, None)
            if elo is not None:
                self._elo[player] = elo

    def meet(self, white: str, black: str) -> None:
        """Two players sit down to a game; somebody against themselves is a slip of the source."""
        if white != black:
            self._stale = True
            self._tournament.meet(white, black)

    def part(self, white: str, black: str) -> None:
        """Take one game of the two back."""
        if white != black:
            self._stale = True
            self._tournament.part(white, black)

    def add(self, player: str, gain_cp: int, game: str) -> None:
        """One more move of the player in ``game``."""
        self._stale = True
        self._tournament.add(player, gain_cp)
        held = self._margins.get(player)
        if held is None:
            held = self._margins[player] = PlayerMargins(self._gain)
        held.add(game, gain_cp)

    def remove(self, player: str, gain_cp: int, game: str) -> None:
        """Take such a move back."""
        self._stale = True
        self._tournament.remove(player, gain_cp)
        self._margins[player].remove(game, gain_cp)

    def exact(self) -> dict[str, Strength]:
        """Everyone who can be compared, unrounded, for tables made on demand."""
        return self._tournament.strengths()

    def margins(self) -> dict[str, Margins]:
        """How uncertain each player's own gains are, for those who have any."""
        known = ((player, held.margins) for player, held in self._margins.items())
        return {player: margins for player, margins in known if margins is not None}

    def renew(self) -> list[str]:
        """Solve again if anything has changed; whose published figures did."""
        if not self._stale:
            return []
        self._stale = False
        held = self._shown
        strengths = self._tournament.strengths()
        intervals = strength_intervals(strengths, self._elo, self.margins())
        self._shown = {
            player: _shown(found, intervals.get(player)) for player, found in strengths.items()
        }
        everyone = held.keys() | self._shown.keys()
        return [key for key in everyone if held.get(key) != self._shown.get(key)]

    def on(self, methods: PlayerMethods, player: str) -> PlayerMethods:
        """``methods`` with what Algorithm 2 says of ``player``."""
        shown = self._shown.get(player, _Shown())
        missing = {
            name: why for name, why in methods.missing.items() if not name.startswith("tournament")
        }
        if shown.relative is None:
            missing["tournament_rating"] = NO_COMPARISON
        elif shown.rating is None:
            missing["tournament_rating"] = NOBODY_RATED
        elif shown.low is None:
            missing["tournament_low"] = missing["tournament_high"] = ONE_RATED
        return msgspec.structs.replace(
            methods,
            tournament_rating=shown.rating,
            tournament_difference=shown.relative,
            tournament_group=shown.group,
            tournament_low=shown.low,
            tournament_high=shown.high,
            missing=missing,
        )


def _shown(found: Strength, distances: tuple[float, float] | None) -> _Shown:
    low = high = None
    if distances is not None:
        middle = found.relative if found.rating is None else found.rating
        low, high = _whole(middle - distances[0]), _whole(middle + distances[1])
    rating = None if found.rating is None else _whole(found.rating)
    return _Shown(rating, _whole(found.relative), found.part, low, high)


def _whole(elo: float) -> int:
    return round(round(elo, _SOLVED_DECIMALS))
