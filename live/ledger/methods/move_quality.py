"""Every move as the methods beside Ferreira's need it, and one side's moves of a game counted."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from live.events import Score
from live.ledger.game.game_evaluations import KnownMove
from live.ratings.alliot.conformance import (
    GUID_BRATKO,
    PONDERATED,
    RAW,
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


def judged(known: KnownMove) -> MoveQuality:
    """What is finally known of a move."""
    before = known.before
    forced = known.board.forced
    after = known.after.score if known.after else None
    if before is None:
        return MoveQuality(known.ply, forced=forced, after=after)
    sign = 1 if known.mover == "white" else -1
    choice = None if before.best is None else before.best == known.uci
    spread = _counted_spread(known, [(line.move, sign * line.score.cp) for line in before.lines])
    return MoveQuality(
        known.ply,
        sign * before.score.cp,
        known.gains.same_search_cp,
        choice,
        forced,
        spread,
        after,
    )


def _counted_spread(known: KnownMove, lines: list[tuple[str, int]]) -> Spread | None:
    # An engine stopped while it orders its lines may list one move at two ranks, and so miss one.
    if len(lines) < 2 or len({move for move, _ in lines}) < len(lines):
        return None
    spread = spread_of(lines, known.uci)
    return None if left_out(spread, known.ply, repeated=known.board.repeated) else spread


class Counted(NamedTuple):
    """Moves counted, and how many of them conform."""

    n: int = 0
    within: int = 0


class MoveCounts(NamedTuple):
    """One player's moves of one game, as the shares of the methods are made of."""

    raw: Counted = Counted()
    guid_bratko: Counted = Counted()
    ponderated: Counted = Counted()
    first_choice: Counted = Counted()
    markov: int = 0
    """Moves that count for the Markov predictor."""
    scored: int = 0
    """Moves of which the score before is known."""
    chosen: int = 0
    """Those that can be compared with a first choice."""

    def after(self, move: MoveQuality) -> MoveCounts:
        """With one more move, as far as it is judged."""
        if move.best_cp is None:
            return self
        counts = self._replace(scored=self.scored + 1)
        if move.gain_cp is not None and is_counted(move.ply, forced=move.forced):
            found = [kind.of(move.best_cp, move.gain_cp) for kind in _KINDS]
            raw, guid_bratko, ponderated = (
                held if shortfall is None else _one_more(held, shortfall <= kind.x_cp)
                for held, shortfall, kind in zip(counts[:3], found, _KINDS, strict=True)
            )
            counts = counts._replace(
                raw=raw, guid_bratko=guid_bratko, ponderated=ponderated, markov=counts.markov + 1
            )
        if move.first_choice is None:
            return counts
        choice = counts.first_choice
        decided = abs(move.best_cp) > DECIDED_CP
        if move.ply >= FIRST_CHOICE_PLY and not move.forced and not decided:
            choice = _one_more(choice, move.first_choice)
        return counts._replace(chosen=counts.chosen + 1, first_choice=choice)

    @property
    def unchosen(self) -> bool:
        """Scores without a first choice are all there is, as ``[%eval]`` comments give them."""
        return self.scored > 0 and not self.chosen


_KINDS = (RAW, GUID_BRATKO, PONDERATED)


def _one_more(held: Counted, within: bool) -> Counted:
    return Counted(held.n + 1, held.within + within)
