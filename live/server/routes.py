"""The routes of the pages and the JSON interface. Pure: a request in, a response out.

One table of routes is used to answer requests and to write the OpenAPI 3.1 description.
Equal answers are compressed with gzip only once.
"""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec.structs import replace
from prometheus_client import CONTENT_TYPE_LATEST

from live.catalogue import standings
from live.games.player_identity import fold_name
from live.games.rounds import normalise_round
from live.manual.page_html import render_page
from live.messages.alerts import Incident
from live.messages.figures import GameDetail, GameView, PlayerView
from live.messages.moments import Moment
from live.messages.values import GameId, Value
from live.process.clock import ReadClock
from live.server import static_files
from live.server.asyncapi import describe_messages
from live.server.authentication import Guest
from live.server.board_picture import draw_board
from live.server.docs_page import render_docs
from live.server.event_reader import EventReader, game_order
from live.server.filtered_reader import FilteredReader
from live.server.health_answer import HealthAnswer, Readiness, assess_health
from live.server.http_caching import (
    SHARED_PAGE_S,
    allow_shared_caching,
    compress_response,
    share_public_answer,
)
from live.server.http_values import (
    JSON,
    LATER,
    NO_CONTENT_POLICY,
    NO_STORE,
    REVALIDATE,
    UNKNOWN,
    HttpRequest,
    HttpResponse,
    Pairs,
    problem,
    respond,
)
from live.server.made_files import (
    ExportedFile,
    ExportFailed,
    SingleFlight,
    respond_with_file,
)
from live.server.metrics import MetricCounts, Metrics
from live.server.openapi import describe_routes
from live.server.origins import allow_origin
from live.server.pgn_writer import write_game
from live.server.png import can_render_png, render_png
from live.server.public_audience import PublicAudience
from live.server.round_page import RoundLinks, render_round, render_waiting
from live.server.round_picture import draw_round
from live.server.route_table import ROUTES, RequestContext, route
from live.server.share_page import render_share_page
from live.server.static_files import build_policy, find_manual_page
from live.server.stream_filter import (
    EVERYTHING,
    GAME_FILTERS,
    FilterError,
    StreamFilter,
    parse_filter,
)
from live.server.visibility import Visibility
from live.server.wire import API_PATH, PROTOCOL, encode_with_defaults
from live.settings import ServerConfig
from live.user_files import on_own_thread
from live.watch.incident_log import board_words, has_words, name_boards
from live.watch.round_names import RoundName, round_of
from live.watch.round_summary import (
    RoundSummary,
    list_finished_rounds,
    list_running_rounds,
    summarise_round,
)
from live.watch.words import LANGUAGES

#: Caching header of fonts. They hardly ever change, so a browser asks once a day.
_FONT_KEPT = ("Cache-Control", "public, max-age=86400")
#: Pattern of the paths of earlier versions of the JSON interface.
_FORMER_API = re.compile(rf"/api/v[1-{PROTOCOL - 1}](|/.*)", re.DOTALL)
#: Query parameters that select a round.
ROUND_QUERY = ("event", "round")
_HTML = static_files.CONTENT_TYPES[".html"]
#: Content security policy of SVG files, which contain inline styles.
_SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
#: Filter for clients that need a token but have none: they can see only data that is
#: not from engines.
_STRANGER = StreamFilter(visibility=Visibility.VENUE)


class PublicGame(Value):
    """The id of a game for the public."""

    id: GameId


