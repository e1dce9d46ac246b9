"""How commands stand on the command line, and the options that several share. Loads nothing heavy.

A command is a function under :func:`command`. An option is called as its parameter is. Options that
always come together are the fields of one frozen dataclass, which a command takes as one argument.
An option that stands for a setting has its dotted key beside it: what is given there goes before
the environment and the file.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

import typer

if TYPE_CHECKING:
    from live.config import Config


class Option(NamedTuple):
    """An option of a command."""

    metavar: str | None
    """What its value is called; None: its choices are listed."""
    help: str
    flag: str = ""
    """Empty: as its parameter is called."""
    more: Mapping[str, Any] = {}

    def shown(self, name: str) -> Any:
        """As Typer takes it."""
        flag = self.flag or f"--{name.replace('_', '-')}"
        return typer.Option(flag, metavar=self.metavar, help=self.help, **self.more)


def option(metavar: str | None, help: str, flag: str = "", **more: Any) -> Option:
    """An option with a value, and what it may be at least (``min``) and at most (``max``)."""
    return Option(metavar, help, flag, more)


def switch(help: str, flag: str = "", **more: Any) -> Option:
    """An option without a value: a blank name of one, or help would show ``<bool>``."""
    return Option(" ", help, flag, more)


def argument(metavar: str, help: str) -> Any:
    """An argument."""
    return typer.Argument(metavar=metavar, help=help)


EngineFlag = Annotated[
    str | None,
    option("PATH", "A UCI engine, or 'embedded'; else the first one found."),
    "engine.path",
]
EnginesFlag = Annotated[
    int | None,
    option("N", "How many engine processes run (one for each processor).", min=1),
    "engine.engines",
]
ClusterFlag = Annotated[
    str | None, option("ADDRESS", "A Dask scheduler whose workers search for us.")
]
ConfigFlag = Annotated[Path | None, option("FILE", "Settings; see config.toml for every key.")]
DebugFlag = Annotated[bool, switch("Show tracebacks and log everything.", is_eager=True)]
EvalsFlag = Annotated[
    Literal["engine", "pgn"],
    option(None, "Search with an engine, or take the [%eval] comments of the PGN."),
]
JsonFlag = Annotated[str | None, option("FILE", "Write everything as JSON; - prints it.")]
#: Of commands that serve something of their own, whatever the settings say.
OwnHostFlag = Annotated[str, option("ADDRESS", "Address to serve on.", "--host")]
OwnPortFlag = Annotated[
    int, option("N", "Port to serve on; 0 takes any free one.", "--port", min=0, max=65535)
]


@dataclasses.dataclass(frozen=True)
class SettingFlags:
    """Options of which some stand for settings."""

    @property
    def settings(self) -> dict[str, object]:
        """What was given of those, by dotted key."""
        hints = get_type_hints(type(self), include_extras=True)
        return {
            key: value
            for name, hint in hints.items()
            for key in hint.__metadata__[1:]
            if (value := getattr(self, name)) not in (None, False)
        }


@dataclasses.dataclass(frozen=True)
class SearchFlags(SettingFlags):
    """Which engine searches, how much, and how many of it."""

    engine: EngineFlag = None
    depth: Annotated[
        int | None, option("N", "Search every position to this depth.", min=1), "engine.depth"
    ] = None
    nodes: Annotated[
        int | None,
        option("N", "Search this many nodes a position (100000).", min=1),
        "engine.nodes",
    ] = None
    movetime: Annotated[
        int | None, option("MS", "Search for this long a position.", min=1), "engine.movetime_ms"
    ] = None
    engines: EnginesFlag = None


@dataclasses.dataclass(frozen=True)
class RunFlags(SettingFlags):
    """How a command that rates runs: its gain, its settings, its log."""

    gain: Annotated[
        Literal["same-search", "successive"] | None,
        option(None, "Which definition of gain feeds the curves (same-search)."),
        "rating.gain",
    ] = None
    config: ConfigFlag = None
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"] | None,
        option(None, "How much to log to standard error."),
        "log.level",
    ] = None
    debug: DebugFlag = False

    @property
    def settings(self) -> dict[str, object]:
        """What was given, by dotted key."""
        return super().settings | ({"log.level": "debug"} if self.debug else {})


Ended = Coroutine[Any, Any, int] | int | None
"""What a command gives back: its exit code, a loop's work that ends with one, or nothing."""


def command(function: Callable[..., Ended]) -> Callable[..., None]:
    """``function`` as Typer takes it: each field of a dataclass that it asks for is an option, in
    its place, and every command has ``--debug``.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {
        name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)
    }
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            known = get_type_hints(groups[name], include_extras=True)
            for field in inspect.signature(groups[name]).parameters.values():
                parameters[field.name] = _shown(field, known[field.name])
        else:
            parameters[name] = _shown(parameter, hints[name])
    own = "debug" in parameters
    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False)
    parameters.setdefault("debug", _shown(debug, DebugFlag))

    @functools.wraps(function)
    def run(**given: Any) -> None:
        if not own:
            given.pop("debug")
        for name, group in groups.items():
            fields = [field.name for field in dataclasses.fields(group)]
            given[name] = group(**{field: given.pop(field) for field in fields})
        ended = function(**given)
        if isinstance(ended, Coroutine):
            from live.app import run as run_to_the_end

            ended = run_to_the_end(ended)
        if ended is not None:
            raise typer.Exit(ended)

    run.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in parameters.items()}
    return run


def _shown(parameter: inspect.Parameter, hint: Any) -> inspect.Parameter:
    """With its option as Typer takes it."""
    if about := getattr(hint, "__metadata__", ()):
        shown = (x.shown(parameter.name) if isinstance(x, Option) else x for x in about)
        hint = Annotated[(get_args(hint)[0], *shown)]
    return parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY)


def settings_of(config: Path | None, given: Mapping[str, object] | None = None) -> Config:
    """The settings, on top of them what was given on the command line, by dotted key."""
    from live.config import find_config_file, load_config

    return load_config(find_config_file(config, os.environ), os.environ, given or {})


def rating_settings(
    search: SearchFlags, run: RunFlags, more: Mapping[str, object] | None = None
) -> Config:
    """The settings of a command that rates, with ``more`` of its own on top."""
    return settings_of(run.config, {**search.settings, **run.settings, **(more or {})})
