"""Entity tags, gzip, and how long caches may keep an answer. Pure.

An answer is packed once for all who are sent the same.
"""

import gzip
import hashlib
from functools import lru_cache, partial

from msgspec.structs import replace

from live.server.http_values import JSON, REVALIDATE, HttpRequest, HttpResponse

#: Gzip blocks the loop, so its results are cached: one cache for data, which changes
#: all the time, and one for pages. Without a time stamp, equal bodies have equal tags,
#: also after a restart.
_gzip_data = lru_cache(8)(partial(gzip.compress, compresslevel=1, mtime=0))
_gzip_page = lru_cache(128)(partial(gzip.compress, compresslevel=9, mtime=0))
#: Largest body that is packed as a page. A study's drawing may be larger, and would
#: block the loop for long.
_PAGE_BYTES = 500_000
#: How long a shared cache may answer polls and pages by itself, in seconds: however
#: many clients ask, the service is asked once in that time.
SHARED_DATA_S = 1
SHARED_PAGE_S = 10
#: Media types that are packed as pages.
_PAGES = ("text/html", "text/javascript", "text/css", "image/svg")
_TEXTS = (JSON, "application/x-chess-pgn", *_PAGES)
_WORTH_BYTES = 300


def allow_shared_caching(for_s: int) -> tuple[str, str]:
    """Let shared caches answer for :data:`SHARED_DATA_S`; browsers ask each time (RFC
    9111, section 5.2.2.10).
    """
    return "Cache-Control", f"public, max-age=0, s-maxage={for_s}"


def share_public_answer(response: HttpResponse) -> HttpResponse:
    """Let shared caches keep an answer, one for each token and origin."""
    kept = (each for each in response.headers if each not in REVALIDATE)
    headers = (
        *kept,
        allow_shared_caching(SHARED_DATA_S),
        ("Vary", "Authorization, Origin"),
    )
    return replace(response, headers=headers)


def compress_response(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Add the entity tag; 304 without a body when the client holds it (RFC 9110,
    13.1.2), else the body by gzip where the client takes that and it is worth it: pages
    are opened over hotel networks, and a fresh page is a third of its size so.
    """
    headers = response.headers
    body = response.body
    kind = dict(headers)["Content-Type"]
    tag = hashlib.blake2b(body, digest_size=12).hexdigest()
    packs = len(body) >= _WORTH_BYTES and kind.startswith(_TEXTS)
    if packs:
        headers = (*headers, ("Vary", "Accept-Encoding"))
        packs = can_take_gzip(request.headers.get("accept-encoding", ""))
    # Each encoding has a tag of its own (RFC 9110, section 8.8.3.3).
    tag = f'"{tag}-gzip"' if packs else f'"{tag}"'
    headers = (*headers, ("ETag", tag))
    held = request.headers.get("if-none-match", "")
    if held.strip() == "*" or tag in (
        each.strip().removeprefix("W/") for each in held.split(",")
    ):
        return HttpResponse(
            304, tuple(each for each in headers if each[0] != "Content-Type")
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
    for each in accepted.lower().split(","):
        name, _, parameters = each.partition(";")
        weights[name.strip()] = parameters.replace(" ", "").rstrip("0.") != "q="
    return weights.get("gzip", weights.get("*", False))
