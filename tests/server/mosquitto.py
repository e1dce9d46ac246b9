"""A real Mosquitto for tests: started, killed, started again on its port, asked what it
holds.
"""

import asyncio
import contextlib
import getpass
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiomqtt

from live.server.retained_messages import RetainedMessages
from tests.server.world import GAMES, World

ANYBODY = "allow_anonymous true\n"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def users(program: Callable[..., str], folder: Path, name: str, password: str) -> str:
    """Settings of a broker that lets nobody in but this user."""
    file = folder / "passwords"
    command = [
        program("mosquitto_passwd", "mosquitto"),
        "-b",
        "-c",
        str(file),
        name,
        password,
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=20)
    return f"password_file {file}\n"


class Mosquitto:
    """One broker on one port; nothing it holds survives it."""

    def __init__(
        self, program: str, folder: Path, *, more: str = ANYBODY, first: str = ""
    ) -> None:
        self.port = free_port()
        self._program = program
        self._settings = folder / "mosquitto.conf"
        self._log = folder / "mosquitto.log"
        self._settings.write_text(
            # As root it would become another user, who can't read what is in the
            # folder.
            f"{first}\nuser {getpass.getuser()}\npersistence false\n"
            f"listener {self.port} 127.0.0.1\n{more}",
            encoding="utf-8",
        )
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220 - it only starts here
                [self._program, "-v", "-c", str(self._settings)],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        async with asyncio.timeout(20):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    writer.close()
                    await writer.wait_closed()
                    return
                assert self._process.poll() is None, self._log.read_text(
                    errors="replace"
                )
                await asyncio.sleep(
                    0.01
                )  # until it listens, there is no event to wait for

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self) -> aiomqtt.Client:
        return aiomqtt.Client(
            "127.0.0.1", self.port, protocol=aiomqtt.ProtocolVersion.V5
        )

    async def read_retained(self) -> dict[str, bytes]:
        """All retained messages, by topic: what a newcomer is given."""
        found: dict[str, bytes] = {}
        async with self.client() as client:
            await client.subscribe("#", qos=1)
            # Retained messages are sent before anything published after the
            # subscription.
            await client.publish("end of retained", b"x", qos=1)
            async with asyncio.timeout(20):
                async for message in client.messages:
                    if str(message.topic) == "end of retained":
                        return found
                    assert isinstance(message.payload, bytes)
                    if message.retain:
                        found[str(message.topic)] = message.payload
        raise AssertionError

    async def comes_to_hold(self, wanted: dict[str, bytes]) -> None:
        """Wait until a newcomer is given exactly this."""
        found: dict[str, bytes] = {}
        try:
            async with asyncio.timeout(30):
                while True:
                    found = await self.read_retained()
                    if found == wanted:
                        return
                    await self.news()
        except TimeoutError:
            different = {
                topic: (found.get(topic), wanted.get(topic))
                for topic in found.keys() | wanted.keys()
                if found.get(topic) != wanted.get(topic)
            }
            raise AssertionError(different) from None

    async def news(self) -> None:
        """Wait until something is published, or a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2), self.client() as client:
                await client.subscribe("#", qos=1)
                async for message in client.messages:
                    if not message.retain:
                        return


@contextlib.asynccontextmanager
async def run_broker(
    program: str, folder: Path, *, more: str = ANYBODY, first: str = ""
) -> AsyncIterator[Mosquitto]:
    broker = Mosquitto(program, folder, more=more, first=first)
    try:
        await broker.start()
        yield broker
    finally:
        broker.kill()


def full(seed: int) -> World:
    """A world that fills more topics than there are without games."""
    world = World(seed, *GAMES, steps=200)
    while (
        len(RetainedMessages(world, "p").take(10_000)) <= 12
    ):  # boards go at random, too
        world.step()
    return world
