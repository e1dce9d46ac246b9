"""Estimates how many players choose each move once a search has said what each loses,
how difficult that makes a position, and which moves are finds or traps. Pure.

A network of the size that comes with live-rate sees which moves look natural, not which
of them fail. Its shares are right on average, and yet wrong where it counts: over the
board it leaves 28 % for the engine's choice where 55 % played it, and 21 % for moves
that lose a pawn where 5 % did. So its shares and the losses of a short search are put
together, a conditional logit (McFadden 1974):

    log share = network * log(share of the network) - loss * log(1 + loss / 50 cp) + ...

Players see more of a loss the stronger they are, so ``loss`` rises with Elo. The short
search errs as well, so a move is an error only with a chance. :data:`WEIGHTS` were
learned by ``python -m tests.benchmarks.error_forecast FILE… --learn`` from 1,577
positions of games over the board, of which no player judges them.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

#: A loss of this many centipawns is an error.
ERROR_CP = 100
#: Scores beyond this are all the same: won.
DECIDED_CP = 1000
#: Shares below this are all the same to the network: too rare to be told apart.
LEAST_SHARE = 1 / 200
#: A find is played by fewer than these.
FIND_SHARE = 1 / 4
#: A find matters: the others lose so much with their moves on average, centipawns.
FIND_LOSS_CP = 40
#: Nor is it one where the second-best move loses no more than this as a full search is
#: expected to find, centipawns: by the short search it is 30.
FIND_SECOND_CP = 46
#: A trap is what at least these fall into.
TRAP_SHARE = 0.1
#: What so many play anyway, a recapture or an answer to check, is set for nobody.
TRAP_SET_SHARE = 0.5
#: Whoever sets a trap loses less than this with it, centipawns.
SOUND_LOSS_CP = 50
#: Whoever is this far behind finds nothing any more, centipawns.
LOST_CP = 500
#: Only who stands about level can fall into a trap: centipawns either way.
LEVEL_CP = 150

#: More than two searches of a position usually differ by, centipawns.
DOUBTED_CP = 50
#: Losses are told apart on the scale of ``log(1 + loss / LOSS_CP)``.
LOSS_CP = 50
#: Shares are kept in whole per mille; less than one counts as this.
RAREST_PER_MILLE = 0.5
#: Weights hold for this rating, and change by so much for each ``ELO_STEP`` above it.
MIDDLE_ELO = 2000
ELO_STEP = 400


class ChoiceWeights(NamedTuple):
    """What a choice depends on, as learned from games; ``by_elo`` for each 400 Elo
    above 2000.
    """

    network: float
    """Of the logarithm of the network's share."""
    loss: float
    loss_by_elo: float
    """Of ``log(1 + loss / 50)``, the loss in centipawns of a short search."""
    best: float
    """Of the engine's choice."""
    unsearched: float
    """Of a move that is not among the lines searched."""
    error: float
    error_loss: float
    error_by_elo: float
    """Log-odds that a full search finds an error in a move other than its choice:
    constant, by ``log(1 + loss / 50)``, by Elo."""
    lost_cp: float
    lost_factor: float
    """What a full search finds lost by such a move: constant, and by the loss."""


WEIGHTS = ChoiceWeights(
    0.610, -1.738, -0.451, 0.613, -0.986, -2.997, 2.079, -0.657, 16.1, 0.99
)


class MoveLosses(NamedTuple):
    """What the moves of a position lose, by a short search for several lines, in
    centipawns.
    """

    best: str
    """The choice of the full search, UCI."""
    searched_cp: Mapping[str, int]
    """By UCI, against ``best``, 0 or more."""
    others_cp: int
    """What every other move loses at least: the last line's loss."""

    def find_loss(self, uci: str) -> int:
        """Return what a move loses, in centipawns."""
        return self.searched_cp.get(uci, self.others_cp)


class Difficulty(NamedTuple):
    """What players choose in a position, and what it costs them."""

    shares: Mapping[str, float]
    """0 to 1, by UCI, of the moves searched and of those that the network knows of."""
    error_chance: float
    """The chance of losing a pawn or more."""
    expected_loss_cp: float
    tempting: bool
    """The move that looks most natural, the network's first choice, is an error."""
    lost_cp: Mapping[str, float]
    """What each of the moves loses, as a full search is expected to find."""

    def average_loss_of_others_cp(self, uci: str) -> float:
        """Return what players who choose another move lose on average, in
        centipawns.
        """
        share = self.shares.get(uci, 0.0)
        own = share * self.lost_cp.get(uci, 0.0)
        return (self.expected_loss_cp - own) / (1 - share) if share < 1 else 0.0

    def find_second_loss_cp(self, uci: str) -> float:
        """Return what the best other move loses, in centipawns; 0 without one."""
        others = (lost_cp for other, lost_cp in self.lost_cp.items() if other != uci)
        return min(others, default=0.0)


def clamp_score(score_cp: int) -> int:
    """Return the score, clamped to ``DECIDED_CP`` either way."""
    return max(-DECIDED_CP, min(DECIDED_CP, score_cp))


