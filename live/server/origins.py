"""Checks of hosts and origins: ``Host``, ``Origin`` and CORS. Pure.

Any page on the web can make its visitor's browser connect to 127.0.0.1, and can point
its own domain name there (DNS rebinding). The first attack is visible in the ``Origin``
header, the second in the ``Host`` header.
"""

import contextlib
import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec.structs import replace

from live.server.http_values import HttpResponse
from live.settings import ServerConfig


def is_loopback(host: str) -> bool:
    """Return whether a host name or address always means this machine.

    ``host`` is without a port and without brackets.
    """
    if f".{host.lower()}".rstrip(".").endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_host(authority: str) -> str:
    """Return the host of ``host:port`` in lower case, without brackets.

    Return an empty text if the format is wrong.
    """
    if any(char in authority for char in "/@?#\\ \t"):
        return ""
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port  # raises ValueError if the port is not a number
    except ValueError:
        return ""
    return parts.hostname or ""


class OriginPolicy:
    """The accepted host names, and the origins whose pages are allowed to connect.

    On a loopback address, the names in the setting ``hosts`` and the names of this
    machine are accepted. On other addresses every name is accepted, unless ``hosts``
    lists some; then only these names and the names of this machine are accepted. Pages
    of this service can always connect. Pages of the origins in the setting ``origins``
    can connect too (``https://example.org``, ``null`` for local files).
    """

    def __init__(self, config: ServerConfig) -> None:
        self._loopback_only = is_loopback(config.host)
        self._hosts = {host.lower() for host in config.hosts}
        self._origins = {origin.lower().rstrip("/") for origin in config.origins}

    def accepts_host(self, authority: str) -> bool:
        """Return whether a ``Host`` header contains an accepted name."""
        host = parse_host(authority)
        # In an attack by DNS rebinding, ``Host`` contains the attacker's domain, never
        # a name of this machine.
        if not host or host in self._hosts or is_loopback(host):
            return bool(host)
        return not self._loopback_only and not self._hosts

    def is_listed(self, origin: str) -> bool:
        """Return whether an origin is listed, so that its pages can read answers."""
        return origin.lower() in self._origins

    def allows_origin(self, origin: str | None, authority: str) -> bool:
        """Return whether a page of ``origin`` is allowed to open a websocket.

        Programs send no origin; they are always allowed.
        """
        if origin is None or self.is_listed(origin):
            return True
        scheme, _, origin_authority = origin.lower().partition("://")
        return scheme in ("http", "https") and origin_authority == authority.lower()


#: Headers added by proxies. A request with one of them counts as coming from another
#: machine, whatever its address.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via", "cf-connecting-ip")


def read_client_address(headers: Mapping[str, str], address: str) -> str:
    """Return the address of a client.

    Behind a proxy on this machine it is the last address that the proxy reports.
    """
    with contextlib.suppress(ValueError):
        if is_loopback(address):
            forwarded = headers.get("x-forwarded-for", "").rpartition(",")[2]
            return str(ipaddress.ip_address(forwarded.strip()))
    return address


def is_this_machine(headers: Mapping[str, str], address: str) -> bool:
    """Return whether a request comes from this machine.

    A request by a browser must also come from a page that this machine serves.
    """
    if not is_loopback(address) or any(name in headers for name in _FORWARDED):
        return False
    hosts = [headers.get("host", "")]
    if "origin" in headers:
        hosts.append(headers["origin"].partition("://")[2])
    return all(is_loopback(parse_host(host)) for host in hosts)


_RESOURCE_POLICY = "Cross-Origin-Resource-Policy"
PREFLIGHT = (
    ("Access-Control-Allow-Methods", "GET, HEAD"),
    ("Access-Control-Allow-Headers", "Authorization, If-None-Match"),
    ("Access-Control-Max-Age", "600"),
)


def allow_origin(response: HttpResponse, origin: str) -> HttpResponse:
    """Return the response with headers that let pages of an origin read it.

    See CORS in the Fetch standard (fetch.spec.whatwg.org).
    """
    other_headers = (
        header for header in response.headers if header[0] != _RESOURCE_POLICY
    )
    open = (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", "ETag"),
        ("Vary", "Origin"),
        (_RESOURCE_POLICY, "cross-origin"),
    )
    return replace(response, headers=(*other_headers, *open))
