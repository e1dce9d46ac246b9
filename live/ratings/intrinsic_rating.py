"""Regan and Haworth 2011: the choices of a turn, the intrinsic rating, and its
projection.
"""

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

# What Regan and Haworth use of a position: how much worse each move is than the best
# one.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 1 and 5. The
# spread of a position is Δ = (0, δ_1, …, δ_(N-1)), the distance of the top N moves to
# the best one, as a Multi-PV search gives them. With the move played and the overall
# evaluation it is all that their method looks at. Needs an engine that shows several
# lines (some ten or more; the authors had 50).
#
# Evaluations and distances are in pawns here, as the published parameters are.


#: Distances are counted in units of ``1 + SCALE * |evaluation|`` pawns. Regan and
#: Haworth 2011, section 5, say "a simple proportional scale correction"; the constant
#: is that of Regan, Macieja and Haworth 2012, *Understanding distributions of chess
#: performances*.
SCALE_PER_PAWN = 1.0

#: "More than 3 pawns ahead" (Regan and Haworth 2011, section 5).
DECIDED_PAWNS = 3.0

#: "Each game was begun on move 9" (Regan and Haworth 2011, section 5).
FIRST_PLY = 17

LeftOut = Literal[
    "opening",
    "repeated position",
    "decided position",
    "a single line",
    "move not among the lines",
]


class Spread(Value, gc=False):
    """One turn: the distances of its moves, which of them was played, and how the mover
    stood.
    """

    deltas: tuple[float, ...]
    """Pawns behind the best move, best move first: 0, then not decreasing."""
    played: int | None
    """Index of the move played; None when it is not among the lines."""
    evaluation: float
    """Of the position (its best move), pawns, mover's side."""

    @property
    def loss(self) -> float | None:
        """Pawns lost by the move played; None when it is not among the lines."""
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

    The integral of ``dx / (1 + scale_per_pawn |x|)`` from ``evaluation - delta`` to
    ``evaluation`` (Regan and Haworth 2011, section 5: the same player's mistakes are
    larger when the evaluation is).
    """
    from_best, from_played = (
        math.copysign(math.log1p(scale_per_pawn * abs(pawns)) / scale_per_pawn, pawns)
        for pawns in (evaluation, evaluation - delta)
    )
    return from_best - from_played


def explain_left_out(spread: Spread, ply: int, *, repeated: bool) -> LeftOut | None:
    """Return why a turn does not count, or None if it does (Regan and Haworth 2011,
    section 5).

    ``ply`` is that of the move played, from 1; ``repeated`` says that the position
    occurred before in the game. A turn with one line has nothing to choose from. A move
    that is not among the lines has no distance: its turn is left out, which biases no
    fit of the shares model, for there the odds between two moves do not depend on the
    others.
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

# How likely each move of a spread is for a player of sensitivity s and competence c.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 3 and 4. A curve
# g, with g(0) = 1, says how a move δ pawns behind the best one is discounted, and a
# model says what that does to its probability p_i beside p_0, that of the best move:
#
# * ``shares``: ``p_i / p_0 = g(δ_i)``; * ``powers``: ``log(1/p_0) / log(1/p_i) =
# g(δ_i)``; * ``product``, the third, without a name in the paper: the product of both
# ratios is ``g(δ_i)``.
#
# Probabilities of a turn sum to 1, which fixes p_0. With ``u = log(1/p_0)`` and ``a_i =
# -log g(δ_i)`` the models read ``log(1/p_i) = u + a_i``, ``u exp(a_i)``, and ``ω(u +
# log u + a_i)``, where ω is the Wright omega function, the solution of ``ω + log ω =
# z``. For the first u is a sum; for the others Newton's method finds it for all turns
# at once.
#
# Everything is vectorised over turns; parameters are differentiated as log s and log c.


