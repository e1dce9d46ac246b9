"""The options that several commands share, and the settings they make. Loads nothing heavy."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from live.config import Config


class GainOption(enum.StrEnum):
    """Which definition of gain feeds the curves."""

    SAME_SEARCH = "same-search"
    SUCCESSIVE = "successive"


class EvalsOption(enum.StrEnum):
    """Where ``analyze`` takes scores from."""

    ENGINE = "engine"
    PGN = "pgn"


class LogLevel(enum.StrEnum):
    """How much is logged to standard error."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


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
    GainOption | None,
    typer.Option("--gain", help="Which definition of gain feeds the curves (same-search)."),
]
ConfigFlag = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings; see config.toml for every key."),
]
LogFlag = Annotated[
    LogLevel | None, typer.Option("--log-level", help="How much to log to standard error.")
]
DebugFlag = Annotated[
    bool,
    typer.Option(
        "--debug", metavar=SWITCH, help="Show tracebacks and log everything.", is_eager=True
    ),
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


def settings_of(config: Path | None, **flags: Any) -> Config:
    """The settings with the flags that were given on top."""
    from live.config import find_config_file, load_config

    given = {key.replace("__", "."): value for key, value in flags.items() if value is not None}
    found = find_config_file(config, os.environ)
    return load_config(found, os.environ, given)
