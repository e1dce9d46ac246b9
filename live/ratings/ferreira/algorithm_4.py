"""Algorithm 4: how strong a player is seen to be after each move.

Source: Ferreira 2012, section 7. The player's gains are compared with the engine's own; the
difference, added to the engine's rating, is the perceived rating. A move costs O(1), whether it
is added or taken back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import Literal

from live.events import GainKind
from live.ratings.expected_score import difference_of
from live.ratings.ferreira.engine_distribution import EngineDistribution, SpikeAtZero
from live.ratings.gain_histogram import GainHistogram
from live.ratings.score_interval import GameScores, score_interval

#: How far games of one player lie apart beyond chance, standard deviation in Elo of what this
#: shows: found so that the interval holds the value over three or more other games of the player in
#: .94 of 164 player-games over the board (31 players; .86 without), and in .93 of 1,645 of blitz.
BETWEEN_GAMES_SD: dict[GainKind, float] = {"same-search": 22.0, "successive": 30.0}

_SPIKE = SpikeAtZero()


class Algorithm4:
    """One player's moves against the engine (Ferreira 2012, Algorithm 4).

    ``gain`` says which definition the gains follow: same-search gains are never above 0, so with
    the engine at 0 the expected score lies in [0, 0.5], and the interval makes use of that.

    >>> player = Algorithm4([0, 0, -20, 0, -5])
    >>> player.expected_score
    0.3
    >>> round(player.difference, 1)
    -148.3
    >>> player.remove(-5)
    >>> player.n, player.expected_score
    (4, 0.375)
    """

    __slots__ = ("_squares", "_total", "ceiling", "engine", "gain", "histogram")

    def __init__(
        self,
        gains_cp: Iterable[int] = (),
        *,
        engine: EngineDistribution = _SPIKE,
        gain: GainKind = "same-search",
    ) -> None:
        self.engine = engine
        self.gain = gain
        self.histogram = GainHistogram()
        # Sums of the parts each move scores and of their squares: integers, so that removing
        # undoes adding exactly.
        self._total = 0
        self._squares = 0
        #: The most that a move of this kind can score, in parts.
        self.ceiling = ceiling_of(engine, gain)
        for gain_cp in gains_cp:
            self.add(gain_cp)

    def add(self, gain_cp: int) -> None:
        """One more move. Raises ValueError for what is no gain of this kind."""
        if gain_cp > 0 and self.gain == "same-search":
            raise ValueError(
                f"same-search gain {gain_cp} cp is above 0: cut it, see live.ratings.gain"
            )
        self.histogram.add(gain_cp)
        parts = self.engine.parts(gain_cp)
        self._total += parts
        self._squares += parts * parts

    def remove(self, gain_cp: int) -> None:
        """Take a move back. Raises ValueError when no such gain is counted."""
        self.histogram.remove(gain_cp)
        parts = self.engine.parts(gain_cp)
        self._total -= parts
        self._squares -= parts * parts

    @property
    def n(self) -> int:
        """Moves counted."""
        return self.histogram.n

    @property
    def expected_score(self) -> float | None:
        """Expected score against the engine (Eq. 2); None before the first move."""
        return self._total / (self.n * self.engine.scale) if self.n else None

    @property
    def difference(self) -> float | None:
        """Elo against the engine; None before the first move, and where unbounded."""
        score = self.expected_score
        return None if score is None else difference_of(score)

    @property
    def bound(self) -> Literal["low", "high"] | None:
        """Which way ``difference`` is unbounded: ``low`` at an expected score of 0 (no lower
        bound), ``high`` at 1.
        """
        if not self.n:
            return None
        if self._total == 0:
            return "low"
        return "high" if self._total == self.n * self.engine.scale else None

    @property
    def scores(self) -> GameScores:
        """What all moves scored against the engine, in parts of ``engine.scale``."""
        return GameScores(self.n, self._total, self._squares)

    def interval(self) -> tuple[float | None, float | None]:
        """:func:`interval_of` its moves; both None before the first."""
        return interval_of(self.scores, self.engine, self.gain) if self.n else (None, None)


def ceiling_of(engine: EngineDistribution, gain: GainKind) -> int:
    """The most that a move of this kind can score, in parts."""
    return engine.parts(0) if gain == "same-search" else engine.scale


def interval_of(
    scores: GameScores, engine: EngineDistribution, gain: GainKind
) -> tuple[float | None, float | None]:
    """95 % interval of what the player's other games show, Elo, from one move or more; None for an
    end that is unbounded. Chance within the game is as in ``live.ratings.score_interval``; how
    games of one player differ is added to it.
    """
    n, total, squares = scores
    scale, ceiling = engine.scale, ceiling_of(engine, gain)
    low, high = score_interval(
        n, total / scale, squares / scale**2, ceiling=ceiling / scale, smooth=scale > 2
    )
    most = difference_of(ceiling / scale)
    ends = difference_of(low), difference_of(high)
    return over_other_games(difference_of(total / (n * scale)), ends, most, gain)


def over_other_games(
    difference: float | None,
    ends: tuple[float | None, float | None],
    most: float | None,
    gain: GainKind,
) -> tuple[float | None, float | None]:
    """The interval of one game, Elo, widened by how games of one player differ.

    ``ends`` hold chance within the game; ``most`` is what the best move every time shows: no game
    can show more.
    """
    low, high = ends
    apart = NormalDist().inv_cdf(0.975) * BETWEEN_GAMES_SD[gain]
    if difference is None:
        # The other end has no middle to be added to in quadrature.
        return _moved(low, -apart), _moved(high, apart)
    reached = None if high is None else difference + math.hypot(high - difference, apart)
    return (
        None if low is None else difference - math.hypot(difference - low, apart),
        reached if reached is None or most is None else min(reached, most),
    )


def _moved(end: float | None, by: float) -> float | None:
    return None if end is None else end + by
