"""The engine room with what stands before it: tables of endgames, evaluations of others, searching
ahead. Part of the composition root.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from live.config import Config
from live.engine.ahead.look_ahead import LookAhead, SearchDesk, boards_over
from live.engine.ahead.move_forecast import WITH_PEOPLE, ForecastPolicy, nobody
from live.engine.cluster.dask_cluster import DaskCluster
from live.engine.engine_discovery import find_engine
from live.engine.engine_pool import EnginePool
from live.engine.result_delivery import ResultListener
from live.engine.results.cloud_evaluations import CloudEvaluations
from live.engine.results.result_cache import ResultCache
from live.engine.results.syzygy_tables import SyzygyTables
from live.engine.search import Position
from live.events import Change, EngineHealth
from live.ratings.choice_model import ChoiceSkill, probabilities
from live.ratings.intrinsic_rating import RYBKA_3
from live.service.measure_settings import cluster_tls, engine_limit, search_options_of
from live.service.supervision import alongside

log = logging.getLogger(__name__)

#: Of a player whose rating nobody knows: mean of the open that calibrations were learned from.
_UNRATED_ELO: Final = 2055


class PlayersAtBoards(Protocol):
    """Who plays."""

    def mover_elo(self, game: str, ply: int) -> int | None:
        """Elo of the player who makes this ply, if it is known."""

    def people(self, game: str, position: Position) -> Mapping[str, float]:
        """How many players of the mover's rating would play each move, by UCI; empty while that is
        not known.
        """


class EngineService:
    """The room, and at :attr:`desk` the place where searches are asked for."""

    def __init__(
        self,
        config: Config,
        listener: ResultListener,
        cache: ResultCache | None,
        field: PlayersAtBoards,
        *,
        live: bool,
        human: bool = False,
    ) -> None:
        """``live`` False: nobody will move, so nothing is searched ahead or looked up. ``human``:
        ``field`` knows what people would play.
        """
        settings = config.engine
        limit = engine_limit(settings)
        self._field = field
        self._skills: dict[int, ChoiceSkill] = {}
        self._tables = SyzygyTables(Path(settings.syzygy_path)) if settings.syzygy_path else None
        self._cloud: CloudEvaluations | None = None
        self._speculation: LookAhead | None = None
        if live and settings.cloud_evals:
            listener = self._cloud = CloudEvaluations(listener, config.feeds.lichess.base_url)
        if live and settings.speculate:
            listener = self._speculation = LookAhead(
                listener,
                limit,
                search_options=search_options_of(settings),
                chances=self._chances,
                likely=field.people if human else nobody,
                policy=WITH_PEOPLE if human else ForecastPolicy(),
            )
        self.room = EnginePool(
            find_engine(settings.path),
            limit,
            engines=settings.engines,
            hash_mb=settings.hash_mb,
            threads=settings.threads,
            reproducible=settings.reproducible,
            adaptive=settings.adaptive,
            nice=settings.nice,
            listener=listener,
            cache=cache,
            cluster=DaskCluster(settings.cluster, cluster_tls(settings))
            if settings.cluster
            else None,
            tables=self._tables,
        )
        self.desk: SearchDesk = self.room
        if self._speculation is not None:
            self._speculation.desk = self.room
            self.desk = self._speculation
        if self._cloud is not None:
            self._cloud.desk = self.desk
            self.desk = self._cloud

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The first engine started, tables open."""
        with self._tables or contextlib.nullcontext():
            async with self.room:
                if self._cloud is None:
                    yield
                    return
                lost = "cloud evaluations are asked for no more"
                async with alongside(self._cloud.run(), "cloud evaluations", lost):
                    yield

    def published(self, changes: Iterable[Change]) -> None:
        """Look ahead no more where nobody will move."""
        if self._speculation is not None:
            for board in boards_over(changes):
                self._speculation.over(board)

    def people_known(self, game: str) -> None:
        """It has become known what people would play in the newest position of a game."""
        if self._speculation is not None:
            self._speculation.people_known(game)

    def health(self) -> EngineHealth:
        """How they are doing."""
        health = self.room.health()
        if self._speculation is None:
            return health
        return msgspec.structs.replace(health, speculation=self._speculation.figures.told())

    def _chances(self, game: str, ply: int, behind_cp: Sequence[int]) -> list[float]:
        """What players of the mover's Elo choose (Regan and Haworth 2011, sections 3 and 7)."""
        elo = self._field.mover_elo(game, ply) or _UNRATED_ELO
        step = round(elo, -2)
        skill = self._skills.get(step)
        if skill is None:
            skill = self._skills[step] = RYBKA_3.skill(step)
        pawns = [behind / 100 for behind in behind_cp]
        return [float(chance) for chance in probabilities(pawns, skill)]
