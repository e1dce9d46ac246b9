"""A real Mosquitto on a free port of this machine."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path


class Broker:
    """One Mosquitto; ``lines`` are lines of its configuration file."""

    def __init__(self, program: str, folder: Path, lines: Iterable[str] = ()) -> None:
        self.port = free_port()
        self._program = program
        self._config = folder / "mosquitto.conf"
        # Started by root (in a container), it would become another user and not see our files.
        settings = ["user root", *lines]
        if not any(line.startswith(("allow_anonymous", "password_file")) for line in settings):
            settings.append("allow_anonymous true")
        self._config.write_text("\n".join([f"listener {self.port} 127.0.0.1", *settings, ""]))
        self._process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Returns when it answers."""
        self._process = await asyncio.create_subprocess_exec(
            self._program,
            "-c",
            str(self._config),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        async with asyncio.timeout(20):
            while True:
                assert self._process.returncode is None, "mosquitto ended at once"
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    await asyncio.sleep(0.01)  # a real process is on its way
                else:
                    writer.close()
                    await writer.wait_closed()
                    return

    def strike(self) -> None:
        """As a power cut would, without a turn of the event loop."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def kill(self) -> None:
        """The same, and waited for."""
        self.strike()
        if self._process is not None:
            await self._process.wait()

    async def __aenter__(self) -> Broker:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
