"""The ``study`` commands: those that fill a corpus and say what it holds, and those
that make tables and figures of it; and ``study run``, which searches what a corpus
lacks, on this machine's engines or a cluster.

Games are searched a few at a time and kept whole, a transaction a second. Searches of
games under way are kept in a file beside the corpus (``CORPUS-searches``), so that a
kill costs what the last second found. Which machine searched a position says nothing
about its result, so any mixture of kills and clusters ends in the same corpus.

A position for every ply and one more, and where the move played was not the engine's
first choice one search restricted to it: as the service does it
(``live.engine.search.SearchOptions``), so that a corpus searches nothing that a live
event would not. A finished position is scored by the rules.
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
from live.config import Config
from live.engine.engine_pool import EnginePool
from live.engine.search import (
    MemoryResultCache,
    Position,
    Search,
    SearchFailure,
    SearchOptions,
    SearchProgress,
    SearchResult,
)
from live.engine.search_queue import SearchKind, SearchPriority
from live.errors import InputError
from live.jobs.analyze_games import (
    build_progress_bar,
    check_writable,
    print_line,
    write_output,
)
from live.journal.journal import Journal
from live.messages.from_sources import MATE_CP
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr
from live.service.engine_service import EngineService, limit_text, search_options_of
from live.studies import (  # noqa: F401  # each puts its tables among ``TABLES``
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

#: What files of these endings hold.
_FORMS: dict[str, TableForm] = {".csv": "csv", ".json": "json", ".txt": "text"}
#: Damaged games that are named one by one; status has all.
_NAMED = 20


def add_to_corpus(
    corpus: Path, files: Sequence[str], *, engine: str, limit: str, json: str | None
) -> int:
    """``live-rate study add``; returns the exit code: 1 when a file could not be read
    to its end or holds nothing but damage.

    Raises:
        InputError: no such file, or a disk that is full; what was added until then is
            kept.
    """
    check_writable(json)
    for path in files:
        # Before a corpus is made for nothing.
        if path != "-" and (not Path(path).exists() or Path(path).is_dir()):
            raise InputError(path, "no such file", "Name a PGN or NDJSON")
    given = SearchSetting(engine, limit)
    with CorpusDatabase(corpus, create=True) as database, show_progress() as show:

        def read(added: AddedGames) -> None:
            show(added.texts, f"{added.source}: {added.texts} games")

        found = [add_file(database, path, given, read) for path in files]
    report_result(json, found, *map(_describe_added, found))
    return int(any(added.broken or added.only_damage for added in found))


def report_status(corpus: Path, *, json: str | None) -> int:
    """``live-rate study status``; returns the exit code."""
    check_writable(json)
    with CorpusDatabase(corpus) as database:
        status = collect_status(database)
    return report_result(json, status, *_describe_status(status))


def collect_status(database: CorpusDatabase) -> dict[str, Any]:
    """Return counts and all problems: what ``study status --json`` writes."""
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
            each | {"results": (each.pop("result"), each.pop("other_result"))}
            for each in disputed
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


def merge_corpus(corpus: Path, other: Path, *, json: str | None) -> int:
    """``live-rate study merge``; returns the exit code: 1 when a setting was
    refused.
    """
    check_writable(json)
    with CorpusDatabase(other) as source, CorpusDatabase(corpus, create=True) as target:
        merged = merge_corpora(target, source)
    lines = (f"left out: {reason}" for reason in merged.refused)
    brought = f"{merged.games} games new, results of {merged.results} games added"
    report_result(json, merged, brought, *lines)
    return int(bool(merged.refused))


def write_moves(corpus: Path, setting: int | None) -> int:
    """``live-rate study moves``: bring the Parquet files up to date; returns the exit
    code.
    """
    with CorpusDatabase(corpus) as database:
        number, chosen = choose_setting(database, setting)
        files = update_move_files(database, number)
    print_line(
        f"{chosen}: {len(files)} files in {corpus}-moves/setting-{number}", Console()
    )
    return 0


def write_alliot_database(corpus: Path, setting: int | None, target: str) -> int:
    """``live-rate study alliot``: every searched game in Alliot's format; returns the
    exit code.
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
    """Return the setting asked for, or the only one there is.

    Raises InputError when that says nothing: results of two settings are never pooled.
    """
    known = database.read_settings()
    fitting = [each for each in known.items() if setting in (None, each[0])]
    if len(fitting) == 1:
        return fitting[0]
    if not known:
        remedy = f"Search it: live-rate study run {database.path}"
        raise InputError(str(database.path), "holds no evaluation", remedy)
    listed = "; ".join(f"{number}: {each}" for number, each in known.items())
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
    parts += [f"{n} {what}" for what, n in counts.items() if n]
    parts += [f"not read to its end ({added.broken})"] if added.broken else []
    return f"{added.source}: {', '.join(parts)}"


