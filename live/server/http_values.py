"""HTTP requests and responses as values, with the headers of every response. Pure."""

import http
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from live.messages.values import Value


class ProblemAnswer(Value):
    """The reason why a request was refused or failed (RFC 9457)."""

    status: int
    title: str
    detail: str


JSON = "application/json"
HTML = "text/html; charset=utf-8"
#: Content security policy of everything other than pages: it cannot load anything and
#: cannot be shown in a frame.
NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"
_COMMON = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
NO_STORE = (("Cache-Control", "no-store"),)
#: Header of responses to requests that can succeed later.
LATER = (("Retry-After", "5"),)
#: Header that makes a browser check each time whether its copy is still valid.
REVALIDATE = (("Cache-Control", "no-cache"),)
Pairs = tuple[tuple[str, str], ...]
"""Header fields, or parameters of a query."""


class HttpRequest(Value):
    """One request. It has no body, since no route accepts one."""

    method: str
    path: str
    """The path, percent-decoded."""
    query: Pairs
    headers: dict[str, str]
    """Values by header name in lower case. The values of a repeated header are joined
    with ``, ``.
    """


class HttpResponse(Value):
    """One complete response."""

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
    """Return a response with the common headers and a content security policy."""
    own = (("Content-Type", content_type), ("Content-Security-Policy", policy))
    return HttpResponse(status, (*own, *_COMMON, *headers), body)


def problem(
    status: int, detail: str, headers: Iterable[tuple[str, str]] = ()
) -> HttpResponse:
    """Return an error response as JSON (RFC 9457)."""
    title = http.HTTPStatus(status).phrase
    body = msgspec.json.encode(ProblemAnswer(status, title, detail))
    return respond(status, "application/problem+json", body, (*NO_STORE, *headers))


#: The response if a token is missing or wrong (RFC 6750, section 3).
UNKNOWN = problem(
    401,
    "a valid token is needed: Authorization: Bearer TOKEN",
    [("WWW-Authenticate", 'Bearer realm="live-rate"')],
)


def read_target(target: str) -> tuple[str, Pairs]:
    """Return the decoded path and the query parameters of a request target.

    Raises:
        ValueError: the target is not an absolute path, or not UTF-8 after decoding.
    """
    if not target.startswith("/"):
        raise ValueError(target)
    # Without this prefix urlsplit would read "//host/…" as a host, not as a path.
    parts = urlsplit(f"http://host{target}")
    query = parse_qsl(
        parts.query, keep_blank_values=True, errors="strict", max_num_fields=128
    )
    return unquote(parts.path, errors="strict"), tuple(query)
