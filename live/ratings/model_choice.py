"""Chooses the model for the games of an event, from shipped models or the
user's model.
"""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple

from live.games.pace_of_play import Pace
from live.messages.figures import GainKind
from live.ratings.learned_files import LearnedFiles
from live.ratings.perceived_model import MoveReader, PerceivedModel

MODELS = LearnedFiles(
    "models",
    PerceivedModel,
    "model of perceived ratings",
    "Models of version 0.2 are of no use any more; make one with `live-rate calibrate`",
)


def load_shipped_models() -> tuple[PerceivedModel, ...]:
    """Return the models that come with the package."""
    return tuple(map(MODELS.load, MODELS.list_names()))


PaceGroup = Literal["classical", "rapid", "blitz"]
"""Group of paces at which games are rated together."""


class ModelChoice(NamedTuple):
    """Choice of the model for one game."""

    pace: PaceGroup = "classical"
    reader: MoveReader | None = None
    model: str | None = None
    """``classical``, ``blitz`` or ``rapid``; None if there is no model for the game."""
    note: str = ""
    """Text for people about provisional models, or the reason why there is no model.
    Empty if the model fits.
    """


@dataclass(eq=False)
class Models:
    """The models for the engine, limit and gain in use, applied directly or through a
    scale.
    """

    models: Sequence[PerceivedModel] = ()
    """The models. If several have the same pace, the first one is used."""
    _: KW_ONLY
    scale: float = 1.0
    """Centipawns of the engine in use per centipawn of the models."""
    by_name: bool = False
    """True if the user named the model, so that it is used for every game."""
    note: str = "no model"
    """Text for people about the data and use of the models, or the reason why there are
    none.
    """
    converted: bool = False
    """True if the models were learned with another engine or limit."""
    measured: bool = True
    """True if ``scale`` was measured for the engine in use, false if it is assumed."""

    def __post_init__(self) -> None:
        scale = self.scale
        # The reader for every game, if the user named the model or the model's pace is
        # not a standard one.
        self._named_reader: MoveReader | None = None
        self._readers: dict[str, MoveReader] = {}
        for model in self.models:
            if model.time_control in {"classical", "blitz"} - self._readers.keys():
                self._readers[model.time_control] = MoveReader((model,), scale)
        if self.models and (self.by_name or not self._readers):
            self._named_reader = MoveReader(self.models[:1], scale)
        if len(self._readers) == 2:
            models_of_both: list[PerceivedModel] = []
            for reader in self._readers.values():
                models_of_both += reader.models
            # The user's models can have different classes. Then rapid games have no
            # common reader.
            with contextlib.suppress(ValueError):
                self._readers["rapid"] = MoveReader(models_of_both, scale)

    def choose_for_pace(self, pace: Pace | None) -> ModelChoice:
        """Return the model and its note for games at a pace; None means an unknown
        pace.
        """
        choice = self.choose_for_group(
            "blitz" if pace == "bullet" else pace or "classical"
        )
        if pace is not None or choice.reader is None:
            return choice
        note = f"time control unknown: taken as {choice.model}"
        return choice._replace(note="; ".join(filter(None, (choice.note, note))))

    def choose_for_group(self, group: PaceGroup) -> ModelChoice:
        """Return the model and its note for games of a group of paces."""
        if not self.models:
            return ModelChoice(group, note=self.note)
        notes = []
        if self.converted:
            notes.append(
                "scores of this engine are converted"
                + ("" if self.measured else ", roughly until it is measured")
            )
        preferred = (group, "classical", "blitz")
        name = next(
            (candidate for candidate in preferred if candidate in self._readers), None
        )
        reader = (
            self._readers[name]
            if name and not self._named_reader
            else self._named_reader
        )
        read_as = (
            self.models[0].time_control if self._named_reader or name is None else name
        )
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
    """Return the models learned with exactly this engine, limit and gain.

    Models of classical chess come first.
    """
    tried = list(models)
    fitting = _sort_models(
        model for model in tried if model.explain_mismatch(engine, limit, gain) is None
    )
    if not fitting:
        mismatch = (
            tried[0].explain_mismatch(engine, limit, gain)
            if by_name and tried
            else None
        )
        return Models(note=mismatch or f"no model for {engine}, {limit}, {gain} gain")
    return Models(fitting, by_name=by_name, note=_describe_data(fitting))


def _describe_data(models: Sequence[PerceivedModel]) -> str:
    return "learned from " + " and ".join(
        f"{model.games} {model.time_control} player-games" for model in models
    )


def _sort_models(models: Iterable[PerceivedModel]) -> list[PerceivedModel]:
    return sorted(
        models, key=lambda model: (model.time_control != "classical", model.name)
    )


def select_converted_models(
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
    """Return models learned with ``engine`` and ``limit``, for use with another engine
    through a scale.

    ``measured`` is text for people about how the scale was measured; empty for the
    usual scale.
    """
    fitting = _sort_models(
        model for model in models if model.explain_mismatch(engine, limit, gain) is None
    )
    if not fitting:
        return Models(note=note)
    how = measured or "the usual ratio until this engine is measured"
    return Models(
        fitting,
        scale=scale,
        by_name=by_name,
        note=f"{_describe_data(fitting)} with {engine}, {limit};"
        f" scores of this engine are divided by {scale:.2f}, {how}",
        converted=True,
        measured=bool(measured),
    )
