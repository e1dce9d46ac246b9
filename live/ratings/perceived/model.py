"""What a perceived rating is read by: one file a model, learned by ``live-rate calibrate``.

A model holds for one engine, limit, definition of the gain and pace of play. Another engine or
limit is read by it through a scale of centipawns alone, measured on the reference positions
(:mod:`live.ratings.engine_scale`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import msgspec
import numpy as np

from live.errors import InputError
from live.events import GainKind
from live.ratings.learned_files import LearnedFiles
from live.ratings.perceived.circumstances import Circumstance, Turn, measured
from live.ratings.perceived.loss_logit import Floats, LossLogit
from live.ratings.perceived.perceived_rating import ComparedMove, Dispersion, Elos, compare

_LEARNED = LearnedFiles("models", "model of perceived ratings")

FORMAT = 1
Rows = tuple[tuple[float, ...], ...]


class PerceivedModel(msgspec.Struct, frozen=True, kw_only=True):
    """What players of each Elo lose, and how far their games differ; with its provenance."""

    name: str
    engine: str
    """What the engine calls itself (UCI ``id name``)."""
    limit: str
    gain: GainKind
    time_control: str
    """Pace of the games: ``classical`` or ``blitz``."""
    data: str
    date: str
    games: int
    """Player-games."""
    players: int
    moves: int
    elo_range: tuple[float, float]
    """The middle 95 % of the ratings it was learned from."""
    mean_elo: float
    """Of the players: the level of a game in which nobody, and nobody of the event, is rated."""
    engine_rating: int
    """What the engine counts in Algorithm 4 until the field has spoken (Algorithm 3), Elo."""
    difference: tuple[float, float]
    """What Algorithm 4 shows of players at ``centre_elo``, Elo against the engine, and what it
    rises by for each z."""
    centre_elo: float
    scale_elo: float
    """``z = (Elo - centre_elo) / scale_elo``."""
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
    shared: tuple[tuple[int, float], ...]
    """``beta``: how much of the opponent's surprises so far counts as the game's hardness, up to
    which ply of the own move; the last for all after."""
    dispersion: tuple[tuple[int, float], ...]
    """``kappa`` after so many counted moves of a running game."""
    finished_dispersion: float
    """``kappa`` of a finished game."""
    event_dispersion: float = 1.0
    """What the variance of several games of one player together is multiplied by, beyond theirs."""
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"format {self.format} is not {FORMAT}")
        classes = len(self.loss_edges_cp) + 1
        for what, rows, names in (
            ("level", self.level, self.circumstances),
            ("slope", self.slope, self.changing),
        ):
            if len(rows) != len(names) or any(len(row) != classes - 1 for row in rows):
                raise ValueError(f"{what} has the wrong shape for {classes} classes")
        if len(self.bend) != classes - 1:
            raise ValueError(f"bend has the wrong shape for {classes} classes")
        if not set(self.changing) <= set(self.circumstances):
            raise ValueError("what changes with Elo must be among the circumstances")
        if not (self.scale_elo > 0 and self.shared and self.dispersion):
            raise ValueError("scale_elo must be above 0, shared and dispersion must not be empty")

    def logit(self) -> LossLogit:
        """What players lose."""
        changing = [self.circumstances.index(name) for name in self.changing]
        return LossLogit(
            self.level,
            self.slope,
            self.bend,
            changing,
            centre_elo=self.centre_elo,
            scale_elo=self.scale_elo,
        )

    def loss_class(self, gain_cp: float) -> int:
        """Which class a loss belongs to, 0 for the least."""
        return bisect_left(self.loss_edges_cp, -gain_cp)

    def expected_difference(self, elo: float) -> float:
        """What Algorithm 4 shows of players of this Elo, against the engine."""
        low, high = self.elo_range
        z = (min(max(elo, low), high) - self.centre_elo) / self.scale_elo
        return self.difference[0] + self.difference[1] * z

    def mismatch(self, engine: str, limit: str, gain: GainKind) -> str | None:
        """Why it says nothing about such gains, for people; None when it does."""
        asked, own = (engine, limit, gain), (self.engine, self.limit, self.gain)
        for what, given, learned in zip(("engine", "limit", "gain"), asked, own, strict=True):
            if " ".join(given.lower().split()) != " ".join(learned.lower().split()):
                return f"model {self.name!r} holds for the {what} {learned!r}, not {given!r}"
        return None


class MoveReader:
    """Compares moves by one model, or by the mean of two that share their classes (rapid games).

    ``scale``: centipawns of the engine in use to one of the model's.
    """

    __slots__ = (
        "_logits",
        "dispersion",
        "event_dispersion",
        "mean_elo",
        "models",
        "scale",
        "shared",
    )

    def __init__(self, models: Sequence[PerceivedModel], scale: float = 1.0) -> None:
        if len({model.loss_edges_cp for model in models}) != 1:
            raise ValueError("models that are read together must share their classes")
        self.models = tuple(models)
        self.scale = scale
        self._logits = [(each.logit(), each.circumstances) for each in models]
        self.shared = _mean_steps([each.shared for each in models])
        self.dispersion = Dispersion(
            _mean_steps([each.dispersion for each in models]),
            float(np.mean([each.finished_dispersion for each in models])),
        )
        self.event_dispersion = float(np.mean([each.event_dispersion for each in models]))
        self.mean_elo = float(np.mean([each.mean_elo for each in models]))

    def compare(self, turn: Turn, elos: Elos) -> ComparedMove:
        """The turn, as the engine in use judged it, against players of every Elo; some 70 µs."""
        turn = scaled(turn, self.scale)
        lines = [logit.lines(measured(turn, names)) for logit, names in self._logits]

        def shares(elo: float | None) -> Floats:
            found = [
                logit.shares(*line) if elo is None else logit.shares_of(*line, elo)
                for (logit, _), line in zip(self._logits, lines, strict=True)
            ]
            return found[0] if len(found) == 1 else np.mean(found, axis=0)

        return compare(
            shares(None),
            shares(elos.level),
            None if elos.own is None else shares(elos.own),
            self.models[0].loss_class(turn.gain_cp),
        )


def scaled(turn: Turn, scale: float) -> Turn:
    """The turn in the model's own centipawns."""
    if scale == 1.0:
        return turn
    return msgspec.structs.replace(
        turn,
        gain_cp=round(turn.gain_cp / scale),
        score_before_cp=round(turn.score_before_cp / scale),
        stability_cp=None if turn.stability_cp is None else turn.stability_cp / scale,
        jump_cp=None if turn.jump_cp is None else round(turn.jump_cp / scale),
    )


