"""Algorithm 2 as the event goes on: every player's rating from all comparisons of the event.

Source: Ferreira 2012, section 5. The difference of two players who have met is taken, as in Table
1, from all gains of both over the whole event (Algorithm 1), not from their own game alone. One
more gain changes the player's difference with each opponent so far, each counted in O(log bins),
and ``live.ratings.ferreira.rating_differences`` solves for the ratings.
"""

from __future__ import annotations

from live.ratings.expected_score import difference_of
from live.ratings.ferreira.algorithm_1 import RankedGains
from live.ratings.ferreira.rating_differences import Comparisons, Solved, Strength


class Algorithm2:
    """The gains of all players of an event, who met whom, and Algorithm 2 over them.

    A pair enters Eq. 3 as soon as both have gains and their expected score is neither 0 nor 1:
    an unbounded difference gives no distance.

    >>> event = Algorithm2()
    >>> event.rate("Anand", 2800)
    >>> event.meet("Anand", "Ding")
    >>> for player, gain_cp in (("Anand", 0), ("Anand", -10), ("Ding", 0), ("Ding", -35)):
    ...     event.add(player, gain_cp)
    >>> {player: round(strength.rating) for player, strength in event.strengths().items()}
    {'Anand': 2800, 'Ding': 2710}
    """

    def __init__(self) -> None:
        self._gains: dict[str, RankedGains] = {}
        self._meetings: dict[str, dict[str, _Meeting]] = {}
        self._comparisons = Comparisons()

    def rate(self, player: str, elo: int | None) -> None:
        """Set a player's actual rating; None for unrated."""
        self._comparisons.rate(player, elo)

    def meet(self, white: str, black: str) -> None:
        """Two players sit down to a game. Further games of the same two change nothing, but
        each has to be taken back by its own ``part``. Raises ValueError for one player twice.
        """
        if white == black:
            raise ValueError(f"player {white!r} cannot meet themselves")
        meeting = self._meetings.setdefault(white, {}).get(black)
        if meeting is None:
            meeting = _Meeting(white)
            self._meetings[white][black] = meeting
            self._meetings.setdefault(black, {})[white] = meeting
            meeting.half_points = self._count(white, black)
            self._compare(white, black, meeting)
        meeting.games += 1

    def part(self, white: str, black: str) -> None:
        """Take one game of the two back. Raises ValueError when they have none."""
        meeting = self._meetings.get(white, {}).get(black)
        if meeting is None:
            raise ValueError(f"{white!r} and {black!r} have no game to take back")
        meeting.games -= 1
        if not meeting.games:
            del self._meetings[white][black], self._meetings[black][white]
            self._comparisons.compare(white, black, None)

    def add(self, player: str, gain_cp: int) -> None:
        """One more move; O(opponents · log bins). Raises ValueError for what is no gain."""
        self._gains_of(player).add(gain_cp)
        self._changed(player, gain_cp, 1)

    def remove(self, player: str, gain_cp: int) -> None:
        """Take a move back. Raises ValueError when no such gain is counted."""
        self._gains_of(player).remove(gain_cp)
        self._changed(player, gain_cp, -1)

    def strengths(self) -> dict[str, Strength]:
        """Perceived ratings r' of everyone who can be compared (Algorithm 2, step 4)."""
        return self._comparisons.strengths()

    def parts(self) -> list[Solved]:
        """The same by connected parts, as arrays."""
        return self._comparisons.parts()

    def _changed(self, player: str, gain_cp: int, by: int) -> None:
        for opponent, meeting in self._meetings.get(player, {}).items():
            gains = self._gains_of(opponent)
            won = gains.half_points_of(gain_cp)
            if meeting.first != player:
                won = 2 * gains.histogram.n - won
            meeting.half_points += by * won
            self._compare(player, opponent, meeting)

    def _compare(self, player: str, opponent: str, meeting: _Meeting) -> None:
        pairs = self._gains_of(player).histogram.n * self._gains_of(opponent).histogram.n
        difference = difference_of(meeting.half_points / (2 * pairs)) if pairs else None
        if difference is not None and meeting.first != player:
            difference = -difference
        self._comparisons.compare(player, opponent, difference)

    def _count(self, player: str, opponent: str) -> int:
        against = self._gains_of(opponent)
        return sum(
            count * against.half_points_of(gain_cp)
            for gain_cp, count in self._gains_of(player).histogram
        )

    def _gains_of(self, player: str) -> RankedGains:
        return self._gains.setdefault(player, RankedGains())


class _Meeting:
    """What is counted of two players who have met."""

    __slots__ = ("first", "games", "half_points")

    def __init__(self, first: str) -> None:
        self.first = first
        """The player whose score ``half_points`` is."""
        self.games = 0
        self.half_points = 0
