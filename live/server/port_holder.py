"""Finds out which program listens on a port that should be free."""

import asyncio

from live.errors import PortInUse

#: Maximum time for the answer of the program, seconds.
_ANSWER_S = 2.0
#: Number of bytes of the answer that are read; the title of the page is within.
_READ_BYTES = 4096
_REQUEST = b"GET / HTTP/1.1\r\nHost: %b:%d\r\nConnection: close\r\n\r\n"


async def name_port_holder(error: PortInUse, host: str, port: int) -> PortInUse:
    """Return the error with the name of the program that listens, as far as it can be
    known: a live-rate shows its name on its page.
    """
    page = await _read_page(host, port)
    if b"live-rate" not in page:
        problem = "another program listens there, not a live-rate as far as is known"
        return PortInUse(error.subject, problem, error.remedy)
    name = f"[{host}]" if ":" in host else host
    return PortInUse(
        error.subject,
        "another live-rate listens there",
        f"See it with live-rate watch ws://{name}:{port}, end it, or choose another"
        " port with --port (0 takes any free one)",
    )


async def _read_page(host: str, port: int) -> bytes:
    """Return the beginning of the page at the address; empty without an answer."""
    try:
        async with asyncio.timeout(_ANSWER_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(_REQUEST % (host.encode(), port))
                page = b""
                while len(page) < _READ_BYTES and not reader.at_eof():
                    page += await reader.read(_READ_BYTES)
                return page
            finally:
                writer.close()
    except OSError:  # a time-out is also an OSError
        return b""
