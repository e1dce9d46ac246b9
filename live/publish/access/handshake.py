"""Who is admitted: host names, origins, rates, tokens and filters of every request. Pure.

The checks run from the cheapest to the dearest. A request is refused with one HTTP response, before
anything is set up for it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from live.publish.access.authentication import Authentication, Guest
from live.publish.access.boards_on_air import is_this_machine
from live.publish.access.origin_policy import OriginPolicy
from live.publish.access.rate_limits import RateLimits
from live.publish.http.http_messages import UNKNOWN, HttpRequest, HttpResponse, changed, problem
from live.publish.stream.numbered_stream import NumberedStream
from live.publish.stream.stream_filter import FilterError, StreamFilter, parse
from live.publish.stream.stream_hub import TooManyFilters

_LATER = (("Retry-After", "5"),)


class AdmittedClient(msgspec.Struct, frozen=True):
    """A websocket client as it was judged: once, before the 101 response."""

    wanted: StreamFilter
    """What its query asks for."""
    resume: tuple[str, int] | None
    """Epoch and number of the last message it holds; null when it needs a snapshot."""
    guest: Guest | None = None
    """Who it is; null until its first message gives a token."""
    here: bool = False
    """Whether it is on this machine."""

    @property
    def selected(self) -> StreamFilter:
        """What it gets: what it asks for, limited to what it may see."""
        assert self.guest is not None, "a client without a guest gets nothing"
        return self.guest.limit(self.wanted)


class HandshakeJudge:
    """Decides on every request and every websocket client, once each."""

    def __init__(
        self,
        origins: OriginPolicy,
        authentication: Authentication,
        rates: RateLimits,
        stream: Callable[[StreamFilter, str], NumberedStream],
    ) -> None:
        """``stream`` gives the stream of a filter for an address, or raises TooManyFilters."""
        self.origins = origins
        """Replaced where the settings change."""
        self._authentication = authentication
        self._rates = rates
        self._stream = stream

    def answer(
        self, request: HttpRequest, serve: Callable[[HttpRequest, Guest | None], HttpResponse]
    ) -> HttpResponse:
        """The response to anything but a handshake; ``serve`` makes it for whoever may have it."""
        if (foreign := self._foreign(request)) is not None:
            return foreign
        origin = request.headers.get("origin", "")
        if not self.origins.names(origin):
            return serve(request, self._authentication.who(request))
        if request.method == "OPTIONS":
            return HttpResponse(204, _PREFLIGHT + _readable_by(origin))
        response = serve(request, self._authentication.who(request))
        return changed(response, lambda made: _open_to(made, origin))

    def judge(self, request: HttpRequest, address: str) -> AdmittedClient | HttpResponse:
        """The client that a handshake admits, or the response that refuses it."""
        if (foreign := self._foreign(request)) is not None:
            return foreign
        headers = request.headers
        if not self.origins.lets_in(headers.get("origin"), headers.get("host", "")):
            return problem(
                403,
                f"pages of {headers['origin']} may not connect: server.origins does not list it",
            )
        if not self._rates.shake(address):
            return problem(429, "too many new subscribers at once; come back later", _LATER)
        guest: Guest | None = None
        if not self._authentication.asks_first(request):
            guest = self._authentication.who(request)
            if guest is None:
                return UNKNOWN
        try:
            client = AdmittedClient(
                parse(request.query),
                resume_point(request),
                guest,
                is_this_machine(headers, address),
            )
            if guest is not None:
                self._stream(client.selected, address)
        except FilterError as error:
            return problem(400, str(error))
        except TooManyFilters:
            return problem(503, "too many different filters are in use; come back later", _LATER)
        return client

    def identify(self, client: AdmittedClient, message: bytes) -> AdmittedClient | None:
        """The client with who it is, by its first message; null where the token is not valid."""
        guest = self._authentication.introduced(message)
        return msgspec.structs.replace(client, guest=guest) if guest is not None else None

    def still(self, guest: Guest) -> bool:
        """Whether this guest may stay; see :meth:`Authentication.still`."""
        return self._authentication.still(guest)

    def _foreign(self, request: HttpRequest) -> HttpResponse | None:
        authority = request.headers.get("host", "")
        if self.origins.answers_to(authority):
            return None
        return problem(421, f"this service does not answer to the name {authority!r}")


_RESOURCE_POLICY = "Cross-Origin-Resource-Policy"
_PREFLIGHT = (
    ("Access-Control-Allow-Methods", "GET, HEAD"),
    ("Access-Control-Allow-Headers", "Authorization, If-None-Match"),
    ("Access-Control-Max-Age", "600"),
)


def _open_to(response: HttpResponse, origin: str) -> HttpResponse:
    kept = tuple(each for each in response.headers if each[0] != _RESOURCE_POLICY)
    return HttpResponse(response.status, kept + _readable_by(origin), response.body)


def _readable_by(origin: str) -> tuple[tuple[str, str], ...]:
    """Lets a page of an allowed origin read the response (fetch.spec.whatwg.org, CORS)."""
    return (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", "ETag"),
        ("Vary", "Origin"),
        (_RESOURCE_POLICY, "cross-origin"),
    )


def resume_point(request: HttpRequest) -> tuple[str, int] | None:
    """``epoch`` and ``since`` of a query; null without both, as a number means nothing alone.

    Raises:
        FilterError: ``since`` is no number.
    """
    query = dict(request.query)
    epoch, since = query.get("epoch"), query.get("since")
    if since is not None and not (since.isascii() and since.isdigit() and len(since) <= 18):
        raise FilterError("since is not a message number")
    return None if epoch is None or since is None else (epoch, int(since))
