"""Measurement of an unknown engine on the reference positions.

The searches run while the engine is idle. Afterwards every move is rated again, and the
measurement is stored for the next start.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from live.engine.search import SearchResult
from live.event.bus import TakeChanges
from live.event.choose_measure import select_models
from live.event.event import Event
from live.journal.event_journal import EventJournal
from live.journal.measured_engines import EngineInUse, keep_measured_engine
from live.messages.health import MeasuringProgress
from live.process.loop_slices import LoopSlices
from live.ratings.engine_scale import (
    MeasuredEngine,
    ScoredReference,
    load_reference,
    measure_engine,
)
from live.ratings.model_choice import Models
from live.settings import RatingConfig

log = logging.getLogger(__name__)


class SearchPositions(Protocol):
    """A function that searches positions with the engines in use.

    :func:`live.engine.reference_searches.search_positions` does the work.
    """

    def __call__(
        self, fens: Sequence[str], *, on_progress: Callable[[int, int], None]
    ) -> Awaitable[list[SearchResult | None]]: ...


class EngineMeasuring:
    """Measures the engine in use once.

    Args:
        engine: the engine in use.
        search: searches positions when the engine is idle.
        config: the settings of the rating.
        event: the event, which is rated again.
        publish: receives the changes.
        journal: the journal of the event, in which a new run begins.
        on_progress: receives the progress of the measurement, and None once the figures
            do not change by it any more.
    """

    def __init__(
        self,
        engine: EngineInUse,
        search: SearchPositions,
        config: RatingConfig,
        event: Event,
        publish: TakeChanges,
        journal: EventJournal,
        on_progress: Callable[[MeasuringProgress | None], None],
    ) -> None:
        self._engine = engine
        self._search = search
        self._config = config
        self._event = event
        self._publish = publish
        self._journal = journal
        self._on_progress = on_progress
        self._slices = LoopSlices()

    @property
    def is_needed(self) -> bool:
        """Whether no model for computing figures knows the engine in use."""
        return not self._event.measure.models.measured

    def announce(self) -> None:
        """Say before the first figures that they can change, if they can."""
        if self.is_needed:
            self._show_progress(0, len(load_reference().positions))

    async def run(self) -> None:
        """Measure the engine and rate every move again.

        Return at once if the engine is known.
        """
        if not self.is_needed:
            return
        name = self._engine.identity.name
        limit = self._engine.limit
        log.info("%s, %s: measured on the reference positions when idle", name, limit)
        measured = await self._search_reference()
        if isinstance(measured, str):
            log.warning("%s, %s: %s", name, limit, measured)
            models = Models(note=f"no model for {name}, {limit}: {measured}")
        else:
            keep_measured_engine(str(self._engine.identity), limit, measured)
            models = select_models(
                self._config.model, name, limit, self._config.gain, measured
            )
        for changes in self._event.measure_by(models):
            self._publish(changes)
            await self._slices.yield_if_due()
        # Not said after an error, or when the service ends: then nothing was measured.
        self._on_progress(None)
        if not isinstance(measured, str):
            log.info("%s, %s: %s", name, limit, self._event.engine().note)
            self._journal.begin_measured_run(measured)

    async def _search_reference(self) -> MeasuredEngine | str:
        reference = load_reference()
        fens = [position.fen for position in reference.positions]
        # Said before the first search: a busy engine can keep it waiting for long.
        self._show_progress(0, len(fens))
        searches = await self._search(fens, on_progress=self._show_progress)
        scored = [
            None if search is None else ScoredReference(search.score.cp, search.nodes)
            for search in searches
        ]
        return measure_engine(reference, scored)

    def _show_progress(self, measured: int, of: int) -> None:
        self._on_progress(MeasuringProgress(measured, of))
