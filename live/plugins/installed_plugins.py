"""Which plugins are installed, and which of them the settings name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import entry_points

import msgspec

from live.errors import ConfigError
from live.plugins.interface import GROUPS, PluginGroup

_LIST_THEM = "live-rate plugins lists those that are installed"


class InstalledPlugin(msgspec.Struct, frozen=True, order=True):
    """One entry point of one of our groups."""

    group: PluginGroup
    name: str
    target: str
    """Where it lies, ``module:object``."""
    package: str
    """The package that brings it, and its version."""

    @property
    def kind(self) -> str:
        """``feeds``, ``alerts``, ``methods`` or ``exports``."""
        return self.group.partition(".")[2]


def installed_plugins() -> list[InstalledPlugin]:
    """Every plugin of this environment; none of them is imported."""
    found = {
        InstalledPlugin(
            group,
            point.name,
            point.value,
            f"{point.dist.name} {point.dist.version}" if point.dist else "",
        )
        for group in GROUPS
        for point in entry_points(group=group)
    }
    return sorted(found)


def used_plugins(
    names: Sequence[str], installed: Iterable[InstalledPlugin]
) -> list[InstalledPlugin]:
    """The plugins that ``[plugins] use`` names: all groups in which a name stands.

    Raises:
        ConfigError: one is not installed, or two packages have one of this name.
    """
    used: list[InstalledPlugin] = []
    for name in dict.fromkeys(names):
        found = [each for each in installed if each.name == name]
        if not found:
            raise ConfigError("plugins.use", f"no plugin {name} is installed", _LIST_THEM)
        for group in GROUPS:
            packages = [each.package for each in found if each.group == group]
            if len(packages) > 1:
                raise ConfigError(
                    "plugins.use",
                    f"{name} is in several packages: {', '.join(packages)}",
                    "Uninstall all but one",
                )
        used += found
    return used
