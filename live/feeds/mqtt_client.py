"""The MQTT library's client, quiet when a broker dies. Shell.

Whoever uses a lost connection is told by an exception. Beside that the library leaves tracebacks
to the event loop, which no user can do anything about; this client leaves none.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Self

import aiomqtt

if TYPE_CHECKING:
    import socket

    from paho.mqtt.client import Client as PahoClient

#: What the library has to say, but for what its caller hears as an exception.
_log = logging.getLogger(f"{__name__}.library")
_log.addFilter(lambda record: "on socket" not in record.msg)


class MqttClient(aiomqtt.Client):
    """As :class:`aiomqtt.Client`, for one connection."""

    def __init__(self, hostname: str, port: int, **settings: Any) -> None:
        super().__init__(hostname, port, logger=_log, **settings)
        self._disconnected.add_done_callback(_heard)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._disconnected.add_done_callback(_heard)  # entering may have made another
        return self

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


def _heard(disconnected: asyncio.Future[None]) -> None:
    """Those who use the connection are told; the loop need not tell it again."""
    if not disconnected.cancelled():
        disconnected.exception()
