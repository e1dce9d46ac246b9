"""Settings as dotted keys: which there are, what each takes, and one clear line where it does not.

Knows no setting by name; :mod:`live.config` holds those. Reads a file, nothing else.
"""

from __future__ import annotations

import difflib
import logging
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from live.errors import ConfigError

log = logging.getLogger(__name__)

Port = Annotated[int, msgspec.Meta(ge=0, le=65535, description="a port from 0 to 65535")]
Count = Annotated[int, msgspec.Meta(ge=0, le=10**12, description="a whole number, 0 or more")]
Positive = Annotated[int, msgspec.Meta(ge=1, le=10**12, description="a whole number above 0")]
ClusterUrl = Annotated[
    str,
    msgspec.Meta(
        pattern="^((tcp|tls|ws|wss)://[^/]|$)",
        description="a Dask scheduler's address with tcp:// or tls://, or empty",
    ),
]
Lines = Annotated[int, msgspec.Meta(ge=1, le=256, description="a whole number from 1 to 256")]
HashSize = Annotated[int, msgspec.Meta(ge=1, le=2**20, description="megabytes, 1 to 1048576")]
Nice = Annotated[int, msgspec.Meta(ge=0, le=19, description="a whole number from 0 to 19")]
Elo = Annotated[int, msgspec.Meta(ge=0, le=5000, description="an Elo rating from 0 to 5000")]
Seconds = Annotated[float, msgspec.Meta(gt=0, description="seconds, above 0")]
Charset = Annotated[
    str,
    msgspec.Meta(
        pattern="^[A-Za-z0-9_.:-]{0,40}$", description="a charset such as cp1251, or empty"
    ),
]
Delay = Annotated[
    float,
    msgspec.Meta(
        ge=0, le=86_400, description='seconds up to 86400, or "90s", "15m", "1h"; 0 for none'
    ),
]
Rounds = Annotated[
    tuple[str, ...], msgspec.Meta(description='a list of rounds, such as ["7", "8", "9"]')
]
Hours = Annotated[
    float, msgspec.Meta(ge=0, le=87_600, description="hours, 0 for never, up to 87600")
]
SocketUrl = Annotated[
    str,
    msgspec.Meta(pattern="^(wss?://[^/]|$)", description="a URL with ws:// or wss://, or empty"),
]
Weight = Annotated[float, msgspec.Meta(ge=0, le=1, description="a number from 0 to 1")]
Names = Annotated[tuple[str, ...], msgspec.Meta(description='a list such as ["Carlsen, Magnus"]')]
PluginName = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_.-]{1,60}$")]
PluginNames = Annotated[
    tuple[PluginName, ...],
    msgspec.Meta(description='a list of names of letters, digits, . _ and -, such as ["pairings"]'),
]
Factor = Annotated[float, msgspec.Meta(gt=0, description="a number above 0")]
Host = Annotated[str, msgspec.Meta(min_length=1, description="a host name or address")]
Hosts = Annotated[
    tuple[str, ...], msgspec.Meta(description='a list of host names, such as ["chess.example.org"]')
]
Origin = Annotated[str, msgspec.Meta(pattern="^(null|https?://[^/]+)$")]
Origins = Annotated[
    tuple[Origin, ...],
    msgspec.Meta(description='a list of origins, such as ["https://example.org"] or ["null"]'),
]
Frame = Annotated[str, msgspec.Meta(pattern=r"^https?://[A-Za-z0-9.*:\[\]-]+$")]
Frames = Annotated[
    tuple[Frame, ...],
    msgspec.Meta(description='a list of origins, such as ["https://example.org"]'),
]
HttpUrl = Annotated[
    str, msgspec.Meta(pattern="^https?://[^/]", description="a URL with http:// or https://")
]
HttpUrlOrNone = Annotated[
    str,
    msgspec.Meta(
        pattern="^(https?://[^/]|$)", description="a URL with http:// or https://, or empty"
    ),
]

BrokerUrl = Annotated[
    str,
    msgspec.Meta(
        pattern="^(mqtts?://([^/:@]+@)?([^/:@\\[\\]]+|\\[[^/@]+\\])(:[0-9]{1,5})?/?|)$",
        description="mqtt://[USER@]HOST[:PORT] or mqtts://… without a password, or empty",
    ),
]
TopicPrefix = Annotated[
    str,
    msgspec.Meta(
        pattern="^[^/+#$\\x00]([^+#\\x00]*[^/+#\\x00])?$", description="a topic without + and #"
    ),
]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Common strictness of all sections."""


_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|m|min|h|)", re.ASCII)
_UNIT_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def seconds_of(text: str) -> float | None:
    """Seconds as people write them: ``90``, ``90s``, ``15m``, ``1h``; None where it is none."""
    found = _DURATION.fullmatch(text.strip().lower())
    return float(found[1]) * _UNIT_S[found[2]] if found is not None else None


class GoneSetting(NamedTuple):
    """A setting of the version before, ignored for this one."""

    key: str
    instead: str
    """What takes its place, for people."""
    values: tuple[str, ...] = ()
    """Only these values have gone; empty: all."""


Gone = Sequence[GoneSetting]
Types = Mapping[str, Any]
"""The type of every setting by its dotted key (``feeds.lichess.base_url``)."""


def setting_types(section: type[msgspec.Struct], prefix: str = "") -> dict[str, Any]:
    """Every setting of a tree of Structs, in the order of its fields."""
    types: dict[str, Any] = {}
    for field in msgspec.structs.fields(section):
        key = prefix + field.name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            types |= setting_types(field.type, key + ".")
        else:
            types[key] = field.type
    return types


def flat(tree: Mapping[str, Any], types: Types, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The values of a TOML file by dotted key, known or not; an unknown empty table is one too."""
    for name, value in tree.items():
        key = prefix + name
        if isinstance(value, dict) and value:
            yield from flat(value, types, key + ".")
        elif value != {} or not _is_table(key, types):
            yield key, value


