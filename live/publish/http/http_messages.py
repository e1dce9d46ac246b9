"""HTTP values: requests, whole responses, and the headers that every one carries. Pure.

The first line of a request: its path and query, decoded.
"""

from __future__ import annotations

import http
from collections.abc import Awaitable, Callable, Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from live.publish.http.json_answers import ProblemAnswer

JSON = "application/json"

#: Everything that is no page: nothing may be loaded by it or shown around it.
NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"

_COMMON = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


class HttpRequest(msgspec.Struct, frozen=True):
    """One request, without its body: no route takes one."""

    method: str
    path: str
    """Percent-decoded."""
    query: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    """Names in lower case; of a repeated header the values are joined by ``, ``."""
    address: str = ""
    """Where it comes from, without its port."""


class HttpResponse(msgspec.Struct, frozen=True):
    """One whole response."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""
    later: Callable[[], Awaitable[HttpResponse]] | None = None
    """Makes the response that is sent in place of this one, where that takes a while."""


def changed(response: HttpResponse, change: Callable[[HttpResponse], HttpResponse]) -> HttpResponse:
    """The response after a change, or one that is changed as soon as it is made."""
    make = response.later
    if make is None:
        return change(response)

    async def made() -> HttpResponse:
        return change(await make())

    return HttpResponse(200, (), later=made)


def respond(
    status: int,
    content_type: str,
    body: bytes,
    headers: Iterable[tuple[str, str]] = (),
    policy: str = NO_CONTENT_POLICY,
) -> HttpResponse:
    """A response with the headers every one carries."""
    return HttpResponse(
        status,
        (
            ("Content-Type", content_type),
            ("Content-Security-Policy", policy),
            *_COMMON,
            *headers,
        ),
        body,
    )


def problem(status: int, detail: str, headers: Iterable[tuple[str, str]] = ()) -> HttpResponse:
    """An error as JSON (RFC 9457)."""
    title = http.HTTPStatus(status).phrase
    body = msgspec.json.encode(ProblemAnswer(status, title, detail))
    no_store = ("Cache-Control", "no-store")
    return respond(status, "application/problem+json", body, (no_store, *headers))


#: The answer to no token, or a wrong one (RFC 6750, section 3).
UNKNOWN = problem(
    401,
    "a valid token is needed: Authorization: Bearer TOKEN",
    [("WWW-Authenticate", 'Bearer realm="live-rate"')],
)


class BadRequestTarget(ValueError):
    """A request target that is no path."""


def read_target(target: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Path and query of a request target, decoded.

    Raises:
        BadTarget: not an absolute path, or not UTF-8 once decoded.
    """
    if not target.startswith("/"):
        raise BadRequestTarget(target)
    try:
        # "//host/…" would be taken for a host by urlsplit; as a path it is just odd.
        parts = urlsplit("http://host" + target)
        path = unquote(parts.path, errors="strict")
        query = parse_qsl(parts.query, keep_blank_values=True, errors="strict", max_num_fields=128)
    except ValueError as error:
        raise BadRequestTarget(target) from error
    return path, tuple(query)
