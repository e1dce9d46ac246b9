"""Accuracy as defined by lichess, and average centipawn loss.

Source: lichess.org/page/accuracy, with the constants of its published source code
(scalachess ``eval.scala``; lila ``AccuracyPercent.scala``). The input is the score of
every position, from a search of one line.

A score is converted to a chance to win. The part of this chance that a move loses is
converted to the move's accuracy in per cent. The accuracy of a game is the mean of two
means: the harmonic mean, and a mean weighted by how much the chances varied around each
move.

The results differ from those of lichess where users of lichess have reported errors:

* Figures cover the moves scored so far, and include the number of these moves (lila
  #14974, #15855: 100 % while the analysis was running).
* A move that mates is counted, without loss (#11207).
* A move between two positions beyond the cap has no measurable loss, so it is left out
  of the average centipawn loss (#11261).
* The first move is compared with the score of the position it was made from (#13914,
  #11779).
* No move has an accuracy above 100 % (en-croissant #7).
* In all figures a mate counts as the cap, as large scores do (#5617).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.messages.from_sources import Score
from live.messages.values import Color

#: Scores, mates included, are clamped to plus and minus this many centipawns
#: (scalachess, eval.scala: Cp.CEILING).
CAP_CP = 1000
#: Steepness of the chance to win (lila PR #11148, fitted on rapid games of players
#: rated 2300 and above).
_WIN_PER_CP = 0.00368208
#: Constants of a move's accuracy as a function of the lost chance to win (lila,
#: AccuracyPercent.scala).
_SCALE = 103.1668100711649
_RATE = 0.04354415386753951
_OFFSET = -3.166924740191411
#: "Uncertainty bonus, due to imperfect analysis" (same source file).
_BONUS = 1.0
#: Minimum and maximum of the window, in positions, and of the weight of a move (same
#: source file).
_WINDOW = (2, 8)
_WEIGHT = (0.5, 12.0)

#: Score that lichess assumes for the usual starting position (scalachess, eval.scala).
LICHESS_START = Score(cp=15)

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class MeanOfMoves(NamedTuple):
    """Mean of a figure over the counted moves of one side that have a score."""

    value: float | None
    """Mean of the figure; None if no move counts."""
    moves: int


class SideAccuracy(NamedTuple):
    """Accuracy and loss of one side's moves."""

    accuracy: MeanOfMoves
    """Mean accuracy, 0 to 100."""
    centipawn_loss: MeanOfMoves
    """Mean loss per move in centipawns, 0 or more."""


def compute_win_percent(score_cp: Floats) -> Floats:
    """Return White's chance to win, 0 to 100.

    Mates and scores above 1000 centipawns count as 1000 centipawns.
    """
    percent: Floats = 100 / (
        1 + np.exp(-_WIN_PER_CP * np.clip(score_cp, -CAP_CP, CAP_CP))
    )
    return percent


def compute_move_accuracy(lost: Floats) -> Floats:
    """Return the accuracy of moves, 0 to 100.

    ``lost`` is the part of the mover's chance to win that each move loses, in per cent.
    """
    accuracy = np.clip(_SCALE * np.exp(-_RATE * lost) + (_OFFSET + _BONUS), 0.0, 100.0)
    return np.where(lost == 0, 100.0, accuracy)


def compute_game_accuracy(
    scores: Sequence[Score | None], first_mover: Color = "white"
) -> dict[Color, SideAccuracy]:
    """Return the accuracy of both sides of a game.

    Args:
        scores: White's score of every position, the starting one first; None where
            unknown.
        first_mover: the side that makes the first move.
    """
    cp = np.array(
        [np.nan if score is None else score.cp for score in scores], dtype=np.float64
    )
    # ``mate`` is 0 if the side to move is mated. A mating move always counts.
    mating = np.array(
        [score is not None and score.mate == 0 for score in scores[1:]], dtype=bool
    )
    capped = np.clip(cp, -CAP_CP, CAP_CP)
    chances = compute_win_percent(cp)
    first = np.arange(len(cp) - 1) % 2 == 0
    sides: tuple[tuple[Color, Bools], ...] = (("white", first), ("black", ~first))
    if first_mover == "black":
        sides = (("white", ~first), ("black", first))
    worse = np.where(sides[0][1], -1.0, 1.0)
    lost_cp = worse * (capped[1:] - capped[:-1])
    accuracy = compute_move_accuracy(
        np.maximum(0.0, worse * (chances[1:] - chances[:-1]))
    )
    loss = np.maximum(0.0, lost_cp)
    is_measurable = (lost_cp != 0) | (np.abs(capped[1:]) != CAP_CP) | mating
    scored = ~np.isnan(accuracy)
    weights = _compute_weights(chances)
    accuracies: dict[Color, SideAccuracy] = {}
    for color, own in sides:
        is_own_scored = own & scored
        percents = accuracy[is_own_scored]
        weighed = weights[is_own_scored]
        counted = loss[is_own_scored & is_measurable]
        mean = None
        if len(percents):
            weighted = float(percents @ weighed / weighed.sum())
            # Values below 1 count as 1 (lila, Maths.scala), so that one blunder does
            # not make the mean 0.
            mean = (
                weighted + len(percents) / float((1 / np.maximum(percents, 1.0)).sum())
            ) / 2
        accuracies[color] = SideAccuracy(
            MeanOfMoves(mean, len(percents)),
            MeanOfMoves(
                float(counted.sum() / len(counted)) if len(counted) else None,
                len(counted),
            ),
        )
    return accuracies


def _compute_weights(chances: Floats) -> Floats:
    """Return the weight of each move.

    It is the standard deviation of the chances in a window that ends with the position
    after the move. The first moves all use the first complete window. Positions without
    a score are skipped.
    """
    plies = len(chances) - 1
    window = max(_WINDOW[0], min(_WINDOW[1], plies // 10))
    spreads: list[float] = []
    for last in range(2, plies + 2):
        end = min(max(last, window), plies + 1)
        window_chances = chances[max(0, end - window) : end]
        known_chances = window_chances[~np.isnan(window_chances)]
        spreads.append(float(known_chances.std()) if len(known_chances) else 0.0)
    return np.clip(spreads, *_WEIGHT)
