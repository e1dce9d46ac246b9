"""HTTP as all feeds use it: one client, bounded bodies, one translation of what goes
wrong.

Everything httpx can raise becomes :class:`FeedTrouble` here and nowhere else.
"""

import asyncio
import ipaddress
import logging
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from live import __version__
from live.messages.values import FeedName, Value
from live.settings import FeedsConfig
from live.sources.retry import (
    FeedTrouble,
    create_fatal_trouble,
    describe_os_error,
    read_http_date,
    translate_status,
)
from live.sources.source_address import split_address

# httpx logs every URL it asks for, with whatever secret is in it.
logging.getLogger("httpx").setLevel(logging.WARNING)

#: The most bytes that a file or one answer of a source may have.
MAX_BYTES = 64_000_000
#: Enough for http → https → www → a CDN and back; more is a loop or a login.
REDIRECTS = 5
#: The only coding of bodies that is asked for, and taken.
GZIP = ("gzip", "x-gzip")
#: An answer that takes longer than this many time-outs to begin, or in all, is given
#: up.
PATIENCE_BEGIN = 3
PATIENCE = 12
#: Pieces of a body taken in one turn of the loop: a source may send every byte as a
#: piece of its own, and each costs some 0.05 ms.
PIECES_A_TURN = 32
#: A body of more pieces than this is given up where these hold few bytes each.
PIECES = 4096
PIECE_BYTES = 16
#: A file that was changed so short a time before the answer may change again under the
#: same time: times are whole seconds, two on some drives.
_FRESH = timedelta(seconds=2)


class HttpBody(Value):
    """A body with what is worth knowing about it."""

    body: bytes
    content_type: str
    validators: dict[str, str]
    """Headers that make the next request conditional (RFC 9110, section 13)."""


def read_validators(headers: Mapping[str, str], now: datetime) -> dict[str, str]:
    """Return what a server gives to compare with; empty where that is nothing, or
    cannot be sent back.

    A file can be written again within the second that its time names, and many servers
    make the entity tag of that time, too. So neither counts of an answer that is hardly
    younger (RFC 9110, section 8.8.2.2). ``now`` is for answers without a date.
    """
    tag, modified = (headers.get(name, "") for name in ("ETag", "Last-Modified"))
    if modified:
        modified_at = read_http_date(modified)
        if modified_at is None:
            modified = ""
        elif (read_http_date(headers.get("Date", "")) or now) - modified_at < _FRESH:
            return {}
    # If-None-Match compares weakly (RFC 9110, 13.1.2), but some servers compare
    # strings, and some turn strong tags weak on the way (nginx with gzip). Both forms.
    strong = tag.removeprefix("W/")
    both = {
        "If-None-Match": tag if strong == tag else f"{tag}, {strong}",
        "If-Modified-Since": modified,
    }
    return {name: value for name, value in both.items() if value and value.isascii()}


