"""What a move says about its player's Elo, learned from rated games and kept in a small file.

A calibration turns each move into evidence: how much more likely players of each Elo are to make
a move of this kind than others. With ``z = (Elo - centre_elo) / scale_elo`` a move adds
``slope * z - curvature * z**2 / 2`` to the log-likelihood. The curvature goes with the class of its
gain; the slope is a sum over the parts of the calibration, each a table by a circumstance of the
move (its phase, the evaluation it was made from, the gain before it) and by the class of its gain.

Moves of one game are not independent, nor are games of one player. ``n`` moves of a game therefore
count ``n / (1 + n / half_moves)``, and ``G`` games of a player ``G / (1 + (G - 1) *
games_correlation)``: the design effect of cluster samples (Kish 1965, Survey Sampling, 5.4). Over
several games other tables apply more and more, since what separates players is not quite what
separates single games: the ``pooled`` tables are added with the weight
``(G - 1) / (G - 1 + pooling_games)``.

The evidence holds for one engine, limit and definition of gain, and for a population like the one
it was learned from.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise
from typing import Literal

import msgspec

from live.errors import InputError
from live.events import GainKind
from live.ratings.learned_files import LearnedFiles

_LEARNED = LearnedFiles("calibrations", "calibration")

FORMAT = 1
#: Weights are kept to this many parts of one, so that sums of them are whole numbers and taking a
#: move back undoes adding it exactly.
PARTS_OF_ONE = 1_000_000

Circumstance = Literal["none", "ply", "score_before_cp", "previous_gain_cp"]
Table = tuple[tuple[float, ...], ...]


class Population(msgspec.Struct, frozen=True):
    """Ratings as a normal distribution: what is believed before the first move."""

    mean_elo: float
    sd_elo: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.mean_elo) or not 0 < self.sd_elo < math.inf:
            raise ValueError(f"no population has mean {self.mean_elo} and spread {self.sd_elo} Elo")


class RatedMove(msgspec.Struct, frozen=True, gc=False):
    """What the evidence of one move rests on."""

    gain_cp: int
    score_before_cp: int
    """Score of the position before the move, from the mover's side."""
    ply: int
    """From 1."""
    previous_gain_cp: int | None = None
    """The gain of the same player's move before this one; None for the first, or unknown."""


class SlopePart(msgspec.Struct, frozen=True):
    """One share of a move's slope: tables of shape (circumstances, classes of gain).

    ``edges`` cut the circumstance into classes; a value equal to an edge belongs below it.
    """

    by: Circumstance
    edges: tuple[int, ...]
    slope: Table
    pooled_slope: Table


class CalibrationRecord(msgspec.Struct, frozen=True):
    """How well a calibration did on players it was not learned from (errors in Elo)."""

    how: str
    coverage: float
    """Share of players' ratings inside the 95 % interval, single games."""
    mean_absolute_error: float
    constant_error: float
    """Mean absolute error of the best constant guess on the same games."""
    pooled_players: int = 0
    pooled_r: float | None = None
    pooled_mean_absolute_error: float | None = None
    pooled_coverage: float | None = None