def _mean_steps(
    steps: Sequence[tuple[tuple[int, float], ...]],
) -> tuple[tuple[int, float], ...]:
    if any([at for at, _ in each] != [at for at, _ in steps[0]] for each in steps):
        raise ValueError("models that are read together must have their steps at the same places")
    means = np.mean([[value for _, value in each] for each in steps], axis=0)
    return tuple((at, float(mean)) for (at, _), mean in zip(steps[0], means, strict=True))


def encode_model(model: PerceivedModel) -> bytes:
    """The file: JSON, indented for people."""
    return msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"


def decode_model(data: bytes, subject: str) -> PerceivedModel:
    """Read the file. Raises InputError, naming ``subject``, for what is no such model."""
    try:
        return msgspec.json.decode(data, type=PerceivedModel)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(
            subject,
            f"is no model of perceived ratings: {error}",
            "Models of version 0.2 are of no use any more; make one with `live-rate calibrate`",
        ) from error


def shipped_models() -> tuple[PerceivedModel, ...]:
    """Those that come with the package."""
    return tuple(decode_model(_LEARNED.read(name), name) for name in _LEARNED.names())


def load_model(name: str) -> PerceivedModel:
    """One that comes with the package, by its name, or one from a file. Raises InputError when
    there is none or it cannot be read.
    """
    return decode_model(_LEARNED.read(name), name)
