"""The MQTT library's client, heard when it is cancelled. Shell.

It waits with ``asyncio.wait_for``, which up to Python 3.11 forgets a cancellation that
comes at the very moment of the answer (bpo-37658): whoever cancelled would wait for
ever.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections.abc import Awaitable
from typing import Any, Self, TypeVar

import aiomqtt

from live.errors import ConfigError
from live.user_files import read_file_of_setting

T = TypeVar("T")

#: What the library has to say, but for what its caller hears as an exception.
_log = logging.getLogger(f"{__name__}.library")
_log.addFilter(lambda record: "on socket" not in record.msg)


class MqttClient(aiomqtt.Client):
    """As :class:`aiomqtt.Client`, for one connection."""

    def __init__(self, hostname: str, port: int, **settings: Any) -> None:
        if sys.platform == "win32":
            # aiomqtt watches its socket by add_reader, which the loop of Windows that
            # can start engines does not have (asyncio, "Platform Support":
            # ProactorEventLoop).
            raise ConfigError(
                f"mqtt://{hostname}:{port}",
                "cannot be reached from Windows: MQTT is not supported there",
                "Run this service under WSL, Linux or macOS",
            )
        super().__init__(hostname, port, logger=_log, **settings)

    async def __aenter__(self) -> Self:
        return await _await_or_cancel(super().__aenter__())

    async def __aexit__(self, *error: Any) -> None:
        await _await_or_cancel(super().__aexit__(*error))

    async def subscribe(self, *given: Any, **settings: Any) -> Any:
        """Do as :meth:`aiomqtt.Client.subscribe`."""
        return await _await_or_cancel(super().subscribe(*given, **settings))

    async def publish(self, *given: Any, **settings: Any) -> None:
        """Do as :meth:`aiomqtt.Client.publish`."""
        await _await_or_cancel(super().publish(*given, **settings))


async def _await_or_cancel(call: Awaitable[T]) -> T:
    """Give or raise what a call does, unless this task was cancelled meanwhile."""
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    try:
        return await call
    finally:
        # Python 3.11's wait_for loses a cancellation that comes with an answer or an
        # error.
        if task.cancelling() > before:
            raise asyncio.CancelledError


def create_tls_context(setting: str, file: str) -> ssl.SSLContext:
    """Trust in the certificates of the file that ``setting`` names; without one, the
    system's.

    Raises:
        ConfigError: it cannot be read, or holds none.
    """
    if not file:
        return ssl.create_default_context()
    # Comments need not be ASCII; of an empty text the system's would be trusted.
    pem = read_file_of_setting(setting, file).encode("ascii", "ignore").decode() or "-"
    try:
        return ssl.create_default_context(cadata=pem)
    except ssl.SSLError:
        raise ConfigError(
            f"{setting} {file}", "holds no certificate", "Give a PEM file"
        ) from None
