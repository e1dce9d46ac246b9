"""Measures the engine in use on the reference positions, when it has nothing else to do, and keeps
what was found in the user's state folder: a file for each engine and limit, so that a second start
knows at once. Part of the composition root.

The searches are asked for as guesses are (:data:`SearchKind.SPECULATE`): a live position takes the
engine at once, and the interrupted one is searched later. Loss policy: a file that cannot be read
or written costs another measurement, said in the log.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import statistics
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from live.engine.queue.search_priority import SearchKind, SearchPriority
from live.engine.search import Position, Search, SearchFailure, SearchResult
from live.ratings.engine_scale import (
    LEAST_POSITIONS,
    MeasuredEngine,
    ReferenceSet,
    agreement,
)

#: Searches asked for at a time: more than there are engines, few enough to leave the queue short.
_AT_A_TIME: Final = 32


class ReferenceSearches(Protocol):
    """Where searches are asked for."""

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        """Have it answered to ``owner``."""

    def drop(self, owner: Hashable) -> None:
        """Forget what it wants."""


class ReferenceSearch(msgspec.Struct, frozen=True):
    """Who wants the search of a reference position."""

    index: int


class EngineMeasuring:
    """One measurement, from the first search to the last."""

    def __init__(
        self,
        reference: ReferenceSet,
        engines: ReferenceSearches,
        *,
        lines: int = 1,
        progressed: Callable[[int, int], None] = lambda done, of: None,
    ) -> None:
        """``lines``: best moves wanted of each position, as in the event; ``progressed`` is given
        positions done and their number.
        """
        self._reference = reference
        self._engines = engines
        self._lines = lines
        self._progressed = progressed
        self._found: dict[int, SearchResult] = {}
        self._failures = 0
        self._asked = 0
        self._over = asyncio.Event()

    async def run(self) -> MeasuredEngine | str:
        """Search all positions. Returns what was found, or why nothing was, for people."""
        try:
            self._ask()
            await self._over.wait()
        finally:
            for index in range(self._asked):
                self._engines.drop(ReferenceSearch(index))
        return self._measured()

    def searched(self, owner: ReferenceSearch, result: SearchResult | SearchFailure) -> None:
        """An engine answered."""
        if isinstance(result, SearchResult):
            self._found[owner.index] = result
        else:
            self._failures += 1
        done = len(self._found) + self._failures
        self._progressed(done, len(self._positions))
        if done == len(self._positions):
            self._over.set()
        else:
            self._ask()

    @property
    def _positions(self) -> Sequence[object]:
        return self._reference.positions

    def _ask(self) -> None:
        """Ask for more, as long as few are open."""
        while self._asked < len(self._positions):
            if self._asked - len(self._found) - self._failures >= _AT_A_TIME:
                return
            index = self._asked
            self._asked += 1
            position = Position(self._reference.positions[index].fen)
            # Before all guesses: those have a rank above 0, and this is over in a minute.
            self._engines.submit(
                Search(position, lines=self._lines),
                ReferenceSearch(index),
                SearchPriority(SearchKind.SPECULATE, board="reference", ply=index),
            )

    def _measured(self) -> MeasuredEngine | str:
        if len(self._found) < LEAST_POSITIONS:
            return (
                f"it could not be measured: it gave no score for {self._failures} of "
                f"{len(self._positions)} reference positions"
            )
        indices = sorted(self._found)
        found = [self._found[index] for index in indices]
        return MeasuredEngine(
            agreement=agreement(
                [self._reference.positions[index].score_cp for index in indices],
                [each.score.cp for each in found],
            ),
            nodes=round(statistics.median(each.nodes for each in found)),
        )


log = logging.getLogger(__name__)


class KeptMeasurement(msgspec.Struct, frozen=True, kw_only=True):
    """One file."""

    engine: str
    """The engine with its options, as results are kept under."""
    limit: str
    reference: str
    """Digest of the positions and stored scores: others would give another scale."""
    measured: MeasuredEngine


class MeasuredEngines:
    """One folder of measurements."""

    def __init__(self, reference: ReferenceSet, folder: Path | None = None) -> None:
        """``folder`` None: the user's own."""
        self._reference = _digest(msgspec.json.encode(reference))
        self._folder = folder or _user_folder()

    def get(self, engine: str, limit: str) -> MeasuredEngine | None:
        """What is known of the engine (with its options) under this limit."""
        path = self._path(engine, limit)
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=KeptMeasurement)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read (%s): the engine is measured again", path, error)
            return None
        if (kept.engine, kept.limit, kept.reference) != (engine, limit, self._reference):
            return None
        return kept.measured

    def put(self, engine: str, limit: str, measured: MeasuredEngine) -> None:
        """Keep it."""
        path = self._path(engine, limit)
        kept = KeptMeasurement(
            engine=engine, limit=limit, reference=self._reference, measured=measured
        )
        # Not in place: whoever reads meanwhile finds the whole file or none.
        new = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
            new.replace(path)
        except OSError as error:
            log.warning("%s cannot be written (%s): the engine is measured again", path, error)

    def _path(self, engine: str, limit: str) -> Path:
        named = "\x1f".join((engine, limit, self._reference))
        return self._folder / f"{_digest(named.encode())}.json"


def _user_folder() -> Path:
    import platformdirs  # only here: most commands need none

    return platformdirs.user_state_path("live-rate") / "measured-engines"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()
