"""Entity tags, gzip, and the time for which caches can store an answer. Pure.

Equal answers are compressed only once.
"""

import gzip
import hashlib
from functools import lru_cache, partial

from msgspec.structs import replace

from live.server.http_values import JSON, REVALIDATE, HttpRequest, HttpResponse

#: Gzip blocks the event loop, so its results are cached: in one cache for data, which
#: changes often, and in one for pages. The compressed data contains no time stamp
#: (mtime=0), so equal bodies give equal bytes, even after a restart.
_gzip_data = lru_cache(8)(partial(gzip.compress, compresslevel=1, mtime=0))
_gzip_page = lru_cache(128)(partial(gzip.compress, compresslevel=9, mtime=0))
#: Maximum size of a body that is compressed as a page, bytes. A drawing of a study can
#: be larger, and would block the event loop for a long time.
_PAGE_BYTES = 500_000
#: Time for which a shared cache can answer requests for data and for pages by itself,
#: seconds. In this time it asks the service only once, however many clients there are.
_SHARED_DATA_S = 1
SHARED_PAGE_S = 10
#: Prefixes of the media types of pages and of what pages load.
_PAGES = ("text/html", "text/javascript", "text/css", "image/svg")
_TEXTS = (JSON, "application/x-chess-pgn", *_PAGES)
_WORTH_BYTES = 300


def allow_shared_caching(for_s: int) -> tuple[str, str]:
    """Return a header that lets shared caches answer for ``for_s`` seconds.

    Browsers still ask each time (RFC 9111, section 5.2.2.10).
    """
    return "Cache-Control", f"public, max-age=0, s-maxage={for_s}"


def share_public_answer(response: HttpResponse) -> HttpResponse:
    """Return the response with headers that let shared caches store it for a moment.

    Caches store a separate answer for each token and each origin.
    """
    other_headers = (header for header in response.headers if header not in REVALIDATE)
    headers = (
        *other_headers,
        allow_shared_caching(_SHARED_DATA_S),
        ("Vary", "Authorization, Origin"),
    )
    return replace(response, headers=headers)


def compress_response(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return the response with an entity tag, compressed if that is useful.

    If the client already has this version, return 304 without a body (RFC 9110, section
    13.1.2). Otherwise the body is compressed with gzip, provided that the client
    accepts this and the body is not short. Pages are opened over slow hotel networks,
    and gzip reduces a page to a third of its size.
    """
    headers = response.headers
    body = response.body
    kind = dict(headers)["Content-Type"]
    tag = hashlib.blake2b(body, digest_size=12).hexdigest()
    packs = len(body) >= _WORTH_BYTES and kind.startswith(_TEXTS)
    if packs:
        headers = (*headers, ("Vary", "Accept-Encoding"))
        packs = can_take_gzip(request.headers.get("accept-encoding", ""))
    # Each encoding needs its own tag (RFC 9110, section 8.8.3.3).
    tag = f'"{tag}-gzip"' if packs else f'"{tag}"'
    headers = (*headers, ("ETag", tag))
    known_tags = request.headers.get("if-none-match", "")
    if known_tags.strip() == "*" or tag in (
        known_tag.strip().removeprefix("W/") for known_tag in known_tags.split(",")
    ):
        return HttpResponse(
            304, tuple(header for header in headers if header[0] != "Content-Type")
        )
    if packs:
        page = kind.startswith(_PAGES) and len(body) <= _PAGE_BYTES
        body = _gzip_page(body) if page else _gzip_data(body)
        headers = (*headers, ("Content-Encoding", "gzip"))
    return HttpResponse(200, headers, body)


def can_take_gzip(accepted: str) -> bool:
    """Return whether an ``Accept-Encoding`` header allows gzip (RFC 9110, section
    12.5.3).
    """
    weights: dict[str, bool] = {}
    for coding in accepted.lower().split(","):
        name, _, parameters = coding.partition(";")
        weights[name.strip()] = parameters.replace(" ", "").rstrip("0.") != "q="
    return weights.get("gzip", weights.get("*", False))
