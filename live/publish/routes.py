"""Answers that take a while: files that something beside the loop makes. Shell.

Whoever asks for what is being made already waits for that; what was made is kept for a few seconds.

Answers by gzip, packed once for all who are sent the same.

The routes of the JSON interface: one table answers requests and is described as OpenAPI 3.1.
Pure: a request in, a response out.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import cache, cached_property
from typing import Any, Final, Generic, TypeVar

import msgspec

import live
from live.alerts.incident_log import board_words, has_words, with_boards
from live.catalogue import standings
from live.events import FigureChoice, GameDetail, Incident
from live.publish import board_picture, exports, static_files
from live.publish import docs as docs_page
from live.publish.answers import (
    CONTENT_TYPE,
    JSON,
    NO_CONTENT_POLICY,
    UNKNOWN,
    EventsAnswer,
    ExportsAnswer,
    FeedAnswer,
    GameGainsAnswer,
    GamesAnswer,
    HealthAnswer,
    HttpRequest,
    HttpResponse,
    IncidentsAnswer,
    MetricCounts,
    Metrics,
    MomentsAnswer,
    PlayerGainsAnswer,
    PlayersAnswer,
    ProblemAnswer,
    StandingsAnswer,
    changed,
    events,
    game_gains,
    health,
    player_gains,
    problem,
    respond,
)
from live.publish.board_picture import share_page
from live.publish.docs import REFERENCE, asyncapi, components
from live.publish.event_exports import EventExports, ExportedFile, ExportFailed
from live.publish.public_state import PublicState
from live.publish.published_state import PublishedState, VisibleState, game_order, snapshot
from live.publish.static_files import text_page
from live.publish.study_page import StudyFiles, study_answer
from live.publish.visibility import (
    EVERYTHING,
    MAX_VALUE_CHARS,
    SOME_TEXT,
    FilterError,
    StreamFilter,
    Visibility,
    parse,
)

#: What was made is given again for so long, seconds.
KEPT_S: Final = 5.0
#: So many different files are made or kept at once.
MOST: Final = 16

Made = TypeVar("Made")


class TooMuchAtOnce(Exception):
    """More is being made already than is good for the others."""


class SharedMaking(Generic[Made]):
    """Makes each file once for all who ask at the same time."""

    def __init__(
        self, clock: Callable[[], float], *, kept_s: float = KEPT_S, most: int = MOST
    ) -> None:
        self._clock = clock
        self._kept_s, self._most = kept_s, most
        self._made: dict[Hashable, tuple[float, asyncio.Task[Made]]] = {}

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Made]]) -> Made:
        """What ``make`` makes, or made lately.

        Raises:
            TooMuchAtOnce: so many others are being made.
            Exception: what ``make`` raises.
        """
        now_s = self._clock()
        for old, (at_s, task) in list(self._made.items()):
            if task.done() and not 0 <= now_s - at_s < self._kept_s:
                del self._made[old]
        if key not in self._made:
            while len(self._made) >= self._most:
                done = next((old for old, (_, task) in self._made.items() if task.done()), None)
                if done is None:
                    raise TooMuchAtOnce
                del self._made[done]
            made = asyncio.ensure_future(_awaited(make))
            # Looked at even where nobody waits any more, so that asyncio does not complain.
            made.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._made[key] = now_s, made
        # Who goes away leaves the others waiting for it.
        return await asyncio.shield(self._made[key][1])


async def _awaited(make: Callable[[], Awaitable[Made]]) -> Made:
    return await make()


#: So much is kept.
_PACKED_BYTES = 8_000_000


class PackedBodies:
    """Bodies by gzip, those used last, up to so many bytes: packing one holds up everybody."""

    def __init__(self, most_bytes: int = _PACKED_BYTES) -> None:
        self._most_bytes = most_bytes
        self._packed: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def packed(self, tag: str, body: bytes) -> bytes:
        """``body`` packed; ``tag`` is its digest."""
        if (found := self._packed.get(tag)) is not None:
            self._packed.move_to_end(tag)
            return found
        made = gzip.compress(body, compresslevel=1, mtime=0)
        self._packed[tag] = made
        self._bytes += len(made)
        while self._bytes > self._most_bytes:
            self._bytes -= len(self._packed.popitem(last=False)[1])
        return made


#: How long a cache on the way may answer polls and pages by itself, in seconds: however many ask,
#: the service is asked once in that time.
SHARED_DATA_S = 1
SHARED_PAGE_S = 10

#: What is packed where it is worth it.
_TEXTS = (JSON, "application/x-chess-pgn")
_WORTH_BYTES = 1_000

_encoder = msgspec.json.Encoder()


#: The answer to a token, or to nobody, that may not read the service's figures.
NO_METRICS = problem(403, "figures of the service need a token with metrics = true")

#: The answer to who may read, and is no arbiter.
NO_INCIDENTS = problem(403, "the incident log is for arbiters: give a token with arbiter = true")

#: Who gives no token where one is needed learns no more than those who may not see scores.
_STRANGER = StreamFilter(visibility=Visibility.VENUE)


class Asked(msgspec.Struct, frozen=True):
    """A request as its route gets it."""

    request: HttpRequest
    sees: StreamFilter
    """What whoever asks may see."""
    known: bool
    """False for who gives no token where one is needed."""
    metrics: bool
    """Whether they may read the service's figures."""
    name: str = ""
    """What the path names: a game, a player, a file."""


