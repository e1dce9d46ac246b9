"""After every prefix of 200 random games, with random takebacks, what follows the game equals what
is worked out from the moves that stand, to 1e-9.
"""

from __future__ import annotations

import math
import random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Color, Score
from live.ratings.accuracy import GameAccuracy
from live.ratings.algorithm_2 import Algorithm2, PlayerMargins
from live.ratings.conformance import PONDERATED, AccumulatedConformance
from live.ratings.covariance import STEP, Covariance
from live.ratings.ferreira import Algorithm1, Algorithm4
from live.ratings.gain import GainHistogram, expected_score_exact
from live.ratings.markov import Transitions

COLORS: tuple[Color, Color] = ("white", "black")


class Ply(NamedTuple):
    """A move as every method sees it; figures from the mover's side but ``after``."""

    color: Color
    gain_cp: int
    best_cp: int
    after: Score


def random_ply(chance: random.Random, number: int) -> Ply:
    color: Color = "white" if number % 2 else "black"
    loss = chance.choice((0, 0, 0, 3, 12, 40, 150, 700))
    return Ply(color, -loss, chance.randrange(-400, 400), Score(chance.randrange(-1200, 1200)))


class Followed:
    """Every method as the game goes on."""

    def __init__(self) -> None:
        self.plies: list[Ply] = []
        self.perceived = {color: Algorithm4() for color in COLORS}
        self.conformance = {color: AccumulatedConformance(PONDERATED) for color in COLORS}
        self.margins = {color: PlayerMargins("same-search") for color in COLORS}
        self.duel, self.covariance = Algorithm1(), Covariance(STEP)
        self.transitions, self.accuracy = Transitions(), GameAccuracy(Score(15))
        self.tournament = Algorithm2()
        self.tournament.meet("white", "black")
        self.tournament.rate("white", 2000)

    def play(self, ply: Ply) -> None:
        self.plies.append(ply)
        self._count(ply, "add")
        self.accuracy.play(ply.after)

    def take_back(self) -> None:
        ply = self.plies[-1]
        self._count(ply, "remove")
        self.plies.pop()
        self.accuracy.take_back()

    def _count(self, ply: Ply, verb: str) -> None:
        color, gain, best, number = ply.color, ply.gain_cp, ply.best_cp, len(self.plies)
        getattr(self.perceived[color], verb)(gain)
        getattr(self.conformance[color], verb)(best, gain, ply=number + 18)
        getattr(self.margins[color], verb)("g", gain)
        getattr(self.duel, verb)(color, gain)
        getattr(self.covariance, verb)(color, best, gain)
        getattr(self.transitions, verb)(color, best, gain)
        getattr(self.tournament, verb)(color, gain)

    def figures(self) -> list[float | None]:
        """One figure of each method, or two."""
        found: list[float | None] = [self.duel.expected_score]
        found.append(self.covariance.expected_score)
        for color in COLORS:
            perceived = self.perceived[color]
            found += [perceived.expected_score, perceived.difference, *perceived.interval()]
            found.append(self.conformance[color].share)
            found += self.margins[color].margins or (None, None)
            found.append(self.accuracy.accuracy(color).so_far)
            found.append(self.accuracy.centipawn_loss(color).so_far_cp)
            strength = self.tournament.strengths().get(color)
            found.append(strength.rating if strength else None)
            found += self.transitions.chain(color).matrix.ravel().tolist()
        return found


def afresh(plies: list[Ply]) -> Followed:
    held = Followed()
    for ply in plies:
        held.play(ply)
    return held


def brute_force(plies: list[Ply]) -> float | None:
    """White's expected score by every pair of moves (Ferreira 2012, Eq. 2)."""
    white = [ply.gain_cp for ply in plies if ply.color == "white"]
    black = [ply.gain_cp for ply in plies if ply.color == "black"]
    if not white or not black:
        return None
    won = sum((x > y) + 0.5 * (x == y) for x in white for y in black)
    return won / (len(white) * len(black))


def same(one: float | None, other: float | None) -> bool:
    """To a billionth, of an Elo point too; what is not told is not told by both."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_every_prefix_with_takebacks_equals_the_batch(seed: int) -> None:
    chance = random.Random(seed)
    held = Followed()
    for _ in range(chance.randrange(4, 16)):
        if held.plies and chance.random() < 0.3:
            for _ in range(chance.randrange(1, min(4, len(held.plies)) + 1)):
                held.take_back()
        else:
            held.play(random_ply(chance, len(held.plies) + 1))
        for found, batch in zip(held.figures(), afresh(held.plies).figures(), strict=True):
            assert same(found, batch)
        by_pairs = brute_force(held.plies)
        assert same(held.duel.expected_score, by_pairs)
        sides: list[GainHistogram] = [
            GainHistogram(ply.gain_cp for ply in held.plies if ply.color == color)
            for color in COLORS
        ]
        if by_pairs is not None:
            assert same(expected_score_exact(*sides), by_pairs)
