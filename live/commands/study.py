"""``live-rate study``: one database of many games; tables and figures of the papers."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from live.commands.command_options import (
    RUN,
    SEARCH,
    Ended,
    Gain,
    Positive,
    Settings,
    command,
)
from live.commands.plain_help import PlainCommand, PlainGroup
from live.errors import ConfigError

if TYPE_CHECKING:
    from live.studies.study_data import Selection


@dataclasses.dataclass(frozen=True)
class SelectionFlags:
    """Choice of the games and players of a table.

    Options:
        player: [NAME] A player, or part of a name; repeatable.
        top: [N] Without --player: those with most games (20).
        event: [NAME] Only events with this name; repeatable.
        from_: [YEAR] Only games from this year on.
        to: [YEAR] Only games up to this year.
        min_moves: [N] Leave out rows with fewer moves.
        gain: Definition of gain.
    """

    player: list[str] | None = None
    top: Positive = None
    event: list[str] | None = None
    from_: int | None = None
    to: int | None = None
    min_moves: int = 0
    gain: Gain = "same-search"

    @property
    def selection(self) -> Selection:
        """Return the flags as the selection from which tables are made."""
        from live.studies.study_data import Selection

        return Selection(
            players=tuple(self.player or ()),
            top=self.top,
            events=tuple(self.event or ()),
            first_year=self.from_,
            last_year=self.to,
            min_moves=self.min_moves,
            gain=self.gain,
        )


def add(
    corpus: Path,
    files: list[str],
    *,
    engine_name: str = "given",
    limit: str = "as given",
    json: str | None = None,
) -> Ended:
    """Add games to a corpus, each once; damaged ones are skipped. Can be run again
    after a kill.

    Options:
        corpus: [CORPUS.db] The database.
        files: [FILE...] PGN or NDJSON, plain, gz, bz2, xz or zst; - reads stdin.
        engine_name: Engine of the evaluations, for NDJSON that does not name it.
        limit: Limit of its searches, as in '100000 nodes'.
    """
    from live.studies.corpus_commands import add_to_corpus

    return add_to_corpus(corpus, files, engine=engine_name, limit=limit, json=json)


def run(
    corpus: Path,
    *,
    games: Positive = None,
    lines: Positive = None,
    retrograde: bool = False,
    settings: Annotated[Settings, f"{SEARCH} cluster {RUN}"],
) -> Ended:
    """Search the positions that a corpus lacks, none twice; continues where it was
    stopped or killed.

    Options:
        corpus: [CORPUS.db] The database.
        games: [N] At most so many.
        lines: [N] Search N lines, for Regan and Haworth.
        retrograde: From the last position to the first (with engine.reproducible =
            false).
    """
    config = settings.load({"engine.multipv": lines})
    from live.studies.corpus_search import search_corpus

    return search_corpus(config, corpus, most_games=games, retrograde=retrograde)


def status(corpus: Path, *, json: str | None = None) -> Ended:
    """Show what a corpus contains, what is searched, and what was wrong in its files.

    Options:
        corpus: [CORPUS.db] The database.
    """
    from live.studies.corpus_commands import report_status

    return report_status(corpus, json=json)


def merge(corpus: Path, other: Path, *, json: str | None = None) -> Ended:
    """Add the games and results of another corpus, where engine, limit and version
    agree.

    Options:
        corpus: [CORPUS.db] The database.
        other: [OTHER.db] The database to add.
    """
    from live.studies.corpus_commands import merge_corpus

    return merge_corpus(corpus, other, json=json)


def moves(corpus: Path, *, setting: int | None = None) -> Ended:
    """Write every move as a row of Parquet, for pandas, R and SQL.

    Options:
        corpus: [CORPUS.db] The database.
        setting: [N] Number of the engine and limit, if there are several.
    """
    from live.studies.corpus_commands import write_moves

    return write_moves(corpus, setting)


def alliot(corpus: Path, target: str, *, setting: int | None = None) -> Ended:
    """Write the searched games in the format of Alliot's database of 2017; study add
    reads them.

    Options:
        corpus: [CORPUS.db] The database.
        target: [OUT.pgn] A file; - prints.
        setting: [N] Number of the engine and limit, if there are several.
    """
    from live.studies.corpus_commands import write_alliot_database

    return write_alliot_database(corpus, setting, target)


def table(
    corpus: Path,
    names: list[str],
    *,
    form: Literal["text", "csv", "json"] = "text",
    out: str = "-",
    by: str | None = None,
    setting: int | None = None,
    flags: SelectionFlags,
) -> Ended:
    """Compute tables of the papers over this corpus, with intervals and n.

    Options:
        corpus: [CORPUS.db] The database.
        names: [NAME...] Names as in the manual, or all.
        form: Format of the table.
        out: [FILE] A file, or a folder for several; - prints.
        by: [HOW] Battle royale: step, tanh, convolution, markov. regan: player, event,
            year, rating.
        setting: [N] Number of the engine and limit, if there are several.
    """
    from live.studies.table_commands import write_tables

    return write_tables(
        corpus, names, flags.selection, setting=setting, by=by, form=form, out=out
    )


def figure(
    corpus: Path,
    name: str,
    out: Path,
    *,
    setting: int | None = None,
    flags: SelectionFlags,
) -> Ended:
    """Draw a figure of the papers over this corpus.

    Options:
        corpus: [CORPUS.db] The database.
        name: Name of the figure, as in the manual.
        out: A .png or .svg.
        setting: [N] Number of the engine and limit, if there are several.
    """
    from live.studies.table_commands import draw_figure

    return draw_figure(corpus, name, flags.selection, setting=setting, out=out)


def reproduce(
    corpus: Path,
    names: list[str] | None = None,
    *,
    add: list[str] | None = None,
    compare_only: bool = False,
    games: Positive = None,
    lines: Positive = None,
    setting: int | None = None,
    out: Path | None = None,
    page: Path | None = None,
    settings: Annotated[Settings, f"{SEARCH} cluster {RUN}"],
) -> Ended:
    """Compare the papers' printed numbers with those computed here from the papers' own
    games.

    Searches what the tables lack, and continues where it was stopped or killed; then
    compares all engines and limits that the corpus has.

    Options:
        corpus: [CORPUS.db] The database.
        names: [NAME...] Tables, or the beginning of their names: ferreira,
            alliot-table-5. All unless named.
        add: [FILE] Games to add first, as study add reads them; repeatable.
        compare_only: Search nothing; compare what is there.
        games: [N] Search at most so many.
        lines: [N] Search N lines, for Regan and Haworth.
        setting: [N] Compare this engine and limit alone.
        out: [FOLDER] Write papers.md, papers.csv and papers.png there, not to the
            screen.
        page: [FILE] Write the tables of this Markdown file again, between its marks.
    """
    config = settings.load({"engine.multipv": lines})
    from live.studies.reproduce import reproduce as reproduce_papers

    return reproduce_papers(
        config,
        corpus,
        names or [],
        files=add or [],
        is_searching=not compare_only,
        most_games=games,
        setting=setting,
        out=out,
        page=page,
    )


study = typer.Typer(name="study", cls=PlainGroup, no_args_is_help=True)


@study.callback()
def about() -> None:
    """Study many games: one database, searched once, gives all tables and figures."""


def check_installed() -> None:
    """Raise ConfigError if polars, which studies need, is not installed."""
    if find_spec("polars") is None:
        remedy = "Run: pip install 'live-rate[study]'"
        raise ConfigError("study", "polars is not installed", remedy)


def _check_installed_first(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command that first checks that the libraries for studies are installed.

    :func:`about` cannot check it, since it also runs before ``--help``.
    """

    @functools.wraps(run)
    def checked(**values: Any) -> None:
        check_installed()
        run(**values)

    return checked


for function in (add, run, status, merge, moves, alliot, table, figure, reproduce):
    study.command(cls=PlainCommand)(_check_installed_first(command(function)))