class MoveEvidence(msgspec.Struct, frozen=True, gc=False):
    """Sums over moves, in parts of one (``PARTS_OF_ONE``)."""

    slope: int
    curvature: int
    pooled_slope: int
    pooled_curvature: int


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """A learned likelihood with its provenance. Ratings are Elo, gains and scores centipawns."""

    name: str
    engine: str
    """What the engine calls itself (UCI ``id name``)."""
    limit: str
    """As ``live.engine.search.Limit`` reads: ``100000 nodes``, ``depth 15``."""
    gain: GainKind
    time_control: str
    """For people: ``blitz``, ``classical``."""
    data: str
    """Name of the file of rated games."""
    date: str
    """When it was learned, ISO 8601."""
    games: int
    """Player-games: each game is seen from both sides where both players are rated."""
    players: int
    moves: int
    left_out: tuple[int, int] | None = None
    """``(d, r)``: players whose crc32 leaves r when divided by d were left out of the learning."""
    engine_rating: float | None
    """Algorithm 3 over the players, the engine a spike at 0, weighted by moves; Elo."""
    population: Population
    """Prior of a single game."""
    players_population: Population
    """Prior over several games of a player: those who play more are another population."""
    centre_elo: float
    scale_elo: float
    half_moves: float
    games_correlation: float
    pooling_games: float
    gain_edges_cp: tuple[int, ...]
    curvature: tuple[float, ...]
    """By class of gain; never below 0, also with ``pooled_curvature`` added."""
    pooled_curvature: tuple[float, ...]
    parts: tuple[SlopePart, ...]
    measured: CalibrationRecord | None = None
    elo_range: tuple[float, float] | None = None
    """The middle 95 % of the ratings it was learned from; beyond them it is an extrapolation. None
    where that is not known."""
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"format {self.format} is not {FORMAT}")
        if not (self.scale_elo > 0 and self.half_moves > 0 and self.pooling_games > 0):
            raise ValueError("scale_elo, half_moves and pooling_games must be above 0")
        if not 0 <= self.games_correlation <= 1:
            raise ValueError(f"games_correlation {self.games_correlation} is not in [0, 1]")
        if self.elo_range is not None and not 0 <= self.elo_range[0] < self.elo_range[1] < math.inf:
            raise ValueError(f"elo_range {self.elo_range} is no range of ratings")
        _increasing("gain_edges_cp", self.gain_edges_cp)
        classes = len(self.gain_edges_cp) + 1
        if len(self.curvature) != classes or len(self.pooled_curvature) != classes:
            raise ValueError(f"curvatures must be given for {classes} classes of gain")
        for single, pooled in zip(self.curvature, self.pooled_curvature, strict=True):
            if single < 0 or single + pooled < -1e-4:
                raise ValueError("a curvature is below 0")
        for part in self.parts:
            _increasing(f"edges of {part.by}", part.edges)
            for table in (part.slope, part.pooled_slope):
                if len(table) != len(part.edges) + 1 or any(len(row) != classes for row in table):
                    raise ValueError(f"a table by {part.by} has the wrong shape")

    def mismatch(self, engine: str, limit: str, gain: GainKind) -> str | None:
        """Why this calibration says nothing about such gains, for people; None when it does."""
        asked, held = (engine, limit, gain), (self.engine, self.limit, self.gain)
        for what, given, own in zip(("engine", "limit", "gain"), asked, held, strict=True):
            if " ".join(given.lower().split()) != " ".join(own.lower().split()):
                return f"calibration {self.name!r} holds for the {what} {own!r}, not {given!r}"
        return None

    def beyond(self, elo: float) -> bool:
        """Whether such a rating lies outside those it was learned from."""
        return self.elo_range is not None and not self.elo_range[0] <= elo <= self.elo_range[1]

    def matches(self, engine: str, limit: str, gain: GainKind) -> bool:
        """Whether it was learned with this engine (UCI ``id name``), limit and gain."""
        return self.mismatch(engine, limit, gain) is None


class EvidenceSums:
    """Looks up the evidence of moves; O(parts) each."""

    __slots__ = ("_curvature", "_parts", "calibration")

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self._curvature = [
            MoveEvidence(0, _whole(single), 0, _whole(pooled))
            for single, pooled in zip(
                calibration.curvature, calibration.pooled_curvature, strict=True
            )
        ]
        self._parts = [
            (
                part.by,
                part.edges,
                [
                    [(_whole(a), _whole(b)) for a, b in zip(*rows, strict=True)]
                    for rows in zip(part.slope, part.pooled_slope, strict=True)
                ],
            )
            for part in calibration.parts
        ]

    def weigh(self, move: RatedMove) -> MoveEvidence:
        """The evidence of one move, all parts together."""
        kind = bisect_left(self.calibration.gain_edges_cp, move.gain_cp)
        held = self._curvature[kind]
        slope, pooled_slope = held.slope, held.pooled_slope
        for by, edges, rows in self._parts:
            single, pooled = rows[circumstance_class(by, edges, move)][kind]
            slope += single
            pooled_slope += pooled
        return MoveEvidence(slope, held.curvature, pooled_slope, held.pooled_curvature)


def _whole(weight: float) -> int:
    return round(weight * PARTS_OF_ONE)


def circumstance_class(by: Circumstance, edges: tuple[int, ...], move: RatedMove) -> int:
    """Which row of a part's tables a move belongs to.

    A first move counts as one after a move that lost nothing.
    """
    if by == "none":
        return 0
    if by == "ply":
        return bisect_left(edges, move.ply)
    if by == "score_before_cp":
        return bisect_left(edges, move.score_before_cp)
    if move.previous_gain_cp is None:
        return len(edges)
    return bisect_left(edges, move.previous_gain_cp)


def encode_calibration(calibration: Calibration) -> bytes:
    """The file: JSON, indented for people."""
    return msgspec.json.format(msgspec.json.encode(calibration), indent=1) + b"\n"


def decode_calibration(data: bytes, subject: str) -> Calibration:
    """Read the file. Raises InputError, naming ``subject``, for what is no calibration."""
    try:
        return msgspec.json.decode(data, type=Calibration)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(
            subject, f"is no calibration: {error}", "Make one with `live-rate calibrate --write`"
        ) from error


def shipped() -> tuple[str, ...]:
    """Names of the calibrations that come with the package."""
    return _LEARNED.names()


def load_calibration(name_or_path: str) -> Calibration:
    """A shipped calibration by its name, or one from a file.

    Raises InputError when there is none or it cannot be read.
    """
    return decode_calibration(_LEARNED.read(name_or_path), name_or_path)


def _increasing(what: str, edges: tuple[int, ...]) -> None:
    if any(low >= high for low, high in pairwise(edges)):
        raise ValueError(f"{what} must increase")
