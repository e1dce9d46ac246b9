"""Refusal of redirects from a public source to this computer or its local network."""

import asyncio
import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx


class InwardRedirect(httpx.RequestError):
    """Raised if a public source redirects to this computer or its local network."""


async def reject_private_redirect(response: httpx.Response) -> None:
    """Refuse a redirect from a public address to a private one: a foreign page must not
    make this service send requests to addresses that only this computer can reach.
    People who want such a source can give its address directly. The body of a redirect
    is not read, whatever its size.
    """
    if not response.has_redirect_location:
        return
    # The host name might have had another address when the connection was made, so use
    # the address of the connection. Read it first: a closed socket no longer knows it,
    # and skipping the unread body closes the socket.
    stream = response.extensions.get("network_stream")
    peer = stream and stream.get_extra_info("server_addr")
    assert isinstance(response.stream, httpx.AsyncByteStream)
    await response.stream.aclose()
    response.stream = httpx.ByteStream(b"")
    request = response.request
    target_host = request.url.join(response.headers["Location"]).host
    if await _is_private_host(request.url.host) and not (
        peer and _is_public(_parse_address(peer[0]))
    ):
        return
    if await _is_private_host(target_host):
        raise InwardRedirect("", request=request)
    # The name can have another address when it is looked up for the connection, so
    # check the connection too. The extension stays on the request for further
    # redirects.
    request.extensions["trace"] = _OutwardConnection(request)


class _OutwardConnection:
    """Callback for httpx's ``trace`` that refuses a connection to a private address
    before anything is sent. Connections to a configured proxy are allowed, since the
    proxy sends the request in its own name.
    """

    def __init__(self, request: httpx.Request) -> None:
        self._request = request
        self._host = ""

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.started":
            self._host = str(info["host"])
        elif event == "connection.connect_tcp.complete" and self._host not in (
            urlsplit(proxy).hostname or proxy for proxy in getproxies().values()
        ):
            stream = info["return_value"]
            peer = stream.get_extra_info("server_addr")
            if peer and not _is_public(_parse_address(peer[0])):
                await stream.aclose()
                raise InwardRedirect("", request=self._request)


def _parse_address(text: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address that the operating system reports, without the scope of a
    link-local address.
    """
    return ipaddress.ip_address(str(text).partition("%")[0])


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether an address can be reached from the whole internet."""
    # An IPv6 socket that is connected to an IPv4 address reports it in mapped form.
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_global)


async def _is_private_host(host: str) -> bool:
    """Return whether a name or address cannot be reached from the whole internet."""
    try:
        addresses = [_parse_address(host.strip("[]"))]
    except ValueError:
        try:
            infos = await asyncio.get_running_loop().getaddrinfo(host, None)
        except (OSError, UnicodeError):
            return False  # connecting will fail too, and report the reason
        addresses = [_parse_address(info[4][0]) for info in infos]
    return not all(map(_is_public, addresses))
