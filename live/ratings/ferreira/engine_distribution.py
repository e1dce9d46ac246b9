"""How the engine's own gains are distributed, which is what a player is measured against.

Ferreira 2012, section 6 takes a single peak at 0 (``SpikeAtZero``), and names a better
characterisation
as future work (sections 7 and 10): ``MeasuredDistribution`` is that, from gains of the engine
itself.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from live.errors import InputError
from live.ratings.gain import MAX_GAIN_CP, checked_gain
from live.ratings.gain_histogram import GainHistogram
from live.ratings.learned_files import LearnedFiles

_FILES = LearnedFiles("engine_gains", "count of an engine's gains")


class EngineDistribution(Protocol):
    """What a move scores against the engine: ``F_E(g) = P(E < g) + 0.5 P(E = g)``.

    Given as whole parts of a fixed ``scale``, so that sums over moves stay exact.
    """

    @property
    def scale(self) -> int:
        """The parts that make one whole point."""

    @property
    def counts(self) -> tuple[tuple[int, int], ...]:
        """What it was counted from: pairs of gain in centipawns and moves, gains ascending."""

    def parts(self, gain_cp: int) -> int:
        """``F_E(gain_cp)`` times ``scale``."""


class SpikeAtZero:
    """All the engine's gains are 0 (Ferreira 2012, Algorithm 3, step 1).

    For same-search gains this is exact by construction; for successive gains an approximation.
    """

    __slots__ = ()

    scale = 2
    counts = ((0, 1),)

    def parts(self, gain_cp: int) -> int:
        return 2 if gain_cp > 0 else 1 if gain_cp == 0 else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpikeAtZero)

    def __hash__(self) -> int:
        return hash(SpikeAtZero)

    def __repr__(self) -> str:
        return "Spike()"


class MeasuredDistribution:
    """The engine's gains as counted: in moves where the player chose the engine's own first
    choice, or in games of the engine against itself.

    A look-up costs O(1) after O(bins) once. Raises ValueError for an empty histogram.
    """

    __slots__ = ("_histogram", "_parts", "scale")

    def __init__(self, gains: GainHistogram) -> None:
        if not gains.n:
            raise ValueError("an empty histogram says nothing about the engine: use Spike()")
        self._histogram = gains.copy()
        self.scale = 2 * gains.n
        self._parts: list[int] = []
        below = 0
        for gain_cp in range(-MAX_GAIN_CP, MAX_GAIN_CP + 1):
            equal = gains[gain_cp]
            self._parts.append(2 * below + equal)
            below += equal

    @property
    def counts(self) -> tuple[tuple[int, int], ...]:
        return tuple(self._histogram)

    def parts(self, gain_cp: int) -> int:
        return self._parts[checked_gain(gain_cp) + MAX_GAIN_CP]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeasuredDistribution) and self._histogram == other._histogram

    __hash__ = None  # type: ignore[assignment]  # nothing keys on it

    def __repr__(self) -> str:
        return f"Measured({self._histogram!r})"


class EngineGains(msgspec.Struct, frozen=True):
    """An engine's own successive gains as ``study table engine-gains`` counts them: in moves where
    the player chose what the engine would have played.
    """

    engine: str
    """Engine and limit, as a study names them."""
    rows: tuple[tuple[int, int], ...]
    """Gain in centipawns, and how many moves had it."""

    def fits(self, engine: str, limit: str) -> bool:
        """Whether it is of this engine under this limit."""
        # A study names what changes the engine's scores behind its name.
        name, _, bound = self.engine.partition(", ")
        return (name.partition(";")[0], bound) == (engine, limit)

    @property
    def distribution(self) -> MeasuredDistribution:
        """What players are measured against. Raises ValueError for counts that are none."""
        held = GainHistogram()
        for gain_cp, moves in self.rows:
            for _ in range(moves):
                held.add(gain_cp)
        return MeasuredDistribution(held)


def shipped_engine_gains() -> tuple[str, ...]:
    """Names of the counts that come with the package."""
    return _FILES.names()


def load_engine_gains(name_or_path: str) -> EngineGains:
    """A shipped count by its name, or a file. Raises InputError for what is none."""
    data = _FILES.read(name_or_path)
    try:
        held = msgspec.json.decode(data, type=EngineGains)
        _ = held.distribution
    except (msgspec.DecodeError, ValueError) as error:
        raise InputError(
            name_or_path,
            f"holds no count of an engine's gains ({error})",
            "Write it: live-rate study table CORPUS engine-gains --form json --out FILE",
        ) from None
    return held
