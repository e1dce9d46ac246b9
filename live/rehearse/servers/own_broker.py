"""A Mosquitto of our own, for rehearsals where no broker is at hand."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
from pathlib import Path

from live.errors import InputError

#: Seconds until a Mosquitto that has just been started answers.
START_S = 10.0


class OwnBroker:
    """One Mosquitto on this machine; no password, loopback unless given another address."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port or _free_port(host)
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Returns when it answers.

        Raises:
            InputError: Mosquitto is not installed, or does not start.
        """
        # Debian puts servers where a plain user's PATH does not look.
        places = os.pathsep.join(
            [os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"]
        )
        program = shutil.which("mosquitto", path=places)
        if program is None:
            raise InputError(
                "--as mqtt",
                "needs a broker, and Mosquitto is not installed",
                "Name one with --to mqtt://HOST/TOPIC, or install Mosquitto",
            )
        settings = f"listener {self.port} {self.host}\nallow_anonymous true\n"
        with tempfile.TemporaryDirectory(prefix="live-rate-") as folder:
            file = _written(Path(folder, "mosquitto.conf"), settings)
            self._process = await asyncio.create_subprocess_exec(
                program,
                "-c",
                file,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                async with asyncio.timeout(START_S):
                    await self._answers(self._process)
            except TimeoutError:
                await self.stop()
                raise InputError(
                    "--as mqtt", "Mosquitto does not answer", "Name another broker with --to"
                ) from None

    async def stop(self) -> None:
        """As a power cut would: what it holds is lost."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _answers(self, process: asyncio.subprocess.Process) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection(self.host, self.port)
            except OSError:
                if process.returncode is not None:
                    why = f"Mosquitto cannot serve port {self.port}"
                    raise InputError("--as mqtt", why, "Give another --port") from None
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return


def _written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
