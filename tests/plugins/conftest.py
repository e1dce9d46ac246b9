"""What tests of plugins share: plugins written down for one test, as pip would leave them."""

import textwrap
from pathlib import Path

import pytest

from live.plugins.plugin_process import InstalledPlugin, installed_plugins


class PluginFolder:
    """A folder of installed packages, on the path of this test."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        patch.syspath_prepend(str(folder))

    def add(self, name: str, kind: str, code: str, package: str = "") -> InstalledPlugin:
        """A package with one plugin, its class ``Plugin``."""
        package = package or name
        (self.folder / f"{package}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        about = self.folder / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[live_rate.{kind}]\n{name} = {package}:Plugin\n")
        (found,) = [each for each in installed_plugins() if each.target == f"{package}:Plugin"]
        return found


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginFolder:
    """Where plugins of this test are installed."""
    folder = tmp_path / "installed"
    folder.mkdir()
    return PluginFolder(folder, monkeypatch)
