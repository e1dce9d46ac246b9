"""What systemd hears, and that a service that makes no progress is not said to be well."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from live.events import EngineHealth, GoneMessage, HealthMessage
from live.service.host.systemd_notify import (
    SystemdNotifier,
    WatchdogPulse,
    WorkProgress,
    supervised,
    watchdog_s,
)

ROOT = Path(__file__).resolve().parent.parent.parent.parent


@contextmanager
def manager(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(path))
        sock.settimeout(20)
        yield sock


@given(
    st.lists(st.tuples(st.floats(0.1, 100), st.booleans(), st.booleans()), min_size=1, max_size=60)
)
def test_all_is_well_exactly_while_work_is_done_in_time(
    looks: list[tuple[float, bool, bool]],
) -> None:
    """Against the plain definition: since when has something waited with nothing done?"""
    now_s, done, stuck_since_s = 0.0, 0, 0.0
    progress = WorkProgress(now_s, patience_s=100)
    for wait_s, waiting, works in looks:
        now_s += wait_s
        done += works
        if works or not waiting:
            stuck_since_s = now_s
        assert progress.made(now_s, waiting, done) == (now_s - stuck_since_s <= 100)


@pytest.mark.parametrize(
    ("env", "every_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_how_often_the_watchdog_wants_to_be_fed(env: dict[str, str], every_s: float | None) -> None:
    assert watchdog_s(env, 7) == every_s


def test_health_is_no_work() -> None:
    pulse = WatchdogPulse()
    pulse.publish([HealthMessage((), EngineHealth()), GoneMessage("g")])
    assert pulse.changes == 1


def test_nobody_listens() -> None:
    assert SystemdNotifier.found({}) is None
    assert SystemdNotifier.found({"NOTIFY_SOCKET": "vsock:2:1"}) is None


def test_a_manager_that_is_gone_is_no_reason_to_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notifier = SystemdNotifier.found({"NOTIFY_SOCKET": str(tmp_path / "none")})
    assert notifier is not None
    notifier.send("READY=1")
    assert "READY=1" in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="abstract names are Linux' own")
def test_abstract_names_are_understood() -> None:
    name = f"live-rate-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind("\0" + name)
        sock.settimeout(20)
        notifier = SystemdNotifier.found({"NOTIFY_SOCKET": "@" + name})
        assert notifier is not None
        notifier.send("READY=1", "STATUS=x")
        assert sock.recv(100) == b"READY=1\nSTATUS=x"


async def test_ready_fed_and_stopping(tmp_path: Path) -> None:
    now_s = [0.0]
    busy = [True]
    with manager(tmp_path / "notify") as sock:
        env = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "3000"}
        loop = asyncio.get_running_loop()
        sock.setblocking(False)

        async def heard() -> bytes:
            async with asyncio.timeout(20):
                return await loop.sock_recv(sock, 1000)

        async with supervised(env, 1, lambda: busy[0], clock=lambda: now_s[0]) as pulse:
            assert await heard() == b"READY=1"
            assert await heard() == b"WATCHDOG=1\nSTATUS=working"
            now_s[0] = 500.0  # something waits and nothing came of it
            while (told := await heard()) != b"STATUS=work waits and nothing comes of it":
                assert told.startswith(b"WATCHDOG=1")
            pulse.publish([GoneMessage("g")])
            assert await heard() == b"WATCHDOG=1\nSTATUS=working"
            busy[0] = False
            while (told := await heard()) != b"WATCHDOG=1\nSTATUS=all analysed":
                assert told == b"WATCHDOG=1\nSTATUS=working"
        while (told := await heard()) != b"STOPPING=1":
            assert told.startswith(b"WATCHDOG=1")


@contextmanager
def service(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str, socket.socket]]:
    """The real command, with systemd played by us; its address, once it is ready."""
    env = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "NOTIFY_SOCKET": str(tmp_path / "notify"),
        "WATCHDOG_USEC": "300000",
    }
    env.pop("LIVE_RATE_CONFIG", None)
    main = "from live.cli import main; main()"
    command = [sys.executable, "-c", main, "--feed", "demo", "--headless", "--port", "0"]
    with (
        manager(tmp_path / "notify") as sock,
        subprocess.Popen(
            [*command, "--nodes", "500"],
            cwd=tmp_path,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            found = None
            while found is None:
                line = process.stdout.readline()
                assert line, "it ended"
                found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            yield process, f"ws://127.0.0.1:{found[1]}/v2/live", sock
        finally:
            process.kill()


@pytest.mark.slow
async def test_the_first_signal_says_goodbye_to_everybody(tmp_path: Path) -> None:
    with service(tmp_path) as (process, url, sock):
        assert sock.recv(1000) == b"READY=1"
        assert sock.recv(1000).startswith(b"WATCHDOG=1\n")
        async with connect(url, max_size=None) as ws:
            assert json.loads(await ws.recv())["type"] == "hello"
            process.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await ws.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
        process.communicate(timeout=30)
        assert process.returncode == 0
        told = [sock.recv(1000)]
        while told[-1] != b"STOPPING=1":
            told.append(sock.recv(1000))
        assert all(each.startswith(b"WATCHDOG=1") for each in told[:-1])


@pytest.mark.slow
def test_the_second_signal_ends_at_once(tmp_path: Path) -> None:
    """A subscriber that never answers the goodbye would hold the service for three seconds."""
    with service(tmp_path) as (process, url, sock):
        host, port = url.removeprefix("ws://").split("/")[0].split(":")
        with socket.create_connection((host, int(port)), timeout=20) as client:
            client.sendall(
                f"GET /v2/live HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            assert client.recv(100).startswith(b"HTTP/1.1 101 ")
            process.send_signal(signal.SIGINT)
            while b"STOPPING=1" not in sock.recv(1000):
                pass
            began_s = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
            assert time.monotonic() - began_s < 2
    assert process.returncode == -signal.SIGINT
