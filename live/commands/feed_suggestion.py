"""The commands of ``live-rate``, with advice for a source given as a command."""

import shlex
from typing import Any

from live.commands.plain_help import PlainGroup
from live.errors import ConfigError, UnknownFeed


class RootGroup(PlainGroup):
    """The commands of ``live-rate``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name.

        Raises:
            ConfigError: they name no command, but a source.
        """
        if self.get_command(ctx, args[0]) is None:
            _refuse_source(args[0])
        return super().resolve_command(ctx, args)


def _refuse_source(text: str) -> None:
    # Imported only here: the command line must start fast.
    from live.sources.source_address import recognise_source

    try:
        source = recognise_source(text)
    except UnknownFeed:
        return
    remedy = f"Did you mean --feed {shlex.quote(source.name)}?"
    raise ConfigError(source.name, "is not a command", remedy)
