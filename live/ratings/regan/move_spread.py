"""What Regan and Haworth use of a position: how much worse each move is than the best one.

Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 1 and 5. The spread of a
position is Δ = (0, δ_1, …, δ_(N-1)), the distance of the top N moves to the best one, as a
Multi-PV search gives them. With the move played and the overall evaluation it is all that their
method looks at. Needs an engine that shows several lines (some ten or more; the authors had 50).

Evaluations and distances are in pawns here, as the published parameters are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from live.events import MATE_CP

#: Distances are counted in units of ``1 + SCALE * |evaluation|`` pawns. Regan and Haworth 2011,
#: section 5, say "a simple proportional scale correction"; the constant is that of Regan, Macieja
#: and Haworth 2012, *Understanding distributions of chess performances*.
SCALE_PER_PAWN = 1.0

#: "More than 3 pawns ahead" (Regan and Haworth 2011, section 5).
DECIDED_PAWNS = 3.0

#: "Each game was begun on move 9" (Regan and Haworth 2011, section 5).
FIRST_PLY = 17

LeftOut = Literal[
    "opening", "repeated position", "decided position", "a single line", "move not among the lines"
]


class Spread(msgspec.Struct, frozen=True, gc=False):
    """One turn: the distances of its moves, which of them was played, and how the mover stood."""

    deltas: tuple[float, ...]
    """Pawns behind the best move, best move first: 0, then not decreasing."""
    played: int | None
    """Index of the move played; None when it is not among the lines."""
    evaluation: float
    """Of the position (its best move), pawns, mover's side."""

    def __post_init__(self) -> None:
        if not self.deltas or self.deltas[0] != 0:
            raise ValueError("a spread begins with the best move, at a distance of 0")
        # Written so that NaN fails too.
        if not all(a <= b < math.inf for a, b in zip(self.deltas, self.deltas[1:], strict=False)):
            raise ValueError("the distances of a spread are finite and do not decrease")
        if not math.isfinite(self.evaluation):
            raise ValueError(f"evaluation {self.evaluation} is not a number of pawns")
        if self.played is not None and not 0 <= self.played < len(self.deltas):
            raise ValueError(f"the move played has index {self.played}: there is none")

    @property
    def loss(self) -> float | None:
        """Pawns lost by the move played; None when it is not among the lines."""
        return None if self.played is None else self.deltas[self.played]


def spread_of(
    lines: Sequence[tuple[str, int]], played: str, *, scale_per_pawn: float = SCALE_PER_PAWN
) -> Spread:
    """The spread of a position from its Multi-PV lines.

    ``lines`` are moves (UCI) with their scores in centipawns from the mover's side, mate ±3900,
    in any order; ``played`` is the move that was played. Moves of equal score keep their order,
    so the engine's first choice stays first. ``scale_per_pawn`` 0 leaves distances as they are.
    Raises ValueError without lines, for a move listed twice, and for scores beyond ±3900.
    """
    if not lines:
        raise ValueError("a spread needs the lines of a Multi-PV search: there are none")
    if len({move for move, _ in lines}) < len(lines):
        raise ValueError("a move is listed twice among the lines of one position")
    for move, score_cp in lines:
        if not -MATE_CP <= score_cp <= MATE_CP:
            raise ValueError(f"{move} scores {score_cp} cp: clamp scores to ±{MATE_CP} first")
    ranked = sorted(lines, key=lambda line: -line[1])
    best = ranked[0][1] / 100
    return Spread(
        deltas=tuple(
            scaled_delta(best, best - score_cp / 100, scale_per_pawn)
            if score_cp != ranked[0][1]
            else 0.0
            for _, score_cp in ranked
        ),
        played=next((i for i, (move, _) in enumerate(ranked) if move == played), None),
        evaluation=best,
    )


def scaled_delta(evaluation: float, delta: float, scale_per_pawn: float = SCALE_PER_PAWN) -> float:
    """A distance corrected for the size of the evaluation, all in pawns.

    The integral of ``dx / (1 + scale_per_pawn |x|)`` from ``evaluation - delta`` to
    ``evaluation`` (Regan and Haworth 2011, section 5: the same player's mistakes are larger when
    the evaluation is). Raises ValueError for a negative distance or scale and for NaN.
    """
    if not delta >= 0 or not scale_per_pawn >= 0 or math.isnan(evaluation):
        raise ValueError(f"no distance of {delta} pawns at an evaluation of {evaluation}")
    if scale_per_pawn == 0:
        return delta
    return _stretched(evaluation, scale_per_pawn) - _stretched(evaluation - delta, scale_per_pawn)


def _stretched(pawns: float, scale: float) -> float:
    return math.copysign(math.log1p(scale * abs(pawns)) / scale, pawns)


def left_out(spread: Spread, ply: int, *, repeated: bool = False) -> LeftOut | None:
    """Why a turn does not count, or None when it does (Regan and Haworth 2011, section 5).

    ``ply`` is that of the move played, from 1; ``repeated`` says that the position occurred
    before in the game. A turn with one line has nothing to choose from. A move that is not among
    the lines has no distance: its turn is left out, which biases no fit of the shares model, for
    there the odds between two moves do not depend on the others.
    """
    if ply < FIRST_PLY:
        return "opening"
    if repeated:
        return "repeated position"
    if abs(spread.evaluation) > DECIDED_PAWNS:
        return "decided position"
    if len(spread.deltas) < 2:
        return "a single line"
    return "move not among the lines" if spread.played is None else None