def compute_move_losses(
    scores_cp: Mapping[str, int], best: str, sign: int, full_cp: int | None = None
) -> MoveLosses | None:
    """Return what the moves lose against the engine's choice; None if none was
    searched.

    ``scores_cp``: White's, of one search for several lines, the best first; ``best``:
    the choice of a deeper one, which a quick search may rate too low; ``sign``: 1 where
    White is to move, else -1; ``full_cp``: White's of the deeper one, where known: a
    quick search that takes its choice for worth more by :data:`DOUBTED_CP` has
    overlooked something, and all others would seem errors.
    """
    if not scores_cp:
        return None
    held = {uci: clamp_score(sign * score) for uci, score in scores_cp.items()}
    first = held.get(best, next(iter(held.values())))
    if full_cp is not None:
        first = min(first, clamp_score(sign * full_cp) + DOUBTED_CP)
    losses = {uci: max(0, first - score) for uci, score in held.items()} | {best: 0}
    return MoveLosses(best, losses, losses[next(reversed(held))])


def estimate_choices(
    per_mille: Mapping[str, int],
    losses: MoveLosses,
    elo: int,
    weights: ChoiceWeights = WEIGHTS,
) -> dict[str, float]:
    """Return how many players of this Elo choose each move, 0 to 1, by UCI.

    ``per_mille``: the network's shares. Promotions to a lesser piece, which no network
    learned apart, are left out.
    """
    by_loss = weights.loss + weights.loss_by_elo * _scale_elo(elo)
    odds = {}
    for uci in {**losses.searched_cp, **per_mille}:
        if uci[4:] in ("", "q"):
            share = max(per_mille.get(uci, 0), RAREST_PER_MILLE) / 1000
            odds[uci] = (
                weights.network * math.log(share)
                + by_loss * _scale_loss(losses.find_loss(uci))
                + (weights.best if uci == losses.best else 0.0)
                + (weights.unsearched if uci not in losses.searched_cp else 0.0)
            )
    top = max(odds.values(), default=0.0)
    chances = {uci: math.exp(each - top) for uci, each in odds.items()}
    total = math.fsum(chances.values())
    return {uci: chance / total for uci, chance in chances.items()}


def estimate_difficulty(
    per_mille: Mapping[str, int],
    losses: MoveLosses,
    elo: int,
    weights: ChoiceWeights = WEIGHTS,
) -> Difficulty:
    """Return what players of this Elo choose, their chance of an error and their
    expected loss.
    """
    shares = estimate_choices(per_mille, losses, elo, weights)
    constant = weights.error + weights.error_by_elo * _scale_elo(elo)
    error = 0.0
    lost_cp = dict.fromkeys(shares, 0.0)
    for uci, share in shares.items():
        if uci != losses.best:
            odds = constant + weights.error_loss * _scale_loss(losses.find_loss(uci))
            error += share / (1 + math.exp(-odds))
            lost_cp[uci] = weights.lost_cp + weights.lost_factor * losses.find_loss(uci)
    mean = math.fsum(share * lost_cp[uci] for uci, share in shares.items())
    natural = max(per_mille, key=lambda uci: per_mille[uci], default=losses.best)
    return Difficulty(
        shares, error, mean, losses.find_loss(natural) >= ERROR_CP, lost_cp
    )


def _scale_loss(loss_cp: int) -> float:
    return math.log1p(loss_cp / LOSS_CP)


def _scale_elo(elo: int) -> float:
    return (elo - MIDDLE_ELO) / ELO_STEP


def is_find(
    share: float, others_lose_cp: float, second_loses_cp: float, score_cp: int
) -> bool:
    """Return whether a move no worse than the engine's choice is a find: few play it,
    and it matters.

    ``share``: of the players who play it; ``others_lose_cp``: what the others lose on
    average; ``second_loses_cp``: what the best of the other moves loses; ``score_cp``,
    the mover's: of the position it was played in.
    """
    is_rare = share < FIND_SHARE
    has_rival = others_lose_cp < FIND_LOSS_CP or second_loses_cp <= FIND_SECOND_CP
    return is_rare and not has_rival and score_cp >= -LOST_CP


def is_trap(
    share: float | None, hard: Difficulty, own_loss_cp: int, score_cp: int
) -> bool:
    """Return whether a move sets a trap: it costs little, the game is about level, the
    reply that looks most natural loses a pawn or more, and many fall for it or err
    otherwise.

    ``share``: of the players who play it, where known; ``own_loss_cp``: of the move;
    ``hard`` and ``score_cp``: of the position after it.
    """
    return (
        (share is None or share < TRAP_SET_SHARE)
        and hard.tempting
        and hard.error_chance >= TRAP_SHARE
        and own_loss_cp < SOUND_LOSS_CP
        and abs(score_cp) <= LEVEL_CP
    )


def format_share(share: float) -> str:
    """Return a share as a commentator would say it, no finer than the network can
    tell.

    ``about 1 in 12``, ``about 4 in 10``, ``nearly all``; below one in 200 all are
    ``fewer than 1 in 200``.
    """
    if share < LEAST_SHARE:
        return "fewer than 1 in 200"
    if share < 0.275:
        return f"about 1 in {_round_to_step(1 / share)}"
    if share < 0.95:
        tenths = min(max(round(share * 10), 3), 9)
        return "about half" if tenths == 5 else f"about {tenths} in 10"
    return "nearly all"


def _round_to_step(many: float) -> int:
    """Round to steps that grow with the number: 4, 5 .. 10, 12, 15, 20, 25, 30, 40, 50,
    70, 100 ...
    """
    steps = (4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200)
    return min(steps, key=lambda step: abs(math.log(many / step)))
