"""The intrinsic rating of Regan and Haworth 2011.

It is the rating that a player's choices of moves suggest.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

import numpy as np

from live.messages.values import Value
from live.ratings.choice_model import (
    ChoiceSkill,
    Curve,
    Floats,
    Ints,
    Model,
    Spread,
    compute_played_log,
    compute_probabilities,
)
from live.ratings.learned_files import LearnedFiles, explain_mismatch

#: Elo by which a table is extended beyond its lowest and highest milepost.
REACH_ELO = 400.0
STEP_ELO = 20.0
#: Log-likelihoods are integers in this fraction of 1, so that taking a move back
#: exactly reverses adding it.
_PARTS_OF_ONE = 10**9
#: Half of χ²(1, 95 %). At the ends of the interval, the log-likelihood is this much
#: below its maximum.
_FALL = NormalDist().inv_cdf(0.975) ** 2 / 2


class Milepost(Value):
    """Parameters that were fitted to the moves of players of one Elo."""

    elo: float
    s: float
    c: float


class IntrinsicTable(Value):
    """Relation of s and c to Elo for one engine, limit and number of lines."""

    name: str
    engine: str
    """Name that the engine gives itself (UCI ``id name``)."""
    limit: str
    """Text as ``live.engine.search.Limit`` reads it: ``100000 nodes``, ``depth 13``."""
    lines: int
    """Number of lines (Multi-PV)."""
    mileposts: tuple[Milepost, ...]
    """At least two mileposts, in ascending order of Elo."""
    source: str
    """Source of the table, as text for people."""
    model: Model = "shares"
    curve: Curve = "invexp"
    turns: int = 0
    """Number of turns from which the table was learned; 0 if unknown."""
    players: int = 0
    players_sd_elo: float | None = None
    """Standard deviation of players' true level in a game around their rating, Elo;
    None if unknown.
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
        """Return the reason why this table does not apply to an engine and limit.

        The reason is text for people. Return None if the table applies.
        """
        return explain_mismatch(
            f"intrinsic table {self.name!r}", {"engine": engine, "limit": limit}, self
        )

    def interpolate_skill(self, elo: float) -> ChoiceSkill:
        """Return s and c of players of ``elo``, by interpolation or extrapolation."""
        s, c = self.interpolate_parameters(np.array([elo]))
        return ChoiceSkill(float(s[0]), float(c[0]), self.model, self.curve)

    def interpolate_parameters(self, elo: Floats) -> tuple[Floats, Floats]:
        """Return the arrays of s and c of players of ``elo``. All shapes are
        (players,).

        Between mileposts, log s and log c are linear in Elo. Beyond the mileposts they
        follow the straight line that fits all mileposts best.
        """
        at = np.array([m.elo for m in self.mileposts])
        beyond = elo - np.clip(elo, at[0], at[-1])
        s_and_c = []
        for parameters in (
            [m.s for m in self.mileposts],
            [m.c for m in self.mileposts],
        ):
            logs = np.log(parameters)
            centred = at - at.mean()
            trend = float(centred @ logs) / float(centred @ centred)
            s_and_c.append(np.exp(np.interp(elo, at, logs) + trend * beyond))
        return s_and_c[0], s_and_c[1]


class IntrinsicRating(Value):
    """A player's intrinsic rating, with its interval."""

    elo: float | None
    """Most likely Elo. None without a turn, and if the likelihood still rises at an end
    of the extended table.
    """
    low: float | None
    """Lower end of the 95 % interval; None if it lies beyond the extended table."""
    high: float | None
    beyond: bool = False
    """True if the estimate lies outside the mileposts, where the table is extended."""
    reason: str | None = None
    """Reason why ``elo`` is None, as text for people."""


@lru_cache(maxsize=16)
def _build_grid(table: IntrinsicTable) -> tuple[Floats, Floats, Floats]:
    """Return Elo, s and c at all points of the extended table, each of
    shape (grid,).
    """
    posts = table.mileposts
    grid = np.arange(posts[0].elo - REACH_ELO, posts[-1].elo + REACH_ELO + 1, STEP_ELO)
    return grid, *table.interpolate_parameters(grid)


# Cached, because a turn is evaluated for its game, for its player, and again after
# every later move.
@lru_cache(maxsize=2**14)
def _compute_log_likelihoods(table: IntrinsicTable, spread: Spread) -> Ints:
    """Return the log-likelihood of one turn at every Elo of the grid, as integers.

    The unit is ``1 / _PARTS_OF_ONE``. Callers must not change the array.
    """
    _, s, c = _build_grid(table)
    log = compute_played_log(spread, table.model, table.curve, s, c)
    # Limited, so that one odd move outside the model does not outweigh all other moves.
    return np.asarray(np.rint(np.maximum(log, -50.0) * _PARTS_OF_ONE), dtype=np.int64)


def estimate_rating(
    table: IntrinsicTable, spreads: Iterable[Spread]
) -> IntrinsicRating:
    """Return the rating that a player's turns suggest.

    The turns must not include any that :func:`explain_left_out` excludes. The time is
    proportional to the number of turns times the size of the grid. Raises ValueError if
    a move is not among the lines.
    """
    grid = _build_grid(table)[0]
    turns = [_compute_log_likelihoods(table, spread) for spread in spreads]
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
    """Return the Elo at which the log-likelihood has fallen by ``_FALL``; None if it
    lies outside the grid.

    ``last`` is the last grid point inside the interval; ``direction`` is -1 or 1.
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

#: Elo assumed for a player without a rating: the mean of the open from which the
#: calibrations were learned.
UNRATED_ELO = 2055


def predict_choices(elo: int | None, behind_cp: Sequence[int]) -> list[float]:
    """Return the probabilities with which a player of an Elo chooses each move.

    An Elo of None means that it is unknown. ``behind_cp`` contains the distance of each
    move behind the best move, centipawns; the best move is first (Regan and Haworth
    2011, sections 3 and 7).
    """
    skill = RYBKA_3.interpolate_skill(round(elo or UNRATED_ELO, -2))
    pawns = [behind / 100 for behind in behind_cp]
    return [float(chance) for chance in compute_probabilities(pawns, skill)]
