"""Accuracy as lichess shows it, and average centipawn loss.

Source: lichess.org/page/accuracy, with the constants of its published source (scalachess
``eval.scala``; lila ``AccuracyPercent.scala``). Needs the score of every position, one line each.

A score becomes the chance to win; what a move loses of it becomes its accuracy in per cent. The
accuracy of a game is the mean of two means: the harmonic one, and one weighted by how much the
chances moved about around each move.

What lichess's users found wrong there is done otherwise here:

* Figures stand only when all moves are scored; until then there is a running one, named so
  (lila #14974, #15855: 100 % while the analysis was under way).
* A move that mates is one of the moves, without loss (#11207).
* A move between two positions beyond the cap shows no loss whatever it lost, so the average
  centipawn loss leaves it out of its denominator too (#11261).
* The first move is compared with the score of the position it was made from (#13914, #11779).
* No move is above 100 % (en-croissant #7).
* A part of a game, such as a phase, uses the weights of the whole game: its window looks back
  over its border (#21457).
* A mate counts as the cap, as large scores do, in all figures (#5617).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

import msgspec

from live.events import Color, Score

#: Scores are clamped to this, mates included (scalachess, eval.scala: Cp.CEILING).
CAP_CP = 1000
#: Steepness of the chance to win (lila PR #11148, fitted on 2300+ rated rapid games).
_WIN_PER_CP = 0.00368208
#: Accuracy of a move by what it lost of the chance to win (lila, AccuracyPercent.scala).
_SCALE, _RATE, _OFFSET = 103.1668100711649, 0.04354415386753951, -3.166924740191411
#: "Uncertainty bonus, due to imperfect analysis" (the same place).
_BONUS = 1.0
#: Limits of the window, in positions, and of a move's weight (the same place).
_WINDOW = (2, 8)
_WEIGHT = (0.5, 12.0)

#: In place of a loss that nobody can see, since both positions are beyond the cap.
_BEYOND = -1

#: What lichess takes as the score of the usual starting position (scalachess, eval.scala).
LICHESS_START = Score(cp=15)


class Accuracy(msgspec.Struct, frozen=True):
    """Accuracy of one side."""

    percent: float | None
    """0 to 100; None until every move is scored, and without a move."""
    so_far: float | None
    """The same over the moves scored so far: what to show while scores come in, named so."""
    moves: int
    """Moves counted."""
    missing: int
    """Moves whose score, or that of the position before, is not known yet."""


class CentipawnLoss(msgspec.Struct, frozen=True):
    """Average centipawn loss of one side."""

    average_cp: float | None
    """0 or more; None until every move is scored, and where no move counts."""
    so_far_cp: float | None
    """The same over the moves scored so far."""
    moves: int
    """Moves counted: the denominator."""
    missing: int
    """Moves whose score, or that of the position before, is not known yet."""
    beyond_cap: int
    """Moves left out, since the positions before and after are both beyond ±1000 cp on the same
    side, so that no loss can be seen."""


def win_percent(score: Score) -> float:
    """White's chance to win, 0 to 100: a mate is ±1000 cp, as every score beyond that is."""
    return 100 / (1 + math.exp(-_WIN_PER_CP * _capped(score)))


def move_accuracy(before: Score, after: Score, mover: Color) -> float:
    """Accuracy of one move, 0 to 100. Scores are White's side."""
    return _accuracy(_lost(win_percent(before), win_percent(after), mover))


def centipawn_loss(before: Score, after: Score, mover: Color) -> int:
    """Centipawns lost by one move, 0 or more; scores are White's side, capped at ±1000."""
    loss_cp = _capped(before) - _capped(after)
    return max(0, loss_cp if mover == "white" else -loss_cp)


