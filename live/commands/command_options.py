"""The options that several commands share, and the settings they make. Loads nothing heavy.

Options that always come together are the fields of one frozen dataclass, and a command under
:func:`grouped` takes it as one argument. An option that stands for a setting has its dotted key
beside it: what is given there goes before the environment and the file.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

if TYPE_CHECKING:
    from live.config import Config


def option(flag: str, metavar: str, help: str, **bounds: float) -> Any:
    """An option with a value, and what it may be at least (``min``) and at most (``max``)."""
    return typer.Option(flag, metavar=metavar, help=help, **bounds)  # type: ignore[arg-type]


def switch(flag: str, help: str, **more: Any) -> Any:
    """An option without a value: a blank name of one, or help would show ``<bool>``."""
    return typer.Option(flag, metavar=" ", help=help, **more)


def argument(metavar: str, help: str) -> Any:
    """An argument."""
    return typer.Argument(metavar=metavar, help=help)


EngineFlag = Annotated[
    str | None,
    option("--engine", "PATH", "A UCI engine, or 'embedded'; else the first one found."),
    "engine.path",
]
EnginesFlag = Annotated[
    int | None,
    option("--engines", "N", "How many engine processes run (one for each processor).", min=1),
    "engine.engines",
]
ClusterFlag = Annotated[
    str | None, option("--cluster", "ADDRESS", "A Dask scheduler whose workers search for us.")
]
ConfigFlag = Annotated[
    Path | None, option("--config", "FILE", "Settings; see config.toml for every key.")
]
DebugFlag = Annotated[bool, switch("--debug", "Show tracebacks and log everything.", is_eager=True)]
EvalsFlag = Annotated[
    Literal["engine", "pgn"],
    typer.Option(help="Search with an engine, or take the [%eval] comments of the PGN."),
]
#: Of commands that write all they found.
JsonFileFlag = Annotated[
    str | None, option("--json", "FILE", "Write everything as JSON; - prints it.")
]
#: Of commands that serve something of their own, whatever the settings say.
OwnHostFlag = Annotated[str, option("--host", "ADDRESS", "Address to serve on.")]
OwnPortFlag = Annotated[
    int, option("--port", "N", "Port to serve on; 0 takes any free one.", min=0, max=65535)
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
        int | None,
        option("--depth", "N", "Search every position to this depth.", min=1),
        "engine.depth",
    ] = None
    nodes: Annotated[
        int | None,
        option("--nodes", "N", "Search this many nodes a position (100000).", min=1),
        "engine.nodes",
    ] = None
    movetime: Annotated[
        int | None,
        option("--movetime", "MS", "Search for this long a position.", min=1),
        "engine.movetime_ms",
    ] = None
    engines: EnginesFlag = None


@dataclasses.dataclass(frozen=True)
class RunFlags(SettingFlags):
    """How a command that rates runs: its gain, its settings, its log."""

    gain: Annotated[
        Literal["same-search", "successive"] | None,
        typer.Option("--gain", help="Which definition of gain feeds the curves (same-search)."),
        "rating.gain",
    ] = None
    config: ConfigFlag = None
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"] | None,
        typer.Option("--log-level", help="How much to log to standard error."),
        "log.level",
    ] = None
    debug: DebugFlag = False

    @property
    def settings(self) -> dict[str, object]:
        """What was given, by dotted key."""
        return super().settings | ({"log.level": "debug"} if self.debug else {})


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Show Typer the fields of each dataclass that ``command`` takes as options of their own, in
    their place, and call ``command`` with the dataclasses made of them.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {
        name: hint
        for name, hint in hints.items()
        if isinstance(hint, type) and dataclasses.is_dataclass(hint)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            fields = inspect.signature(groups[name]).parameters.values()
            known = get_type_hints(groups[name], include_extras=True)
            parameters += [
                field.replace(annotation=known[field.name], kind=inspect.Parameter.KEYWORD_ONLY)
                for field in fields
            ]
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=kind))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            fields = [field.name for field in dataclasses.fields(group)]
            given[name] = group(**{field: given.pop(field) for field in fields})
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def settings_of(config: Path | None, given: Mapping[str, object] | None = None) -> Config:
    """The settings, on top of them what was given on the command line, by dotted key."""
    from live.config import find_config_file, load_config

    return load_config(find_config_file(config, os.environ), os.environ, given or {})


def rating_settings(
    search: SearchFlags, run: RunFlags, more: Mapping[str, object] | None = None
) -> Config:
    """The settings of a command that rates, with ``more`` of its own on top."""
    return settings_of(run.config, {**search.settings, **run.settings, **(more or {})})
