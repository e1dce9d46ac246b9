"""The routes of the JSON interface. Pure: a request in, a response out."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from live.alerts.incident_log import board_words, has_words, with_boards
from live.events import FigureChoice, GameView, Incident, PlayerView
from live.publish.export import board_picture, pgn_export
from live.publish.export.board_picture import share_page
from live.publish.export.event_exports import EventExports, ExportedFile, ExportFailed
from live.publish.export.study_files import StudyFiles
from live.publish.http import static_files
from live.publish.http.http_messages import (
    JSON,
    NO_CONTENT_POLICY,
    UNKNOWN,
    HttpRequest,
    HttpResponse,
    changed,
    problem,
    respond,
)
from live.publish.http.json_answers import (
    ExportsAnswer,
    FeedAnswer,
    HealthAnswer,
    MomentsAnswer,
    events,
    game_gains,
    health,
    player_gains,
    standings,
)
from live.publish.http.later_answers import PackedBodies, SharedMaking, TooMuchAtOnce
from live.publish.http.static_files import text_page
from live.publish.http.study_page import study_answer
from live.publish.metrics import CONTENT_TYPE, MetricCounts, Metrics
from live.publish.public_state import PublicState
from live.publish.published_state import PublishedState, VisibleState, game_order, snapshot
from live.publish.schema import openapi
from live.publish.schema.asyncapi import asyncapi
from live.publish.stream.stream_filter import EVERYTHING, FilterError, StreamFilter, parse
from live.publish.visibility import Visibility

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
        response = self._open(request, sees)
        kept = False
        if response is None:
            response = self._data(request, sees, metrics)
            kept = anybody and request.path.startswith("/api/")

        def finished(made: HttpResponse) -> HttpResponse:
            if made.status != 200:
                return made
            made = _kept_for(SHARED_DATA_S, made) if kept else made
            return _smaller(request, made, self._packed)

        return changed(response, finished)

    def _open(self, request: HttpRequest, sees: StreamFilter | None) -> HttpResponse | None:
        """What everybody gets: pages, descriptions, and whether the service is well."""
        path = request.path
        if path in ("/healthz", "/readyz"):
            now = self._health(sees or _STRANGER)
            readiness = now if sees is not None else FeedAnswer(now.status, now.ready)
            return _json(readiness, 503 if path == "/readyz" and not now.ready else 200)
        if path == "/manual":
            # Links between its pages count from the folder.
            return respond(308, "text/plain", b"", [("Location", "manual/")])
        if path == "/asyncapi.json":
            return _json(asyncapi())
        if path == "/openapi.json":
            return _json(openapi.openapi())
        if (page := self._site.page(path) or text_page(path)) is not None:
            return _page(page, request, static_files.policy_for(self.frames))
        return None

    def _visible(self, sees: StreamFilter) -> VisibleState:
        arbiter = sees.visibility is Visibility.ARBITER
        return VisibleState(self._state if arbiter else self._public, sees)

    def _health(self, sees: StreamFilter) -> HealthAnswer:
        delay = self._public.held(sees.visibility)
        return health(self._visible(sees), self._tally.subscribers, delay)

    def _log(self, request: HttpRequest, sees: StreamFilter) -> HttpResponse:
        """The incident log, as far as it is about what ``sees`` takes; ``words`` filters it."""
        if sees.visibility is not Visibility.ARBITER:
            return NO_INCIDENTS
        boards = {view.id: board_words(view) for view in self._state.games()}
        seen = {view.id for view in self._visible(sees).games()}
        words = [word for name, text in request.query if name == "words" for word in text.split()]
        found = [
            each
            for each in with_boards(self._incidents(), boards)
            if (not sees.narrow or each.game in seen) and has_words(each, words)
        ]
        return _json({"incidents": found})

    def _data(self, request: HttpRequest, sees: StreamFilter | None, metrics: bool) -> HttpResponse:
        """What a token may be needed for. Without one, nobody learns what there is."""
        if request.path == "/share":
            return self._share(request, sees)
        if request.path == "/study" or request.path.startswith("/study/"):
            policy = static_files.policy_for(self.frames)
            return study_answer(self._study, request, sees, policy)
        if sees is None:
            return UNKNOWN
        path = request.path
        if path == "/metrics":
            if not metrics:
                return NO_METRICS
            no_store = [("Cache-Control", "no-store")]
            return respond(200, CONTENT_TYPE, self._metrics.text(), no_store)
        if path == "/api/v1" or path.startswith("/api/v1/"):
            name = path.removeprefix("/api/v1").strip("/")
            if name == "health":
                return _json(self._health(sees))
            if name == "incidents":
                return self._log(request, sees)
            if name == "exports":
                return _json(ExportsAnswer(tuple(self._exports.exports if self._exports else ())))
            if name.startswith("exports/"):
                return self._export(name.removeprefix("exports/"), sees)
            if name.startswith("games/") and name.endswith(".png"):
                return self._picture(name.removeprefix("games/").removesuffix(".png"), sees)
            return self._api(name, request, self._visible(sees))
        return problem(404, f"nothing is at {path}")

    def _export(self, name: str, sees: StreamFilter) -> HttpResponse:
        """The whole event, as far as ``sees`` takes it, as somebody else writes it."""
        exports = self._exports
        if exports is None or name not in exports.exports:
            return problem(404, f"there is no export {name}; see /api/v1/exports")
        arbiter = sees.visibility is Visibility.ARBITER
        state: PublishedState = self._state if arbiter else self._public
        return _file(self._files, name, sees, lambda: exports.export(name, snapshot(state, sees)))

    def _picture(self, game: str, sees: StreamFilter) -> HttpResponse:
        """The board with both figures, for those who may see these."""
        held = self._visible(sees).game(game)
        if held is None:
            return problem(404, f"there is no game {game}")
        if sees.visibility is Visibility.VENUE:
            return problem(404, "scores are hidden here, so boards have no picture")
        if not board_picture.can_draw():
            return problem(404, "pictures of boards need pip install 'live-rate[picture]'")

        async def png() -> ExportedFile:
            async with self._drawing:
                svg = board_picture.board_svg(held)
                return ExportedFile("image/png", await board_picture.drawn(svg))

        return _file(self._pictures, game, sees, png)

    def _share(self, request: HttpRequest, sees: StreamFilter | None) -> HttpResponse:
        """What a chat reads of a board; the way to it for everybody."""
        state = None if sees is None else self._visible(sees)
        asked = dict(request.query).get("game", "")
        game = None if state is None else state.game(asked)
        shows = sees is not None and sees.visibility is not Visibility.VENUE
        picture = shows and board_picture.can_draw()
        body = share_page(asked, game, self._root(request), picture=picture)
        headers = [("Cache-Control", "no-cache"), ("Vary", "Authorization")]
        return respond(200, "text/html; charset=utf-8", body, headers)

    def _root(self, request: HttpRequest) -> str:
        """Where viewers find the service."""
        scheme = "https" if self._secure else "http"
        if request.headers.get("x-forwarded-proto") in ("http", "https"):
            scheme = request.headers["x-forwarded-proto"]
        return f"{scheme}://{request.headers.get('host', 'localhost')}/"

    def _api(self, name: str, request: HttpRequest, state: PublishedState) -> HttpResponse:
        if name == "games":
            return _games(state, request)
        if name.startswith("games/"):
            return _game(state, name.removeprefix("games/"), dict(request.query).get("form"))
        if name == "players":
            players: list[PlayerView] = sorted(state.players(), key=lambda each: each.id)
            return _json({"players": players})
        if name.startswith("players/") and name.endswith("/gains"):
            return _player_gains(state, name[len("players/") : -len("/gains")])
        if name == "moments":
            return _moments(state, request)
        if name == "standings":
            return _json({"standings": standings(state.players())})
        if name == "events":
            return _json({"events": events(state.games())})
        return problem(404, f"the interface has no {name or 'root'}; see /api/v1/games")


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


def _games(state: PublishedState, request: HttpRequest) -> HttpResponse:
    try:
        selected = parse(request.query)
    except FilterError as error:
        return problem(400, str(error))
    games: list[GameView] = sorted(filter(selected.takes, state.games()), key=game_order)
    return _json({"games": games})


def _moments(state: PublishedState, request: HttpRequest) -> HttpResponse:
    """What is worth telling of the games selected, newest first."""
    try:
        selected = parse(request.query)
    except FilterError as error:
        return problem(400, str(error))
    games = {view.id for view in state.games() if selected.takes(view)}
    moments = [each for each in state.moments() if each.game in games]
    newest = sorted(moments, key=lambda each: (-(each.at_s or 0.0), each.id))
    return _json(MomentsAnswer(tuple(newest)))


def _game(state: PublishedState, name: str, form: str | None) -> HttpResponse:
    # An id may itself end in ".pgn", so the plain one is tried first.
    if (game := state.game(name)) is not None:
        return _json(game)
    game_id = name.removesuffix("/gains")
    if game_id != name and (game := state.game(game_id)) is not None:
        return _json(game_gains(state, game))
    game_id = name.removesuffix(".pgn")
    if game_id != name and (game := state.game(game_id)) is not None:
        if form not in (None, "eval", "alliot"):
            return problem(400, f"form {form!r} is neither eval nor alliot")
        text = pgn_export.export(game, "alliot" if form == "alliot" else "eval")
        return respond(
            200,
            "application/x-chess-pgn; charset=utf-8",
            text.encode("utf-8", "replace"),
            _REVALIDATE,
        )
    return problem(404, f"there is no game {game_id!r}")


def _player_gains(state: PublishedState, id: str) -> HttpResponse:
    for player in state.players():
        if player.id == id:
            return _json(player_gains(state, player))
    return problem(404, f"there is no player {id!r}")


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
