"""Reads settings: flags > environment (``LIVE_RATE_…``) > ``config.toml`` > defaults.

An unknown key or a value of the wrong type is rejected in one line that names the key.
The environment variable of a setting is its dotted key in capitals
(``feeds.lichess.base_url``: ``LIVE_RATE_FEEDS_LICHESS_BASE_URL``).
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from live.commands.removed_settings import REMOVED_SETTINGS, drop_removed_settings
from live.errors import ConfigError
from live.setting_keys import (
    SETTINGS,
    build_unknown_error,
    convert_setting,
    flatten,
    nest,
)
from live.settings import Config, EngineConfig
from live.user_files import read_text

_ENV_PREFIX = "LIVE_RATE_"
_ENV_CONFIG_FILE = "LIVE_RATE_CONFIG"
"""Environment variable that names the settings file; not a setting itself."""

_LIMITS = ("engine.nodes", "engine.depth", "engine.movetime_ms")
"""Settings that limit a search; exactly one of them applies."""

_PATH = "Correct the path (--config FILE, or LIVE_RATE_CONFIG)"


def find_config_file(flag: Path | None, env: Mapping[str, str]) -> Path | None:
    """Return the settings file to read; None if there is none.

    It is the first of: ``--config``, ``$LIVE_RATE_CONFIG``, ``./config.toml``, the
    user's own file. The first two are returned even if there is no such file, so that
    the mistake is reported. The user's own is ``live-rate/config.toml`` in the
    platform's folder for settings (``~/.config`` on Linux).
    """
    if flag is not None:
        return flag
    if named_path := env.get(_ENV_CONFIG_FILE):
        return Path(named_path)
    if (local_path := Path("config.toml")).is_file():
        return local_path
    # Imported only here: the command line must start fast.
    import platformdirs

    users = platformdirs.user_config_path("live-rate") / "config.toml"
    return users if users.is_file() else None


def read_settings(
    path: Path | None,
    env: Mapping[str, str],
    overrides: Mapping[str, object],
    flags: Mapping[str, str] = {},
) -> Config:
    """Read and check all settings.

    Args:
        path: the file, or None for no file (see :func:`find_config_file`).
        env: the environment; only variables that begin with ``LIVE_RATE_`` count.
        overrides: values set on the command line, by dotted key; None means not set.
        flags: flags of the command line, by the dotted key that they set; errors name
            the flag instead of the key.

    Raises:
        ConfigError: a key or value cannot be used; names the file or variable, the key,
            what was expected, and a remedy.
    """
    merged: dict[str, object] = {}
    for origin, layer, names in (
        (str(path), _read_file(path) if path is not None else {}, {}),
        ("environment", _read_environment(env), {}),
        ("command line", _convert_flags(overrides, flags), flags),
    ):
        limits = [key for key in _LIMITS if layer.get(key)]
        if len(limits) > 1:
            named = [names.get(key, key) for key in limits]
            subject = f"{origin}: {' and '.join(named)}"
            raise ConfigError(subject, "a search has one limit", "Set one of them")
        if limits:
            # A limit replaces a limit of another kind that comes from a source of lower
            # priority.
            merged |= dict.fromkeys(_LIMITS, 0)
        merged |= layer
    config = msgspec.convert(nest(merged), Config)
    _check_engine(config.engine)
    return config


def build_variable(key: str) -> str:
    """Return the environment variable of a dotted key."""
    return _ENV_PREFIX + key.replace(".", "_").upper()


def _read_file(path: Path) -> dict[str, object]:
    text = read_text(str(path), path, _PATH)
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # The file is not TOML, contains too long a number, or is nested too deeply.
        problem = f"is not valid TOML: {error}"
        remedy = "Put text in quotes, but not true or false"
        raise ConfigError(str(path), problem, remedy) from None
    settings = drop_removed_settings(str(path), dict(flatten(tree)))
    layer = {
        key: convert_setting(f"{path}: {key}", key, value)
        for key, value in settings.items()
    }
    # The repository's config.toml contains every key, so its default for nodes must
    # give way if the file also sets a depth or a time.
    is_default = layer.get("engine.nodes") == EngineConfig().nodes
    if is_default and any(map(layer.get, _LIMITS[1:])):
        del layer["engine.nodes"]
    return layer


def _read_environment(env: Mapping[str, str]) -> dict[str, object]:
    """Return the settings of the environment, by dotted key.

    Raises:
        ConfigError: a variable names no setting, or its value does not fit.
    """
    keys = {build_variable(key): key for key in (*SETTINGS, *REMOVED_SETTINGS)}
    texts: dict[str, object] = {}
    for name, text in env.items():
        if not name.startswith(_ENV_PREFIX) or name == _ENV_CONFIG_FILE:
            continue
        if name not in keys:
            names = map(build_variable, SETTINGS)
            raise build_unknown_error(f"environment: {name}", name, names)
        texts[keys[name]] = text
    layer = drop_removed_settings("environment", texts, build_variable)
    return {
        key: convert_setting(
            f"environment: {build_variable(key)}", key, text, text=True
        )
        for key, text in layer.items()
    }


def _convert_flags(
    overrides: Mapping[str, object], flags: Mapping[str, str]
) -> dict[str, object]:
    return {
        key: convert_setting(
            flags.get(key, f"command line: {key}"),
            key,
            value,
            text=isinstance(value, str),
        )
        for key, value in overrides.items()
        if value is not None
    }


def _check_engine(engine: EngineConfig) -> None:
    """Check that valid settings do not contradict each other.

    Raises:
        ConfigError: two settings contradict each other.
    """
    if not (engine.nodes or engine.depth or engine.movetime_ms):
        raise ConfigError(
            "engine.nodes",
            "0 leaves a search without limit",
            f"Set one of {', '.join(_LIMITS)}",
        )
    if engine.adaptive and engine.depth:
        raise ConfigError(
            "engine.adaptive",
            "a search to a depth cannot end before it",
            "Set engine.nodes or engine.movetime_ms instead of engine.depth, or"
            " adaptive to false",
        )
    if engine.reproducible and engine.threads > 1:
        raise ConfigError(
            "engine.threads",
            "several threads never give the same score twice",
            "Set engine.threads to 1 (and engine.engines higher), or"
            " engine.reproducible to false",
        )
