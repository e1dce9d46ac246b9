"""Models of the perceived rating: circumstances of a move, models, and the choice of
the model for a game.
"""

import contextlib
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple

import chess
import msgspec
import numpy as np

from live.games.pace_of_play import Pace
from live.messages.figures import GainKind
from live.messages.values import Value
from live.ratings.learned_files import LearnedFiles, explain_mismatch
from live.ratings.perceived_rating import (
    GRID_ELO,
    ComparedMove,
    Dispersion,
    Elos,
    Floats,
    compare_move,
)

# --- circumstances --------------------------------------------------------------------

# Circumstances of a move, known before it was played, and the loss that followed.
#
# A hard position costs every player more than an easy one, so each loss is compared
# with the loss expected in its position. The circumstances are the score and its
# changes during the engine's search (Alliot 2017, section 3.1), the stage of the game,
# and the board itself. They include nothing about the move played, or about what came
# after it.


_ALL_PIECES = 62
"""Value in pawns of all pieces at the start, without pawns and kings."""


class Board(Value, gc=False):
    """Facts about the board before a move."""

    legal_moves: int
    captures: int
    """Number of legal moves that capture."""
    recapture: bool
    """True if the move before captured a piece and can be answered by a recapture."""
    check: bool
    pieces: int
    """Value in pawns of both sides' pieces, without pawns and kings."""
    repeated: bool = False
    """True if the position occurred before in this game."""

    @property
    def is_forced(self) -> bool:
        """Return whether there is only one legal move, or none."""
        return self.legal_moves < 2


def describe_board(board: chess.Board, *, taken: bool, repeated: bool = False) -> Board:
    """Return the facts about ``board`` for the side to move.

    ``taken`` tells that the move before was a capture.
    """
    theirs = board.occupied_co[not board.turn]
    target = board.move_stack[-1].to_square if taken and board.move_stack else None
    moves = list(board.generate_legal_moves())
    took = [
        move.to_square
        for move in moves
        if theirs >> move.to_square & 1
        # A capture en passant ends on an empty square.
        or (move.to_square == board.ep_square and board.pawns >> move.from_square & 1)
    ]
    pieces = 3 * chess.popcount(board.knights | board.bishops)
    pieces += 5 * chess.popcount(board.rooks) + 9 * chess.popcount(board.queens)
    return Board(
        len(moves), len(took), target in took, board.is_check(), pieces, repeated
    )


class Turn(Value, gc=False):
    """One move; score and gain are from the mover's side."""

    gain_cp: int
    score_before_cp: int
    ply: int
    """Counted from 1."""
    stability_cp: float | None = None
    """Mean change of the score between depths; None if the search is unknown."""
    jump_cp: int | None = None
    """Largest change of the score between two depths."""
    board: Board | None = None
    found: float | None = None
    """Share of players of the mover's rating who choose the engine's move, above 0 and
    at most 1; None if unknown.
    """


Circumstance = Literal[
    "always",
    "opening",
    "early",
    "late",
    "ahead",
    "behind",
    "level",
    "dead",
    "won",
    "instability",
    "jump",
    "choices",
    "pieces",
    "captures",
    "recapture",
    "check",
    "found",
    "found_squared",
]
Circumstances = tuple[Circumstance, ...]


def _compute_log_odds(share: float | None) -> float:
    if share is None:
        return 0.0
    within = min(max(share, 0.001), 0.999)
    return math.log(within / (1 - within))


def _measure_board(measure: Callable[[Board], float]) -> Callable[[Turn], float]:
    """Return a measure of a turn that is 0 if the board is unknown."""
    return lambda turn: 0.0 if turn.board is None else measure(turn.board)


