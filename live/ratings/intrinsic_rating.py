"""Regan and Haworth 2011: choices of a turn, intrinsic rating, and projection."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from live.messages.values import Value
from live.ratings.learned_files import LearnedFiles, explain_mismatch

# --- move spread ----------------------------------------------------------------------

# Spread of a position: the distance of each move from the best one.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 1 and 5. The
# spread of a position is Δ = (0, δ_1, …, δ_(N-1)), the distances of the top N moves
# from the best one, as a Multi-PV search gives them. Together with the move played and
# the evaluation of the position it is all the data that the method uses. Requires an
# engine that shows several lines (some ten or more; the authors had 50).
#
# Evaluations and distances are in pawns here, as are the published parameters.


#: Constant c in ``1 + c * |evaluation|`` pawns, the unit of distances. Regan and
#: Haworth 2011, section 5, mention "a simple proportional scale correction"; the
#: constant is that of Regan, Macieja and Haworth 2012, *Understanding distributions of
#: chess performances*.
SCALE_PER_PAWN = 1.0

#: Evaluation beyond which a position is decided: "more than 3 pawns ahead" (Regan and
#: Haworth 2011, section 5).
DECIDED_PAWNS = 3.0

#: First ply that counts: "Each game was begun on move 9" (Regan and Haworth 2011,
#: section 5).
FIRST_PLY = 17

LeftOut = Literal[
    "opening",
    "repeated position",
    "decided position",
    "a single line",
    "move not among the lines",
]


class Spread(Value, gc=False):
    """One turn: the distances of its moves, the move played, and the evaluation."""

    deltas: tuple[float, ...]
    """Pawns behind the best move, best move first: from 0 and never decreasing."""
    played: int | None
    """Index of the move played; None if it is not among the lines."""
    evaluation: float
    """Evaluation of the best move in pawns, from the mover's side."""

    @property
    def loss(self) -> float | None:
        """Return the pawns lost by the move played; None if not among the lines."""
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


def scale_delta(
    evaluation: float, delta: float, scale_per_pawn: float = SCALE_PER_PAWN
) -> float:
    """Return a distance corrected for the size of the evaluation, all in pawns.

    It is the integral of ``dx / (1 + scale_per_pawn |x|)`` from ``evaluation - delta``
    to ``evaluation`` (Regan and Haworth 2011, section 5: the same player's mistakes are
    larger when the evaluation is larger).
    """
    from_best, from_played = (
        math.copysign(math.log1p(scale_per_pawn * abs(pawns)) / scale_per_pawn, pawns)
        for pawns in (evaluation, evaluation - delta)
    )
    return from_best - from_played


