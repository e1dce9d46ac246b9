"""What drills share: ``live-rate`` in a process of its own to be killed, and how values differ."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class DrilledService:
    """One service over all its lives; what it says is in ``log``."""

    def __init__(self, folder: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
        """``words`` of the command line; ``env`` comes to the environment."""
        self.log = folder / "service.log"
        self._argv = [sys.executable, "-c", "from live.cli import main; main()", *words]
        self._env = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """A new life."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._argv, stdout=log, stderr=log, env=self._env
            )

    async def kill(self) -> None:
        """The end of it, without warning."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()


def differences(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """Where two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differences(one.get(key), other.get(key), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{place}[{number}]")
    elif one != other:
        yield f"{place}: {str(one)[:200]} / {str(other)[:200]}"
