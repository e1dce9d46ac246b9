"""``live-rate plugins``: what is installed, what is used, and whether that can be loaded.

Part of the composition root.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.config import PluginsConfig
from live.plugins.installed_plugins import InstalledPlugin, installed_plugins, used_plugins
from live.plugins.plugin_process import PluginFailure, PluginProcess


async def list_plugins(config: PluginsConfig) -> int:
    """Print a line for each plugin; 0 where all that are used can be loaded, else 2.

    Raises:
        ConfigError: the settings name one that is not installed.
    """
    installed = installed_plugins()
    used = used_plugins(config.use, installed)
    console = Console(highlight=False)
    if not installed:
        console.print("No plugin is installed; live-rate manual plugins says how they are made.")
    table = Table.grid(padding=(0, 2))
    troubles = await troubles_of(used)
    for each in installed:
        said = "not used" if each not in used else troubles.get(each) or "used"
        style = "red" if each in troubles else "green" if each in used else "dim"
        table.add_row(each.name, each.kind, each.package, Text(said, style=style))
    console.print(table)
    return 2 if troubles else 0


async def troubles_of(used: Sequence[InstalledPlugin]) -> dict[InstalledPlugin, str]:
    """Which of them cannot be loaded, and why."""
    found: dict[InstalledPlugin, str] = {}
    for each in used:
        process = PluginProcess(each)
        try:
            await process.load()
        except PluginFailure as failure:
            found[each] = f"cannot be loaded: {failure}"
        finally:
            await process.close()
    return found