Curve = Literal["invexp", "ipa", "ipb", "secha", "sechb"]
Model = Literal["shares", "powers", "product"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: A discount beyond exp(-300) is as good as never, and keeps its exponential finite.
_MOST_DISCOUNT = 300.0
_NEWTON_STEPS = 60
#: At the root a step may fall beside a bracket that has closed on it.
_ROUNDING = 1e-9


class ChoiceSkill(Value, gc=False):
    """A player as Regan and Haworth describe one, with the model and curve it refers
    to.
    """

    s: float
    """Sensitivity, pawns: the smaller, the finer the differences a player sees."""
    c: float
    """Competence: the greater, the rarer the moves far behind."""
    model: Model = "shares"
    curve: Curve = "invexp"


class TurnArrays:
    """Turns as arrays, padded to the longest spread. Every turn needs a move played."""

    def __init__(self, spreads: Sequence[Spread]) -> None:
        longest = max((len(spread.deltas) for spread in spreads), default=1)
        #: Pawns behind the best move, shape (turns, moves); 0 where there is no move.
        self.deltas: Floats = np.zeros((len(spreads), longest))
        #: Whether there is a move, shape (turns, moves).
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
        """Return the entries of (turns, moves, …) that belong to the moves played."""
        picked: Floats = values[np.arange(len(self)), self.played]
        return picked


class Choices(NamedTuple):
    """Probabilities of all moves, and how their logarithms change with the
    parameters.
    """

    probability: Floats
    """Shape (turns, moves); 0 where there is no move."""
    log: Floats
    """Its logarithm, shape (turns, moves); -inf where there is no move."""
    slope: Floats
    """Derivative of the logarithm to log s and log c, shape (turns, moves, 2)."""


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
    """Return the same as :func:`compute_choices`, with s and c of shape (turns, 1) for
    each turn.
    """
    discount, by_s, by_c = _compute_discounts(curve, deltas, s, c)
    bits, by_u, by_discount = _SURPRISE[model](discount, is_move)
    log = np.where(is_move, -bits, -np.inf)
    probability = np.exp(log)
    # Probabilities keep their sum, which gives how u moves when the discounts do.
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
    """Log probability of the move played, which is among the lines, for players s and c
    of shape (players,): that shape.
    """
    deltas = np.tile(np.array(spread.deltas), (len(s), 1))
    every = np.ones_like(deltas, dtype=bool)
    found = compute_choices_by_turn(deltas, every, model, curve, s[:, None], c[:, None])
    return found.log[:, spread.played]


_WithSlopes = tuple[Floats, Floats, Floats]
"""A number of each move, and its derivatives to two parameters."""


def _compute_discounts(
    curve: Curve, deltas: Floats, s: float | Floats, c: float | Floats
) -> _WithSlopes:
    """Return the discounts ``-log g(δ)``, and their derivatives to log s and log c."""
    x = deltas / s
    # x log x, and all that comes of it, is 0 for the best move.
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


# Each model gives log(1/p) of every move, shape (turns, moves), and its derivatives to
# the parameter that stands for p_0 and to the discount a.


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
    from scipy.special import wrightomega  # where asked for: a slow import

    return np.asarray(wrightomega(z), dtype=np.float64)


def _find_second_best(a: Floats, is_move: Bools) -> Floats:
    """Return the discount of the second best move, shape (turns,)."""
    if a.shape[1] < 2:
        return np.full(len(a), _MOST_DISCOUNT)
    return np.asarray(np.where(is_move[:, 1:], a[:, 1:], _MOST_DISCOUNT).min(axis=1))


def _compute_highest(is_move: Bools) -> Floats:
    """Return the log of u if all moves were equally likely: it cannot be more. Shape
    (turns,).
    """
    return np.asarray(np.log(np.log(np.maximum(is_move.sum(axis=1), 2))))


def _solve_balance(
    surprise: Callable[[Floats], tuple[Floats, Floats]],
    is_move: Bools,
    low: Floats,
    high: Floats,
) -> Floats:
    """Find where the probability left by the best move is what all others have, shape
    (turns,).

    Newton's method on the difference of the logarithms of both, which is near to
    straight, kept within a bracket that closes from both sides.
    """
    others = is_move.copy()
    others[:, 0] = False
    alone = ~others.any(axis=1)
    # Where all moves are alike the answer is an end itself: leave it room.
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
        ):  # squared by this step
            break
    return np.where(alone, -_MOST_DISCOUNT, at)


# --- intrinsic rating -----------------------------------------------------------------

# The intrinsic rating: the Elo whose players would have chosen these moves most
# probably.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, section 7: sensitivity s
# and competence c change smoothly with the Elo of the players they are fitted to. A
# table of that correspondence holds for one engine and limit; the published one is for
# Rybka 3 at depth 13, and ``live.studies.learning`` makes others from rated games.
#
# Along the table a player has one parameter, Elo. Each turn adds its log-likelihood at
# every Elo of a grid, so that adding and taking back a move are O(grid · lines), and
# the interval is where the likelihood is not too small (a likelihood-ratio interval).


#: How far beyond its lowest and highest players a table is extended, in Elo.
REACH_ELO = 400.0
STEP_ELO = 20.0
#: Log-likelihoods are kept to this many parts of one, as whole numbers: taking a move
#: back then undoes adding it exactly.
_PARTS_OF_ONE = 10**9
#: Half of χ²(1, 95 %): how far the log-likelihood falls within the interval.
_FALL = NormalDist().inv_cdf(0.975) ** 2 / 2


class Milepost(Value):
    """What players of one Elo were fitted to."""

    elo: float
    s: float
    c: float


