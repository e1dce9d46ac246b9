"""The gain of a move: how many centipawns the mover won or lost by playing it.

Two definitions, and every result names the one it used (``live.events.GainKind``):

* ``same-search`` (Alliot 2017, section 3.3): the score of the move played minus the score of the
  engine's first choice, both searched from the position before the move. It is 0 for the first
  choice itself and never above 0.
* ``successive`` (Ferreira 2012, Algorithm 1, step 2): the score of the position after the move
  minus the score of the position before it.
"""

from __future__ import annotations

from live.events import MATE_CP, Color, Score

#: The largest gain: from being mated to mating (Ferreira 2012, section 3).
MAX_GAIN_CP = 2 * MATE_CP


def same_search_gain(best: Score, played: Score, mover: Color) -> int:
    """Gain in centipawns, mover's side, at most 0.

    ``best`` and ``played`` are scores of two moves from the same position, White's side. A move
    that scores better than the first choice did so by search noise, and counts 0
    (Alliot 2017, section 3.3).

    >>> from live.events import Score
    >>> same_search_gain(Score(30), Score(-25), "white")
    -55
    >>> same_search_gain(Score(-25), Score(30), "black")
    -55
    """
    return min(0, successive_gain(best, played, mover))


def successive_gain(before: Score, after: Score, mover: Color) -> int:
    """Gain in centipawns, mover's side: ``after - before`` for White, the negative for Black.

    Scores are White's side (Ferreira 2012, Algorithm 1, step 2). Raises ValueError when a score
    lies outside ±3900, since then it was never clamped.

    >>> from live.events import Score
    >>> successive_gain(Score(30), Score(55), "white")
    25
    >>> successive_gain(Score(30), Score(55), "black")
    -25
    """
    rise_cp = after.cp - before.cp
    return checked_gain(rise_cp if mover == "white" else -rise_cp)


def checked_gain(gain_cp: int) -> int:
    """Give back ``gain_cp`` if it is a whole number of centipawns in [-7800, 7800].

    Raises ValueError for anything else, NaN and fractions included: one such value in a histogram
    would spoil every figure drawn from it.
    """
    if isinstance(gain_cp, bool) or not isinstance(gain_cp, int):
        raise ValueError(f"gain {gain_cp!r} is not a whole number of centipawns")
    if not -MAX_GAIN_CP <= gain_cp <= MAX_GAIN_CP:
        raise ValueError(f"gain {gain_cp} cp is outside ±{MAX_GAIN_CP}: clamp the scores first")
    return gain_cp
