"""The engine room with what stands before it: tables of endgames, evaluations of others, searching
ahead. Part of the composition root.

The engine in use is measured on the reference positions, when it has nothing else to do, and what
was found is kept in the user's state folder: a file for each engine and limit, so that a second
start knows at once. The searches are asked for as guesses are (:data:`SearchKind.SPECULATE`): a
live position takes the engine at once, and the interrupted one is searched later. Loss policy: a
file that cannot be read or written costs another measurement, said in the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import statistics
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from live.config import Config
from live.engine.cloud_evaluations import CloudEvaluations
from live.engine.engine_pool import EnginePool
from live.engine.engine_process import find_engine
from live.engine.look_ahead import (
    WITH_PEOPLE,
    ForecastPolicy,
    ForecastRules,
    LookAhead,
    boards_over,
    nobody,
)
from live.engine.result_cache import ResultCache, SyzygyTables
from live.engine.search import Position, Search, SearchFailure, SearchResult
from live.engine.search_queue import ResultListener, SearchDesk, SearchKind, SearchPriority
from live.events import Change, EngineHealth
from live.ratings.engine_scale import (
    LEAST_POSITIONS,
    MeasuredEngine,
    ReferenceSet,
    agreement,
)
from live.ratings.intrinsic_rating import RYBKA_3, ChoiceSkill, probabilities
from live.service.measure_settings import engine_limit, search_options_of, uci_settings
from live.service.supervision import alongside

#: Searches asked for at a time: more than there are engines, few enough to leave the queue short.
_AT_A_TIME: Final = 32


class ReferenceSearch(msgspec.Struct, frozen=True):
    """Who wants the search of a reference position."""

    index: int


class EngineMeasuring:
    """One measurement, from the first search to the last."""

    def __init__(
        self,
        reference: ReferenceSet,
        engines: SearchDesk,
        *,
        lines: int = 1,
        progressed: Callable[[int, int], None] = lambda done, of: None,
    ) -> None:
        """``lines``: best moves wanted of each position, as in the event; ``progressed`` is given
        positions done and their number.
        """
        self._positions = reference.positions
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

    def _ask(self) -> None:
        """Ask for more, as long as few are open."""
        while self._asked < len(self._positions):
            if self._asked - len(self._found) - self._failures >= _AT_A_TIME:
                return
            index = self._asked
            self._asked += 1
            position = Position(self._positions[index].fen)
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
                [self._positions[index].score_cp for index in indices],
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
                ForecastRules(
                    limit,
                    search_options_of(settings),
                    WITH_PEOPLE if human else ForecastPolicy(),
                    self._chances,
                    field.people if human else nobody,
                ),
            )
        cluster = None
        if settings.cluster:
            from live.engine.cluster import DaskCluster  # brings Dask

            cluster = DaskCluster(settings)
        self.room = EnginePool(
            find_engine(settings.path),
            limit,
            settings=uci_settings(settings),
            engines=settings.engines,
            nice=settings.nice,
            listener=listener,
            cache=cache,
            cluster=cluster,
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
        return msgspec.structs.replace(health, speculation=self._speculation.figures())

    def _chances(self, game: str, ply: int, behind_cp: Sequence[int]) -> list[float]:
        """What players of the mover's Elo choose (Regan and Haworth 2011, sections 3 and 7)."""
        elo = self._field.mover_elo(game, ply) or _UNRATED_ELO
        step = round(elo, -2)
        skill = self._skills.get(step)
        if skill is None:
            skill = self._skills[step] = RYBKA_3.skill(step)
        pawns = [behind / 100 for behind in behind_cp]
        return [float(chance) for chance in probabilities(pawns, skill)]
