"""The routes of the JSON interface: one table answers requests and is described as OpenAPI 3.1.
Pure: a request in, a response out. Answers go by gzip, packed once for all who are sent the same.
"""

import asyncio
import gzip
import hashlib
import re
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import cache, cached_property, lru_cache, partial
from html import escape
from typing import Any, Literal
from urllib.parse import quote, urlencode

import msgspec
from msgspec.structs import replace
from prometheus_client import CONTENT_TYPE_LATEST

from live.catalogue import standings
from live.clock import ReadClock
from live.config import ServerConfig
from live.games.player_identity import fold_name
from live.games.rounds import normalise_round
from live.manual.pages import frame
from live.messages.alerts import Incident
from live.messages.figures import GameDetail, GameView, PlayerView
from live.messages.health import PRODUCERS_PARTS, EngineHealth, FeedHealth, PublicDelay
from live.messages.moments import Moment
from live.messages.values import GameId, Value
from live.server import docs, exports, static_files
from live.server.access import Guest, open_to
from live.server.answers import (
    JSON,
    LATER,
    NO_CONTENT_POLICY,
    NO_STORE,
    REVALIDATE,
    UNKNOWN,
    ExportedFile,
    ExportFailed,
    HttpRequest,
    HttpResponse,
    MetricCounts,
    Metrics,
    Pairs,
    SharedMaking,
    drawn,
    file_made,
    problem,
    respond,
)
from live.server.public_state import PublicState
from live.server.published_state import PublishedState, VisibleState, game_order
from live.server.round_page import RoundLinks, render_round, render_waiting
from live.server.round_picture import draw_round
from live.server.visibility import (
    EVERYTHING,
    GAME_FILTERS,
    FilterError,
    StreamFilter,
    Visibility,
    parse,
)
from live.server.wire import API_PATH, PROTOCOL, encode_whole
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

#: By gzip, kept, as packing holds up everybody: what changes all the time, and pages. No time of
#: day is inside: equal bodies have equal tags, also after a restart.
_packed = lru_cache(8)(partial(gzip.compress, compresslevel=1, mtime=0))
_packed_page = lru_cache(128)(partial(gzip.compress, compresslevel=9, mtime=0))
#: A drawing of a study may be larger: packed harder, it would hold up everybody for long.
_PAGE_BYTES = 500_000


#: How long a cache on the way may answer polls and pages by itself, in seconds: however many ask,
#: the service is asked once in that time.
SHARED_DATA_S = 1
SHARED_PAGE_S = 10
#: Letters stay the same from version to version: a browser asks once a day.
_FONT_KEPT = ("Cache-Control", "public, max-age=86400")

#: Addresses of versions before: the JSON interface had a number of its own.
_FORMER_API = re.compile(rf"/api/v[1-{PROTOCOL - 1}](|/.*)", re.DOTALL)

#: What names a round.
ROUND_QUERY = ("event", "round")

_HTML = static_files.CONTENT_TYPES[".html"]
#: What is packed where it is worth it.
_PAGES = ("text/html", "text/javascript", "text/css", "image/svg")
_TEXTS = (JSON, "application/x-chess-pgn", *_PAGES)
_WORTH_BYTES = 300

#: matplotlib's drawings say how they look in themselves.
_SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

#: Who gives no token where one is needed learns no more than those who may not see scores.
_STRANGER = StreamFilter(visibility=Visibility.VENUE)


class Readiness(Value):
    """What ``/healthz`` and ``/readyz`` answer to those without a token where one is needed."""

    status: Literal["ok", "degraded"]
    """``degraded`` when a feed, an engine or a part that the service needs does not do its work."""
    ready: bool
    """Whether some feed delivers and some engine (if there are any) can search."""


class HealthAnswer(Readiness):
    """What ``/healthz``, ``/readyz`` and ``health`` of the JSON interface answer."""

    feeds: tuple[FeedHealth, ...] = ()
    engines: EngineHealth = EngineHealth()
    subscribers: int | None = None
    public_delay: PublicDelay = PublicDelay()
    sight: Literal["venue", "public", "arbiter"] = "public"
    """What whoever asks may see, as in ``hello``."""


