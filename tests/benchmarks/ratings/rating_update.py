"""What one more gain costs: ``python tests/benchmarks/ratings/rating_update.py``.

First table: the histogram of gains alone (a gain added, and another removed) and Algorithm 4's
update (a gain added, expected score, difference and interval read) after 10² to 10⁶ moves, with the
full recomputation by cross-correlation beside it. Second table:
everything of Ferreira 2012 for one gain in an event of 100 players after nine rounds.

Processor time of the fastest of several runs, since the machine may be doing other things. What
counts are the ratios, which hold on any machine.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from live.ratings.ferreira.algorithm_1 import Algorithm1
from live.ratings.ferreira.algorithm_2 import Algorithm2
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.ferreira.field_engine_rating import FieldEngineRating
from live.ratings.gain_histogram import GainHistogram, expected_score_exact
from live.ratings.score_interval import ClusteredScores

SIZES = (10**2, 10**3, 10**4, 10**5, 10**6)
PLAYERS = 100
ROUNDS = 9
MOVES_A_GAME = 40


def microseconds(work: Callable[[], object], repeats: int, runs: int = 5) -> float:
    """Processor time of one call, the fastest of ``runs`` averages over ``repeats`` calls."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        for _ in range(repeats):
            work()
        best = min(best, (time.process_time() - start) / repeats)
    return best * 1e6


def gain(rng: random.Random) -> int:
    """A same-search gain: half of them 0, the rest as skewed as real ones."""
    return 0 if rng.random() < 0.5 else max(-7800, -int(rng.lognormvariate(3.3, 1.2)) - 1)


class Update:
    """Algorithm 4 with some moves behind it."""

    def __init__(self, moves: int, rng: random.Random) -> None:
        self.rng = rng
        self.rating = Algorithm4(gain(rng) for _ in range(moves))

    def one_more(self) -> None:
        added = gain(self.rng)
        self.rating.add(added)
        _ = self.rating.expected_score, self.rating.difference, self.rating.interval()
        # Taken back, so that the number of moves stays what the table says.
        self.rating.remove(added)

    def counted(self) -> None:
        added = gain(self.rng)
        self.rating.histogram.add(added)
        self.rating.histogram.remove(added)

    def from_scratch(self) -> None:
        histogram = GainHistogram(
            value for value, count in self.rating.histogram for _ in range(count)
        )
        expected_score_exact(histogram, GainHistogram([0]))


class Event:
    """An event of 100 players in its last round."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.players = [f"player {i}" for i in range(PLAYERS)]
        self.tournament = Algorithm2()
        self.field = FieldEngineRating(2750)
        self.pooled = {player: ClusteredScores() for player in self.players}
        self.elo = {player: rng.randrange(1400, 2600) for player in self.players}
        self.game: dict[str, Algorithm4] = {}
        self.match: dict[str, Algorithm1] = {}
        for player in self.players:
            self.tournament.rate(player, self.elo[player])
        order = self.players[:]
        for _ in range(ROUNDS):
            rng.shuffle(order)
            for one, other in zip(order[::2], order[1::2], strict=True):
                self.tournament.meet(one, other)
                match = Algorithm1()
                for player in (one, other):
                    self.game[player] = Algorithm4()
                    self.match[player] = match
                    for _ in range(MOVES_A_GAME):
                        value = gain(rng)
                        self.game[player].add(value)
                        match.add("white" if player == one else "black", value)
                        self.tournament.add(player, value)
                    self.pooled[player].add(self.game[player].scores)
        self.tournament.strengths()

    def curve(self) -> None:
        """Algorithm 4 with its interval."""
        rating = self.game[self.rng.choice(self.players)]
        added = gain(self.rng)
        rating.add(added)
        _ = rating.difference, rating.interval()
        # Taken back, so that the pool below still knows the game.
        rating.remove(added)

    def head_to_head(self) -> None:
        """Algorithm 1 between the two players of the game."""
        match = self.match[self.rng.choice(self.players)]
        match.add("white", gain(self.rng))
        _ = match.difference

    def pool(self) -> None:
        """The player over all games with the interval, and the engine's rating."""
        player = self.rng.choice(self.players)
        game, pooled = self.game[player], self.pooled[player]
        pooled.remove(game.scores)
        game.add(gain(self.rng))
        pooled.add(game.scores)
        score = pooled.total / (pooled.n * game.engine.scale)
        self.field.update(player, self.elo[player], pooled.n, score)
        _ = pooled.interval(game.engine.scale, game.ceiling), self.field.rating

    def algorithm_2(self) -> None:
        """The comparisons with all opponents, and all 100 ratings."""
        self.tournament.add(self.rng.choice(self.players), gain(self.rng))
        self.tournament.strengths()

    def everything(self) -> None:
        """All of these."""
        self.curve()
        self.head_to_head()
        self.pool()
        self.algorithm_2()


def main() -> None:
    """Print both tables."""
    say = sys.stdout.write
    say(
        f"{'moves':>10}{'histogram':>14}{'to 10²':>10}{'update':>12}{'to 10²':>10}"
        f"{'recomputed':>14}{'ratio':>12}\n"
    )
    first = fewest = 0.0
    for size in SIZES:
        update = Update(size, random.Random(size))
        counted = microseconds(update.counted, 20_000)
        cost = microseconds(update.one_more, 2000)
        first, fewest = first or cost, fewest or counted
        whole = microseconds(update.from_scratch, max(1, 10**4 // size), runs=3)
        say(
            f"{size:>10}{counted:>11.2f} µs{counted / fewest:>10.2f}"
            f"{cost:>9.1f} µs{cost / first:>10.2f}{whole:>11.0f} µs"
            f"{whole / cost:>10.0f} x\n"
        )
    say(f"\nOne gain among {PLAYERS} players after {ROUNDS} rounds of {MOVES_A_GAME} moves\n\n")
    event = Event(random.Random(2012))
    for work in (
        event.curve,
        event.head_to_head,
        event.pool,
        event.algorithm_2,
        event.everything,
    ):
        say(f"{microseconds(work, 300):>9.1f} µs  {work.__doc__}\n")


if __name__ == "__main__":
    main()
