"""The command that follows, and those around a service: files, sources, engines elsewhere, tokens,
journals, the manual.
"""

import enum
import os
import sqlite3
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from live import __version__
from live.commands.command_options import RUN, SEARCH, Ended, Evals, Port, Settings, Within
from live.errors import ConfigError, InputError

Protocol = Literal["lichess", "pgn-url", "folder"]
"""How ``rehearse`` sends its games."""


class Mistake(enum.StrEnum):
    """What ``rehearse`` gets wrong when asked; the names of the alerts that say so."""

    ILLEGAL_MOVE = "illegal-move"
    UNREADABLE = "unreadable"
    CLOCK_STILL = "clock-still"
    CLOCK_RISING = "clock-rising"
    FLAG = "flag"
    STALE = "stale"
    LAST_MOVE = "last-move"
    LATE_MOVE = "late-move"
    RESULT = "result"


#: What a report can be written as.
ReportFormat = enum.StrEnum("ReportFormat", "PGN CSV HTML JSON NDJSON")


Feeds = list[str] | None
"""Sources; may be repeated."""
FileSettings = Annotated[Settings, "config"]

#: The flags of a service.
SERVICE = f"delay host port public hide_scores journal no_journal {SEARCH} cluster {RUN}"


def _version(value: bool) -> None:
    if value:
        typer.echo(f"live-rate {__version__}")
        raise typer.Exit


def follow(
    context: typer.Context,
    *,
    feed: Feeds = None,
    headless: bool = False,
    json: bool = False,
    once: bool = False,
    settings: Annotated[Settings, SERVICE],
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar=" ", help="Print the version.", callback=_version, is_eager=True
        ),
    ] = False,
) -> Ended:
    """Follow live chess games and see how strong each player is playing.

    Options:
        feed: [URL] What to follow; may be repeated. 'demo', an address of lichess or LiveChess
            Cloud, the URL or path of a PGN, a folder, ws:// of DGT LiveChess, mqtt:// of a topic,
            or - for standard input.
        headless: No terminal dashboard: one line per event.
        json: Print every message as a line of JSON.
        once: End when all games are over and analysed. Keeps nothing unless a journal
            is named.
    """
    if context.invoked_subcommand is not None:
        return None
    if not feed:
        typer.echo(context.get_help())
        remedy = "Say what, for example: live-rate --feed demo"
        raise ConfigError("--feed", "nothing to follow", remedy)
    from live.process.signals import ignore_sighup_if_headless

    ignore_sighup_if_headless(headless=headless, json=json)
    config = settings.load()
    from live.app import follow as follow_feeds

    shown = {"headless": headless, "once": once, "json": json}
    return follow_feeds(config, feed, **shown, load=settings.load, path=settings.path)


def analyze(
    files: list[Path],
    *,
    evals: Evals = "engine",
    json: str | None = None,
    pgn: Path | None = None,
    html: Path | None = None,
    csv: Path | None = None,
    arbiter: bool = False,
    settings: Annotated[Settings, f"{SEARCH} cluster {RUN}"],
) -> Ended:
    """Rate the players of finished games: the same figures as live, from PGN files.

    Options:
        files: [PGN...] Files to analyse.
        pgn: [FILE] Write the games annotated.
        html: [FILE] Write a report to print.
        csv: [FOLDER] Write plies, curves and players as CSV.
        arbiter: Add screening figures to the report.
    """
    config = settings.load()
    from live.jobs.analyze_games import analyze as analyze_files

    return analyze_files(
        config, files, evals=evals, json=json, pgn=pgn, html=html, csv=csv, arbiter=arbiter
    )


def doctor(*, feed: Feeds = None, settings: Annotated[Settings, SERVICE]) -> Ended:
    """Check that everything is in place for a round: give it what live-rate will be given.

    Options:
        feed: [URL] A source that will be followed; may be repeated.
    """
    from live.jobs.doctor import examine_setup

    return examine_setup(settings.load, feed or ())


def token(
    name: str,
    *,
    arbiter: bool = False,
    metrics: bool = False,
    producer: bool = False,
    event: list[str] | None = None,
    expires: Annotated[
        datetime | None,
        typer.Option("--expires", formats=["%Y-%m-%d"], help="The last day it is valid, UTC."),
    ] = None,
) -> None:
    """Make a token that lets somebody read: its entry for server.tokens_file goes to standard
    output, the token itself, shown this once, to standard error.

    Options:
        name: Whom it is for; shown to nobody else.
        arbiter: It also shows what is for arbiters alone.
        metrics: It also reads the service's /metrics.
        producer: The boards that its overlays show are analysed first.
        event: [NAME] Only this event; may be repeated.
    """
    from datetime import UTC

    from live.server.tokens import create_token

    if not name.strip():
        raise ConfigError("NAME", "is empty", "Say whom the token is for")
    if expires is not None and expires.date() < datetime.now(UTC).date():
        raise ConfigError("--expires", f"{expires:%Y-%m-%d} is over", "Give a day to come")
    secret, entry = create_token(
        name,
        os.urandom,
        arbiter=arbiter,
        metrics=metrics,
        producer=producer,
        events=tuple(event or ()),
        expires=expires.date() if expires else None,
    )
    typer.echo(entry)
    typer.echo(f"Token for {name}, shown this once: {secret}", err=True)


