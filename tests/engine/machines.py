"""Processes of their own: Dask schedulers and workers, and whether a process dies.

``python -m tests.engine.machines SETTINGS PROGRAM …`` is a worker; SETTINGS are JSON.
"""

import asyncio
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from live.engine.engine_programs import EngineCommand
from live.settings import EngineConfig

ROOT = Path(__file__).parents[2]
_ALONE = """
import sys
sys.modules["live"] = None  # no import finds it
from distributed.cli.dask_scheduler import main
main()
"""


class Machines:
    """Scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.address = ""
        self._folder = folder
        self._port = 0
        self._running: list[asyncio.subprocess.Process] = []

    async def schedule(
        self, *, encrypted: bool = False, alone: bool = False
    ) -> asyncio.subprocess.Process:
        """Start the scheduler, the second time where the first one was; ``alone``:
        where live-rate is not installed.
        """
        encryption = ("--protocol", "tls") if encrypted else ()
        note = self._folder / "scheduler.json"
        note.unlink(missing_ok=True)
        process = await self._start(
            *(("-c", _ALONE) if alone else ("-m", "distributed.cli.dask_scheduler")),
            "--host",
            "127.0.0.1",
            "--port",
            str(self._port),
            "--no-dashboard",
            "--scheduler-file",
            str(note),
            *encryption,
        )
        await until(lambda: note.exists() and '"address": "t' in note.read_text())
        self.address = note.read_text().split('"address": "')[1].split('"')[0]
        self._port = int(self.address.rsplit(":", 1)[1])
        return process

    def settings(self, engines: int = 1) -> EngineConfig:
        """How a worker, or whoever has it search, finds the scheduler."""
        return EngineConfig(cluster=self.address, engines=engines, nice=0)

    async def run_worker(
        self, command: EngineCommand, engines: int = 1
    ) -> asyncio.subprocess.Process:
        settings = msgspec.json.encode(self.settings(engines)).decode()
        return await self._start("-m", "tests.engine.machines", settings, *command.argv)

    async def _start(self, *arguments: str) -> asyncio.subprocess.Process:
        with open(self._folder / f"{len(self._running)}.log", "wb") as log:  # noqa: ASYNC230
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *arguments,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        self._running.append(process)
        return process

    async def close(self) -> None:
        for process in self._running:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def until(holds: Callable[[], bool]) -> None:
    """Other processes tell nobody that they are ready."""
    async with asyncio.timeout(60):
        while True:
            if holds():
                return
            await asyncio.sleep(0.02)


def dies(pid: int, within_s: float = 20.0) -> bool:
    """Wait until the process is dead (a zombie counts); False if it outlives the time.
    Linux.
    """
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        return bool(poll.poll(within_s * 1000))
    finally:
        os.close(watched)


if __name__ == "__main__":
    from live.engine.cluster import run_worker

    worker = msgspec.json.decode(sys.argv[1], type=EngineConfig)
    program = EngineCommand(tuple(sys.argv[2:]), "for the test")
    asyncio.run(run_worker(program, worker))
