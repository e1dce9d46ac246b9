"""Command ``live-rate study reproduce``: the papers' tables beside the results of this
project for the same games.

A corpus is filled from files, the games that the tables need are searched, and every
printed number is put beside the computed one, for each engine and limit of which the
corpus has results. Comparisons depend only on these results, so a run that was killed
and repeated ends with the same bytes.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from live.errors import InputError
from live.messages.figures import GainKind
from live.screens.command_output import check_writable, write_output
from live.settings import Config
from live.studies.corpus_commands import add_to_corpus
from live.studies.corpus_database import CorpusDatabase
from live.studies.corpus_search import search_corpus
from live.studies.papers import (  # noqa: F401  # registers their measures
    alliot_measures,
    alliot_text_measures,
    ferreira_measures,
    other_measures,
    perceived_measures,
)
from live.studies.papers.comparison import Comparison, compare
from live.studies.papers.corpus_games import CorpusGames, ListedGame
from live.studies.papers.measures import (
    ENOUGH,
    MEASURES,
    Evidence,
    Figures,
    list_needed_games,
)
from live.studies.papers.page import BEGIN, build_csv, build_markdown, insert_tables
from live.studies.papers.picture import render_picture
from live.studies.papers.printed import PrintedPaper, PrintedTable, read_papers
from live.studies.searched_games import SearchSetting

Setting = tuple[int, SearchSetting]
PaperTable = tuple[PrintedPaper, PrintedTable]


async def reproduce(
    config: Config,
    corpus: Path,
    names: Sequence[str],
    *,
    files: Sequence[str],
    is_searching: bool,
    most_games: int | None,
    setting: int | None,
    out: Path | None,
    page: Path | None,
) -> int:
    """Fill the corpus, search, compare and write the comparisons. Return the exit code:
    the search's own if it was stopped, 1 if a file could not be read to its end,
    otherwise 0.

    ``out`` is a folder for the comparisons; ``page`` is a file whose tables are
    regenerated.

    Raises:
        InputError: there is no such table, file, corpus or setting, or nothing can be
            written.
        EngineError: there is no engine.
    """
    tables = choose_tables(names)
    check_writable(None if page is None else str(page))
    read = 0
    for file in files:
        read = max(read, add_games(corpus, file, tables))
    if is_searching:
        with CorpusDatabase(corpus) as database:
            games = list_games_to_search(
                tables, CorpusGames(database), lines=config.engine.multipv
            )
        if games:
            stopped = await search_corpus(
                config, corpus, most_games=most_games, retrograde=False, only=games
            )
            if stopped:
                return stopped
    with CorpusDatabase(corpus) as database:
        comparisons = [*compare_all(tables, database, setting)]
    write_comparisons(comparisons, out, page)
    return read


def add_games(corpus: Path, file: str, tables: Sequence[PaperTable]) -> int:
    """Add a file's games; return the exit code: 1 if the file could not be read to its
    end, otherwise 0.

    Raises:
        InputError: there is no such file, it has no readable game, or none of its games
            belongs to a table.
    """
    with CorpusDatabase(corpus, create=True) as database:
        [[last_known]] = database.execute("SELECT ifnull(max(game), 0) FROM games")
    read = add_to_corpus(corpus, [file], engine="given", limit="as given", json=None)
    with CorpusDatabase(corpus) as database:
        if not _count_readable_games(database, file):
            raise InputError(file, "has no game to read", "Name a PGN or NDJSON")
        games = CorpusGames(database)
        new = [game for game in games.games if game.game > last_known]
        needed = set[int]()
        for paper, table in tables:
            needed |= {game.game for game in list_needed_games(table, paper, games)}
        is_about_games = any(MEASURES[table.measure].gains for _, table in tables)
        if new and is_about_games and needed.isdisjoint(game.game for game in new):
            problem = _explain_no_matching_games(tables, database, new[0])
            remedy = "Name its tables, or check the tags White, Black, Event and Date"
            raise InputError(file, problem, remedy)
    return read


def _count_readable_games(database: CorpusDatabase, file: str) -> int:
    query = (
        "SELECT texts, (SELECT count(*) FROM damaged WHERE text <= texts AND"
        " damaged.source = sources.source) FROM sources WHERE name = ?"
    )
    [[texts, damaged]] = database.execute(query, (file,))
    return int(texts) - int(damaged)


def _explain_no_matching_games(
    tables: Sequence[PaperTable],
    database: CorpusDatabase,
    game: ListedGame,
) -> str:
    """Return a text that names the games that the tables need, and one game of the file
    that belongs to no table.
    """
    titles: dict[str, None] = {}
    for paper, table in tables:
        occasions = {table.at, table.than} | {row.at for row in table.rows}
        titled = sorted(occasions & paper.occasions.keys())
        titles |= {paper.occasions[name].title: None for name in titled}
    players = database.read_players()
    return (
        f"has no game of {', '.join(titles) or 'the named tables'}; one of"
        f" its games is {players[game.white]} - {players[game.black]}, event"
        f' "{game.event}", {game.year or "no year"}'
    )


def write_comparisons(
    comparisons: Sequence[Comparison], out: Path | None, page: Path | None
) -> None:
    """Write the comparisons to a folder or into a page, or to standard output if
    neither is given.

    Raises:
        InputError: the page has no place for tables, or nothing can be written.
    """
    tables = build_markdown(comparisons)
    if page is not None:
        try:
            text = page.read_text(encoding="utf-8")
        except OSError as error:
            problem = error.strerror or "cannot be read"
            raise InputError(
                str(page), problem, "Name a page that has tables"
            ) from None
        if BEGIN not in text:
            raise InputError(
                str(page), "has no place for tables", f"Put a line there: {BEGIN}"
            )
        write_output(str(page), insert_tables(text, tables).encode())
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_output(str(out / "papers.md"), tables.encode())
        write_output(str(out / "papers.csv"), build_csv(comparisons).encode())
        # The picture is left out without matplotlib, because the tables do not need it.
        if find_spec("matplotlib") and (picture := render_picture(comparisons)):
            write_output(str(out / "papers.png"), picture)
    if page is None and out is None:
        write_output("-", tables.encode())


def choose_tables(names: Sequence[str]) -> list[PaperTable]:
    """Return the tables with these names, or whose names begin with one of them and a
    hyphen; all tables if no name is given.

    Raises:
        InputError: no table matches a name.
    """
    entries = []
    for paper in read_papers():
        entries += [(paper, table) for table in paper.tables]
    known_names = [table.name for _, table in entries]
    for name in names:
        if not any(_is_table_chosen(table, [name]) for table in known_names):
            similar_names = get_close_matches(name, known_names, 3) or known_names[:1]
            prefixes = sorted({table.partition("-")[0] for table in known_names})
            remedy = (
                f"Name one, as {', '.join(similar_names)}, or all of"
                f" {', '.join(prefixes)}"
            )
            raise InputError(name, "is no table of the papers", remedy)
    return [
        entry
        for entry in entries
        if not names or _is_table_chosen(entry[1].name, names)
    ]


def _is_table_chosen(table: str, names: Sequence[str]) -> bool:
    return table in names or table.startswith(tuple(f"{name}-" for name in names))


def list_games_to_search(
    tables: Sequence[PaperTable],
    games: CorpusGames,
    *,
    lines: int,
) -> list[int]:
    """Return the numbers of the games that the tables need, table by table. Tables that
    need more than ``lines`` lines per position are left out.
    """
    numbers: dict[int, None] = {}
    for paper, table in tables:
        kind = MEASURES[table.measure]
        is_searchable = bool(kind.gains) and kind.lines <= lines
        if is_searchable and not _describe_missing_games(table, paper, games):
            for game in list_needed_games(table, paper, games):
                numbers[game.game] = None
    return [*numbers]


def compare_all(
    tables: Sequence[PaperTable],
    database: CorpusDatabase,
    setting: int | None = None,
) -> Iterator[Comparison]:
    """Yield one comparison for each table, setting and gain. For a table that cannot be
    computed, yield one comparison without figures.

    Raises:
        InputError: there is no such setting.
    """
    settings = [
        entry
        for entry in database.read_settings().items()
        if setting in (None, entry[0])
    ]
    if setting is not None and not settings:
        raise InputError("--setting", "names no setting", "See study status")
    games = CorpusGames(database)

    @cache
    def gather_evidence(
        paper: PrintedPaper, setting: Setting | None, gain: GainKind
    ) -> Evidence:
        """Return the evidence, one object for all tables: its measures are cached per
        object.
        """
        return Evidence(paper, games, database, setting, gain)

    for paper, table in tables:
        kind = MEASURES[table.measure]
        gap = _describe_missing_games(table, paper, games)
        if not kind.gains:
            figures: Figures = {}
            if not gap:
                figures = kind.make(table, gather_evidence(paper, None, "same-search"))
            yield compare(paper.paper, table, figures, missing=gap)
            continue
        made_comparisons = []
        for numbered, gain in product(settings, kind.gains):
            if not gap and numbered[1].lines >= kind.lines:
                comparison = _compare_table(
                    table, gather_evidence(paper, numbered, gain)
                )
                made_comparisons += [comparison] if comparison.rows_done else []
        if made_comparisons:
            yield from made_comparisons
        else:
            wanted = len(list_needed_games(table, paper, games))
            missing = "awaits searching" if wanted else "no such game in the corpus"
            if wanted and kind.lines > 1:
                missing += f" with {kind.lines} lines or more"
            yield compare(paper.paper, table, {}, wanted=wanted, missing=gap or missing)


def _compare_table(table: PrintedTable, evidence: Evidence) -> Comparison:
    kind = MEASURES[table.measure]
    needed = list_needed_games(table, evidence.paper, evidence.games)
    searched = evidence.choose_searched(table, needed)
    return compare(
        evidence.paper.paper,
        table,
        kind.make(table, evidence) if searched else {},
        setting=evidence.setting,
        gain=evidence.gain,
        games=len(searched),
        wanted=len(needed),
    )


def _describe_missing_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> str:
    """Return a text that lists the occasions (events or periods) of which the corpus
    has too few games; empty if it has enough of all.
    """
    gaps = []
    for name in (table.at, table.than, table.reference):
        if name:
            occasion = paper.occasions[name]
            n = len(games.list_games_of_occasion(occasion))
            if n < ENOUGH * occasion.games:
                gaps.append(
                    f"{n} of {occasion.games} games of {occasion.title} are in the"
                    " corpus"
                )
    return "; ".join(gaps)