def health(state: PublishedState, subscribers: int) -> HealthAnswer:
    feeds, engines = state.feeds(), state.engines()
    working = [engine for engine in engines.engines if engine.state in ("idle", "searching")]
    # A service does its work while a producer's OBS is shut.
    needed = [feed for feed in feeds if not feed.part or feed.feed not in PRODUCERS_PARTS]
    delivering = [feed for feed in needed if feed.state in ("live", "stale", "finished")]
    well = len(working) == len(engines.engines) and len(delivering) == len(needed)
    sources = [feed for feed in feeds if not feed.part]
    ready = bool(working or not engines.engines) and bool(delivering or not sources)
    return HealthAnswer("ok" if well else "degraded", ready, feeds, engines, subscribers)


class PublicGame(Value):
    """How the public knows a game."""

    id: GameId


class Asked(Value):
    """A request as its route gets it."""

    request: HttpRequest
    guest: Guest | None
    """Who asks; null for who gives no token where one is needed."""
    sees: StreamFilter
    """What they may see."""
    state: VisibleState
    """As they may see it."""
    name: str = ""
    """What the path names: a game, a file."""


Answered = HttpResponse | None
"""Null where nothing of that name is there."""
Answer = Callable[["HttpRoutes", Asked], Answered | Coroutine[Any, Any, Answered]]