class IntrinsicTable(Value):
    """The correspondence of (s, c) and Elo for one engine, limit and number of
    lines.
    """

    name: str
    engine: str
    """What the engine calls itself (UCI ``id name``)."""
    limit: str
    """As ``live.engine.search.Limit`` reads: ``100000 nodes``, ``depth 13``."""
    lines: int
    """Multi-PV."""
    mileposts: tuple[Milepost, ...]
    """Elo ascending, at least two."""
    source: str
    """For people: where it comes from."""
    model: Model = "shares"
    curve: Curve = "invexp"
    turns: int = 0
    """Turns it was learned from; 0 where that is not known."""
    players: int = 0
    players_sd_elo: float | None = None
    """How far players' true level in a game lies from their rating, standard deviation;
    None where that is not known."""
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
        """Return why this table says nothing about such spreads, for people; None when
        it does.
        """
        return explain_mismatch(
            f"intrinsic table {self.name!r}", {"engine": engine, "limit": limit}, self
        )

    def interpolate_skill(self, elo: float) -> ChoiceSkill:
        """Return (s, c) of players of ``elo``: interpolated, beyond the mileposts
        extended.
        """
        s, c = self.interpolate_parameters(np.array([elo]))
        return ChoiceSkill(float(s[0]), float(c[0]), self.model, self.curve)

    def interpolate_parameters(self, elo: Floats) -> tuple[Floats, Floats]:
        """Return the s and c of players of ``elo``, shape (players,): two arrays of
        that shape.

        Linear between mileposts in log s and log c; beyond the ends they go on along
        the straight line that fits all mileposts best.
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
    """A player's intrinsic rating, with what it holds for."""

    elo: float | None
    """Most likely Elo; None without a turn, and where the likelihood still rises at an
    end of what the table reaches."""
    low: float | None
    """95 % interval of the level shown; None for an end beyond the table's reach."""
    high: float | None
    beyond: bool = False
    """The estimate lies outside the mileposts, where the table is extended."""
    reason: str | None = None
    """Why ``elo`` is None, for people."""


@lru_cache(maxsize=16)
def _build_grid(table: IntrinsicTable) -> tuple[Floats, Floats, Floats]:
    """Return Elo, s and c along the table, each of shape (grid,)."""
    posts = table.mileposts
    grid = np.arange(posts[0].elo - REACH_ELO, posts[-1].elo + REACH_ELO + 1, STEP_ELO)
    return grid, *table.interpolate_parameters(grid)


# The same turn is weighed for its game and for its player, and again with every later
# move.
@lru_cache(maxsize=2**14)
def _compute_likelihoods(table: IntrinsicTable, spread: Spread) -> Ints:
    """Return the log-likelihood of one turn at every Elo of the grid, in whole parts;
    not to be changed.
    """
    _, s, c = _build_grid(table)
    log = compute_played_log(spread, table.model, table.curve, s, c)
    # One move says at most so much, or an oddity outside the model would say
    # everything.
    return np.asarray(np.rint(np.maximum(log, -50.0) * _PARTS_OF_ONE), dtype=np.int64)


def estimate_rating(
    table: IntrinsicTable, spreads: Iterable[Spread]
) -> IntrinsicRating:
    """Return the rating of a player's turns; leave out what ``left_out`` names first.
    O(turns · grid) once, then O(grid · turns) additions. Raises ValueError when a move
    is not among the lines.
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
    """Return the Elo where the likelihood has fallen enough, from the last grid point
    inside.
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

#: Regan and Haworth 2011, section 7, games of 2006-2009: Elo, s_fit and c_fit.
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

#: Elo of a player whose rating nobody knows: the mean of the open that calibrations
#: were learned from.
UNRATED_ELO = 2055


def predict_choices(elo: int | None, behind_cp: Sequence[int]) -> list[float]:
    """Return how probable it is that a player of an Elo, None if it is not known,
    chooses each move (Regan and Haworth 2011, sections 3 and 7).

    ``behind_cp``: how far each move is behind the best one, which comes first.
    """
    skill = RYBKA_3.interpolate_skill(round(elo or UNRATED_ELO, -2))
    pawns = [behind / 100 for behind in behind_cp]
    return [float(chance) for chance in compute_probabilities(pawns, skill)]


# --- projection -----------------------------------------------------------------------

# How often a player of given skill would match the engine, and whether one did so more
# often.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 3, 5 and 7:
# probabilities of single turns add up to a projected number of move matches (mm) and a
# projected average difference (ad), and turns being independent, so do their variances.
# Deviations in units of standard deviations are z-scores.
#
# A z-score is a screening figure: it says where a closer look may be worth it, and
# accuses nobody. Among many honest players some always stand out, by chance, by a good
# day, by prepared lines, and by a model that is no more than a model.


class ScreeningFigure(NamedTuple):
    """A count or mean beside what was projected for it. It accuses nobody."""

    actual: float
    projected: float
    sd: float
    """Standard deviation of ``actual`` under the projection."""
    z: float | None
    """Standard deviations towards the engine: positive for more matches, and for a
    smaller difference. None where nothing can vary."""


class Projection(NamedTuple):
    """A player's choices beside those of the skill they are compared with."""

    turns: int
    matches: ScreeningFigure
    """Turns in which the engine's first choice was played (mm)."""
    difference: ScreeningFigure
    """Mean distance of the move played to the best one, pawns (ad), on the scale of the
    spreads."""


def project_choices(
    spreads: Sequence[Spread] | TurnArrays, skill: ChoiceSkill
) -> Projection | None:
    """Return matches and average difference beside what ``skill`` would reach on the
    same turns; None without a turn. A skill fitted to these very moves agrees with them
    and screens for nothing.
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
