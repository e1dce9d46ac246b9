"""Settings by dotted key, as files, the environment and flags name them.

The error about a wrong value is one line, which says what values are allowed.
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
    """Return the type of each setting in a tree of Structs, by dotted key, in the order
    of the fields.
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
"""Type of every setting, by its dotted key."""

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|m|min|h|)", re.ASCII)
_UNIT_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def parse_seconds(text: str) -> float | None:
    """Return the seconds of a duration such as ``90``, ``90s``, ``15m`` or ``1h``; None
    if the text is not a duration.
    """
    parsed = _DURATION.fullmatch(text.strip().lower())
    return float(parsed[1]) * _UNIT_S[parsed[2]] if parsed is not None else None


def flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values of a TOML file by dotted key, whether the key is known or not.

    An empty table with an unknown name is also yielded as a value.
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
    """Convert a value to the type of the setting ``key``.

    With ``text`` the value is a string, as in the environment; the values of a list are
    separated by commas.

    Raises:
        ConfigError: there is no such setting, or the value does not fit; the error is
            about ``subject``.
    """
    if key not in SETTINGS:
        if _is_table(key):
            remedy = f"Write [{key}] and keys below"
            raise ConfigError(subject, "is a table, not a value", remedy)
        raise build_unknown_error(subject, key, SETTINGS)
    kind = SETTINGS[key]
    # The environment can contain any bytes; bytes that are not text become surrogates.
    if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ConfigError(subject, "is not UTF-8 text", "Write it in UTF-8")
    if text and isinstance(value, str) and _is_list(kind):
        value = [part.strip() for part in value.split(",") if part.strip()]
    parsed = parse_seconds(value) if isinstance(value, str) and kind == Delay else value
    with contextlib.suppress(msgspec.ValidationError):
        converted: object = msgspec.convert(parsed, kind, strict=not text)
        if not isinstance(converted, float) or math.isfinite(converted):
            return converted
    expected = describe_type(msgspec.inspect.type_info(kind))
    problem = f"{_quote(value)} does not fit"
    raise ConfigError(subject, problem, f"Expected is {expected}")


def build_unknown_error(subject: str, name: str, names: Iterable[str]) -> ConfigError:
    """Return the error about an unknown name, which suggests the most similar known
    name.
    """
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    remedy = (
        f"Did you mean {close[0]}?"
        if close
        else "config.toml in the repository lists them."
    )
    removed = "For removed settings: live-rate manual changes"
    return ConfigError(subject, "there is no such setting", f"{remedy} {removed}")


def describe_type(info: msgspec.inspect.Type) -> str:
    """Return a description of the values that a setting of this type accepts.

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
    # Infinity and not-a-number would be null in JSON.
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
