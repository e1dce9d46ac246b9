"""HTTP as values: requests, whole responses, and the headers that every one carries.
Pure.
"""

import http
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from live.messages.values import Value


class ProblemAnswer(Value):
    """Why a request was refused or failed (RFC 9457)."""

    status: int
    title: str
    detail: str


JSON = "application/json"
#: For everything but pages: it may load nothing, and nobody may frame it.
NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"
_COMMON = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
NO_STORE = (("Cache-Control", "no-store"),)
#: Sent with answers that are not available now.
LATER = (("Retry-After", "5"),)
#: Answers that a browser asks about each time.
REVALIDATE = (("Cache-Control", "no-cache"),)
Pairs = tuple[tuple[str, str], ...]
"""Header fields, or parameters of a query."""


class HttpRequest(Value):
    """One request, without its body: no route takes one."""

    method: str
    path: str
    """Percent-decoded."""
    query: Pairs
    headers: dict[str, str]
    """Names in lower case; of a repeated header the values are joined by ``, ``."""


class HttpResponse(Value):
    """One whole response."""

    status: int
    headers: Pairs
    body: bytes = b""


def respond(
    status: int,
    content_type: str,
    body: bytes,
    headers: Iterable[tuple[str, str]],
    policy: str = NO_CONTENT_POLICY,
) -> HttpResponse:
    """Build a response with the headers that every one carries."""
    own = (("Content-Type", content_type), ("Content-Security-Policy", policy))
    return HttpResponse(status, (*own, *_COMMON, *headers), body)


def problem(
    status: int, detail: str, headers: Iterable[tuple[str, str]] = ()
) -> HttpResponse:
    """Build an error as JSON (RFC 9457)."""
    title = http.HTTPStatus(status).phrase
    body = msgspec.json.encode(ProblemAnswer(status, title, detail))
    return respond(status, "application/problem+json", body, (*NO_STORE, *headers))


#: The answer to no token, or a wrong one (RFC 6750, section 3).
UNKNOWN = problem(
    401,
    "a valid token is needed: Authorization: Bearer TOKEN",
    [("WWW-Authenticate", 'Bearer realm="live-rate"')],
)


def read_target(target: str) -> tuple[str, Pairs]:
    """Decode path and query of a request target.

    Raises:
        ValueError: not an absolute path, or not UTF-8 once decoded.
    """
    if not target.startswith("/"):
        raise ValueError(target)
    # "//host/…" would be taken for a host by urlsplit; as a path it is just odd.
    parts = urlsplit(f"http://host{target}")
    query = parse_qsl(
        parts.query, keep_blank_values=True, errors="strict", max_num_fields=128
    )
    return unquote(parts.path, errors="strict"), tuple(query)
