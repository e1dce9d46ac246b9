"""The commands for journals: ``report``, ``replay``, ``explain``, ``forget``."""

from __future__ import annotations

import enum
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.command_options import SWITCH, DebugFlag, JsonFileFlag, OwnHostFlag, OwnPortFlag
from live.errors import ConfigError

if TYPE_CHECKING:
    from live.report.report_files import Format

JournalArgument = Annotated[
    Path, typer.Argument(metavar="JOURNAL", help="What live-rate wrote with --journal.")
]


class ReportFormat(enum.StrEnum):
    """What a report can be written as."""

    PGN = "pgn"
    CSV = "csv"
    HTML = "html"
    JSON = "json"
    NDJSON = "ndjson"


def add_to(app: typer.Typer) -> None:
    """Put these commands on the command line."""
    app.command()(report)
    app.command()(replay)
    app.command()(explain)
    app.command()(forget)


def report(
    journal: JournalArgument,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="As it stood then: 15:04, or 2026-05-01T15:04."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write files there, instead of a table here."),
    ] = None,
    format: Annotated[
        list[ReportFormat] | None,
        typer.Option("--format", help="What to write into --out; may be repeated (all)."),
    ] = None,
    alerts: Annotated[
        bool,
        typer.Option("--alerts", metavar=SWITCH, help="Add the alerts: for arbiters alone."),
    ] = False,
    json: JsonFileFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Report an event, or any moment of it, from its journal: annotated PGN, CSV, HTML, JSON, and
    NDJSON for study add.
    """
    from live.jobs.report_journal import report as write_report

    names: dict[ReportFormat, Format] = {
        ReportFormat.PGN: "pgn",
        ReportFormat.CSV: "csv",
        ReportFormat.HTML: "html",
        ReportFormat.JSON: "json",
        ReportFormat.NDJSON: "ndjson",
    }
    if format and out is None:
        raise ConfigError("--format", "is given without --out", "Say where: --out FOLDER")
    formats = [names[each] for each in format or names]
    raise typer.Exit(
        write_report(journal, at=at, folder=out, formats=formats, alerts=alerts, json=json)
    )


def replay(
    journal: JournalArgument,
    speed: Annotated[
        float,
        typer.Option("--speed", metavar="X", min=0.01, max=1e6, help="How many times as fast."),
    ] = 1.0,
    json: Annotated[
        bool,
        typer.Option("--json", metavar=SWITCH, help="Print what subscribers are sent, one a line."),
    ] = False,
    host: OwnHostFlag = "127.0.0.1",
    port: OwnPortFlag = 8765,
    public: Annotated[
        bool,
        typer.Option(
            "--public", metavar=SWITCH, help="Let whoever reaches the address read along."
        ),
    ] = False,
    debug: DebugFlag = False,
) -> None:
    """Play an event back from its journal, into overlays and pages, as it was."""
    from live.app import run
    from live.jobs.replay_journal import replay as play

    played = play(journal, speed=speed, host=host, port=port, public=public, json=json)
    raise typer.Exit(run(played))


def explain(
    journal: JournalArgument,
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="Its id, or part of the players' names.")
    ],
    ply: Annotated[int, typer.Argument(metavar="PLY", min=1, help="Half-moves from the start.")],
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write it as JSON; - prints it."),
    ] = None,
    debug: DebugFlag = False,
) -> None:
    """Explain a published rating down to its scores: searches, gains, formulas with numbers."""
    from live.jobs.report_journal import explained

    raise typer.Exit(explained(journal, game, ply, json=json))


def forget(
    journal: JournalArgument,
    player: Annotated[
        str, typer.Option("--player", metavar="NAME", help="Whose games: a name, or a FIDE id.")
    ] = "",
    older_than: Annotated[
        int,
        typer.Option("--older-than", metavar="DAYS", min=0, help="Games unchanged for so long."),
    ] = 0,
    debug: DebugFlag = False,
) -> None:
    """Delete games from a journal for good, with all that was said of them: a player's, or old
    ones. Stop the service first.
    """
    from live.store.journal import JournalLocked
    from live.store.journal_forgetting import forget as delete
    from live.store.journal_tables import ForeignDatabase

    if not player.strip() and not older_than:
        raise ConfigError("forget", "does not say what", "Give --player NAME or --older-than DAYS")
    if not journal.is_file():
        raise ConfigError(str(journal), "is not there", "Give the journal of an event")
    before_ms = round((time.time() - older_than * 86_400) * 1000) if older_than else 0
    try:
        games = delete(journal, player=player, older_than_ms=before_ms)
    except JournalLocked:
        raise ConfigError(str(journal), "is being written", "Stop the service first") from None
    except (ForeignDatabase, sqlite3.Error) as error:
        raise ConfigError(str(journal), str(error), "Give a journal that is whole") from None
    typer.echo(f"{games} {'game' if games == 1 else 'games'} deleted.")
