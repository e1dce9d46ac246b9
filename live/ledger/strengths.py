"""Algorithm 2 over the running event, published in whole Elo.

Source: Ferreira 2012, section 5. One more gain moves every player of the event a little; whole Elo
keep those out of the news whom it moves by less than can be seen.
"""

from __future__ import annotations

import msgspec

from live.events import PlayerMethods
from live.ratings.comparisons import Strength
from live.ratings.tournament import Tournament

#: Rounded to this first: an update and a fresh solution differ by some 1e-12, and a rating that
#: ends in a half (the mean of two) must not be rounded by that.
_SOLVED_DECIMALS = 6

NO_COMPARISON = "no opponent with a bounded comparison yet"
NOBODY_RATED = "nobody of this group of players is rated"


class EventStrengths:
    """The comparisons of the event and what follows for each player."""

    def __init__(self) -> None:
        self._tournament = Tournament()
        self._elo: dict[str, int] = {}
        self._shown: dict[str, tuple[int | None, int, int]] = {}
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

    def add(self, player: str, gain_cp: int) -> None:
        self._stale = True
        self._tournament.add(player, gain_cp)

    def remove(self, player: str, gain_cp: int) -> None:
        self._stale = True
        self._tournament.remove(player, gain_cp)

    def exact(self) -> dict[str, Strength]:
        """Everyone who can be compared, unrounded, for tables made on demand."""
        return self._tournament.strengths()

    def renew(self) -> list[str]:
        """Solve again if anything has changed; whose published figures did."""
        if not self._stale:
            return []
        self._stale = False
        held = self._shown
        self._shown = {
            player: (
                None if found.rating is None else _whole(found.rating),
                _whole(found.relative),
                found.part,
            )
            for player, found in self._tournament.strengths().items()
        }
        everyone = held.keys() | self._shown.keys()
        return [key for key in everyone if held.get(key) != self._shown.get(key)]

    def on(self, methods: PlayerMethods, player: str) -> PlayerMethods:
        """``methods`` with what Algorithm 2 says of ``player``."""
        rating, relative, group = self._shown.get(player, (None, None, None))
        missing = {
            name: why for name, why in methods.missing.items() if not name.startswith("tournament")
        }
        if relative is None:
            missing["tournament_rating"] = NO_COMPARISON
        elif rating is None:
            missing["tournament_rating"] = NOBODY_RATED
        return msgspec.structs.replace(
            methods,
            tournament_rating=rating,
            tournament_difference=relative,
            tournament_group=group,
            missing=missing,
        )


def _whole(elo: float) -> int:
    return round(round(elo, _SOLVED_DECIMALS))