class Route(Value, dict=True):
    """What is at a path, and how the published description says it."""

    path: str
    """With what it names in braces. Of two that fit, the first that knows what is named answers."""
    answer: Answer
    gives: Any
    """The type of its JSON, or of the list under a name, else its media type; null where the
    description leaves it out, as no program needs it.
    """
    query: Sequence[str]
    """Parameters of its query, by their names in the description."""
    open: bool
    """Also for those without a token where one is needed."""

    @property
    def summary(self) -> str:
        return (self.answer.__doc__ or "").removesuffix(".")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Fits the decoded paths; what is named may hold any character."""
        return re.compile(re.sub(r"\\{\w+\\}", "(.+)", re.escape(self.path)), re.DOTALL)


#: Every route, in the order of the description.
ROUTES: list[Route] = []


def route(
    path: str, gives: Any = None, query: Sequence[str] = (), *, open: bool = False
) -> Callable[[Answer], Answer]:
    """What a method answers, whose first line describes it; see :class:`Route`."""

    def listed(answer: Answer) -> Answer:
        ROUTES.append(Route(path, answer, gives, query, open))
        return answer

    return listed


class HttpRoutes:
    """Answers every request that does not become a websocket."""

    def __init__(
        self,
        state: PublishedState,
        public: PublicState,
        site: static_files.StaticSite,
        tally: MetricCounts,
        incidents: Callable[[], Sequence[Incident]] = tuple,
        *,
        config: ServerConfig,
        study: static_files.StaticSite | None = None,
        clock: ReadClock = time.monotonic,
    ) -> None:
        """``state`` is what arbiters are shown, ``public`` what all others are; ``incidents`` gives
        the incident log, for arbiters; ``study`` has tables and figures.
        """
        self._study = study
        self._pictures = SharedMaking(clock)
        # One after the other: each keeps a processor busy that engines need.
        self._drawing = asyncio.Semaphore()
        self._secure = bool(config.certificate_file)
        self.frames: Sequence[str] = config.frames
        """Origins whose pages may show ours in a frame."""
        self._incidents = incidents
        self._state = state
        self._public = public
        self._site = site
        self._tally = tally
        self._metrics = Metrics(state, tally)

    async def answer(self, request: HttpRequest, guest: Guest | None) -> HttpResponse:
        """The response to a guest, or to somebody unknown: nothing but pages.

        HEAD has its body here too; the shell leaves it out.
        """
        if request.method not in ("GET", "HEAD"):
            return problem(405, f"{request.method} is not answered here", [("Allow", "GET, HEAD")])
        response = await self._respond(request, guest)
        if response.status != 200:
            return response
        # Who gave no token gets what all others get: caches on the way may keep that for a moment.
        if guest is not None and not guest.digest and request.path.startswith("/api/"):
            response = _kept(response)
        return _smaller(request, response)

    async def _respond(self, request: HttpRequest, guest: Guest | None) -> HttpResponse:
        """What the first route has that knows what the path names."""
        path = request.path
        sees = self._public.confined(guest.limit(EVERYTHING)) if guest else _STRANGER
        if path.startswith("/api/"):
            path = path.rstrip("/")
            if former := _FORMER_API.fullmatch(path):
                return problem(410, f"this is at {API_PATH}{former[1]} now; see /docs")
        elif (page := self._site.page(path) or static_files.text_page(path)) is not None:
            shown = self._page(page, path, request.query)
            # A local file for OBS looks for this picture until the service is there.
            return open_to(shown, "*") if path == "/static/icon.svg" else shown
        for route in ROUTES:
            if (found := route.pattern.fullmatch(path)) is None:
                continue
            if guest is None and not route.open:
                return UNKNOWN
            state = VisibleState(self._of(sees), sees)
            try:
                response = route.answer(self, Asked(request, guest, sees, state, *found.groups()))
                if isinstance(response, Coroutine):
                    response = await response
            except FilterError as error:
                return problem(400, str(error))
            if response is not None:
                return response
        return UNKNOWN if guest is None else problem(404, f"nothing is at {path}; see /docs")

    def _of(self, sees: StreamFilter) -> PublishedState:
        return self._state if sees.visibility is Visibility.ARBITER else self._public

    def _page(self, page: ExportedFile, path: str = "", query: Pairs = ()) -> HttpResponse:
        # Scripts, styles and pictures obey the policy of the page that loads them: its long one
        # would only be carried along, some forty times a page.
        is_page = page.media_type.startswith("text/html")
        policy = NO_CONTENT_POLICY
        if is_page:
            policy = static_files.policy_for(self.frames, path, query)
        kept = _FONT_KEPT if page.media_type.startswith("font/") else _shared(SHARED_PAGE_S)
        return respond(200, page.media_type, page.body, [kept], policy=policy)

    # --- what the routes answer -------------------------------------------------------------------

    @route(f"{API_PATH}/games", {"games": GameView}, GAME_FILTERS)
    def games(self, asked: Asked) -> HttpResponse:
        """Games, without moves and curves."""
        games = filter(parse(asked.request.query).takes, asked.state.games())
        return _json({"games": sorted(games, key=game_order)})

    @route(f"{API_PATH}/games/{{game}}.png", "image/png")
    async def picture(self, asked: Asked) -> HttpResponse | None:
        """Its board with both figures, where scores are not hidden."""
        detail = asked.state.game(asked.name)
        if detail is None:
            return None
        if asked.sees.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so boards have no picture")
        if not exports.can_draw():
            return problem(404, "pictures of boards need pip install 'live-rate[picture]'")

        async def png() -> ExportedFile:
            async with self._drawing:
                return ExportedFile("image/png", await drawn(exports.board_svg(detail)))

        return await file_made(self._pictures.get((asked.name, asked.sees), png), asked.name)

    @route(f"{API_PATH}/games/{{game}}/public", PublicGame)
    def public_game(self, asked: Asked) -> HttpResponse | None:
        """The id by which the public knows the game, for links: another one under a delay."""
        if asked.state.game(asked.name) is None:
            return None
        is_arbiter = asked.sees.visibility is Visibility.ARBITER
        return _json(PublicGame(self._public.public_id(asked.name) if is_arbiter else asked.name))

    # Before the next: an id may itself end in ".pgn".
    @route(f"{API_PATH}/games/{{game}}", GameDetail)
    def game(self, asked: Asked) -> HttpResponse | None:
        """One game in full."""
        game = asked.state.game(asked.name)
        return None if game is None else _json(game)

    @route(f"{API_PATH}/games/{{game}}.pgn", "application/x-chess-pgn")
    def pgn(self, asked: Asked) -> HttpResponse | None:
        """One game as annotated PGN."""
        game = asked.state.game(asked.name)
        if game is None:
            return None
        body = exports.export(game).encode("utf-8", "replace")
        return respond(200, "application/x-chess-pgn; charset=utf-8", body, REVALIDATE)

    @route(f"{API_PATH}/players", {"players": PlayerView})
    def players(self, asked: Asked) -> HttpResponse:
        """Players."""
        return _json({"players": sorted(asked.state.players(), key=lambda each: each.id)})

    @route(f"{API_PATH}/standings", {"standings": PlayerView})
    def standings(self, asked: Asked) -> HttpResponse:
        """Players by strength."""
        return _json({"standings": [each.view for each in standings(asked.state.players())]})

    @route(f"{API_PATH}/health", HealthAnswer)
    def health(self, asked: Asked) -> HttpResponse:
        """How feeds and engines are doing."""
        return _json(self._health(asked))

    def _health(self, asked: Asked) -> HealthAnswer:
        sight, known = asked.sees.visibility, health(asked.state, self._tally.subscribers)
        return replace(known, public_delay=self._public.held(sight), sight=sight.wire_name)

    @route(f"{API_PATH}/incidents", {"incidents": Incident}, ["words"])
    def incidents(self, asked: Asked) -> HttpResponse:
        """The incident log, for arbiters."""
        sees = asked.sees
        if sees.visibility is not Visibility.ARBITER:
            why = "the incident log is for arbiters: give a token with arbiter = true"
            return problem(403, why)
        boards = {view.id: board_words(view) for view in asked.state.games()}
        query = asked.request.query
        words = [word for name, text in query if name == "words" for word in text.split()]
        found = [
            each
            for each in with_boards(self._incidents(), boards)
            if (not sees.narrow or each.game in boards) and has_words(each, words)
        ]
        return _json({"incidents": found})

    @route(f"{API_PATH}/moments", {"moments": Moment}, GAME_FILTERS)
    def moments(self, asked: Asked) -> HttpResponse:
        """What is worth telling."""
        selected = parse(asked.request.query)
        games = {view.id for view in asked.state.games() if selected.takes(view)}
        moments = [each for each in asked.state.moments() if each.game in games]
        return _json({"moments": sorted(moments, key=lambda each: (-(each.at_s or 0.0), each.id))})

    @route(f"{API_PATH}/round", RoundSummary, ROUND_QUERY)
    async def round(self, asked: Asked) -> HttpResponse:
        """A round that is over; the newest where none is named."""
        summary = await self._summary(asked)
        return summary if isinstance(summary, HttpResponse) else _json(summary)

    @route(f"{API_PATH}/round.svg", "image/svg+xml", (*ROUND_QUERY, "lang"))
    async def round_drawing(self, asked: Asked) -> HttpResponse:
        """The same as a drawing."""
        summary = await self._summary(asked)
        if isinstance(summary, HttpResponse):
            return summary
        svg = draw_round(summary, _language(asked)).encode("utf-8", "replace")
        return respond(200, "image/svg+xml", svg, REVALIDATE, policy=_SVG_POLICY)

    @route(f"{API_PATH}/round.png", "image/png", (*ROUND_QUERY, "lang"))
    async def round_picture(self, asked: Asked) -> HttpResponse:
        """The same as a picture."""
        if not exports.can_draw():
            return problem(404, "pictures of rounds need pip install 'live-rate[picture]'")
        summary = await self._summary(asked)
        if isinstance(summary, HttpResponse):
            return summary
        svg = draw_round(summary, _language(asked))

        async def png() -> ExportedFile:
            async with self._drawing:
                return ExportedFile("image/png", await drawn(svg))

        return await file_made(self._pictures.get(svg, png), "the round")

    @route("/round")
    async def round_page(self, asked: Asked) -> HttpResponse:
        """A round that is over on one screen; while it goes on, how far it is."""
        summary = await self._summary(asked)
        language = _language(asked)
        token = {name: text for name, text in asked.request.query if name == "token"}
        links = RoundLinks(self._root(asked), token, exports.can_draw())
        games = list(asked.state.games())
        finished = list_finished_rounds(games)
        if isinstance(summary, RoundSummary):
            status, page = 200, render_round(summary, language, links, finished)
        elif summary.status != 404 or asked.sees.visibility is Visibility.VENUE:
            return summary
        else:
            running = {each.name: each for each in list_running_rounds(games)}
            name = _wanted_round(asked, list(running))
            progress = None if name is None else running[name]
            status, page = 404, render_waiting(progress, language, links, finished)
        policy = static_files.policy_for(self.frames)
        vary = ("Vary", "Authorization")
        return respond(status, _HTML, page, [*REVALIDATE, vary], policy=policy)

    async def _summary(self, asked: Asked) -> RoundSummary | HttpResponse:
        """Sum up the round that is asked for, or say why not."""
        _language(asked)
        if asked.sees.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so rounds are not summed up")
        games = list(asked.state.games())
        name = _wanted_round(asked, list_finished_rounds(games))
        if name is None:
            return problem(404, "no such round is over: a round is shown when all have a result")
        ids = [view.id for view in games if round_of(view) == name]

        async def summed_up() -> ExportedFile:
            found = map(asked.state.game, ids)
            details = [each for each in found if each is not None]
            summary = await on_own_thread(summarise_round, details)
            return ExportedFile(JSON, msgspec.json.encode(summary))

        # It is summed up once for all who ask at the same time, as it costs milliseconds a game.
        try:
            file = await self._pictures.get((name, tuple(ids), asked.sees), summed_up)
        except ExportFailed as error:
            return problem(503, f"the round: {error}", LATER)
        return msgspec.json.decode(file.body, type=RoundSummary)

    @route("/metrics", "text/plain")
    def metrics(self, asked: Asked) -> HttpResponse:
        """Figures of the service, for Prometheus."""
        guest = asked.guest
        # They know no delay: whoever is held back needs a token that says metrics.
        if not guest or not guest.metrics or (self._public.delay_s and not guest.digest):
            return problem(403, "figures of the service need a token with metrics = true")
        return respond(200, CONTENT_TYPE_LATEST, self._metrics.text(), NO_STORE)

    @route("/readyz", HealthAnswer, open=True)
    @route("/healthz", HealthAnswer, open=True)
    def well(self, asked: Asked) -> HttpResponse:
        """Whether the service lives, and is ready: where it is not, readyz is 503."""
        now = self._health(asked)
        # Everybody is told that much.
        readiness = now if asked.guest else Readiness(now.status, now.ready)
        unready = asked.request.path == "/readyz" and not now.ready
        return _json(readiness, 503 if unready else 200)

    @route("/asyncapi.json", open=True)
    def asyncapi(self, asked: Asked) -> HttpResponse:
        """The description of the messages."""
        return _json(docs.asyncapi())

    @route("/openapi.json", open=True)
    def openapi(self, asked: Asked) -> HttpResponse:
        """The description of these routes."""
        return _json(openapi())

    @route("/docs", open=True)
    def docs(self, asked: Asked) -> HttpResponse:
        """The readable page of both."""
        return self._page(ExportedFile(_HTML, _docs()))

    @route("/manual", open=True)
    def manual(self, asked: Asked) -> HttpResponse:
        """Links between the manual's pages count from the folder."""
        return respond(308, "text/plain", b"", [("Location", "manual/")])

    @route("/share", open=True)
    def share(self, asked: Asked) -> HttpResponse:
        """What a chat reads of a board; the way to it for everybody."""
        id = dict(asked.request.query).get("game", "")
        game = asked.state.game(id) if asked.guest else None
        # A stranger sees as a venue does.
        picture = asked.sees.visibility is not Visibility.VENUE and exports.can_draw()
        moments = [each for each in asked.state.moments() if game and each.game == game.id]
        body = exports.share_page(id, game, self._root(asked), moments, picture=picture)
        return respond(200, _HTML, body, [*REVALIDATE, ("Vary", "Authorization")])

    def _root(self, asked: Asked) -> str:
        """Return the whole address by which the service was asked, ``https://HOST/``."""
        headers = asked.request.headers
        scheme = headers.get("x-forwarded-proto")
        if scheme not in ("http", "https"):
            scheme = "https" if self._secure else "http"
        return f"{scheme}://{headers.get('host', 'localhost')}/"

    @route("/study")
    async def studies(self, asked: Asked) -> HttpResponse:
        """What tables and figures of studies there are; links lead on with the token."""
        if isinstance(folder := self._study_for(asked), HttpResponse):
            return folder
        token = "".join(
            f"?{urlencode({name: text})}" for name, text in asked.request.query if name == "token"
        )
        links = "".join(
            f'<li><a href="study/{quote(name)}{escape(token)}">{escape(name)}</a></li>'
            for name in await on_own_thread(folder.names)
        )
        lead = '<h1>Study</h1><p><a href="manual/studies#study">What they show</a></p>'
        page = frame("Study", "study", "", f"{lead}<ul>{links}</ul>")
        return respond(200, _HTML, page, REVALIDATE, policy=static_files.policy_for(self.frames))

    @route("/study/{file}")
    async def study(self, asked: Asked) -> HttpResponse | None:
        """One of them."""
        if isinstance(folder := self._study_for(asked), HttpResponse):
            return folder
        if (file := await on_own_thread(folder.file, asked.name)) is None:
            return None
        policy = _SVG_POLICY if asked.name.endswith(".svg") else NO_CONTENT_POLICY
        return respond(200, file.media_type, file.body, REVALIDATE, policy=policy)

    def _study_for(self, asked: Asked) -> static_files.StaticSite | HttpResponse:
        """The folder, or why whoever asks is shown none."""
        if self._study is None:
            return problem(404, "no folder of tables and figures is named: set [study] folder")
        if asked.sees.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so studies are not shown")
        return self._study


