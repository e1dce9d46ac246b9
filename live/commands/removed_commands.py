"""Commands and flags of versions before 0.4, each with its replacement."""

import inspect
from collections.abc import Callable
from typing import Annotated

import typer

from live.errors import ConfigError

#: Commands of versions before 0.4, each with its replacement.
REMOVED_COMMANDS = {
    "plugins": (
        "Programs of your own read the websocket, JSON or MQTT: live-rate manual"
        " programs"
    ),
    "replay": (
        "Write the games with live-rate report JOURNAL --out FOLDER --format pgn, and"
        " play that file back with live-rate rehearse"
    ),
}
#: Flags of versions before 0.4 by command, each with its replacement.
REMOVED_FLAGS = {
    "follow": {
        "plain": "--headless prints one line for each event; NO_COLOR=1 has no colours"
    },
    "watch": {
        "plain": (
            "Pipe it (| cat) for one line for each event; NO_COLOR=1 has no colours"
        )
    },
}
#: A removed command accepts any arguments, so that its own error is shown.
REMOVED_CONTEXT = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": [],
}


def build_removed_command(name: str) -> Callable[[typer.Context], None]:
    """Return a command that raises ConfigError, which names its replacement; ``name``
    is a key of :data:`REMOVED_COMMANDS`.
    """

    def refuse(context: typer.Context) -> None:
        raise ConfigError(name, "was removed in 0.4", REMOVED_COMMANDS[name])

    return refuse


def build_removed_flag(name: str, instead: str) -> inspect.Parameter:
    """Return a hidden flag that raises ConfigError if it is used; the error names its
    replacement.
    """

    def refuse(is_given: bool) -> None:
        if is_given:
            raise ConfigError(f"--{name}", "was removed in 0.4", instead)

    option = typer.Option(f"--{name}", hidden=True, is_eager=True, callback=refuse)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(
        name, kind, default=False, annotation=Annotated[bool, option]
    )