class HttpRoutes:
    """Answers all requests other than websocket handshakes."""

    def __init__(
        self,
        state: EventReader,
        public: PublicAudience,
        site: static_files.StaticSite,
        tally: MetricCounts,
        incidents: Callable[[], Sequence[Incident]] = tuple,
        *,
        config: ServerConfig,
        study: static_files.StaticSite | None = None,
        clock: ReadClock = time.monotonic,
    ) -> None:
        """Create the routes.

        Args:
            state: the live state, for arbiters.
            public: the state for all other clients.
            site: the static files of the pages.
            tally: counters for the metrics.
            incidents: returns the incident log, for arbiters.
            config: settings of the server.
            study: the folder with tables and figures of studies; None without one.
            clock: returns a monotonic time, seconds.
        """
        self._study = study
        self._pictures = SingleFlight(clock)
        # Only one picture is drawn at a time, since each needs a processor core that
        # the engines could use.
        self._drawing = asyncio.Semaphore()
        self._secure = bool(config.certificate_file)
        self.frames: Sequence[str] = config.frames
        """Origins whose pages are allowed to show our pages in a frame."""
        self._incidents = incidents
        self._state = state
        self._public = public
        self._site = site
        self._tally = tally
        self._metrics = Metrics(state, tally)

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
        allowed = (
            self._public.restrict_to_public_ids(guest.restrict(EVERYTHING))
            if guest
            else _STRANGER
        )
        if path.startswith("/api/"):
            path = path.rstrip("/")
            if former := _FORMER_API.fullmatch(path):
                return problem(410, f"this is at {API_PATH}{former[1]} now; see /docs")
        elif (page := self._site.find_page(path) or find_manual_page(path)) is not None:
            page_response = self._respond_page(page, path, request.query)
            # A local file in OBS requests this picture to find out whether the service
            # is running.
            return (
                allow_origin(page_response, "*")
                if path == "/static/icon.svg"
                else page_response
            )
        for entry in ROUTES:
            if (match := entry.pattern.fullmatch(path)) is None:
                continue
            if guest is None and not entry.open:
                return UNKNOWN
            state = FilteredReader(self._choose_reader(allowed), allowed)
            try:
                response = entry.answer(
                    self,
                    RequestContext(request, guest, allowed, state, *match.groups()),
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

    def _choose_reader(self, allowed: StreamFilter) -> EventReader:
        return self._state if allowed.visibility is Visibility.ARBITER else self._public

    def _respond_page(
        self, page: ExportedFile, path: str = "", query: Pairs = ()
    ) -> HttpResponse:
        # Scripts, styles and pictures follow the policy of the page that loads them.
        # Sending the long policy with each of about forty files would be wasteful.
        is_page = page.media_type.startswith("text/html")
        policy = NO_CONTENT_POLICY
        if is_page:
            policy = build_policy(self.frames, path, query)
        caching = allow_shared_caching(SHARED_PAGE_S)
        if page.media_type.startswith("font/"):
            caching = _FONT_KEPT
        return respond(200, page.media_type, page.body, [caching], policy=policy)

    # --- answers of the routes --------------------------------------------------------

    @route(f"{API_PATH}/games", {"games": GameView}, GAME_FILTERS)
    def list_games(self, context: RequestContext) -> HttpResponse:
        """Return all games, without moves and curves."""
        games = filter(
            parse_filter(context.request.query).has_game, context.state.games()
        )
        return _respond_json({"games": sorted(games, key=game_order)})

    @route(f"{API_PATH}/games/{{game}}.png", "image/png")
    async def draw_game(self, context: RequestContext) -> HttpResponse | None:
        """Return a picture of a game's board and figures, unless scores are hidden."""
        detail = context.state.game(context.name)
        if detail is None:
            return None
        if context.allowed.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so boards have no picture")
        if not can_render_png():
            return problem(
                404, "pictures of boards need pip install 'live-rate[picture]'"
            )

        async def render_picture() -> ExportedFile:
            async with self._drawing:
                return ExportedFile("image/png", await render_png(draw_board(detail)))

        return await respond_with_file(
            self._pictures.get((context.name, context.allowed), render_picture),
            context.name,
        )

    @route(f"{API_PATH}/games/{{game}}/public", PublicGame)
    def show_public_id(self, context: RequestContext) -> HttpResponse | None:
        """Return the public id of a game, for links; it differs if there is a delay."""
        if context.state.game(context.name) is None:
            return None
        is_arbiter = context.allowed.visibility is Visibility.ARBITER
        return _respond_json(
            PublicGame(
                self._public.public_id(context.name) if is_arbiter else context.name
            )
        )

    # This route must come before the next one, since an id can itself end in ".pgn".
    @route(f"{API_PATH}/games/{{game}}", GameDetail)
    def show_game(self, context: RequestContext) -> HttpResponse | None:
        """Return one game, with moves and curves."""
        game = context.state.game(context.name)
        return None if game is None else _respond_json(game)

    @route(f"{API_PATH}/games/{{game}}.pgn", "application/x-chess-pgn")
    def write_pgn(self, context: RequestContext) -> HttpResponse | None:
        """Return one game as annotated PGN."""
        game = context.state.game(context.name)
        if game is None:
            return None
        body = write_game(game).encode("utf-8", "replace")
        return respond(200, "application/x-chess-pgn; charset=utf-8", body, REVALIDATE)

    @route(f"{API_PATH}/players", {"players": PlayerView})
    def list_players(self, context: RequestContext) -> HttpResponse:
        """Return all players, in the order of their ids."""
        return _respond_json(
            {"players": sorted(context.state.players(), key=lambda player: player.id)}
        )

    @route(f"{API_PATH}/standings", {"standings": PlayerView})
    def list_standings(self, context: RequestContext) -> HttpResponse:
        """Return all players, in the order of their playing strength."""
        return _respond_json(
            {
                "standings": [
                    standing.view for standing in standings(context.state.players())
                ]
            }
        )

    @route(f"{API_PATH}/health", HealthAnswer)
    def report_health(self, context: RequestContext) -> HttpResponse:
        """Return the health of feeds and engines."""
        return _respond_json(self._assess(context))

    def _assess(self, context: RequestContext) -> HealthAnswer:
        sight = context.allowed.visibility
        health = assess_health(context.state, self._tally.subscribers)
        return replace(
            health,
            public_delay=self._public.describe_delay(sight),
            sight=sight.wire_name,
        )

    @route(f"{API_PATH}/incidents", {"incidents": Incident}, ["words"])
    def list_incidents(self, context: RequestContext) -> HttpResponse:
        """Return the incident log, for arbiters only."""
        allowed = context.allowed
        if allowed.visibility is not Visibility.ARBITER:
            reason = (
                "the incident log is for arbiters: give a token with arbiter = true"
            )
            return problem(403, reason)
        boards = {view.id: board_words(view) for view in context.state.games()}
        query = context.request.query
        words = " ".join(text for name, text in query if name == "words").split()
        incidents = [
            incident
            for incident in name_boards(self._incidents(), boards)
            if (not allowed.is_narrow or incident.game in boards)
            and has_words(incident, words)
        ]
        return _respond_json({"incidents": incidents})

    @route(f"{API_PATH}/moments", {"moments": Moment}, GAME_FILTERS)
    def list_moments(self, context: RequestContext) -> HttpResponse:
        """Return notable moments of games, the newest first."""
        selected = parse_filter(context.request.query)
        games = {view.id for view in context.state.games() if selected.has_game(view)}
        moments = [moment for moment in context.state.moments() if moment.game in games]
        return _respond_json(
            {
                "moments": sorted(
                    moments, key=lambda moment: (-(moment.at_s or 0.0), moment.id)
                )
            }
        )

    @route(f"{API_PATH}/round", RoundSummary, ROUND_QUERY)
    async def show_round(self, context: RequestContext) -> HttpResponse:
        """Return the summary of a finished round; by default of the newest one."""
        summary = await self._summarise(context)
        return summary if isinstance(summary, HttpResponse) else _respond_json(summary)

    @route(f"{API_PATH}/round.svg", "image/svg+xml", (*ROUND_QUERY, "lang"))
    async def draw_round_svg(self, context: RequestContext) -> HttpResponse:
        """Return the summary of a finished round as an SVG drawing."""
        summary = await self._summarise(context)
        if isinstance(summary, HttpResponse):
            return summary
        svg = draw_round(summary, _read_language(context)).encode("utf-8", "replace")
        return respond(200, "image/svg+xml", svg, REVALIDATE, policy=_SVG_POLICY)

    @route(f"{API_PATH}/round.png", "image/png", (*ROUND_QUERY, "lang"))
    async def draw_round_png(self, context: RequestContext) -> HttpResponse:
        """Return the summary of a finished round as a PNG picture."""
        if not can_render_png():
            return problem(
                404, "pictures of rounds need pip install 'live-rate[picture]'"
            )
        summary = await self._summarise(context)
        if isinstance(summary, HttpResponse):
            return summary
        svg = draw_round(summary, _read_language(context))

        async def render_picture() -> ExportedFile:
            async with self._drawing:
                return ExportedFile("image/png", await render_png(svg))

        return await respond_with_file(
            self._pictures.get(svg, render_picture), "the round"
        )

    @route("/round")
    async def show_round_page(self, context: RequestContext) -> HttpResponse:
        """Return the page about a finished round, or about one in progress."""
        summary = await self._summarise(context)
        language = _read_language(context)
        token = {name: text for name, text in context.request.query if name == "token"}
        links = RoundLinks(self._build_base_url(context), token, can_render_png())
        games = list(context.state.games())
        finished = list_finished_rounds(games)
        if isinstance(summary, RoundSummary):
            status = 200
            page = render_round(summary, language, links, finished)
        elif summary.status != 404 or context.allowed.visibility is Visibility.VENUE:
            return summary
        else:
            running = {
                round_progress.name: round_progress
                for round_progress in list_running_rounds(games)
            }
            name = _find_round(context, list(running))
            progress = None if name is None else running[name]
            status = 404
            page = render_waiting(progress, language, links, finished)
        policy = build_policy(self.frames)
        vary = ("Vary", "Authorization")
        return respond(status, _HTML, page, [*REVALIDATE, vary], policy=policy)

    async def _summarise(self, context: RequestContext) -> RoundSummary | HttpResponse:
        """Return the summary of the requested round, or a response with the reason."""
        _read_language(context)
        if context.allowed.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so rounds are not summed up")
        games = list(context.state.games())
        name = _find_round(context, list_finished_rounds(games))
        if name is None:
            return problem(
                404,
                "no such round has ended: it is shown when all its games have a result",
            )
        ids = [view.id for view in games if round_of(view) == name]

        async def sum_up() -> ExportedFile:
            records = map(context.state.game, ids)
            details = [detail for detail in records if detail is not None]
            summary = await on_own_thread(summarise_round, details)
            return ExportedFile(JSON, msgspec.json.encode(summary))

        # The summary needs milliseconds per game, so it is computed only once for all
        # requests at the same time.
        try:
            file = await self._pictures.get((name, tuple(ids), context.allowed), sum_up)
        except ExportFailed as error:
            return problem(503, f"the round: {error}", LATER)
        return msgspec.json.decode(file.body, type=RoundSummary)

    @route("/metrics", "text/plain")
    def report_metrics(self, context: RequestContext) -> HttpResponse:
        """Return metrics of the service, for Prometheus."""
        guest = context.guest
        # Metrics are not delayed, so the delayed public needs a token with metrics.
        if (
            not guest
            or not guest.can_read_metrics
            or (self._public.delay_s and not guest.digest)
        ):
            return problem(
                403, "figures of the service need a token with metrics = true"
            )
        return respond(200, CONTENT_TYPE_LATEST, self._metrics.format_text(), NO_STORE)

    @route("/readyz", HealthAnswer, open=True)
    @route("/healthz", HealthAnswer, open=True)
    def report_readiness(self, context: RequestContext) -> HttpResponse:
        """Return whether the service is ready; if it is not, readyz has status 503."""
        now = self._assess(context)
        # Clients without a needed token get only these two fields.
        readiness = now if context.guest else Readiness(now.status, now.ready)
        unready = context.request.path == "/readyz" and not now.ready
        return _respond_json(readiness, 503 if unready else 200)

    @route("/asyncapi.json", open=True)
    def serve_asyncapi(self, context: RequestContext) -> HttpResponse:
        """Return the AsyncAPI description of the messages."""
        return _respond_json(describe_messages())

    @route("/openapi.json", open=True)
    def serve_openapi(self, context: RequestContext) -> HttpResponse:
        """Return the OpenAPI description of these routes."""
        return _respond_json(describe_api())

    @route("/docs", open=True)
    def serve_docs(self, context: RequestContext) -> HttpResponse:
        """Return a page with both descriptions for people."""
        return self._respond_page(ExportedFile(_HTML, _render_docs()))

    @route("/manual", open=True)
    def redirect_to_manual(self, context: RequestContext) -> HttpResponse:
        """Redirect to the manual's address with a slash at the end.

        The slash is needed, since links between its pages are relative.
        """
        return respond(308, "text/plain", b"", [("Location", "manual/")])

    @route("/share", open=True)
    def serve_share_page(self, context: RequestContext) -> HttpResponse:
        """Return a page that gives chats a preview of a board and redirects to it."""
        id = dict(context.request.query).get("game", "")
        game = context.state.game(id) if context.guest else None
        # A client without a needed token has the visibility of a venue.
        picture = (
            context.allowed.visibility is not Visibility.VENUE and can_render_png()
        )
        moments = [
            moment
            for moment in context.state.moments()
            if game and moment.game == game.id
        ]
        body = render_share_page(
            id, game, self._build_base_url(context), moments, picture=picture
        )
        return respond(200, _HTML, body, [*REVALIDATE, ("Vary", "Authorization")])

    def _build_base_url(self, context: RequestContext) -> str:
        """Return the address of the service in this request: ``https://HOST/``."""
        headers = context.request.headers
        scheme = headers.get("x-forwarded-proto")
        if scheme not in ("http", "https"):
            scheme = "https" if self._secure else "http"
        return f"{scheme}://{headers.get('host', 'localhost')}/"

    @route("/study")
    async def list_studies(self, context: RequestContext) -> HttpResponse:
        """Return a page with links to the tables and figures of studies.

        The links contain the token of the request.
        """
        if isinstance(folder := self._find_studies(context), HttpResponse):
            return folder
        token = "".join(
            f"?{urlencode({name: text})}"
            for name, text in context.request.query
            if name == "token"
        )
        links = "".join(
            f'<li><a href="study/{quote(name)}{escape(token)}">{escape(name)}</a></li>'
            for name in await on_own_thread(folder.list_files)
        )
        lead = '<h1>Study</h1><p><a href="manual/studies#study">What they show</a></p>'
        page = render_page("Study", "study", "", f"{lead}<ul>{links}</ul>")
        return respond(200, _HTML, page, REVALIDATE, policy=build_policy(self.frames))

    @route("/study/{file}")
    async def serve_study(self, context: RequestContext) -> HttpResponse | None:
        """Return a table or figure of a study."""
        if isinstance(folder := self._find_studies(context), HttpResponse):
            return folder
        if (file := await on_own_thread(folder.read_file, context.name)) is None:
            return None
        policy = _SVG_POLICY if context.name.endswith(".svg") else NO_CONTENT_POLICY
        return respond(200, file.media_type, file.body, REVALIDATE, policy=policy)

    def _find_studies(
        self, context: RequestContext
    ) -> static_files.StaticSite | HttpResponse:
        """Return the folder of studies, or a response with the reason if it is not
        available to this client.
        """
        if self._study is None:
            return problem(
                404, "no folder of tables and figures is named: set [study] folder"
            )
        if context.allowed.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so studies are not shown")
        return self._study


def _find_round(context: RequestContext, over: Sequence[RoundName]) -> RoundName | None:
    """Return the newest round of ``over`` that the query selects; None without one."""
    parameters = dict(context.request.query)
    event = fold_name(parameters.get("event", ""))
    round = normalise_round(parameters.get("round", ""))
    for name in over:
        if event in ("", fold_name(name[0])) and round in ("", name[1]):
            return name
    return None


def _read_language(context: RequestContext) -> str:
    """Return the language in the query, or English by default.

    Raises:
        FilterError: the language is not supported.
    """
    language = dict(context.request.query).get("lang", "en")
    if language not in LANGUAGES:
        raise FilterError(f"lang {language!r} is none of {', '.join(LANGUAGES)}")
    return language


def _respond_json(value: Any, status: int = 200) -> HttpResponse:
    return respond(status, JSON, encode_with_defaults(value), REVALIDATE)


def describe_api() -> dict[str, Any]:
    """Return the OpenAPI description of the routes for programs."""
    return describe_routes([entry for entry in ROUTES if entry.gives is not None])


@cache
def _render_docs() -> bytes:
    return render_docs(describe_api())
