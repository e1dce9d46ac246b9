"""The probability with which a player of given skill chooses each move of a position
(Regan and Haworth 2011).
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from live.messages.values import Value

#: Constant c in ``1 + c * |evaluation|``, by which distances in pawns are divided.
#: Regan and Haworth 2011, section 5, mention "a simple proportional scale correction";
#: the constant is from Regan, Macieja and Haworth 2012, *Understanding distributions of
#: chess performances*.
SCALE_PER_PAWN = 1.0
#: First ply at which a choice counts: "Each game was begun on move 9" (Regan and
#: Haworth 2011, section 5).
FIRST_CHOICE_PLY = 17
#: Largest score, in centipawns, at which a choice counts: not "more than 3 pawns ahead"
#: (Regan and Haworth 2011, section 5).
CHOICE_LIMIT_CP = 300
LeftOut = Literal[
    "opening",
    "repeated position",
    "decided position",
    "a single line",
    "move not among the lines",
]


class Spread(Value, gc=False):
    """The choice at one turn: the distances of the moves, the move played, and the
    evaluation.
    """

    deltas: tuple[float, ...]
    """Distance of each move from the best move, pawns. The first is 0, and they never
    decrease.
    """
    played: int | None
    """Index of the move played; None if it is not among the lines."""
    evaluation: float
    """Evaluation of the best move in pawns, from the mover's side."""

    @property
    def loss(self) -> float | None:
        """Return the pawns lost by the move played; None if it is not among
        the lines.
        """
        return None if self.played is None else self.deltas[self.played]


def build_spread(lines: Sequence[tuple[str, int]], played: str) -> Spread:
    """Return the spread of a position from its Multi-PV lines.

    ``lines`` are moves (UCI) with their scores in centipawns from the mover's side,
    mate ±3900, in any order; ``played`` is the move that was played. Moves of equal
    score keep their order, so the engine's first choice stays first.
    """
    ranked = sorted(lines, key=lambda line: -line[1])
    top_cp = ranked[0][1]
    best = top_cp / 100
    return Spread(
        deltas=tuple(
            0.0 if cp == top_cp else scale_delta(best, best - cp / 100)
            for _, cp in ranked
        ),
        played=next((i for i, (move, _) in enumerate(ranked) if move == played), None),
        evaluation=best,
    )


def scale_delta(evaluation: float, delta: float) -> float:
    """Return a distance corrected for the size of the evaluation, all in pawns.

    It is the integral of ``dx / (1 + SCALE_PER_PAWN |x|)`` from ``evaluation - delta``
    to ``evaluation`` (Regan and Haworth 2011, section 5: the same player's mistakes are
    larger when the evaluation is larger).
    """
    from_best, from_played = (
        math.copysign(math.log1p(SCALE_PER_PAWN * abs(pawns)) / SCALE_PER_PAWN, pawns)
        for pawns in (evaluation, evaluation - delta)
    )
    return from_best - from_played


def explain_left_out(spread: Spread, ply: int, *, repeated: bool) -> LeftOut | None:
    """Return the reason why a turn does not count; None if it counts.

    See Regan and Haworth 2011, section 5. ``ply`` is the ply of the move played, from
    1; ``repeated`` means that the position occurred before in the game. A turn with one
    line has no choice. A move that is not among the lines has no distance, so its turn
    is left out. This biases no fit of the shares model, in which the odds between two
    moves do not depend on the other moves.
    """
    if ply < FIRST_CHOICE_PLY:
        return "opening"
    if repeated:
        return "repeated position"
    if abs(spread.evaluation) > CHOICE_LIMIT_CP / 100:
        return "decided position"
    if len(spread.deltas) < 2:
        return "a single line"
    return "move not among the lines" if spread.played is None else None


