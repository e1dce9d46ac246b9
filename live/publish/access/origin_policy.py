"""Who may connect: the ``Host`` and ``Origin`` headers, and the address listened on. Pure.

A page anywhere on the web can make its visitor's browser connect to 127.0.0.1, and can point its
own domain name there (DNS rebinding). The first shows in ``Origin``, the second in ``Host``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from live.config import ServerConfig
from live.errors import ConfigError


def is_loopback(host: str) -> bool:
    """Whether a name or address (no port, no brackets) can only mean this machine."""
    if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(authority: str) -> str | None:
    """The host of ``host:port`` in lower case, without brackets; null when there is none."""
    if not authority or any(char in authority for char in "/@?#\\ \t"):
        return None
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port  # raises on a port that is no number
    except ValueError:
        return None
    return parts.hostname


class OriginPolicy:
    """The names we answer to and the origins whose pages may connect.

    ``bound`` is the address the server listens on. Bound to loopback, only names of this machine
    are answered. Elsewhere any name is, unless ``hosts`` lists some: then they and those of this
    machine. A page of our own may always
    connect; ``origins`` lists further ones (``https://example.org``, ``null`` for local files).
    """

    def __init__(self, bound: str, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        self._loopback_only = is_loopback(bound)
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    def answers_to(self, authority: str) -> bool:
        """Whether a ``Host`` header names us."""
        host = host_of(authority)
        if host is None:
            return False
        # A rebound domain stands in ``Host`` by its own name, never by one of this machine.
        if host in self._hosts or is_loopback(host):
            return True
        return not self._loopback_only and not self._hosts

    def names(self, origin: str) -> bool:
        """Whether this origin is one of those listed: its pages may read answers, too."""
        return origin.lower() in self._origins

    def lets_in(self, origin: str | None, authority: str) -> bool:
        """Whether a page of ``origin`` may open a websocket. Programs send no origin."""
        if origin is None:
            return True
        lowered = origin.lower()
        if lowered in self._origins:
            return True
        try:
            parts = urlsplit(lowered) if "://" in lowered else None
        except ValueError:  # as "http://[::1"
            return False
        return (
            parts is not None
            and parts.scheme in ("http", "https")
            and parts.netloc == authority.lower()
        )


def check_exposure(config: ServerConfig) -> list[str]:
    """Warnings, one line each, about an address that others can reach.

    Raises:
        ConfigError: others can reach it and nothing says that they may.
    """
    if is_loopback(config.host):
        return []
    if not config.public and not config.tokens_file:
        raise ConfigError(
            f"server.host {config.host}",
            "everybody who reaches this address could read along",
            "Give tokens (server.tokens_file), or set server.public (live-rate --public)",
        )
    warnings = []
    if config.public:
        warnings.append(
            f"whoever reaches {config.host} reads along"
            + (" without scores" if config.hide_scores else ", scores of running games included")
        )
    if config.tokens_file and not config.certificate_file:
        warnings.append(
            "tokens travel in the clear: set server.certificate_file, or put a TLS proxy in front"
        )
    return warnings