def explain_left_out(spread: Spread, ply: int, *, repeated: bool) -> LeftOut | None:
    """Return the reason why a turn does not count; None if it counts (Regan and Haworth
    2011, section 5).

    ``ply`` is that of the move played, from 1; ``repeated`` means that the position
    occurred before in the game. A turn with one line has no choice. A move that is not
    among the lines has no distance, so its turn is left out; this biases no fit of the
    shares model, in which the odds between two moves do not depend on the others.
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


# --- choice model ---------------------------------------------------------------------

# Probability of each move of a spread for a player of sensitivity s and competence c.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 3 and 4. A curve
# g, with g(0) = 1, gives the discount of a move δ pawns behind the best one, and a
# model relates this discount to its probability p_i and to p_0, that of the best move:
#
# * ``shares``: ``p_i / p_0 = g(δ_i)``;
# * ``powers``: ``log(1/p_0) / log(1/p_i) = g(δ_i)``;
# * ``product``, the third model, which has no name in the paper: the product of both
#   ratios is ``g(δ_i)``.
#
# The probabilities of a turn sum to 1, which determines p_0. With ``u = log(1/p_0)``
# and ``a_i = -log g(δ_i)``, ``log(1/p_i)`` is ``u + a_i`` in the first model, ``u
# exp(a_i)`` in the second, and ``ω(u + log u + a_i)`` in the third, where ω is the
# Wright omega function, the solution of ``ω + log ω = z``. In the first model u is a
# sum; in the others Newton's method finds it for all turns at once.
#
# All computations are vectorised over turns; derivatives are with respect to log s and
# log c.


Curve = Literal["invexp", "ipa", "ipb", "secha", "sechb"]
Model = Literal["shares", "powers", "product"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: Largest discount: exp(-300) is practically never, and its exponential stays finite.
_MOST_DISCOUNT = 300.0
_NEWTON_STEPS = 60
#: Tolerance by which a step near the root can fall outside its bracket.
_ROUNDING = 1e-9


class ChoiceSkill(Value, gc=False):
    """A player's skill as Regan and Haworth define it, with the model and curve it
    refers to.
    """

    s: float
    """Sensitivity, pawns: the smaller it is, the finer the differences that a player
    sees.
    """
    c: float
    """Competence: the greater it is, the rarer the moves far behind the best."""
    model: Model = "shares"
    curve: Curve = "invexp"


class TurnArrays:
    """Turns as arrays, padded to the longest spread. Every turn needs a move played."""

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
    """Probabilities of all moves, with the derivatives of their logarithms by the
    parameters.
    """

    probability: Floats
    """Shape (turns, moves); 0 where there is no move."""
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
    """Return the result of :func:`compute_choices` with a separate s and c for each
    turn, of shape (turns, 1).
    """
    discount, by_s, by_c = _compute_discounts(curve, deltas, s, c)
    bits, by_u, by_discount = _SURPRISE[model](discount, is_move)
    log = np.where(is_move, -bits, -np.inf)
    probability = np.exp(log)
    # Probabilities keep their sum, which determines the change of u with the discounts.
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
    """Return the log probability of the move played for several players, shape
    (players,).

    ``s`` and ``c`` have the same shape; the move must be among the lines.
    """
    deltas = np.tile(np.array(spread.deltas), (len(s), 1))
    every = np.ones_like(deltas, dtype=bool)
    found = compute_choices_by_turn(deltas, every, model, curve, s[:, None], c[:, None])
    return found.log[:, spread.played]


_WithSlopes = tuple[Floats, Floats, Floats]
"""A number for each move, and its derivatives by two parameters."""


def _compute_discounts(
    curve: Curve, deltas: Floats, s: float | Floats, c: float | Floats
) -> _WithSlopes:
    """Return the discounts ``-log g(δ)``, and their derivatives by log s and log c."""
    x = deltas / s
    # x log x, and all that is computed from it, is 0 for the best move.
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


# Each model returns log(1/p) of every move, shape (turns, moves), and its derivatives
# by the parameter that represents p_0 and by the discount a.


def _solve_shares(a: Floats, is_move: Bools) -> _WithSlopes:
    u = np.log(np.where(is_move, np.exp(-a), 0.0).sum(axis=1))
    one = np.ones_like(a)
    return u[:, None] + a, one, one


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

    most = np.exp(_compute_highest(is_move))
    low = -_find_second_best(a, is_move) - 5
    z = _solve_balance(surprise, is_move, low=low, high=most + np.log(most))
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
    """Return the discount of the second best move, shape (turns,)."""
    if a.shape[1] < 2:
        return np.full(len(a), _MOST_DISCOUNT)
    return np.asarray(np.where(is_move[:, 1:], a[:, 1:], _MOST_DISCOUNT).min(axis=1))


def _compute_highest(is_move: Bools) -> Floats:
    """Return the log of u if all moves were equally likely, its upper limit. Shape
    (turns,).
    """
    return np.asarray(np.log(np.log(np.maximum(is_move.sum(axis=1), 2))))


def _solve_balance(
    surprise: Callable[[Floats], tuple[Floats, Floats]],
    is_move: Bools,
    low: Floats,
    high: Floats,
) -> Floats:
    """Return the parameter at which the probabilities of all other moves sum to 1 minus
    that of the best move, shape (turns,).

    Newton's method on the difference of the logarithms of the two, which is almost
    linear, kept within a bracket that closes from both sides.
    """
    others = is_move.copy()
    others[:, 0] = False
    alone = ~others.any(axis=1)
    # If all moves are equal, the solution is an end of the bracket, so the bracket is
    # widened.
    high = np.maximum(high, low) + 0.01
    low = low - 0.01
    at = low.copy()
    for _ in range(_NEWTON_STEPS):
        bits, by = surprise(at)
        rest = np.where(others, np.exp(-bits), 0.0)
        total = np.maximum(rest.sum(axis=1), 1e-300)
        best = bits[:, 0]
        by_best = by[:, 0]
        left = -np.expm1(-best)
        value = np.log(total) - np.log(left)
        slope = -(rest * by).sum(axis=1) / total - by_best * np.exp(-best) / left
        low = np.where(value > 0, at, low)
        high = np.where(value > 0, high, at)
        step = at - value / slope
        inside = (step > low - _ROUNDING) & (step < high + _ROUNDING)
        moved = np.where(inside, np.abs(step - at), np.inf)
        at = np.where(inside, step, (low + high) / 2)
        if not np.any(
            moved[~alone] > 1e-8 * (1 + np.abs(at[~alone]))
        ):  # the error left is about the square of this step
            break
    return np.where(alone, -_MOST_DISCOUNT, at)


# --- intrinsic rating -----------------------------------------------------------------

# Intrinsic rating: the Elo whose players would most probably have chosen these moves.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, section 7: sensitivity s
# and competence c change smoothly with the Elo of the players they are fitted to. A
# table of this relation is valid for one engine and limit; the published one is for
# Rybka 3 at depth 13, and ``live.studies.learning`` creates others from rated games.
#
# Along the table a player has one parameter, Elo. Each turn adds its log-likelihood at
# every Elo of a grid, so adding a move and taking it back are O(grid · lines). The
# interval is where the likelihood is not too small (a likelihood-ratio interval).


#: Elo by which a table is extended beyond its lowest and highest players.
REACH_ELO = 400.0
STEP_ELO = 20.0
#: Log-likelihoods are whole multiples of one part in this many, so that taking a move
#: back exactly undoes adding it.
_PARTS_OF_ONE = 10**9
#: Half of χ²(1, 95 %): the fall of the log-likelihood at the ends of the interval.
_FALL = NormalDist().inv_cdf(0.975) ** 2 / 2


class Milepost(Value):
    """Parameters that were fitted to players of one Elo."""

    elo: float
    s: float
    c: float


class IntrinsicTable(Value):
    """Relation of (s, c) to Elo for one engine, limit and number of lines."""

    name: str
    engine: str
    """Name that the engine gives itself (UCI ``id name``)."""
    limit: str
    """Text as ``live.engine.search.Limit`` reads it: ``100000 nodes``, ``depth 13``."""
    lines: int
    """Number of lines (Multi-PV)."""
    mileposts: tuple[Milepost, ...]
    """At least two, with Elo ascending."""
    source: str
    """Source of the table, as text for display."""
    model: Model = "shares"
    curve: Curve = "invexp"
    turns: int = 0
    """Number of turns it was learned from; 0 if unknown."""
    players: int = 0
    players_sd_elo: float | None = None
    """Standard deviation of players' true level in a game from their rating; None if
    unknown.
    """
    format: Literal[1] = 1

    def __post_init__(self) -> None:
        if len(self.mileposts) < 2:
            raise ValueError("a table needs two mileposts or more")
        if any(
            not a.elo < b.elo
            for a, b in zip(self.mileposts, self.mileposts[1:], strict=False)
        ):
            raise ValueError("the Elo of mileposts must increase")
        if any(not (0 < m.s < math.inf and 0 < m.c < math.inf) for m in self.mileposts):
            raise ValueError("s and c of mileposts must be finite and above 0")

    def explain_mismatch(self, engine: str, limit: str) -> str | None:
        """Return the reason why this table does not apply to an engine and limit, as
        text for display; None if it does.
        """
        return explain_mismatch(
            f"intrinsic table {self.name!r}", {"engine": engine, "limit": limit}, self
        )

    def interpolate_skill(self, elo: float) -> ChoiceSkill:
        """Return (s, c) of players of ``elo``: interpolated, or extrapolated beyond the
        mileposts.
        """
        s, c = self.interpolate_parameters(np.array([elo]))
        return ChoiceSkill(float(s[0]), float(c[0]), self.model, self.curve)

    def interpolate_parameters(self, elo: Floats) -> tuple[Floats, Floats]:
        """Return two arrays of shape (players,): s and c of players of ``elo``, which
        has this shape.

        Linear between mileposts in log s and log c; beyond the ends, along the straight
        line that fits all mileposts best.
        """
        at = np.array([m.elo for m in self.mileposts])
        beyond = elo - np.clip(elo, at[0], at[-1])
        both = []
        for known in ([m.s for m in self.mileposts], [m.c for m in self.mileposts]):
            logs = np.log(known)
            centred = at - at.mean()
            trend = float(centred @ logs) / float(centred @ centred)
            both.append(np.exp(np.interp(elo, at, logs) + trend * beyond))
        return both[0], both[1]


class IntrinsicRating(Value):
    """A player's intrinsic rating, with its interval and limits of validity."""

    elo: float | None
    """Most likely Elo; None without a turn, and if the likelihood still rises at an end
    of the extended table.
    """
    low: float | None
    """Lower end of the 95 % interval of the level shown; None if beyond the extended
    table.
    """
    high: float | None
    beyond: bool = False
    """True if the estimate lies outside the mileposts, where the table is extended."""
    reason: str | None = None
    """Reason why ``elo`` is None, as text for display."""


