"""The printed unit: systemd itself takes it, and words arrive as they were given."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from live.cli import app
from live.service.host.systemd_unit import quoted, unit


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("--headless", "--headless"),
        ("https://x.org/a?b=c&d", "https://x.org/a?b=c&d"),
        ("", '""'),
        ("a b", '"a b"'),
        ("a%20b", '"a%%20b"'),
        ("$HOME", '"$$HOME"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("back\\slash", '"back\\\\slash"'),
        ("two\nlines", '"two\\nlines"'),
        ("it's; rm -rf", '"it\'s; rm -rf"'),
    ],
)
def test_words(word: str, written: str) -> None:
    assert quoted(word) == written


@given(st.text(st.characters(min_codepoint=32)))
def test_a_word_never_ends_its_line_or_its_quotes(word: str) -> None:
    written = quoted(word)
    assert "\n" not in written
    inner = written[1:-1] if written.startswith('"') else written
    bare = inner.replace("\\\\", "").replace('\\"', "")
    assert '"' not in bare and not bare.endswith("\\")
    assert bare.replace("%%", "").count("%") == 0


def test_systemd_takes_it(require_program: Callable[..., str], tmp_path: Path) -> None:
    program = require_program("systemd-analyze", "systemd")
    text = unit([sys.executable, "--headless", "--feed", "https://x.org/r%20 1"])
    file = tmp_path / "live-rate.service"
    file.write_text(text, encoding="utf-8")
    # Old ones end well in spite of complaints, so what they say counts.
    done = subprocess.run(
        [program, "verify", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if "live-rate.service" in line]
    assert not complaints


def test_a_reload_reads_the_settings_again_and_ends_nothing() -> None:
    """``systemctl reload`` was refused, though the service hears SIGHUP."""
    assert "\nExecReload=/bin/kill -HUP $MAINPID\n" in unit(["/usr/bin/live-rate"])


def test_a_program_in_somebodys_home_can_be_read() -> None:
    assert "ProtectHome=read-only" in unit(["/home" + "/arbiter/bin/live-rate"])
    assert "ProtectHome=yes" in unit(["/usr/local/bin/live-rate"])


def test_files_are_named_whole_since_the_service_starts_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "round").mkdir()
    games, web = "./round", "https://example.org/games.pgn"
    told = CliRunner().invoke(app, ["systemd-unit", "--feed", games, "--feed", web])
    assert told.exit_code == 0
    assert f"--feed {tmp_path / games} --feed {web}" in told.output
