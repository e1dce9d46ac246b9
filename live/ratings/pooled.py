"""Algorithm 4 over all games of a player in the event.

Source: Ferreira 2012, section 8, which pools the gains of all games into one distribution. The
interval treats each game as one cluster of moves (``live.ratings.interval.ClusteredScores``).
"""

from __future__ import annotations

from live.events import GainKind
from live.ratings.engine_distribution import EngineDistribution, Spike
from live.ratings.expected import difference_of
from live.ratings.interval import ClusteredScores, GameScores
from live.ratings.perceived import PerceivedRating

_SPIKE = Spike()
_NO_SCORES = GameScores(0, 0, 0)


class PooledRating:
    """One player's games together; an update costs O(1), whatever was played before."""

    __slots__ = ("_gain_total_cp", "_games", "_scores", "ceiling", "engine", "gain")

    def __init__(
        self, *, engine: EngineDistribution = _SPIKE, gain: GainKind = "same-search"
    ) -> None:
        blank = PerceivedRating(engine=engine, gain=gain)
        self.engine = engine
        self.gain = gain
        self.ceiling = blank.ceiling
        self._games: dict[str, tuple[GameScores, int]] = {}
        self._scores = ClusteredScores()
        self._gain_total_cp = 0

    def update(self, game_id: str, game: PerceivedRating | None) -> None:
        """Replace what one game says; None, or a game without moves, takes it out.

        Raises ValueError for a game rated by another gain or against another engine.
        """
        if game is not None and not self._fits(game):
            raise ValueError(
                f"game {game_id!r} is rated by {game.gain} gains against {game.engine!r}, "
                f"the player's others by {self.gain} against {self.engine!r}"
            )
        scores, gain_total_cp = self._games.pop(game_id, (_NO_SCORES, 0))
        self._scores.remove(scores)
        self._gain_total_cp -= gain_total_cp
        if game is not None and game.n:
            scores, gain_total_cp = game.scores, game.histogram.total_cp
            self._games[game_id] = (scores, gain_total_cp)
            self._scores.add(scores)
            self._gain_total_cp += gain_total_cp

    @property
    def games(self) -> int:
        """Games with at least one move counted."""
        return self._scores.games

    @property
    def n(self) -> int:
        """Moves over all games."""
        return self._scores.n

    @property
    def mean(self) -> float | None:
        """Mean gain, centipawns; None before the first move."""
        return self._gain_total_cp / self.n if self.n else None

    @property
    def expected_score(self) -> float | None:
        """Expected score against the engine (Eq. 2); None before the first move."""
        return self._scores.total / (self.n * self.engine.scale) if self.n else None

    @property
    def difference(self) -> float | None:
        """Elo against the engine; None before the first move, and where unbounded."""
        score = self.expected_score
        return None if score is None else difference_of(score)

    def score_interval(self) -> tuple[float, float] | None:
        """95 % interval of the expected score, moves of a game taken as dependent."""
        return self._scores.interval(self.engine.scale, self.ceiling)

    def interval(self) -> tuple[float | None, float | None]:
        """95 % interval of ``difference``, Elo; None for an unbounded end (both before the
        first move).
        """
        scores = self.score_interval()
        if scores is None:
            return None, None
        return difference_of(scores[0]), difference_of(scores[1])

    def _fits(self, game: PerceivedRating) -> bool:
        # Identity first: comparing two measured distributions costs O(bins).
        same_engine = game.engine is self.engine or game.engine == self.engine
        return same_engine and game.gain == self.gain
