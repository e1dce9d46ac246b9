"""Estimates of how people choose among the moves of a position. Pure.

The estimates are: the share of players who choose each move, the difficulty of the
position, and whether a move is a find or a trap.

A neural network of the size that comes with live-rate recognises which moves look
natural, but not which of them fail. Its shares are right on average, yet wrong where it
matters: over the board it predicts 28 % for the engine's choice where 55 % played it,
and 21 % for moves that lose a pawn where 5 % played them. So its shares are combined
with the losses found by a short search, in a conditional logit (McFadden 1974):

    log share = network * log(share of the network) - loss * log(1 + loss / 50 cp) + ...

Stronger players avoid losses more often, so the weight of ``loss`` increases with Elo.
The short search can be wrong too, so a move is an error only with some probability.
:data:`WEIGHTS` were learned by ``python -m tests.benchmarks.error_forecast FILE…
--learn`` from 1,577 positions of games over the board. They were tested on games of
other players.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

#: Least loss of an error, centipawns.
ERROR_CP = 100
#: Scores are clamped to plus or minus this many centipawns, since all positions beyond
#: are equally decided.
DECIDED_CP = 1000
#: Shares below this are treated as equal, because the neural network cannot estimate
#: them.
LEAST_SHARE = 1 / 200
#: A move is a find only if less than this share of players play it.
FIND_SHARE = 1 / 4
#: A move is a find only if the moves of all other players lose at least this on
#: average, centipawns.
FIND_LOSS_CP = 40
#: A move is a find only if the second-best move loses more than this, centipawns. This
#: is the loss that a full search is expected to find; by the short search it is 30.
FIND_SECOND_CP = 46
#: A move is a trap only if the chance of an error by the opponent is at least this.
TRAP_SHARE = 0.1
#: A move that at least this share of players make anyway, such as a recapture or an
#: answer to check, is not a trap.
TRAP_SET_SHARE = 0.5
#: A move is a trap only if it loses less than this itself, centipawns.
SOUND_LOSS_CP = 50
#: A move is a find only if the mover is behind by at most this, centipawns.
LOST_CP = 500
#: A move is a trap only if the score is within plus or minus this many centipawns.
LEVEL_CP = 150

#: Score difference, centipawns, that two searches of a position usually do not exceed.
DOUBTED_CP = 50
#: Losses are compared on the scale of ``log(1 + loss / LOSS_CP)``.
LOSS_CP = 50
#: Shares are stored in whole per mille; a share below one counts as this.
RAREST_PER_MILLE = 0.5
#: The weights hold for ``MIDDLE_ELO``. For each ``ELO_STEP`` above, they change by
#: their ``by_elo``.
MIDDLE_ELO = 2000
ELO_STEP = 400


class ChoiceWeights(NamedTuple):
    """Weights of a choice, learned from games; ``by_elo`` is the change for each 400
    Elo above 2000.
    """

    network: float
    """Weight of the logarithm of the neural network's share."""
    loss: float
    loss_by_elo: float
    """Weights of ``log(1 + loss / 50)``, with a short search's loss in centipawns."""
    best: float
    """Weight of the engine's choice."""
    unsearched: float
    """Weight of a move that is not among the lines searched."""
    error: float
    error_loss: float
    error_by_elo: float
    """Log-odds that a full search finds an error in a move other than its choice: the
    constant, the weight of ``log(1 + loss / 50)``, and the change by Elo.
    """
    lost_cp: float
    lost_factor: float
    """Loss that a full search finds in a move other than its choice: the constant, and
    the factor of the short search's loss.
    """


WEIGHTS = ChoiceWeights(
    0.610, -1.738, -0.451, 0.613, -0.986, -2.997, 2.079, -0.657, 16.1, 0.99
)


class MoveLosses(NamedTuple):
    """Losses of a position's moves by a short search for several lines, centipawns."""

    best: str
    """The choice of the full search, UCI."""
    searched_cp: Mapping[str, int]
    """Losses by UCI, relative to ``best``, 0 or more."""
    others_cp: int
    """Lower limit of the loss of all other moves: the loss of the last line."""

    def find_loss(self, uci: str) -> int:
        """Return the loss of a move, in centipawns."""
        return self.searched_cp.get(uci, self.others_cp)


class Difficulty(NamedTuple):
    """Choices of players in a position, and their losses."""

    shares: Mapping[str, float]
    """Shares of the moves searched and of those that the neural network lists, 0 to 1,
    by UCI.
    """
    error_chance: float
    """Chance of losing a pawn or more."""
    expected_loss_cp: float
    tempting: bool
    """True if the move that looks most natural, the neural network's first choice, is
    an error.
    """
    lost_cp: Mapping[str, float]
    """Loss of each move in ``shares`` that a full search is expected to find."""

    def average_loss_of_others_cp(self, uci: str) -> float:
        """Return the average loss of players who choose another move, in centipawns."""
        share = self.shares.get(uci, 0.0)
        own_loss_cp = share * self.lost_cp.get(uci, 0.0)
        return (self.expected_loss_cp - own_loss_cp) / (1 - share) if share < 1 else 0.0

    def find_second_loss_cp(self, uci: str) -> float:
        """Return the loss of the best other move, in centipawns; 0 without one."""
        other_losses_cp = (
            lost_cp for other_uci, lost_cp in self.lost_cp.items() if other_uci != uci
        )
        return min(other_losses_cp, default=0.0)


