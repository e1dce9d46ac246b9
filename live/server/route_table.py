"""The table of routes, for answering requests and for the OpenAPI description."""

import re
from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property
from typing import Any

from live.messages.values import Value
from live.server.authentication import Guest
from live.server.filtered_reader import FilteredReader
from live.server.http_values import HttpRequest, HttpResponse
from live.server.stream_filter import StreamFilter


class RequestContext(Value):
    """A request, with all data that its route needs."""

    request: HttpRequest
    guest: Guest | None
    """The client; None if it needs a token but has none."""
    allowed: StreamFilter
    """The filter with everything that the client is allowed to see."""
    state: FilteredReader
    """The state of the event, limited to what the client is allowed to see."""
    name: str = ""
    """The variable part of the path: the id of a game, or the name of a file."""


Answered = HttpResponse | None
"""The response of a route; None if the name in the path does not exist."""


Answer = Callable[[Any, RequestContext], Answered | Coroutine[Any, Any, Answered]]


class Route(Value, dict=True):
    """A path, the method that answers it, and data for the published description."""

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
    """Names of its query parameters, as in the description."""
    open: bool
    """True if clients can read it without a token even if tokens are needed."""

    @property
    def summary(self) -> str:
        return " ".join((self.answer.__doc__ or "").split()).removesuffix(".")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of matching decoded paths; a name can contain any character."""
        return re.compile(re.sub(r"\\{\w+\\}", "(.+)", re.escape(self.path)), re.DOTALL)


#: All routes, in the order of the published description.
ROUTES: list[Route] = []


def route(
    path: str, gives: Any = None, query: Sequence[str] = (), *, open: bool = False
) -> Callable[[Answer], Answer]:
    """Register a method as the answer at a path.

    The docstring of the method is published as its description. The arguments are those
    of :class:`Route`.
    """

    def register_route(answer: Answer) -> Answer:
        ROUTES.append(Route(path, answer, gives, query, open))
        return answer

    return register_route
