"""The file of tokens is read again when it changes, and a broken one changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from live.errors import ConfigError
from live.publish.access.token_file import TokenFile
from live.publish.access.tokens import new_token


def entry(name: str, byte: int) -> str:
    return new_token(name, lambda size: bytes([byte]) * size)[1]


def write(path: Path, text: str, time_s: int) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (time_s, time_s))


def test_what_changed_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    write(path, entry("a", 1), 1)
    file = TokenFile(str(path))
    assert len(file.read()) == 1
    assert file.changed() is None
    write(path, entry("a", 1) + entry("b", 2), 2)
    changed = file.changed()
    assert changed is not None
    assert len(changed) == 2
    assert file.changed() is None


def test_a_broken_file_is_complained_about_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tokens.toml"
    write(path, entry("a", 1), 1)
    file = TokenFile(str(path))
    file.read()
    write(path, "[[tok", 2)
    assert file.changed() is None
    assert file.changed() is None
    path.unlink()
    assert file.changed() is None
    assert file.changed() is None
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    write(path, entry("a", 1), 3)
    assert file.changed() is not None


@pytest.mark.parametrize(("data", "complaint"), [(None, "live-rate token"), (b"\xff", "UTF-8")])
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, data: bytes | None, complaint: str
) -> None:
    path = tmp_path / "tokens.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigError, match=complaint):
        TokenFile(str(path)).read()
