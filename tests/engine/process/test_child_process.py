"""Environment, death, deadlines."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any, cast

import pytest

from live.engine.engine_process import (
    OVERSLEPT_S,
    StartDeadline,
    cause_of_death,
    environment,
)


def test_nothing_changes_what_an_engine_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--inspect")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("LIVE_RATE_TOKEN", "secret")
    told = environment()
    assert "PATH" in told
    assert not {"NODE_OPTIONS", "PYTHONPATH", "LIVE_RATE_TOKEN"} & told.keys()


@pytest.mark.parametrize(
    ("code", "stderr", "says"),
    [
        (-signal.SIGSEGV, b"", "was killed by SIGSEGV"),
        (-250, b"", "was killed by signal 250"),
        (1, b"\n", "exited with code 1"),
        (1, b"first\nno such file\n\n", "exited with code 1: 'no such file'"),
        (2, b"\x1b[31m\xff", "exited with code 2: '\\x1b[31m\N{REPLACEMENT CHARACTER}'"),
        (2, b"y" * 900, "exited with code 2: '" + "y" * 200 + "'"),
    ],
)
def test_a_death_is_told_in_one_harmless_line(code: int, stderr: bytes, says: str) -> None:
    assert cause_of_death(code, stderr) == says


class Asleep:
    """A loop whose machine may have slept before a timer was looked at."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now_s

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Any:
        self.timers.append((self.now_s + seconds, callback))
        return self

    def cancel(self) -> None:
        self.timers.clear()

    def wake(self, slept_s: float) -> None:
        due_s, callback = self.timers.pop()
        self.now_s = due_s + slept_s
        callback()


def test_an_engine_is_not_blamed_for_a_night_in_a_bag() -> None:
    loop, blamed = Asleep(), list[float]()
    StartDeadline(cast(Any, loop), 10.0, lambda: blamed.append(loop.now_s))
    loop.wake(8 * 3600)
    assert not blamed, "it slept as we did"
    assert loop.timers[0][0] == loop.now_s + 10.0, "and gets its time again"
    loop.wake(OVERSLEPT_S / 2)
    assert len(blamed) == 1, "a busy loop excuses nothing"


def test_a_deadline_that_was_kept_is_over() -> None:
    loop, blamed = Asleep(), list[int]()
    StartDeadline(cast(Any, loop), 10.0, lambda: blamed.append(1)).cancel()
    assert not loop.timers and not blamed
