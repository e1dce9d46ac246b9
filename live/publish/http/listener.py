"""The socket everything is served on."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import socket
import ssl
from collections.abc import Callable

from live.config import ServerConfig
from live.errors import ConfigError, PortInUse

_log = logging.getLogger(__name__)

#: Connections that wait to be accepted.
_BACKLOG = 1024
#: How often it is seen whether the port is still ours.
_LOOK_S = 1.0

#: Unsent bytes that the system holds for one client, beside what we hold (Linux doubles it).
KERNEL_BYTES = 131_072


def listen(host: str, port: int) -> socket.socket:
    """A bound socket. ``localhost`` is 127.0.0.1: one port on one address; port 0 is any free one.

    Raises:
        PortInUse: another program listens there.
        ConfigError: the address is none, or not this machine's.
    """
    address = "127.0.0.1" if host.lower() == "localhost" else host
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        raise ConfigError(
            f"host {host!r}", "is not an IP address", "Give one, such as 127.0.0.1 or 0.0.0.0"
        ) from None
    family = socket.AF_INET6 if ip.version == 6 else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # A restart may take the port while old connections linger; a listener still excludes.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit it. The kernel would else let unread data grow to megabytes for
        # each client that does not read (Linux: tcp_wmem), out of our sight.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
        sock.bind((address, port))
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"{host}:{port}",
                "another program listens there",
                "End it, or choose another port with --port (0 takes any free one)",
            ) from None
        raise ConfigError(
            f"{host}:{port}",
            f"cannot be listened on ({error.strerror})",
            "Give another --host or --port",
        ) from None
    return sock


def encryption(certificate_file: str, key_file: str) -> ssl.SSLContext | None:
    """TLS 1.2 or later with this certificate; null where none is given.

    Raises:
        ConfigError: a file cannot be read, or the two do not belong together.
    """
    if not certificate_file:
        if key_file:
            raise ConfigError(
                "server.key_file", "has no certificate", "Set server.certificate_file too"
            )
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate_file, key_file or None, password="")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        why = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"server.certificate_file {certificate_file}",
            f"cannot be used ({str(why).replace('_', ' ').lower()})",
            "Give a certificate chain and its unencrypted key, both in PEM",
        ) from None
    return context


class PortListener:
    """The open port of one service run.

    Args:
        config: host, port and certificate.
        make: the protocol of a new connection.
        handshake_s: how long TLS may take, in seconds.
    """

    def __init__(
        self, config: ServerConfig, make: Callable[[], asyncio.Protocol], handshake_s: float
    ) -> None:
        self._config = config
        self._make = make
        self._handshake_s = handshake_s
        self._server: asyncio.Server | None = None
        # What was given where any free port was asked for is kept when listening again.
        self._port = config.port

    async def open(self) -> None:
        """Listen.

        Raises:
            PortInUse, ConfigError: see :func:`listen` and :func:`encryption`.
        """
        config = self._config
        tls = encryption(config.certificate_file, config.key_file)
        self._server = await asyncio.get_running_loop().create_server(
            self._make,
            sock=listen(config.host, self._port),
            backlog=_BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=self._handshake_s if tls else None,
        )
        self._port = self.address[1]

    async def watch(self) -> None:
        """Listen again whenever the port was lost; until cancelled.

        Raises:
            PortInUse, ConfigError: it cannot be had again now.
        """
        while True:
            await asyncio.sleep(_LOOK_S)
            if self._server is None or not self._server.is_serving():
                await self.open()
                _log.warning("port %d was lost, and is listened on again", self._port)

    def close(self) -> None:
        """Accept nobody any more."""
        assert self._server is not None
        self._server.close()

    async def wait_closed(self) -> None:
        """Once every connection has ended."""
        assert self._server is not None
        await self._server.wait_closed()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port listened on; the port is the real one where 0 was asked for."""
        assert self._server is not None, "not entered yet"
        host, port = self._server.sockets[0].getsockname()[:2]
        return str(host), int(port)

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the page."""
        host, port = self.address
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        scheme = "https" if self._config.certificate_file else "http"
        return f"{scheme}://[{host}]:{port}/" if ":" in host else f"{scheme}://{host}:{port}/"
