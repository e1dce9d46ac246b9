"""The engines of a service: the pool, and the speculative searches in front of it."""

from collections.abc import Hashable, Sequence

import msgspec

from live.engine.engine_pool import EnginePool
from live.engine.engine_programs import find_engine
from live.engine.engine_settings import (
    build_limit,
    build_search_options,
    build_timeouts,
    build_uci_settings,
)
from live.engine.look_ahead import LookAhead, list_ended_boards
from live.engine.move_forecast import (
    Chances,
    ForecastPolicy,
    ForecastRules,
    HumanShares,
)
from live.engine.reference_searches import FutureAnswers
from live.engine.requests import SearchDropped, SearchRequest, build_priority
from live.engine.result_cache import ResultCache
from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_queue import ResultListener, SearchDesk
from live.messages.health import EngineHealth
from live.settings import EngineConfig


class Engines:
    """The pool of engines; :attr:`desk` accepts searches once a listener is
    connected.
    """

    def __init__(self, settings: EngineConfig, cache: ResultCache | None) -> None:
        self._settings = settings
        self._listener: ResultListener
        self._look_ahead: LookAhead | None = None
        cluster = None
        if settings.cluster:
            # Imported only if it is needed, because this module imports Dask.
            from live.engine.cluster import ClusterConnection

            cluster = ClusterConnection(settings)
        self.pool = EnginePool(
            find_engine(settings.path),
            build_limit(settings),
            settings=build_uci_settings(settings),
            engines=settings.engines,
            nice=settings.nice,
            listener=self,
            cache=cache,
            cluster=cluster,
            patience=build_timeouts(settings),
        )
        self.desk: SearchDesk = self.pool

    def connect(
        self,
        listener: ResultListener,
        chances: Chances | None = None,
        people: HumanShares | None = None,
    ) -> None:
        """Deliver results to ``listener``, and search ahead if that is configured.

        Args:
            listener: receives results and progress.
            chances: returns the probability of each reply. None if no further moves
                will come, so that nothing is searched ahead.
            people: returns the share of players of the mover's rating who would play
                each move, by UCI; empty while unknown.
        """
        self._listener = FutureAnswers(listener)
        if chances is None or not self._settings.speculate:
            return
        rules = ForecastRules(
            build_limit(self._settings),
            chances,
            build_search_options(self._settings),
            # If the shares of human moves are known, gains are worth searching first.
            ForecastPolicy(gain=2.0) if people else ForecastPolicy(),
            people,
        )
        self._look_ahead = LookAhead(self._listener, rules, self.pool)
        self._listener = self._look_ahead
        self.desk = self._look_ahead

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """Pass a result of the pool on to the listener."""
        self._listener.on_result(owner, search, result)

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        """Pass progress of the pool on to the listener."""
        self._listener.on_progress(owner, progress)

    def follow(self, changes: Sequence[object]) -> None:
        """Submit and cancel searches as changes of the event require, in order.

        Then end the speculative searches of boards whose game, according to these
        changes, has ended, was deleted or lost a move by a takeback.
        """
        for change in changes:
            match change:
                case SearchDropped(id=request_id):
                    self.desk.drop(request_id)
                case SearchRequest(id=request_id, search=search, urgency=urgency):
                    priority = build_priority(request_id, urgency)
                    self.desk.submit(search, request_id, priority)
        if self._look_ahead is not None:
            for board in list_ended_boards(changes):
                self._look_ahead.end_forecast_of_board(board)

    def on_human_answer(self, game: str) -> None:
        """Rank a game's speculative searches again, because the shares of human moves
        are now known for its newest position.
        """
        if self._look_ahead is not None:
            self._look_ahead.on_human_answer(game)

    def report_health(self) -> EngineHealth:
        """Return the figures of the engines and of the speculative searches."""
        health = self.pool.report_health()
        if self._look_ahead is None:
            return health
        hits = self._look_ahead.get_speculation_figures()
        return msgspec.structs.replace(health, speculation=hits)