class Route(msgspec.Struct, frozen=True, dict=True):
    """What is at a path, and how the published description says it."""

    path: str
    """With what it names in braces. Of two that fit, the first that knows what is named answers."""
    answer: Callable[[HttpRoutes, Asked], HttpResponse | None]
    """Null where nothing of that name is there."""
    summary: str = ""
    """Empty where the description leaves it out, as no program needs it."""
    gives: type[msgspec.Struct] | str = "text/plain"
    """The type of its JSON, else its media type."""
    parameters: Sequence[dict[str, Any]] = ()
    """Of path and query, as OpenAPI has them."""
    missing: str = ""
    """Why there may be nothing."""
    open: bool = False
    """Also for those without a token where one is needed."""
    denied: bool = False
    """Whether not every token gives it."""
    made: bool = False
    """Whether it is made beside the loop, which may fail."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Fits the decoded paths; what is named may hold any character."""
        return re.compile(re.sub(r"\\{\w+\\}", "(.+)", re.escape(self.path)), re.DOTALL)


class HttpRoutes:
    """Answers every request that does not become a websocket."""

    def __init__(
        self,
        state: PublishedState,
        site: static_files.StaticSite,
        tally: MetricCounts,
        public: PublicState | None = None,
        incidents: Callable[[], Sequence[Incident]] = tuple,
        *,
        secure: bool = False,
        exports: EventExports | None = None,
        study: StudyFiles | None = None,
        figure: FigureChoice = "perceived",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``state`` is what arbiters are shown, ``public`` what all others are; ``incidents`` gives
        the incident log, for arbiters; ``secure``: the port speaks TLS; ``exports`` makes
        downloads, ``study`` those of a corpus; ``figure`` leads on pictures.
        """
        self._figure = figure
        self._exports = exports
        self._study = study
        self._files = SharedMaking[ExportedFile](clock)
        self._pictures = SharedMaking[ExportedFile](clock, most=64)
        # One after the other: each keeps a processor busy that engines need.
        self._drawing = asyncio.Semaphore()
        self._secure = secure
        self.frames: tuple[str, ...] = ()
        """Origins whose pages may show ours in a frame."""
        self._incidents = incidents
        self._state = state
        self._public = public or PublicState(state)
        self._site = site
        self._tally = tally
        self._metrics = Metrics(state, tally)
        self._packed = PackedBodies()

    def answer(
        self,
        request: HttpRequest,
        sees: StreamFilter | None = EVERYTHING,
        *,
        metrics: bool = True,
        anybody: bool = False,
    ) -> HttpResponse:
        """The response to somebody who may see ``sees``, or null: nothing but pages; and the
        service's ``metrics``, or not. ``anybody``: who gave no token, and so gets what all others
        get: caches on the way may keep that for a moment.

        HEAD has its body here too; the shell leaves it out.
        """
        if request.method not in ("GET", "HEAD"):
            return problem(405, f"{request.method} is not answered here", [("Allow", "GET, HEAD")])
        response = self._respond(request, sees, metrics)
        kept = anybody and request.path.startswith("/api/")

        def finished(made: HttpResponse) -> HttpResponse:
            if made.status != 200:
                return made
            made = _kept_for(SHARED_DATA_S, made) if kept else made
            return _smaller(request, made, self._packed)

        return changed(response, finished)

    def _of(self, sees: StreamFilter) -> PublishedState:
        return self._state if sees.visibility is Visibility.ARBITER else self._public

    def _visible(self, sees: StreamFilter) -> VisibleState:
        return VisibleState(self._of(sees), sees)

    def _health(self, sees: StreamFilter) -> HealthAnswer:
        delay = self._public.held(sees.visibility)
        return health(self._visible(sees), self._tally.subscribers, delay)

    def _respond(
        self, request: HttpRequest, sees: StreamFilter | None, metrics: bool
    ) -> HttpResponse:
        """What the first route has that knows what the path names."""
        path = request.path
        if path.startswith("/api/"):
            path = path.rstrip("/")
        elif (page := self._site.page(path) or text_page(path)) is not None:
            return _page(page, request, static_files.policy_for(self.frames))
        missing = f"nothing is at {path}; see /docs"
        for route in ROUTES:
            if (found := route.pattern.fullmatch(path)) is None:
                continue
            if sees is None and not route.open:
                return UNKNOWN
            name = next(iter(found.groups()), "")
            asked = Asked(request, sees or _STRANGER, sees is not None, metrics, name)
            try:
                response = route.answer(self, asked)
            except FilterError as error:
                return problem(400, str(error))
            if response is not None:
                return response
            missing = f"{route.missing} It was {name!r}."
        return UNKNOWN if sees is None else problem(404, missing)

    # --- what the routes answer -------------------------------------------------------------------

    def well(self, asked: Asked) -> HttpResponse:
        """Whether the service is well: everybody is told that much."""
        now = self._health(asked.sees)
        readiness = now if asked.known else FeedAnswer(now.status, now.ready)
        unready = asked.request.path == "/readyz" and not now.ready
        return _json(readiness, 503 if unready else 200)

    def docs(self, asked: Asked) -> HttpResponse:
        """The readable page of the descriptions."""
        return _page(_docs(), asked.request, static_files.policy_for(self.frames))

    def share(self, asked: Asked) -> HttpResponse:
        """What a chat reads of a board; the way to it for everybody."""
        id = dict(asked.request.query).get("game", "")
        game = self._visible(asked.sees).game(id) if asked.known else None
        shows = asked.known and asked.sees.visibility is not Visibility.VENUE
        picture = shows and board_picture.can_draw()
        body = share_page(id, game, self._root(asked.request), picture=picture)
        headers = [("Cache-Control", "no-cache"), ("Vary", "Authorization")]
        return respond(200, "text/html; charset=utf-8", body, headers)

    def _root(self, request: HttpRequest) -> str:
        """Where viewers find the service."""
        scheme = "https" if self._secure else "http"
        if request.headers.get("x-forwarded-proto") in ("http", "https"):
            scheme = request.headers["x-forwarded-proto"]
        return f"{scheme}://{request.headers.get('host', 'localhost')}/"

    def study(self, asked: Asked) -> HttpResponse:
        """Tables and figures of the corpus that is named."""
        policy = static_files.policy_for(self.frames)
        return study_answer(self._study, asked.request, asked.sees if asked.known else None, policy)

    def metrics(self, asked: Asked) -> HttpResponse:
        """Figures of the service."""
        if not asked.metrics:
            return NO_METRICS
        return respond(200, CONTENT_TYPE, self._metrics.text(), [("Cache-Control", "no-store")])

    def health(self, asked: Asked) -> HttpResponse:
        """How feeds and engines are doing."""
        return _json(self._health(asked.sees))

    def incidents(self, asked: Asked) -> HttpResponse:
        """The incident log, as far as it is about what is seen; ``words`` filters it."""
        sees, query = asked.sees, asked.request.query
        if sees.visibility is not Visibility.ARBITER:
            return NO_INCIDENTS
        boards = {view.id: board_words(view) for view in self._state.games()}
        seen = {view.id for view in self._visible(sees).games()}
        words = [word for name, text in query if name == "words" for word in text.split()]
        found = [
            each
            for each in with_boards(self._incidents(), boards)
            if (not sees.narrow or each.game in seen) and has_words(each, words)
        ]
        return _json({"incidents": found})

    def exports(self, asked: Asked) -> HttpResponse:
        """Names of the files that plugins make."""
        return _json(ExportsAnswer(tuple(self._exports.exports if self._exports else ())))

    def export(self, asked: Asked) -> HttpResponse | None:
        """The whole event, as far as it is seen, as somebody else writes it."""
        exports, name, sees = self._exports, asked.name, asked.sees
        if exports is None or name not in exports.exports:
            return None
        state = self._of(sees)
        return _file(self._files, name, sees, lambda: exports.export(name, snapshot(state, sees)))

    def picture(self, asked: Asked) -> HttpResponse | None:
        """The board with both figures, for those who may see these."""
        detail = self._visible(asked.sees).game(asked.name)
        if detail is None:
            return None
        if asked.sees.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so boards have no picture")
        if not board_picture.can_draw():
            return problem(404, "pictures of boards need pip install 'live-rate[picture]'")

        async def png() -> ExportedFile:
            async with self._drawing:
                svg = board_picture.board_svg(detail)
                return ExportedFile("image/png", await board_picture.drawn(svg))

        return _file(self._pictures, asked.name, asked.sees, png)

    def games(self, asked: Asked) -> HttpResponse:
        """Games without moves and curves."""
        selected = parse(asked.request.query)
        games = filter(selected.takes, self._visible(asked.sees).games())
        return _json({"games": sorted(games, key=game_order)})

    def game(self, asked: Asked) -> HttpResponse | None:
        """One game in full."""
        game = self._visible(asked.sees).game(asked.name)
        return None if game is None else _json(game)

    def game_gains(self, asked: Asked) -> HttpResponse | None:
        """Both players' gains in one game."""
        state = self._visible(asked.sees)
        game = state.game(asked.name)
        return None if game is None else _json(game_gains(state, game))

    def pgn(self, asked: Asked) -> HttpResponse | None:
        """One game as annotated PGN."""
        game = self._visible(asked.sees).game(asked.name)
        if game is None:
            return None
        form = dict(asked.request.query).get("form")
        if form not in (None, "eval", "alliot"):
            return problem(400, f"form {form!r} is neither eval nor alliot")
        text = exports.export(game, "alliot" if form == "alliot" else "eval")
        body = text.encode("utf-8", "replace")
        return respond(200, "application/x-chess-pgn; charset=utf-8", body, _REVALIDATE)

    def players(self, asked: Asked) -> HttpResponse:
        """Players in the order of their ids."""
        players = self._visible(asked.sees).players()
        return _json({"players": sorted(players, key=lambda each: each.id)})

    def player_gains(self, asked: Asked) -> HttpResponse | None:
        """One player's gains over the event."""
        state = self._visible(asked.sees)
        found = (
            _json(player_gains(state, each)) for each in state.players() if each.id == asked.name
        )
        return next(found, None)

    def standings(self, asked: Asked) -> HttpResponse:
        """Players by their strength."""
        ranked = standings(self._visible(asked.sees).players())
        return _json({"standings": [each.view for each in ranked]})

    def events(self, asked: Asked) -> HttpResponse:
        """Events in the order of their names."""
        return _json({"events": events(self._visible(asked.sees).games())})

    def moments(self, asked: Asked) -> HttpResponse:
        """What is worth telling of the games selected, newest first."""
        state, selected = self._visible(asked.sees), parse(asked.request.query)
        games = {view.id for view in state.games() if selected.takes(view)}
        moments = [each for each in state.moments() if each.game in games]
        newest = sorted(moments, key=lambda each: (-(each.at_s or 0.0), each.id))
        return _json(MomentsAnswer(tuple(newest)))


def _file(
    files: SharedMaking[ExportedFile],
    name: str,
    sees: StreamFilter,
    make: Callable[[], Awaitable[ExportedFile]],
) -> HttpResponse:
    """What is made beside the loop, once for all who see the same."""

    async def file() -> HttpResponse:
        try:
            made = await files.get((name, sees), make)
        except (ExportFailed, TooMuchAtOnce) as error:
            why = str(error) or "too many files are being made"
            return problem(503, f"{name}: {why}", [("Retry-After", "5")])
        return respond(200, made.media_type, made.body, _REVALIDATE)

    return HttpResponse(200, (), later=file)


def _page(page: static_files.StaticFile, request: HttpRequest, page_policy: str) -> HttpResponse:
    headers = [_shared(SHARED_PAGE_S), ("Vary", "Accept-Encoding")]
    body = page.body
    if page.gzipped is not None and static_files.takes_gzip(
        request.headers.get("accept-encoding", "")
    ):
        body = page.gzipped
        headers.append(("Content-Encoding", "gzip"))
    # Scripts, styles and pictures obey the policy of the page that loads them: its long one would
    # only be carried along, some forty times a page.
    is_page = page.content_type.startswith("text/html")
    policy = page_policy if is_page else NO_CONTENT_POLICY
    return respond(200, page.content_type, body, headers, policy=policy)


_REVALIDATE = (("Cache-Control", "no-cache"),)


def _json(value: Any, status: int = 200) -> HttpResponse:
    return respond(status, JSON, _encoder.encode(value), _REVALIDATE)


def _shared(for_s: int) -> tuple[str, str]:
    """Caches on the way may answer for so long without asking; browsers ask each time (RFC 9111,
    section 5.2.2.10).
    """
    return "Cache-Control", f"public, max-age=0, s-maxage={for_s}"


def _kept_for(for_s: int, response: HttpResponse) -> HttpResponse:
    """With a token or from another origin the answer may be another one."""
    kept = (each for each in response.headers if each not in _REVALIDATE)
    headers = (*kept, _shared(for_s), ("Vary", "Authorization, Origin"))
    return HttpResponse(response.status, headers, response.body)


def _smaller(request: HttpRequest, response: HttpResponse, packed: PackedBodies) -> HttpResponse:
    """Add the entity tag; 304 without a body when the client holds it (RFC 9110, 13.1.2), else the
    body by gzip where the client takes that and it is worth it.
    """
    headers, body = response.headers, response.body
    tag = hashlib.blake2b(body, digest_size=12).hexdigest()
    about = dict(headers)
    packs = "Content-Encoding" not in about and len(body) >= _WORTH_BYTES
    packs = packs and about["Content-Type"].startswith(_TEXTS)
    if packs:
        headers = (*headers, ("Vary", "Accept-Encoding"))
        packs = static_files.takes_gzip(request.headers.get("accept-encoding", ""))
    # Each form is told from the other by its tag (RFC 9110, section 8.8.3.3).
    tag = f'"{tag}-gzip"' if packs else f'"{tag}"'
    headers = (*headers, ("ETag", tag))
    held = request.headers.get("if-none-match", "")
    if held.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in held.split(",")):
        about_body = ("Content-Type", "Content-Encoding")
        kept = tuple(each for each in headers if each[0] not in about_body)
        return HttpResponse(304, kept)
    if packs:
        body = packed.packed(tag, body)
        headers = (*headers, ("Content-Encoding", "gzip"))
    return HttpResponse(200, headers, body)


