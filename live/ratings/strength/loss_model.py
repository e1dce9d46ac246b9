"""How much players of each Elo lose in a position, learned from rated games and kept in a file.

Losses fall into classes. The chance of each class follows a multinomial logit: its log-odds
against losing nothing are linear in the circumstances of the turn
(:mod:`live.ratings.strength.known_before_move`), and so are their change with
``z = (Elo - centre_elo) / scale_elo``; a term in ``z**2`` lets the change itself change. From it
follow how likely a move is for a player of any Elo, and how large a loss was to be expected: what
makes a position hard.

Moves of one game are not independent, so ``n`` of them count ``n / (1 + n / half_moves)`` (Kish
1965, Survey Sampling, 5.4). What is left of that, and of the shape, is measured on players who
were not learned from: how the signed root of the likelihood ratio is distributed at each Elo
(``roots``), how the mean loss of a game is (``ranks``).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from live.errors import InputError
from live.events import GainKind
from live.ratings.calibration.engine_transfer import Transfer
from live.ratings.learned_files import LearnedFiles
from live.ratings.strength.known_before_move import Circumstance, Turn, measured

Floats = npt.NDArray[np.float64]
Rows = tuple[tuple[float, ...], ...]

_LEARNED = LearnedFiles("loss_models", "model of losses")

FORMAT = 1
#: Where likelihoods are worked out, Elo. Beyond the ends a rating counts as unbounded.
GRID_ELO = np.arange(400.0, 3601.0, 50.0)


class Roots(msgspec.Struct, frozen=True):
    """Signed roots of the likelihood ratio at players' true ratings, after so many moves.

    At ``z`` their median is ``middle[0] + middle[1] * z`` and their standard deviation ``sd[0] +
    sd[1] * z``; ``reach`` is how many of the latter either way hold 95 % of them.
    """

    moves: int
    middle: tuple[float, float]
    sd: tuple[float, float]
    reach: tuple[float, float]


class Ranks(msgspec.Struct, frozen=True):
    """Mean losses of games never seen, beside what was expected, after so many moves.

    ``spread`` is the variance between games that chance within a game does not explain, relative
    to that of one move; ``quantiles`` are those of the standardised distance, at even shares from
    0.5 / k to 1 - 0.5 / k; ``by_elo`` is what they rise by for each z.
    """

    moves: int
    spread: float
    quantiles: tuple[float, ...]
    by_elo: float = 0.0


class HumanJoin(msgspec.Struct, frozen=True, kw_only=True):
    """How far moves are likely among people (``live.ratings.strength.human_evidence``) joins what
    their losses say, measured on players who were not learned from.
    """

    network: str
    """Whose answers, by name and digest: others were not measured."""
    games: int
    """Player-games."""
    weight: float
    """What the log-likelihood of a move among people counts, beside that of its loss."""
    roots: tuple[Roots, ...]
    """As those of the model, of both together; so are the others."""
    final_roots: tuple[Roots, ...] = ()
    performance: Roots | None = None
    running_performance: tuple[Roots, ...] = ()


class Band(msgspec.Struct, frozen=True):
    """How much was learned from one band of ratings."""

    elo: tuple[int, int]
    games: int
    """Player-games."""


class LossModel(msgspec.Struct, frozen=True, kw_only=True):
    """What losses say of Elo, with its provenance."""

    name: str
    engine: str
    """What the engine calls itself (UCI ``id name``)."""
    limit: str
    gain: GainKind
    time_control: str
    data: str
    date: str
    games: int
    """Player-games."""
    players: int
    moves: int
    bands: tuple[Band, ...]
    elo_range: tuple[float, float]
    """The middle 95 % of the ratings it was learned from."""
    mean_elo: float
    sd_elo: float
    """Of the players: what is believed of one of whom nothing is known."""
    centre_elo: float
    scale_elo: float
    half_moves: float
    loss_edges_cp: tuple[int, ...]
    """A loss equal to an edge belongs below it; losses below 0 are successive gains."""
    circumstances: tuple[Circumstance, ...]
    changing: tuple[Circumstance, ...]
    """Those whose weight changes with Elo."""
    level: Rows
    """Log-odds at the centre: (circumstances, classes - 1)."""
    slope: Rows
    """Their change with z: (changing, classes - 1)."""
    bend: tuple[float, ...]
    """(classes - 1,), times z²."""
    mean_log_loss: tuple[float, ...]
    """By class: mean of ``log(1 + loss in tenths of a pawn)``."""
    mean_square_log_loss: tuple[float, ...]
    roots: tuple[Roots, ...]
    final_roots: tuple[Roots, ...] = ()
    """Of finished games. Games end by mistakes, so a game that is over says another thing than
    one that goes on."""
    performance: Roots | None = None
    """The same for moves and result of one whole game together; ``moves`` is 1: one game."""
    running_performance: tuple[Roots, ...] = ()
    """Of one game after so many moves, with what its position promises for its result."""
    human: HumanJoin | None = None
    """None where nothing was learned of moves among people."""
    shared: tuple[float, ...] = ()
    """How much of the opponent's standardised losses so far a player's own are expected to share,
    by stage of the game (``STAGES_PLIES``); empty where that was not learned."""
    ranks: tuple[Ranks, ...] = ()
    final_ranks: tuple[Ranks, ...] = ()
    """Of finished games."""
    difference: tuple[float, float] = (-150.0, 0.0)
    """What Algorithm 4 shows of players at the centre, Elo against the engine, and what it rises
    by for each z."""
    form_sd_elo: float = 0.0
    """How far the play of one game lies from a player's rating, as far as it was measured."""
    form_sd_elo_high: float = 0.0
    """The upper end of its 95 % interval."""
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"format {self.format} is not {FORMAT}")
        if not (self.scale_elo > 0 and self.half_moves > 0):
            raise ValueError("scale_elo and half_moves must be above 0")
        classes = len(self.loss_edges_cp) + 1
        for what, rows, names in (
            ("level", self.level, self.circumstances),
            ("slope", self.slope, self.changing),
        ):
            if len(rows) != len(names) or any(len(row) != classes - 1 for row in rows):
                raise ValueError(f"{what} has the wrong shape for {classes} classes")
        if not len(self.mean_log_loss) == len(self.mean_square_log_loss) == classes:
            raise ValueError(f"means must be given for {classes} classes")
        if len(self.bend) != classes - 1 or not self.roots:
            raise ValueError("bend or roots are missing")
        if not set(self.changing) <= set(self.circumstances):
            raise ValueError("what changes with Elo must be among the circumstances")

    def mismatch(self, engine: str, limit: str, gain: GainKind) -> str | None:
        """Why it says nothing about such gains, for people; None when it does."""
        asked, held = (engine, limit, gain), (self.engine, self.limit, self.gain)
        for what, given, own in zip(("engine", "limit", "gain"), asked, held, strict=True):
            if " ".join(given.lower().split()) != " ".join(own.lower().split()):
                return f"model {self.name!r} holds for the {what} {own!r}, not {given!r}"
        return None

    def z(self, elo: float) -> float:
        """The scaled rating."""
        return (elo - self.centre_elo) / self.scale_elo

    def expected_difference(self, elo: float) -> float:
        """What Algorithm 4 shows of players of this Elo, against the engine."""
        low, high = self.elo_range
        return self.difference[0] + self.difference[1] * self.z(min(max(elo, low), high))

    def weight(self, moves: int) -> float:
        """What the log-likelihood of each of so many moves counts."""
        return 1 / (1 + moves / self.half_moves)


