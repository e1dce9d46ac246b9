"""The table of routes: one entry answers requests and is described as OpenAPI 3.1."""

import re
from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property
from typing import Any

from live.messages.values import Value
from live.server.authentication import Guest
from live.server.filtered_reader import FilteredReader
from live.server.http_values import HttpRequest, HttpResponse
from live.server.stream_filter import StreamFilter


class Asked(Value):
    """A request with what its route needs to answer it."""

    request: HttpRequest
    guest: Guest | None
    """The client; None without a token where one is needed."""
    sees: StreamFilter
    """What they may see."""
    state: FilteredReader
    """As they may see it."""
    name: str = ""
    """What the path names: a game, a file."""


Answered = HttpResponse | None
"""None where nothing of that name exists."""


Answer = Callable[[Any, Asked], Answered | Coroutine[Any, Any, Answered]]


class Route(Value, dict=True):
    """What is at a path, and how the published description says it."""

    path: str
    """Names stand in braces. If two routes match, the first one that knows the name
    answers.
    """
    answer: Answer
    gives: Any
    """The type of its JSON, or of the list under a name, else its media type; None
    where the description leaves the route out, since no program needs it.
    """
    query: Sequence[str]
    """Parameters of its query, by their names in the description."""
    open: bool
    """Whether clients may read it without a token even where one is needed."""

    @property
    def summary(self) -> str:
        return " ".join((self.answer.__doc__ or "").split()).removesuffix(".")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of decoded paths; what is named may hold any character."""
        return re.compile(re.sub(r"\\{\w+\\}", "(.+)", re.escape(self.path)), re.DOTALL)


#: Every route, in the order of the description.
ROUTES: list[Route] = []


def route(
    path: str, gives: Any = None, query: Sequence[str] = (), *, open: bool = False
) -> Callable[[Answer], Answer]:
    """Register a method as the answer at a path; its docstring describes it. See
    :class:`Route`.
    """

    def listed(answer: Answer) -> Answer:
        ROUTES.append(Route(path, answer, gives, query, open))
        return answer

    return listed
