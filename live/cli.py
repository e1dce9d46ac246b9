"""The commands. Everything heavy is imported by the command that needs it, so that ``--help``
answers at once.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from live import __version__
from live.commands import service_commands, study_commands
from live.commands.command_options import (
    SWITCH,
    ClusterFlag,
    ConfigFlag,
    DebugFlag,
    EngineFlag,
    EvalsFlag,
    HostFlag,
    JsonFileFlag,
    PortFlag,
    RunFlags,
    SearchFlags,
    grouped,
    rating_settings,
    settings_of,
)
from live.errors import ConfigError, LiveRateError

app = typer.Typer(
    name="live-rate",
    help=(
        "Follow live chess games and see how strong each player is playing, move by move, as a "
        "perceived Elo rating with its 95 % interval.\n\n"
        "Try it without network, account or engine of your own: live-rate --feed demo"
    ),
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"live-rate {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
@grouped
def follow(
    context: typer.Context,
    *,
    feed: Annotated[
        list[str] | None,
        typer.Option(
            "--feed",
            metavar="URL",
            help="What to follow; may be repeated. 'demo', a lichess broadcast URL, the URL or "
            "path of a PGN, - for standard input, or plugin+NAME:ADDRESS.",
        ),
    ] = None,
    headless: Annotated[
        bool,
        typer.Option(
            "--headless", metavar=SWITCH, help="No terminal dashboard: one line per event."
        ),
    ] = False,
    plain: Annotated[
        bool,
        typer.Option("--plain", metavar=SWITCH, help="A plain table in the terminal, no keys."),
    ] = False,
    json: Annotated[
        bool,
        typer.Option("--json", metavar=SWITCH, help="Print every message as a line of JSON."),
    ] = False,
    once: Annotated[
        bool,
        typer.Option("--once", metavar=SWITCH, help="End when all games are over and analysed."),
    ] = False,
    delay: Annotated[
        str | None,
        typer.Option(
            "--delay",
            metavar="TIME",
            help="Hold back what the public sees, moves and scores alike: 90, 90s, 15m, 1h.",
        ),
    ] = None,
    host: HostFlag = None,
    port: PortFlag = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public", metavar=SWITCH, help="Let whoever reaches the address read, without token."
        ),
    ] = False,
    hide_scores: Annotated[
        bool,
        typer.Option(
            "--hide-scores",
            metavar=SWITCH,
            help="Serve moves, clocks and results only: for venues.",
        ),
    ] = False,
    journal: Annotated[
        str | None,
        typer.Option(
            "--journal",
            metavar="FILE",
            help="Where everything is kept over restarts; else a file for these sources.",
        ),
    ] = None,
    no_journal: Annotated[
        bool,
        typer.Option("--no-journal", metavar=SWITCH, help="Keep nothing over a restart."),
    ] = False,
    search: SearchFlags,
    cluster: ClusterFlag = None,
    run_flags: RunFlags,
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar=SWITCH, callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Follow live chess games and see how strong each player is playing."""
    if context.invoked_subcommand is not None:
        return
    if not feed:
        typer.echo(context.get_help())
        raise ConfigError(
            "--feed", "nothing to follow", "Say what, for example: live-rate --feed demo"
        )
    if journal and no_journal:
        raise ConfigError("--journal", "is given with --no-journal", "Leave one of them out")
    from live.service.process import HangupSignals

    hangups = HangupSignals.of_service(headless=headless, json=json)
    load = partial(
        rating_settings,
        search,
        run_flags,
        journal__enabled=False if no_journal else True if journal else None,
        journal__file=journal,
        feeds__delay_s=delay,
        server__host=host,
        server__port=port,
        server__public=public or None,
        server__hide_scores=hide_scores or None,
        engine__cluster=cluster,
    )
    settings = load()
    from live.app import StartAgain, run
    from live.app import follow as follow_feeds
    from live.config import find_config_file

    again = StartAgain(load, find_config_file(run_flags.config, os.environ), hangups)
    following = follow_feeds(
        settings, feed, headless=headless, once=once, plain=plain, json=json, again=again
    )
    raise typer.Exit(run(following))


@app.command()
@grouped
def analyze(
    pgn: Annotated[list[Path], typer.Argument(metavar="PGN...", help="Files to analyse.")],
    *,
    evals: EvalsFlag = "engine",
    json: JsonFileFlag = None,
    pgn_out: Annotated[
        Path | None, typer.Option("--pgn", metavar="FILE", help="Write the games annotated.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a report to print.")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FOLDER", help="Write plies, curves and players as CSV."),
    ] = None,
    arbiter: Annotated[
        bool,
        typer.Option("--arbiter", metavar=SWITCH, help="Add screening figures to the report."),
    ] = False,
    search: SearchFlags,
    cluster: ClusterFlag = None,
    run_flags: RunFlags,
) -> None:
    """Rate the players of finished games: the same figures as live, from PGN files."""
    settings = rating_settings(search, run_flags, engine__cluster=cluster)
    from live.app import run
    from live.jobs.analyze_games import analyze as analyze_files

    code = run(
        analyze_files(
            settings,
            pgn,
            evals=evals,
            json=json,
            pgn=pgn_out,
            html=html,
            csv=csv,
            arbiter=arbiter,
        )
    )
    raise typer.Exit(code)


@app.command()
def doctor(
    overlays: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ADDRESS]...", help="Addresses of overlays, to look at, too."),
    ] = None,
    engine: EngineFlag = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Address to check.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="N", help="Port to check.")] = None,
    config: ConfigFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Check that everything is in place: engine and its speed, port, settings, versions."""
    from live.app import run
    from live.jobs.doctor import examine

    raise typer.Exit(
        run(
            examine(
                lambda: settings_of(
                    config, server__host=host, server__port=port, engine__path=engine
                ),
                overlays or (),
            )
        )
    )


study_commands.add_to(app)
service_commands.add_to(app)


def main() -> None:
    """Entry point: one readable line for what goes wrong, a traceback only with ``--debug``."""
    try:
        app()
    except LiveRateError as error:
        if "--debug" in sys.argv:
            raise
        typer.echo(f"live-rate: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        from live.service.program_output import end_for_want_of_room

        end_for_want_of_room(error)