@lru_cache(maxsize=16)
def _build_grid(table: IntrinsicTable) -> tuple[Floats, Floats, Floats]:
    """Return Elo, s and c along the table, each of shape (grid,)."""
    posts = table.mileposts
    grid = np.arange(posts[0].elo - REACH_ELO, posts[-1].elo + REACH_ELO + 1, STEP_ELO)
    return grid, *table.interpolate_parameters(grid)


# Cached, because a turn is evaluated for its game, for its player, and after every
# later move.
@lru_cache(maxsize=2**14)
def _compute_likelihoods(table: IntrinsicTable, spread: Spread) -> Ints:
    """Return the log-likelihood of one turn at every Elo of the grid, in whole parts.

    Callers must not change the array.
    """
    _, s, c = _build_grid(table)
    log = compute_played_log(spread, table.model, table.curve, s, c)
    # Limited, so that one oddity outside the model does not outweigh all other moves.
    return np.asarray(np.rint(np.maximum(log, -50.0) * _PARTS_OF_ONE), dtype=np.int64)


def estimate_rating(
    table: IntrinsicTable, spreads: Iterable[Spread]
) -> IntrinsicRating:
    """Return the rating of a player's turns, which must not include any that
    :func:`explain_left_out` excludes.

    O(turns · grid) for new turns, then O(grid · turns) additions. Raises ValueError if
    a move is not among the lines.
    """
    grid = _build_grid(table)[0]
    turns = [_compute_likelihoods(table, spread) for spread in spreads]
    low = high = elo = reason = None
    if not turns:
        reason = "no turn with several lines yet"
    else:
        log = np.sum(turns, axis=0) / _PARTS_OF_ONE
        log -= log.max()
        best = int(log.argmax())
        inside = np.flatnonzero(log > -_FALL)
        low = _find_crossing(grid, log, int(inside[0]), -1)
        high = _find_crossing(grid, log, int(inside[-1]), 1)
        if best in (0, len(log) - 1):
            side = "weaker" if best == 0 else "stronger"
            reason = f"{side} than any player {table.name!r} knows of"
        else:
            # The vertex of the parabola through the best point and its neighbours.
            left, middle, right = log[best - 1 : best + 2].tolist()
            bend = left - 2 * middle + right
            shift = 0.5 * (left - right) / bend if bend < 0 else 0.0
            elo = float(grid[best]) + shift * STEP_ELO
    ends = table.mileposts[0].elo, table.mileposts[-1].elo
    beyond = elo is not None and not ends[0] <= elo <= ends[1]
    return IntrinsicRating(elo, low, high, beyond, reason)


