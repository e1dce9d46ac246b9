"""The commands over many games: ``live-rate study add``, ``run``, ``status``, ``table`` and so on."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from live.commands.command_options import (
    SWITCH,
    ClusterFlag,
    DebugFlag,
    RunFlags,
    SearchFlags,
    grouped,
    rating_settings,
)

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
    from live.jobs.study_corpus import add_to_corpus

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
    from live.jobs.search_corpus import search_corpus

    searching = search_corpus(config, corpus, order=order.value, most=games, retrograde=retrograde)
    raise typer.Exit(run_async(searching))


@app.command()
def status(corpus: CorpusArgument, *, json: JsonFlag = None, debug: DebugFlag = False) -> None:
    """What a corpus holds, what is searched, and what was wrong in its files."""
    from live.jobs.study_corpus import corpus_status

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
    from live.jobs.study_corpus import merge_corpus

    raise typer.Exit(merge_corpus(corpus, other, json=json))


@app.command()
def moves(corpus: CorpusArgument, *, setting: SettingFlag = None, debug: DebugFlag = False) -> None:
    """Write every move as a row of Parquet, for pandas, R and SQL."""
    from live.jobs.study_corpus import write_moves

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
    from live.jobs.study_corpus import write_alliot_database

    raise typer.Exit(write_alliot_database(corpus, setting, target))


def add_to(parent: typer.Typer) -> None:
    """Put the commands on the command line."""
    parent.add_typer(app)
