"""The command line. Each command imports what it needs only when it runs, so that
``--help`` answers at once.
"""

import io
import sys

import typer

from live.commands.analyze import analyze
from live.commands.calibrate import calibrate
from live.commands.command_options import command
from live.commands.compare import compare
from live.commands.doctor import doctor
from live.commands.explain import explain
from live.commands.feed_suggestion import RootGroup
from live.commands.feeds import feeds
from live.commands.follow import follow
from live.commands.forget import forget
from live.commands.human import human
from live.commands.manual import manual
from live.commands.match import match
from live.commands.notify_test import notify_test
from live.commands.plain_help import PlainCommand
from live.commands.rank import rank
from live.commands.rehearse import rehearse
from live.commands.removed_commands import (
    REMOVED_COMMANDS,
    REMOVED_CONTEXT,
    build_removed_command,
)
from live.commands.report import report
from live.commands.schema import schema
from live.commands.site import site
from live.commands.study import study
from live.commands.systemd_unit import systemd_unit
from live.commands.token import token
from live.commands.train_human import train_human
from live.commands.watch import watch
from live.commands.worker import worker
from live.errors import LiveRateError

app = typer.Typer(
    name="live-rate",
    cls=RootGroup,
    help=(
        "Follow live chess games and see how strong each player is playing, move by"
        " move, as a "
        "perceived Elo rating beside what is usual.\n\n"
        "Try it without network, account or engine of your own: live-rate --feed demo"
    ),
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
#: Commands in the order of the help.
COMMANDS = (
    analyze,
    doctor,
    calibrate,
    compare,
    match,
    rank,
    human,
    train_human,
    rehearse,
    feeds,
    worker,
    token,
    schema,
    systemd_unit,
    watch,
    notify_test,
    site,
    report,
    explain,
    forget,
    manual,
)

app.callback(invoke_without_command=True)(command(follow))
for function in COMMANDS:
    app.command(cls=PlainCommand)(command(function))
app.add_typer(study)
for name in REMOVED_COMMANDS:
    app.command(name, hidden=True, context_settings=REMOVED_CONTEXT)(
        build_removed_command(name)
    )


def replace_unknown_characters() -> None:
    """Make the output print a question mark for each character that its encoding lacks.

    Otherwise a symbol or a name could raise an encoding error and end the command, on a
    Windows console or when the output goes to a file.
    """
    for stream in (sys.stdout, sys.stderr):
        # A caller might have replaced the stream.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main() -> None:
    """Run a command; print an error as one readable line, or as a traceback with
    ``--debug``.
    """
    replace_unknown_characters()
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
        from live.process.standard_output import exit_on_full_disk

        exit_on_full_disk(error)
