"""The file of tokens is read again when it changes; one that is gone or broken lets nobody in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from live.errors import ConfigError
from live.publish.access import GRACE_LOOKS, TokenFile, new_token


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


def gone(path: Path) -> None:
    path.unlink()


def broken(path: Path) -> None:
    write(path, "[[tok", 2)


@pytest.mark.parametrize("spoil", [gone, broken])
def test_a_file_that_is_gone_or_broken_withdraws_its_tokens_soon(
    spoil: Callable[[Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tokens.toml"
    write(path, entry("a", 1), 1)
    file = TokenFile(str(path))
    file.read()
    spoil(path)
    assert [file.changed() for _ in range(GRACE_LOOKS)] == [None] * GRACE_LOOKS
    assert f"withdrawn in {GRACE_LOOKS} s" in file.problem
    withdrawn = file.changed()
    assert withdrawn is not None and len(withdrawn) == 0
    assert "are withdrawn until" in file.problem
    assert [file.changed() for _ in range(5)] == [None] * 5
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    write(path, entry("a", 1), 3)
    back = file.changed()
    assert back is not None and len(back) == 1
    assert file.problem == "" and file.changed() is None


def test_a_file_that_is_half_written_for_a_moment_withdraws_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    write(path, entry("a", 1), 1)
    file = TokenFile(str(path))
    file.read()
    write(path, "[[tok", 2)
    assert file.changed() is None
    write(path, entry("a", 1) + entry("b", 2), 3)
    both = file.changed()
    assert both is not None and len(both) == 2
    assert [file.changed() for _ in range(2 * GRACE_LOOKS)] == [None] * 2 * GRACE_LOOKS


def test_writing_rubbish_again_and_again_gives_no_more_time(tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    write(path, entry("a", 1), 1)
    file = TokenFile(str(path))
    file.read()
    looks = []
    for number in range(GRACE_LOOKS + 1):
        write(path, "[[tok" * number + "[", number + 2)
        looks.append(file.changed())
    assert looks[:-1] == [None] * GRACE_LOOKS and looks[-1] is not None


@pytest.mark.parametrize(("data", "complaint"), [(None, "live-rate token"), (b"\xff", "UTF-8")])
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, data: bytes | None, complaint: str
) -> None:
    path = tmp_path / "tokens.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigError, match=complaint):
        TokenFile(str(path)).read()
