"""Every move as the methods beside Ferreira's need it, and one side's moves of a game counted.

Counts are whole numbers and do not depend on order, so a side after any history equals a fresh
count of the moves that stand.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from live.events import Color, Score
from live.ledger.game.game_evaluations import GameEvaluations
from live.ratings.accuracy import Accuracy, CentipawnLoss
from live.ratings.alliot.conformance import (
    GUID_BRATKO,
    PONDERATED,
    RAW,
    AccumulatedConformance,
    is_counted,
)
from live.ratings.regan.move_spread import Spread, left_out, spread_of

#: "Each game was begun on move 9", "more than 3 pawns ahead" (Regan and Haworth 2011, section 5).
FIRST_CHOICE_PLY = 17
DECIDED_CP = 300


class MoveQuality(msgspec.Struct, frozen=True, gc=False):
    """One move against the engine's choice; scores and gain from the mover's side."""

    ply: int
    best_cp: int | None = None
    """Score of the position before the move; None while unknown."""
    gain_cp: int | None = None
    """Same-search gain; None while unknown, or for ever without a first choice."""
    first_choice: bool | None = None
    """Whether it was the engine's own; None where nobody chose."""
    forced: bool = False
    """It was the only legal move."""
    spread: Spread | None = None
    """What there was to choose from, where the engine showed several lines and the turn counts
    (Regan and Haworth 2011, section 5)."""
    after: Score | None = None
    """Final score of the position after the move, White's side."""


def judged(known: GameEvaluations, ply: int) -> MoveQuality:
    """What is finally known of ``ply``."""
    before, following = known.position(ply - 1), known.position(ply)
    forced = known.forced(ply)
    after = following.score if following else None
    if before is None:
        return MoveQuality(ply, forced=forced, after=after)
    sign = 1 if known.mover(ply) == "white" else -1
    choice = None if before.best is None else before.best == known.move(ply)
    gain_cp = known.gains(ply).same_search_cp
    spread = _counted_spread(
        known, ply, [(line.move, sign * line.score.cp) for line in before.lines]
    )
    return MoveQuality(ply, sign * before.score.cp, gain_cp, choice, forced, spread, after)


def _counted_spread(
    known: GameEvaluations, ply: int, lines: list[tuple[str, int]]
) -> Spread | None:
    # An engine stopped while it orders its lines may list one move at two ranks, and so miss one.
    if len(lines) < 2 or len({move for move, _ in lines}) < len(lines):
        return None
    spread = spread_of(lines, known.move(ply))
    return None if left_out(spread, ply, repeated=known.repeated(ply)) else spread


class QualityShares(Protocol):
    """Moves counted, and how many of them conform."""

    @property
    def n(self) -> int: ...

    @property
    def within(self) -> int: ...


class SideQuality(Protocol):
    """One player's moves of one game, as they are pooled over games."""

    @property
    def color(self) -> Color: ...

    @property
    def raw(self) -> QualityShares: ...

    @property
    def guid_bratko(self) -> QualityShares: ...

    @property
    def ponderated(self) -> QualityShares: ...

    @property
    def choices(self) -> int: ...

    @property
    def matches(self) -> int: ...

    @property
    def markov_moves(self) -> int: ...

    @property
    def accuracy(self) -> Accuracy: ...

    @property
    def loss(self) -> CentipawnLoss: ...

    @property
    def unchosen(self) -> bool: ...

    @property
    def turns(self) -> tuple[Spread, ...]: ...

    @property
    def revision(self) -> int: ...

    @property
    def moves(self) -> tuple[MoveQuality, ...]: ...


class SideMoves:
    """One player's moves of one game. ``accuracy`` and ``loss`` are set by whoever knows all
    positions (:class:`live.ledger.methods.game_methods.GameMethodsState`).
    """

    __slots__ = (
        "_chosen",
        "_known",
        "_moves",
        "_spreads",
        "accuracy",
        "choices",
        "color",
        "guid_bratko",
        "loss",
        "markov_moves",
        "matches",
        "ponderated",
        "raw",
        "revision",
    )

    def __init__(self, color: Color) -> None:
        self.color: Color = color
        self._moves: dict[int, MoveQuality] = {}
        self._spreads: dict[int, Spread] = {}
        self.raw = AccumulatedConformance(RAW)
        self.guid_bratko = AccumulatedConformance(GUID_BRATKO)
        self.ponderated = AccumulatedConformance(PONDERATED)
        self.revision = 0
        """Counts the changes, so that what is pooled is added up anew only after one."""
        self.choices = 0
        self.matches = 0
        self.markov_moves = 0
        self._known = 0
        self._chosen = 0
        self.accuracy = Accuracy(None, None, 0, 0)
        self.loss = CentipawnLoss(None, None, 0, 0, 0)

    def add(self, move: MoveQuality) -> None:
        """Count a move as far as it is judged."""
        self._moves[move.ply] = move
        if move.spread is not None:
            self._spreads[move.ply] = move.spread
        self._count(move, 1)

    def remove(self, move: MoveQuality) -> None:
        """Take back a move added with the same figures."""
        del self._moves[move.ply]
        self._spreads.pop(move.ply, None)
        self._count(move, -1)

    def in_use(self, accuracy: Accuracy, loss: CentipawnLoss) -> None:
        """What all positions together say of this side."""
        if (accuracy, loss) != (self.accuracy, self.loss):
            self.accuracy, self.loss = accuracy, loss
            self.revision += 1

    def _count(self, move: MoveQuality, by: int) -> None:
        self.revision += 1
        if move.best_cp is None:
            return
        self._known += by
        if move.gain_cp is not None:
            for tally in (self.raw, self.guid_bratko, self.ponderated):
                change = tally.add if by > 0 else tally.remove
                change(move.best_cp, move.gain_cp, ply=move.ply, forced=move.forced)
            self.markov_moves += by * is_counted(move.ply, forced=move.forced)
        if move.first_choice is None:
            return
        self._chosen += by
        decided = abs(move.best_cp) > DECIDED_CP
        if move.ply >= FIRST_CHOICE_PLY and not move.forced and not decided:
            self.choices += by
            self.matches += by * move.first_choice

    @property
    def turns(self) -> tuple[Spread, ...]:
        """What there was to choose from in turns that count, in ply order; empty without
        Multi-PV.
        """
        if not self._spreads:
            return ()
        return tuple(self._spreads[ply] for ply in sorted(self._spreads))

    @property
    def moves(self) -> tuple[MoveQuality, ...]:
        """Every move, judged or not."""
        return tuple(self._moves.values())

    @property
    def unchosen(self) -> bool:
        """Scores without a first choice are all there is, as ``[%eval]`` comments give them."""
        return self._known > 0 and not self._chosen
