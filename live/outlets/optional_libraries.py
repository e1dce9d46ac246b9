"""Import of a library that only an extra installs."""

from importlib import import_module
from typing import Any

from live.errors import ConfigError


def import_library(name: str, wanted_by: str) -> Any:
    """Import a library that is not part of every installation.

    Raises:
        ConfigError: the library is not installed; ``wanted_by`` is the setting that
            needs it.
    """
    try:
        return import_module(name)
    except ImportError:
        remedy = "pip install 'live-rate[producer]'"
        raise ConfigError(wanted_by, f"needs the library {name}", remedy) from None
