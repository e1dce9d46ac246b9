"""Commands whose help has no types of Python beside ``--help``."""

from typing import Any

from typer.core import TyperCommand, TyperGroup


class PlainCommand(TyperCommand):
    """A command whose option ``--help`` is shown without ``<bool>``."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option, with a blank in place of its type."""
        return _hide_type(super().get_help_option(ctx))


class PlainGroup(TyperGroup):
    """A group of commands whose option ``--help`` is shown without ``<bool>``."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option, with a blank in place of its type."""
        return _hide_type(super().get_help_option(ctx))


def _hide_type(option: Any) -> Any:
    if option is not None:
        option.metavar = " "
    return option
