"""One game by the methods beside Ferreira's: both sides' moves, kept as scores come and go."""

from __future__ import annotations

from collections.abc import Iterable

import chess

from live.events import Color, GameMethods, SideMethods
from live.ledger.calibrations_in_use import SCORE_DECIMALS, CalibrationsInUse, rounded
from live.ledger.game.game_evaluations import GameEvaluations
from live.ledger.methods.method_figures import move_figures
from live.ledger.methods.move_choice_screening import screened
from live.ledger.methods.move_quality import MoveQuality, SideMoves, judged
from live.ratings.accuracy import LICHESS_START, GameAccuracy
from live.ratings.alliot.conformance import predict_by_conformance

COLORS: tuple[Color, Color] = ("white", "black")


class GameMethodsState:
    """The judged moves of one game. A move costs O(1) to judge or take back; accuracy is added up
    anew, O(moves), when something has changed.
    """

    def __init__(self) -> None:
        self.sides: dict[Color, SideMoves] = {color: SideMoves(color) for color in COLORS}
        self._moves: list[tuple[Color, MoveQuality]] = []
        self._shown = GameMethods()
        # Made with the first reading, which knows who begins.
        self._accuracy: GameAccuracy | None = None
        self._stale = self._rescored = True
        self._elos: dict[Color, int | None] = {}

    def judge(self, known: GameEvaluations, ply: int) -> None:
        """Something of ``ply`` has become known; plies come in order at first."""
        color, move = known.mover(ply), judged(known, ply)
        self._stale = True
        if ply <= len(self._moves):
            held = self._moves[ply - 1][1]
            self._rescored |= (held.best_cp, held.after) != (move.best_cp, move.after)
            self.sides[color].remove(held)
            self._moves[ply - 1] = (color, move)
        else:
            self._rescored = True
            self._moves.append((color, move))
        self.sides[color].add(move)

    @property
    def moves(self) -> tuple[MoveQuality, ...]:
        """Both sides', in ply order."""
        return tuple(move for _, move in self._moves)

    def resume(self, moves: Iterable[MoveQuality], known: GameEvaluations) -> None:
        """Count what was judged of ``known``'s moves before."""
        self._stale, self._rescored = True, False
        for move in moves:
            color = known.mover(move.ply)
            self._moves.append((color, move))
            self.sides[color].add(move)
        # Pooled figures read it whether anybody asks for the game's or not.
        self._measure_accuracy(known)

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply``."""
        self._stale = self._rescored = True
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
        if self._stale or elos != self._elos:
            self._stale, self._elos = False, elos
            if self._rescored:
                self._rescored = False
                self._measure_accuracy(known)
            predicted = predict_by_conformance(self.sides["white"].raw, self.sides["black"].raw)
            self._shown = GameMethods(
                **{c: _side(self.sides[c], mean_gain_cp[c], in_use, elos[c]) for c in COLORS},
                expected_score=rounded(predicted.expected_score, SCORE_DECIMALS),
                low=rounded(predicted.low, SCORE_DECIMALS),
                high=rounded(predicted.high, SCORE_DECIMALS),
                missing=predicted.missing,
            )
        return self._shown

    def _measure_accuracy(self, known: GameEvaluations) -> None:
        start = known.position(0)
        first = start.score if start else None
        never = start is None and not known.needs_position(0)
        if never and known.start_fen == chess.STARTING_FEN:
            first = LICHESS_START
        game = self._accuracy
        if game is None:
            game = self._accuracy = GameAccuracy(first, known.mover(1))
        positions = (known.position(ply) for ply in range(1, len(known) + 1))
        game.hold([first, *(each.score if each else None for each in positions)])
        for color, side in self.sides.items():
            side.in_use(game.accuracy(color), game.centipawn_loss(color))


def _side(
    side: SideMoves, mean_gain_cp: float | None, in_use: CalibrationsInUse, elo: int | None
) -> SideMethods:
    figures = move_figures((side,))
    figures["intrinsic"], missing = screened(in_use, side.turns, elo)
    figures["missing"].update(missing)
    return SideMethods(**figures, mean_gain_cp=rounded(mean_gain_cp, 2))
