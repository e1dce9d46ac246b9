"""``live-rate --feed``: the command that runs if no command is named."""

from typing import Annotated

import typer

from live import __version__
from live.commands.command_options import SERVICE, Ended, Feeds, Settings
from live.errors import ConfigError


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
            "--version",
            metavar=" ",
            help="Print the version.",
            callback=_version,
            is_eager=True,
        ),
    ] = False,
) -> Ended:
    """Follow live chess games and see how strong each player is playing.

    Options:
        feed: [URL] Source to follow; can be repeated. 'demo', an address of lichess or
            LiveChess Cloud, the URL or path of a PGN, a folder, ws:// of DGT LiveChess,
            mqtt:// of a topic, or - for standard input.
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
    from live.process.signals import has_terminal, ignore_sighup_if_headless

    # This comes before slow imports: the terminal might be closed during them.
    ignore_sighup_if_headless(headless=headless, json=json)
    config = settings.load()
    if has_terminal(headless=headless, json=json):
        # The screen opens when all this is done, which takes seconds, or longer in the
        # middle of a large round.
        starting = "restoring the games of its journal, starting the engines…"
        typer.echo(f"live-rate is starting: {starting}", err=True)
    from live.app import follow as follow_feeds

    options = {"headless": headless, "once": once, "json": json}
    return follow_feeds(config, feed, **options, load=settings.load, path=settings.path)
