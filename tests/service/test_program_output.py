"""The log, and standard output on a disk that is full."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from rich.console import Console

from live.events import EngineHealth, FeedHealth, HealthMessage
from live.publish.published_state import ClientState
from live.service.output_mode import JsonPrinter, line_printer
from live.service.program_output import REPEATED, REPEATED_S, OneLineFormatter, RepeatedLines


@pytest.fixture(params=[logging.WARNING, logging.DEBUG], ids=["plain", "debug"])
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    root = logging.getLogger()
    before = root.level
    root.setLevel(request.param)
    yield request.param
    root.setLevel(before)


def record(error: BaseException | None) -> logging.LogRecord:
    info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("live.here", logging.ERROR, "x.py", 1, "it %s", ("failed",), info)


def failure(fault: str) -> BaseException:
    try:
        if fault == "ours":
            ClientState().receive("no json")
        json.loads("{")
    except Exception as error:
        return error
    raise AssertionError


def test_an_exception_is_told_in_the_same_line(level: int) -> None:
    told = OneLineFormatter("%(name)s: %(message)s").format(record(failure("elsewhere")))
    first, *more = told.splitlines()
    if level == logging.DEBUG:
        assert first == "live.here: it failed"
        assert more[0].startswith("Traceback")
    else:
        assert first.startswith("live.here: it failed (JSONDecodeError: Expecting property name")
        assert first.endswith("; --debug shows more)")
        assert not more


def test_the_place_is_our_own_innermost_line() -> None:
    told = OneLineFormatter("%(message)s").format(record(failure("ours")))
    assert ", at live/publish/published_state.py:" in told


def test_others_get_the_record_as_it_was() -> None:
    """Handlers share a record: pytest's own, for one, shows the traceback."""
    shared = record(failure("elsewhere"))
    OneLineFormatter("%(message)s").format(shared)
    assert shared.exc_info is not None
    assert "Traceback" in logging.Formatter().format(shared)


def test_without_an_exception_there_is_nothing_to_add() -> None:
    assert OneLineFormatter("%(message)s").format(record(None)) == "it failed"
    nothing = record(None)
    nothing.exc_info = sys.exc_info()
    assert OneLineFormatter("%(message)s").format(nothing) == "it failed"


def test_a_warning_that_comes_over_and_over_is_left_out_for_a_while_and_others_are_not() -> None:
    repeated = RepeatedLines()

    def lines(count: int, at_s: float, level: int, text: str, *args: object) -> list[str]:
        made = []
        for number in range(count):
            each = logging.LogRecord("asyncio", level, "x.py", 1, text, args, None)
            each.created = at_s + number / 1e6
            if repeated.filter(each):
                made.append(each.getMessage())
        return made

    many = lines(10_000, 0.0, logging.ERROR, "socket.accept() out of system resource")
    assert len(many) == REPEATED
    assert many[-1].endswith("(more of these are left out for 60 s)")
    assert lines(3, 1.0, logging.ERROR, "another %s", "fault") == ["another fault"] * 3
    assert len(lines(10_000, 1.0, logging.INFO, "board %s moves", 1)) == 10_000
    assert len(lines(5, REPEATED_S, logging.ERROR, "socket.accept() out of system resource")) == 5
    for number in range(5_000):
        assert lines(1, 2.0, logging.WARNING, "%s", number)
    assert len(repeated._seen) <= 1_000


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
