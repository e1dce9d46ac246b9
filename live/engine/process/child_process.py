"""What the operating system has to do with an engine: its start, its environment, its death."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from live.errors import EngineFault, EngineKilled, NotAnEngine

_log = logging.getLogger(__name__)

#: A deadline seen so much too late says that we slept ourselves, seconds.
OVERSLEPT_S: Final = 5.0
#: Variable of the environment that says whose child a process is.
MARK: Final = "LIVE_RATE_ENGINE"
_LAUNCH: Final = str(Path(__file__).with_name("engine_launcher.py"))
#: Exit codes of SIGKILL and SIGTERM, which no program sends itself.
_FROM_OUTSIDE: Final = (-9, -15)
#: What an engine inherits of our environment: enough to find its libraries and files, nothing
#: that changes what Node or Python print.
_INHERITED: Final = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def launched(argv: tuple[str, ...], nice: int) -> tuple[str, ...]:
    """The command that starts ``argv`` with this niceness, to die when we do."""
    if sys.platform == "win32":
        # There the end of standard input must do, which every UCI engine takes for "quit".
        return argv
    return (sys.executable, "-I", "-S", _LAUNCH, str(os.getpid()), str(nice), *argv)


def environment(mark: str = "") -> dict[str, str]:
    """What an engine gets; its children have the ``mark``, too, wherever they go."""
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return kept | {"NO_COLOR": "1", "NODE_NO_WARNINGS": "1"} | ({MARK: mark} if mark else {})


def death(engine: str, code: int | None, stderr: bytes) -> EngineFault:
    """Why an engine is gone, and whether its search may be to blame for it."""
    kind = EngineKilled if code in _FROM_OUTSIDE else EngineFault
    return kind(engine, cause_of_death(code, stderr))


def cause_of_death(code: int | None, stderr: bytes) -> str:
    if code is not None and code < 0:
        try:
            how = f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            how = f"was killed by signal {-code}"
    else:
        how = f"exited with code {code}"
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return f"{how}: {lines[-1].strip()[:200]!r}" if lines else how


def no_uci(subject: str, problem: str) -> NotAnEngine:
    """What to say of a program that did not shake hands."""
    return NotAnEngine(subject, f"is no UCI engine: {problem}", "Name another with --engine PATH")


def look_at(future: asyncio.Future[Any]) -> None:
    """Take the exception out, so that asyncio does not warn when nobody awaits it."""
    if not future.cancelled():
        future.exception()


def fault_of(error: Exception, engine: str) -> EngineFault:
    """What failed while reading an engine, as a fault of the engine: whatever one says, it is never
    more than the end of this engine.
    """
    if isinstance(error, EngineFault):
        return error
    _log.error("%s: what it says cannot be read", engine, exc_info=error)
    return EngineFault(engine, f"said what we fail to read ({type(error).__name__})")


class StartDeadline:
    """What an engine has to keep, unless it was we who slept.

    Where the clock runs on while the machine sleeps (macOS, Windows), and after a stop of our own
    (SIGSTOP), a deadline is seen far too late. Then the engine slept as well, and gets its time
    again.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, seconds: float, over: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._seconds = seconds
        self._over = over
        self._begin()

    def cancel(self) -> None:
        """It was kept."""
        self._handle.cancel()

    def _begin(self) -> None:
        self._due_s = self._loop.time() + self._seconds
        self._handle = self._loop.call_later(self._seconds, self._passed)

    def _passed(self) -> None:
        if self._loop.time() - self._due_s > OVERSLEPT_S:
            self._begin()
        else:
            self._over()
