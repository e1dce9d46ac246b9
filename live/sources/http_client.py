"""HTTP client for all sources: it limits the size of bodies and translates errors.

Every error that httpx can raise is converted to :class:`FeedTrouble` here and nowhere
else.
"""

import asyncio
import logging
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx

from live import __version__
from live.messages.values import FeedName, Value
from live.settings import FeedsConfig
from live.sources.private_redirects import InwardRedirect, reject_private_redirect
from live.sources.retry import (
    FeedTrouble,
    create_permanent_trouble,
    describe_os_error,
    read_http_date,
    translate_status,
)
from live.sources.source_address import split_address

# httpx logs the URL of every request, including secrets in it.
logging.getLogger("httpx").setLevel(logging.WARNING)

#: Greatest size of a file or of one answer from a source, bytes.
MAX_BYTES = 64_000_000
#: Greatest number of redirects: enough for http → https → www → a CDN and back. More
#: indicate a loop or a login page.
REDIRECTS = 5
#: The only content coding that is requested and accepted.
GZIP = ("gzip", "x-gzip")
#: An answer is abandoned if its headers take longer than :data:`PATIENCE_BEGIN` times
#: the configured time-out, or the whole answer longer than :data:`PATIENCE` times.
PATIENCE_BEGIN = 3
PATIENCE = 12
#: Number of pieces of a body that are read before other tasks get a turn. A source can
#: send each byte as a separate piece, which takes about 0.05 ms.
PIECES_A_TURN = 32
#: A body with more than :data:`PIECES` pieces is abandoned if they have fewer than
#: :data:`PIECE_BYTES` bytes on average.
PIECES = 4096
PIECE_BYTES = 16
#: A file that was changed within this time before the answer might change again without
#: a new modification time. Modification times are in whole seconds, on some drives in
#: steps of two.
_FRESH = timedelta(seconds=2)


class HttpBody(Value):
    """Body of an answer, with its content type and its validators."""

    body: bytes
    content_type: str
    validators: dict[str, str]
    """Headers that make the next request conditional (RFC 9110, section 13), by
    name.
    """


def read_validators(headers: Mapping[str, str], now: datetime) -> dict[str, str]:
    """Return the headers with which the next request asks for the body only if it has
    changed; empty if the answer provides none that can be used.

    A file can be written again within the second of its modification time, and many
    servers derive the entity tag from that time. So neither is used if the file was
    changed shortly before the answer (RFC 9110, section 8.8.2.2). ``now`` is used for
    answers without a date.
    """
    tag, modified = (headers.get(name, "") for name in ("ETag", "Last-Modified"))
    if modified:
        modified_at = read_http_date(modified)
        if modified_at is None:
            modified = ""
        elif (read_http_date(headers.get("Date", "")) or now) - modified_at < _FRESH:
            return {}
    # If-None-Match compares weakly (RFC 9110, section 13.1.2). But some servers compare
    # strings, and some proxies turn strong tags into weak ones (nginx with gzip). So
    # send the tag in its strong form, too.
    strong_tag = tag.removeprefix("W/")
    validators = {
        "If-None-Match": tag if strong_tag == tag else f"{tag}, {strong_tag}",
        "If-Modified-Since": modified,
    }
    return {
        name: value for name, value in validators.items() if value and value.isascii()
    }


@asynccontextmanager
async def open_client(config: FeedsConfig) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client for one source. The client is created in a thread because loading
    certificates takes tens of milliseconds.
    """
    client = await asyncio.to_thread(
        httpx.AsyncClient,
        timeout=config.timeout_s,
        follow_redirects=True,
        max_redirects=REDIRECTS,
        headers={"User-Agent": f"live-rate/{__version__}", "Accept-Encoding": "gzip"},
        event_hooks={"response": [reject_private_redirect]},
    )
    async with client:
        yield client


@asynccontextmanager
async def open_request(
    http: httpx.AsyncClient,
    feed: FeedName,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    endless: bool = False,
) -> AsyncIterator[httpx.Response]:
    """Send a GET request and yield its answer if its status is 2xx or 304; raise
    FeedTrouble for any other.

    Errors inside the block, while the body is read, are also translated. ``endless``
    removes the time-out between bytes, for streams that set their own deadline.
    """
    usual_s = http.timeout.read or 5.0
    timeout = httpx.Timeout(usual_s, read=None if endless else usual_s)
    try:
        async with AsyncExitStack() as stack:
            try:
                # Without a time-out between bytes, nothing else limits the wait for the
                # headers.
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
            _refuse_other_codings(feed, response)
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
    """Return the whole body at a URL, or None if it has not changed since the answer
    from which ``headers`` were taken.

    Raises :class:`FeedTrouble`, also if the body is larger than ``max_bytes`` (no more
    than that is kept in memory) or arrives too slowly.
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
    validators = read_validators(response.headers, datetime.now(UTC))
    return HttpBody(body, response.headers.get("Content-Type", ""), validators)


