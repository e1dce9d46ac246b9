"""Connections are bounded by open files; only a full disk ends a command."""

import errno
import logging
import subprocess
import sys

import pytest

from live.process.limits import RESERVED, cap_connections
from live.process.standard_output import exit_on_full_disk


@pytest.mark.parametrize(
    ("limit", "room"),
    [(None, 10_000), (65_536, 10_000), (1024, 1024 - RESERVED), (64, 32), (200, 100)],
)
def test_connections_are_bounded_by_open_files(
    limit: int | None, room: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert cap_connections(10_000, limit) == room
    assert len(caplog.records) == (room < 10_000)
    assert cap_connections(8, limit) == 8


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_the_soft_limit_is_raised_to_the_hard_one() -> None:
    program = (
        "import resource as r; from live.process.limits import raise_file_limit\n"
        "r.setrlimit(r.RLIMIT_NOFILE, (64, 256))\n"
        "print(raise_file_limit(), r.getrlimit(r.RLIMIT_NOFILE))"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert said.stdout.split() == ["256", "(256,", "256)"], said.stderr


def test_only_a_full_disk_ends_a_command_in_a_line() -> None:
    with pytest.raises(PermissionError):
        exit_on_full_disk(PermissionError(errno.EACCES, "not yours"))
