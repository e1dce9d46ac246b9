"""Builds the command line from functions. Imports nothing slow.

:func:`command` turns a function into a command. Parameters before the ``*`` become
arguments, those after it options of the same name. Below ``Options:`` the docstring has
a line for each parameter: its name, the name of its value in brackets, and the help.
Options that always occur together are the fields of one frozen dataclass, which the
command accepts as one parameter. A command that reads settings accepts
:class:`Settings`, annotated with the names of its flags; a flag overrides the
environment and the file.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import re
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    get_args,
    get_type_hints,
)

import typer
from typer.models import OptionInfo

from live.commands.removed_commands import REMOVED_FLAGS, build_removed_flag
from live.errors import ConfigError

if TYPE_CHECKING:
    from live.settings import Config


class Within(NamedTuple):
    """The least and the greatest allowed value of a number."""

    min: float | None = None
    max: float | None = None


Positive = Annotated[int | None, Within(1)]
Port = Annotated[int, Within(0, 65535)]
Evals = Literal["engine", "pgn"]
Gain = Literal["same-search", "successive"]
Level = Literal["debug", "info", "warning", "error"]

#: Options that several commands have: the name of the value, and the help.
_SHARED = {
    "debug": ("", "Show tracebacks and log everything."),
    "evals": ("", "Search with an engine, or take the [%eval] comments of the PGN."),
    "host": ("ADDRESS", "Address to serve on."),
    "json": ("FILE", "Write everything as JSON; - prints it."),
    "port": ("N", "Port to serve on; 0 takes any free one."),
}


class SettingFlag(NamedTuple):
    """A flag that sets a setting, or names the file of settings."""

    key: str
    """Dotted key of the setting; empty if the flag sets none."""
    kind: Any
    metavar: str
    help: str


_DELAY = "Hold back what the public sees, moves and scores alike: 90, 90s, 15m, 1h."
_JOURNAL = "Journal kept across restarts (default: a file for these sources)."
_ENGINES = (
    "How many engine processes run (one for each processor, less one for every eight)."
)
_GAIN = "Which definition of gain feeds the curves (same-search)."
SETTING_FLAGS = {
    "delay": SettingFlag("feeds.delay_s", str | None, "TIME", _DELAY),
    "host": SettingFlag(
        "server.host", str | None, "ADDRESS", "Address to serve on (127.0.0.1)."
    ),
    # A text: the settings say what does not fit better than Typer does.
    "port": SettingFlag(
        "server.port", str | None, "N", "Port to serve on (8765); 0 takes any free one."
    ),
    "public": SettingFlag(
        "server.public",
        bool,
        "",
        "Let anyone who reaches the address read, without a token.",
    ),
    "hide_scores": SettingFlag(
        "server.hide_scores",
        bool,
        "",
        "Serve moves, clocks and results only: for venues.",
    ),
    "journal": SettingFlag("journal.file", str | None, "FILE", _JOURNAL),
    "no_journal": SettingFlag("", bool, "", "Keep nothing across restarts."),
    "engine": SettingFlag(
        "engine.path",
        str | None,
        "PATH",
        "A UCI engine, or 'embedded' (default: the first one found).",
    ),
    "depth": SettingFlag(
        "engine.depth", Positive, "N", "Search every position to this depth."
    ),
    "nodes": SettingFlag(
        "engine.nodes", Positive, "N", "Search this many nodes per position (100000)."
    ),
    "movetime": SettingFlag(
        "engine.movetime_ms", Positive, "MS", "Search this long per position."
    ),
    "engines": SettingFlag("engine.engines", Positive, "N", _ENGINES),
    "cluster": SettingFlag(
        "engine.cluster",
        str | None,
        "ADDRESS",
        "A Dask scheduler whose workers run the searches.",
    ),
    "gain": SettingFlag("rating.gain", Gain | None, "", _GAIN),
    "network": SettingFlag(
        "human.network", str | None, "FILE", "Your own neural network: an ONNX file."
    ),
    "config": SettingFlag(
        "", Path | None, "FILE", "Settings; see config.toml for every key."
    ),
    "log_level": SettingFlag(
        "log.level", Level | None, "", "How much to log to standard error."
    ),
    "debug": SettingFlag("", bool, *_SHARED["debug"]),
}
SEARCH = "engine depth nodes movetime engines"
RUN = "gain config log_level debug"
#: Names of the flags of a service, separated by spaces.
SERVICE = (
    f"delay host port public hide_scores journal no_journal {SEARCH} cluster {RUN}"
)


class Settings(NamedTuple):
    """Sources of a command's settings: the file and the flags."""

    file: Path | None
    overrides: Mapping[str, object]
    """Values set on the command line, by dotted key."""

    @property
    def path(self) -> Path | None:
        """The settings file that is read, if any."""
        from live.commands.read_settings import find_config_file

        return find_config_file(self.file, os.environ)

    def load(self, extra: Mapping[str, object] = {}) -> Config:
        """Load the settings; ``extra``, values from the command itself, overrides
        them.
        """
        from live.commands.read_settings import read_settings

        flags = {
            flag.key: f"--{name.replace('_', '-')}"
            for name, flag in SETTING_FLAGS.items()
            if flag.key not in extra
        }
        overrides = {**self.overrides, **extra}
        return read_settings(self.path, os.environ, overrides, flags)

    @classmethod
    def of(cls, **flags: Any) -> Settings:
        """Return the settings that these flags set."""
        overrides = {
            key: value
            for flag, value in flags.items()
            # Compare by identity, not with "in": 0 equals False.
            if (key := SETTING_FLAGS[flag].key)
            and value is not None
            and value is not False
        }
        if flags.get("debug"):
            overrides["log.level"] = "debug"
        if flags.get("journal") or flags.get("no_journal"):
            if flags["journal"] and flags["no_journal"]:
                problem = "is given with --no-journal"
                raise ConfigError("--journal", problem, "Leave one of them out")
            overrides["journal.enabled"] = not flags["no_journal"]
        return cls(flags.get("config"), overrides)


