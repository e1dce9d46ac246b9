"""``live-rate plugins``: each plugin, and whether it can be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from live.config import PluginsConfig
from live.jobs.doctor import list_plugins
from tests.plugins.made_plugins import PluginFolder

GOOD = "class Plugin:\n    def alerts(self, game):\n        return []\n"


@pytest.mark.slow
async def test_what_is_installed_is_listed_and_what_is_used_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    folder = PluginFolder(tmp_path, monkeypatch)
    folder.add("good", "alerts", GOOD)
    folder.add("idle", "alerts", GOOD)
    assert await list_plugins(PluginsConfig(use=("good",))) == 0
    folder.add("broken", "methods", "raise ImportError")
    assert await list_plugins(PluginsConfig(use=("good", "broken"))) == 2
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    for line in (
        "good alerts good 1.0 used",
        "idle alerts idle 1.0 not used",
        "broken methods broken 1.0 cannot be loaded: raised ImportError",
    ):
        assert line.split() in rows


async def test_without_plugins_it_says_where_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert await list_plugins(PluginsConfig()) == 0
    assert "live-rate manual plugins" in capsys.readouterr().out