def clamp_score(score_cp: int) -> int:
    """Return the score, clamped to plus or minus :data:`DECIDED_CP`."""
    return max(-DECIDED_CP, min(DECIDED_CP, score_cp))


def compute_move_losses(
    scores_cp: Mapping[str, int], best: str, sign: int, full_cp: int | None = None
) -> MoveLosses | None:
    """Return the losses of the moves relative to the engine's choice; None if no move
    was searched.

    Args:
        scores_cp: White's scores from one search for several lines, the best first.
        best: the choice of a deeper search, which a quick search can score too low.
        sign: 1 if White is to move, otherwise -1.
        full_cp: White's score by the deeper search, if known. If the quick search
            scores the deeper one's choice higher by more than :data:`DOUBTED_CP`, it
            has overlooked something, and all other moves would seem to be errors.
    """
    if not scores_cp:
        return None
    clamped_cp = {uci: clamp_score(sign * score) for uci, score in scores_cp.items()}
    first = clamped_cp.get(best, next(iter(clamped_cp.values())))
    if full_cp is not None:
        first = min(first, clamp_score(sign * full_cp) + DOUBTED_CP)
    losses = {uci: max(0, first - score) for uci, score in clamped_cp.items()} | {
        best: 0
    }
    return MoveLosses(best, losses, losses[next(reversed(clamped_cp))])


def estimate_choices(
    per_mille: Mapping[str, int],
    losses: MoveLosses,
    elo: int,
    weights: ChoiceWeights = WEIGHTS,
) -> dict[str, float]:
    """Return the share of players of this Elo who choose each move, 0 to 1, by UCI.

    ``per_mille`` is the neural network's shares. Promotions to a piece other than a
    queen, which no neural network learned separately, are left out.
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
    chances = {uci: math.exp(log_odds - top) for uci, log_odds in odds.items()}
    total = math.fsum(chances.values())
    return {uci: chance / total for uci, chance in chances.items()}


def estimate_difficulty(
    per_mille: Mapping[str, int],
    losses: MoveLosses,
    elo: int,
    weights: ChoiceWeights = WEIGHTS,
) -> Difficulty:
    """Return the choices of players of this Elo, their chance of an error and their
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
    likeliest = max(per_mille, key=lambda uci: per_mille[uci], default=losses.best)
    return Difficulty(
        shares, error, mean, losses.find_loss(likeliest) >= ERROR_CP, lost_cp
    )


def _scale_loss(loss_cp: int) -> float:
    return math.log1p(loss_cp / LOSS_CP)


def _scale_elo(elo: int) -> float:
    return (elo - MIDDLE_ELO) / ELO_STEP


def is_find(
    share: float, others_lose_cp: float, second_loses_cp: float, score_cp: int
) -> bool:
    """Return whether a move is a find: few players make it, and most others lose.

    The move must be as good as the engine's choice.

    Args:
        share: share of players who make the move.
        others_lose_cp: average loss of the other players' moves, centipawns.
        second_loses_cp: loss of the best other move, centipawns.
        score_cp: score of the position before the move, from the mover's side,
            centipawns.
    """
    is_rare = share < FIND_SHARE
    has_rival = others_lose_cp < FIND_LOSS_CP or second_loses_cp <= FIND_SECOND_CP
    return is_rare and not has_rival and score_cp >= -LOST_CP


def is_trap(
    share: float | None, difficulty: Difficulty, own_loss_cp: int, score_cp: int
) -> bool:
    """Return whether a move sets a trap.

    A move sets a trap if it costs little, the game is about level, the reply that looks
    most natural loses a pawn or more, and many players reply with such an error.

    Args:
        share: share of players who make the move; None if unknown.
        difficulty: difficulty of the position after the move.
        own_loss_cp: loss of the move, centipawns.
        score_cp: score of the position after the move, centipawns.
    """
    return (
        (share is None or share < TRAP_SET_SHARE)
        and difficulty.tempting
        and difficulty.error_chance >= TRAP_SHARE
        and own_loss_cp < SOUND_LOSS_CP
        and abs(score_cp) <= LEVEL_CP
    )


def format_share(share: float) -> str:
    """Return a share in the words of a commentator, rounded to the precision of the
    neural network.

    ``about 1 in 12``, ``about 4 in 10``, ``nearly all``; all shares below one in 200
    are ``fewer than 1 in 200``.
    """
    if share < LEAST_SHARE:
        return "fewer than 1 in 200"
    if share < 0.275:
        return f"about 1 in {_round_to_step(1 / share)}"
    if share < 0.95:
        tenths = min(max(round(share * 10), 3), 9)
        return "about half" if tenths == 5 else f"about {tenths} in 10"
    return "nearly all"


def _round_to_step(number: float) -> int:
    """Round to one of the steps 4, 5 .. 10, 12, 15, 20, 25, 30, 40, 50, 70, 100 ...,
    which grow with the number.
    """
    steps = (4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200)
    return min(steps, key=lambda step: abs(math.log(number / step)))
