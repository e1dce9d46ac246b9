"""The log on standard error: a line for an error, and not thousands of one kind."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from live.process.stderr_log import (
    REPEATED,
    REPEATED_S,
    OneLineFormatter,
    RepeatedLines,
)
from live.server.reference_client import OutOfStep, ReferenceClient


@pytest.fixture(params=[logging.WARNING, logging.DEBUG], ids=["plain", "debug"])
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    root = logging.getLogger()
    before = root.level
    root.setLevel(request.param)
    yield request.param
    root.setLevel(before)


def record(error: BaseException | None) -> logging.LogRecord:
    info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord(
        "live.here", logging.ERROR, "x.py", 1, "it %s", ("failed",), info
    )


def failure() -> BaseException:
    try:
        json.loads("{")
    except Exception as error:
        return error
    raise AssertionError


def test_an_exception_is_told_in_one_line(level: int) -> None:
    shared = record(failure())
    told = OneLineFormatter("%(name)s: %(message)s").format(shared)
    first, *more = told.splitlines()
    if level == logging.DEBUG:
        assert first == "live.here: it failed"
        assert more[0].startswith("Traceback")
    else:
        assert first.startswith(
            "live.here: it failed (json.decoder.JSONDecodeError: Expecting"
        )
        # Of our own lines the innermost is named, and no library's.
        assert (
            first.endswith("; --debug shows more)")
            and ", at " not in first
            and not more
        )
        try:
            ReferenceClient().snapshot()
        except OutOfStep:
            ours = record(None)
            ours.exc_info = sys.exc_info()
        assert ", at live/server/reference_client.py:" in OneLineFormatter().format(
            ours
        )
        nothing = record(None)
        nothing.exc_info = sys.exc_info()
        for each in (record(None), nothing):
            assert OneLineFormatter("%(message)s").format(each) == "it failed"
    # Handlers share a record: pytest's own, for one, shows the traceback.
    assert shared.exc_info is not None and "Traceback" in logging.Formatter().format(
        shared
    )


def test_a_repeated_warning_is_left_out_for_a_while_and_others_are_not() -> None:
    repeated = RepeatedLines()

    def lines(
        count: int, at_s: float, level: int, text: str, *args: object
    ) -> list[str]:
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
    assert (
        len(
            lines(
                5, REPEATED_S, logging.ERROR, "socket.accept() out of system resource"
            )
        )
        == 5
    )
    for number in range(5_000):
        assert lines(1, 2.0, logging.WARNING, "%s", number)
    assert len(repeated._seen) <= 1_000
