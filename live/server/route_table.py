"""The table of routes, for answering requests and for the OpenAPI description."""

import re
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from live.messages.alerts import Incident
from live.messages.values import Value
from live.server.authentication import Guest
from live.server.filtered_reader import FilteredReader
from live.server.http_values import (
    JSON,
    REVALIDATE,
    HttpRequest,
    HttpResponse,
    respond,
)
from live.server.made_files import SingleFlight
from live.server.metrics import MetricCounts, Metrics
from live.server.pictures import Pictures
from live.server.public_view import PublicView
from live.server.static_files import StaticSite
from live.server.stream_filter import StreamFilter
from live.server.wire import encode_with_defaults
from live.watch.round_summary import RoundSummary


@dataclass
class RouteParts:
    """The parts of the server that routes use."""

    public: PublicView
    """The state for all clients other than arbiters."""
    frames: Sequence[str]
    """Origins whose pages are allowed to show our pages in a frame."""
    incidents: Callable[[], Sequence[Incident]]
    """Returns the incident log."""
    is_secure: bool
    """True if the server itself uses TLS."""
    metrics: Metrics
    pictures: Pictures
    study: StaticSite | None
    """The folder with tables and figures of studies; None without one."""
    summaries: SingleFlight[RoundSummary]
    tally: MetricCounts


class RequestContext(Value):
    """A request, with all data that its route needs."""

    parts: RouteParts
    request: HttpRequest
    guest: Guest | None
    """The client; None if it needs a token but has none."""
    allowed: StreamFilter
    """The filter with everything that the client is allowed to see."""
    state: FilteredReader
    """The state of the event, limited to what the client is allowed to see."""
    name: str = ""
    """The variable part of the path: the id of a game, or the name of a file."""

    @property
    def token(self) -> dict[str, str]:
        """The query parameter with the client's token, for links; empty without one."""
        return {name: text for name, text in self.request.query if name == "token"}

    @property
    def base_url(self) -> str:
        """The address of the service in this request: ``https://HOST/``."""
        headers = self.request.headers
        scheme = headers.get("x-forwarded-proto")
        if scheme not in ("http", "https"):
            scheme = "https" if self.parts.is_secure else "http"
        return f"{scheme}://{headers.get('host', 'localhost')}/"


Answered = HttpResponse | None
"""The response of a route; None if the name in the path does not exist."""


Answer = Callable[[RequestContext], Answered | Coroutine[Any, Any, Answered]]


class Route(Value, dict=True):
    """A path, the function that answers it, and data for the published description."""

    path: str
    """The path, with variable parts in braces. If several routes match, the first one
    that knows the name answers.
    """
    answer: Answer
    gives: Any
    """The type of the JSON answer; a dict with the name and item type of a list; or a
    media type. None for a route that is not in the published description.
    """
    query: Sequence[str]
    """Names of the query parameters, for the published description."""
    open: bool
    """True if this route needs no token, even if other routes do."""

    @property
    def summary(self) -> str:
        return " ".join((self.answer.__doc__ or "").split()).removesuffix(".")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of matching decoded paths; a name can contain any character."""
        return re.compile(re.sub(r"\\{\w+\\}", "(.+)", re.escape(self.path)), re.DOTALL)


#: The routes of each module, by its name, in the order of their definitions.
ROUTES_BY_MODULE = defaultdict[str, list[Route]](list)


def route(
    path: str, gives: Any = None, query: Sequence[str] = (), *, open: bool = False
) -> Callable[[Answer], Answer]:
    """Register a function as the answer at a path.

    The docstring of the function is published as its description. The arguments are
    those of :class:`Route`.
    """

    def register_route(answer: Answer) -> Answer:
        entry = Route(path, answer, gives, query, open)
        ROUTES_BY_MODULE[answer.__module__].append(entry)
        return answer

    return register_route


def respond_json(value: object, status: int = 200) -> HttpResponse:
    """Return a response with a value as JSON, with all fields."""
    return respond(status, JSON, encode_with_defaults(value), REVALIDATE)