async def notify_test(settings: FileSettings) -> int:
    """Send one notice to everybody in notify.urls_file and notify.arbiters_file, to see that it
    arrives.
    """
    from live.outlets.producers import Notice, notify_people, open_people

    notify = settings.load().notify
    files = {"urls_file": notify.urls_file, "arbiters_file": notify.arbiters_file}
    files = {f"notify.{name}": path for name, path in files.items() if path}
    if not files:
        raise ConfigError(
            "notify.urls_file", "is empty: nobody is notified", "Name a file of apprise addresses"
        )
    people = {setting: open_people(setting, path) for setting, path in files.items()}
    notice = Notice("live-rate", "A test: notices arrive here.")
    for setting, everybody in people.items():
        if not await notify_people(everybody, notice):
            raise ConfigError(
                setting,
                "not everybody in it could be notified",
                "See the lines above, and correct the address",
            )
    typer.echo("Everybody was notified.")
    return 0


def schema(*, http: bool = False) -> None:
    """Print what subscribers and brokers are sent, as an AsyncAPI 3 document.

    Options:
        http: The requests instead, as an OpenAPI 3.1 document.
    """
    import msgspec

    from live.server.asyncapi import describe_messages
    from live.server.routes import describe_api

    document = msgspec.json.encode(describe_api() if http else describe_messages())
    typer.echo(msgspec.json.format(document, indent=2).decode())


def systemd_unit(*, feed: Feeds = None, settings: FileSettings) -> None:
    """Print a systemd unit that runs live-rate as a service, locked up as far as it goes.

    Options:
        feed: [URL] What to follow; may be repeated.
    """
    from live.process.sd_notify import build_unit

    typer.echo(build_unit(_service_command(feed, settings.file)), nl=False)


def site(out: Path, *, broker: str, prefix: str = "live-rate") -> None:
    """Write the page and the overlays as files for any web server; viewers read from a broker.

    Options:
        out: The folder to write into.
        broker: [URL] wss://HOST:PORT/PATH, as viewers reach it.
        prefix: What its topics begin with: mqtt.prefix.
    """
    from live.server.static_site import write_site

    written = write_site(out, broker, prefix)
    size_mb = sum(each.stat().st_size for each in written) / 1e6
    typer.echo(f"{len(written)} files, {size_mb:.1f} MB, in {out}")


def _service_command(feed: Feeds, config: Path | None) -> list[str]:
    """The command line of the service, with absolute paths."""
    import shutil

    from live.sources.source_address import recognise_source

    # The one that prints this: another may be on the PATH, or none.
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own) not in ("live-rate", "live-rate.exe") or not os.access(own, os.X_OK):
        own = shutil.which("live-rate") or "/usr/local/bin/live-rate"
    command = [own, "--headless"]
    if config is not None:
        command += ["--config", str(config.resolve())]
    if not feed:
        raise ConfigError("--feed", "is not given", "Say what the service is to follow: --feed URL")
    for each in feed:
        # A mistake shows here, and not when the machine starts.
        source = recognise_source(each)
        on_disk = source.kind in ("file", "folder") and not source.forced
        # The service starts in a folder of its own.
        command += ["--feed", os.path.abspath(each) if on_disk else each]
    return command


def watch(url: str, *, json: bool = False) -> Ended:
    """Show a running service in this terminal: the same screens as where it runs.

    Options:
        url: ws://HOST:PORT of a running service; with ?token=… if it asks.
        json: Every message as a line of JSON.
    """
    from live.jobs.watch_service import watch_service

    return watch_service(url, json=json)


def rehearse(
    pgn: Path,
    *,
    as_: Protocol = "lichess",
    speed: Annotated[float, Within(0.001)] = 1.0,
    mistake: list[Mistake] | None = None,
    round: str = "",
    host: str = "127.0.0.1",
    port: Port = 0,
    to: str = "",
    linger: Annotated[float, Within(0)] = 60.0,
) -> Ended:
    """Play games back as a real broadcast: the real protocol, with the games' own clocks.

    Options:
        pgn: Finished games, best with clocks.
        as_: The protocol to play them back over.
        speed: [X] How many times as fast as played. Overlays count real seconds: 1 shows them as on
            the day.
        mistake: What an alert is for, in the middle of the first game; again for the next.
        round: [N] Only this round of the file.
        to: [FOLDER] With folder: one that stays.
        linger: [SECONDS] Stay after the last result.
    """
    from live.jobs.analyze_games import rehearse as play_back

    return play_back(
        pgn,
        as_,
        speed=speed,
        mistakes=[each.value for each in mistake or ()],
        round_name=round,
        host=host,
        port=port,
        to=to,
        linger_s=linger,
    )


