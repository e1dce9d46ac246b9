"""Ctrl-C: what was begun is ended, what was done is told. SIGHUP: no service ends by it."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from pathlib import Path

import pytest

from live.engine.engine_discovery import find_engine
from live.service.host.signals import HangupSignals, stop_on_signals, unless_stopped
from tests.feeds.fakes import until
from tests.service.running import running

DATA = Path(__file__).parents[2] / "data"


async def finishes(done: list[str]) -> None:
    await asyncio.sleep(0)
    done.append("finished")


async def test_work_that_nobody_stops_is_done_to_its_end() -> None:
    done: list[str] = []
    assert await unless_stopped(finishes(done), asyncio.Event())
    assert done == ["finished"]


async def test_a_stop_ends_the_work_where_it_stands() -> None:
    stop, done = asyncio.Event(), list[str]()

    async def works() -> None:
        done.append("begun")
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            done.append("ended")

    assert not await unless_stopped(works(), stop)
    assert done == ["begun", "ended"]


async def test_what_goes_wrong_comes_out() -> None:
    async def fails() -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        await unless_stopped(fails(), asyncio.Event())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_is_a_stop_and_is_remembered(number: signal.Signals) -> None:
    stop = asyncio.Event()
    before = signal.getsignal(number)
    with stop_on_signals(stop) as came:
        os.kill(os.getpid(), number)
        async with asyncio.timeout(5):
            await stop.wait()
        assert came == [number]
    signal.signal(number, before)


def waiting_engine(folder: Path) -> Path:
    """An engine that says ``begun`` by a file, and starts when somebody writes to ``go``."""
    engine = shlex.join(find_engine("").argv)
    os.mkfifo(folder / "go")
    script = folder / "engine.sh"
    begun, go = shlex.quote(str(folder / "begun")), shlex.quote(str(folder / "go"))
    script.write_text(f"#!/bin/sh\ntouch {begun}\nread word < {go}\nexec {engine}\n")
    script.chmod(0o755)
    return script


@pytest.mark.slow
async def test_a_service_that_still_starts_reads_its_settings_again_when_it_is_up(
    tmp_path: Path,
) -> None:
    """A real process: its engine waits until SIGHUP has been sent three times."""
    script = waiting_engine(tmp_path)
    settings = tmp_path / "config.toml"
    settings.write_text("[server]\nport = 0\n[engine]\nengines = 1\n")
    given = ("--feed", str(DATA / "four-boards.pgn"), "--headless", "--no-journal", "--nodes", "1")
    async with running(*given, "--engine", str(script), cwd=tmp_path) as service:
        await until((tmp_path / "begun").exists, 60)
        settings.write_text("[server]\nport = 0\n[engine]\nengines = 1\n[feeds]\npoll_s = 7\n")
        for _ in range(3):
            service.process.send_signal(signal.SIGHUP)
        (tmp_path / "go").write_text("now\n")
        await service.says("settings: taken over: feeds.poll_s")
        assert await service.ends(signal.SIGTERM) == 0, service.said
        assert service.said.count("taken over") == 1


async def test_what_came_before_anybody_answers_is_answered_once_and_nothing_ends_us() -> None:
    before, answers = signal.getsignal(signal.SIGHUP), list[str]()
    hangups, answered = HangupSignals(), asyncio.Event()

    def answer() -> None:
        answers.append("read")
        answered.set()

    try:
        hangups.hear()
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
        with hangups.answered_by(answer):
            assert answers == ["read"]
            answered.clear()
            os.kill(os.getpid(), signal.SIGHUP)
            async with asyncio.timeout(5):
                await answered.wait()
        os.kill(os.getpid(), signal.SIGHUP)  # the service is ending: nobody reads any more
        await asyncio.sleep(0)
        assert answers == ["read", "read"]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_terminal_that_goes_ends_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    before = signal.getsignal(signal.SIGHUP)
    HangupSignals.of_service(headless=False, json=False)
    assert signal.getsignal(signal.SIGHUP) is before
    try:
        HangupSignals.of_service(headless=True, json=False)
        assert signal.getsignal(signal.SIGHUP) is not before
    finally:
        signal.signal(signal.SIGHUP, before)
