"""How well a calibration does on rated games: coverage of its intervals, and its errors in Elo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from live.ratings.calibration.calibrated_rating import CalibratedRating, PooledCalibratedRating
from live.ratings.calibration.move_evidence import Calibration, CalibrationRecord, EvidenceSums
from live.ratings.calibration.posterior import Posterior
from live.ratings.calibration.rated_games import RatedGame, belongs

#: Players with this many games are looked at over all their games.
POOLED_GAMES = 20
AFTER_MOVES = (5, 10, 20, 40)


class EloErrors(msgspec.Struct, frozen=True):
    """Errors in Elo; ``coverage`` is the share of ratings inside the 95 % interval.

    All but ``number`` are None where there is nothing to look at (``r``: below three).
    """

    number: int
    coverage: float | None
    mean_absolute_error: float | None
    root_mean_square_error: float | None
    constant_error: float | None
    """Mean absolute error of the best constant guess: the median of the ratings."""
    r: float | None
    """Correlation of posterior mean and rating."""
    width: float | None
    """Mean width of the interval."""


class PooledErrors(msgspec.Struct, frozen=True):
    """Over all games of each player with ``POOLED_GAMES`` or more."""

    players: int
    r: float | None
    mean_absolute_error: float | None
    coverage: float | None
    constant_error: float | None


class CalibrationCheck(msgspec.Struct, frozen=True):
    """A calibration measured on rated games."""

    calibration: str
    games: int
    """Player-games."""
    players: int
    coverage: float | None
    mean_absolute_error: float | None
    root_mean_square_error: float | None
    constant_error: float | None
    r: float | None
    by_moves: dict[int, EloErrors]
    """Every game that has so many moves, as it stood after them."""
    pooled: PooledErrors


class _Outcome(NamedTuple):
    elo: float
    mean: float
    low: float
    high: float


class CheckedGames:
    """What a calibration said of games, and what was true; several may be put together."""

    def __init__(self, calibration: Calibration, games: Iterable[RatedGame]) -> None:
        self.name = calibration.name
        self.single: list[_Outcome] = []
        self.by_moves: dict[int, list[_Outcome]] = {moves: [] for moves in AFTER_MOVES}
        self.pooled: list[_Outcome] = []
        self.players = 0
        self._add(calibration, games)

    def _add(self, calibration: Calibration, games: Iterable[RatedGame]) -> None:
        weigher = EvidenceSums(calibration)
        by_player: dict[str, list[tuple[int, CalibratedRating]]] = defaultdict(list)
        for game in games:
            if not game.moves:
                continue
            rating = CalibratedRating(weigher)
            for move in game.moves:
                rating.add(move.gain_cp, move.score_before_cp, move.ply, move.previous_gain_cp)
                if rating.n in self.by_moves:
                    self.by_moves[rating.n].append(_outcome(game.elo, rating.posterior))
            self.single.append(_outcome(game.elo, rating.posterior))
            by_player[game.player].append((game.elo, rating))
        self.players = len(by_player)
        for played in by_player.values():
            if len(played) >= POOLED_GAMES:
                pool = PooledCalibratedRating(calibration)
                for number, (_, rating) in enumerate(played):
                    pool.update(str(number), rating)
                elo = float(np.mean([elo for elo, _ in played]))
                self.pooled.append(_outcome(elo, pool.posterior))

    def extend(self, other: CheckedGames) -> None:
        """Add the outcomes of other players."""
        self.single += other.single
        self.pooled += other.pooled
        self.players += other.players
        for moves, outcomes in other.by_moves.items():
            self.by_moves[moves] += outcomes

    def summary(self) -> CalibrationCheck:
        """All figures."""
        single, pooled = _errors(self.single), _errors(self.pooled)
        return CalibrationCheck(
            calibration=self.name,
            games=single.number,
            players=self.players,
            coverage=single.coverage,
            mean_absolute_error=single.mean_absolute_error,
            root_mean_square_error=single.root_mean_square_error,
            constant_error=single.constant_error,
            r=single.r,
            by_moves={moves: _errors(outcomes) for moves, outcomes in self.by_moves.items()},
            pooled=PooledErrors(
                players=pooled.number,
                r=pooled.r,
                mean_absolute_error=pooled.mean_absolute_error,
                coverage=pooled.coverage,
                constant_error=pooled.constant_error,
            ),
        )


def check(calibration: Calibration, games: Iterable[RatedGame]) -> CalibrationCheck:
    """Measure a calibration on games; on ``unseen`` ones, if the figures are to be believed."""
    return CheckedGames(calibration, games).summary()


def unseen(calibration: Calibration, games: Iterable[RatedGame]) -> list[RatedGame]:
    """Games of players left out when the calibration was learned from this same file.

    All of them, where none were left out.
    """
    if calibration.left_out is None:
        return list(games)
    divisor, remainder = calibration.left_out
    return [game for game in games if belongs(game.player, divisor, remainder)]


def cross_validate(
    games: Sequence[RatedGame], learn_from: Callable[[list[RatedGame]], Calibration], folds: int
) -> CalibrationCheck:
    """Learn on all shares of the players but one and check on that one, for each."""
    outcomes: CheckedGames | None = None
    for fold in range(folds):
        apart = [belongs(game.player, folds, fold) for game in games]
        calibration = learn_from([g for g, out in zip(games, apart, strict=True) if not out])
        found = CheckedGames(calibration, [g for g, out in zip(games, apart, strict=True) if out])
        if outcomes is None:
            outcomes = found
        else:
            outcomes.extend(found)
    if outcomes is None:
        raise ValueError("cross-validation needs folds")
    return outcomes.summary()


def measured(found: CalibrationCheck, how: str) -> CalibrationRecord:
    """The figures a calibration file keeps; ``how`` says on whom, for people.

    Raises ValueError when nothing was found.
    """
    coverage, error = found.coverage, found.mean_absolute_error
    if coverage is None or error is None or found.constant_error is None:
        raise ValueError("a check of no games measures nothing")
    pooled = found.pooled
    return CalibrationRecord(
        how=how,
        coverage=round(coverage, 4),
        mean_absolute_error=round(error, 1),
        constant_error=round(found.constant_error, 1),
        pooled_players=pooled.players,
        pooled_r=_rounded(pooled.r, 3),
        pooled_mean_absolute_error=_rounded(pooled.mean_absolute_error, 1),
        pooled_coverage=_rounded(pooled.coverage, 3),
    )


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _outcome(elo: float, posterior: Posterior) -> _Outcome:
    return _Outcome(elo, posterior.mean, *posterior.interval)


def _errors(outcomes: Sequence[_Outcome]) -> EloErrors:
    if not outcomes:
        return EloErrors(0, None, None, None, None, None, None)
    elo, mean, low, high = np.array(outcomes, dtype=np.float64).T
    error = mean - elo
    varied = len(outcomes) > 2 and elo.std() > 0 and mean.std() > 0
    return EloErrors(
        number=len(outcomes),
        coverage=float(np.mean((low <= elo) & (elo <= high))),
        mean_absolute_error=float(np.abs(error).mean()),
        root_mean_square_error=float(np.sqrt((error**2).mean())),
        constant_error=float(np.abs(elo - np.median(elo)).mean()),
        r=float(np.corrcoef(mean, elo)[0, 1]) if varied else None,
        width=float((high - low).mean()),
    )
