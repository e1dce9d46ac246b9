"""What tests of plugins share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.made_plugins import PluginFolder


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginFolder:
    """Where plugins of this test are installed."""
    folder = tmp_path / "installed"
    folder.mkdir()
    return PluginFolder(folder, monkeypatch)
