"""The commands. Everything heavy is imported by the command that needs it, so that ``--help``
answers at once.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from live import __version__
from live.commands import service_commands, study_commands
from live.commands.command_options import (
    ClusterFlag,
    ConfigFlag,
    Ended,
    EngineFlag,
    EvalsFlag,
    JsonFlag,
    RunFlags,
    SearchFlags,
    SettingFlags,
    argument,
    command,
    option,
    rating_settings,
    settings_of,
    switch,
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


@dataclasses.dataclass(frozen=True)
class ServiceFlags(SettingFlags):
    """What a service shows whom, and keeps."""

    delay: Annotated[
        str | None,
        option(
            "TIME",
            "Hold back what the public sees, moves and scores alike: 90, 90s, 15m, 1h.",
        ),
        "feeds.delay_s",
    ] = None
    host: Annotated[
        str | None, option("ADDRESS", "Address to serve on (127.0.0.1)."), "server.host"
    ] = None
    port: Annotated[
        int | None,
        option("N", "Port to serve on (8765); 0 takes any free one."),
        "server.port",
    ] = None
    public: Annotated[
        bool,
        switch("Let whoever reaches the address read, without token."),
        "server.public",
    ] = False
    hide_scores: Annotated[
        bool,
        switch("Serve moves, clocks and results only: for venues."),
        "server.hide_scores",
    ] = False
    journal: Annotated[
        str | None,
        option(
            "FILE",
            "Where everything is kept over restarts; else a file for these sources.",
        ),
        "journal.file",
    ] = None
    no_journal: Annotated[bool, switch("Keep nothing over a restart.")] = False

    @property
    def settings(self) -> dict[str, object]:
        """What was given, by dotted key."""
        if self.journal and self.no_journal:
            raise ConfigError("--journal", "is given with --no-journal", "Leave one of them out")
        given = super().settings
        if self.journal or self.no_journal:
            given["journal.enabled"] = not self.no_journal
        return given


def follow(
    context: typer.Context,
    *,
    feed: Annotated[
        list[str] | None,
        option(
            "URL",
            "What to follow; may be repeated. 'demo', a lichess broadcast URL, the URL or "
            "path of a PGN, - for standard input, or plugin+NAME:ADDRESS.",
        ),
    ] = None,
    headless: Annotated[bool, switch("No terminal dashboard: one line per event.")] = False,
    plain: Annotated[bool, switch("A plain table in the terminal, no keys.")] = False,
    json: Annotated[bool, switch("Print every message as a line of JSON.")] = False,
    once: Annotated[bool, switch("End when all games are over and analysed.")] = False,
    service: ServiceFlags,
    search: SearchFlags,
    cluster: ClusterFlag = None,
    run_flags: RunFlags,
    version: Annotated[
        bool,
        switch("Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> Ended:
    """Follow live chess games and see how strong each player is playing."""
    if context.invoked_subcommand is not None:
        return None
    if not feed:
        typer.echo(context.get_help())
        raise ConfigError(
            "--feed", "nothing to follow", "Say what, for example: live-rate --feed demo"
        )
    from live.service.process import HangupSignals

    hangups = HangupSignals.of_service(headless=headless, json=json)
    given = service.settings | {"engine.cluster": cluster}
    load = partial(rating_settings, search, run_flags, given)
    settings = load()
    from live.app import StartAgain
    from live.app import follow as follow_feeds
    from live.config import find_config_file

    again = StartAgain(load, find_config_file(run_flags.config, os.environ), hangups)
    return follow_feeds(
        settings, feed, headless=headless, once=once, plain=plain, json=json, again=again
    )


def analyze(
    files: Annotated[list[Path], argument("PGN...", "Files to analyse.")],
    *,
    evals: EvalsFlag = "engine",
    json: JsonFlag = None,
    pgn: Annotated[Path | None, option("FILE", "Write the games annotated.")] = None,
    html: Annotated[Path | None, option("FILE", "Write a report to print.")] = None,
    csv: Annotated[Path | None, option("FOLDER", "Write plies, curves and players as CSV.")] = None,
    arbiter: Annotated[bool, switch("Add screening figures to the report.")] = False,
    search: SearchFlags,
    cluster: ClusterFlag = None,
    run_flags: RunFlags,
) -> Ended:
    """Rate the players of finished games: the same figures as live, from PGN files."""
    settings = rating_settings(search, run_flags, {"engine.cluster": cluster})
    from live.jobs.analyze_games import analyze as analyze_files

    return analyze_files(
        settings, files, evals=evals, json=json, pgn=pgn, html=html, csv=csv, arbiter=arbiter
    )


def doctor(
    overlays: Annotated[
        list[str] | None, argument("[ADDRESS]...", "Addresses of overlays, to look at, too.")
    ] = None,
    engine: EngineFlag = None,
    host: Annotated[str | None, option("ADDRESS", "Address to check.")] = None,
    port: Annotated[int | None, option("N", "Port to check.")] = None,
    config: ConfigFlag = None,
) -> Ended:
    """Check that everything is in place: engine and its speed, port, settings, versions."""
    from live.jobs.doctor import examine

    given = {"server.host": host, "server.port": port, "engine.path": engine}
    return examine(lambda: settings_of(config, given), overlays or ())


app.callback(invoke_without_command=True)(command(follow))
for each in (analyze, doctor, *study_commands.COMMANDS, *service_commands.COMMANDS):
    app.command()(command(each))
app.add_typer(study_commands.study)


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
        from live.service.process import end_for_want_of_room

        end_for_want_of_room(error)
