"""The MQTT library's client, quiet when a broker dies, and gone when it is cancelled. Shell.

Using a lost connection raises an exception. Beside that the library leaves tracebacks
to the event loop, which no user can do anything about; this client leaves none. And it waits with
``asyncio.wait_for``, which up to Python 3.11 forgets a cancellation that comes at the very moment
of the answer (bpo-37658): whoever cancelled waits for ever.
"""

from __future__ import annotations

import asyncio
import logging
import math
import ssl
import sys
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import aiomqtt

from live.config import named_text
from live.errors import ConfigError

if TYPE_CHECKING:
    import socket

    from paho.mqtt.client import Client as PahoClient

T = TypeVar("T")

#: What the library has to say, but for what its caller hears as an exception.
_log = logging.getLogger(f"{__name__}.library")
_log.addFilter(lambda record: "on socket" not in record.msg)


class MqttClient(aiomqtt.Client):
    """As :class:`aiomqtt.Client`, for one connection."""

    def __init__(self, hostname: str, port: int, **settings: Any) -> None:
        if sys.platform == "win32":
            # aiomqtt watches its socket by add_reader, which the loop of Windows that can start
            # engines does not have (asyncio, "Platform Support": ProactorEventLoop).
            raise ConfigError(
                f"mqtt://{hostname}:{port}",
                "cannot be reached from Windows: MQTT is not supported there",
                "Run this service under WSL, Linux or macOS",
            )
        super().__init__(hostname, port, logger=_log, **settings)
        self._disconnected.add_done_callback(_retrieved)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._disconnected.add_done_callback(_retrieved)  # entering may have made another
        return self

    async def _wait_for(self, fut: Awaitable[T], timeout: float | None) -> T:  # noqa: ASYNC109
        """As the library's own, with a time-out that lets every cancellation through."""
        seconds = self.timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(None if seconds == math.inf else seconds):
                return await fut
        except TimeoutError:
            raise aiomqtt.MqttError("Operation timed out") from None

    def _on_socket_register_write(
        self, client: PahoClient, userdata: Any, sock: socket.socket
    ) -> None:
        def write() -> None:
            try:
                client.loop_write()
            except Exception as error:  # a broken pipe: the connection is lost
                if not self._disconnected.done():
                    self._disconnected.set_exception(error)

        def register() -> None:
            # The socket may have been closed since this was asked for.
            if sock.fileno() >= 0:
                self._loop.add_writer(sock.fileno(), write)

        # Asked for by the thread that connects, too.
        self._loop.call_soon_threadsafe(register)


def _retrieved(disconnected: asyncio.Future[None]) -> None:
    """Users of the connection get the exception; the loop need not report it again."""
    if not disconnected.cancelled():
        disconnected.exception()


def trusting(setting: str, file: str) -> ssl.SSLContext:
    """Trust in the certificates of the file that ``setting`` names; without one, the system's.

    Raises:
        ConfigError: it cannot be read, or holds none.
    """
    if not file:
        return ssl.create_default_context()
    # Comments need not be ASCII; of an empty text the system's would be trusted.
    pem = named_text(setting, file).encode("ascii", "ignore").decode() or "-"
    try:
        return ssl.create_default_context(cadata=pem)
    except ssl.SSLError:
        raise ConfigError(f"{setting} {file}", "holds no certificate", "Give a PEM file") from None
