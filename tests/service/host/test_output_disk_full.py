"""A full disk under standard output costs lines, and nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from rich.console import Console

from live.events import EngineHealth, FeedHealth, HealthMessage
from live.service.output_mode import JsonPrinter, line_printer

#: Takes nothing, as a full disk does.
FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk always full")


@pytest.fixture
def full() -> Iterator[TextIO]:
    file = FULL.open("w")
    yield file
    with contextlib.suppress(OSError):  # it still has what nobody took
        file.close()


def health(detail: str) -> HealthMessage:
    return HealthMessage((FeedHealth("games.pgn", "retrying", detail),), EngineHealth())


def test_lines_are_left_out_until_there_is_room_and_that_is_said_once(
    full: TextIO, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (tmp_path / "log").open("w") as log:
        console = Console(file=full)
        tell = line_printer(console)
        tell([health("first")])
        tell([health("second")])
        console.file = log
        tell([health("third")])
        tell([health("fourth")])
    lines = (tmp_path / "log").read_text().splitlines()
    assert ["third" in lines[0], "fourth" in lines[1], len(lines)] == [True, True, 2]
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert "its disk is full" in caplog.messages[0] and "Make room" in caplog.messages[0]


def test_messages_keep_their_numbers_when_some_are_left_out(full: TextIO, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        files = [full, log]
        printer = JsonPrinter(lambda text: print(text, file=files[0], flush=True))
        printer.show([health("first")])
        files.pop(0)
        printer.show([health("second")])
    assert '"seq":2' in (tmp_path / "log").read_text()


def test_other_faults_of_the_output_are_not_hidden(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        tell = line_printer(Console(file=log))
    with pytest.raises(ValueError, match="closed file"):
        tell([health("first")])