_MEASURES: dict[Circumstance, Callable[[Turn], float]] = {
    "always": lambda turn: 1.0,
    "opening": lambda turn: min(max((20 - turn.ply) / 20, 0.0), 1.0),
    "early": lambda turn: min(max((40 - turn.ply) / 20, 0.0), 1.0),
    "late": lambda turn: min(max((turn.ply - 60) / 40, 0.0), 1.5),
    "ahead": lambda turn: math.log1p(max(turn.score_before_cp, 0) / 50),
    "behind": lambda turn: math.log1p(max(-turn.score_before_cp, 0) / 50),
    "level": lambda turn: math.exp(-((turn.score_before_cp / 60) ** 2)),
    # A score of 0.00 late in a game: a draw that nothing will change.
    "dead": lambda turn: (
        min(max((turn.ply - 40) / 40, 0.0), 1.0)
        if abs(turn.score_before_cp) <= 3
        else 0.0
    ),
    "won": lambda turn: min(max((turn.score_before_cp - 400) / 200, 0.0), 1.0),
    "instability": lambda turn: math.log1p((turn.stability_cp or 0.0) / 5),
    "jump": lambda turn: math.log1p((turn.jump_cp or 0) / 20),
    "found": lambda turn: _compute_log_odds(turn.found),
    "found_squared": lambda turn: _compute_log_odds(turn.found) ** 2 / 4,
    "choices": _measure_board(lambda board: math.log(max(board.legal_moves, 1) / 30)),
    "pieces": _measure_board(lambda board: board.pieces / _ALL_PIECES - 0.5),
    "captures": _measure_board(lambda board: math.log1p(board.captures) / 2),
    "recapture": _measure_board(lambda board: float(board.recapture)),
    "check": _measure_board(lambda board: float(board.check)),
}


def measure_circumstances(turn: Turn, names: Circumstances) -> list[float]:
    """Return the circumstances of a turn as numbers around 1, in the order of
    ``names``.
    """
    return [_MEASURES[name](turn) for name in names]


# --- model ----------------------------------------------------------------------------

# Models of the perceived rating, each in a file learned by ``live-rate calibrate``.
#
# A model is valid for one engine, limit, definition of the gain and pace of play.
# Another engine or limit can use it only through a scale of centipawns, measured on the
# reference positions (:mod:`live.ratings.engine_scale`).


Steps = tuple[tuple[int, float], ...]
"""Values by number of moves or by ply: pairs of that number and the value."""
Rows = tuple[tuple[float, ...], ...]


class PerceivedModel(Value):
    """Model of the losses of players of each Elo, and of the differences between their
    games, with its provenance.
    """

    name: str
    engine: str
    """Name that the engine gives itself (UCI ``id name``)."""
    limit: str
    gain: GainKind
    time_control: str
    """Pace of the games: ``classical`` or ``blitz``."""
    data: str
    date: str
    games: int
    """Number of player-games."""
    players: int
    moves: int
    elo_range: tuple[float, float]
    """Range of the middle 95 % of the ratings it was learned from."""
    mean_elo: float
    """Mean Elo of the players: the level of a game if nobody in the game or the event
    is rated.
    """
    engine_rating: int
    """The engine's rating in Algorithm 4, Elo, until Algorithm 3 has measured it over
    the field.
    """
    difference: tuple[float, float]
    """Difference from the engine by Algorithm 4, Elo: for players at ``centre_elo``,
    and its increase for each z.
    """
    centre_elo: float
    scale_elo: float
    """Divisor in ``z = (Elo - centre_elo) / scale_elo``."""
    loss_edges_cp: tuple[int, ...]
    """Edges of the classes of loss. A loss equal to an edge belongs below it; losses
    below 0 are successive gains.
    """
    circumstances: Circumstances
    changing: Circumstances
    """Circumstances whose weight changes with Elo."""
    level: Rows
    """Log-odds at the centre, shape (circumstances, classes - 1)."""
    slope: Rows
    """Change of the log-odds with z, shape (changing, classes - 1)."""
    bend: tuple[float, ...]
    """Change of the log-odds with z², shape (classes - 1,)."""
    shared: Steps
    """Values of ``beta``, each up to a ply of the own move: the share of the opponent's
    surprises so far that counts as hardness of the game. The last one applies to all
    later plies.
    """
    dispersion: Steps
    """Values of ``kappa``, each after a number of counted moves of a running game."""
    finished_dispersion: float
    """``kappa`` of a finished game."""
    event_dispersion: float
    """``kappa`` of several games of one player together, instead of each game's."""
    prior_sd: float
    """Standard deviation of ratings from the level of the game, Elo (``sigma``)."""
    format: Literal[2] = 2

    def __post_init__(self) -> None:
        classes = len(self.loss_edges_cp) + 1
        counts = len(self.circumstances), len(self.changing), 1
        weights = {"level": self.level, "slope": self.slope, "bend": (self.bend,)}
        for (what, rows), count in zip(weights.items(), counts, strict=True):
            if len(rows) != count or any(len(row) != classes - 1 for row in rows):
                raise ValueError(f"{what} has the wrong shape for {classes} classes")
        if not set(self.changing) <= set(self.circumstances):
            raise ValueError("what changes with Elo must be among the circumstances")
        if not (self.scale_elo > 0 and self.shared and self.dispersion):
            raise ValueError(
                "scale_elo must be above 0, shared and dispersion must not be empty"
            )

    def find_loss_class(self, gain_cp: float) -> int:
        """Return the index of the class of a loss, 0 for the least."""
        return bisect_left(self.loss_edges_cp, -gain_cp)

    def expected_difference(self, elo: float) -> float:
        """Return the difference from the engine, Elo, that Algorithm 4 finds for
        players of this Elo.
        """
        low, high = self.elo_range
        z = (min(max(elo, low), high) - self.centre_elo) / self.scale_elo
        return self.difference[0] + self.difference[1] * z

    def explain_mismatch(self, engine: str, limit: str, gain: GainKind) -> str | None:
        """Return the reason why the model does not apply to such gains; None if it
        does.
        """
        told = {"engine": engine, "limit": limit, "gain": gain}
        return explain_mismatch(f"model {self.name!r}", told, self)


