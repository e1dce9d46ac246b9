"""Models of the perceived rating.

A model gives the probability of each loss for players of each rating, in given
circumstances.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from live.messages.figures import GainKind
from live.messages.values import Value
from live.ratings.learned_files import explain_mismatch
from live.ratings.move_circumstances import Circumstances, Turn, measure_circumstances
from live.ratings.perceived_rating import (
    GRID_ELO,
    ComparedMove,
    Dispersion,
    Elos,
    Floats,
    compare_move,
)

Steps = tuple[tuple[int, float], ...]
"""Values that depend on a number of moves or a ply: pairs of that number
and a value.
"""
Rows = tuple[tuple[float, ...], ...]


class PerceivedModel(Value):
    """Model of the losses of players of each Elo, and of the differences between their
    games.

    It includes its provenance.
    """

    name: str
    engine: str
    """Name that the engine gives itself (UCI ``id name``)."""
    limit: str
    gain: GainKind
    time_control: str
    """Pace of the games: ``classical`` or ``blitz``."""
    data: str
    date: str
    games: int
    """Number of games, counted once for each player."""
    players: int
    moves: int
    elo_range: tuple[float, float]
    """Range that contains the middle 95 % of the ratings the model was learned from,
    Elo.
    """
    mean_elo: float
    """Mean Elo of the players. It is the level of a game if no player of the game or
    the event is rated.
    """
    engine_rating: int
    """The engine's rating in Algorithm 4, Elo, until Algorithm 3 has measured the
    rating.
    """
    difference: tuple[float, float]
    """Difference from the engine by Algorithm 4, Elo: the value for players at
    ``centre_elo``, and its increase per unit of z.
    """
    centre_elo: float
    scale_elo: float
    """Divisor in ``z = (Elo - centre_elo) / scale_elo``."""
    loss_edges_cp: tuple[int, ...]
    """Edges of the classes of loss, centipawns. A loss equal to an edge belongs to the
    class below it. Losses below 0 occur only for successive gains.
    """
    circumstances: Circumstances
    changing: Circumstances
    """Circumstances whose weight changes with Elo."""
    level: Rows
    """Log-odds at ``centre_elo``, shape (circumstances, classes - 1)."""
    slope: Rows
    """Change of the log-odds with z, shape (changing, classes - 1)."""
    bend: tuple[float, ...]
    """Change of the log-odds with z², shape (classes - 1,)."""
    shared: Steps
    """Pairs of a ply and a value of ``beta``, which applies to own moves up to this
    ply. It is the share of the opponent's surprises so far that counts as hardness of
    the game. The last value applies to all later plies.
    """
    dispersion: Steps
    """Pairs of a number of counted moves and ``kappa`` after this number, for a game in
    progress.
    """
    finished_dispersion: float
    """``kappa`` of a finished game."""
    event_dispersion: float
    """``kappa`` of several games of one player taken together. It replaces the value of
    each game.
    """
    prior_sd: float
    """Standard deviation of ratings around the level of the game, Elo (``sigma``)."""
    format: Literal[2] = 2

    def __post_init__(self) -> None:
        classes = len(self.loss_edges_cp) + 1
        counts = len(self.circumstances), len(self.changing), 1
        weights = {"level": self.level, "slope": self.slope, "bend": (self.bend,)}
        for (name, rows), count in zip(weights.items(), counts, strict=True):
            if len(rows) != count or any(len(row) != classes - 1 for row in rows):
                raise ValueError(f"{name} has the wrong shape for {classes} classes")
        if not set(self.changing) <= set(self.circumstances):
            raise ValueError("what changes with Elo must be among the circumstances")
        if not (self.scale_elo > 0 and self.shared and self.dispersion):
            raise ValueError(
                "scale_elo must be above 0, shared and dispersion must not be empty"
            )

    def find_loss_class(self, gain_cp: float) -> int:
        """Return the index of the class of a loss; 0 is the class of the
        smallest loss.
        """
        return bisect_left(self.loss_edges_cp, -gain_cp)

    def predict_difference(self, elo: float) -> float:
        """Return the difference from the engine, Elo, that Algorithm 4 finds for
        players of this Elo.
        """
        low, high = self.elo_range
        z = (min(max(elo, low), high) - self.centre_elo) / self.scale_elo
        return self.difference[0] + self.difference[1] * z

    def explain_mismatch(self, engine: str, limit: str, gain: GainKind) -> str | None:
        """Return the reason why the model does not apply to such gains.

        Return None if the model applies.
        """
        requested = {"engine": engine, "limit": limit, "gain": gain}
        return explain_mismatch(f"model {self.name!r}", requested, self)


class ClassOdds(NamedTuple):
    """Log-odds of the classes of loss in one position, each of shape (classes,)."""

    level: Floats
    """Log-odds at ``centre_elo``."""
    slope: Floats
    """Change of the log-odds with z."""


class LossLogit:
    """Probability of each loss in a position for players of each Elo: a multinomial
    logit.

    Losses are divided into classes, beginning with the smallest loss. The log-odds of
    each class against losing nothing are linear in the circumstances of the turn, and
    so is their change with z. A term in z² allows this change to vary.
    """

    def __init__(self, model: PerceivedModel) -> None:
        # The first column is 0, since the first class (losing nothing) is the
        # reference.
        self._level, self._slope = (
            np.pad(np.array(rows, dtype=np.float64), ((0, 0), (1, 0)))
            for rows in (model.level, model.slope)
        )
        self._bend = np.array([0.0, *model.bend])
        changing = [model.circumstances.index(name) for name in model.changing]
        self._changing = np.array(changing)
        self._model = model
        self._z = (GRID_ELO - model.centre_elo) / model.scale_elo
        self._bent_odds = self._bend[:, None] * self._z**2
        self._bent_slopes = 2 * self._bend[:, None] * self._z

    def compute_odds(self, turn: Turn) -> ClassOdds:
        """Return the log-odds of the classes in the circumstances of a turn."""
        at = np.array(measure_circumstances(turn, self._model.circumstances))
        return ClassOdds(at @ self._level, at.take(self._changing) @ self._slope)

    def compute_shares(self, odds: ClassOdds, elo: float) -> Floats:
        """Return the share of each class among players of one Elo, shape (classes,)."""
        z = (elo - self._model.centre_elo) / self._model.scale_elo
        return _convert_to_shares(odds.level + odds.slope * z + self._bend * (z * z))

    def compute_grid(self, odds: ClassOdds) -> tuple[Floats, Floats]:
        """Return the shares of the classes over the grid, and the slopes of their
        logarithms.

        Both have the shape (classes, Elos). The slope of a class is the slope of its
        log-odds in Elo minus the mean of all slopes, weighted by the shares.
        """
        level = odds.level[:, None]
        slope = odds.slope[:, None]
        shares = _convert_to_shares(level + slope * self._z + self._bent_odds)
        rises = (slope + self._bent_slopes) / self._model.scale_elo
        return shares, rises - np.add.reduce(shares * rises)


def _convert_to_shares(log_odds: Floats) -> Floats:
    """Return the shares of the classes for these log-odds (softmax). Classes are the
    first axis.
    """
    shares: Floats = np.exp(log_odds - np.maximum.reduce(log_odds))
    shares /= np.add.reduce(shares)
    return shares


class MoveReader:
    """Compares moves by one model, or by the mean of two models with the same classes.

    Two models are used for rapid games. ``scale`` is the number of centipawns of the
    engine in use per centipawn of the model.
    """

    def __init__(self, models: Sequence[PerceivedModel], scale: float = 1.0) -> None:
        if len({model.loss_edges_cp for model in models}) != 1:
            raise ValueError("models that are read together must share their classes")
        self.models = tuple(models)
        self.scale = scale
        self._logits = [*map(LossLogit, models)]
        self.shared = _average_steps([model.shared for model in models])
        self.dispersion = Dispersion(
            _average_steps([model.dispersion for model in models]),
            float(np.mean([model.finished_dispersion for model in models])),
        )
        self.event_dispersion = float(
            np.mean([model.event_dispersion for model in models])
        )
        self.prior_sd = float(np.mean([model.prior_sd for model in models]))
        self.mean_elo = float(np.mean([model.mean_elo for model in models]))

    def compare_turn(self, turn: Turn, elos: Elos) -> ComparedMove:
        """Compare a turn, which the engine in use has scored, with players of every
        Elo.
        """
        turn = scale_turn(turn, self.scale)
        odds = [logit.compute_odds(turn) for logit in self._logits]
        weighed = list(zip(self._logits, odds, strict=True))
        shares, slopes = mix_grids(
            [logit.compute_grid(turn_odds) for logit, turn_odds in weighed]
        )
        own = None
        if elos.own is not None:
            shares_of_own = [
                logit.compute_shares(turn_odds, elos.own)
                for logit, turn_odds in weighed
            ]
            own = np.add.reduce(shares_of_own) / len(shares_of_own)
        return compare_move(
            slopes, shares, self.models[0].find_loss_class(turn.gain_cp), elos.own, own
        )


def mix_grids(grids: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return the mean shares of several logits, and the slopes of their logarithms."""
    if len(grids) == 1:
        return grids[0]
    shares = np.array([share for share, _ in grids])
    slopes = np.array([slope for _, slope in grids])
    mean: Floats = (shares * slopes).sum(axis=0) / shares.sum(axis=0)
    return shares.mean(axis=0), mean


def scale_turn(turn: Turn, scale: float) -> Turn:
    """Return the turn with scores converted to the model's own centipawns."""
    if scale == 1.0:
        return turn
    return msgspec.structs.replace(
        turn,
        gain_cp=round(turn.gain_cp / scale),
        score_before_cp=round(turn.score_before_cp / scale),
        stability_cp=None if turn.stability_cp is None else turn.stability_cp / scale,
        jump_cp=None if turn.jump_cp is None else round(turn.jump_cp / scale),
    )


def _average_steps(steps: Sequence[Steps]) -> Steps:
    averaged: list[tuple[int, float]] = []
    for same_step in zip(*steps, strict=True):
        places, values = zip(*same_step, strict=True)
        if len(set(places)) != 1:
            raise ValueError(
                "models that are read together must have their steps at the same places"
            )
        averaged.append((places[0], float(np.mean(values))))
    return tuple(averaged)