_UNCHANGED = {"description": "What If-None-Match names is still so."}

_FILTERS = {
    "game": "Only these games",
    "event": "Only games of these events",
    "player": "Only games of these players, by name or FIDE id",
    "board": "Only games at these boards",
}


def _in_path(name: str, description: str) -> dict[str, Any]:
    """A parameter that is a part of the path."""
    return {
        "name": name,
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
        "description": description,
    }


def _filters() -> list[dict[str, Any]]:
    item = {"type": "string", "pattern": SOME_TEXT, "maxLength": MAX_VALUE_CHARS}
    return [
        {
            "name": name,
            "in": "query",
            "schema": {"type": "array", "items": item},
            "description": f"{what}; may be repeated.",
        }
        for name, what in _FILTERS.items()
    ]


_GAME = _in_path("game", "The game's id, percent-encoded.")

_NO_GAME = "There is no such game."

_WORDS = {
    "name": "words",
    "in": "query",
    "schema": {"type": "string"},
    "description": "Only incidents that have all these words.",
}

_FORM = {
    "name": "form",
    "in": "query",
    "schema": {"enum": ["eval", "alliot"], "default": "eval"},
    "description": "How scores are written: [%eval …] and [%clk …], or Alliot's braces.",
}

#: Every route, in the order of the description.
ROUTES: tuple[Route, ...] = (
    Route("/api/v1/events", HttpRoutes.events, "Events", EventsAnswer),
    Route(
        "/api/v1/games",
        HttpRoutes.games,
        "Games, without moves and curves",
        GamesAnswer,
        _filters(),
    ),
    Route(
        "/api/v1/games/{game}.png",
        HttpRoutes.picture,
        "Its board with both figures, where scores are not hidden",
        "image/png",
        [_GAME],
        _NO_GAME,
        made=True,
    ),
    # Before those below: an id may itself end in ".pgn" or "/gains".
    Route(
        "/api/v1/games/{game}", HttpRoutes.game, "One game in full", GameDetail, [_GAME], _NO_GAME
    ),
    Route(
        "/api/v1/games/{game}.pgn",
        HttpRoutes.pgn,
        "One game as annotated PGN",
        "application/x-chess-pgn",
        [_GAME, _FORM],
        _NO_GAME,
    ),
    Route(
        "/api/v1/games/{game}/gains",
        HttpRoutes.game_gains,
        "Both players' gains in one game at 1 cp, beside the engine's",
        GameGainsAnswer,
        [_GAME],
        _NO_GAME,
    ),
    Route(
        "/api/v1/players/{player}/gains",
        HttpRoutes.player_gains,
        "One player's gains over the event at 1 cp, beside the engine's",
        PlayerGainsAnswer,
        [_in_path("player", "The player's id, percent-encoded.")],
        "There is no such player.",
    ),
    Route("/api/v1/players", HttpRoutes.players, "Players", PlayersAnswer),
    Route("/api/v1/standings", HttpRoutes.standings, "Players by strength", StandingsAnswer),
    Route("/api/v1/health", HttpRoutes.health, "How feeds and engines are doing", HealthAnswer),
    Route(
        "/api/v1/incidents",
        HttpRoutes.incidents,
        "The incident log, for arbiters",
        IncidentsAnswer,
        [_WORDS],
        denied=True,
    ),
    Route(
        "/api/v1/moments", HttpRoutes.moments, "What is worth telling", MomentsAnswer, _filters()
    ),
    Route(
        "/api/v1/exports", HttpRoutes.exports, "Files that plugins make of the event", ExportsAnswer
    ),
    Route(
        "/api/v1/exports/{export}",
        HttpRoutes.export,
        "The event as such a file",
        "*/*",
        [_in_path("export", "The plugin's name.")],
        "There is no such export.",
        made=True,
    ),
    Route("/metrics", HttpRoutes.metrics, "Figures of the service, for Prometheus", denied=True),
    Route("/healthz", HttpRoutes.well, "Whether the service lives", FeedAnswer, open=True),
    Route(
        "/readyz",
        HttpRoutes.well,
        "Whether it is ready: 503 where it is not",
        FeedAnswer,
        open=True,
    ),
    Route("/asyncapi.json", lambda routes, asked: _json(asyncapi()), open=True),
    Route("/openapi.json", lambda routes, asked: _json(openapi()), open=True),
    Route("/docs", HttpRoutes.docs, open=True),
    # Links between the manual's pages count from the folder.
    Route(
        "/manual",
        lambda routes, asked: respond(308, "text/plain", b"", [("Location", "manual/")]),
        open=True,
    ),
    Route("/share", HttpRoutes.share, open=True),
    Route("/study", HttpRoutes.study, open=True),
    Route("/study/{file}", HttpRoutes.study, open=True),
)


