"""The listening socket: binding it, its TLS certificate, and warnings about access."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import ssl

from live.errors import ConfigError, PortInUse
from live.server.origins import is_loopback
from live.settings import ServerConfig


def check_exposure(config: ServerConfig) -> list[str]:
    """Return one-line warnings if other machines can reach the configured address.

    Raises:
        ConfigError: other machines can reach it, and no setting allows that.
    """
    if is_loopback(config.host):
        return []
    if not config.public and not config.tokens_file:
        raise ConfigError(
            f"server.host {config.host}",
            "anyone who can reach this address could read everything",
            "Give tokens (server.tokens_file), or set server.public "
            "(live-rate --public)",
        )
    warnings = []
    if config.public:
        warnings.append(
            f"anyone who can reach {config.host} can read everything"
            + (
                " without scores"
                if config.hide_scores
                else ", scores of running games included"
            )
        )
    if config.tokens_file and not config.certificate_file:
        warnings.append(
            "tokens travel in the clear: set server.certificate_file, "
            "or put a TLS proxy in front"
        )
    return warnings


#: Size of the operating system's send buffer for one client, bytes, in addition to the
#: buffer of this service. Linux doubles the number.
_KERNEL_BYTES = 131_072


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to an address and port.

    ``localhost`` means only 127.0.0.1, so that there is one port on one address. Port 0
    means any free port.

    Raises:
        PortInUse: another program is listening there.
        ConfigError: ``host`` is not an IP address, or not one of this machine.
    """
    address = "127.0.0.1" if host.lower() == "localhost" else host
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        raise ConfigError(
            f"host {host!r}",
            "is not an IP address",
            "Give one, such as 127.0.0.1 or 0.0.0.0",
        ) from None
    family = socket.AF_INET6 if ip.version == 6 else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            # With this option a restarted service can bind the port while old
            # connections exist, but not while another program listens there.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit this size. Otherwise the kernel would store megabytes
        # of unsent data for each client that does not read (Linux: tcp_wmem).
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KERNEL_BYTES)
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
            f"cannot be opened for listening ({error.strerror})",
            "Give another --host or --port",
        ) from None
    return sock


def choose_own_address(host: str) -> str:
    """Return the address at which this machine reaches a server that listens on
    ``host``.
    """
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def build_authority(host: str, port: int) -> str:
    """Return host and port as they stand in a URL and in the header ``Host``."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def load_certificate(certificate_file: str, key_file: str) -> ssl.SSLContext | None:
    """Return a TLS context with a certificate; None if no files are given.

    By Python's default, only TLS 1.2 and later are accepted.

    Raises:
        ConfigError: a file cannot be read, or certificate and key do not match.
    """
    if not certificate_file and not key_file:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate_file, key_file or None, password="")
    # ssl.SSLError is an OSError; a key without a certificate raises ValueError.
    except (OSError, ValueError) as error:
        reason = (
            getattr(error, "reason", None)
            or getattr(error, "strerror", None)
            or str(error)
        )
        raise ConfigError(
            f"server.certificate_file {certificate_file}",
            f"cannot be used ({str(reason).replace('_', ' ').lower()})",
            "Give a certificate chain and its unencrypted key, both in PEM",
        ) from None
    return context
