"""The calibrated rating: a posterior over Elo, multiplied by the likelihood of each move.

Where Algorithm 4 (Ferreira 2012, section 7) compares a player with the engine, this compares him
with the rated players a calibration was learned from, so its distances are Elo distances and its
interval says how little a single game shows. See ``live.ratings.calibration.move_evidence`` for
the model. A move costs O(1) to add, to take back and to read.
"""

from __future__ import annotations

from typing import Self

import msgspec

from live.ratings.calibration.move_evidence import (
    PARTS_OF_ONE,
    Calibration,
    EvidenceSums,
    MoveEvidence,
    Population,
    RatedMove,
)
from live.ratings.calibration.posterior import Posterior, posterior_of

#: How far the play of one game is taken to lie from a player's own rating, standard deviation in
#: Elo. A convention: rated games cannot show it, since they know only the rating.
FORM_SD_ELO = 150.0


class OwnRating(msgspec.Struct, frozen=True):
    """A prior around the player's own rating; ``form`` is then measured from it."""

    elo: float
    sd_elo: float = FORM_SD_ELO


Prior = Population | OwnRating


class CalibratedRating:
    """One player's moves in one game. Without a ``prior`` the calibration's population is it."""

    __slots__ = (
        "_curvature",
        "_pooled_curvature",
        "_pooled_slope",
        "_slope",
        "_weigher",
        "n",
        "prior",
    )

    def __init__(self, weigher: EvidenceSums | Calibration, prior: Prior | None = None) -> None:
        self._weigher = weigher if isinstance(weigher, EvidenceSums) else EvidenceSums(weigher)
        self.prior: Prior = prior or self.calibration.population
        self.n = 0
        # Whole numbers, so that removing undoes adding exactly.
        self._slope = self._curvature = self._pooled_slope = self._pooled_curvature = 0

    @classmethod
    def resumed(cls, weigher: EvidenceSums, n: int, evidence: MoveEvidence) -> Self:
        """Go on behind ``n`` moves that came to ``evidence``."""
        rating = cls(weigher)
        rating.n = n
        rating._slope, rating._curvature = evidence.slope, evidence.curvature
        rating._pooled_slope = evidence.pooled_slope
        rating._pooled_curvature = evidence.pooled_curvature
        return rating

    @property
    def calibration(self) -> Calibration:
        return self._weigher.calibration

    def add(
        self,
        gain_cp: int,
        score_before_cp: int,
        ply: int,
        previous_gain_cp: int | None = None,
    ) -> None:
        """One more move; ``score_before_cp`` and gains from the mover's side."""
        self._count(RatedMove(gain_cp, score_before_cp, ply, previous_gain_cp), 1)

    def remove(
        self,
        gain_cp: int,
        score_before_cp: int,
        ply: int,
        previous_gain_cp: int | None = None,
    ) -> None:
        """Take back a move added with the same figures. Raises ValueError when there is none."""
        if not self.n:
            raise ValueError("no move to take back")
        self._count(RatedMove(gain_cp, score_before_cp, ply, previous_gain_cp), -1)

    def _count(self, move: RatedMove, sign: int) -> None:
        found = self._weigher.weigh(move)
        self.n += sign
        self._slope += sign * found.slope
        self._curvature += sign * found.curvature
        self._pooled_slope += sign * found.pooled_slope
        self._pooled_curvature += sign * found.pooled_curvature

    @property
    def evidence(self) -> MoveEvidence:
        """The sums over all moves, undamped."""
        return MoveEvidence(
            self._slope, self._curvature, self._pooled_slope, self._pooled_curvature
        )

    @property
    def posterior(self) -> Posterior:
        """The belief now: the prior while there is no move."""
        return self.posterior_from(self.prior)

    def posterior_from(self, prior: Prior) -> Posterior:
        """What the same moves leave of another belief."""
        weight = 1 / (1 + self.n / self.calibration.half_moves) / PARTS_OF_ONE
        return _posterior(self.calibration, prior, self._slope * weight, self._curvature * weight)

    @property
    def mean(self) -> float:
        """Elo."""
        return self.posterior.mean

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, Elo."""
        return self.posterior.interval

    @property
    def form(self) -> float | None:
        """Elo above the player's own rating; None unless that is the prior, or without a move."""
        return _form(self.prior, self.mean) if self.n else None


class PooledCalibratedRating:
    """One player's games together; reading it costs O(games)."""

    __slots__ = ("_games", "calibration", "prior")

    def __init__(self, calibration: Calibration, prior: Prior | None = None) -> None:
        self.calibration = calibration
        self._games: dict[str, tuple[int, MoveEvidence]] = {}
        self.prior = prior

    def update(self, game_id: str, game: CalibratedRating | None) -> None:
        """Replace what one game says; None, or a game without moves, takes it out.

        Raises ValueError for a game rated by another calibration.
        """
        if (
            game is not None
            and game.calibration is not self.calibration
            and game.calibration != self.calibration
        ):
            raise ValueError(
                f"game {game_id!r} is rated by calibration {game.calibration.name!r}, "
                f"the player's others by {self.calibration.name!r}"
            )
        self._games.pop(game_id, None)
        if game is not None and game.n:
            self._games[game_id] = (game.n, game.evidence)

    @property
    def games(self) -> int:
        """Games with at least one move."""
        return len(self._games)

    @property
    def n(self) -> int:
        """Moves in all games."""
        return sum(n for n, _ in self._games.values())

    @property
    def posterior(self) -> Posterior:
        """The belief now. With one game it is that game's."""
        prior = self.prior
        if prior is None:
            several = self.games > 1
            prior = self.calibration.players_population if several else self.calibration.population
        return self.posterior_from(prior)

    def posterior_from(self, prior: Prior) -> Posterior:
        """What the same games leave of another belief."""
        more = max(0, self.games - 1)
        share = more / (more + self.calibration.pooling_games)
        clusters = 1 + more * self.calibration.games_correlation
        slope = curvature = 0.0
        for n, evidence in self._games.values():
            weight = 1 / (1 + n / self.calibration.half_moves) / clusters / PARTS_OF_ONE
            slope += weight * (evidence.slope + share * evidence.pooled_slope)
            curvature += weight * (evidence.curvature + share * evidence.pooled_curvature)
        return _posterior(self.calibration, prior, slope, curvature)

    @property
    def mean(self) -> float:
        """Elo."""
        return self.posterior.mean

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, Elo."""
        return self.posterior.interval

    @property
    def form(self) -> float | None:
        """Elo above the player's own rating; None unless that is the prior, or without a move."""
        return _form(self.prior, self.mean) if self.games else None


def _form(prior: Prior | None, mean: float) -> float | None:
    return mean - prior.elo if isinstance(prior, OwnRating) else None


def _posterior(calibration: Calibration, prior: Prior, slope: float, curvature: float) -> Posterior:
    if isinstance(prior, OwnRating):
        prior = Population(prior.elo, prior.sd_elo)
    return posterior_of(
        prior,
        slope,
        curvature,
        centre_elo=calibration.centre_elo,
        scale_elo=calibration.scale_elo,
    )