class ClassOdds(NamedTuple):
    """Log-odds of the classes of loss in one position, each of shape (classes,)."""

    level: Floats
    """Log-odds at the centre of the model."""
    slope: Floats
    """Change of the log-odds with z."""


class LossLogit:
    """Probability of each loss in a position for players of each Elo: a multinomial
    logit.

    Losses are divided into classes, least loss first. The log-odds of each class
    against losing nothing are linear in the circumstances of the turn, and so is their
    change with z; a term in z² allows this change to vary.
    """

    def __init__(self, model: PerceivedModel) -> None:
        # A first column of zeros: all other classes are compared with losing nothing.
        self._level, self._slope = (
            np.pad(np.array(rows, dtype=np.float64), ((0, 0), (1, 0)))
            for rows in (model.level, model.slope)
        )
        self._bend = np.array([0.0, *model.bend])
        changing = [model.circumstances.index(name) for name in model.changing]
        self._changing = np.array(changing)
        self._model = model
        self._z = (GRID_ELO - model.centre_elo) / model.scale_elo
        self._bent_odds = self._bend[:, None] * self._z**2
        self._bent_slopes = 2 * self._bend[:, None] * self._z

    def compute_odds(self, turn: Turn) -> ClassOdds:
        """Return the log-odds of the classes in the circumstances of a turn."""
        at = np.array(measure_circumstances(turn, self._model.circumstances))
        return ClassOdds(at @ self._level, at.take(self._changing) @ self._slope)

    def compute_shares(self, odds: ClassOdds, elo: float) -> Floats:
        """Return the classes' shares among players of one Elo, shape (classes,)."""
        z = (elo - self._model.centre_elo) / self._model.scale_elo
        return _normalise_odds(odds.level + odds.slope * z + self._bend * (z * z))

    def compute_grid(self, odds: ClassOdds) -> tuple[Floats, Floats]:
        """Return the shares over the grid, and the slopes of their logarithms, both of
        shape (classes, Elos).

        The slope of a class is that of its log-odds in Elo minus the mean of all
        slopes.
        """
        level = odds.level[:, None]
        slope = odds.slope[:, None]
        shares = _normalise_odds(level + slope * self._z + self._bent_odds)
        rises = (slope + self._bent_slopes) / self._model.scale_elo
        return shares, rises - np.add.reduce(shares * rises)


def _normalise_odds(odds: Floats) -> Floats:
    """Return the shares of the classes, which are the first axis."""
    shares: Floats = np.exp(odds - np.maximum.reduce(odds))
    shares /= np.add.reduce(shares)
    return shares


