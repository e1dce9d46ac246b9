"""The socket everything is served on.

Connections are counted before TLS begins, whose handshake costs more memory than all else of a
connection.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import socket
import ssl
from asyncio import sslproto
from collections.abc import Callable
from typing import cast

from live.config import ServerConfig
from live.errors import ConfigError, PortInUse
from live.publish.access.client_limits import ClientLimits, RateLimits

_log = logging.getLogger(__name__)

#: Connections that wait to be accepted.
_BACKLOG = 1024
#: How often it is seen whether the port is still ours.
_LOOK_S = 1.0

#: Unsent bytes that the system holds for one client, beside what we hold (Linux doubles it).
KERNEL_BYTES = 131_072

#: What asyncio reads of an encrypted connection at once: it holds as much for each (else 256 kB),
#: and requests are small.
_TLS_READ_BYTES = 16_384


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


class Encryptions:
    """TLS handshakes under way, each counted as a connection of its address.

    Loss policy: one too many for its address, or for all, is dropped unanswered; of too many
    unfinished ones the oldest.
    """

    def __init__(
        self,
        tls: ssl.SSLContext,
        make: Callable[[], asyncio.Protocol],
        rates: RateLimits,
        limits: ClientLimits,
    ) -> None:
        self._tls = tls
        self._make = make
        self._rates = rates
        self._limits = limits
        self._open: dict[Encryption, None] = {}
        self._stopping = False
        sslproto.SSLProtocol.max_size = _TLS_READ_BYTES

    def __len__(self) -> int:
        return len(self._open)

    def protocol(self) -> Encryption:
        """Of a new connection, for the time being."""
        return Encryption(self)

    def begin(self, encryption: Encryption) -> None:
        """Count a connection and encrypt it, or drop it."""
        if not self._rates.enter(encryption.address) or self._stopping:
            self._rates.leave(encryption.address)
            encryption.transport.abort()
            return
        self._open[encryption] = None
        if len(self._open) > self._limits.encrypting:
            self.drop(next(iter(self._open)))
        encryption.transport.pause_reading()
        encryption.task = asyncio.create_task(self._encrypt(encryption), name="TLS handshake")

    def drop(self, encryption: Encryption) -> None:
        """End one."""
        if self._over(encryption):
            encryption.transport.abort()

    def _over(self, encryption: Encryption) -> bool:
        """Count it no longer; whether it was."""
        if encryption not in self._open:
            return False
        del self._open[encryption]
        self._rates.leave(encryption.address)
        return True

    def drop_all(self) -> None:
        """The service stops."""
        self._stopping = True
        for each in list(self._open):
            self.drop(each)

    async def _encrypt(self, encryption: Encryption) -> None:
        if encryption not in self._open:
            return
        try:
            transport = await asyncio.get_running_loop().start_tls(
                encryption.transport,
                encryption,
                self._tls,
                server_side=True,
                ssl_handshake_timeout=self._limits.encrypting_s,
            )
        except OSError:  # also ssl.SSLError, and too late
            transport = None
        if transport is None:  # so it is too where the connection was lost
            self.drop(encryption)
        elif self._over(encryption):
            # It is counted as what it becomes.
            encryption.hand_on(transport, self._make())


class Encryption(asyncio.Protocol):
    """A connection until it is encrypted."""

    def __init__(self, all: Encryptions) -> None:
        self.transport: asyncio.Transport
        self.address = ""
        self.task: asyncio.Task[None] | None = None
        self._all = all
        # What came between the end of the handshake and our turn.
        self._early = b""
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        self._all.begin(self)

    def data_received(self, data: bytes) -> None:
        self._early += data

    def eof_received(self) -> bool:
        self._ended = True
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._ended = True
        self._all.drop(self)

    def hand_on(self, transport: asyncio.Transport, to: asyncio.Protocol) -> None:
        """Its handshake is over, and ``to`` has the connection, unless it is lost already."""
        if self._ended or transport.is_closing():
            transport.abort()
            return
        transport.set_protocol(to)
        to.connection_made(transport)
        if self._early:
            to.data_received(self._early)


class PortListener:
    """The open port of one service run.

    Args:
        config: host, port and certificate.
        make: the protocol of a new connection.
        rates: count connections.
        limits: of TLS handshakes.
    """

    def __init__(
        self,
        config: ServerConfig,
        make: Callable[[], asyncio.Protocol],
        rates: RateLimits,
        limits: ClientLimits,
    ) -> None:
        self._config = config
        self._make = make
        self._rates = rates
        self._limits = limits
        self._encryptions: Encryptions | None = None
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
        make = self._make
        if tls is not None:
            self._encryptions = Encryptions(tls, make, self._rates, self._limits)
            make = self._encryptions.protocol
        self._server = await asyncio.get_running_loop().create_server(
            make, sock=listen(config.host, self._port), backlog=_BACKLOG
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
        if self._encryptions is not None:
            self._encryptions.drop_all()

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