def _wanted_round(asked: Asked, over: Sequence[RoundName]) -> RoundName | None:
    """Return the newest of the rounds that the query names; None where there is none."""
    wanted = dict(asked.request.query)
    event, round = fold_name(wanted.get("event", "")), normalise_round(wanted.get("round", ""))
    for name in over:
        if event in ("", fold_name(name[0])) and round in ("", name[1]):
            return name
    return None


def _language(asked: Asked) -> str:
    """Return the language of the query, English where it names none.

    Raises:
        FilterError: it is none of the six.
    """
    language = dict(asked.request.query).get("lang", "en")
    if language not in LANGUAGES:
        raise FilterError(f"lang {language!r} is none of {', '.join(LANGUAGES)}")
    return language


def _json(value: Any, status: int = 200) -> HttpResponse:
    return respond(status, JSON, encode_whole(value), REVALIDATE)


def _shared(for_s: int) -> tuple[str, str]:
    """Caches on the way may answer for so long without asking; browsers ask each time (RFC 9111,
    section 5.2.2.10).
    """
    return "Cache-Control", f"public, max-age=0, s-maxage={for_s}"


def _kept(response: HttpResponse) -> HttpResponse:
    """With a token or from another origin the answer may be another one."""
    kept = (each for each in response.headers if each not in REVALIDATE)
    headers = (*kept, _shared(SHARED_DATA_S), ("Vary", "Authorization, Origin"))
    return replace(response, headers=headers)


