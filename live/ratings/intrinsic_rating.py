"""The intrinsic rating of Regan and Haworth 2011, and choices beside their projection."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import msgspec
import numpy as np

from live.errors import InputError
from live.ratings.choice_model import (
    SCALE_PER_PAWN,
    ChoiceSkill,
    Curve,
    Floats,
    Ints,
    Model,
    Spread,
    TurnArrays,
    choices,
    played_log,
)
from live.ratings.learned_files import LearnedFiles

# --- intrinsic rating ---------------------------------------------------------------------------

# The intrinsic rating: the Elo whose players would have chosen these moves most probably.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, section 7: sensitivity s and
# competence c change smoothly with the Elo of the players they are fitted to. A table of that
# correspondence holds for one engine and limit; the published one is for Rybka 3 at depth 13, and
# ``live.studies.regan_fit`` makes others from rated games.
#
# Along the table a player has one parameter, Elo. Each turn adds its log-likelihood at every Elo
# of a grid, so that adding and taking back a move are O(grid · lines), and the interval is where
# the likelihood is not too small (a likelihood-ratio interval).


FORMAT = 1
#: How far beyond its lowest and highest players a table is extended, in Elo.
REACH_ELO = 400.0
STEP_ELO = 20.0
#: Log-likelihoods are kept to this many parts of one, as whole numbers: taking a move back then
#: undoes adding it exactly.
_PARTS_OF_ONE = 10**9
#: Half of χ²(1, 95 %): how far the log-likelihood falls within the interval.
_FALL = NormalDist().inv_cdf(0.975) ** 2 / 2


class Milepost(msgspec.Struct, frozen=True):
    """What players of one Elo were fitted to."""

    elo: float
    s: float
    c: float


class IntrinsicTable(msgspec.Struct, frozen=True, kw_only=True):
    """The correspondence of (s, c) and Elo for one engine, limit and number of lines."""

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
    scale_per_pawn: float = SCALE_PER_PAWN
    """Scale correction of the spreads it was fitted to (``live.ratings.choice_model``)."""
    turns: int = 0
    """Turns it was learned from; 0 where that is not known."""
    players: int = 0
    players_sd_elo: float | None = None
    """How far players' true level in a game lies from their rating, standard deviation; None
    where that is not known."""
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"format {self.format} is not {FORMAT}")
        if len(self.mileposts) < 2:
            raise ValueError("a table needs two mileposts or more")
        if any(not a.elo < b.elo for a, b in zip(self.mileposts, self.mileposts[1:], strict=False)):
            raise ValueError("the Elo of mileposts must increase")
        if any(not (0 < m.s < math.inf and 0 < m.c < math.inf) for m in self.mileposts):
            raise ValueError("s and c of mileposts must be finite and above 0")

    def mismatch(self, engine: str, limit: str) -> str | None:
        """Why this table says nothing about such spreads, for people; None when it does."""
        for what, given, own in (("engine", engine, self.engine), ("limit", limit, self.limit)):
            if " ".join(given.lower().split()) != " ".join(own.lower().split()):
                return f"intrinsic table {self.name!r} holds for the {what} {own!r}, not {given!r}"
        return None

    def demand(self, engine: str, limit: str) -> None:
        """Raises InputError, with the remedy, when the table is for another engine or limit."""
        if reason := self.mismatch(engine, limit):
            raise InputError(
                self.name, reason, "Make one from rated games: live-rate calibrate --intrinsic"
            )

    def skill(self, elo: float) -> ChoiceSkill:
        """(s, c) of players of ``elo``: interpolated, beyond the mileposts extended."""
        s, c = self.parameters(np.array([elo]))
        return ChoiceSkill(float(s[0]), float(c[0]), self.model, self.curve)

    def parameters(self, elo: Floats) -> tuple[Floats, Floats]:
        """The s and c of players of ``elo``, shape (players,): two arrays of that shape.

        Linear between mileposts in log s and log c; beyond the ends they go on along the straight
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


class IntrinsicRating(msgspec.Struct, frozen=True):
    """A player's intrinsic rating, with what it holds for."""

    elo: float | None
    """Most likely Elo; None without a turn, and where the likelihood still rises at an end of
    what the table reaches."""
    low: float | None
    """95 % interval of the level shown; None for an end beyond the table's reach."""
    high: float | None
    beyond: bool = False
    """The estimate lies outside the mileposts, where the table is extended."""
    reason: str | None = None
    """Why ``elo`` is None, for people."""


@lru_cache(maxsize=16)
def _grid_of(table: IntrinsicTable) -> tuple[Floats, Floats, Floats]:
    """Elo, s and c along the table, each of shape (grid,)."""
    posts = table.mileposts
    grid = np.arange(posts[0].elo - REACH_ELO, posts[-1].elo + REACH_ELO + 1, STEP_ELO)
    return grid, *table.parameters(grid)


