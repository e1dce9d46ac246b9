"""No more connections are promised than there are files for."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from live.config import ServerConfig
from live.service.host.file_descriptors import RESERVED, within


@pytest.mark.parametrize(
    ("limit", "room"),
    [(None, 10_000), (65_536, 10_000), (1024, 1024 - RESERVED), (64, 32), (200, 100)],
)
def test_connections_are_bounded_by_open_files(
    limit: int | None, room: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert within(ServerConfig(), limit).max_connections == room
    assert len(caplog.records) == (room < 10_000)
    few = ServerConfig(max_connections=8)
    assert within(few, limit) is few


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_the_soft_limit_is_raised_to_the_hard_one() -> None:
    program = (
        "import resource as r; from live.service.host.file_descriptors import raise_limit\n"
        "r.setrlimit(r.RLIMIT_NOFILE, (64, 256))\n"
        "print(raise_limit(), r.getrlimit(r.RLIMIT_NOFILE))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout.split() == ["256", "(256,", "256)"], said.stderr