@asynccontextmanager
async def open_client(config: FeedsConfig) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client for one source. It is made in a thread: loading certificates takes
    tens of ms.
    """
    made = await asyncio.to_thread(
        httpx.AsyncClient,
        timeout=config.timeout_s,
        follow_redirects=True,
        max_redirects=REDIRECTS,
        headers={"User-Agent": f"live-rate/{__version__}", "Accept-Encoding": "gzip"},
        event_hooks={"response": [_reject_private_redirect]},
    )
    async with made:
        yield made


@asynccontextmanager
async def open_request(
    http: httpx.AsyncClient,
    feed: FeedName,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    endless: bool = False,
) -> AsyncIterator[httpx.Response]:
    """Send a GET and yield its answer if that is worth reading (2xx or 304); raise
    FeedTrouble for any other.

    Errors while the body is read, inside the block, are translated as well. ``endless``
    lifts the time-out between bytes, for streams that set their own deadline.
    """
    usual_s = http.timeout.read or 5.0
    timeout = httpx.Timeout(usual_s, read=None if endless else usual_s)
    try:
        async with AsyncExitStack() as stack:
            try:
                # Without a time-out between bytes nothing else bounds the wait for the
                # first.
                async with asyncio.timeout(PATIENCE_BEGIN * usual_s):
                    response = await stack.enter_async_context(
                        http.stream("GET", url, headers=headers, timeout=timeout)
                    )
            except TimeoutError:
                raise FeedTrouble(f"{_host_of(url)} does not answer") from None
            trouble = translate_status(
                feed,
                response.status_code,
                response.headers.get("Retry-After"),
                datetime.now(UTC),
            )
            if trouble is not None:
                raise trouble
            _check_coding(feed, response)
            yield response
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise translate_error(feed, error, _host_of(url)) from error


async def fetch_body(
    http: httpx.AsyncClient,
    feed: FeedName,
    url: str,
    *,
    max_bytes: int = MAX_BYTES,
    headers: Mapping[str, str] | None = None,
) -> HttpBody | None:
    """Return the whole body at a URL, or None when it has not changed since the
    validators among ``headers``.

    Raises :class:`FeedTrouble`; also for a body above ``max_bytes`` (no more than that
    is kept in memory) and for one that drips in without end.
    """
    try:
        async with (
            asyncio.timeout(PATIENCE * (http.timeout.read or 5.0)),
            open_request(http, feed, url, headers=headers) as response,
        ):
            if response.status_code == 304:
                return None
            body = await _read_body(response, feed, max_bytes)
    except TimeoutError:
        raise FeedTrouble("the answer came too slowly") from None
    found = read_validators(response.headers, datetime.now(UTC))
    return HttpBody(body, response.headers.get("Content-Type", ""), found)


async def yield_between_pieces(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces of a body, so that others have their turn between any
    :data:`PIECES_A_TURN`.
    """
    taken = 0
    async for piece in pieces:
        yield piece
        taken += 1
        if taken % PIECES_A_TURN == 0:
            await asyncio.sleep(0)