class MoveReader:
    """Comparison of moves by one model, or by the mean of two models with the same
    classes (rapid games).

    ``scale`` is the number of centipawns of the engine in use per centipawn of the
    model.
    """

    def __init__(self, models: Sequence[PerceivedModel], scale: float = 1.0) -> None:
        if len({model.loss_edges_cp for model in models}) != 1:
            raise ValueError("models that are read together must share their classes")
        self.models = tuple(models)
        self.scale = scale
        self._logits = [*map(LossLogit, models)]
        self.shared = _average_steps([each.shared for each in models])
        self.dispersion = Dispersion(
            _average_steps([each.dispersion for each in models]),
            float(np.mean([each.finished_dispersion for each in models])),
        )
        self.event_dispersion = float(
            np.mean([each.event_dispersion for each in models])
        )
        self.prior_sd = float(np.mean([each.prior_sd for each in models]))
        self.mean_elo = float(np.mean([each.mean_elo for each in models]))

    def compare_turn(self, turn: Turn, elos: Elos) -> ComparedMove:
        """Compare the turn, scored by the engine in use, with players of every Elo."""
        turn = scale_turn(turn, self.scale)
        odds = [logit.compute_odds(turn) for logit in self._logits]
        weighed = list(zip(self._logits, odds, strict=True))
        shares, slopes = mix_grids(
            [logit.compute_grid(each) for logit, each in weighed]
        )
        own = None
        if elos.own is not None:
            shares_of_own = [
                logit.compute_shares(each, elos.own) for logit, each in weighed
            ]
            own = np.add.reduce(shares_of_own) / len(shares_of_own)
        return compare_move(
            slopes, shares, self.models[0].find_loss_class(turn.gain_cp), elos.own, own
        )


