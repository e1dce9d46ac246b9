"""Which model reads the perceived ratings of a game: by engine, limit, gain and pace of play.

Players err more when they have less time, so a game is read by the model of its own pace: blitz and
bullet by that of blitz, rapid by the mean of both. Where none was learned for the pace, another
stands in, and that is said. Where none was learned with the engine or limit in use, those of the
engine of the reference positions are read through a scale of centipawns
(:mod:`live.ratings.engine_scale`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from live.events import GainKind
from live.ratings.pace_of_play import Pace
from live.ratings.perceived.model import MoveReader, PerceivedModel

PaceGroup = Literal["classical", "rapid", "blitz"]
"""Games of one are rated together."""

_GROUPS: dict[Pace | None, PaceGroup] = {
    None: "classical",
    "classical": "classical",
    "rapid": "rapid",
    "blitz": "blitz",
    "bullet": "blitz",
}


class ModelChoice(NamedTuple):
    """What reads one game."""

    pace: PaceGroup = "classical"
    reader: MoveReader | None = None
    model: str | None = None
    """``classical``, ``blitz`` or ``rapid``; None where nothing reads it."""
    note: str = ""
    """For people: what of that is provisional, or why there is none; empty where all fits."""


class Models:
    """Models that hold for engine, limit and gain in use, or are read for them.

    Args:
        models: the first of a pace is the one taken for it.
        scale: centipawns of the engine in use to one of the models'.
        by_name: somebody named the one there is, so that it reads every game.
        note: for people: what they were learned from, how they are read, or why there is none.
        transferred: they were learned with another engine or limit.
        measured: ``scale`` is that of the engine in use, not what is usual.
    """

    __slots__ = ("_named", "_readers", "measured", "models", "note", "scale", "transferred")

    def __init__(
        self,
        models: Iterable[PerceivedModel] = (),
        *,
        scale: float = 1.0,
        by_name: bool = False,
        note: str = "no model",
        transferred: bool = False,
        measured: bool = True,
    ) -> None:
        self.models = tuple(models)
        self.scale = scale
        self.note = note
        self.transferred = transferred
        self.measured = measured
        # Reads every game, where somebody chose it or it is of a pace of its own.
        self._named: MoveReader | None = None
        self._readers: dict[PaceGroup, MoveReader] = {}
        for model in self.models:
            for group in ("classical", "blitz"):
                if model.time_control == group and group not in self._readers:
                    self._readers[group] = MoveReader((model,), scale)
        if self.models and (by_name or not self._readers):
            self._named = MoveReader(self.models[:1], scale)
        if len(self._readers) == 2:
            both = [each for reader in self._readers.values() for each in reader.models]
            # Those of one's own may share no classes: then each stands alone.
            with contextlib.suppress(ValueError):
                self._readers["rapid"] = MoveReader(both, scale)

    def choose(self, pace: Pace | None) -> ModelChoice:
        """What reads a game of this pace; None where the pace is unknown."""
        choice = self.of_group(_GROUPS[pace])
        if pace is not None or choice.reader is None:
            return choice
        note = f"time control unknown: taken as {choice.model}"
        return choice._replace(note="; ".join(filter(None, (choice.note, note))))

    def of_group(self, group: PaceGroup) -> ModelChoice:
        """What reads games of this group."""
        if not self.models:
            return ModelChoice(group, note=self.note)
        notes = [self._told] if self._told else []
        wanted: tuple[PaceGroup, ...] = (group, "classical", "blitz")
        name = next((each for each in wanted if each in self._readers), None)
        reader = self._readers[name] if name and not self._named else self._named
        read_as = self.models[0].time_control if self._named or name is None else name
        if read_as != group:
            notes.append(f"no model for {group} games: read as {read_as}, provisional")
        return ModelChoice(group, reader, read_as, "; ".join(notes))

    @property
    def _told(self) -> str:
        """What every game is told of the engine."""
        if not self.transferred:
            return ""
        return "transferred" if self.measured else "transferred, the engine not measured yet"


def fitting_models(
    models: Iterable[PerceivedModel], engine: str, limit: str, gain: GainKind, *, by_name: bool
) -> Models:
    """Those learned with just this engine, limit and gain, classical chess before others."""
    tried = list(models)
    held = _in_order(each for each in tried if each.mismatch(engine, limit, gain) is None)
    if not held:
        mismatch = tried[0].mismatch(engine, limit, gain) if by_name and tried else None
        return Models(note=mismatch or f"no model for {engine}, {limit}, {gain} gain")
    return Models(held, by_name=by_name, note=learned_from(held))


def learned_from(models: Sequence[PerceivedModel]) -> str:
    """For people."""
    return "learned from " + " and ".join(
        f"{model.games} {model.time_control} player-games" for model in models
    )


def _in_order(models: Iterable[PerceivedModel]) -> list[PerceivedModel]:
    return sorted(models, key=lambda each: (each.time_control != "classical", each.name))


def transferred_models(
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
    """Those learned with ``engine`` and ``limit``, read for another through a scale. ``measured``
    says how it was measured, for people; empty where it is what is usual.
    """
    held = _in_order(each for each in models if each.mismatch(engine, limit, gain) is None)
    if not held:
        return Models(note=note)
    how = f"scale {scale:.2f}, {measured}" if measured else f"usual scale {scale:.2f}, {_WAITS}"
    return Models(
        held,
        scale=scale,
        by_name=by_name,
        note=f"transferred from {engine}, {limit}: {how}; {learned_from(held)}",
        transferred=True,
        measured=bool(measured),
    )


_WAITS = "not measured yet"
