"""MQTT client that can be cancelled reliably.

The library waits with ``asyncio.wait_for``. Up to Python 3.11, this function loses a
cancellation that comes at the same moment as the answer (bpo-37658), and the task that
cancelled would wait for ever.
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

#: Log of the library, without the messages that also reach the caller as exceptions.
_log = logging.getLogger(f"{__name__}.library")
_log.addFilter(lambda record: "on socket" not in record.msg)


class MqttClient(aiomqtt.Client):
    """An :class:`aiomqtt.Client` for one connection."""

    def __init__(self, hostname: str, port: int, **settings: Any) -> None:
        if sys.platform == "win32":
            # aiomqtt watches its socket with add_reader. On Windows, the only event
            # loop that can start engines does not have that method (asyncio, "Platform
            # Support": ProactorEventLoop).
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

    async def subscribe(self, *args: Any, **settings: Any) -> Any:
        """Subscribe as :meth:`aiomqtt.Client.subscribe` does."""
        return await _await_or_cancel(super().subscribe(*args, **settings))

    async def publish(self, *args: Any, **settings: Any) -> None:
        """Publish as :meth:`aiomqtt.Client.publish` does."""
        await _await_or_cancel(super().publish(*args, **settings))


async def _await_or_cancel(call: Awaitable[T]) -> T:
    """Return the result of a call or raise its error. If this task was cancelled during
    the call, raise CancelledError instead.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    try:
        return await call
    finally:
        # In Python 3.11, wait_for loses a cancellation that comes at the same moment as
        # an answer or an error.
        if task.cancelling() > before:
            raise asyncio.CancelledError


def create_tls_context(setting: str, file: str) -> ssl.SSLContext:
    """Return a TLS context that trusts the certificates in ``file``, which is named by
    ``setting``; without a file, the certificates of the operating system.

    Raises:
        ConfigError: the file cannot be read, or contains no certificate.
    """
    if not file:
        return ssl.create_default_context()
    # Comments in the file can have non-ASCII characters, which are removed. An empty
    # text would mean the operating system's certificates, so "-" is used instead.
    pem = read_file_of_setting(setting, file).encode("ascii", "ignore").decode() or "-"
    try:
        return ssl.create_default_context(cadata=pem)
    except ssl.SSLError:
        raise ConfigError(
            f"{setting} {file}", "holds no certificate", "Give a PEM file"
        ) from None
