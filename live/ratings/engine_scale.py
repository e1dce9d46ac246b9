"""A model of one engine, used with the scores of another engine or another limit.

A model holds for the engine and limit it was learned with. Another engine counts
centipawns on another scale, so a set of reference positions, of which the first
engine's scores are stored, is searched once with the other. The slope of its scores
through the origin is the ratio of the two scales, and scores and gains are divided by
it before they are compared. Below a correlation of :data:`LEAST_CORRELATION` the scores
measure something else, and nothing is read through a scale.
"""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from live.messages.values import Value
from live.ratings.learned_files import LearnedFiles

#: Scores count no further than this in the slope: beyond, engines differ in how they
#: show a won game, and no move there says much about its player.
CLIP_CP = 600
#: Fewest positions that a slope is believed from.
LEAST_POSITIONS = 50
#: Least correlation of the scores with the stored ones, over the reference positions.
LEAST_CORRELATION = 0.96
#: Of an engine and limit nobody has measured yet: about any engine's.
UNMEASURED_SCALE = 0.9
#: Where a won game begins on the scale of the engine depends on its scale: both are
#: found in turn.
_STEPS = 50
_CLOSE = 1e-6


class ReferencePosition(Value):
    """One position of the reference set."""

    fen: str
    score_cp: int
    """White's side, mate ±3900, as the engine of the models scored it."""


class ReferenceSet(Value):
    """Positions that every engine is measured on."""

    engine: str
    """Whose scores are stored (UCI ``id name``)."""
    limit: str
    data: str
    """Where the positions are from, for people."""
    positions: tuple[ReferencePosition, ...]


class ScoreAgreement(Value):
    """How the scores of an engine and limit go with those of the reference."""

    scale: float
    """Centipawns of this engine to one of the reference."""
    scale_error: float
    """Standard error of ``scale``."""
    correlation: float
    positions: int


def measure_agreement(
    reference_cp: Sequence[int], measured_cp: Sequence[int]
) -> ScoreAgreement:
    """Compare scores of the same positions, as many of both, White's side, mate ±3900.

    The slope is the least-squares line through the origin, both scores clipped at the
    same won game (``CLIP_CP`` of the reference); its standard error is the sandwich
    estimate (White 1980), since large scores scatter more than small ones.

    Raises:
        ValueError: there are fewer than :data:`LEAST_POSITIONS`, or all are even.
    """
    n = len(reference_cp)
    if n < LEAST_POSITIONS:
        raise ValueError(f"{n} positions: {LEAST_POSITIONS} are needed")
    x = np.clip(np.array(reference_cp, dtype=np.float64), -CLIP_CP, CLIP_CP)
    raw = np.array(measured_cp, dtype=np.float64)
    squares = float(x @ x)
    if not squares:
        raise ValueError("every score of the reference is 0")
    scale = 1.0
    for _ in range(_STEPS):
        end = CLIP_CP * scale
        y = np.clip(raw, -end, end)
        before = scale
        scale = float(x @ y) / squares
        if scale <= 0 or abs(scale - before) < _CLOSE:
            break
    error = math.sqrt(float(((y - scale * x) * x) @ ((y - scale * x) * x))) / squares
    spread = float(x.std() * y.std())
    covariance = float(((x - x.mean()) * (y - y.mean())).mean())
    return ScoreAgreement(scale, error, covariance / spread if spread else 0.0, n)


class MeasuredEngine(Value):
    """What searching the reference positions has shown of an engine and limit."""

    agreement: ScoreAgreement
    nodes: int
    """Of a search, the median."""

    @property
    def explain_refusal(self) -> str:
        """Why its scores are not read through a scale, for people; empty where they
        are.
        """
        held = self.agreement
        if held.correlation < LEAST_CORRELATION:
            return (
                "it scores too unlike the engines that ratings were learned with"
                f" (correlation {held.correlation:.2f}, {LEAST_CORRELATION:.2f} is"
                " needed): search longer, or take another"
            )
        if not held.scale > 0:
            return (
                "its scores do not grow with those that ratings were learned with:"
                " take another"
            )
        return ""


class ScoredReference(NamedTuple):
    """What the engine in use found of one reference position."""

    score_cp: int
    """White's side, mate ±3900."""
    nodes: int


def measure_engine(
    reference: ReferenceSet, scored: Sequence[ScoredReference | None]
) -> MeasuredEngine | str:
    """Compare what an engine found of each reference position, in their order, with the
    stored scores; return why it cannot be compared, for people, if it found too little.
    """
    reference_cp: list[int] = []
    known: list[ScoredReference] = []
    for position, each in zip(reference.positions, scored, strict=True):
        if each is not None:
            reference_cp.append(position.score_cp)
            known.append(each)
    if len(known) < LEAST_POSITIONS:
        number = len(scored)
        return (
            f"it could not be measured: it gave no score for {number - len(known)} of"
            f" {number} reference positions"
        )
    agreement = measure_agreement(reference_cp, [each.score_cp for each in known])
    nodes = round(statistics.median(each.nodes for each in known))
    return MeasuredEngine(agreement=agreement, nodes=nodes)


_REFERENCES = LearnedFiles("references", ReferenceSet, "set of reference positions")


def load_reference() -> ReferenceSet:
    """Return the reference positions with their scores."""
    return _REFERENCES.load("positions")
