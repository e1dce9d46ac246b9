"""One player's turns of one game, beside what players of each Elo lose in such positions.

Counted turns enter in ply order and leave from the end. What they come to depends on them alone,
but for the percentile: what was to be expected knows how the opponent has fared up to each move.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from live.ledger.calibrations_in_use import ELO_DECIMALS, SCORE_DECIMALS, rounded
from live.ratings.calibration.move_evidence import Population
from live.ratings.strength.agreement import ChoiceModel, GameChoices, counts
from live.ratings.strength.known_before_move import Turn
from live.ratings.strength.loss_model import (
    GRID_ELO,
    Floats,
    LossModel,
    LossReader,
    alone,
    joined,
    level,
)
from live.ratings.strength.percentile import Surprise, percentile

PERCENT_DECIMALS = 1


class PlayedTurn(NamedTuple):
    """What a gain is rated by."""

    turn: Turn
    over: bool
    """The game has ended, and this is the player's last move."""
    match: bool | None = None
    """It was the engine's first choice; None where nobody chose."""
    human: Floats | None = None
    """Log-likelihood of the move among people, over ``GRID_ELO``; None where it is not known."""


Figures = dict[str, float | None]


class GameStrength:
    """Args:
    reader: of the model that holds for the game.
    elo: the player's own rating.
    prior: what is believed of a player without one.
    """

    __slots__ = (
        "_forecast",
        "_human",
        "_matches",
        "_prior",
        "_sums",
        "choices",
        "elo",
        "reader",
        "surprises",
        "turns",
    )

    def __init__(
        self,
        reader: LossReader,
        elo: int | None,
        prior: Callable[[], Population],
        forecast: ChoiceModel | None = None,
    ) -> None:
        self.reader = reader
        self.elo = elo
        self._prior = prior
        self._forecast = forecast
        self._matches: list[bool | None] = []
        self.choices = GameChoices()
        """Of the engine's moves; empty without an own rating and where nothing forecasts them."""
        self.turns: list[Turn] = []
        self.surprises: list[Surprise] = []
        # Of the first 0, 1, 2 and so on turns, so that leaving costs what is left, nothing more.
        self._sums: list[Floats] = [np.zeros(len(GRID_ELO))]
        # The same of the moves among people; None from the first turn on that lacks it, since a
        # figure is compared with figures of as many moves.
        self._human: list[Floats | None] = [np.zeros(len(GRID_ELO))]

    @property
    def log_likelihood(self) -> Floats:
        """Of the losses of all counted turns."""
        return self._sums[-1]

    @property
    def human(self) -> Floats | None:
        """Log-likelihood of all counted turns among people; None where one is not known."""
        return self._human[-1]

    def first_lacking(self) -> int | None:
        """Ply of the first counted turn whose likelihood among people is not known."""
        if self._human[-1] is not None:
            return None
        return self.turns[bisect_left(self._human, 1, key=lambda each: each is None) - 1].ply

    def add(self, turn: Turn, match: bool | None = None, human: Floats | None = None) -> bool:
        """Count a turn; returns whether it counts: a forced move is no choice."""
        if turn.board is not None and turn.board.forced:
            return False
        turn = self.reader.scaled(turn)
        self.turns.append(turn)
        self._matches.append(match)
        self._choose(turn, match)
        self.surprises.append(self._surprise(turn))
        self._sums.append(self._sums[-1] + self.reader.log_likelihood(turn))
        among = self._human[-1]
        self._human.append(None if among is None or human is None else among + human)
        return True

    def _choose(self, turn: Turn, match: bool | None) -> None:
        if self._forecast is None or self.elo is None or match is None or not counts(turn):
            return
        self.choices.add(self._forecast.log_odds(turn, self.elo), match)

    def _surprise(self, turn: Turn) -> Surprise:
        elo = self.elo if self.elo is not None else self._prior().mean_elo
        expected = self.reader.expected(turn, elo)
        return Surprise(turn.ply, turn.log_loss - expected.mean, expected.variance)

    def truncate(self, counted: int) -> None:
        """Only the first so many counted turns stand, and no trace of the others."""
        if counted < len(self.turns):
            del self.turns[counted:], self.surprises[counted:], self._matches[counted:]
            del self._sums[counted + 1 :], self._human[counted + 1 :]
            self.choices = GameChoices()
            for turn, match in zip(self.turns, self._matches, strict=True):
                self._choose(turn, match)

    def reread(self) -> None:
        """The field has changed: one without a rating is now taken as another."""
        if self.elo is None:
            self.surprises = [self._surprise(turn) for turn in self.turns]

    def figures(self, counted: int, opponent: Sequence[Surprise], *, over: bool) -> Figures:
        """The fields of a point after the first ``counted`` turns; ``over``: the game has ended
        there.
        """
        model = self.reader.model
        log_likelihood, human = joined(model, self._sums[counted], self._human[counted])
        said = alone(model, log_likelihood, counted, over=over, human=human)
        return {
            "alone": rounded(said.elo, ELO_DECIMALS) if said else None,
            "alone_low": rounded(said.low, ELO_DECIMALS) if said else None,
            "alone_high": rounded(said.high, ELO_DECIMALS) if said else None,
            **level_figures(model, log_likelihood, counted, self.elo, self._prior),
            "percentile": self.percentile(counted, opponent, over=over),
        }

    def level(self, counted: int) -> Figures:
        """What another field changes of the figures after the first ``counted`` turns."""
        if self.elo is not None:
            return {}
        model = self.reader.model
        log_likelihood, _ = joined(model, self._sums[counted], self._human[counted])
        return level_figures(model, log_likelihood, counted, self.elo, self._prior)

    def percentile(self, counted: int, opponent: Sequence[Surprise], *, over: bool) -> float | None:
        """After the first ``counted`` turns; None without an own rating and under five turns."""
        if self.elo is None:
            return None
        found = percentile(
            self.reader.model, self.elo, self.surprises[:counted], opponent, over=over
        )
        return rounded(found, PERCENT_DECIMALS)


def level_figures(
    model: LossModel,
    log_likelihood: Floats,
    moves: int,
    elo: int | None,
    prior: Callable[[], Population],
) -> Figures:
    """The level around the own rating ``elo``, else around what is believed without one."""
    if elo is not None:
        mean, sd = float(elo), model.form_sd_elo
    else:
        held = prior()
        mean, sd = held.mean_elo, held.sd_elo
    found = level(model, log_likelihood, moves, mean, sd)
    return {
        "level": rounded(found.elo, ELO_DECIMALS),
        "level_low": rounded(found.low, ELO_DECIMALS),
        "level_high": rounded(found.high, ELO_DECIMALS),
        "level_share": rounded(found.share, SCORE_DECIMALS),
    }
