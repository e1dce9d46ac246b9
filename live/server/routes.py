"""Answers all HTTP requests: pages, and the routes of the JSON interface. Pure.

One table of routes is used to answer requests and to write the OpenAPI 3.1 description.
Equal answers are compressed with gzip only once.
"""

import re
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from itertools import chain
from typing import Any

from live.messages.alerts import Incident
from live.process.clock import ReadClock
from live.server import game_routes, round_routes, service_routes, study_routes
from live.server.asyncapi import describe_messages
from live.server.audience import Audiences
from live.server.authentication import Guest
from live.server.docs_page import render_docs
from live.server.filtered_reader import FilteredReader
from live.server.http_caching import (
    SHARED_PAGE_S,
    allow_shared_caching,
    compress_response,
    share_public_answer,
)
from live.server.http_values import (
    HTML,
    NO_CONTENT_POLICY,
    UNKNOWN,
    HttpRequest,
    HttpResponse,
    Pairs,
    problem,
    respond,
)
from live.server.made_files import ExportedFile, SingleFlight
from live.server.metrics import MetricCounts, Metrics
from live.server.openapi import describe_routes
from live.server.origins import allow_origin
from live.server.pictures import Pictures
from live.server.route_table import (
    ROUTES_BY_MODULE,
    RequestContext,
    RouteParts,
    respond_json,
    route,
)
from live.server.static_files import StaticSite, build_content_policy, find_manual_page
from live.server.stream_filter import EVERYTHING, FilterError, StreamFilter
from live.server.visibility import Visibility
from live.server.wire import API_PATH, PROTOCOL
from live.settings import ServerConfig

#: Caching header of fonts. They hardly ever change, so a browser asks once a day.
_FONT_KEPT = ("Cache-Control", "public, max-age=86400")
#: Pattern of the paths of earlier versions of the JSON interface.
_FORMER_API = re.compile(rf"/api/v[1-{PROTOCOL - 1}](|/.*)", re.DOTALL)
#: Filter for clients that need a token but have none: they can see only data that is
#: not from engines.
_STRANGER = StreamFilter(visibility=Visibility.VENUE)


class HttpRoutes:
    """Answers all requests other than websocket handshakes."""

    def __init__(
        self,
        audiences: Audiences,
        site: StaticSite,
        tally: MetricCounts,
        incidents: Callable[[], Sequence[Incident]] = tuple,
        *,
        config: ServerConfig,
        clock: ReadClock,
        study: StaticSite | None = None,
    ) -> None:
        """Create the routes.

        Args:
            audiences: what arbiters and all other clients are allowed to know.
            site: the static files of the pages.
            tally: counters for the metrics.
            incidents: returns the incident log, for arbiters.
            config: settings of the server.
            clock: returns a monotonic time, seconds.
            study: the folder with tables and figures of studies; None without one.
        """
        self._audiences = audiences
        self._site = site
        self._parts = RouteParts(
            public=audiences.view,
            frames=config.frames,
            incidents=incidents,
            is_secure=bool(config.certificate_file),
            metrics=Metrics(audiences.arbiters.state, tally),
            pictures=Pictures(clock),
            study=study,
            summaries=SingleFlight(clock),
            tally=tally,
        )

    def allow_frames(self, origins: Sequence[str]) -> None:
        """Allow only pages of these origins to show our pages in a frame."""
        self._parts.frames = origins

    async def answer(self, request: HttpRequest, guest: Guest | None) -> HttpResponse:
        """Return the response to a request.

        ``guest`` is None for a client that needs a token but has no valid one; it gets
        only pages and open routes. The response to HEAD has a body, which the
        connection leaves out.
        """
        if request.method not in ("GET", "HEAD"):
            return problem(
                405, f"{request.method} is not supported here", [("Allow", "GET, HEAD")]
            )
        response = await self._respond(request, guest)
        if response.status != 200:
            return response
        # All clients without a token get the same answer, so shared caches can store it
        # for a moment.
        if guest is not None and not guest.digest and request.path.startswith("/api/"):
            response = share_public_answer(response)
        return compress_response(request, response)

    async def _respond(self, request: HttpRequest, guest: Guest | None) -> HttpResponse:
        """Return the response of a page, or of the first route that knows the path."""
        path = request.path
        if path.startswith("/api/"):
            path = path.rstrip("/")
            if former := _FORMER_API.fullmatch(path):
                return await self._respond_to_former_address(former[1], request, guest)
        elif (page := self._site.find_page(path) or find_manual_page(path)) is not None:
            page_response = respond_page(page, self._parts.frames, path, request.query)
            # A local file in OBS requests this picture to find out whether the service
            # is running.
            return (
                allow_origin(page_response, "*")
                if path == "/static/icon.svg"
                else page_response
            )
        return await self._answer_route(path, request, guest)

    async def _respond_to_former_address(
        self, path: str, request: HttpRequest, guest: Guest | None
    ) -> HttpResponse:
        """Return the response to an address of a former JSON interface.

        It names the present address only if there is something at it.
        """
        present = f"{API_PATH}{path}"
        response = await self._answer_route(present, request, guest)
        if response.status == 404:
            return problem(410, "this version of the interface is gone; see /docs")
        return problem(410, f"this is at {present} now; see /docs")

    async def _answer_route(
        self, path: str, request: HttpRequest, guest: Guest | None
    ) -> HttpResponse:
        """Return the response of the first route that knows the path."""
        allowed = self._audiences.restrict(guest, EVERYTHING) if guest else _STRANGER
        for entry in ROUTES:
            if (match := entry.pattern.fullmatch(path)) is None:
                continue
            if guest is None and not entry.open:
                return UNKNOWN
            state = FilteredReader(self._audiences.choose(allowed).state, allowed)
            try:
                response = entry.answer(
                    RequestContext(
                        self._parts, request, guest, allowed, state, *match.groups()
                    )
                )
                if isinstance(response, Coroutine):
                    response = await response
            except FilterError as error:
                return problem(400, str(error))
            if response is not None:
                return response
        return (
            UNKNOWN
            if guest is None
            else problem(404, f"there is nothing at {path}; see /docs")
        )