def _find_crossing(
    grid: Floats, log: Floats, last: int, direction: int
) -> float | None:
    """Return the Elo where the likelihood has fallen enough, next to the last grid
    point inside.
    """
    following = last + direction
    if not 0 <= following < len(log):
        return None
    share = (log[last] + _FALL) / (log[last] - log[following])
    return float(grid[last] + direction * STEP_ELO * share)


TABLES = LearnedFiles(
    "intrinsic_tables",
    IntrinsicTable,
    "intrinsic table",
    "Make one with live-rate calibrate --intrinsic",
)

#: Elo, s_fit and c_fit from games of 2006-2009 (Regan and Haworth 2011, section 7).
RYBKA_3 = IntrinsicTable(
    name="rybka-3",
    engine="Rybka 3",
    limit="depth 13",
    lines=50,
    source="Regan and Haworth 2011, Intrinsic Chess Ratings, section 7, games of"
    " 2006-2009",
    mileposts=tuple(
        map(
            Milepost,
            range(1600, 2701, 100),
            (
                0.168,
                0.155,
                0.149,
                0.153,
                0.143,
                0.130,
                0.120,
                0.111,
                0.100,
                0.093,
                0.089,
                0.080,
            ),
            (
                0.436,
                0.443,
                0.450,
                0.457,
                0.464,
                0.471,
                0.478,
                0.485,
                0.492,
                0.499,
                0.506,
                0.513,
            ),
        )
    ),
)