class Expected(NamedTuple):
    """Of ``log(1 + loss)`` in one turn."""

    mean: float
    variance: float


class LossReader:
    """Reads turns by a model; some 30 µs each.

    With a ``transfer`` the turns were judged by another engine or under another limit than the
    model was learned with: they are scaled to the model's centipawns (:meth:`scaled`), their
    likelihood counts by the transfer's weight, and their Elo is shifted by its offset.
    """

    __slots__ = (
        "_bend",
        "_changing",
        "_level",
        "_shift_elo",
        "_slope",
        "_weight",
        "_z",
        "_z2",
        "mean",
        "model",
        "square",
        "transfer",
    )

    def __init__(self, model: LossModel, transfer: Transfer | None = None) -> None:
        self.model = model
        self.transfer = transfer
        self._weight = 1.0 if transfer is None else transfer.weight
        self._shift_elo = 0.0 if transfer is None else transfer.offset_elo
        classes = len(model.loss_edges_cp) + 1
        # A first column of nothing: losing nothing is what all else is compared with.
        self._level = np.zeros((len(model.circumstances), classes))
        self._level[:, 1:] = model.level
        self._slope = np.zeros((len(model.changing), classes))
        self._slope[:, 1:] = model.slope
        self._bend = np.array([0.0, *model.bend])
        self._changing = [model.circumstances.index(name) for name in model.changing]
        self._z = ((GRID_ELO + self._shift_elo - model.centre_elo) / model.scale_elo)[:, None]
        self._z2 = self._z**2 * self._bend
        self.mean = np.array(model.mean_log_loss)
        self.square = np.array(model.mean_square_log_loss)

    def scaled(self, turn: Turn) -> Turn:
        """The turn as the model's own engine and limit would count it; the rest takes only such."""
        if self.transfer is None:
            return turn
        by = self.transfer.scaled
        return msgspec.structs.replace(
            turn,
            gain_cp=round(by(turn.gain_cp)),
            score_before_cp=round(by(turn.score_before_cp)),
            stability_cp=None if turn.stability_cp is None else by(turn.stability_cp),
            jump_cp=None if turn.jump_cp is None else round(by(turn.jump_cp)),
        )

    def loss_class(self, turn: Turn) -> int:
        """Which class its loss falls into."""
        return bisect_left(self.model.loss_edges_cp, -turn.gain_cp)

    def log_likelihood(self, turn: Turn) -> Floats:
        """Of the loss, for players of each Elo of ``GRID_ELO``."""
        return self._log_likelihood(turn, *self._lines(turn))

    def read(self, turn: Turn, elo: float) -> tuple[Floats, Expected]:
        """:meth:`log_likelihood` and :meth:`expected`, at less than the cost of both."""
        lines = self._lines(turn)
        return self._log_likelihood(turn, *lines), self._expected(*lines, elo)

    def _log_likelihood(self, turn: Turn, level: Floats, slope: Floats) -> Floats:
        odds = level + slope * self._z + self._z2
        odds -= odds.max(axis=1, keepdims=True)
        of_class: Floats = odds[:, self.loss_class(turn)] - np.log(np.exp(odds).sum(axis=1))
        return of_class * self._weight

    def expected(self, turn: Turn, elo: float) -> Expected:
        """What a player of this Elo loses there."""
        return self._expected(*self._lines(turn), elo)

    def _expected(self, level: Floats, slope: Floats, elo: float) -> Expected:
        z = self.model.z(elo + self._shift_elo)
        odds = level + slope * z + self._bend * (z * z)
        share = np.exp(odds - odds.max())
        share /= share.sum()
        mean = float(share @ self.mean)
        return Expected(mean, float(share @ self.square) - mean * mean)

    def _lines(self, turn: Turn) -> tuple[Floats, Floats]:
        at = np.array(measured(turn, self.model.circumstances))
        return at @ self._level, at[self._changing] @ self._slope