# The same turn is weighed for its game and for its player, and again with every later move.
@lru_cache(maxsize=2**14)
def _weighed(table: IntrinsicTable, spread: Spread) -> Ints:
    """Log-likelihood of one turn at every Elo of the grid, in whole parts; not to be changed."""
    _, s, c = _grid_of(table)
    log = played_log(spread, table.model, table.curve, s, c)
    # One move says at most so much, or an oddity outside the model would say everything.
    return np.asarray(np.rint(np.maximum(log, -50.0) * _PARTS_OF_ONE), dtype=np.int64)


def intrinsic_rating(table: IntrinsicTable, spreads: Iterable[Spread]) -> IntrinsicRating:
    """The rating of a player's turns; leave out what ``left_out`` names first. O(turns · grid)
    once, then O(grid · turns) additions. Raises ValueError when a move is not among the lines.
    """
    grid = _grid_of(table)[0]
    turns = [_weighed(table, spread) for spread in spreads]
    low = high = elo = reason = None
    if not turns:
        reason = "no turn with several lines yet"
    else:
        log = np.sum(turns, axis=0) / _PARTS_OF_ONE
        log -= log.max()
        best = int(log.argmax())
        inside = np.flatnonzero(log > -_FALL)
        low, high = (
            _crossing(grid, log, int(inside[0]), -1),
            _crossing(grid, log, int(inside[-1]), 1),
        )
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


def _crossing(grid: Floats, log: Floats, last: int, direction: int) -> float | None:
    """Elo where the likelihood has fallen enough, from the last grid point inside."""
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
    source="Regan and Haworth 2011, Intrinsic Chess Ratings, section 7, games of 2006-2009",
    mileposts=tuple(
        Milepost(elo, s, c)
        for elo, s, c in (
            (1600, 0.168, 0.436),
            (1700, 0.155, 0.443),
            (1800, 0.149, 0.450),
            (1900, 0.153, 0.457),
            (2000, 0.143, 0.464),
            (2100, 0.130, 0.471),
            (2200, 0.120, 0.478),
            (2300, 0.111, 0.485),
            (2400, 0.100, 0.492),
            (2500, 0.093, 0.499),
            (2600, 0.089, 0.506),
            (2700, 0.080, 0.513),
        )
    ),
)


# --- projection ---------------------------------------------------------------------------------

# How often a player of given skill would match the engine, and whether one did so more often.
#
# Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 3, 5 and 7: probabilities of
# single turns add up to a projected number of move matches (mm) and a projected average difference
# (ad), and turns being independent, so do their variances. Deviations in units of standard
# deviations are z-scores.
#
# A z-score is a screening figure: it says where a closer look may be worth it, and accuses nobody.
# Among many honest players some always stand out, by chance, by a good day, by prepared lines, and
# by a model that is no more than a model.


class ScreeningFigure(NamedTuple):
    """A count or mean beside what was projected for it. It accuses nobody."""

    actual: float
    projected: float
    sd: float
    """Standard deviation of ``actual`` under the projection."""
    z: float | None
    """Standard deviations towards the engine: positive for more matches, and for a smaller
    difference. None where nothing can vary."""


class Projection(NamedTuple):
    """A player's choices beside those of the skill they are compared with."""

    turns: int
    matches: ScreeningFigure
    """Turns in which the engine's first choice was played (mm)."""
    difference: ScreeningFigure
    """Mean distance of the move played to the best one, pawns (ad), on the scale of the
    spreads."""


def project(spreads: Sequence[Spread] | TurnArrays, skill: ChoiceSkill) -> Projection | None:
    """Matches and average difference beside what ``skill`` would reach on the same turns; None
    without a turn. A skill fitted to these very moves agrees with them and screens for nothing.
    """
    turns = spreads if isinstance(spreads, TurnArrays) else TurnArrays(spreads)
    n = len(turns)
    if not n:
        return None
    chance = choices(turns, skill).probability
    first = chance[:, 0]
    mean = (chance * turns.deltas).sum(axis=1)
    variance = (chance * (turns.deltas - mean[:, None]) ** 2).sum()
    matches = _figure((turns.played == 0).sum(), first.sum(), (first * (1 - first)).sum(), 1)
    lost = turns.of_played(turns.deltas).mean()
    return Projection(n, matches, _figure(lost, mean.mean(), variance / n**2, -1))


def _figure(actual: float, projected: float, variance: float, sign: int) -> ScreeningFigure:
    sd = math.sqrt(max(float(variance), 0.0))
    z = sign * float(actual - projected) / sd if sd > 0 else None
    return ScreeningFigure(float(actual), float(projected), sd, z)