def nested(values: Mapping[str, object]) -> dict[str, Any]:
    """Values by dotted key as a tree of tables."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *tables, name = key.split(".")
        table = tree
        for step in tables:
            table = table.setdefault(step, {})
        table[name] = value
    return tree


def checked(subject: str, key: str, value: object, types: Types, *, text: bool = False) -> object:
    """``value`` as the type of ``key``, or ConfigError about ``subject``.

    With ``text`` the value is read from a string, as the environment holds it; a list has commas
    between its values.
    """
    if key not in types:
        if _is_table(key, types):
            raise ConfigError(subject, "is a table, not a value", f"Write [{key}] and keys below")
        raise unknown(subject, key, types)
    if isinstance(value, str) and not value.isprintable() and not _is_text(value):
        raise ConfigError(subject, "is not UTF-8 text", "Write it in UTF-8")
    if text and isinstance(value, str) and _is_list(types[key]):
        value = [part.strip() for part in value.split(",") if part.strip()]
    given: object = value
    if isinstance(value, str) and types[key] == Delay:
        given = seconds_of(value)
    try:
        converted = msgspec.convert(given, types[key], strict=not text)
    except msgspec.ValidationError:
        pass
    else:
        if not isinstance(converted, float) or math.isfinite(converted):
            return converted
    shown = str(value) if isinstance(value, float) else msgspec.json.encode(value).decode()
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    expected = in_words(msgspec.inspect.type_info(types[key]))
    raise ConfigError(subject, f"{shown} does not fit", f"Expected is {expected}")


def unknown(subject: str, name: str, names: Iterable[str]) -> ConfigError:
    """The error about a name that does not exist, with the nearest that does."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    remedy = f"Did you mean {close[0]}?" if close else "config.toml in the repository lists them"
    return ConfigError(subject, "there is no such setting", remedy)


_PATH = "Correct the path (--config FILE, or LIVE_RATE_CONFIG)"


def has_gone(subject: str, key: str, value: object, gone: Gone) -> bool:
    """Whether a setting has gone with the version before, which is said once here."""
    for each in gone:
        if each.key == key and (not each.values or value in each.values):
            log.warning("%s has gone and is ignored: %s", subject, each.instead)
            return True
    return False


def file_layer(path: Path, types: Types, gone: Gone = ()) -> dict[str, object]:
    """What a TOML file sets, by dotted key; what has ``gone`` is left out.

    Raises:
        ConfigError: it cannot be read, is not TOML, or sets something that does not exist or fit.
    """
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(str(path), "there is no such file", _PATH) from None
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read ({error.strerror})", _PATH) from None
    except UnicodeDecodeError:
        raise ConfigError(str(path), "is not UTF-8 text", "Save it as UTF-8") from None
    except (ValueError, RecursionError) as error:  # not TOML, too long a number, too deep
        raise ConfigError(
            str(path), f"is not valid TOML: {error}", "Text needs quotes, true and false none"
        ) from None
    return {
        key: checked(f"{path}: {key}", key, value, types)
        for key, value in flat(tree, types)
        if not has_gone(f"{path}: {key}", key, value, gone)
    }


def named_text(setting: str, path: str) -> str:
    """The text of the file that a setting names; ``~`` is the home folder.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ConfigError(
            f"{setting} {path}", f"cannot be read ({why})", "Correct the path"
        ) from None


def variable(prefix: str, key: str) -> str:
    """The environment variable of a dotted key."""
    return prefix + key.replace(".", "_").upper()


def env_layer(
    env: Mapping[str, str], prefix: str, types: Types, gone: Gone = ()
) -> dict[str, object]:
    """What the variables that begin with ``prefix`` set, by dotted key; what has ``gone`` is left
    out.

    Raises:
        ConfigError: one of them sets something that does not exist or fit.
    """
    keys = {variable(prefix, key): key for key in types}
    known = keys | {variable(prefix, each.key): each.key for each in gone}
    layer: dict[str, object] = {}
    for name, text in env.items():
        if name.startswith(prefix):
            if has_gone(f"environment: {name}", known.get(name, ""), text, gone):
                continue
            if name not in keys:
                raise unknown(f"environment: {name}", name, keys)
            layer[keys[name]] = checked(f"environment: {name}", keys[name], text, types, text=True)
    return layer


def in_words(info: msgspec.inspect.Type) -> str:
    """What a type takes. Numbers and patterns need a ``description`` in their ``msgspec.Meta``."""
    match info:
        case msgspec.inspect.Metadata(extra_json_schema={"description": str(words)}):
            return words
        case msgspec.inspect.UnionType(types=kinds):
            return " or ".join(map(in_words, kinds))
        case msgspec.inspect.LiteralType(values=values):
            return " or ".join(f'"{value}"' for value in values)
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.StrType():
            return "text"
    raise TypeError(f"a setting of type {info} needs a description")


def _is_table(key: str, types: Types) -> bool:
    return any(known.startswith(key + ".") for known in types)


def _is_list(kind: Any) -> bool:
    info = msgspec.inspect.type_info(kind)
    while isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    return isinstance(info, msgspec.inspect.VarTupleType)


def _is_text(value: str) -> bool:
    """Whether it can be written as UTF-8: what an environment holds may be any bytes."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