Feeds = list[str] | None
"""Addresses of sources; the option can be repeated."""
FileSettings = Annotated[Settings, "config"]

Ended = Coroutine[Any, Any, int] | int | None
"""Return value of a command: its exit code, a coroutine that returns one, or None."""
_ABOUT = re.compile(r"^ {4}(\w+): (?:\[(.+?)\] )?(.+(?:\n {8}.+)*)", re.MULTILINE)


def command(function: Callable[..., Ended]) -> Callable[..., None]:
    """Return ``function`` as a command for Typer, with an added ``--debug``."""
    text, _, args = (inspect.getdoc(function) or "").partition("\n\nOptions:\n")
    texts = _SHARED | _parse_docstring_options(args)
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        build = hint
        options: dict[str, inspect.Parameter] = {}
        if get_args(hint)[:1] == (Settings,):
            build = Settings.of
            for flag in hint.__metadata__[0].split():
                _, kind, *help_texts = SETTING_FLAGS[flag]
                unset = False if kind is bool else None
                options[flag] = _build_parameter(
                    typer.Option, flag, kind, unset, help_texts
                )
        elif dataclasses.is_dataclass(hint):
            kinds = get_type_hints(hint, include_extras=True)
            abouts = _parse_docstring_options(inspect.getdoc(hint) or "")
            for field in dataclasses.fields(hint):
                options[field.name] = _build_parameter(
                    typer.Option,
                    field.name,
                    kinds[field.name],
                    field.default,
                    abouts[field.name],
                )
        if options:
            groups[name] = build, [*options]
        else:
            is_option = parameter.kind is parameter.KEYWORD_ONLY
            about = texts.get(name, ("", "") if is_option else None)
            kind = typer.Option if is_option else typer.Argument
            options[name] = _build_parameter(kind, name, hint, parameter.default, about)
        parameters |= options
    has_own_debug = "debug" in parameters
    parameters.setdefault(
        "debug", _build_parameter(typer.Option, "debug", bool, False, _SHARED["debug"])
    )
    removed = REMOVED_FLAGS.get(function.__name__, {})
    for name, instead in removed.items():
        parameters[name] = build_removed_flag(name, instead)

    @functools.wraps(function)
    def run(**values: Any) -> None:
        if not has_own_debug:
            values.pop("debug")
        for name in removed:
            del values[name]
        for name, (build, options) in groups.items():
            values[name] = build(**{option: values.pop(option) for option in options})
        ended = function(**values)
        if isinstance(ended, Coroutine):
            from live.process.run_main import run as run_to_the_end

            ended = run_to_the_end(ended)
        if ended is not None:
            raise typer.Exit(ended)

    # One line a paragraph: the help would keep the line breaks of the docstring.
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    run.__doc__ = "\n\n".join(paragraphs)
    run.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {
        name: parameter.annotation for name, parameter in parameters.items()
    }
    return run


def _parse_docstring_options(text: str) -> dict[str, tuple[str, str]]:
    """Read the options of a docstring; return for each parameter the name of its value
    and its help.
    """
    return {
        name: (metavar, " ".join(help.split()))
        for name, metavar, help in _ABOUT.findall(text)
    }


def _build_parameter(
    kind: Callable[..., Any], name: str, hint: Any, default: Any, about: Any
) -> inspect.Parameter:
    """Return an option or an argument as Typer expects it.

    The name of a parameter ends with ``_`` if it would be a Python keyword; the
    option's name does not.
    """
    note, *_ = getattr(hint, "__metadata__", (None,))
    if about is not None and not isinstance(note, OptionInfo):
        within = note._asdict() if isinstance(note, Within) else {}
        value = get_args(hint)[0] if within else hint
        flags: list[str] = []
        extra = within
        if kind is typer.Option:
            flags = [f"--{name.rstrip('_').replace('_', '-')}"]
            extra = {**within, "is_eager": name == "debug"}
        # The metavar of a bool is blank; otherwise the help would show ``<bool>``.
        metavar = " " if value is bool else about[0] or None
        hint = Annotated[value, kind(*flags, metavar=metavar, help=about[1], **extra)]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint
    )
