"""The commands. Everything heavy is imported by the command that needs it, so that ``--help``
answers at once.
"""

import io
import sys

import typer

from live.commands import service_commands, study_commands
from live.commands.command_options import (
    GONE_COMMANDS,
    GONE_CONTEXT,
    command,
    make_gone_command,
)
from live.errors import LiveRateError

app = typer.Typer(
    name="live-rate",
    help=(
        "Follow live chess games and see how strong each player is playing, move by move, as a "
        "perceived Elo rating beside what is usual.\n\n"
        "Try it without network, account or engine of your own: live-rate --feed demo"
    ),
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback(invoke_without_command=True)(command(service_commands.follow))
for each in (
    *(service_commands.analyze, service_commands.doctor),
    *study_commands.COMMANDS,
    *service_commands.COMMANDS,
):
    app.command()(command(each))
app.add_typer(study_commands.study)
for name in GONE_COMMANDS:
    app.command(name, hidden=True, context_settings=GONE_CONTEXT)(make_gone_command(name))


def replace_unknown_characters() -> None:
    """Have output show a question mark for what its encoding does not know: on a Windows console or
    in a file of one, a sign or a name would end the command.
    """
    for stream in (sys.stdout, sys.stderr):
        # Whoever calls us may have put something else in its place.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main() -> None:
    """Entry point: one readable line for what goes wrong, a traceback only with ``--debug``."""
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
