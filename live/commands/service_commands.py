"""The commands around a running service: ``token``, ``schema``, ``systemd-unit``, ``watch``,
``plugins``.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from live.commands.command_options import SWITCH, ConfigFlag, settings_of


def add_to(app: typer.Typer) -> None:
    """Put these commands on the command line."""
    app.command()(token)
    app.command()(schema)
    app.command("systemd-unit")(systemd_unit)
    app.command()(watch)
    app.command("notify-test")(notify_test)
    app.command()(site)
    app.command()(plugins)


def token(
    name: Annotated[str, typer.Argument(help="Whom it is for; shown to nobody else.")],
    arbiter: Annotated[
        bool,
        typer.Option("--arbiter", metavar=SWITCH, help="It also shows what is for arbiters alone."),
    ] = False,
    metrics: Annotated[
        bool,
        typer.Option("--metrics", metavar=SWITCH, help="It also reads the service's /metrics."),
    ] = False,
    producer: Annotated[
        bool,
        typer.Option(
            "--producer",
            metavar=SWITCH,
            help="The boards that its overlays show are analysed first.",
        ),
    ] = False,
    event: Annotated[
        list[str] | None,
        typer.Option("--event", metavar="NAME", help="Only this event; may be repeated."),
    ] = None,
    expires: Annotated[
        datetime | None,
        typer.Option("--expires", formats=["%Y-%m-%d"], help="The last day it is valid, UTC."),
    ] = None,
) -> None:
    """Make a token that lets somebody read: its entry for server.tokens_file goes to standard
    output, the token itself, shown this once, to standard error.
    """
    from datetime import UTC

    from live.errors import ConfigError
    from live.publish.access.tokens import new_token

    if not name.strip():
        raise ConfigError("NAME", "is empty", "Say whom the token is for")
    if expires is not None and expires.date() < datetime.now(UTC).date():
        raise ConfigError("--expires", f"{expires:%Y-%m-%d} is over", "Give a day to come")
    secret, entry = new_token(
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


def notify_test(config: ConfigFlag = None) -> None:
    """Send one notice to everybody in notify.urls_file and notify.arbiters_file, to see that it
    arrives.
    """
    import asyncio

    from live.errors import ConfigError
    from live.producer.notice_rules import Notice
    from live.producer.notifier import open_people, send_to

    settings = settings_of(config).notify
    files = {"urls_file": settings.urls_file, "arbiters_file": settings.arbiters_file}
    files = {f"notify.{name}": path for name, path in files.items() if path}
    if not files:
        raise ConfigError(
            "notify.urls_file", "is empty: nobody is notified", "Name a file of apprise addresses"
        )
    people = {setting: open_people(setting, path) for setting, path in files.items()}
    notice = Notice("live-rate", "A test: notices arrive here.")
    for setting, everybody in people.items():
        if not asyncio.run(send_to(everybody, notice)):
            raise ConfigError(
                setting,
                "not everybody in it could be notified",
                "See the lines above, and correct the address",
            )
    typer.echo("Everybody was notified.")


def plugins(config: ConfigFlag = None) -> None:
    """List the plugins that are installed, which of them the settings use, and whether each of
    these can be loaded.
    """
    from live.app import run
    from live.jobs.list_plugins import list_plugins

    raise typer.Exit(run(list_plugins(settings_of(config).plugins)))


def schema(
    http: Annotated[
        bool,
        typer.Option(
            "--http", metavar=SWITCH, help="The requests instead, as an OpenAPI 3.1 document."
        ),
    ] = False,
) -> None:
    """Print what subscribers and brokers are sent, as an AsyncAPI 3 document."""
    import msgspec

    from live.publish.schema.asyncapi import asyncapi
    from live.publish.schema.openapi import openapi

    document = msgspec.json.encode(openapi() if http else asyncapi())
    typer.echo(msgspec.json.format(document, indent=2).decode())


def systemd_unit(
    feed: Annotated[
        list[str] | None,
        typer.Option("--feed", metavar="URL", help="What to follow; may be repeated."),
    ] = None,
    config: ConfigFlag = None,
) -> None:
    """Print a systemd unit that runs live-rate as a service, locked up as far as it goes."""
    from live.service.systemd import unit

    typer.echo(unit(_service_command(feed, config)), nl=False)


def site(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write into.")],
    broker: Annotated[
        str,
        typer.Option("--broker", metavar="URL", help="wss://HOST:PORT/PATH, as viewers reach it."),
    ],
    prefix: Annotated[
        str, typer.Option("--prefix", help="What its topics begin with: mqtt.prefix.")
    ] = "live-rate",
) -> None:
    """Write the page and the overlays as files for any web server; viewers read from a broker."""
    from live.publish.static_site import write_site

    written = write_site(out, broker, prefix)
    size_mb = sum(each.stat().st_size for each in written) / 1e6
    typer.echo(f"{len(written)} files, {size_mb:.1f} MB, in {out}")


def _service_command(feed: list[str] | None, config: Path | None) -> list[str]:
    """The command line of the service, with absolute paths."""
    import shutil

    from live.errors import ConfigError
    from live.feeds.source_address import recognise

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
        source = recognise(each)
        on_disk = source.kind in ("file", "folder") and not source.forced
        # The service starts in a folder of its own.
        command += ["--feed", os.path.abspath(each) if on_disk else each]
    return command


def watch(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="ws://HOST:PORT of a running service; with ?token=… if it asks."
        ),
    ],
    plain: Annotated[
        bool, typer.Option("--plain", metavar=SWITCH, help="A plain table, without keys.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", metavar=SWITCH, help="Every message as a line of JSON.")
    ] = False,
) -> None:
    """Show a running service in this terminal: the same screens as where it runs."""
    from live.app import run
    from live.jobs.watch_service import watch as watch_service

    raise typer.Exit(run(watch_service(url, plain=plain, json=json)))