async def yield_between_pieces(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces of a body, and let other tasks run after every
    :data:`PIECES_A_TURN` pieces.
    """
    count = 0
    async for piece in pieces:
        yield piece
        count += 1
        if count % PIECES_A_TURN == 0:
            await asyncio.sleep(0)


async def _read_body(response: httpx.Response, feed: FeedName, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    if "gzip" in response.headers.get("Content-Encoding", "").lower():
        whole = _inflate_body(response, max_bytes + 1)
    else:
        whole = response.aiter_bytes()
    async for part in yield_between_pieces(whole):
        size += len(part)
        if size > max_bytes:
            problem = f"answers with more than {max_bytes} bytes"
            raise create_permanent_trouble(
                feed, problem, "Give the address of one event"
            )
        parts.append(part)
        if len(parts) > PIECES and size < PIECE_BYTES * len(parts):
            raise FeedTrouble(
                f"the answer comes in pieces of {size / len(parts):.1f} bytes"
            )
    return b"".join(parts)


def _refuse_other_codings(feed: FeedName, response: httpx.Response) -> None:
    """Raise FeedTrouble for a content coding that was not requested, and for a
    combination of codings: each coding multiplies the size to which a few bytes can
    grow.
    """
    listed = response.headers.get("Content-Encoding", "").lower().split(",")
    codings = [
        coding.strip() for coding in listed if coding.strip() not in ("", "identity")
    ]
    if len(codings) > 1 or any(coding not in GZIP for coding in codings):
        problem = (
            f"answers compressed as {', '.join(codings)[:80]}, which was not requested"
        )
        raise create_permanent_trouble(
            feed, problem, "Set its server to send gzip or no compression"
        )


async def _inflate_body(
    response: httpx.Response, max_bytes: int
) -> AsyncIterator[bytes]:
    """Yield the decompressed body in pieces, at most ``max_bytes`` bytes in total."""
    inflate = zlib.decompressobj(wbits=31)
    size = 0
    async for part in response.aiter_raw():
        try:
            piece = inflate.decompress(part, max(1, max_bytes - size))
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from error
        size += len(piece)
        yield piece


def translate_error(feed: FeedName, error: Exception, host: str) -> FeedTrouble:
    """Translate an error of httpx. The text never contains the URL, which might contain
    a secret.
    """
    match error:
        case httpx.TooManyRedirects():
            return create_permanent_trouble(
                feed, "redirects endlessly", "Check the address"
            )
        case InwardRedirect():
            problem = "redirects to an address of this machine or its network"
            return create_permanent_trouble(
                feed, problem, "If that is intended, follow that address directly"
            )
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return create_permanent_trouble(
                feed, "is not an http or https address", "Check the address"
            )
        case httpx.ConnectError():
            return FeedTrouble(f"cannot reach {host}{_describe_cause(error)}")
    default = f"the request failed ({type(error).__name__})"
    words = next(
        (words for kind, words in _WORDS.items() if isinstance(error, kind)), default
    )
    return FeedTrouble(words.format(host=host))


#: Descriptions of further errors, by class; the first matching class counts.
_WORDS: dict[type[Exception], str] = {
    httpx.ConnectTimeout: "{host} does not answer",
    httpx.TimeoutException: "{host} has stopped answering",
    httpx.ProxyError: "the proxy refuses the connection",
    httpx.DecodingError: "the answer's compression is damaged",
    httpx.ProtocolError: "{host} stopped in mid-answer or does not speak HTTP",
    httpx.TransportError: "connection to {host} lost",
}


def _host_of(url: str) -> str:
    parts = split_address(url)
    return (parts and parts.hostname) or "the source"


def _describe_cause(error: BaseException) -> str:
    """Return the operating system's description of the cause of an error, in brackets:
    `` (Connection refused)``.
    """
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