class Alone(NamedTuple):
    """A rating from moves alone, Elo; None for an end, or for the figure, that is unbounded."""

    elo: float | None
    low: float | None
    high: float | None
    unbounded: str = ""
    """``low`` or ``high`` where the figure itself is unbounded on that side."""


def joined(
    model: LossModel, losses: Floats, human: Floats | None
) -> tuple[Floats, HumanJoin | None]:
    """Both log-likelihoods over ``GRID_ELO`` as one, and what it is to be compared with; that of
    the losses and None where the moves' likelihood among people is not known or was not learned.
    """
    if human is None or model.human is None:
        return losses, None
    return losses + model.human.weight * human, model.human


def alone(
    model: LossModel,
    log_likelihood: Floats,
    moves: int,
    *,
    over: bool = False,
    human: HumanJoin | None = None,
) -> Alone | None:
    """The Elo at which the moves are likeliest, and all that are not much less so.

    ``log_likelihood``: summed over ``moves`` turns, over ``GRID_ELO``, undamped. The signed root
    of the likelihood ratio (Barndorff-Nielsen 1986, Biometrika 73) is standardised by what it was
    for players of each Elo after as many moves; the rating is where it is 0, so that it lies above
    the truth as often as below, and the interval holds all Elos at which it is not too far out.
    ``over`` says that the game has ended, ``human`` that it is a likelihood of losses and moves
    (:func:`joined`). None without a move.
    """
    if not moves:
        return None
    held = log_likelihood * model.weight(moves)
    known = human or model
    nodes = known.final_roots if over and known.final_roots else known.roots
    return standing(held, *roots_at(model, nodes, moves))


