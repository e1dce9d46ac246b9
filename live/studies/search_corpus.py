"""``live-rate study run``: searches what a corpus lacks, on this machine's engines or a cluster.
Part of the composition root.

Games are searched a few at a time and kept whole, a transaction a second. Searches of games under
way are kept in a file beside the corpus (``CORPUS-searches``), so that a kill costs what the last
second found. Which machine searched a position says nothing about its result, so any mixture of
kills and clusters ends in the same corpus.

A position for every ply and one more, and where the move played was not the engine's first choice
one search restricted to it: as the service does it (``live.engine.search.SearchOptions``), so that
a corpus searches nothing that a live event would not. A finished position is scored by the rules.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from pathlib import Path

import chess
from rich.console import Console

from live import __version__
from live.config import Config
from live.engine.engine_pool import EnginePool
from live.engine.result_cache import MemoryResultCache
from live.engine.search import (
    Position,
    Search,
    SearchFailure,
    SearchOptions,
    SearchProgress,
    SearchResult,
)
from live.engine.search_queue import SearchKind, SearchPriority
from live.events import MATE_CP
from live.jobs.analyze_games import say
from live.service.engine_service import EngineService, limit_text, search_options_of
from live.service.process import stop_on_signals, unless_stopped
from live.service.program_output import log_to_stderr
from live.store.journal import Journal
from live.studies.corpus_database import (
    CorpusDatabase,
    MoveSearch,
    NumberedGame,
    PositionSearch,
    SearchedGame,
    SearchSetting,
    move_search,
)
from live.studies.read_games import progress

Ask = Callable[[Search, int], Awaitable[SearchResult | SearchFailure]]
"""Has a search made; of two the one with the lower number comes first."""


async def searched_game(
    game: NumberedGame, options: SearchOptions, ask: Ask, *, retrograde: bool = False
) -> tuple[SearchedGame, str]:
    """Everything found, and why a position could not be searched, for people; empty where all
    could. ``retrograde``: from the last position to the first (Alliot 2017, section 2.3).
    """
    over = _by_rule(game)
    failures: list[str] = []

    async def found(search: Search, ply: int) -> SearchResult | None:
        result = await ask(search, len(game.moves) - ply if retrograde else ply)
        if isinstance(result, SearchFailure):
            failures.append(result.reason)
            return None
        return result

    async def position(ply: int) -> PositionSearch | None:
        here = Position(game.start_fen, game.moves[:ply], game.chess960)
        whole = await found(options.whole(here), ply)
        if whole is None:
            return None
        played = None
        if ply < len(game.moves) and game.moves[ply] != whole.best:
            played = await found(options.played(here, game.moves[ply], whole.depth), ply)
        return PositionSearch(
            move_search(whole),
            whole.best,
            None if played is None else move_search(played),
            tuple((line.move, line.score.cp) for line in whole.lines),
        )

    positions = await asyncio.gather(*map(position, range(len(game.moves) + (over is None))))
    end = [] if over is None else [PositionSearch(over)]
    return SearchedGame((*positions, *end)), next(iter(failures), "")


def _by_rule(game: NumberedGame) -> MoveSearch | None:
    """The score of the last position where the game is over in it."""
    board = chess.Board(game.start_fen, chess960=game.chess960)
    for uci in game.moves:
        board.push_uci(uci)
    if board.is_checkmate():
        return MoveSearch(-MATE_CP if board.turn == chess.WHITE else MATE_CP, 0)
    over = board.is_stalemate() or board.is_insufficient_material()
    return MoveSearch(0) if over else None


#: Between two commits, seconds.
_COMMIT_S = 1.0


class CorpusSearcher:
    """Searches games, some at a time, and keeps those that are done."""

    def __init__(
        self, database: CorpusDatabase, options: SearchOptions, *, retrograde: bool
    ) -> None:
        self.left = self.done = self.failed = 0
        """Games to search, searched, and with a position that no engine could search."""
        self.searches = 0
        """Answered in this run, by an engine or from earlier searches."""
        self.show: Callable[[int, str], None] = lambda done, line: None
        self._database = database
        self._options = options
        self._retrograde = retrograde
        self._asked: dict[tuple[Hashable, Search], asyncio.Future[SearchResult | SearchFailure]]
        self._asked = {}
        self._began_s = self._committed_s = time.monotonic()

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self.searches += 1
        self.show(self.done, str(self))
        self._asked.pop((owner, search)).set_result(result)

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        """Nobody watches."""

    async def run(self, room: EnginePool, setting: int, wanted: Sequence[int]) -> None:
        """Search these games. Raises what goes wrong while one is kept."""
        self.left = len(wanted)
        games = iter(wanted)

        async def work() -> None:
            for number in games:
                ask = partial(self._ask, room, number)
                game = self._database.stored(number)
                found, failed = await searched_game(
                    game, self._options, ask, retrograde=self._retrograde
                )
                self.left, self.done = self.left - 1, self.done + 1
                self.failed += bool(failed)
                self._database.add_results(setting, number, found)
                if time.monotonic() - self._committed_s >= _COMMIT_S:
                    self._database.commit()
                    self._committed_s = time.monotonic()

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(4, 2 * room.slots)):
                    group.create_task(work(), name="game")
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _ask(
        self, room: EnginePool, game: int, search: Search, place: int
    ) -> SearchResult | SearchFailure:
        answer = asyncio.get_running_loop().create_future()
        self._asked[game, search] = answer
        room.submit(search, game, SearchPriority(SearchKind.FINISHED, str(game), place))
        found: SearchResult | SearchFailure = await answer
        return found

    def __str__(self) -> str:
        """How far it has come."""
        spent_s = max(time.monotonic() - self._began_s, 1e-9)
        eta = f"{self.left * spent_s / self.done / 60:.0f} min" if self.done else "time"
        return (
            f"{self.done} of {self.left + self.done} games, {self.searches} searches, "
            f"{self.searches / spent_s:.0f} a second, {eta} left{'' if self.done else ' unknown'}"
        )


async def search_corpus(
    config: Config,
    corpus: Path,
    *,
    most: int | None,
    retrograde: bool,
) -> int:
    """``live-rate study run``; returns the exit code. Ctrl-C ends it with what is done kept.

    Raises:
        InputError: no such corpus, or its disk is full.
        EngineError: no engine.
    """
    log_to_stderr(config)
    stop = asyncio.Event()
    under_way = corpus.with_name(f"{corpus.name}-searches")
    with (
        CorpusDatabase(corpus) as database,
        Journal(under_way, memory=MemoryResultCache(5_000)) as cache,
    ):
        options = search_options_of(config.engine)
        searcher = CorpusSearcher(database, options, retrograde=retrograde)
        service = EngineService(config, searcher, cache)
        async with service.room:
            setting = SearchSetting(
                str(service.room.identity),
                limit_text(config.engine),
                config.engine.multipv,
                __version__,
            )
            number = database.setting(setting)
            database.commit()
            wanted = missing_games(database, number, most)
            with stop_on_signals(stop) as came, progress(len(wanted)) as searcher.show:
                await unless_stopped(searcher.run(service.room, number, wanted), stop)
            console = Console(stderr=True)
            say(f"{setting}: {searcher}", console)
            if searcher.failed:
                failed = f"{searcher.failed} games have positions that no engine could search."
                say(failed, console)
        database.commit()
    return 128 + came[0] if came else 0


def missing_games(database: CorpusDatabase, setting: int, most: int | None) -> list[int]:
    """Numbers of the games without results, as they were added: eight bytes each."""
    rows = database.rows(
        "SELECT game FROM games WHERE NOT EXISTS (SELECT 1 FROM results WHERE"
        " results.game = games.game AND setting = ?) ORDER BY game LIMIT ?",
        (setting, -1 if most is None else most),
    )
    return [game for (game,) in rows]