def openapi() -> dict[str, Any]:
    """The whole description, of those routes that programs need."""
    described = [route for route in ROUTES if route.summary]
    kinds = [each.gives for each in described if not isinstance(each.gives, str)]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "live-rate",
            "version": live.__version__,
            "description": (
                "What is known now, as JSON. Every answer has an ETag; If-None-Match saves the "
                "body. Where tokens are in use, give one as Authorization: Bearer TOKEN."
            ),
        },
        "security": [{}, {"token": []}],
        "paths": {each.path: {"get": _operation(each)} for each in described},
        "components": {
            "schemas": components([FeedAnswer]) | components([*kinds, ProblemAnswer]),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    if route.gives is FeedAnswer:
        wellness = _content(
            "Those without a token learn no more than that.",
            JSON,
            {"anyOf": [_reference(HealthAnswer), _reference(FeedAnswer)]},
        )
        answers = {"200": wellness, "304": _UNCHANGED, "503": wellness}
        return {"summary": route.summary, "responses": answers}
    if isinstance(route.gives, str):
        answers = {"200": _content("As it is now.", route.gives, {"type": "string"})}
    else:
        answers = {"200": _content("As it is now.", JSON, _reference(route.gives))}
    selects = any(each["in"] == "query" and each is not _WORDS for each in route.parameters)
    problems = {
        "401": "A valid token is needed.",
        "400": "The query cannot be used." if selects else "",
        "403": "The token does not give this." if route.denied else "",
        "404": route.missing,
        "503": "It cannot be made now." if route.made else "",
    }
    answers |= {"304": _UNCHANGED} | {
        status: _content(why, "application/problem+json", _reference(ProblemAnswer))
        for status, why in problems.items()
        if why
    }
    operation: dict[str, Any] = {"summary": route.summary, "responses": answers}
    return operation | ({"parameters": list(route.parameters)} if route.parameters else {})


def _reference(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": REFERENCE.format(name=kind.__name__)}


def _content(description: str, media: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {media: {"schema": schema}}}


@cache
def _docs() -> static_files.StaticFile:
    return static_files.html_file(docs_page.page(openapi()))