def _smaller(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Add the entity tag; 304 without a body when the client holds it (RFC 9110, 13.1.2), else the
    body by gzip where the client takes that and it is worth it: pages are opened over hotel
    networks, and a fresh page is a third of its size so.
    """
    headers, body, kind = response.headers, response.body, dict(response.headers)["Content-Type"]
    tag = hashlib.blake2b(body, digest_size=12).hexdigest()
    packs = len(body) >= _WORTH_BYTES and kind.startswith(_TEXTS)
    if packs:
        headers = (*headers, ("Vary", "Accept-Encoding"))
        packs = takes_gzip(request.headers.get("accept-encoding", ""))
    # Each form is told from the other by its tag (RFC 9110, section 8.8.3.3).
    tag = f'"{tag}-gzip"' if packs else f'"{tag}"'
    headers = (*headers, ("ETag", tag))
    held = request.headers.get("if-none-match", "")
    if held.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in held.split(",")):
        return HttpResponse(304, tuple(each for each in headers if each[0] != "Content-Type"))
    if packs:
        page = kind.startswith(_PAGES) and len(body) <= _PAGE_BYTES
        body = (_packed_page if page else _packed)(body)
        headers = (*headers, ("Content-Encoding", "gzip"))
    return HttpResponse(200, headers, body)


def takes_gzip(accepted: str) -> bool:
    """Whether an ``Accept-Encoding`` header allows gzip (RFC 9110, section 12.5.3)."""
    weights: dict[str, bool] = {}
    for each in accepted.lower().split(","):
        name, _, parameters = each.partition(";")
        weights[name.strip()] = parameters.replace(" ", "").rstrip("0.") != "q="
    return weights.get("gzip", weights.get("*", False))


def openapi() -> dict[str, Any]:
    """The whole description, of those routes that programs need."""
    return docs.openapi([each for each in ROUTES if each.gives is not None])


@cache
def _docs() -> bytes:
    return docs.page(openapi())
