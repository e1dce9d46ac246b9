"""A calibration of one engine, used with the scores of another engine or another limit.

A calibration holds for the engine and limit it was learned with. Another engine counts centipawns
on another scale, so a set of reference positions, of which the first engine's scores are stored, is
searched once with the other. The slope of its scores through the origin is the ratio of the two
scales, and scores and gains are divided by it before they are weighed.

What no scale can mend is added to the uncertainty. Two engines disagree about single moves, so the
evidence of a game differs by more than its scale: its variance grows, and the evidence counts by
``weight``, the share of the variance that it had before. A longer search also finds other faults
than a shorter one; that shifts the evidence by ``offset_elo``, learned from games searched at
several limits. Below a correlation of :data:`LEAST_CORRELATION` the scores measure something else,
and nothing is transferred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import msgspec
import numpy as np

from live.ratings.learned_files import LearnedFiles

_REFERENCES = LearnedFiles("references", "set of reference positions")
_TERMS = LearnedFiles("transfers", "terms of a transfer")

#: Scores count no further than this in the slope: beyond, engines differ in how they show a won
#: game, and no move there says much about its player.
CLIP_CP: Final = 600
#: Fewest positions that a slope is believed from.
LEAST_POSITIONS: Final = 50
#: Least correlation of the scores with the stored ones, over the reference positions.
LEAST_CORRELATION: Final = 0.96
#: Where a won game begins on the scale of the engine depends on its scale: both are found in turn.
_STEPS: Final = 50
_CLOSE: Final = 1e-6


class ReferencePosition(msgspec.Struct, frozen=True):
    """One position of the reference set."""

    fen: str
    score_cp: int
    """White's side, mate ±3900, as the engine of the calibrations scored it."""


class ReferenceSet(msgspec.Struct, frozen=True, kw_only=True):
    """Positions that every engine is measured on."""

    engine: str
    """Whose scores are stored (UCI ``id name``)."""
    limit: str
    data: str
    """Where the positions are from, for people."""
    positions: tuple[ReferencePosition, ...]


class ScoreAgreement(msgspec.Struct, frozen=True):
    """How the scores of an engine and limit go with those of the reference."""

    scale: float
    """Centipawns of this engine to one of the reference."""
    scale_error: float
    """Standard error of ``scale``."""
    correlation: float
    positions: int


def agreement(reference_cp: Sequence[int], measured_cp: Sequence[int]) -> ScoreAgreement:
    """Compare scores of the same positions, White's side, mate ±3900.

    The slope is the least-squares line through the origin, both scores clipped at the same won
    game (``CLIP_CP`` of the reference); its standard error is the sandwich estimate (White 1980),
    since large scores scatter more than small ones.

    Raises:
        ValueError: there are fewer than :data:`LEAST_POSITIONS`, or not as many of both.
    """
    if len(reference_cp) != len(measured_cp):
        raise ValueError(f"{len(reference_cp)} scores against {len(measured_cp)}")
    n = len(reference_cp)
    if n < LEAST_POSITIONS:
        raise ValueError(f"{n} positions: {LEAST_POSITIONS} are needed")
    x = np.clip(np.array(reference_cp, dtype=np.float64), -CLIP_CP, CLIP_CP)
    raw = np.array(measured_cp, dtype=np.float64)
    squares = float(x @ x)
    if squares == 0:
        raise ValueError("every reference score is 0")
    scale = 1.0
    for _ in range(_STEPS):
        end = CLIP_CP * scale
        y = np.clip(raw, -end, end)
        before, scale = scale, float(x @ y) / squares
        if scale <= 0 or abs(scale - before) < _CLOSE:
            break
    error = math.sqrt(float(((y - scale * x) * x) @ ((y - scale * x) * x))) / squares
    spread = float(x.std() * y.std())
    covariance = float(((x - x.mean()) * (y - y.mean())).mean())
    return ScoreAgreement(scale, error, covariance / spread if spread else 0.0, n)


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """How a calibration reads moves judged by another engine or under another limit."""

    scale: float
    """Centipawns of the engine in use to one of the calibration's."""
    weight: float
    """The share of a move's evidence that counts, in (0, 1]."""
    offset_elo: float
    """By how much the evidence of this limit lies too high, once it is scaled."""
    correlation: float | None = None
    """Of the scores on the reference positions; None while they are not measured."""
    positions: int = 0
    """Reference positions measured."""

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise ValueError(f"scale {self.scale} is not above 0")
        if not 0 < self.weight <= 1:
            raise ValueError(f"weight {self.weight} is not in (0, 1]")
        if not math.isfinite(self.offset_elo):
            raise ValueError(f"offset {self.offset_elo} is no number of Elo")

    def scaled(self, score_cp: float) -> float:
        """A score or gain of the engine in use, in centipawns of the calibration's."""
        return score_cp / self.scale

    def swap_sd_elo(self, evidence_sd_elo: float) -> float:
        """What the change of engine adds to evidence of this standard deviation, Elo: the two in
        quadrature are the standard deviation that is shown.
        """
        return evidence_sd_elo * math.sqrt(1 / self.weight - 1)


class LimitTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned from games searched at one limit."""

    nodes: int
    """Of a search, the usual number."""
    weight: float
    offset_elo: float
    offset_error_elo: float
    """Standard error of ``offset_elo``."""
    games: int
    """Player-games it was learned from."""


class TransferTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What scores of positions cannot say of another engine or limit, learned from games that two
    engines searched.
    """

    data: str
    date: str
    unmeasured: Transfer
    """Of an engine and limit nobody has measured yet: about any engine's scale, and wide."""
    limits: tuple[LimitTerms, ...]
    """By increasing ``nodes``."""

    def __post_init__(self) -> None:
        if not self.limits:
            raise ValueError("terms need a limit")
        if any(low.nodes >= high.nodes for low, high in pairwise(self.limits)):
            raise ValueError("limits must increase")

    def at(self, nodes: float) -> tuple[float, float]:
        """Weight and offset of searches of ``nodes``: on the line between the limits learned, by
        the logarithm of their nodes; beyond them those of the nearest.
        """
        logs = [math.log(limit.nodes) for limit in self.limits]
        at = math.log(max(1.0, nodes))
        weight, offset = (
            float(np.interp(at, logs, values))
            for values in (
                [limit.weight for limit in self.limits],
                [limit.offset_elo for limit in self.limits],
            )
        )
        return weight, offset


class MeasuredEngine(msgspec.Struct, frozen=True, kw_only=True):
    """What searching the reference positions has shown of an engine and limit."""

    agreement: ScoreAgreement
    nodes: int
    """Of a search, the median."""

    @property
    def refusal(self) -> str:
        """Why nothing is transferred, for people; empty where it is."""
        held = self.agreement
        if held.correlation < LEAST_CORRELATION:
            return (
                f"its scores do not fit: correlation {held.correlation:.2f} over {held.positions} "
                f"reference positions, {LEAST_CORRELATION:.2f} are needed"
            )
        if not held.scale > 0:
            return "its scores do not fit: they do not grow with those of the reference"
        return ""

    def transfer(self, terms: TransferTerms) -> Transfer:
        """Raises ValueError where :attr:`refusal` gives a reason."""
        if self.refusal:
            raise ValueError(self.refusal)
        weight, offset_elo = terms.at(self.nodes)
        return Transfer(
            scale=self.agreement.scale,
            weight=weight,
            offset_elo=offset_elo,
            correlation=self.agreement.correlation,
            positions=self.agreement.positions,
        )


def load_reference() -> ReferenceSet:
    """The reference positions that come with the package."""
    return msgspec.json.decode(_REFERENCES.read("positions"), type=ReferenceSet)


def load_terms() -> TransferTerms:
    """The terms that come with the package."""
    return msgspec.json.decode(_TERMS.read("classical"), type=TransferTerms)
