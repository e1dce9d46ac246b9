"""Which plugins there are, and which of them the settings mean."""

from __future__ import annotations

import pytest

from live.errors import ConfigError
from live.plugins.installed_plugins import InstalledPlugin, installed_plugins, used_plugins
from tests.plugins.made_plugins import PluginFolder


def test_plugins_are_found_and_not_imported(plugins: PluginFolder) -> None:
    found = plugins.add("loud", "alerts", "raise SystemExit('imported')")
    assert found == InstalledPlugin("live_rate.alerts", "loud", "loud:Plugin", "loud 1.0")
    assert found.kind == "alerts"
    assert found in installed_plugins()


def test_the_settings_name_what_is_used() -> None:
    both = [
        InstalledPlugin("live_rate.alerts", "clocks", "a:P", "one 1.0"),
        InstalledPlugin("live_rate.methods", "clocks", "b:P", "one 1.0"),
    ]
    other = InstalledPlugin("live_rate.feeds", "other", "c:P", "two 1.0")
    assert used_plugins([], [*both, other]) == []
    assert used_plugins(["clocks", "clocks"], [*both, other]) == both


def test_one_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"plugins\.use: no plugin nothing is installed\. live-"):
        used_plugins(["nothing"], [])


def test_two_packages_with_one_name_are_an_error() -> None:
    two = [
        InstalledPlugin("live_rate.alerts", "clocks", "a:P", "one 1.0"),
        InstalledPlugin("live_rate.alerts", "clocks", "b:P", "two 2.0"),
    ]
    with pytest.raises(ConfigError, match=r"clocks is in several packages: one 1\.0, two 2\.0\. U"):
        used_plugins(["clocks"], two)