def _describe_status(status: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{status['games']} games of {status['players']} players at {status['events']}"
        f" events, {status['first_year'] or '?'} to {status['last_year'] or '?'}"
    )
    missing = {"date": "a date", "rating": "both ratings", "result": "a result"}
    yield ", ".join(
        f"{status[f'without_{key}']} without {what}" for key, what in missing.items()
    )
    for each in status["settings"]:
        setting = SearchSetting(
            each["engine"], each["limit"], each["lines"], each["version"]
        )
        searched = f"{each['games']} games searched, {each['left']} left"
        yield f"setting {each['setting']}: {setting}: {searched}"
    for name in status["unfinished"]:
        yield f"not read to its end: {name}; add it again"
    for each in status["disputed"][:_NAMED]:
        yield (
            f"two results, so none counts: {each['white']} - {each['black']} "
            f"({each['date'] or 'no date'}): {' and '.join(each['results'])}"
        )
    for each in status["damaged"][:_NAMED]:
        yield "damaged: {source}, game {text}: {game}: {problem}".format(**each)
    more = sum(max(0, len(status[key]) - _NAMED) for key in ("disputed", "damaged"))
    if more:
        yield f"and {more} more; written as JSON, all are named"


# --- searches -------------------------------------------------------------------------

#: Seconds between two lines that say how far it has come, where there is no terminal.
_LINE_S = 10.0


@contextmanager
def show_progress(total: int | None = None) -> Iterator[Callable[[int, str], None]]:
    """Show how many are done: as a bar on a terminal, otherwise as a line every ten
    seconds; on standard error.
    """
    console = Console(stderr=True)
    shown_s = time.monotonic()
    with build_progress_bar(console) as bar:
        task = bar.add_task("", total=total)

        def show(done: int, line: str) -> None:
            nonlocal shown_s
            bar.update(task, completed=done, description=line)
            if not console.is_terminal and time.monotonic() - shown_s >= _LINE_S:
                shown_s = time.monotonic()
                print_line(line, console)

        yield show


Ask = Callable[[Search, int], Awaitable[SearchResult | SearchFailure]]
"""Has a search made; of two the one with the lower number comes first."""


async def search_game(
    game: NumberedGame, options: SearchOptions, ask: Ask, *, retrograde: bool = False
) -> tuple[SearchedGame, str]:
    """Search every position; return the results, and for people why a position could
    not be searched, empty if all were. ``retrograde``: from the last position to the
    first (Alliot 2017, section 2.3).
    """
    over = _score_final_position(game)
    failures: list[str] = []

    async def find(search: Search, ply: int) -> SearchResult | None:
        result = await ask(search, len(game.moves) - ply if retrograde else ply)
        if isinstance(result, SearchFailure):
            failures.append(result.reason)
            return None
        return result

    async def position(ply: int) -> PositionSearch | None:
        here = Position(game.start_fen, game.moves[:ply], game.chess960)
        whole = await find(options.search_of_position(here), ply)
        if whole is None:
            return None
        played = None
        if ply < len(game.moves) and game.moves[ply] != whole.best:
            played = await find(
                options.search_of_move(here, game.moves[ply], whole.depth), ply
            )
        return PositionSearch(
            build_move_search(whole),
            whole.best,
            None if played is None else build_move_search(played),
            tuple((line.move, line.score.cp) for line in whole.lines),
        )

    positions = await asyncio.gather(
        *map(position, range(len(game.moves) + (over is None)))
    )
    end = [] if over is None else [PositionSearch(over)]
    return SearchedGame((*positions, *end)), next(iter(failures), "")


