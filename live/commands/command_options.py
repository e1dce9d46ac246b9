"""The options that several commands share, and the settings they make. Loads nothing heavy.

Options that always come together are the fields of one frozen dataclass, and a command under
:func:`grouped` takes it as one argument.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

if TYPE_CHECKING:
    from live.config import Config


#: In place of a value's name: a switch has none, and without this help would show ``<bool>``.
SWITCH = " "

EngineFlag = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="PATH", help="A UCI engine, or 'embedded'; else the first one found."
    ),
]
DepthFlag = Annotated[
    int | None,
    typer.Option("--depth", metavar="N", min=1, help="Search every position to this depth."),
]
NodesFlag = Annotated[
    int | None,
    typer.Option("--nodes", metavar="N", min=1, help="Search this many nodes a position (100000)."),
]
MovetimeFlag = Annotated[
    int | None,
    typer.Option("--movetime", metavar="MS", min=1, help="Search for this long a position."),
]
EnginesFlag = Annotated[
    int | None,
    typer.Option(
        "--engines",
        metavar="N",
        min=1,
        help="How many engine processes run (one for each processor).",
    ),
]
ClusterFlag = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="A Dask scheduler whose workers search for us."
    ),
]
GainFlag = Annotated[
    Literal["same-search", "successive"] | None,
    typer.Option("--gain", help="Which definition of gain feeds the curves (same-search)."),
]
ConfigFlag = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings; see config.toml for every key."),
]
LogFlag = Annotated[
    Literal["debug", "info", "warning", "error"] | None,
    typer.Option("--log-level", help="How much to log to standard error."),
]
DebugFlag = Annotated[
    bool,
    typer.Option(
        "--debug", metavar=SWITCH, help="Show tracebacks and log everything.", is_eager=True
    ),
]
EvalsFlag = Annotated[
    Literal["engine", "pgn"],
    typer.Option(help="Search with an engine, or take the [%eval] comments of the PGN."),
]
#: Of commands that write all they found.
JsonFileFlag = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write everything as JSON; - prints it."),
]
#: Of commands that serve something of their own, whatever the settings say.
OwnHostFlag = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to serve on.")]
OwnPortFlag = Annotated[
    int,
    typer.Option(
        "--port", metavar="N", min=0, max=65535, help="Port to serve on; 0 takes any free one."
    ),
]
#: Of the service: what is not given stands in the settings.
HostFlag = Annotated[
    str | None,
    typer.Option("--host", metavar="ADDRESS", help="Address to serve on (127.0.0.1)."),
]
PortFlag = Annotated[
    int | None,
    typer.Option("--port", metavar="N", help="Port to serve on (8765); 0 takes any free one."),
]


@dataclasses.dataclass(frozen=True)
class SearchFlags:
    """Which engine searches, how much, and how many of it."""

    engine: EngineFlag = None
    depth: DepthFlag = None
    nodes: NodesFlag = None
    movetime: MovetimeFlag = None
    engines: EnginesFlag = None

    @property
    def settings(self) -> dict[str, Any]:
        """What was given, for :func:`settings_of`."""
        return {
            "engine__path": self.engine,
            "engine__depth": self.depth,
            "engine__nodes": self.nodes,
            "engine__movetime_ms": self.movetime,
            "engine__engines": self.engines,
        }


@dataclasses.dataclass(frozen=True)
class RunFlags:
    """How a command that rates runs: its gain, its settings, its log."""

    gain: GainFlag = None
    config: ConfigFlag = None
    log_level: LogFlag = None
    debug: DebugFlag = False

    @property
    def settings(self) -> dict[str, Any]:
        """What was given, for :func:`settings_of`."""
        return {
            "rating__gain": self.gain,
            "log__level": "debug" if self.debug else self.log_level,
        }


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


def settings_of(config: Path | None, **flags: Any) -> Config:
    """The settings with the flags that were given on top."""
    from live.config import find_config_file, load_config

    given = {key.replace("__", "."): value for key, value in flags.items() if value is not None}
    found = find_config_file(config, os.environ)
    return load_config(found, os.environ, given)


def rating_settings(search: SearchFlags, run: RunFlags, **flags: Any) -> Config:
    """The settings of a command that rates, with ``flags`` of its own on top."""
    return settings_of(run.config, **search.settings, **run.settings, **flags)
