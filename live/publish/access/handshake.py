"""Who comes in: names, origins, rates, tokens and filters of every request. Pure.

The order of the questions is the order of what they cost; what is refused is refused as one HTTP
response before anything is set up for it.
"""

from __future__ import annotations

from collections.abc import Callable

from live.publish.access.authentication import Authentication, Guest
from live.publish.access.origin_policy import OriginPolicy
from live.publish.access.rate_limits import RateLimits
from live.publish.http.http_routes import UNKNOWN, HttpRequest, HttpResponse, problem
from live.publish.stream.broadcaster import Broadcaster
from live.publish.stream.numbered_stream import NumberedStream
from live.publish.stream.stream_filter import FilterError, parse
from live.publish.stream.stream_hub import TooManyFilters

_LATER = (("Retry-After", "5"),)


class HandshakeJudge:
    """Asks everything that can be asked before a client is served."""

    def __init__(
        self,
        gate: OriginPolicy,
        guard: Authentication,
        admission: RateLimits,
        audience: Broadcaster,
    ) -> None:
        self.gate = gate
        """Replaced where the settings change."""
        self._guard = guard
        self._admission = admission
        self._audience = audience

    def answer(
        self, request: HttpRequest, serve: Callable[[HttpRequest, Guest | None], HttpResponse]
    ) -> HttpResponse:
        """The response to anything but a handshake; ``serve`` gives it to whoever may have it."""
        if (foreign := self._foreign(request)) is not None:
            return foreign
        origin = request.headers.get("origin", "")
        if not self.gate.names(origin):
            return serve(request, self._guard.who(request))
        if request.method == "OPTIONS":
            return HttpResponse(204, _PREFLIGHT + _readable_by(origin))
        response = serve(request, self._guard.who(request))
        kept = tuple(each for each in response.headers if each[0] != _RESOURCE_POLICY)
        return HttpResponse(response.status, kept + _readable_by(origin), response.body)

    def refusal(self, request: HttpRequest, address: str) -> HttpResponse | None:
        """Why a handshake is refused, if it is."""
        if (foreign := self._foreign(request)) is not None:
            return foreign
        headers = request.headers
        if not self.gate.lets_in(headers.get("origin"), headers.get("host", "")):
            return problem(403, f"pages of {headers['origin']} may not connect")
        if not self._admission.shake(address):
            return problem(429, "too many new subscribers at once; come back later", _LATER)
        guest: Guest | None = None
        if not self._guard.asks_first(request):
            guest = self._guard.who(request)
            if guest is None:
                return UNKNOWN
        try:
            resume_point(request)
            wanted = parse(request.query)
            if guest is not None:
                self._audience.stream(guest.limit(wanted))
        except FilterError as error:
            return problem(400, str(error))
        except TooManyFilters:
            return problem(503, "too many different filters are in use; come back later", _LATER)
        return None

    def stream(self, request: HttpRequest, guest: Guest) -> NumberedStream:
        """What a guest is to get that asks for this.

        Raises:
            TooManyFilters: as many distinct filters as allowed are in use.
        """
        return self._audience.stream(guest.limit(parse(request.query)))

    def _foreign(self, request: HttpRequest) -> HttpResponse | None:
        authority = request.headers.get("host", "")
        if self.gate.answers_to(authority):
            return None
        return problem(421, f"this service does not answer to the name {authority!r}")


_RESOURCE_POLICY = "Cross-Origin-Resource-Policy"
_PREFLIGHT = (
    ("Access-Control-Allow-Methods", "GET, HEAD"),
    ("Access-Control-Allow-Headers", "Authorization, If-None-Match"),
    ("Access-Control-Max-Age", "600"),
)


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
