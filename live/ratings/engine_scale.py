"""Conversion of an engine's scores to the scale of another engine.

A model is valid for the engine and limit with which it was learned. Another engine or
limit has another scale of centipawns. To measure this scale, the other engine searches
a set of reference positions once, for which the scores of the first engine are stored.
The ratio of the two scales is the slope of a line through the origin. Scores and gains
are divided by this ratio before they are compared. If the correlation is below
:data:`LEAST_CORRELATION`, the scores measure something different, and no scale is used.
"""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from live.messages.values import Value
from live.ratings.learned_files import LearnedFiles

#: Scores are clipped to this when the slope is computed, centipawns. Engines differ in
#: how they score won games, and moves in won games show little about the player.
CLIP_CP = 600
#: Minimum number of positions for a reliable slope.
LEAST_POSITIONS = 50
#: Minimum correlation of an engine's scores with the stored ones, over the reference
#: positions.
LEAST_CORRELATION = 0.96
#: Scale that is assumed for an engine and limit before they are measured. It is typical
#: of engines.
UNMEASURED_SCALE = 0.9
#: The clip, in the engine's centipawns, depends on the engine's scale, and the scale on
#: the clip, so both are computed by iteration. It ends after this many steps, or when a
#: step changes the scale by less than ``_CLOSE``.
_STEPS = 50
_CLOSE = 1e-6


class ReferencePosition(Value):
    """One position of the reference set."""

    fen: str
    score_cp: int
    """White's score by the reference engine, centipawns; mate is ±3900."""


class ReferenceSet(Value):
    """Positions with which every engine is measured."""

    engine: str
    """Engine whose scores are stored (UCI ``id name``)."""
    limit: str
    data: str
    """Origin of the positions, as text for people."""
    positions: tuple[ReferencePosition, ...]


class ScoreAgreement(Value):
    """Relation of the scores of an engine and limit to those of the reference."""

    scale: float
    """Centipawns of this engine per centipawn of the reference."""
    scale_error: float
    """Standard error of ``scale``."""
    correlation: float
    positions: int


def measure_agreement(
    reference_cp: Sequence[int], measured_cp: Sequence[int]
) -> ScoreAgreement:
    """Compare two lists of White's scores of the same positions; mate is ±3900.

    The slope is the least-squares line through the origin. Both scores are clipped at
    the same advantage (``CLIP_CP`` of the reference). The standard error is the
    sandwich estimate (White 1980), because large scores scatter more than small ones.

    Raises:
        ValueError: there are fewer than :data:`LEAST_POSITIONS` positions, or every
            reference score is 0.
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
    """Measurement of an engine and limit on the reference positions."""

    agreement: ScoreAgreement
    nodes: int
    """Median number of nodes of a search."""

    @property
    def explain_refusal(self) -> str:
        """Return the reason why the engine's scores cannot be converted; empty if they
        can.

        The reason is text for people.
        """
        agreement = self.agreement
        if agreement.correlation < LEAST_CORRELATION:
            return (
                "its scores differ too much from those that ratings were learned "
                f"with (correlation {agreement.correlation:.2f}, "
                f"{LEAST_CORRELATION:.2f} is needed): search longer, or use another "
                "engine"
            )
        if not agreement.scale > 0:
            return (
                "its scores do not grow with those that ratings were learned with:"
                " use another engine"
            )
        return ""


class ScoredReference(NamedTuple):
    """Result of the engine in use for one reference position."""

    score_cp: int
    """White's score, centipawns; mate is ±3900."""
    nodes: int


def measure_engine(
    reference: ReferenceSet, scored: Sequence[ScoredReference | None]
) -> MeasuredEngine | str:
    """Compare an engine's results for the reference positions with the stored scores.

    ``scored`` has the order of the positions. If there are too few results, return the
    reason why the engine cannot be compared, as text for people.
    """
    reference_cp: list[int] = []
    answers: list[ScoredReference] = []
    for position, answer in zip(reference.positions, scored, strict=True):
        if answer is not None:
            reference_cp.append(position.score_cp)
            answers.append(answer)
    if len(answers) < LEAST_POSITIONS:
        number = len(scored)
        return (
            f"it could not be measured: it gave no score for {number - len(answers)} of"
            f" {number} reference positions"
        )
    agreement = measure_agreement(reference_cp, [answer.score_cp for answer in answers])
    nodes = round(statistics.median(answer.nodes for answer in answers))
    return MeasuredEngine(agreement=agreement, nodes=nodes)


_REFERENCES = LearnedFiles("references", ReferenceSet, "set of reference positions")


def load_reference() -> ReferenceSet:
    """Return the reference positions with their scores."""
    return _REFERENCES.load("positions")
