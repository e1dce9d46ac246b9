"""How hard a position is for players of a rating, and what is worth a mark: finds and traps. Pure.

An engine's scores say what each move loses, the shares of :mod:`live.human.question` who plays it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

#: A loss of this many centipawns is an error.
ERROR_CP = 100
#: Scores beyond this are all the same: won.
DECIDED_CP = 1000
#: Of an error's forecast, at least this share of the players' moves must have a score.
SCORED_SHARE = 0.7
#: Shares below this are all the same to the network: too rare to be told apart.
LEAST_SHARE = 1 / 200
#: A find is played by fewer than these.
FIND_SHARE = 1 / 8
#: A trap is what at least these fall into.
TRAP_SHARE = 0.4
#: A find matters: so many would lose a pawn or more instead.
FIND_ERRORS = 0.5
#: What so many play anyway, a recapture or an answer to check, is set for nobody.
TRAP_SET_SHARE = 0.5
#: Whoever sets a trap loses less than this with it, centipawns.
SOUND_LOSS_CP = 50
#: Whoever is this far behind finds nothing any more, centipawns.
LOST_CP = 500
#: Only who stands about level can fall into a trap: centipawns either way.
LEVEL_CP = 150


class Difficulty(NamedTuple):
    """What an engine's scores say of the moves that these players choose."""

    scored: float
    """The share of their moves that have a score; the rest is assumed to be like them."""
    error_chance: float
    """The chance of losing a pawn or more."""
    expected_loss_cp: float
    tempting: bool
    """The move that most of them choose is an error."""
    chosen: tuple[tuple[float, float], ...] = ()
    """How many choose each move that has a score, and what it loses, centipawns."""


def clamped(score_cp: int) -> int:
    """The score, won and lost cut to ``DECIDED_CP``."""
    return max(-DECIDED_CP, min(DECIDED_CP, score_cp))


def losses_cp(scores_cp: Mapping[str, int], best: str, sign: int) -> dict[str, int]:
    """What each move loses against the engine's choice, centipawns, by UCI.

    ``scores_cp``: White's, of one search for several lines, the best first; ``best``: the choice of
    a deeper one, which a quick search may rate too low; ``sign``: 1 where White is to move, else
    -1.
    """
    held = {uci: clamped(sign * score) for uci, score in scores_cp.items()}
    first = held.get(best, next(iter(held.values()), 0))
    return {uci: max(0, first - score) for uci, score in held.items()} | {best: 0}


def difficulty(
    given: Mapping[str, float], losses_cp: Mapping[str, float], others_cp: float | None = None
) -> Difficulty | None:
    """The chance of an error and the expected loss; None when too few of the moves are scored.

    ``given``: how many play each move, on any scale; ``losses_cp``: centipawns that a move loses
    against the best, by UCI, where known; ``others_cp``: what each of the rest loses at least.
    Where that is an error anyway, the rest counts with it, and the expected loss is the least.
    """
    if others_cp is not None and others_cp >= ERROR_CP:
        losses_cp = dict.fromkeys(given, others_cp) | dict(losses_cp)
    known = [(share, losses_cp[uci]) for uci, share in given.items() if uci in losses_cp]
    scored, total = sum(share for share, _ in known), sum(given.values())
    if not total or scored < SCORED_SHARE * total:
        return None
    error = sum(share for share, loss in known if loss >= ERROR_CP) / scored
    mean = sum(share * max(loss, 0.0) for share, loss in known) / scored
    favourite = max(given, key=lambda uci: given[uci])
    tempting = losses_cp.get(favourite, 0) >= ERROR_CP
    return Difficulty(scored / total, error, mean, tempting, tuple(known))


def is_find(share: float, hard: Difficulty, score_cp: int) -> bool:
    """Whether the engine's best move is a find: few play it, and most would err instead.

    ``share``: of the players who play it; ``hard`` and ``score_cp``, the mover's: of the position
    it was played in.
    """
    return share < FIND_SHARE and hard.error_chance >= FIND_ERRORS and score_cp >= -LOST_CP


def is_trap(share: float | None, hard: Difficulty, own_loss_cp: int, score_cp: int) -> bool:
    """Whether a move sets a trap: it costs little, the game is about level, and what most would
    reply loses a pawn or more.

    ``share``: of the players who play it, where known; ``own_loss_cp``: of the move; ``hard`` and
    ``score_cp``: of the position after it.
    """
    return (
        (share is None or share < TRAP_SET_SHARE)
        and hard.tempting
        and hard.error_chance >= TRAP_SHARE
        and own_loss_cp < SOUND_LOSS_CP
        and abs(score_cp) <= LEVEL_CP
    )


def in_words(share: float) -> str:
    """A share as a commentator would say it, no finer than the network can carry.

    ``about 1 in 12``, ``about 4 in 10``, ``nearly all``; below one in 200 all are
    ``fewer than 1 in 200``.
    """
    if share < LEAST_SHARE:
        return "fewer than 1 in 200"
    if share < 0.275:
        return f"about 1 in {_round_many(1 / share)}"
    if share < 0.95:
        tenths = min(max(round(share * 10), 3), 9)
        return "about half" if tenths == 5 else f"about {tenths} in 10"
    return "nearly all"


def _round_many(many: float) -> int:
    """To steps that grow with the number: 4, 5 .. 10, 12, 15, 20, 25, 30, 40, 50, 70, 100 ..."""
    steps = (4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200)
    return min(steps, key=lambda step: abs(math.log(many / step)))
