"""Where systems differ: every branch, against what their documentation promises.

A branch is chosen by ``sys.platform``, which a test can name; what the other systems
alone have is put there as a fake.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from live.errors import ConfigError
from live.process import child_processes, clock, limits, memory
from live.process.input_wait import InputWait
from live.process.sd_notify import ServiceManager
from live.sources.mqtt_client import MqttClient

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux itself")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(sys, "platform", "win32")
    return monkeypatch


@pytest.fixture
def macos(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(sys, "platform", "darwin")
    return monkeypatch


def kernel32(fake: pytest.MonkeyPatch, **functions: Any) -> None:
    fake.setattr(
        ctypes, "windll", SimpleNamespace(kernel32=SimpleNamespace(**functions)), False
    )


def test_a_child_leads_a_session_of_its_own() -> None:
    assert child_processes.build_group_options(5) == {"start_new_session": True}


@pytest.mark.parametrize(("nice", "flags"), [(0, 0x200), (5, 0x4200)])
def test_on_windows_a_child_leads_a_group_and_steps_back(
    windows: pytest.MonkeyPatch, nice: int, flags: int
) -> None:
    # The values of winbase.h.
    windows.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, False)
    windows.setattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0x4000, False)
    assert child_processes.build_group_options(nice) == {"creationflags": flags}


def test_killing_kills_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda *each: killed.append(each))
    child_processes.kill_group(7)
    assert killed == [(7, signal.SIGKILL)]


def test_on_windows_the_process_alone_is_killed(windows: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []
    windows.setattr(os, "kill", lambda *each: killed.append(each))
    child_processes.kill_group(7)
    assert killed == [(7, signal.SIGTERM)]

    def raise_permission_error(pid: int, number: int) -> None:
        raise PermissionError("what os.kill raises there for a process that has ended")

    windows.setattr(os, "kill", raise_permission_error)
    child_processes.kill_group(7)


def test_killing_what_is_gone_is_no_error() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    child_processes.kill_group(child)


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_what_only_linux_shows_is_not_guessed_elsewhere(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    killed: list[int] = []
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append(pid))
    assert limits.count_processors() == 12
    # Nobody can say whose a process is.
    child_processes.kill_marked("=".join(next(iter(os.environ.items()))))
    assert killed == []


def test_memory_and_processors() -> None:
    found = memory.read_memory_bytes()
    assert found is not None and found > 1 << 28
    assert 1 <= limits.count_processors() <= (os.cpu_count() or 1)


def test_memory_on_windows(windows: pytest.MonkeyPatch) -> None:
    def fill(status: Any) -> int:
        assert status._obj.length == ctypes.sizeof(status._obj)
        status._obj.total = 16 << 30
        return 1

    kernel32(windows, GlobalMemoryStatusEx=fill)
    assert memory.read_memory_bytes() == 16 << 30
    kernel32(windows, GlobalMemoryStatusEx=lambda status: 0)
    assert memory.read_memory_bytes() is None


def test_memory_that_the_system_does_not_name(macos: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> int:
        raise ValueError(f"unrecognized configuration name: {name}")

    macos.setattr(os, "sysconf", unknown)
    assert memory.read_memory_bytes() is None


def test_the_clocks_of_macos(macos: pytest.MonkeyPatch) -> None:
    macos.setattr(time, "monotonic", lambda: 100.0)
    macos.setattr(time, "clock_gettime", {time.CLOCK_MONOTONIC: 160.0}.__getitem__)
    assert (clock.read_elapsed_s(), clock.read_awake_s()) == (160.0, 100.0)


def test_the_clocks_of_windows(windows: pytest.MonkeyPatch) -> None:
    def ask(ticks: Any) -> int:
        ticks._obj.value = 100 * 10**7
        return 1

    windows.setattr(time, "monotonic", lambda: 160.0)
    kernel32(windows, QueryUnbiasedInterruptTime=ask)
    assert (clock.read_elapsed_s(), clock.read_awake_s()) == (160.0, 100.0)
    kernel32(windows, QueryUnbiasedInterruptTime=lambda ticks: 0)
    assert clock.read_awake_s() == 160.0


def test_input_is_waited_for_until_the_end_is_asked_for() -> None:
    reader, writer = os.pipe()
    stop_reader, stop_writer = os.pipe()
    waiting = InputWait(reader, stop_reader)
    os.write(writer, b"x")
    assert waiting.wait()
    os.close(stop_writer)
    assert not waiting.wait()
    for each in (reader, writer, stop_reader):
        os.close(each)


def test_on_windows_the_read_itself_waits(windows: pytest.MonkeyPatch) -> None:
    windows.delattr(select, "poll")
    assert InputWait(0, 1).wait()


def test_windows_has_no_systemd(windows: pytest.MonkeyPatch) -> None:
    ServiceManager({"NOTIFY_SOCKET": "/nowhere"}, 1, bool).notify("READY=1")


def test_mqtt_is_refused_on_windows_in_one_line(windows: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="MQTT is not supported there"):
        MqttClient("broker", 1883)


@LINUX
def test_marked_children_are_killed_wherever_they_went() -> None:
    def start(mark: str) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-c", "print(flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"TEST_MARK": mark},
            start_new_session=True,
        )
        # Linux shows the environment a moment after the program has begun.
        assert child.stdout is not None and child.stdout.readline()
        return child

    with start("mine") as mine, start("mine-not") as other:
        child_processes.kill_marked("TEST_MARK=mine")
        assert mine.wait(20) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


def test_freed_memory_is_given_back_where_the_system_has_a_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trimmed: list[int] = []
    library: Any = SimpleNamespace(malloc_trim=trimmed.append)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    for platform in ("linux", "darwin"):
        monkeypatch.setattr(sys, "platform", platform)
        memory.release_free_memory()
    assert trimmed == [0], "on Linux alone"
    library = SimpleNamespace()  # another C library
    monkeypatch.setattr(sys, "platform", "linux")
    memory.release_free_memory()
