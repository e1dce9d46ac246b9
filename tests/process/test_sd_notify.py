"""The printed unit, and what a service manager is told."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner
from websockets.asyncio.client import connect

from live.cli import app
from live.messages.health import EngineHealth
from live.messages.to_clients import GoneMessage, HealthMessage
from live.process.sd_notify import PATIENCE_S, ServiceManager, build_unit, quote_word
from tests.process.running import Running, run_live_rate
from tests.server.serving import left_in


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
    assert quote_word(word) == written


@given(st.text(st.characters(min_codepoint=32)))
def test_a_word_never_ends_its_line_or_its_quotes(word: str) -> None:
    written = quote_word(word)
    assert "\n" not in written
    inner = written[1:-1] if written.startswith('"') else written
    bare = inner.replace("\\\\", "").replace('\\"', "")
    assert '"' not in bare and not bare.endswith("\\")
    assert bare.replace("%%", "").count("%") == 0


def test_systemd_takes_it(require_program: Callable[..., str], tmp_path: Path) -> None:
    program = require_program("systemd-analyze", "systemd")
    text = build_unit([sys.executable, "--headless", "--feed", "https://x.org/r%20 1"])
    file = tmp_path / "live-rate.service"
    file.write_text(text, encoding="utf-8")
    # Old ones end well in spite of complaints, so what they say counts.
    done = subprocess.run(
        [program, "verify", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    complaints = [
        line for line in done.stderr.splitlines() if "live-rate.service" in line
    ]
    assert not complaints


def test_a_program_in_somebodys_home_can_be_read() -> None:
    assert "ProtectHome=read-only" in build_unit(["/home" + "/arbiter/bin/live-rate"])
    elsewhere = build_unit(["/usr/local/bin/live-rate"])
    assert "ProtectHome=yes" in elsewhere


def test_files_are_named_whole_since_the_service_starts_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "round").mkdir()
    games, web = "./round", "https://example.org/games.pgn"
    told = CliRunner().invoke(app, ["systemd-unit", "--feed", games, "--feed", web])
    assert told.exit_code == 0
    assert f"--feed {tmp_path / games} --feed {web}" in told.output


@contextmanager
def manager(path: Path | str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(path))
        sock.settimeout(20)
        yield sock


@given(
    st.lists(
        st.tuples(st.floats(0.1, 180), st.booleans(), st.booleans()),
        min_size=1,
        max_size=60,
    )
)
def test_all_is_well_exactly_while_work_is_done_in_time(
    looks: list[tuple[float, bool, bool]],
) -> None:
    """Against the plain definition: since when has something waited with
    nothing done?
    """
    now_s, busy, stuck_since_s = 0.0, False, 0.0
    manager = ServiceManager({}, 1, lambda: busy, clock=lambda: now_s)
    for wait_s, waiting, works in looks:
        now_s += wait_s
        busy = waiting
        manager.publish(
            [GoneMessage("g")] if works else [HealthMessage((), EngineHealth())]
        )
        if works or not waiting:
            stuck_since_s = now_s
        assert manager.is_alive() == (now_s - stuck_since_s <= PATIENCE_S)


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
def test_how_often_the_watchdog_wants_to_be_fed(
    env: dict[str, str], every_s: float | None
) -> None:
    assert ServiceManager(env, 7, bool).period_s == every_s


def test_a_manager_that_is_gone_is_no_reason_to_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for address in ("", "vsock:2:1"):
        ServiceManager({"NOTIFY_SOCKET": address}, 1, bool).notify("READY=1")
    assert not caplog.text
    ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "none")}, 1, bool).notify("READY=1")
    assert "READY=1" in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="abstract names are Linux' own")
async def test_ready_fed_and_stopping() -> None:
    now_s = [0.0]
    busy = [True]
    name = f"live-rate-test-{os.getpid()}"
    with manager(f"\0{name}") as sock:
        env = {"NOTIFY_SOCKET": f"@{name}", "WATCHDOG_USEC": "3000"}
        loop = asyncio.get_running_loop()
        sock.setblocking(False)

        async def heard() -> bytes:
            async with asyncio.timeout(20):
                return await loop.sock_recv(sock, 1000)

        pulse = ServiceManager(env, 1, lambda: busy[0], clock=lambda: now_s[0])
        async with pulse.running():
            assert await heard() == b"READY=1"
            assert await heard() == b"WATCHDOG=1\nSTATUS=working"
            now_s[0] = 500.0  # something waits and nothing came of it
            while (
                told := await heard()
            ) != b"STATUS=work is waiting, but none is finished":
                assert told.startswith(b"WATCHDOG=1")
            pulse.publish([HealthMessage((), EngineHealth())])
            pulse.publish([GoneMessage("g")])
            assert await heard() == b"WATCHDOG=1\nSTATUS=working"
            busy[0] = False
            while (told := await heard()) != b"WATCHDOG=1\nSTATUS=all analysed":
                assert told == b"WATCHDOG=1\nSTATUS=working"
        while (told := await heard()) != b"STOPPING=1":
            assert told.startswith(b"WATCHDOG=1")


@contextlib.asynccontextmanager
async def service(tmp_path: Path) -> AsyncIterator[tuple[Running, str, socket.socket]]:
    """The real command, with systemd played by us; its address, once it is ready."""
    command = ("--feed", "demo", "--headless", "--port", "0", "--nodes", "500")
    told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
    with manager(tmp_path / "notify") as sock:
        async with run_live_rate(*command, cwd=tmp_path, env=told) as process:
            yield process, await process.address(), sock


async def test_the_first_signal_says_goodbye_to_everybody(tmp_path: Path) -> None:
    async with service(tmp_path) as (process, address, sock):
        assert sock.recv(1000) == b"READY=1"
        assert sock.recv(1000).startswith(b"WATCHDOG=1\n")
        async with connect(f"ws://{address}/v3/live", max_size=None) as ws:
            assert json.loads(await ws.recv())["type"] == "hello"
            process.process.send_signal(signal.SIGTERM)
            assert (await left_in(ws))[1] == 1001
        assert await process.ends() == 0
        told = [sock.recv(1000)]
        while told[-1] != b"STOPPING=1":
            told.append(sock.recv(1000))
        assert all(each.startswith(b"WATCHDOG=1") for each in told[:-1])
