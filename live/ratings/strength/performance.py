"""How strong a player was in these games: moves and results together, against these opponents.

The performance is the Elo at which the moves played and the results got are likeliest, given the
opponents' ratings; the player's own rating is not used. While a game runs, the expected result of
the position for two players of the opponent's rating stands for the result. Beside it stand the
performance rating and the rating change that FIDE's rules give for the same results (FIDE Rating
Regulations 2022, 1.4.9, 8.1 and 8.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from live.ratings.strength.agreement import GameChoices
from live.ratings.strength.expected_result import Chances, ResultModel
from live.ratings.strength.known_before_move import Turn
from live.ratings.strength.loss_model import (
    GRID_ELO,
    Alone,
    Floats,
    HumanJoin,
    LossModel,
    joined,
    roots_at,
    standing,
)

#: What engines say of the usual starting position, centipawns.
_START_CP = 23
#: How alike a player's games are, beside what his rating explains (``Calibration.
#: games_correlation``): G games count G / (1 + (G - 1) * this).
GAMES_CORRELATION = 0.12


class PlayedAgainst(NamedTuple):
    """One game of the player."""

    opponent_elo: float | None
    white: bool
    ends: Chances | None
    """For the player: the result as (1, 0, 0), (0, 1, 0) or (0, 0, 1), or what is expected of the
    position while the game runs; None where neither is known."""
    log_likelihood: Floats | None
    """Of the moves over ``GRID_ELO``, undamped; None without a counted move."""
    moves: int
    over: bool = True
    percentile: float | None = None
    choices: GameChoices | None = None
    human: Floats | None = None
    """Log-likelihood of the moves among people, undamped; None where it is not known of all."""

    @property
    def moved(self) -> bool:
        """A move of the player counts."""
        return self.log_likelihood is not None and self.moves > 0

    def same(self, other: PlayedAgainst | None) -> bool:
        """Whether nothing has changed; arrays that are replaced whole are compared as such."""
        return (
            other is not None
            and self.log_likelihood is other.log_likelihood
            and self.human is other.human
            # All others; arrays have no one answer to whether they are equal.
            and self[:3] == other[:3]
            and self[4:-1] == other[4:-1]
        )


#: Points of White by result.
POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


def of_result(points: float) -> Chances:
    """A result as chances: 1, 0.5 or 0 points."""
    return Chances(float(points == 1), float(points == 0.5), float(points == 0))


class Results:
    """How likely results are for a player of each Elo; kept by opponent, since they repeat."""

    __slots__ = ("_known", "chances", "model")

    def __init__(self, model: ResultModel) -> None:
        self.model = model
        self._known: dict[tuple[float, bool], Floats] = {}
        self.chances = lru_cache(maxsize=4096)(model.chances)
        """As the model's, kept: a position is looked at with each news of its game."""

    @property
    def time_control(self) -> str:
        """Of the games it was learned from."""
        return self.model.time_control

    def log_chances(self, opponent_elo: float, white: bool) -> Floats:
        """Of win, draw and loss before the first move: (3, grid)."""
        found = self._known.get((opponent_elo, white))
        if found is None:
            rows = []
            for elo in GRID_ELO.tolist():
                if white:
                    rows.append(self.model.chances(_START_CP, 0, elo, opponent_elo))
                else:
                    seen = self.model.chances(_START_CP, 0, opponent_elo, elo)
                    rows.append(Chances(seen.loss, seen.draw, seen.win))
            found = self._known[opponent_elo, white] = np.log(np.array(rows)).T
        return found

    def log_likelihood(self, ends: Chances, opponent_elo: float, white: bool) -> Floats:
        """Of a result, or of what is expected of the game: (grid,)."""
        of_each = self.log_chances(opponent_elo, white)
        # Most games of an event are over.
        certain = ends in _CERTAIN
        found: Floats = of_each[_CERTAIN.index(ends)] if certain else np.array(ends) @ of_each
        return found

    def promised(self, last: Turn, opponent_elo: float | None, white: bool) -> Chances:
        """What the position after the player's ``last`` turn promises him while the game goes on,
        were both of the opponent's rating: the own one is not used.
        """
        after_cp = last.score_before_cp + last.gain_cp
        seen = self.chances(after_cp if white else -after_cp, last.ply, opponent_elo, opponent_elo)
        return seen if white else Chances(seen.loss, seen.draw, seen.win)


#: How a signed root lies where nothing was learned of it: standard normal.
_AS_IT_STANDS = (
    np.zeros(len(GRID_ELO)),
    np.ones(len(GRID_ELO)),
    -float(ndtri(0.975)),
    float(ndtri(0.975)),
)
_CERTAIN = (Chances(1.0, 0.0, 0.0), Chances(0.0, 1.0, 0.0), Chances(0.0, 0.0, 1.0))


def performance(
    model: LossModel | None, results: Results | None, games: Sequence[PlayedAgainst]
) -> Alone | None:
    """Over one game or several; None where nothing is known of any, and without a rated opponent:
    a performance is one against somebody.
    """
    return performance_of(model, results, games, moves_of(model, games))


class MovesOf(NamedTuple):
    """What the moves of some games say together."""

    games: int
    """Those with moves."""
    log_likelihood: Floats | None
    """Damped, over ``GRID_ELO``; None without a move."""
    human: HumanJoin | None


def moves_of(model: LossModel | None, games: Sequence[PlayedAgainst]) -> MovesOf:
    """The share of the moves in a performance: what the results add changes far more often."""
    if model is None:
        return MovesOf(0, None, None)
    told = [game for game in games if game.moved]
    human = human_join(model, told)
    alike = 1 + max(0, len(told) - 1) * GAMES_CORRELATION
    held: Floats | None = None
    for game in told:
        one = log_likelihood_of(model, game, human) * (model.weight(game.moves) / alike)
        held = one if held is None else held + one
    return MovesOf(len(told), held, human)


def performance_of(
    model: LossModel | None,
    results: Results | None,
    games: Sequence[PlayedAgainst],
    moves: MovesOf,
) -> Alone | None:
    """:func:`performance` with the share of the moves, which is :func:`moves_of` the same games."""
    held = moves.log_likelihood
    known = False
    for game in games:
        if game.opponent_elo is None:
            continue
        known = True
        if results is not None and game.ends is not None:
            of_result = results.log_likelihood(game.ends, game.opponent_elo, game.white)
            held = of_result if held is None else held + of_result
    if held is None or not known:
        return None
    if model is None or not moves.games:
        return standing(held, *_AS_IT_STANDS)
    nodes = moves.human or model
    if len(games) == 1 and not games[0].over and nodes.running_performance:
        return standing(held, *roots_at(model, nodes.running_performance, games[0].moves))
    if nodes.performance is None:
        return standing(held, *_AS_IT_STANDS)
    middle, sd, below, above = roots_at(model, (nodes.performance,), 1)
    # The likelihood of several games is nearer to a parabola; one without a move adds nothing.
    return standing(held, middle / math.sqrt(moves.games), sd, below, above)


def human_join(model: LossModel | None, games: Sequence[PlayedAgainst]) -> HumanJoin | None:
    """What games are compared with where the moves of all of them are known among people; None
    where they are not: then their losses count alone, as they were measured.
    """
    if model is None or not games or any(game.human is None for game in games):
        return None
    return model.human


def log_likelihood_of(model: LossModel, game: PlayedAgainst, human: HumanJoin | None) -> Floats:
    """Of a game with moves, undamped; with ``human`` that of its moves among people, too."""
    assert game.log_likelihood is not None  # it has moves
    return joined(model, game.log_likelihood, game.human if human is not None else None)[0]
