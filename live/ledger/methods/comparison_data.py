"""What all moves of a player in the event are to the methods that compare two players.

Made on demand from the ledger, once for a study; nothing here follows the game.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from live.events import Color, PlayerView
from live.ledger.methods.move_quality import MoveQuality
from live.ratings.alliot.conformance import PONDERATED, RAW, AccumulatedConformance, is_counted
from live.ratings.alliot.covariance import STEP_CONFORMANCE, TANH_CONFORMANCE, gain_by
from live.ratings.alliot.markov import Transitions
from live.ratings.ferreira.algorithm_2_interval import RatingMargins
from live.ratings.ferreira.rating_differences import Strength
from live.ratings.gain_histogram import GainHistogram
from live.ratings.regan.move_spread import Spread


class ComparedGame(NamedTuple):
    """One player's moves of one game."""

    color: Color
    moves: tuple[MoveQuality, ...]


class ComparisonData:
    """One player's moves, counted for every method that compares."""

    def __init__(
        self, view: PlayerView, gains: GainHistogram, games: Iterable[ComparedGame]
    ) -> None:
        self.view = view
        self.gains = gains
        """The gains that feed the curves."""
        self.raw = AccumulatedConformance(RAW)
        self.ponderated = AccumulatedConformance(PONDERATED)
        self.shortfalls = GainHistogram()
        """Same-search gains of counted moves, raw."""
        self.step = GainHistogram()
        """The same, ponderated as the step vector needs them."""
        self.tanh = GainHistogram()
        """The same, ponderated as the tanh vector needs them."""
        self.transitions = Transitions()
        self.markov_moves = 0
        self.judged = 0
        """Moves compared with the engine's first choice, counted or not."""
        self.turns: list[tuple[Spread, ...]] = []
        """By game, the choices among several lines; empty without Multi-PV."""
        for game in games:
            for move in game.moves:
                self._add(game.color, move)
            self.turns.append(tuple(move.spread for move in game.moves if move.spread is not None))

    def _add(self, color: Color, move: MoveQuality) -> None:
        if move.best_cp is None or move.gain_cp is None:
            return
        self.judged += 1
        for conformance in (self.raw, self.ponderated):
            conformance.add(move.best_cp, move.gain_cp, ply=move.ply, forced=move.forced)
        if not is_counted(move.ply, forced=move.forced):
            return
        self.shortfalls.add(move.gain_cp)
        for histogram, kind in ((self.step, STEP_CONFORMANCE), (self.tanh, TANH_CONFORMANCE)):
            found = gain_by(kind, move.best_cp, move.gain_cp)
            if found is not None:
                histogram.add(found)
        self.transitions.add(color, move.best_cp, move.gain_cp)
        self.markov_moves += 1


class ComparedMoves:
    """Every player of the event, with how Algorithm 2 rates them, unrounded, and how uncertain
    each one's gains make that.
    """

    def __init__(
        self,
        players: Iterable[ComparisonData],
        strengths: dict[str, Strength],
        intervals: dict[str, tuple[float, float]],
        margins: dict[str, RatingMargins],
    ) -> None:
        self.players = {evidence.view.id: evidence for evidence in players}
        self.strengths = strengths
        self.intervals = intervals
        self.margins = margins
