"""The ``study`` commands. Some fill a corpus and report its contents, some make tables
and figures of it, and ``study run`` searches the games without results, on this
machine's engines or on a cluster.

Several games are searched at a time. Finished games are stored in one transaction per
second. Searches of unfinished games are stored in a file beside the corpus
(``CORPUS-searches``), so a kill loses only the results of the last second. A result
does not depend on the machine that searched it, so any sequence of kills and clusters
ends in the same corpus.

Every position of a game is searched, one more than there are plies. If the move played
was not the engine's first choice, one more search is restricted to that move. The live
service does the same (``live.engine.search.SearchOptions``), so a corpus searches
nothing that a live event would not search. A finished position is scored by the rules.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

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
from live.errors import InputError
from live.journal.journal import Journal
from live.messages.from_sources import MATE_CP
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr
from live.screens.command_output import (
    build_progress_bar,
    check_writable,
    print_line,
    write_output,
)
from live.settings import Config
from live.studies import (  # noqa: F401  # registers their tables
    alliot_covariance,
    alliot_games,
    alliot_players,
    ferreira_tables,
    regan_table,
)
from live.studies.add_games import AddedGames, add_file
from live.studies.alliot_format import write_alliot
from live.studies.corpus_database import CorpusDatabase, NumberedGame
from live.studies.corpus_merge import merge_corpora
from live.studies.move_files import update_move_files
from live.studies.printed_results import report_result
from live.studies.searched_games import (
    MoveSearch,
    PositionSearch,
    SearchedGame,
    SearchSetting,
    build_move_search,
)
from live.studies.study_data import Selection, StudyData
from live.studies.study_figures import FIGURES, render_figure
from live.studies.study_tables import TABLES as TABLES
from live.studies.study_tables import TableForm, build_table, format_table

#: Form of a table by the ending of its file.
_FORMS: dict[str, TableForm] = {".csv": "csv", ".json": "json", ".txt": "text"}
#: Largest number of disputed games, and of damaged games, that the text output names;
#: the JSON output names all.
_NAMED = 20


def add_to_corpus(
    corpus: Path, files: Sequence[str], *, engine: str, limit: str, json: str | None
) -> int:
    """Run ``live-rate study add``; return the exit code: 1 if a file could not be read
    to its end or has no readable game.

    Raises:
        InputError: there is no such file, or the disk is full; what was added until
            then is kept.
    """
    check_writable(json)
    for path in files:
        # Checked first, so that no empty corpus is created.
        if path != "-" and (not Path(path).exists() or Path(path).is_dir()):
            raise InputError(path, "no such file", "Name a PGN or NDJSON")
    setting = SearchSetting(engine, limit)
    with CorpusDatabase(corpus, create=True) as database, show_progress() as show:

        def read(added: AddedGames) -> None:
            show(added.texts, f"{added.source}: {added.texts} games")

        added_files = [add_file(database, path, setting, read) for path in files]
    report_result(json, added_files, *map(_describe_added, added_files))
    return int(any(added.broken or added.only_damage for added in added_files))


def report_status(corpus: Path, *, json: str | None) -> int:
    """Run ``live-rate study status``; return the exit code."""
    check_writable(json)
    with CorpusDatabase(corpus) as database:
        status = collect_status(database)
    return report_result(json, status, *_describe_status(status))


def collect_status(database: CorpusDatabase) -> dict[str, Any]:
    """Return the counts and all problems, as ``study status --json`` writes them."""
    games = database.count_rows("games")
    [years] = database.query_dicts(
        "SELECT min(year) AS first_year, max(year) AS last_year FROM games"
    )
    disputed = database.query_dicts(
        "SELECT game, ifnull(white.name, '?') AS white, ifnull(black.name, '?') AS"
        " black, date, result, other_result FROM games LEFT JOIN players white ON"
        " white.player = games.white LEFT JOIN players black ON black.player ="
        " games.black WHERE other_result IS NOT NULL ORDER BY game"
    )
    return {
        "games": games,
        "players": database.count_rows("players"),
        "events": database.count_rows("events"),
        **years,
        "without_date": database.count_rows("games", "year IS NULL"),
        "without_rating": database.count_rows(
            "games", "white_elo IS NULL OR black_elo IS NULL"
        ),
        "without_result": database.count_rows(
            "games", "result NOT IN ('1-0', '0-1', '1/2-1/2')"
        ),
        "damaged": database.query_dicts(
            "SELECT name AS source, text, game, problem FROM damaged JOIN sources"
            " USING (source) ORDER BY name, text"
        ),
        "disputed": [
            game | {"results": (game.pop("result"), game.pop("other_result"))}
            for game in disputed
        ],
        "unfinished": [
            name
            for (name,) in database.execute(
                "SELECT name FROM sources WHERE NOT finished"
            )
        ],
        "settings": database.query_dicts(
            'SELECT setting, engine, bound AS "limit", lines, version,'
            " count(game) AS games, ? - count(game) AS left"
            " FROM settings LEFT JOIN results USING (setting)"
            " GROUP BY setting ORDER BY setting",
            (games,),
        ),
    }


def merge_corpus(corpus: Path, source_path: Path, *, json: str | None) -> int:
    """Run ``live-rate study merge``; return the exit code: 1 if a setting was
    refused.
    """
    check_writable(json)
    with (
        CorpusDatabase(source_path) as source,
        CorpusDatabase(corpus, create=True) as target,
    ):
        merged = merge_corpora(target, source)
    lines = (f"left out: {reason}" for reason in merged.refused)
    brought = f"{merged.games} games new, results of {merged.results} games added"
    report_result(json, merged, brought, *lines)
    return int(bool(merged.refused))


def write_moves(corpus: Path, setting: int | None) -> int:
    """Run ``live-rate study moves``: bring the Parquet files up to date; return the
    exit code.
    """
    with CorpusDatabase(corpus) as database:
        number, chosen = choose_setting(database, setting)
        files = update_move_files(database, number)
    print_line(
        f"{chosen}: {len(files)} files in {corpus}-moves/setting-{number}", Console()
    )
    return 0


def write_alliot_database(corpus: Path, setting: int | None, target: str) -> int:
    """Run ``live-rate study alliot``: write every searched game in Alliot's format;
    return the exit code.
    """
    check_writable(target)
    with CorpusDatabase(corpus) as database:
        number, chosen = choose_setting(database, setting)
        names = database.read_players()
        events = database.read_events()
        with (
            nullcontext(sys.stdout)
            if target == "-"
            else open(target, "w", encoding="utf-8") as file
        ):
            for game, searched in database.read_searched_games(number):
                file.write(write_alliot(game, searched, chosen, names, events))
    return 0


def choose_setting(
    database: CorpusDatabase, setting: int | None
) -> tuple[int, SearchSetting]:
    """Return the setting that was asked for, or the only one there is.

    Raises:
        InputError: no setting or several settings match; results of two settings are
            never pooled.
    """
    settings = database.read_settings()
    fitting = [entry for entry in settings.items() if setting in (None, entry[0])]
    if len(fitting) == 1:
        return fitting[0]
    if not settings:
        remedy = f"Search it: live-rate study run {database.path}"
        raise InputError(str(database.path), "holds no evaluation", remedy)
    listed = "; ".join(
        f"{number}: {stored_setting}" for number, stored_setting in settings.items()
    )
    raise InputError(
        "--setting",
        "names no setting"
        if setting is not None
        else "several engines or limits are there",
        f"Name one of {listed}",
    )


def _describe_added(added: AddedGames) -> str:
    counts = {
        "known": added.known,
        "read before": added.passed_over,
        "with evaluations": added.evaluated,
        "damaged (see study status)": added.damaged,
    }
    parts = [f"{added.texts} games", f"{added.new} new"]
    parts += [f"{n} {description}" for description, n in counts.items() if n]
    parts += [f"not read to its end ({added.broken})"] if added.broken else []
    return f"{added.source}: {', '.join(parts)}"


def _describe_status(status: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{status['games']} games of {status['players']} players at {status['events']}"
        f" events, {status['first_year'] or '?'} to {status['last_year'] or '?'}"
    )
    missing = {"date": "a date", "rating": "both ratings", "result": "a result"}
    yield ", ".join(
        f"{status[f'without_{key}']} without {lack}" for key, lack in missing.items()
    )
    for row in status["settings"]:
        setting = SearchSetting(
            row["engine"], row["limit"], row["lines"], row["version"]
        )
        searched = f"{row['games']} games searched, {row['left']} left"
        yield f"setting {row['setting']}: {setting}: {searched}"
    for name in status["unfinished"]:
        yield f"not read to its end: {name}; add it again"
    for game in status["disputed"][:_NAMED]:
        yield (
            f"two results, so none counts: {game['white']} - {game['black']} "
            f"({game['date'] or 'no date'}): {' and '.join(game['results'])}"
        )
    for damage in status["damaged"][:_NAMED]:
        yield "damaged: {source}, game {text}: {game}: {problem}".format(**damage)
    unnamed = sum(max(0, len(status[key]) - _NAMED) for key in ("disputed", "damaged"))
    if unnamed:
        yield f"and {unnamed} more; written as JSON, all are named"


# --- searches -------------------------------------------------------------------------

#: Time between two lines of progress if there is no terminal, seconds.
_LINE_S = 10.0


@contextmanager
def show_progress(total: int | None = None) -> Iterator[Callable[[int, str], None]]:
    """Show progress on standard error: as a bar on a terminal, otherwise as a line
    every ten seconds. Yield a function that receives the number done and a description.
    """
    console = Console(stderr=True)
    shown_s = time.monotonic()
    with build_progress_bar(console) as bar:
        task = bar.add_task("", total=total)

        def show(n: int, line: str) -> None:
            nonlocal shown_s
            bar.update(task, completed=n, description=line)
            if not console.is_terminal and time.monotonic() - shown_s >= _LINE_S:
                shown_s = time.monotonic()
                print_line(line, console)

        yield show


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
        self._answers: dict[
            tuple[Hashable, Search], asyncio.Future[SearchResult | SearchFailure]
        ]
        self._answers = {}
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

    async def run(self, room: EnginePool, setting: int, numbers: Sequence[int]) -> None:
        """Search the games ``numbers`` and store their results under ``setting``.

        Raises:
            Exception: the first error that occurs while results are stored.
        """
        self.left = len(numbers)
        games = iter(numbers)

        async def work() -> None:
            for number in games:
                ask = partial(self._ask, room, number)
                game = self._database.read_game(number)
                searched, failed = await search_game(
                    game, self._options, ask, retrograde=self._retrograde
                )
                self.left = self.left - 1
                self.done = self.done + 1
                self.failed += bool(failed)
                self._database.add_results(setting, number, searched)
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
        self._answers[game, search] = answer
        room.submit(search, game, SearchPriority(SearchKind.FINISHED, str(game), place))
        result: SearchResult | SearchFailure = await answer
        return result

    def __str__(self) -> str:
        """Return a description of the progress."""
        spent_s = max(time.monotonic() - self._began_s, 1e-9)
        eta = f"{self.left * spent_s / self.done / 60:.0f} min" if self.done else "time"
        return (
            f"{self.done} of {self.left + self.done} games, {self.searches} searches,"
            f" {self.searches / spent_s:.0f} a second, {eta}"
            f" left{'' if self.done else ' unknown'}"
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
        engines = Engines(config.engine, searcher, cache)
        async with engines.pool:
            setting = SearchSetting(
                str(engines.pool.identity),
                describe_limit(config.engine),
                config.engine.multipv,
                __version__,
            )
            number = choose_setting_to_search(database, setting)
            database.commit()
            numbers = find_missing_games(
                database, number, most_games if only is None else None
            )
            if only is not None:
                missing = set(numbers)
                numbers = [game for game in only if game in missing][:most_games]
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
                failed = (
                    f"{searcher.failed} games have positions that no engine could"
                    " search."
                )
                print_line(failed, console)
        database.commit()
    return derive_exit_code(signals)


def choose_setting_to_search(database: CorpusDatabase, setting: SearchSetting) -> int:
    """Return the number of the setting under which results are stored. If this setting
    is new, but the corpus has results from files with this engine, limit and lines (and
    no version), their setting is used. So games that came with results are not searched
    again.
    """
    numbers = {
        known_setting: number
        for number, known_setting in database.read_settings().items()
    }
    unversioned = msgspec.structs.replace(setting, version="")
    if setting not in numbers and unversioned in numbers:
        return numbers[unversioned]
    return database.add_setting(setting)


def find_missing_games(
    database: CorpusDatabase, setting: int, most_games: int | None
) -> list[int]:
    """Return the numbers of games without results, in the order in which they were
    added. The list needs eight bytes per game.
    """
    rows = database.execute(
        "SELECT game FROM games WHERE NOT EXISTS (SELECT 1 FROM results WHERE"
        " results.game = games.game AND setting = ?) ORDER BY game LIMIT ?",
        (setting, -1 if most_games is None else most_games),
    )
    return [game for (game,) in rows]


# --- tables and figures ---------------------------------------------------------------


def write_tables(
    corpus: Path,
    names: Sequence[str],
    selection: Selection,
    *,
    setting: int | None,
    by: str | None,
    form: TableForm,
    out: str,
) -> int:
    """Run ``live-rate study table``; return the exit code. The name ``all`` writes
    every table to a folder.

    Raises:
        InputError: there is no such corpus, table, setting, player or event, or nothing
            can be written.
    """
    tables = names
    if list(names) == ["all"]:
        tables = list(TABLES)
    else:
        for name in names:
            _refuse_without_effect(name, name, selection, by)
    has_several = len(tables) > 1
    if not has_several:
        check_writable(out)
        form = _FORMS.get(Path(out).suffix, form)
    elif out == "-":
        raise InputError("--out", "several tables need a folder", "Give --out FOLDER")
    else:
        Path(out).mkdir(parents=True, exist_ok=True)
    with _open_study_data(corpus, tables, setting, selection) as data:
        for name in tables:
            file = str(Path(out, f"{name}.{'txt' if form == 'text' else form}"))
            text = format_table(build_table(name, data, by), form)
            write_output(file if has_several else out, text.encode())
    return 0


def draw_figure(
    corpus: Path, name: str, selection: Selection, *, setting: int | None, out: Path
) -> int:
    """Run ``live-rate study figure``; return the exit code.

    Raises:
        InputError: there is no such figure, corpus, setting, player or event, the file
            has a wrong ending, or nothing can be written.
        ConfigError: matplotlib is not installed.
    """
    if name not in FIGURES:
        raise InputError(name, "is no figure", f"Name one of {', '.join(FIGURES)}")
    if out.suffix not in (".png", ".svg"):
        raise InputError(
            str(out), "is neither .png nor .svg", "Name the file with such an ending"
        )
    table, *_ = FIGURES[name]
    _refuse_without_effect(name, table, selection)
    check_writable(str(out))
    with _open_study_data(corpus, [table], setting, selection) as data:
        write_output(
            str(out), render_figure(name, build_table(table, data), out.suffix[1:])
        )
    return 0


def _refuse_without_effect(
    name: str, table: str, selection: Selection, by: str | None = None
) -> None:
    """Refuse ``--player`` and ``--top`` in tables where they have no effect.

    Raises:
        InputError: one of the two options has no effect in this table.
    """
    about = TABLES[table].about if table in TABLES else "players"
    # The table is about players unless it is grouped by something else.
    if table == "regan" and by not in (None, "player"):
        about = "everybody"
    has_no_effect = {
        "--player": selection.players and about == "everybody",
        "--top": selection.top and about != "players",
    }
    for flag in filter(has_no_effect.get, has_no_effect):
        raise InputError(
            flag, f"chooses nothing in {name}, which is about all games", "Leave it out"
        )


@contextmanager
def _open_study_data(
    corpus: Path, tables: Sequence[str], setting: int | None, selection: Selection
) -> Iterator[StudyData]:
    """Open the data from which tables are made. If no table needs an engine, all games
    are used, searched or not.
    """
    with CorpusDatabase(corpus) as database:
        alone = all(name in TABLES and not TABLES[name].engine for name in tables)
        # A setting of None means that no engine is used.
        chosen: tuple[int | None, SearchSetting] = (None, SearchSetting("", ""))
        if not alone or setting is not None:
            chosen = choose_setting(database, setting)
        yield StudyData(database, *chosen, selection)