def standing(held: Floats, middle: Floats, sd: Floats, below: float, above: float) -> Alone:
    """The rating and its interval from a damped log-likelihood over ``GRID_ELO``.

    ``middle`` and ``sd``, over the same grid, are those of the signed root at the true rating;
    ``below`` and ``above`` hold 95 % of it, in standard deviations.
    """
    likeliest, value = peak(held)
    distance = 2 * (value - held)
    np.sqrt(np.maximum(distance, 0.0, out=distance), out=distance)
    distance[bisect_right(_ELOS, likeliest) :] *= -1
    distance -= middle
    distance /= sd
    elo, low, high = _crossings(distance, (0.0, above, below))
    unbounded = "" if elo is not None else ("high" if distance[-1] > 0 else "low")
    return Alone(elo, low, high, unbounded)


def peak(held: Floats) -> tuple[float, float]:
    """The Elo where a log-likelihood over ``GRID_ELO`` is highest, and how high: between the
    points of the grid by the parabola through the three highest.
    """
    top = int(held.argmax())
    if top in (0, len(held) - 1):
        return _ELOS[top], float(held[top])
    left, middle, right = held[top - 1 : top + 2].tolist()
    bend = left - 2 * middle + right
    if bend >= 0:
        return _ELOS[top], middle
    shift = 0.5 * (left - right) / bend
    return _ELOS[top] + shift * _STEP_ELO, middle - 0.25 * (left - right) * shift


def _crossings(falling: Floats, heights: tuple[float, ...]) -> list[float | None]:
    """Where a falling line over the grid meets each height; None where it does not."""
    crossed = (falling <= np.array(heights)[:, None]).argmax(axis=1).tolist()
    found: list[float | None] = []
    for at, height in zip(crossed, heights, strict=True):
        if at == 0:  # the first is not above it, or none is below
            found.append(None)
            continue
        left, right = (each - height for each in falling[at - 1 : at + 1].tolist())
        found.append(_ELOS[0] + _STEP_ELO * (at - 1 + left / (left - right)))
    return found


_ELOS: list[float] = GRID_ELO.tolist()
_STEP_ELO = _ELOS[1] - _ELOS[0]


def learned_z(model: LossModel, elo: Floats) -> Floats:
    """Scaled ratings; those beyond what was learned from are taken as the last of them."""
    low, high = model.elo_range
    return (np.clip(elo, low, high) - model.centre_elo) / model.scale_elo