def respond_page(
    page: ExportedFile, frames: Sequence[str], path: str = "", query: Pairs = ()
) -> HttpResponse:
    """Return the response with a page, or with a file that belongs to one.

    Pages of the origins in ``frames`` can show it in a frame.
    """
    # Scripts, styles and pictures follow the policy of the page that loads them.
    # Sending the long policy with each of about forty files would be wasteful.
    policy = NO_CONTENT_POLICY
    if page.media_type.startswith("text/html"):
        policy = build_content_policy(frames, path, query)
    caching = allow_shared_caching(SHARED_PAGE_S)
    if page.media_type.startswith("font/"):
        caching = _FONT_KEPT
    return respond(200, page.media_type, page.body, [caching], policy=policy)


# --- descriptions of all routes ---------------------------------------------------


@route("/asyncapi.json", open=True)
def serve_asyncapi(context: RequestContext) -> HttpResponse:
    """Return the AsyncAPI description of the messages."""
    return respond_json(describe_messages())


@route("/openapi.json", open=True)
def serve_openapi(context: RequestContext) -> HttpResponse:
    """Return the OpenAPI description of these routes."""
    return respond_json(describe_api())


@route("/docs", open=True)
def serve_docs(context: RequestContext) -> HttpResponse:
    """Return a page with both descriptions for people."""
    page = ExportedFile(HTML, _render_docs())
    return respond_page(page, context.parts.frames)


@route("/manual", open=True)
def redirect_to_manual(context: RequestContext) -> HttpResponse:
    """Redirect to the manual's address with a slash at the end.

    The slash is needed, since links between its pages are relative.
    """
    return respond(308, "text/plain", b"", [("Location", "manual/")])


def describe_api() -> dict[str, Any]:
    """Return the OpenAPI description of the routes for programs."""
    return describe_routes([entry for entry in ROUTES if entry.gives is not None])


@cache
def _render_docs() -> bytes:
    return render_docs(describe_api())


#: The modules with routes, in the order of the published description. The routes of
#: this module follow them.
_ROUTE_MODULES = (game_routes, round_routes, service_routes, study_routes)
_MODULE_NAMES = (*(module.__name__ for module in _ROUTE_MODULES), __name__)
#: All routes. This must follow the last route of this module.
ROUTES = list(chain.from_iterable(ROUTES_BY_MODULE[name] for name in _MODULE_NAMES))
