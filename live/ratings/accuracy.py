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
        "_known",
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
        self.score(self.plies, after)

    def score(self, ply: int, score: Score | None) -> None:
        """Set the score of the position after ``ply`` moves (0: the start); None unsets it.

        Raises ValueError when there is no such ply.
        """
        if not 0 <= ply <= self.plies:
            raise ValueError(f"no ply {ply}: {self.plies} have been played")
        self._scores[ply] = score
        self._chances[ply] = None if score is None else win_percent(score)
        self._stale_from = min(self._stale_from, ply)
        for move in (ply, ply + 1):
            if 1 <= move <= self.plies:
                self._accuracies[move] = self._accuracy_of(move)

    def hold(self, scores: Sequence[Score | None]) -> None:
        """The scores of all positions, the start first; only what is another now is worked out.

        Raises ValueError without the starting position's.
        """
        if not scores:
            raise ValueError("a game has a starting position")
        while self.plies >= len(scores):
            self.take_back()
        for ply, (held, score) in enumerate(zip(self._scores, scores, strict=False)):
            if held is not score and held != score:
                self.score(ply, score)
        for score in scores[len(self._scores) :]:
            self.play(score)

    def take_back(self) -> None:
        """Undo the last move. Raises ValueError when there is none."""
        if not self.plies:
            raise ValueError("no move to take back")
        self._scores.pop()
        self._chances.pop()
        self._accuracies.pop()
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
        counted = [(a, weight) for a, weight in zip(found, weights, strict=True) if a is not None]
        missing = len(plies) - len(counted)
        so_far = None
        if counted:
            total = math.fsum(weight for _, weight in counted)
            weighted = math.fsum(a * weight for a, weight in counted) / total
            so_far = (weighted + _harmonic_mean([a for a, _ in counted])) / 2
        return Accuracy(None if missing else so_far, so_far, len(counted), missing)

    def centipawn_loss(
        self, color: Color, first_ply: int = 1, last_ply: int | None = None
    ) -> CentipawnLoss:
        """Average centipawn loss of one side, over the game or some of its plies."""
        total = counted = beyond = missing = 0
        sign = 1 if color == "white" else -1
        scores = self._scores
        for ply in self._plies_of(color, first_ply, last_ply):
            before, after = scores[ply - 1], scores[ply]
            if before is None or after is None:
                missing += 1
                continue
            one, other = _capped(before), _capped(after)
            # ``mate`` 0 says that the side to move is mated: the mating move always counts.
            if one == other and abs(one) == CAP_CP and after.mate != 0:
                beyond += 1
            else:
                counted += 1
                total += max(0, sign * (one - other))
        so_far = total / counted if counted else None
        return CentipawnLoss(None if missing else so_far, so_far, counted, missing, beyond)

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


def _harmonic_mean(values: Sequence[float]) -> float:
    """Values below 1 count as 1 (lila, Maths.scala), so one blunder does not make all 0."""
    return len(values) / math.fsum(1 / max(1.0, value) for value in values)
