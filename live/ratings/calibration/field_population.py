"""What is believed of a player's strength before the first move: the field he plays in.

A calibration was learned from some population of players. An elite round robin is another one, and
so is a junior open: believing the first few moves of a grandmaster to be those of an average player
pulls him hundreds of points down. So the prior is a normal distribution around the rated players of
the event, as far as they are known (the usual normal model with two levels, Gelman and others 2013,
*Bayesian Data Analysis*, section 5.4): their mean is drawn a little towards the calibration's
population, their spread towards what is usual within one event.

The prior is the same for everybody: it knows the field, not whose moves these are.
"""

from __future__ import annotations

import math

from live.ratings.calibration.move_evidence import Population

#: Spread of ratings within an event, Elo: 208 measured over 88 events of 2024/25 with four rated
#: players or more, half of them opens.
USUAL_SD_ELO = 200.0
#: How many players' worth of evidence the usual spread counts for.
USUAL_PLAYERS = 4
#: What the calibration's population counts for, in players. Measured over the same events it
#: would be near 1; events that are broadcast differ more from each other than those do.
POPULATION_PLAYERS = 0.25
#: The prior moves in steps, so that a late entry does not shift every curve of a large event by
#: less than can be seen. Steps of 50 cost an elite field, whose players spread over 60 Elo, a
#: fifth of its spread: its intervals held 91 in 100, not 95.
STEP_ELO = 20
SPREAD_STEP_ELO = 10


class FieldPopulation:
    """The rated players of the event; an update costs O(1), and order does not matter."""

    __slots__ = ("_elo", "_squares", "_total")

    def __init__(self) -> None:
        self._elo: dict[str, int] = {}
        self._total = 0
        self._squares = 0

    def update(self, player: str, elo: int | None) -> bool:
        """Replace what is known of a player; None for unrated or gone. Returns whether it was
        another before.
        """
        before = self._elo.get(player)
        if before == elo:
            return False
        self._elo.pop(player, None)
        if before is not None:
            self._total -= before
            self._squares -= before**2
        if elo is not None:
            self._elo[player] = elo
            self._total += elo
            self._squares += elo**2
        return True

    @property
    def players(self) -> int:
        """Rated players."""
        return len(self._elo)

    @property
    def mean_elo(self) -> float | None:
        """Of the rated players; None while nobody is rated."""
        return self._total / len(self._elo) if self._elo else None

    def over(self, population: Population) -> Population:
        """The prior: ``population`` while nobody is rated."""
        n = len(self._elo)
        if not n:
            return population
        weight = n + POPULATION_PLAYERS
        mean = (self._total + POPULATION_PLAYERS * population.mean_elo) / weight
        apart = max(0.0, self._squares - self._total**2 / n)
        of_one = (USUAL_PLAYERS * USUAL_SD_ELO**2 + apart) / (USUAL_PLAYERS + n - 1)
        # That of a player to come: around a mean that is itself not quite known.
        spread = math.sqrt(of_one * (1 + 1 / weight))
        return Population(_stepped(mean, STEP_ELO), _stepped(spread, SPREAD_STEP_ELO))


def _stepped(elo: float, step_elo: int) -> float:
    return float(step_elo * round(elo / step_elo))
