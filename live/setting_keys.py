"""Settings by dotted key, as files, environment and flags name them.

A value that does not fit is refused in one line, which names what was expected.
"""

import contextlib
import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from live.errors import ConfigError
from live.settings import Config, Delay


def list_setting_types(
    section: type[msgspec.Struct], prefix: str = ""
) -> dict[str, Any]:
    """Return the type of each setting of a tree of Structs, in the order of its
    fields.
    """
    types: dict[str, Any] = {}
    for field in msgspec.structs.fields(section):
        key = prefix + field.name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            types |= list_setting_types(field.type, key + ".")
        else:
            types[key] = field.type
    return types


SETTINGS = list_setting_types(Config)
"""The type of every setting by its dotted key."""

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|m|min|h|)", re.ASCII)
_UNIT_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def parse_seconds(text: str) -> float | None:
    """Return the seconds of a duration as people write it: ``90``, ``90s``, ``15m``,
    ``1h``; None if it is none.
    """
    parsed = _DURATION.fullmatch(text.strip().lower())
    return float(parsed[1]) * _UNIT_S[parsed[2]] if parsed is not None else None


def flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values of a TOML file by dotted key, known or not.

    An empty table that does not exist is a value, too.
    """
    for name, value in tree.items():
        key = prefix + name
        if isinstance(value, dict) and value:
            yield from flatten(value, key + ".")
        elif value != {} or not _is_table(key):
            yield key, value


def nest(values: Mapping[str, object]) -> dict[str, Any]:
    """Return values by dotted key as a tree of tables."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *tables, name = key.split(".")
        table = tree
        for step in tables:
            table = table.setdefault(step, {})
        table[name] = value
    return tree


def convert_setting(
    subject: str, key: str, value: object, *, text: bool = False
) -> object:
    """Return a value as the type of ``key``.

    With ``text`` the value is read from a string, as the environment holds it; a list
    has commas between its values.

    Raises:
        ConfigError: about ``subject``: there is no such key, or the value does not fit.
    """
    if key not in SETTINGS:
        if _is_table(key):
            remedy = f"Write [{key}] and keys below"
            raise ConfigError(subject, "is a table, not a value", remedy)
        raise build_unknown_error(subject, key, SETTINGS)
    kind = SETTINGS[key]
    # An environment may hold any bytes: those that are no text come as surrogates.
    if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ConfigError(subject, "is not UTF-8 text", "Write it in UTF-8")
    if text and isinstance(value, str) and _is_list(kind):
        value = [part.strip() for part in value.split(",") if part.strip()]
    given = parse_seconds(value) if isinstance(value, str) and kind == Delay else value
    with contextlib.suppress(msgspec.ValidationError):
        converted: object = msgspec.convert(given, kind, strict=not text)
        if not isinstance(converted, float) or math.isfinite(converted):
            return converted
    expected = describe_type(msgspec.inspect.type_info(kind))
    problem = f"{_quote(value)} does not fit"
    raise ConfigError(subject, problem, f"Expected is {expected}")


def build_unknown_error(subject: str, name: str, names: Iterable[str]) -> ConfigError:
    """Return the error about a name that does not exist, with the nearest that does."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    remedy = (
        f"Did you mean {close[0]}?"
        if close
        else "config.toml in the repository lists them."
    )
    removed = "For removed settings: live-rate manual changes"
    return ConfigError(subject, "there is no such setting", f"{remedy} {removed}")


def describe_type(info: msgspec.inspect.Type) -> str:
    """Return what a setting of a type takes, for people.

    Numbers and patterns need a ``description`` in their ``msgspec.Meta``.
    """
    match info:
        case msgspec.inspect.Metadata(extra_json_schema={"description": str(words)}):
            return words
        case msgspec.inspect.UnionType(types=kinds):
            return " or ".join(map(describe_type, kinds))
        case msgspec.inspect.LiteralType(values=values):
            return " or ".join(f'"{value}"' for value in values)
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.StrType():
            return "text"
    raise TypeError(f"a setting of type {info} needs a description")


def _quote(value: object) -> str:
    # Infinity and not-a-number are null in JSON.
    is_float = isinstance(value, float)
    text = str(value) if is_float else msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."


def _is_table(key: str) -> bool:
    return any(setting.startswith(key + ".") for setting in SETTINGS)


def _is_list(kind: Any) -> bool:
    info = msgspec.inspect.type_info(kind)
    while isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    return isinstance(info, msgspec.inspect.VarTupleType)
