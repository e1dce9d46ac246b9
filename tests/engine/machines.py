"""Dask schedulers and workers as processes of their own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from live.engine.cluster import ClusterTls
from live.engine.engine_discovery import EngineCommand

ROOT = Path(__file__).parents[2]
_ALONE = """
import sys
sys.modules["live"] = None  # no import finds it
from distributed.cli.dask_scheduler import main
main()
"""
WORKER = Path(__file__).with_name("dask_worker.py")


class Machines:
    """Scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.address = ""
        self._folder = folder
        self._port = 0
        self._running: list[asyncio.subprocess.Process] = []

    async def schedule(
        self, tls: ClusterTls | None = None, *, alone: bool = False
    ) -> asyncio.subprocess.Process:
        """Start the scheduler, the second time where the first one was; ``alone``: where
        live-rate is not installed.
        """
        encryption: tuple[str, ...] = ()
        if tls is not None:
            encryption = (
                "--protocol", "tls", "--tls-ca-file", tls.ca_file, "--tls-cert", tls.cert_file,
                "--tls-key", tls.key_file,
            )  # fmt: skip
        note = self._folder / "scheduler.json"
        note.unlink(missing_ok=True)
        program = ("-c", _ALONE) if alone else ("-m", "distributed.cli.dask_scheduler")
        process = await self._start(
            *program, "--host", "127.0.0.1",
            "--port", str(self._port), "--no-dashboard", "--scheduler-file", str(note),
            *encryption,
        )  # fmt: skip
        await until(lambda: note.exists() and '"address": "t' in note.read_text())
        self.address = note.read_text().split('"address": "')[1].split('"')[0]
        self._port = int(self.address.rsplit(":", 1)[1])
        return process

    async def work(
        self, command: EngineCommand, engines: int = 1, tls: ClusterTls | None = None
    ) -> asyncio.subprocess.Process:
        files = json.dumps(msgspec.structs.astuple(tls or ClusterTls()))
        return await self._start(str(WORKER), self.address, str(engines), files, *command.argv)

    async def _start(self, *arguments: str) -> asyncio.subprocess.Process:
        log = open(self._folder / f"{len(self._running)}.log", "wb")  # noqa: ASYNC230, SIM115
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, cwd=self._folder, stdout=log, stderr=log,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        log.close()
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