def roots_at(
    model: LossModel, nodes: tuple[Roots, ...], moves: int
) -> tuple[Floats, Floats, float, float]:
    """Median and standard deviation of the signed root over ``GRID_ELO``, and its reach."""
    return _roots_at(nodes, model.elo_range, model.centre_elo, model.scale_elo, moves)


@lru_cache(maxsize=2048)
def _roots_at(
    nodes: tuple[Roots, ...],
    elo_range: tuple[float, float],
    centre_elo: float,
    scale_elo: float,
    moves: int,
) -> tuple[Floats, Floats, float, float]:
    # The same for every player after as many moves; nobody writes into these arrays.
    z = (np.clip(GRID_ELO, *elo_range) - centre_elo) / scale_elo
    low, high, share = between([each.moves for each in nodes], moves)
    one, other = nodes[low], nodes[high]

    def mixed(a: float, b: float) -> float:
        return a + (b - a) * share

    middle = mixed(one.middle[0], other.middle[0]) + mixed(one.middle[1], other.middle[1]) * z
    sd = mixed(one.sd[0], other.sd[0]) + mixed(one.sd[1], other.sd[1]) * z
    return (
        middle,
        np.maximum(sd, 0.3),
        mixed(one.reach[0], other.reach[0]),
        mixed(one.reach[1], other.reach[1]),
    )


def between(nodes: list[int], moves: int) -> tuple[int, int, float]:
    """The nodes around ``moves``, and how far along it lies on a scale of logarithms."""
    at = bisect_left(nodes, moves)
    if at == 0:
        return 0, 0, 0.0
    if at == len(nodes):
        return at - 1, at - 1, 0.0
    share = math.log(moves / nodes[at - 1]) / math.log(nodes[at] / nodes[at - 1])
    return at - 1, at, share


class Level(NamedTuple):
    """A belief about the strength shown, Elo."""

    elo: float
    low: float
    high: float
    share: float
    """1 - variance / variance of the prior: what the moves had to say in it, 0 to 1."""


def level(
    model: LossModel, log_likelihood: Floats, moves: int, mean_elo: float, sd_elo: float
) -> Level:
    """The normal prior times the likelihood of the moves, with the central 95 %.

    A prior without spread says that a player plays by his rating whatever is seen: the level is
    the rating, and the moves have no share in it.
    """
    if sd_elo <= 0:
        return Level(mean_elo, mean_elo, mean_elo, 0.0)
    # Around the prior, so that neither a rating of 0 nor one of 4000 falls off the grid.
    at = mean_elo + sd_elo * _REACH
    held = np.interp(at, GRID_ELO, log_likelihood) * model.weight(moves) if moves else 0.0
    log = held - 0.5 * _REACH**2
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    mean = float(mass @ at)
    variance = float(mass @ (at - mean) ** 2)
    prior_mass = np.exp(-0.5 * _REACH**2)
    prior_mass /= prior_mass.sum()
    of_prior = float(prior_mass @ (at - mean_elo) ** 2)
    summed = np.cumsum(mass) - mass / 2
    low, high = np.interp((0.025, 0.975), summed, at).tolist()
    return Level(mean, low, high, min(1.0, max(0.0, 1 - variance / of_prior)))


_REACH = np.linspace(-4.0, 4.0, 81)


def encode_loss_model(model: LossModel) -> bytes:
    """The file: JSON, indented for people."""
    return msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"


def decode_loss_model(data: bytes, subject: str) -> LossModel:
    """Read the file. Raises InputError, naming ``subject``, for what is no model of losses."""
    try:
        return msgspec.json.decode(data, type=LossModel)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(
            subject,
            f"is no model of losses: {error}",
            "Make one with `live-rate calibrate --losses`",
        ) from error


def shipped_loss_models() -> tuple[LossModel, ...]:
    """Those that come with the package."""
    return tuple(decode_loss_model(_LEARNED.read(name), name) for name in _LEARNED.names())