Curve = Literal["invexp", "ipa", "ipb", "secha", "sechb"]
Model = Literal["shares", "powers", "product"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
#: Largest discount: exp(-300) is practically 0, but does not underflow.
_MOST_DISCOUNT = 300.0
_NEWTON_STEPS = 60
#: Tolerance by which a step near the root can fall outside its bracket.
_ROUNDING = 1e-9


class ChoiceSkill(Value, gc=False):
    """A player's skill as Regan and Haworth define it, for one model and curve."""

    s: float
    """Sensitivity, pawns. A player with a smaller sensitivity sees finer
    differences.
    """
    c: float
    """Competence. A player with a greater competence more rarely plays moves far behind
    the best.
    """
    model: Model = "shares"
    curve: Curve = "invexp"


class TurnArrays:
    """Turns as arrays, padded to the longest spread. Each turn needs a move played."""

    def __init__(self, spreads: Sequence[Spread]) -> None:
        longest = max((len(spread.deltas) for spread in spreads), default=1)
        #: Pawns behind the best move, shape (turns, moves); 0 where there is no move.
        self.deltas: Floats = np.zeros((len(spreads), longest))
        #: True where there is a move, shape (turns, moves).
        self.is_move: Bools = np.zeros((len(spreads), longest), dtype=bool)
        #: Index of the move played, shape (turns,).
        self.played: Ints = np.array(
            [spread.played for spread in spreads], dtype=np.int64
        )
        for row, spread in enumerate(spreads):
            self.deltas[row, : len(spread.deltas)] = spread.deltas
            self.is_move[row, : len(spread.deltas)] = True

    def __len__(self) -> int:
        return len(self.played)

    def select_played(self, values: Floats) -> Floats:
        """Return the entries of an array (turns, moves, …) that belong to the moves
        played.
        """
        picked: Floats = values[np.arange(len(self)), self.played]
        return picked


class Choices(NamedTuple):
    """Probabilities of all moves, with the derivatives of their logarithms by both
    parameters.
    """

    probability: Floats
    """Probability of each move, shape (turns, moves); 0 where there is no move."""
    log: Floats
    """Log of the probability, shape (turns, moves); -inf where there is no move."""
    slope: Floats
    """Derivative of the logarithm by log s and log c, shape (turns, moves, 2)."""


def compute_probabilities(deltas: Sequence[float], skill: ChoiceSkill) -> Floats:
    """Return the probability of each move of one spread, shape (moves,), best move
    first.

    >>> skill = ChoiceSkill(s=0.1, c=0.5)
    >>> compute_probabilities([0.0, 0.1, 0.5], skill).round(3).tolist()
    [0.678, 0.249, 0.072]
    """
    spread = Spread(tuple(deltas), 0, 0.0)
    return np.asarray(compute_choices(TurnArrays([spread]), skill).probability[0])


def compute_choices(turns: TurnArrays, skill: ChoiceSkill) -> Choices:
    """Return the probabilities of all moves of all turns (Regan and Haworth 2011,
    section 3).
    """
    return compute_choices_by_turn(
        turns.deltas, turns.is_move, skill.model, skill.curve, skill.s, skill.c
    )


def compute_choices_by_turn(
    deltas: Floats,
    is_move: Bools,
    model: Model,
    curve: Curve,
    s: float | Floats,
    c: float | Floats,
) -> Choices:
    """Return the result of :func:`compute_choices` for separate parameters of each
    turn.

    ``s`` and ``c`` have the shape (turns, 1).
    """
    discount, by_s, by_c = _compute_discounts(curve, deltas, s, c)
    bits, by_u, by_discount = _SURPRISE[model](discount, is_move)
    log = np.where(is_move, -bits, -np.inf)
    probability = np.exp(log)
    # The probabilities sum to 1. This determines how u changes with the discounts.
    weight = probability * by_u
    slope = np.empty((*log.shape, 2))
    for column, change in enumerate((by_s, by_c)):
        own = by_discount * change
        shift = -(probability * own).sum(axis=1) / weight.sum(axis=1)
        slope[:, :, column] = -(own + by_u * shift[:, None])
    return Choices(probability, log, slope)


def compute_played_log(
    spread: Spread, model: Model, curve: Curve, s: Floats, c: Floats
) -> Floats:
    """Return the log probability of the move played, for several players.

    ``s``, ``c`` and the result have the shape (players,). The move must be among the
    lines.
    """
    deltas = np.tile(np.array(spread.deltas), (len(s), 1))
    is_move = np.ones_like(deltas, dtype=bool)
    choices = compute_choices_by_turn(
        deltas, is_move, model, curve, s[:, None], c[:, None]
    )
    return choices.log[:, spread.played]


_WithSlopes = tuple[Floats, Floats, Floats]
"""A number for each move, and its derivatives by two parameters."""


def _compute_discounts(
    curve: Curve, deltas: Floats, s: float | Floats, c: float | Floats
) -> _WithSlopes:
    """Return the discounts ``-log g(δ)``, and their derivatives by log s and log c."""
    x = deltas / s
    # For the best move, x log x and everything computed from it is 0.
    log_x = np.log(np.where(x > 0, x, 1.0))
    if curve == "ipb":
        a = c * np.log1p(x)
        by_s = -c * x / (1 + x)
        by_c = a
    else:
        y = np.where(x > 0, np.exp(np.minimum(c * log_x, _MOST_DISCOUNT)), 0.0)
        if curve == "invexp":
            a = y
            by_y = np.ones_like(y)
        elif curve == "ipa":
            a = np.log1p(y)
            by_y = 1 / (1 + y)
        elif curve == "secha":
            a = y + np.log1p(np.exp(-2 * y)) - math.log(2)
            by_y = np.tanh(y)
        else:
            a = y + 2 * np.log1p(np.exp(-y)) - math.log(4)
            by_y = np.tanh(y / 2)
        by_s = -c * y * by_y
        by_c = c * y * log_x * by_y
    within = a < _MOST_DISCOUNT
    return (
        np.minimum(a, _MOST_DISCOUNT),
        np.where(within, by_s, 0.0),
        np.where(within, by_c, 0.0),
    )


def _solve_shares(a: Floats, is_move: Bools) -> _WithSlopes:
    u = np.log(np.where(is_move, np.exp(-a), 0.0).sum(axis=1))
    ones = np.ones_like(a)
    return u[:, None] + a, ones, ones


def _solve_powers(a: Floats, is_move: Bools) -> _WithSlopes:
    h = np.exp(a)

    def log_surprise(t: Floats) -> tuple[Floats, Floats]:
        bits = np.exp(t)[:, None] * h
        return bits, bits

    nearest = _find_second_best(a, is_move)
    t = _solve_balance(
        log_surprise,
        is_move,
        low=-_compute_omega(nearest),
        high=_compute_highest(is_move),
    )
    bits, by_t = log_surprise(t)
    return bits, by_t, bits


def _solve_product(a: Floats, is_move: Bools) -> _WithSlopes:
    def surprise(z: Floats) -> tuple[Floats, Floats]:
        bits = _compute_omega(z[:, None] + a)
        return bits, bits / (1 + bits)

    highest = np.exp(_compute_highest(is_move))
    low = -_find_second_best(a, is_move) - 5
    z = _solve_balance(surprise, is_move, low=low, high=highest + np.log(highest))
    bits, by_z = surprise(z)
    return bits, by_z, by_z


_SURPRISE: dict[Model, Callable[[Floats, Bools], _WithSlopes]] = {
    "shares": _solve_shares,
    "powers": _solve_powers,
    "product": _solve_product,
}


def _compute_omega(z: Floats) -> Floats:
    from scipy.special import wrightomega  # slow import, only when needed

    return np.asarray(wrightomega(z), dtype=np.float64)


def _find_second_best(a: Floats, is_move: Bools) -> Floats:
    """Return the smallest discount of any move but the best, shape (turns,)."""
    if a.shape[1] < 2:
        return np.full(len(a), _MOST_DISCOUNT)
    return np.asarray(np.where(is_move[:, 1:], a[:, 1:], _MOST_DISCOUNT).min(axis=1))


def _compute_highest(is_move: Bools) -> Floats:
    """Return the log of u if all moves were equally likely, which is its upper limit.

    The shape is (turns,).
    """
    return np.asarray(np.log(np.log(np.maximum(is_move.sum(axis=1), 2))))


def _solve_balance(
    surprise: Callable[[Floats], tuple[Floats, Floats]],
    is_move: Bools,
    low: Floats,
    high: Floats,
) -> Floats:
    """Return the parameter that makes all probabilities sum to 1, shape (turns,).

    At this parameter the probabilities of the other moves sum to 1 minus that of the
    best move. Newton's method is applied to the difference of the logarithms of the two
    sides, which is almost linear. A bracket that closes from both sides limits each
    step.
    """
    is_other = is_move.copy()
    is_other[:, 0] = False
    alone = ~is_other.any(axis=1)
    # If all moves are equal, the solution lies on the edge of the bracket.
    high = np.maximum(high, low) + 0.01
    low = low - 0.01
    at = low.copy()
    for _ in range(_NEWTON_STEPS):
        bits, by = surprise(at)
        rest = np.where(is_other, np.exp(-bits), 0.0)
        total = np.maximum(rest.sum(axis=1), 1e-300)
        best = bits[:, 0]
        by_best = by[:, 0]
        remainder = -np.expm1(-best)
        value = np.log(total) - np.log(remainder)
        slope = -(rest * by).sum(axis=1) / total - by_best * np.exp(-best) / remainder
        low = np.where(value > 0, at, low)
        high = np.where(value > 0, high, at)
        step = at - value / slope
        inside = (step > low - _ROUNDING) & (step < high + _ROUNDING)
        moved = np.where(inside, np.abs(step - at), np.inf)
        at = np.where(inside, step, (low + high) / 2)
        if not np.any(
            moved[~alone] > 1e-8 * (1 + np.abs(at[~alone]))
        ):  # the remaining error is about the square of this step
            break
    return np.where(alone, -_MOST_DISCOUNT, at)