async def _read_body(response: httpx.Response, feed: FeedName, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    packed = _check_coding(feed, response)
    whole = _inflate_body(response, max_bytes + 1) if packed else response.aiter_bytes()
    async for part in yield_between_pieces(whole):
        size += len(part)
        if size > max_bytes:
            problem = f"answers with more than {max_bytes} bytes"
            raise create_fatal_trouble(feed, problem, "Give the address of one event")
        parts.append(part)
        if len(parts) > PIECES and size < PIECE_BYTES * len(parts):
            raise FeedTrouble(
                f"the answer comes in pieces of {size / len(parts):.1f} bytes"
            )
    return b"".join(parts)


def _check_coding(feed: FeedName, response: httpx.Response) -> bool:
    """Return whether the body is compressed. Refuse codings that were not asked for:
    each further one multiplies what a few bytes grow to.
    """
    named = response.headers.get("Content-Encoding", "").lower().split(",")
    codings = [each.strip() for each in named if each.strip() not in ("", "identity")]
    if len(codings) > 1 or any(each not in GZIP for each in codings):
        problem = (
            f"answers compressed as {', '.join(codings)[:80]}, which nobody asked for"
        )
        raise create_fatal_trouble(feed, problem, "Have its server send gzip, or none")
    return bool(codings)


async def _inflate_body(response: httpx.Response, most: int) -> AsyncIterator[bytes]:
    """Yield the body without its coding, in pieces that bring it to ``most`` bytes at
    the most.
    """
    inflate = zlib.decompressobj(wbits=31)
    done = 0
    async for part in response.aiter_raw():
        try:
            piece = inflate.decompress(part, max(1, most - done))
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from error
        done += len(piece)
        yield piece


class InwardRedirect(httpx.RequestError):
    """A source elsewhere redirects to this machine or its network."""


async def _reject_private_redirect(response: httpx.Response) -> None:
    """Refuse a redirect from a public address to a private one: a page of a stranger
    must not have us ask what only this machine can reach. Whoever means such an address
    names it. What comes with a redirect is read by nobody, however much that is.
    """
    if not response.has_redirect_location:
        return
    # Its name may have stood for another address when it was connected to. A socket
    # that is closed does not know, and closed it is with a body that nobody reads.
    stream = response.extensions.get("network_stream")
    peer = stream and stream.get_extra_info("server_addr")
    assert isinstance(response.stream, httpx.AsyncByteStream)
    await response.stream.aclose()
    response.stream = httpx.ByteStream(b"")
    request = response.request
    there = request.url.join(response.headers["Location"]).host
    if await _is_private_host(request.url.host) and not (
        peer and _is_public(_parse_address(peer[0]))
    ):
        return
    if await _is_private_host(there):
        raise InwardRedirect("", request=request)
    # A name may be given another address when it is looked up to connect; it goes on to
    # further redirects with the rest of the request.
    request.extensions["trace"] = OutwardConnection(request)


class OutwardConnection:
    """Refuses a connection to an address that is not public before anything is sent on
    it; one to a proxy, which asks in its own name, is left alone. For httpx's
    ``trace``.
    """

    def __init__(self, request: httpx.Request) -> None:
        self._request = request
        self._host = ""

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.started":
            self._host = str(info["host"])
        elif event == "connection.connect_tcp.complete" and self._host not in (
            urlsplit(each).hostname or each for each in getproxies().values()
        ):
            stream = info["return_value"]
            peer = stream.get_extra_info("server_addr")
            if peer and not _is_public(_parse_address(peer[0])):
                await stream.aclose()
                raise InwardRedirect("", request=self._request)


def _parse_address(text: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the address that a system says, without a link-local one's scope."""
    return ipaddress.ip_address(str(text).partition("%")[0])


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Tell whether the whole internet sees it."""
    # A socket for both families says the IPv4 address that it is connected to in this
    # form.
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_global)


async def _is_private_host(host: str) -> bool:
    """Return whether a name or address is not one that the whole internet sees."""
    try:
        found = [_parse_address(host.strip("[]"))]
    except ValueError:
        try:
            infos = await asyncio.get_running_loop().getaddrinfo(host, None)
        except (OSError, UnicodeError):
            return False  # connecting fails as well, and says why
        found = [_parse_address(info[4][0]) for info in infos]
    return not all(map(_is_public, found))


def translate_error(feed: FeedName, error: Exception, host: str) -> FeedTrouble:
    """Return what an error of httpx means. The text never holds the URL, which may hold
    a secret.
    """
    match error:
        case httpx.TooManyRedirects():
            return create_fatal_trouble(
                feed, "redirects without end", "Check the address"
            )
        case InwardRedirect():
            problem = "redirects to an address of this machine or its network"
            return create_fatal_trouble(
                feed, problem, "Follow that address itself if it is meant"
            )
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return create_fatal_trouble(
                feed, "is no http or https address", "Check the address"
            )
        case httpx.ConnectError():
            return FeedTrouble(f"cannot reach {host}{_describe_cause(error)}")
    vague = f"the request failed ({type(error).__name__})"
    words = next(
        (words for kind, words in _WORDS.items() if isinstance(error, kind)), vague
    )
    return FeedTrouble(words.format(host=host))


#: What other errors mean; the first kind that fits counts.
_WORDS: dict[type[Exception], str] = {
    httpx.ConnectTimeout: "{host} does not answer",
    httpx.TimeoutException: "{host} has stopped answering",
    httpx.ProxyError: "the proxy refuses the connection",
    httpx.DecodingError: "the answer's compression is damaged",
    httpx.ProtocolError: "{host} broke off in mid-answer or does not speak HTTP",
    httpx.TransportError: "connection to {host} lost",
}


def _host_of(url: str) -> str:
    parts = split_address(url)
    return (parts and parts.hostname) or "the source"


def _describe_cause(error: BaseException) -> str:
    """Return the system's words at the root of an error: `` (Connection refused)``."""
    root: BaseException | None = error
    while root is not None:
        if isinstance(root, OSError) and root.strerror:
            words = describe_os_error(root)
            refused = isinstance(root, ssl.SSLError) or "certificate" in words.lower()
            return (
                f" ({'its certificate or TLS is not accepted' if refused else words})"
            )
        root = root.__cause__ or root.__context__
    return ""