def mix_grids(grids: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return shares and slopes of the mean of several logits' shares."""
    if len(grids) == 1:
        return grids[0]
    shares = np.array([each for each, _ in grids])
    slopes = np.array([each for _, each in grids])
    mean: Floats = (shares * slopes).sum(axis=0) / shares.sum(axis=0)
    return shares.mean(axis=0), mean


def scale_turn(turn: Turn, scale: float) -> Turn:
    """Return the turn in the model's own centipawns."""
    if scale == 1.0:
        return turn
    return msgspec.structs.replace(
        turn,
        gain_cp=round(turn.gain_cp / scale),
        score_before_cp=round(turn.score_before_cp / scale),
        stability_cp=None if turn.stability_cp is None else turn.stability_cp / scale,
        jump_cp=None if turn.jump_cp is None else round(turn.jump_cp / scale),
    )


def _average_steps(steps: Sequence[Steps]) -> Steps:
    averaged: list[tuple[int, float]] = []
    for same_step in zip(*steps, strict=True):
        places, values = zip(*same_step, strict=True)
        if len(set(places)) != 1:
            raise ValueError(
                "models that are read together must have their steps at the same places"
            )
        averaged.append((places[0], float(np.mean(values))))
    return tuple(averaged)


MODELS = LearnedFiles(
    "models",
    PerceivedModel,
    "model of perceived ratings",
    "Models of version 0.2 are of no use any more; make one with `live-rate calibrate`",
)


def load_shipped_models() -> tuple[PerceivedModel, ...]:
    """Return the models that come with the package."""
    return tuple(map(MODELS.load, MODELS.list_names()))


# --- model choice ---------------------------------------------------------------------

# Choice of the model for a game, by engine, limit, gain and pace of play.
#
# Players make larger errors when they have less time, so a game is rated by the model
# of its own pace: blitz and bullet by that of blitz, rapid by the mean of both. If none
# was learned for the pace, another one is used, and a note says so. If none was learned
# with the engine or limit in use, those of the engine of the reference positions are
# used through a scale of centipawns (:mod:`live.ratings.engine_scale`).


PaceGroup = Literal["classical", "rapid", "blitz"]
"""Group of paces whose games are rated together."""


class ModelChoice(NamedTuple):
    """Choice of the model for one game."""

    pace: PaceGroup = "classical"
    reader: MoveReader | None = None
    model: str | None = None
    """``classical``, ``blitz`` or ``rapid``; None if there is no model."""
    note: str = ""
    """Text for display: what is provisional, or why there is no model; empty if all
    fits.
    """


@dataclass(eq=False)
class Models:
    """Models for engine, limit and gain in use, applied directly or through a scale."""

    models: Sequence[PerceivedModel] = ()
    """Models, of which the first of each pace is used."""
    _: KW_ONLY
    scale: float = 1.0
    """Centipawns of the engine in use per centipawn of the models."""
    by_name: bool = False
    """True if the user named the model, so that it is used for every game."""
    note: str = "no model"
    """Text for display: the data and use of the models, or the reason why there are
    none.
    """
    transferred: bool = False
    """True if they were learned with another engine or limit."""
    measured: bool = True
    """True if ``scale`` was measured for the engine in use, rather than assumed."""

    def __post_init__(self) -> None:
        scale = self.scale
        # Used for every game, if the user named the model or its pace is not a standard
        # one.
        self._named: MoveReader | None = None
        self._readers: dict[str, MoveReader] = {}
        for model in self.models:
            if model.time_control in {"classical", "blitz"} - self._readers.keys():
                self._readers[model.time_control] = MoveReader((model,), scale)
        if self.models and (self.by_name or not self._readers):
            self._named = MoveReader(self.models[:1], scale)
        if len(self._readers) == 2:
            both: list[PerceivedModel] = []
            for reader in self._readers.values():
                both += reader.models
            # Two models of the user need not have the same classes; then each is used
            # alone.
            with contextlib.suppress(ValueError):
                self._readers["rapid"] = MoveReader(both, scale)

    def choose_for_pace(self, pace: Pace | None) -> ModelChoice:
        """Return the choice for a game of this pace; None means that the pace is
        unknown.
        """
        choice = self.choose_for_group(
            "blitz" if pace == "bullet" else pace or "classical"
        )
        if pace is not None or choice.reader is None:
            return choice
        note = f"time control unknown: taken as {choice.model}"
        return choice._replace(note="; ".join(filter(None, (choice.note, note))))

    def choose_for_group(self, group: PaceGroup) -> ModelChoice:
        """Return the choice for games of this group."""
        if not self.models:
            return ModelChoice(group, note=self.note)
        notes = []
        if self.transferred:
            notes.append(
                "transferred"
                + ("" if self.measured else ", the engine not measured yet")
            )
        wanted = (group, "classical", "blitz")
        name = next((each for each in wanted if each in self._readers), None)
        reader = self._readers[name] if name and not self._named else self._named
        read_as = self.models[0].time_control if self._named or name is None else name
        if read_as != group:
            notes.append(f"no model for {group} games: read as {read_as}, provisional")
        return ModelChoice(group, reader, read_as, "; ".join(notes))


def select_fitting_models(
    models: Iterable[PerceivedModel],
    engine: str,
    limit: str,
    gain: GainKind,
    *,
    by_name: bool,
) -> Models:
    """Return the models learned with exactly this engine, limit and gain, classical
    chess first.
    """
    tried = list(models)
    held = _sort_models(
        each for each in tried if each.explain_mismatch(engine, limit, gain) is None
    )
    if not held:
        mismatch = (
            tried[0].explain_mismatch(engine, limit, gain)
            if by_name and tried
            else None
        )
        return Models(note=mismatch or f"no model for {engine}, {limit}, {gain} gain")
    return Models(held, by_name=by_name, note=_describe_data(held))


def _describe_data(models: Sequence[PerceivedModel]) -> str:
    return "learned from " + " and ".join(
        f"{model.games} {model.time_control} player-games" for model in models
    )


def _sort_models(models: Iterable[PerceivedModel]) -> list[PerceivedModel]:
    return sorted(
        models, key=lambda each: (each.time_control != "classical", each.name)
    )


def select_transferred_models(
    models: Iterable[PerceivedModel],
    engine: str,
    limit: str,
    gain: GainKind,
    scale: float,
    *,
    by_name: bool,
    measured: str,
    note: str,
) -> Models:
    """Return the models learned with ``engine`` and ``limit``, for use with another
    engine through a scale.

    ``measured`` tells, as text for display, how the scale was measured; empty for the
    usual scale.
    """
    held = _sort_models(
        each for each in models if each.explain_mismatch(engine, limit, gain) is None
    )
    if not held:
        return Models(note=note)
    how = f"scale {scale:.2f}, {measured}"
    if not measured:
        how = f"usual scale {scale:.2f}, not measured yet"
    return Models(
        held,
        scale=scale,
        by_name=by_name,
        note=f"transferred from {engine}, {limit}: {how}; {_describe_data(held)}",
        transferred=True,
        measured=bool(measured),
    )
