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
from live.server.route_table import ROUTES, Asked, route
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
from live.watch.incident_log import board_words, has_words, with_boards
from live.watch.round_summary import (
    RoundName,
    RoundSummary,
    list_finished_rounds,
    list_running_rounds,
    round_of,
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
        sees = (
            self._public.restrict_to_public_ids(guest.restrict(EVERYTHING))
            if guest
            else _STRANGER
        )
        if path.startswith("/api/"):
            path = path.rstrip("/")
            if former := _FORMER_API.fullmatch(path):
                return problem(410, f"this is at {API_PATH}{former[1]} now; see /docs")
        elif (page := self._site.find_page(path) or find_manual_page(path)) is not None:
            shown = self._respond_page(page, path, request.query)
            # A local file in OBS requests this picture to find out whether the service
            # is running.
            return allow_origin(shown, "*") if path == "/static/icon.svg" else shown
        for entry in ROUTES:
            if (found := entry.pattern.fullmatch(path)) is None:
                continue
            if guest is None and not entry.open:
                return UNKNOWN
            state = FilteredReader(self._choose_reader(sees), sees)
            try:
                response = entry.answer(
                    self, Asked(request, guest, sees, state, *found.groups())
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

    def _choose_reader(self, sees: StreamFilter) -> EventReader:
        return self._state if sees.visibility is Visibility.ARBITER else self._public

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
    def list_games(self, asked: Asked) -> HttpResponse:
        """Return all games, without moves and curves."""
        games = filter(parse_filter(asked.request.query).has_game, asked.state.games())
        return _respond_json({"games": sorted(games, key=game_order)})

    @route(f"{API_PATH}/games/{{game}}.png", "image/png")
    async def draw_game(self, asked: Asked) -> HttpResponse | None:
        """Return a picture of a game's board and figures, unless scores are hidden."""
        detail = asked.state.game(asked.name)
        if detail is None:
            return None
        if asked.sees.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so boards have no picture")
        if not can_render_png():
            return problem(
                404, "pictures of boards need pip install 'live-rate[picture]'"
            )

        async def png() -> ExportedFile:
            async with self._drawing:
                return ExportedFile("image/png", await render_png(draw_board(detail)))

        return await respond_with_file(
            self._pictures.get((asked.name, asked.sees), png), asked.name
        )

    @route(f"{API_PATH}/games/{{game}}/public", PublicGame)
    def show_public_id(self, asked: Asked) -> HttpResponse | None:
        """Return the public id of a game, for links; it differs if there is a delay."""
        if asked.state.game(asked.name) is None:
            return None
        is_arbiter = asked.sees.visibility is Visibility.ARBITER
        return _respond_json(
            PublicGame(self._public.public_id(asked.name) if is_arbiter else asked.name)
        )

    # This route must come before the next one, since an id can itself end in ".pgn".
    @route(f"{API_PATH}/games/{{game}}", GameDetail)
    def show_game(self, asked: Asked) -> HttpResponse | None:
        """Return one game, with moves and curves."""
        game = asked.state.game(asked.name)
        return None if game is None else _respond_json(game)

    @route(f"{API_PATH}/games/{{game}}.pgn", "application/x-chess-pgn")
    def write_pgn(self, asked: Asked) -> HttpResponse | None:
        """Return one game as annotated PGN."""
        game = asked.state.game(asked.name)
        if game is None:
            return None
        body = write_game(game).encode("utf-8", "replace")
        return respond(200, "application/x-chess-pgn; charset=utf-8", body, REVALIDATE)

    @route(f"{API_PATH}/players", {"players": PlayerView})
    def list_players(self, asked: Asked) -> HttpResponse:
        """Return all players, in the order of their ids."""
        return _respond_json(
            {"players": sorted(asked.state.players(), key=lambda each: each.id)}
        )

    @route(f"{API_PATH}/standings", {"standings": PlayerView})
    def list_standings(self, asked: Asked) -> HttpResponse:
        """Return all players, in the order of their playing strength."""
        return _respond_json(
            {"standings": [each.view for each in standings(asked.state.players())]}
        )

    @route(f"{API_PATH}/health", HealthAnswer)
    def report_health(self, asked: Asked) -> HttpResponse:
        """Return the health of feeds and engines."""
        return _respond_json(self._assess(asked))

    def _assess(self, asked: Asked) -> HealthAnswer:
        sight = asked.sees.visibility
        known = assess_health(asked.state, self._tally.subscribers)
        return replace(
            known,
            public_delay=self._public.describe_delay(sight),
            sight=sight.wire_name,
        )

    @route(f"{API_PATH}/incidents", {"incidents": Incident}, ["words"])
    def list_incidents(self, asked: Asked) -> HttpResponse:
        """Return the incident log, for arbiters only."""
        sees = asked.sees
        if sees.visibility is not Visibility.ARBITER:
            why = "the incident log is for arbiters: give a token with arbiter = true"
            return problem(403, why)
        boards = {view.id: board_words(view) for view in asked.state.games()}
        query = asked.request.query
        words = " ".join(text for name, text in query if name == "words").split()
        found = [
            each
            for each in with_boards(self._incidents(), boards)
            if (not sees.is_narrow or each.game in boards) and has_words(each, words)
        ]
        return _respond_json({"incidents": found})

    @route(f"{API_PATH}/moments", {"moments": Moment}, GAME_FILTERS)
    def list_moments(self, asked: Asked) -> HttpResponse:
        """Return notable moments of games, the newest first."""
        selected = parse_filter(asked.request.query)
        games = {view.id for view in asked.state.games() if selected.has_game(view)}
        moments = [each for each in asked.state.moments() if each.game in games]
        return _respond_json(
            {
                "moments": sorted(
                    moments, key=lambda each: (-(each.at_s or 0.0), each.id)
                )
            }
        )

    @route(f"{API_PATH}/round", RoundSummary, ROUND_QUERY)
    async def show_round(self, asked: Asked) -> HttpResponse:
        """Return the summary of a finished round; by default of the newest one."""
        summary = await self._summarise(asked)
        return summary if isinstance(summary, HttpResponse) else _respond_json(summary)

    @route(f"{API_PATH}/round.svg", "image/svg+xml", (*ROUND_QUERY, "lang"))
    async def draw_round_svg(self, asked: Asked) -> HttpResponse:
        """Return the summary of a finished round as an SVG drawing."""
        summary = await self._summarise(asked)
        if isinstance(summary, HttpResponse):
            return summary
        svg = draw_round(summary, _read_language(asked)).encode("utf-8", "replace")
        return respond(200, "image/svg+xml", svg, REVALIDATE, policy=_SVG_POLICY)

    @route(f"{API_PATH}/round.png", "image/png", (*ROUND_QUERY, "lang"))
    async def draw_round_png(self, asked: Asked) -> HttpResponse:
        """Return the summary of a finished round as a PNG picture."""
        if not can_render_png():
            return problem(
                404, "pictures of rounds need pip install 'live-rate[picture]'"
            )
        summary = await self._summarise(asked)
        if isinstance(summary, HttpResponse):
            return summary
        svg = draw_round(summary, _read_language(asked))

        async def png() -> ExportedFile:
            async with self._drawing:
                return ExportedFile("image/png", await render_png(svg))

        return await respond_with_file(self._pictures.get(svg, png), "the round")

    @route("/round")
    async def show_round_page(self, asked: Asked) -> HttpResponse:
        """Return the page about a finished round, or about one in progress."""
        summary = await self._summarise(asked)
        language = _read_language(asked)
        token = {name: text for name, text in asked.request.query if name == "token"}
        links = RoundLinks(self._find_root(asked), token, can_render_png())
        games = list(asked.state.games())
        finished = list_finished_rounds(games)
        if isinstance(summary, RoundSummary):
            status = 200
            page = render_round(summary, language, links, finished)
        elif summary.status != 404 or asked.sees.visibility is Visibility.VENUE:
            return summary
        else:
            running = {each.name: each for each in list_running_rounds(games)}
            name = _find_round(asked, list(running))
            progress = None if name is None else running[name]
            status = 404
            page = render_waiting(progress, language, links, finished)
        policy = build_policy(self.frames)
        vary = ("Vary", "Authorization")
        return respond(status, _HTML, page, [*REVALIDATE, vary], policy=policy)

    async def _summarise(self, asked: Asked) -> RoundSummary | HttpResponse:
        """Return the summary of the requested round, or a response with the reason."""
        _read_language(asked)
        if asked.sees.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so rounds are not summed up")
        games = list(asked.state.games())
        name = _find_round(asked, list_finished_rounds(games))
        if name is None:
            return problem(
                404,
                "no such round has ended: it is shown when all its games have a result",
            )
        ids = [view.id for view in games if round_of(view) == name]

        async def summed_up() -> ExportedFile:
            found = map(asked.state.game, ids)
            details = [each for each in found if each is not None]
            summary = await on_own_thread(summarise_round, details)
            return ExportedFile(JSON, msgspec.json.encode(summary))

        # The summary needs milliseconds per game, so it is computed only once for all
        # requests at the same time.
        try:
            file = await self._pictures.get((name, tuple(ids), asked.sees), summed_up)
        except ExportFailed as error:
            return problem(503, f"the round: {error}", LATER)
        return msgspec.json.decode(file.body, type=RoundSummary)

    @route("/metrics", "text/plain")
    def report_metrics(self, asked: Asked) -> HttpResponse:
        """Return metrics of the service, for Prometheus."""
        guest = asked.guest
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
    def report_readiness(self, asked: Asked) -> HttpResponse:
        """Return whether the service is ready; if it is not, readyz has status 503."""
        now = self._assess(asked)
        # Clients without a needed token get only these two fields.
        readiness = now if asked.guest else Readiness(now.status, now.ready)
        unready = asked.request.path == "/readyz" and not now.ready
        return _respond_json(readiness, 503 if unready else 200)

    @route("/asyncapi.json", open=True)
    def serve_asyncapi(self, asked: Asked) -> HttpResponse:
        """Return the AsyncAPI description of the messages."""
        return _respond_json(describe_messages())

    @route("/openapi.json", open=True)
    def serve_openapi(self, asked: Asked) -> HttpResponse:
        """Return the OpenAPI description of these routes."""
        return _respond_json(describe_api())

    @route("/docs", open=True)
    def serve_docs(self, asked: Asked) -> HttpResponse:
        """Return a page with both descriptions for people."""
        return self._respond_page(ExportedFile(_HTML, _render_docs()))

    @route("/manual", open=True)
    def redirect_to_manual(self, asked: Asked) -> HttpResponse:
        """Redirect to the manual's address with a slash at the end.

        The slash is needed, since links between its pages are relative.
        """
        return respond(308, "text/plain", b"", [("Location", "manual/")])

    @route("/share", open=True)
    def serve_share_page(self, asked: Asked) -> HttpResponse:
        """Return a page that gives chats a preview of a board and redirects to it."""
        id = dict(asked.request.query).get("game", "")
        game = asked.state.game(id) if asked.guest else None
        # A client without a needed token has the visibility of a venue.
        picture = asked.sees.visibility is not Visibility.VENUE and can_render_png()
        moments = [
            each for each in asked.state.moments() if game and each.game == game.id
        ]
        body = render_share_page(
            id, game, self._find_root(asked), moments, picture=picture
        )
        return respond(200, _HTML, body, [*REVALIDATE, ("Vary", "Authorization")])

    def _find_root(self, asked: Asked) -> str:
        """Return the address of the service in this request: ``https://HOST/``."""
        headers = asked.request.headers
        scheme = headers.get("x-forwarded-proto")
        if scheme not in ("http", "https"):
            scheme = "https" if self._secure else "http"
        return f"{scheme}://{headers.get('host', 'localhost')}/"

    @route("/study")
    async def list_studies(self, asked: Asked) -> HttpResponse:
        """Return a page with links to the tables and figures of studies.

        The links contain the token of the request.
        """
        if isinstance(folder := self._find_studies(asked), HttpResponse):
            return folder
        token = "".join(
            f"?{urlencode({name: text})}"
            for name, text in asked.request.query
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
    async def serve_study(self, asked: Asked) -> HttpResponse | None:
        """Return a table or figure of a study."""
        if isinstance(folder := self._find_studies(asked), HttpResponse):
            return folder
        if (file := await on_own_thread(folder.read_file, asked.name)) is None:
            return None
        policy = _SVG_POLICY if asked.name.endswith(".svg") else NO_CONTENT_POLICY
        return respond(200, file.media_type, file.body, REVALIDATE, policy=policy)

    def _find_studies(self, asked: Asked) -> static_files.StaticSite | HttpResponse:
        """Return the folder of studies, or a response with the reason if it is not
        available to this client.
        """
        if self._study is None:
            return problem(
                404, "no folder of tables and figures is named: set [study] folder"
            )
        if asked.sees.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so studies are not shown")
        return self._study


def _find_round(asked: Asked, over: Sequence[RoundName]) -> RoundName | None:
    """Return the newest round of ``over`` that the query selects; None without one."""
    wanted = dict(asked.request.query)
    event = fold_name(wanted.get("event", ""))
    round = normalise_round(wanted.get("round", ""))
    for name in over:
        if event in ("", fold_name(name[0])) and round in ("", name[1]):
            return name
    return None


def _read_language(asked: Asked) -> str:
    """Return the language in the query, or English by default.

    Raises:
        FilterError: the language is not supported.
    """
    language = dict(asked.request.query).get("lang", "en")
    if language not in LANGUAGES:
        raise FilterError(f"lang {language!r} is none of {', '.join(LANGUAGES)}")
    return language


def _respond_json(value: Any, status: int = 200) -> HttpResponse:
    return respond(status, JSON, encode_with_defaults(value), REVALIDATE)


def describe_api() -> dict[str, Any]:
    """Return the OpenAPI description of the routes for programs."""
    return describe_routes([each for each in ROUTES if each.gives is not None])


@cache
def _render_docs() -> bytes:
    return render_docs(describe_api())