# --- projection -----------------------------------------------------------------------

# Projection: the matches with the engine expected of a player of given skill, and the
# deviation from them.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 3, 5 and 7: the
# probabilities of single turns add up to a projected number of move matches (mm) and a
# projected average difference (ad); since turns are independent, their variances add
# up, too. A deviation in units of standard deviations is a z-score.
#
# A z-score is a screening figure: it shows where a closer look may be worth it, and
# accuses nobody. Among many honest players some always stand out: by chance, on a good
# day, with prepared lines, or because the model is only a model.


class ScreeningFigure(NamedTuple):
    """A count or mean beside its projected value. It accuses nobody."""

    actual: float
    projected: float
    sd: float
    """Standard deviation of ``actual`` under the projection."""
    z: float | None
    """Standard deviations towards the engine: positive for more matches, and for a
    smaller difference. None if nothing can vary.
    """


class Projection(NamedTuple):
    """A player's choices beside those of the skill they are compared with."""

    turns: int
    matches: ScreeningFigure
    """Turns in which the engine's first choice was played (mm)."""
    difference: ScreeningFigure
    """Mean distance of the move played from the best one in pawns (ad), on the scale of
    the spreads.
    """


def project_choices(
    spreads: Sequence[Spread] | TurnArrays, skill: ChoiceSkill
) -> Projection | None:
    """Return matches and average difference beside their projection for ``skill`` on
    the same turns.

    None without a turn. A skill fitted to these same moves agrees with them, so it
    cannot be used for screening.
    """
    turns = spreads if isinstance(spreads, TurnArrays) else TurnArrays(spreads)
    n = len(turns)
    if not n:
        return None
    chance = compute_choices(turns, skill).probability
    first = chance[:, 0]
    mean = (chance * turns.deltas).sum(axis=1)
    variance = (chance * (turns.deltas - mean[:, None]) ** 2).sum()
    matches = _build_figure(
        (turns.played == 0).sum(), first.sum(), (first * (1 - first)).sum(), 1
    )
    lost = turns.select_played(turns.deltas).mean()
    return Projection(n, matches, _build_figure(lost, mean.mean(), variance / n**2, -1))


def _build_figure(
    actual: float, projected: float, variance: float, sign: int
) -> ScreeningFigure:
    sd = math.sqrt(max(float(variance), 0.0))
    z = sign * float(actual - projected) / sd if sd > 0 else None
    return ScreeningFigure(float(actual), float(projected), sd, z)
