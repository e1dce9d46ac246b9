"""``live-rate`` in a process of its own, as a service manager runs it."""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

_SERVING = re.compile(r"is serving http://(\S+):(\d+)/")


class Running:
    """One life of the service, and all that it has said so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said = ""
        self._more = asyncio.Condition()
        self._silent = False

    async def hear(self) -> None:
        """Listen until it says no more."""
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(65536):
            async with self._more:
                self.said += data.decode(errors="replace")
                self._more.notify_all()
        async with self._more:
            self._silent = True
            self._more.notify_all()

    async def says(self, words: str, within_s: float = 60) -> None:
        """Wait for these words, on either stream."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s), self._more:
                await self._more.wait_for(lambda: words in self.said or self._silent)
        assert words in self.said, (
            f"it ended as {self.process.returncode} and said\n{self.said}"
        )

    async def address(self) -> str:
        """HOST:PORT, as soon as it is served."""
        await self.says("is serving")
        found = _SERVING.search(self.said)
        assert found, self.said
        return f"{found[1]}:{found[2]}"

    async def ends(self, number: signal.Signals | None = None) -> int:
        """Its exit code, after a signal if one is given."""
        if number is not None:
            self.process.send_signal(number)
        async with asyncio.timeout(30):
            return await self.process.wait()


@contextlib.asynccontextmanager
async def run_live_rate(
    *arguments: str,
    cwd: Path,
    packages: Path | None = None,
    env: Mapping[str, str] = {},
) -> AsyncIterator[Running]:
    """Started with these arguments in this folder, with the packages of another folder
    installed; killed in the end where it still lives.
    """
    path = [str(Path(__file__).parents[2]), *([str(packages)] if packages else [])]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from live.cli import main; main()",
        *arguments,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "COLUMNS": "200",
            **env,
        },
    )
    service = Running(process)
    listening = asyncio.create_task(service.hear(), name="what the service says")
    try:
        yield service
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()
        await listening
