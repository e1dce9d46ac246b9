"""One game by the methods beside Ferreira's: both sides' moves, kept as scores come and go."""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_

import chess

from live.events import Color, GameMethods, SideMethods
from live.ledger.calibrations_in_use import SCORE_DECIMALS, CalibrationsInUse, rounded
from live.ledger.game.game_evaluations import EvaluatedPosition, GameEvaluations
from live.ledger.methods.method_figures import move_figures
from live.ledger.methods.move_choice_screening import screened
from live.ledger.methods.move_quality import MoveQuality, SideMoves, judged
from live.ratings.accuracy import LICHESS_START, GameAccuracy
from live.ratings.alliot.conformance import predict_by_conformance
from live.ratings.alliot.prediction import Prediction
from live.ratings.regan.intrinsic_rating import IntrinsicTable

COLORS: tuple[Color, Color] = ("white", "black")

_SideInput = tuple[int, float | None, IntrinsicTable | None, str, int | None]


class GameMethodsState:
    """The judged moves of one game. A move costs O(1) to judge or take back; figures are made anew
    only for the side whose moves have changed.
    """

    def __init__(self) -> None:
        self.sides: dict[Color, SideMoves] = {color: SideMoves(color) for color in COLORS}
        self._moves: list[tuple[Color, MoveQuality]] = []
        # Made with the first reading, which knows who begins.
        self._accuracy: GameAccuracy | None = None
        # What accuracy was last measured of.
        self._measured: list[EvaluatedPosition | None] = []
        # What was last shown, and what it was made from.
        self._sides_shown: dict[Color, tuple[_SideInput, SideMethods]] = {}
        self._predicted: tuple[tuple[int, ...], Prediction] | None = None
        self._said: Prediction | None = None
        self._shown = GameMethods()

    def judge(self, known: GameEvaluations, ply: int) -> None:
        """Something of ``ply`` has become known; plies come in order at first."""
        color, move = known.mover(ply), judged(known, ply)
        if ply <= len(self._moves):
            held = self._moves[ply - 1][1]
            if held == move:
                return
            self.sides[color].remove(held)
            self._moves[ply - 1] = (color, move)
        else:
            self._moves.append((color, move))
        self.sides[color].add(move)

    @property
    def moves(self) -> tuple[MoveQuality, ...]:
        """Both sides', in ply order."""
        return tuple(move for _, move in self._moves)

    def resume(self, moves: Iterable[MoveQuality], known: GameEvaluations) -> None:
        """Count what was judged of ``known``'s moves before."""
        for move in moves:
            color = known.mover(move.ply)
            self._moves.append((color, move))
            self.sides[color].add(move)
        # Pooled figures read it whether anybody asks for the game's or not.
        self._measure_accuracy(known)

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply``."""
        while len(self._moves) > ply:
            color, move = self._moves.pop()
            self.sides[color].remove(move)

    def methods(
        self,
        known: GameEvaluations,
        mean_gain_cp: dict[Color, float | None],
        in_use: CalibrationsInUse,
        elos: dict[Color, int | None],
    ) -> GameMethods:
        """All figures of the game; the same object as long as nothing has changed. ``elos`` are
        the players' own ratings.
        """
        self._measure_accuracy(known)
        white, black = (
            self._side(color, mean_gain_cp[color], in_use, elos[color]) for color in COLORS
        )
        predicted = self._prediction()
        shown = self._shown
        if not (shown.white is white and shown.black is black and predicted is self._said):
            self._said = predicted
            self._shown = GameMethods(
                white=white,
                black=black,
                expected_score=rounded(predicted.expected_score, SCORE_DECIMALS),
                low=rounded(predicted.low, SCORE_DECIMALS),
                high=rounded(predicted.high, SCORE_DECIMALS),
                missing=predicted.missing,
            )
        return self._shown

    def _side(
        self, color: Color, mean_gain_cp: float | None, in_use: CalibrationsInUse, elo: int | None
    ) -> SideMethods:
        side = self.sides[color]
        made_from = side.revision, mean_gain_cp, in_use.table, in_use.table_note, elo
        held = self._sides_shown.get(color)
        if held is None or held[0] != made_from:
            figures = move_figures((side,))
            figures["intrinsic"], missing = screened(in_use, side.turns, elo)
            figures["missing"].update(missing)
            shown = SideMethods(**figures, mean_gain_cp=rounded(mean_gain_cp, 2))
            held = self._sides_shown[color] = made_from, shown
        return held[1]

    def _prediction(self) -> Prediction:
        white, black = (self.sides[color].raw for color in COLORS)
        made_from = white.n, white.within, black.n, black.within
        if self._predicted is None or self._predicted[0] != made_from:
            self._predicted = made_from, predict_by_conformance(white, black)
        return self._predicted[1]

    def _measure_accuracy(self, known: GameEvaluations) -> None:
        positions = known.positions()
        if self._accuracy is not None and positions == self._measured and positions[0] is not None:
            return
        same = [*map(is_, positions, self._measured)]
        first_ply = same.index(False) if False in same else len(same)
        self._measured = positions
        start = positions[0]
        first = start.score if start else None
        never = start is None and not known.needs_position(0)
        if never and known.start_fen == chess.STARTING_FEN:
            first = LICHESS_START
        game = self._accuracy
        if game is None:
            game = self._accuracy = GameAccuracy(first, known.mover(1))
        game.score(0, first)
        first_ply = max(1, first_ply)
        game.hold([each.score if each else None for each in positions[first_ply:]], first_ply)
        for color, side in self.sides.items():
            side.in_use(game.accuracy(color), game.centipawn_loss(color))
