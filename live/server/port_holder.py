"""Finds out which program listens on a port that should be free."""

import asyncio
import ssl

from live.errors import PortInUse
from live.server.listening import build_authority, choose_own_address

#: Maximum time for the answer of the program, seconds.
_ANSWER_S = 2.0
#: Number of bytes of the answer that are read; the title of the page is within.
_READ_BYTES = 4096
_REQUEST = "GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"


async def name_port_holder(error: PortInUse, host: str, port: int) -> PortInUse:
    """Return the error with the name of the program that listens, as far as it can be
    known: a live-rate shows its name on its page.
    """
    own = choose_own_address(host)
    for scheme, tls in (("ws", None), ("wss", _build_trusting_context())):
        if b"live-rate" in await _read_page(own, port, tls):
            url = f"{scheme}://{build_authority(own, port)}"
            return PortInUse(
                error.subject,
                "another live-rate listens there",
                f"See it with live-rate watch {url}, end it, or choose another"
                " port with --port (0 takes any free one)",
            )
    return PortInUse(
        error.subject,
        "another program listens there, which does not answer as live-rate",
        error.remedy,
    )


def _build_trusting_context() -> ssl.SSLContext:
    """Return a TLS context that accepts any certificate: only a name is asked for."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def _read_page(host: str, port: int, tls: ssl.SSLContext | None) -> bytes:
    """Return the beginning of the page at the address; empty without an answer."""
    request = _REQUEST.format(build_authority(host, port))
    try:
        async with asyncio.timeout(_ANSWER_S):
            reader, writer = await asyncio.open_connection(host, port, ssl=tls)
            try:
                writer.write(request.encode())
                page = b""
                while len(page) < _READ_BYTES and not reader.at_eof():
                    page += await reader.read(_READ_BYTES)
                return page
            finally:
                writer.close()
    except OSError:  # a time-out and a failed TLS handshake are OSErrors, too
        return b""
