"""Command ``study run``: it searches the games of a corpus that lack results, on this
machine's engines or on a cluster.

Several games are searched at a time. Finished games are stored in one transaction per
second. Searches of unfinished games are stored in a file beside the corpus
(``CORPUS-searches``), so a killed process loses only the results of the last second. A
result does not depend on the machine that searched it, so any sequence of kills and
clusters ends in the same corpus.

Every position of a game is searched, one more than there are plies. If the move played
was not the engine's first choice, one more search is restricted to that move. The live
service does the same (``live.engine.search.SearchOptions``), so a corpus searches
nothing that a live event would not search. A finished position is scored by the rules.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from pathlib import Path

import chess
import msgspec
from rich.console import Console

from live import __version__
from live.engine.engine_pool import EnginePool
from live.engine.engine_settings import build_search_options, describe_limit
from live.engine.engines import Engines
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
from live.journal.journal import Journal
from live.messages.from_sources import MATE_CP
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr
from live.screens.command_output import print_line
from live.settings import Config
from live.studies.corpus_database import CorpusDatabase, NumberedGame
from live.studies.searched_games import (
    MoveSearch,
    PositionSearch,
    SearchedGame,
    SearchSetting,
    build_move_search,
)
from live.studies.study_progress import show_progress

Answer = asyncio.Future[SearchResult | SearchFailure]
Ask = Callable[[Search, int], Awaitable[SearchResult | SearchFailure]]
"""Function that requests a search and waits for its result. Of two waiting searches,
the one with the lower number is made first.
"""


async def search_game(
    game: NumberedGame, options: SearchOptions, ask: Ask, *, retrograde: bool = False
) -> tuple[SearchedGame, str]:
    """Search every position of a game. Return the results, and the reason why a
    position could not be searched, as a text for people; the reason is empty if all
    were searched. ``retrograde`` searches from the last position to the first (Alliot
    2017, section 2.3).
    """
    over = _score_final_position(game)
    failures: list[str] = []

    async def find(search: Search, ply: int) -> SearchResult | None:
        result = await ask(search, len(game.moves) - ply if retrograde else ply)
        if isinstance(result, SearchFailure):
            failures.append(result.reason)
            return None
        return result

    async def search_position(ply: int) -> PositionSearch | None:
        position_at = Position(game.start_fen, game.moves[:ply], game.chess960)
        whole = await find(options.search_of_position(position_at), ply)
        if whole is None:
            return None
        played = None
        if ply < len(game.moves) and game.moves[ply] != whole.best:
            played = await find(
                options.search_of_move(position_at, game.moves[ply], whole.depth), ply
            )
        return PositionSearch(
            build_move_search(whole),
            whole.best,
            None if played is None else build_move_search(played),
            tuple((line.move, line.score.cp) for line in whole.lines),
        )

    positions = await asyncio.gather(
        *map(search_position, range(len(game.moves) + (over is None)))
    )
    end = [] if over is None else [PositionSearch(over)]
    return SearchedGame((*positions, *end)), next(iter(failures), "")


def _score_final_position(game: NumberedGame) -> MoveSearch | None:
    """Return the score of the last position if it ends the game, else None."""
    board = chess.Board(game.start_fen, chess960=game.chess960)
    for uci in game.moves:
        board.push_uci(uci)
    if board.is_checkmate():
        return MoveSearch(-MATE_CP if board.turn == chess.WHITE else MATE_CP, 0)
    is_drawn = board.is_stalemate() or board.is_insufficient_material()
    return MoveSearch(0) if is_drawn else None


#: Time between two commits, seconds.
_COMMIT_S = 1.0


class CorpusSearcher:
    """Search of the games of a corpus, several at a time; results of finished games are
    stored.
    """

    def __init__(
        self, database: CorpusDatabase, options: SearchOptions, *, retrograde: bool
    ) -> None:
        self.left = self.done = self.failed = 0
        """Numbers of games: still to search, searched, and with a position that no
        engine could search.
        """
        self.searches = 0
        """Number of searches answered in this run, by an engine or from stored
        searches.
        """
        self.show: Callable[[int, str], None] = lambda n, line: None
        self._database = database
        self._options = options
        self._retrograde = retrograde
        self._answers: dict[tuple[Hashable, Search], Answer] = {}
        self._began_s = self._committed_s = time.monotonic()

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self.searches += 1
        self.show(self.done, str(self))
        answer = self._answers.pop((owner, search))
        # A stopped run cancels the future while the engine is still searching.
        if not answer.cancelled():
            answer.set_result(result)

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        """Ignore progress within a search."""

    async def run(self, pool: EnginePool, setting: int, numbers: Sequence[int]) -> None:
        """Search the games ``numbers`` and store their results under ``setting``.

        Raises:
            Exception: the first error that occurs while results are stored.
        """
        self.left = len(numbers)
        games = iter(numbers)

        async def work() -> None:
            for number in games:
                ask = partial(self._ask, pool, number)
                game = self._database.read_game(number)
                searched, failed = await search_game(
                    game, self._options, ask, retrograde=self._retrograde
                )
                self.left -= 1
                self.done += 1
                self.failed += bool(failed)
                self._database.add_results(setting, number, searched)
                if time.monotonic() - self._committed_s >= _COMMIT_S:
                    self._database.commit()
                    self._committed_s = time.monotonic()

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(4, 2 * pool.slots)):
                    group.create_task(work(), name="game")
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _ask(
        self, pool: EnginePool, game: int, search: Search, place: int
    ) -> SearchResult | SearchFailure:
        answer: Answer = asyncio.get_running_loop().create_future()
        self._answers[game, search] = answer
        pool.submit(search, game, SearchPriority(SearchKind.FINISHED, str(game), place))
        return await answer

    def __str__(self) -> str:
        """Return a description of the progress."""
        spent_s = max(time.monotonic() - self._began_s, 1e-9)
        left = "time left unknown"
        if self.done:
            left = f"{self.left * spent_s / self.done / 60:.0f} min left"
        return (
            f"{self.done} of {self.left + self.done} games, {self.searches} searches,"
            f" {self.searches / spent_s:.0f} a second, {left}"
        )


async def search_corpus(
    config: Config,
    corpus: Path,
    *,
    most_games: int | None,
    retrograde: bool,
    only: Sequence[int] | None = None,
) -> int:
    """Run ``live-rate study run``; return the exit code. Ctrl-C stops it and keeps
    finished games. ``only`` are the games to search, in their order; None for all.

    Raises:
        InputError: there is no such corpus, or its disk is full.
        EngineError: there is no engine.
    """
    log_to_stderr(config.log.level)
    stop = asyncio.Event()
    under_way = corpus.with_name(f"{corpus.name}-searches")
    with (
        CorpusDatabase(corpus) as database,
        Journal(under_way, memory=MemoryResultCache(5_000)) as cache,
    ):
        options = build_search_options(config.engine)
        searcher = CorpusSearcher(database, options, retrograde=retrograde)
        engines = Engines(config.engine, cache)
        engines.connect(searcher)
        async with engines.pool:
            setting = SearchSetting(
                str(engines.pool.identity),
                describe_limit(config.engine),
                config.engine.multipv,
                __version__,
            )
            number = choose_setting_to_search(database, setting)
            database.commit()
            numbers = find_missing_games(database, number)
            if only is not None:
                missing = set(numbers)
                numbers = [game for game in only if game in missing]
            numbers = numbers[:most_games]
            with (
                stop_on_signals(stop) as signals,
                show_progress(len(numbers)) as searcher.show,
            ):
                await run_until_stopped(
                    searcher.run(engines.pool, number, numbers), stop
                )
            console = Console(stderr=True)
            print_line(f"{setting}: {searcher}", console)
            if searcher.failed:
                print_line(
                    f"{searcher.failed} games have positions that no engine could"
                    " search.",
                    console,
                )
        database.commit()
    return derive_exit_code(signals)


def choose_setting_to_search(database: CorpusDatabase, setting: SearchSetting) -> int:
    """Return the number of the setting under which results are stored. If this setting
    is new, and files gave the corpus results with the same engine, limit and lines but
    without a version, the number of their setting is returned. Then games that came
    with results are not searched again.
    """
    numbers = {
        known_setting: number
        for number, known_setting in database.read_settings().items()
    }
    unversioned = msgspec.structs.replace(setting, version="")
    if setting not in numbers and unversioned in numbers:
        return numbers[unversioned]
    return database.add_setting(setting)


def find_missing_games(database: CorpusDatabase, setting: int) -> list[int]:
    """Return the numbers of games without results, in the order in which they were
    added. The list needs eight bytes per game.
    """
    rows = database.execute(
        "SELECT game FROM games WHERE NOT EXISTS (SELECT 1 FROM results WHERE"
        " results.game = games.game AND setting = ?) ORDER BY game",
        (setting,),
    )
    return [game for (game,) in rows]
