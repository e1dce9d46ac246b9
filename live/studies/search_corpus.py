"""``live-rate study run``: searches what a corpus lacks, on this machine's engines or a cluster.
Part of the composition root.

Games are searched a few at a time and kept whole, a transaction a second. Searches of games under
way are kept in a file beside the corpus (``CORPUS-searches``), so that a kill costs what the last
second found. Which machine searched a position says nothing about its result, so any mixture of
kills and clusters ends in the same corpus.

The searches that one game needs, and what becomes of their answers. Pure.

A position for every ply and one more, and where the move played was not the engine's first choice
one search restricted to it: as the service does it (``live.engine.search.SearchOptions``), so that
a corpus searches nothing that a live event would not. A finished position is scored by the rules.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Hashable
from pathlib import Path

import chess
from rich.console import Console

from live import __version__
from live.config import Config
from live.engine.result_cache import MemoryResultCache, ResultFile, ResultFileBounds
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
from live.service.engine_service import EngineService, limit_text, search_options_of
from live.service.process import stop_on_signals, unless_stopped
from live.service.program_output import log_to_stderr
from live.studies.corpus_database import (
    CorpusDatabase,
    MoveSearch,
    NumberedGame,
    PositionSearch,
    SearchedGame,
    SearchSetting,
    move_search,
)
from live.studies.read_games import progress, say


class GameSearches:
    """One game on its way; done when ``waiting`` is empty."""

    def __init__(self, game: NumberedGame, options: SearchOptions) -> None:
        self.game = game
        self._options = options
        self._over = _by_rule(game)
        self._whole: dict[int, SearchResult] = {}
        self._played: dict[int, SearchResult] = {}
        self.waiting: set[Search] = set()
        self.failed = ""
        """Why a position could not be searched, for people."""

    def first(self, *, retrograde: bool = False) -> list[Search]:
        """A search of every position, in the order of play or from the end (Alliot 2017, 2.3)."""
        plies = range(len(self.game.moves) + (self._over is None))
        searches = [self._options.whole(self._position(ply)) for ply in plies]
        self.waiting.update(searches)
        return searches[::-1] if retrograde else searches

    def take(self, search: Search, result: SearchResult | SearchFailure) -> Search | None:
        """An answer; what has to be searched after it."""
        self.waiting.discard(search)
        if isinstance(result, SearchFailure):
            self.failed = self.failed or result.reason
            return None
        ply = len(search.position.moves)
        if search.only is not None:
            self._played[ply] = result
            return None
        self._whole[ply] = result
        if ply == len(self.game.moves):
            return None
        played = self.game.moves[ply]
        if played == result.best:
            return None
        more = self._options.played(search.position, played, result.depth)
        self.waiting.add(more)
        return more

    def searched(self) -> SearchedGame:
        """Everything found."""
        positions = [self._found(ply) for ply in range(len(self.game.moves))]
        last = self._whole.get(len(self.game.moves))
        end = None if last is None else PositionSearch(move_search(last), last.best)
        if self._over is not None:
            end = PositionSearch(self._over)
        return SearchedGame((*positions, end))

    def _found(self, ply: int) -> PositionSearch | None:
        whole, played = self._whole.get(ply), self._played.get(ply)
        if whole is None:
            return None
        return PositionSearch(
            move_search(whole),
            whole.best,
            None if played is None else move_search(played),
            tuple((line.move, line.score.cp) for line in whole.lines),
        )

    def _position(self, ply: int) -> Position:
        game = self.game
        return Position(game.start_fen, game.moves[:ply], game.chess960)


def _by_rule(game: NumberedGame) -> MoveSearch | None:
    """The score of the last position where the game is over in it."""
    board = chess.Board(game.start_fen, chess960=game.chess960)
    for uci in game.moves:
        board.push(chess.Move.from_uci(uci))
        board.clear_stack()
    if board.is_checkmate():
        return MoveSearch(-MATE_CP if board.turn == chess.WHITE else MATE_CP, 0)
    if board.is_stalemate() or board.is_insufficient_material():
        return MoveSearch(0)
    return None


#: Results in the file of searches under way. Never so many that one is dropped while it is needed.
_BOUNDS = ResultFileBounds(results=100_000_000, unused_days=36_500)
#: Between two commits, seconds.
_COMMIT_S = 1.0


class CorpusSearcher:
    """Gets the answers, asks for more, and keeps the games that are done."""

    def __init__(
        self, database: CorpusDatabase, options: SearchOptions, *, retrograde: bool
    ) -> None:
        self.finished = asyncio.Event()
        self.error: BaseException | None = None
        self.left = self.done = self.failed = 0
        """Games to search, searched, and with a position that no engine could search."""
        self.searches = 0
        """Answered in this run, by an engine or from earlier searches."""
        self.show: Callable[[int, str], None] = lambda done, line: None
        self._database = database
        self._options = options
        self._retrograde = retrograde
        self._under_way: dict[int, GameSearches] = {}
        self._began_s = self._committed_s = time.monotonic()

    def wanted(self, setting: SearchSetting, most: int | None) -> list[int]:
        """The games that are missing under a setting."""
        self._number = self._database.setting(setting)
        self._database.commit()
        return missing_games(self._database, self._number, most)

    def start(self, service: EngineService, wanted: list[int]) -> None:
        """Search these games, some at a time."""
        self._service, self._games, self.left = service, iter(wanted), len(wanted)
        self._begin(max(4, 2 * service.room.slots))

    def _begin(self, count: int) -> None:
        """Take up games until ``count`` are under way."""
        for number in itertools.islice(self._games, count - len(self._under_way)):
            searches = GameSearches(self._database.stored(number), self._options)
            self._under_way[number] = searches
            for search in searches.first(retrograde=self._retrograde):
                self._submit(number, search)
        if not self._under_way:
            self.finished.set()

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        assert isinstance(owner, int)
        game = self._under_way.get(owner)
        if game is None:
            return
        self.searches += 1
        self.show(self.done, str(self))
        more = game.take(search, result)
        if more is not None:
            self._submit(owner, more)
        if game.waiting:
            return
        del self._under_way[owner]
        try:
            self._keep(owner, game)
            self._begin(len(self._under_way) + 1)
        except Exception as error:
            self.error = error
            self.finished.set()

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        """Nobody watches."""

    def _keep(self, number: int, game: GameSearches) -> None:
        self.left, self.done = self.left - 1, self.done + 1
        self.failed += bool(game.failed)
        self._database.add_results(self._number, number, game.searched())
        if time.monotonic() - self._committed_s >= _COMMIT_S:
            self._database.commit()
            self._committed_s = time.monotonic()

    def _submit(self, number: int, search: Search) -> None:
        ply = len(search.position.moves) + (search.only is not None)
        self._service.room.submit(
            search, number, SearchPriority(SearchKind.FINISHED, str(number), ply)
        )

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
    with CorpusDatabase(corpus) as database, contextlib.ExitStack() as stack:
        cache = stack.enter_context(
            ResultFile(
                corpus.with_name(f"{corpus.name}-searches"),
                MemoryResultCache(5_000),
                bounds=_BOUNDS,
            )
        )
        options = search_options_of(config.engine)
        searcher = CorpusSearcher(database, options, retrograde=retrograde)
        service = EngineService(config, searcher, cache)
        async with service.running():
            setting = SearchSetting(
                str(service.room.identity),
                limit_text(config.engine),
                config.engine.multipv,
                __version__,
            )
            wanted = searcher.wanted(setting, most)
            with stop_on_signals(stop) as came, progress(len(wanted)) as searcher.show:
                searcher.start(service, wanted)
                await unless_stopped(searcher.finished.wait(), stop)
            say(Console(stderr=True), f"{setting}: {searcher}")
            if searcher.failed:
                failed = f"{searcher.failed} games have positions that no engine could search."
                say(Console(stderr=True), failed)
        database.commit()
    if searcher.error is not None:
        raise searcher.error
    return 128 + came[0] if came else 0


def missing_games(database: CorpusDatabase, setting: int, most: int | None) -> list[int]:
    """Numbers of the games without results, as they were added: eight bytes each."""
    rows = database.rows(
        "SELECT game FROM games WHERE NOT EXISTS (SELECT 1 FROM results WHERE"
        " results.game = games.game AND setting = ?) ORDER BY game LIMIT ?",
        (setting, -1 if most is None else most),
    )
    return [game for (game,) in rows]