class GameAccuracy:
    """The scores of one game, with the figures of both sides.

    Moves and scores arrive in any order: a move may be played long before its score is known. What
    a score changes is worked out from there on, so that one more move costs O(1); reading a figure
    adds up O(moves) numbers.
    """

    __slots__ = (
        "_accuracies",
        "_chances",
        "_first",
        "_inverses",
        "_known",
        "_losses",
        "_scores",
        "_squares",
        "_stale_from",
        "_sums",
        "_weights",
        "_window",
    )

    def __init__(self, start: Score | None = None, first_mover: Color = "white") -> None:
        #: White's side, the starting position first; None where not known yet.
        self._scores: list[Score | None] = [start]
        #: White's chance to win, per cent, in each of these positions.
        self._chances: list[float | None] = [None if start is None else win_percent(start)]
        #: Of each move, from index 1; None while a score is missing.
        self._accuracies: list[float | None] = [None]
        #: One over each, for the harmonic mean; 0 while a score is missing.
        self._inverses: list[float] = [0.0]
        #: Centipawns lost by each move; ``_BEYOND`` the cap, None while a score is missing.
        self._losses: list[int | None] = [None]
        #: Of each move, from index 1, right up to ``_stale_from``, and what they are made of:
        #: counts and sums over all positions before, of those with a score.
        self._weights: list[float] = [0.0]
        self._known, self._sums, self._squares = [0], [0.0], [0.0]
        self._window = 0
        self._stale_from = 0
        self._first = first_mover

    @property
    def plies(self) -> int:
        """Moves played by both sides."""
        return len(self._scores) - 1

    def play(self, after: Score | None = None) -> None:
        """One more move, with the score of the position after it where that is known."""
        self._scores.append(None)
        self._chances.append(None)
        self._accuracies.append(None)
        self._inverses.append(0.0)
        self._losses.append(None)
        self.score(self.plies, after)

    def score(self, ply: int, score: Score | None) -> None:
        """Set the score of the position after ``ply`` moves (0: the start); None unsets it.

        Raises ValueError when there is no such ply.
        """
        if not 0 <= ply <= self.plies:
            raise ValueError(f"no ply {ply}: {self.plies} have been played")
        if self._scores[ply] == score:
            return
        self._scores[ply] = score
        self._chances[ply] = None if score is None else win_percent(score)
        self._stale_from = min(self._stale_from, ply)
        for move in (ply, ply + 1):
            if 1 <= move <= self.plies:
                found = self._accuracies[move] = self._accuracy_of(move)
                # Values below 1 count as 1 (lila, Maths.scala), so one blunder does not make all 0.
                self._inverses[move] = 0.0 if found is None else 1 / max(1.0, found)
                self._losses[move] = self._loss_of(move)

    def hold(self, scores: Sequence[Score | None], first_ply: int = 0) -> None:
        """The scores of all positions from the one after ``first_ply`` moves on; only what is
        another now is worked out.

        Raises ValueError without the starting position's, and for positions that do not follow
        those held.
        """
        if not scores and not first_ply:
            raise ValueError("a game has a starting position")
        if first_ply > len(self._scores):
            raise ValueError(f"ply {first_ply} does not follow ply {self.plies}")
        while self.plies >= first_ply + len(scores):
            self.take_back()
        for ply, score in enumerate(scores, first_ply):
            if ply > self.plies:
                self.play(score)
            else:
                self.score(ply, score)

    def take_back(self) -> None:
        """Undo the last move. Raises ValueError when there is none."""
        if not self.plies:
            raise ValueError("no move to take back")
        self._scores.pop()
        self._chances.pop()
        self._accuracies.pop()
        self._inverses.pop()
        self._losses.pop()
        self._stale_from = min(self._stale_from, self.plies + 1)

    def mover(self, ply: int) -> Color:
        """Who made move ``ply``, from 1."""
        second: Color = "black" if self._first == "white" else "white"
        return self._first if ply % 2 else second

    def move_accuracy(self, ply: int) -> float | None:
        """Accuracy of move ``ply``, from 1; None while a score is missing."""
        return self._accuracies[ply]

    def _accuracy_of(self, ply: int) -> float | None:
        before, after = self._chances[ply - 1], self._chances[ply]
        if before is None or after is None:
            return None
        return _accuracy(_lost(before, after, self.mover(ply)))

    def accuracy(self, color: Color, first_ply: int = 1, last_ply: int | None = None) -> Accuracy:
        """Accuracy of one side, over the whole game or plies ``first_ply`` to ``last_ply``."""
        self._weigh()
        plies = self._plies_of(color, first_ply, last_ply)
        found = self._accuracies[plies.start : plies.stop : 2]
        weights = self._weights[plies.start : plies.stop : 2]
        known = [a for a in found if a is not None]
        missing = len(found) - len(known)
        if not known:
            return Accuracy(None, None, 0, missing)
        if missing:
            weights = [w for a, w in zip(found, weights, strict=True) if a is not None]
        weighted = math.fsum(map(mul, known, weights)) / math.fsum(weights)
        harmonic = len(known) / math.fsum(self._inverses[plies.start : plies.stop : 2])
        so_far = (weighted + harmonic) / 2
        return Accuracy(None if missing else so_far, so_far, len(known), missing)

    def centipawn_loss(self, color: Color) -> CentipawnLoss:
        """Average centipawn loss of one side."""
        plies = self._plies_of(color, 1, None)
        found = self._losses[plies.start : plies.stop : 2]
        known = [loss for loss in found if loss is not None]
        missing, beyond = len(found) - len(known), known.count(_BEYOND)
        counted = len(known) - beyond
        so_far = (sum(known) - beyond * _BEYOND) / counted if counted else None
        return CentipawnLoss(None if missing else so_far, so_far, counted, missing, beyond)

    def _loss_of(self, ply: int) -> int | None:
        before, after = self._scores[ply - 1], self._scores[ply]
        if before is None or after is None:
            return None
        one, other = _capped(before), _capped(after)
        # ``mate`` 0 says that the side to move is mated: the mating move always counts.
        if one == other and abs(one) == CAP_CP and after.mate != 0:
            return _BEYOND
        return max(0, one - other if self.mover(ply) == "white" else other - one)

    def _plies_of(self, color: Color, first_ply: int, last_ply: int | None) -> range:
        last = self.plies if last_ply is None else min(last_ply, self.plies)
        first = max(first_ply, 1)
        return range(first if self.mover(first) == color else first + 1, last + 1, 2)

    def _weigh(self) -> None:
        """Weight of each move, from index 1: the spread of the chances in a window up to it.

        The first moves share the first whole window. Positions without a score are passed over.
        """
        chances = self._chances
        window = max(_WINDOW[0], min(_WINDOW[1], self.plies // 10))
        if window != self._window:
            # Longer games have longer windows: every weight is another.
            self._window = window
            self._stale_from = 0
        start = self._stale_from
        known, sums, squares, weights = self._known, self._sums, self._squares, self._weights
        if start >= len(chances) and len(weights) == len(chances):
            return
        # Sums up to a position hold for all before it; the first weights look ahead a window.
        for held in (known, sums, squares):
            del held[start + 1 :]
        for chance in chances[start:]:
            # About 50, where the sum of squares loses no digits that matter.
            centred = 0.0 if chance is None else chance - 50
            known.append(known[-1] + (chance is not None))
            sums.append(sums[-1] + centred)
            squares.append(squares[-1] + centred * centred)
        first = max(1, start) if start >= window else 1
        del weights[first:]
        for ply in range(first, self.plies + 1):
            end = min(max(ply + 1, window), len(chances))
            begin = max(0, end - window)
            n = max(1, known[end] - known[begin])
            mean = (sums[end] - sums[begin]) / n
            variance = (squares[end] - squares[begin]) / n - mean * mean
            weights.append(max(_WEIGHT[0], min(_WEIGHT[1], math.sqrt(max(0.0, variance)))))
        self._stale_from = len(chances)


def _capped(score: Score) -> int:
    return max(-CAP_CP, min(CAP_CP, score.cp))


def _lost(before: float, after: float, mover: Color) -> float:
    """Of the mover's chance to win, per cent; at least 0."""
    return max(0.0, before - after if mover == "white" else after - before)


def _accuracy(lost: float) -> float:
    if lost == 0:
        return 100.0
    return max(0.0, min(100.0, _SCALE * math.exp(-_RATE * lost) + _OFFSET + _BONUS))