def _score_final_position(game: NumberedGame) -> MoveSearch | None:
    """Return the score of the last position if the game is over there."""
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
        """Games to search, searched, and with a position that no engine could
        search.
        """
        self.searches = 0
        """Answered in this run, by an engine or from earlier searches."""
        self.show: Callable[[int, str], None] = lambda done, line: None
        self._database = database
        self._options = options
        self._retrograde = retrograde
        self._asked: dict[
            tuple[Hashable, Search], asyncio.Future[SearchResult | SearchFailure]
        ]
        self._asked = {}
        self._began_s = self._committed_s = time.monotonic()

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self.searches += 1
        self.show(self.done, str(self))
        answer = self._asked.pop((owner, search))
        # A run that was stopped has cancelled it while the engine was searching.
        if not answer.cancelled():
            answer.set_result(result)

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        """Ignore progress within a search."""

    async def run(self, room: EnginePool, setting: int, wanted: Sequence[int]) -> None:
        """Search these games. Raises the first error met while storing a result."""
        self.left = len(wanted)
        games = iter(wanted)

        async def work() -> None:
            for number in games:
                ask = partial(self._ask, room, number)
                game = self._database.read_game(number)
                found, failed = await search_game(
                    game, self._options, ask, retrograde=self._retrograde
                )
                self.left = self.left - 1
                self.done = self.done + 1
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
        """Describe the progress."""
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
    most: int | None,
    retrograde: bool,
    only: Sequence[int] | None = None,
) -> int:
    """``live-rate study run``; returns the exit code. Ctrl-C ends it with what is done
    kept. ``only``: these games in their order, where not all.

    Raises:
        InputError: no such corpus, or its disk is full.
        EngineError: no engine.
    """
    log_to_stderr(config.log.level)
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
            number = choose_setting_to_search(database, setting)
            database.commit()
            wanted = find_missing_games(
                database, number, most if only is None else None
            )
            if only is not None:
                missing = set(wanted)
                wanted = [game for game in only if game in missing][:most]
            with (
                stop_on_signals(stop) as came,
                show_progress(len(wanted)) as searcher.show,
            ):
                await run_until_stopped(
                    searcher.run(service.room, number, wanted), stop
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
    return derive_exit_code(came)


def choose_setting_to_search(database: CorpusDatabase, setting: SearchSetting) -> int:
    """Return the number under which results of this setting are kept: its own, or else
    that of results from files, which name engine, limit and lines but no version. So
    what files bring is not searched again.
    """
    numbers = {known: number for number, known in database.read_settings().items()}
    given = msgspec.structs.replace(setting, version="")
    if setting not in numbers and given in numbers:
        return numbers[given]
    return database.add_setting(setting)


def find_missing_games(
    database: CorpusDatabase, setting: int, most: int | None
) -> list[int]:
    """Return the numbers of games without results, in the order they were added: eight
    bytes each.
    """
    rows = database.execute(
        "SELECT game FROM games WHERE NOT EXISTS (SELECT 1 FROM results WHERE"
        " results.game = games.game AND setting = ?) ORDER BY game LIMIT ?",
        (setting, -1 if most is None else most),
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
    """``live-rate study table``; returns the exit code. ``all`` writes every table to a
    folder.

    Raises:
        InputError: no such corpus, table, setting, player or event, or nothing can be
            written.
    """
    wanted = names
    if list(names) == ["all"]:
        wanted = list(TABLES)
    else:
        for name in names:
            _refuse_without_effect(name, name, selection, by)
    several = len(wanted) > 1
    if not several:
        check_writable(out)
        form = _FORMS.get(Path(out).suffix, form)
    elif out == "-":
        raise InputError("--out", "several tables need a folder", "Give --out FOLDER")
    else:
        Path(out).mkdir(parents=True, exist_ok=True)
    with _open_study_data(corpus, wanted, setting, selection) as data:
        for name in wanted:
            file = str(Path(out, f"{name}.{'txt' if form == 'text' else form}"))
            made = format_table(build_table(name, data, by), form)
            write_output(file if several else out, made.encode())
    return 0


def draw_figure(
    corpus: Path, name: str, selection: Selection, *, setting: int | None, out: Path
) -> int:
    """``live-rate study figure``; returns the exit code.

    Raises:
        InputError: as ``write_tables``.
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
    """Refuse ``--player`` and ``--top`` where they would choose nothing."""
    about = TABLES[table].about if table in TABLES else "players"
    # It is about players unless it is grouped by something else.
    if table == "regan" and by not in (None, "player"):
        about = "everybody"
    given = {
        "--player": selection.players and about == "everybody",
        "--top": selection.top and about != "players",
    }
    for flag in filter(given.get, given):
        raise InputError(
            flag, f"chooses nothing in {name}, which is about all games", "Leave it out"
        )


@contextmanager
def _open_study_data(
    corpus: Path, tables: Sequence[str], setting: int | None, selection: Selection
) -> Iterator[StudyData]:
    """Open what the tables are made from: all games, searched or not, if no table needs
    an engine.
    """
    with CorpusDatabase(corpus) as database:
        alone = all(name in TABLES and not TABLES[name].engine for name in tables)
        # No setting: no engine is asked.
        chosen: tuple[int | None, SearchSetting] = (None, SearchSetting("", ""))
        if not alone or setting is not None:
            chosen = choose_setting(database, setting)
        yield StudyData(database, *chosen, selection)
