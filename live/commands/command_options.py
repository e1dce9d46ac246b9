"""How commands stand on the command line, and the options that several share. Loads nothing heavy.

A command is a function under :func:`command`. An option is called as its parameter is. Options that
always come together are the fields of one frozen dataclass, which a command takes as one argument.
A command that reads settings takes :class:`Settings` with the names of the flags that stand for
some: what is given there goes before the environment and the file.
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

from live.errors import ConfigError

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


def _text(metavar: str, help: str) -> Any:
    return Annotated[str | None, option(metavar, help)]


def _number(metavar: str, help: str, **more: Any) -> Any:
    return Annotated[int | None, option(metavar, help, **more)]


def _yes(help: str) -> Any:
    return Annotated[bool, switch(help)]


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

#: Flags that stand for a setting: its dotted key, and the option.
SETTING_FLAGS: dict[str, tuple[str, Any]] = {
    "delay": (
        "feeds.delay_s",
        _text("TIME", "Hold back what the public sees, moves and scores alike: 90, 90s, 15m, 1h."),
    ),
    "host": ("server.host", _text("ADDRESS", "Address to serve on (127.0.0.1).")),
    "port": ("server.port", _number("N", "Port to serve on (8765); 0 takes any free one.")),
    "public": (
        "server.public",
        _yes("Let whoever reaches the address read, without token."),
    ),
    "hide_scores": (
        "server.hide_scores",
        _yes("Serve moves, clocks and results only: for venues."),
    ),
    "journal": (
        "journal.file",
        _text("FILE", "Where everything is kept over restarts; else a file for these sources."),
    ),
    "no_journal": ("", _yes("Keep nothing over a restart.")),
    "engine": (
        "engine.path",
        _text("PATH", "A UCI engine, or 'embedded'; else the first one found."),
    ),
    "depth": ("engine.depth", _number("N", "Search every position to this depth.", min=1)),
    "nodes": ("engine.nodes", _number("N", "Search this many nodes a position (100000).", min=1)),
    "movetime": ("engine.movetime_ms", _number("MS", "Search for this long a position.", min=1)),
    "engines": (
        "engine.engines",
        _number("N", "How many engine processes run (one for each processor).", min=1),
    ),
    "cluster": (
        "engine.cluster",
        _text("ADDRESS", "A Dask scheduler whose workers search for us."),
    ),
    "gain": (
        "rating.gain",
        Annotated[
            Literal["same-search", "successive"] | None,
            option(None, "Which definition of gain feeds the curves (same-search)."),
        ],
    ),
    "network": ("human.network", _text("FILE", "An ONNX file, or a .pb.gz of Maia.")),
    "config": (
        "",
        Annotated[Path | None, option("FILE", "Settings; see config.toml for every key.")],
    ),
    "log_level": (
        "log.level",
        Annotated[
            Literal["debug", "info", "warning", "error"] | None,
            option(None, "How much to log to standard error."),
        ],
    ),
    "debug": ("", DebugFlag),
}
SEARCH = "engine depth nodes movetime engines"
RUN = "gain config log_level debug"


class Settings(NamedTuple):
    """Where a command's settings come from."""

    file: Path | None
    given: Mapping[str, object]
    """What the command line sets, by dotted key."""

    @property
    def path(self) -> Path | None:
        """The file that is read, if any."""
        from live.config import find_config_file

        return find_config_file(self.file, os.environ)

    def load(self, more: Mapping[str, object] = {}) -> Config:
        """The settings, with ``more`` of the command's own on top."""
        from live.config import load_config

        return load_config(self.path, os.environ, {**self.given, **more})

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> Settings:
        """What these flags set."""
        given = {
            key: value
            for flag, value in flags.items()
            if (key := SETTING_FLAGS[flag][0]) and value not in (None, False)
        }
        if flags.get("debug"):
            given["log.level"] = "debug"
        if flags.get("journal") or flags.get("no_journal"):
            if flags["journal"] and flags["no_journal"]:
                problem = "is given with --no-journal"
                raise ConfigError("--journal", problem, "Leave one of them out")
            given["journal.enabled"] = not flags["no_journal"]
        return cls(flags.get("config"), given)


Ended = Coroutine[Any, Any, int] | int | None
"""What a command gives back: its exit code, a loop's work that ends with one, or nothing."""


def command(function: Callable[..., Ended]) -> Callable[..., None]:
    """``function`` as Typer takes it: each field of a dataclass that it asks for is an option, and
    each flag of its settings, in its place; every command has ``--debug``.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        options = {name: (hint, parameter.default)}
        if get_args(hint)[:1] == (Settings,):
            flags = hint.__metadata__[0].split()
            options = {flag: (kind := SETTING_FLAGS[flag][1], _unset(kind)) for flag in flags}
            groups[name] = (Settings, flags)
        elif dataclasses.is_dataclass(hint):
            known = get_type_hints(hint, include_extras=True)
            options = {
                each.name: (known[each.name], each.default) for each in dataclasses.fields(hint)
            }
            groups[name] = (hint, [*options])
        for option_name, (kind, default) in options.items():
            parameters[option_name] = _parameter(option_name, kind, default)
    own = "debug" in parameters
    parameters.setdefault("debug", _parameter("debug", DebugFlag, False))

    @functools.wraps(function)
    def run(**given: Any) -> None:
        if not own:
            given.pop("debug")
        for name, (kind, options) in groups.items():
            flags = {each: given.pop(each) for each in options}
            given[name] = Settings.of(flags) if kind is Settings else kind(**flags)
        ended = function(**given)
        if isinstance(ended, Coroutine):
            from live.app import run as run_to_the_end

            ended = run_to_the_end(ended)
        if ended is not None:
            raise typer.Exit(ended)

    run.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in parameters.items()}
    return run


def _unset(kind: Any) -> bool | None:
    return False if get_args(kind)[0] is bool else None


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """With its option as Typer takes it."""
    if about := getattr(hint, "__metadata__", ()):
        shown = (x.shown(name) if isinstance(x, Option) else x for x in about)
        hint = Annotated[(get_args(hint)[0], *shown)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