def feeds(
    url: list[str],
    *,
    json: bool = False,
    timeout: Annotated[float, Within(0.1)] = 15.0,
    settings: FileSettings,
) -> Ended:
    """Report what a URL is, whether it answers, and which games it holds now.

    Options:
        url: [URL...] Sources, as after --feed.
        json: Print JSON instead of tables.
        timeout: [SECONDS] How long to wait for each.
    """
    from live.jobs.doctor import probe_feeds

    return probe_feeds(settings.load(), url, json=json, within_s=timeout)


async def worker(address: str, *, settings: Annotated[Settings, "engine engines config"]) -> int:
    """Lend this machine's engines to a live-rate that runs with --cluster.

    Engine, hash and reproducible must be set as there: a worker is asked only where its figures
    would be the same.

    Options:
        address: The Dask scheduler, as tcp://HOST:8786.
    """
    engine = settings.load({"engine.cluster": address}).engine
    from live.engine.engine_process import find_engine
    from live.service.engine_service import uci_settings

    command = find_engine(engine.path)
    from live.engine.cluster import run_worker  # says so where Dask is missing

    typer.echo(f"lending {command.argv[-1]} ({command.how_found}) to {address}")
    await run_worker(command, uci_settings(engine), engine)
    return 0


def report(
    journal: Path,
    *,
    at: str | None = None,
    out: Path | None = None,
    format: list[ReportFormat] | None = None,
    alerts: bool = False,
    json: str | None = None,
) -> Ended:
    """Report an event, or any moment of it, from its journal: annotated PGN, CSV, HTML, JSON, and
    NDJSON for study add.

    Options:
        journal: What live-rate wrote with --journal.
        at: [TIME] As it stood then: 15:04, or 2026-05-01T15:04.
        out: [FOLDER] Write files there, instead of a table here.
        format: What to write into --out; may be repeated (all).
        alerts: Add the alerts: for arbiters alone.
    """
    from live.jobs.recorded_event import report_event as write_report
    from live.screens.reports.report_files import Format

    if format and out is None:
        raise ConfigError("--format", "is given without --out", "Say where: --out FOLDER")
    formats = [each for each in get_args(Format) if not format or each in format]
    return write_report(journal, at=at, folder=out, formats=formats, alerts=alerts, json=json)


def explain(
    journal: Path, game: str, ply: Annotated[int, Within(1)], *, json: str | None = None
) -> Ended:
    """Explain a published rating down to its scores: searches, gains, formulas with numbers.

    Options:
        journal: What live-rate wrote with --journal.
        game: Its id, or part of the players' names.
        ply: Half-moves from the start.
    """
    from live.jobs.recorded_event import explain_rating

    return explain_rating(journal, game, ply, json=json)


def forget(journal: Path, *, player: str = "", older_than: Annotated[int, Within(0)] = 0) -> None:
    """Delete games from a journal for good, with all that was said of them: a player's, or old
    ones. Stop the service first.

    Options:
        journal: What live-rate wrote with --journal.
        player: [NAME] Whose games: a name, or a FIDE id.
        older_than: [DAYS] Games unchanged for so long.
    """
    from live.journal.journal_file import ForeignDatabase, JournalLocked, delete_games

    if not player.strip() and not older_than:
        raise ConfigError("forget", "does not say what", "Give --player NAME or --older-than DAYS")
    if not journal.is_file():
        raise ConfigError(str(journal), "is not there", "Give the journal of an event")
    before_ms = round((time.time() - older_than * 86_400) * 1000) if older_than else 0
    try:
        games = delete_games(journal, player=player, older_than_ms=before_ms)
    except JournalLocked:
        raise ConfigError(str(journal), "is being written", "Stop the service first") from None
    except (ForeignDatabase, sqlite3.Error) as error:
        raise ConfigError(str(journal), str(error), "Give a journal that is whole") from None
    typer.echo(f"{games} {'game' if games == 1 else 'games'} deleted.")


def manual(topic: str | None = None) -> None:
    """Print a page of the manual: for arbiters, producers, programs; a glossary; changes.

    Options:
        topic: Which page; without it all are listed.
    """
    from live.manual.pages import TOPICS, manual_page

    if topic is None:
        for each in TOPICS:
            typer.echo(f"{each:10} {manual_page(each).summary}")
        return
    if topic not in TOPICS:
        raise InputError(topic, "is no page of the manual", f"The pages are {', '.join(TOPICS)}")
    text = manual_page(topic).text
    if not sys.stdout.isatty():
        # A pipe wants the text, not what a screen would make of it.
        typer.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    # No boxes of black: what suits a dark terminal is hard to read on a light one.
    console = Console(theme=Theme({"markdown.code": "bold cyan"}))
    console.print(Markdown(text, code_theme="ansi_dark"), width=min(console.width, 100))


#: In the order of their help, after ``analyze`` and ``doctor``.
COMMANDS = (
    *(rehearse, feeds, worker, token, schema, systemd_unit, watch, notify_test, site),
    *(report, explain, forget, manual),
)
