"""The commands over many games: ``live-rate study add``, ``run``, ``table`` and so on."""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.command_options import (
    SWITCH,
    ClusterFlag,
    DebugFlag,
    GainOption,
    RunFlags,
    SearchFlags,
    grouped,
    rating_settings,
)

if TYPE_CHECKING:
    from live.studies.study_data import Selection

app = typer.Typer(
    name="study",
    help="Studies over many games: one database, searched once, tables and figures of the papers.",
    no_args_is_help=True,
)

CorpusArgument = Annotated[Path, typer.Argument(metavar="CORPUS.db", help="The database.")]
JsonFlag = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write the figures as JSON; - prints them."),
]
SettingFlag = Annotated[
    int | None,
    typer.Option("--setting", metavar="N", help="Which engine and limit, where there are several."),
]


class OrderOption(enum.StrEnum):
    """In which order games are searched."""

    AS_ADDED = "as-added"
    PLAYER = "player"
    YEAR = "year"
    SAMPLE = "sample"


class FormOption(enum.StrEnum):
    """How a table is written."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"


@dataclasses.dataclass(frozen=True)
class SelectionFlags:
    """Which games and players a table is about."""

    player: Annotated[
        list[str] | None,
        typer.Option("--player", metavar="NAME", help="A player, or part of a name; repeatable."),
    ] = None
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", min=1, help="Without --player: those with most games (20)."
        ),
    ] = None
    event: Annotated[
        list[str] | None,
        typer.Option("--event", metavar="NAME", help="Only events called so; repeatable."),
    ] = None
    first_year: Annotated[
        int | None, typer.Option("--from", metavar="YEAR", help="Only games from this year on.")
    ] = None
    last_year: Annotated[
        int | None, typer.Option("--to", metavar="YEAR", help="Only games up to this year.")
    ] = None
    min_moves: Annotated[
        int, typer.Option("--min-moves", metavar="N", help="Leave out rows on fewer moves.")
    ] = 0
    gain: Annotated[
        GainOption, typer.Option("--gain", help="Which definition of gain is studied.")
    ] = GainOption.SAME_SEARCH

    @property
    def selection(self) -> Selection:
        """As tables take it."""
        from live.studies.study_data import Selection

        return Selection(
            players=tuple(self.player or ()),
            top=self.top,
            events=tuple(self.event or ()),
            first_year=self.first_year,
            last_year=self.last_year,
            min_moves=self.min_moves,
            gain=self.gain.value,
        )


ByFlag = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="HOW",
        help="Battle royale: step, tanh, convolution, markov. regan: player, event, year, rating.",
    ),
]


@app.command()
def add(
    corpus: CorpusArgument,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="PGN or NDJSON, plain, gz, bz2, xz or zst; - reads stdin."
        ),
    ],
    *,
    engine_name: Annotated[
        str,
        typer.Option("--engine-name", help="Who gave the evaluations of an NDJSON without name."),
    ] = "given",
    limit: Annotated[
        str, typer.Option("--limit", help="Under which limit, as in '100000 nodes'.")
    ] = "as given",
    json: JsonFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Add games to a corpus: each once, damaged ones gone past; goes on after a kill."""
    from live.studies.study_corpus import add_to_corpus

    raise typer.Exit(add_to_corpus(corpus, files, engine=engine_name, limit=limit, json=json))


@app.command()
@grouped
def run(
    corpus: CorpusArgument,
    *,
    order: Annotated[
        OrderOption, typer.Option("--order", help="Which games come first.")
    ] = OrderOption.AS_ADDED,
    games: Annotated[
        int | None, typer.Option("--games", metavar="N", min=1, help="At most so many.")
    ] = None,
    lines: Annotated[
        int | None,
        typer.Option("--lines", metavar="N", min=1, help="Search N lines, for Regan and Haworth."),
    ] = None,
    retrograde: Annotated[
        bool,
        typer.Option(
            "--retrograde",
            metavar=SWITCH,
            help="From the last position to the first (with [engine] reproducible = false).",
        ),
    ] = False,
    search: SearchFlags,
    cluster: ClusterFlag = None,
    run_flags: RunFlags,
) -> None:
    """Search what a corpus lacks; nothing twice, and on from where it was stopped or killed."""
    config = rating_settings(search, run_flags, engine__cluster=cluster, engine__multipv=lines)
    from live.app import run as run_async
    from live.studies.search_corpus import search_corpus

    searching = search_corpus(config, corpus, order=order.value, most=games, retrograde=retrograde)
    raise typer.Exit(run_async(searching))


@app.command()
def status(corpus: CorpusArgument, *, json: JsonFlag = None, debug: DebugFlag = False) -> None:
    """What a corpus holds, what is searched, and what was wrong in its files."""
    from live.studies.study_corpus import corpus_status

    raise typer.Exit(corpus_status(corpus, json=json))


@app.command()
def merge(
    corpus: CorpusArgument,
    other: Annotated[Path, typer.Argument(metavar="OTHER.db", help="Whose results to take.")],
    *,
    json: JsonFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Take games and results of another corpus, where engine, limit and version agree."""
    from live.studies.study_corpus import merge_corpus

    raise typer.Exit(merge_corpus(corpus, other, json=json))


@app.command()
def moves(corpus: CorpusArgument, *, setting: SettingFlag = None, debug: DebugFlag = False) -> None:
    """Write every move as a row of Parquet, for pandas, R and SQL."""
    from live.studies.study_corpus import write_moves

    raise typer.Exit(write_moves(corpus, setting))


@app.command()
def alliot(
    corpus: CorpusArgument,
    target: Annotated[str, typer.Argument(metavar="OUT.pgn", help="A file; - prints.")],
    *,
    setting: SettingFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Write the searched games as Alliot's database of 2017 has them; study add reads them."""
    from live.studies.study_corpus import write_alliot_database

    raise typer.Exit(write_alliot_database(corpus, setting, target))


@app.command()
@grouped
def table(
    corpus: CorpusArgument,
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="As the manual lists them, or all.")
    ],
    *,
    form: Annotated[
        FormOption, typer.Option("--form", help="How it is written.")
    ] = FormOption.TEXT,
    out: Annotated[
        str,
        typer.Option("--out", metavar="FILE", help="A file, or a folder for several; - prints."),
    ] = "-",
    by: ByFlag = None,
    setting: SettingFlag = None,
    chosen: SelectionFlags,
    debug: DebugFlag = False,
) -> None:
    """A table of the papers over this corpus, with intervals and n."""
    from live.studies.tabulate_corpus import tabulate

    raise typer.Exit(
        tabulate(corpus, names, chosen.selection, setting=setting, by=by, form=form.value, out=out)
    )


@app.command()
@grouped
def figure(
    corpus: CorpusArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="As the manual lists them.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A .png or .svg.")],
    *,
    setting: SettingFlag = None,
    chosen: SelectionFlags,
    debug: DebugFlag = False,
) -> None:
    """A figure of the papers over this corpus."""
    from live.studies.tabulate_corpus import draw

    raise typer.Exit(draw(corpus, name, chosen.selection, setting=setting, out=out))


def add_to(parent: typer.Typer) -> None:
    """Put the commands on the command line."""
    parent.add_typer(app)
