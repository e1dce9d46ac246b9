"""What is measured of the service, as Prometheus text (OpenMetrics names, base units).

Nothing here names a player, a board or a client: the number of series stays bounded.

Answers of the JSON interface beside the values of the event itself: events, standings, health.
Pure.

HTTP values: requests, whole responses, and the headers that every one carries. Pure.

The first line of a request: its path and query, decoded.
"""

from __future__ import annotations

import http
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from live.events import (
    PRODUCERS_PARTS,
    EngineHealth,
    FeedHealth,
    GainCounts,
    GainKind,
    GameDetail,
    GameId,
    GameView,
    Incident,
    Moment,
    PlayerView,
    PublicDelay,
)
from live.publish.published_state import PublishedState, gain_counts

CONTENT_TYPE = CONTENT_TYPE_LATEST


class MetricCounts:
    """Plain counts, kept by those who do the things counted."""

    def __init__(self) -> None:
        self.subscribers = 0
        """Websockets being served now."""
        self.deliveries = 0
        """Writes of new messages to one subscriber each."""
        self.skips = 0
        """Writes left out because the subscriber had too much unread."""
        self.snapshots: Counter[str] = Counter()
        """Snapshots given, by ``joined``, ``skipped`` and ``late`` (its first took too long)."""
        self.resumes = 0
        """Subscribers that were given just what they had missed."""
        self.closes: Counter[str] = Counter()
        """Connections we ended, by the close code's name."""


class Metrics(Collector):
    """Reads state and counts whenever somebody asks."""

    def __init__(self, state: PublishedState, tally: MetricCounts) -> None:
        self._state = state
        self._tally = tally
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def text(self) -> bytes:
        """The whole exposition."""
        return generate_latest(self._registry)

    def describe(self) -> list[Metric]:
        """Nothing ahead of time, so registering does not read the state."""
        return []

    def collect(self) -> Iterator[Metric]:
        yield from self._publishing()
        yield from self._engines()
        games = list(self._state.games())
        yield _gauge("games", "Games held.", len(games))
        yield _gauge("plies", "Plies held.", sum(game.plies_played for game in games))
        yield _gauge(
            "plies_scored", "Plies with a final score.", sum(game.plies_scored for game in games)
        )
        feeds = GaugeMetricFamily("live_rate_feeds", "Feeds by state.", labels=["state"])
        sources = [feed for feed in self._state.feeds() if not feed.part]
        for state, count in Counter(feed.state for feed in sources).items():
            feeds.add_metric([state], count)
        yield feeds

    def _publishing(self) -> Iterator[Metric]:
        tally = self._tally
        yield _gauge("subscribers", "Websockets being served.", tally.subscribers)
        yield _counter("deliveries", "Writes of new messages to a subscriber.", tally.deliveries)
        yield _counter("skips", "Writes left out for a slow subscriber.", tally.skips)
        yield _counter("resumes", "Subscribers given just what they missed.", tally.resumes)
        snapshots = CounterMetricFamily(
            "live_rate_snapshots", "Snapshots given, by reason.", labels=["reason"]
        )
        for reason, count in tally.snapshots.items():
            snapshots.add_metric([reason], count)
        yield snapshots
        closes = CounterMetricFamily(
            "live_rate_closes", "Connections ended by us, by reason.", labels=["reason"]
        )
        for reason, count in tally.closes.items():
            closes.add_metric([reason], count)
        yield closes

    def _engines(self) -> Iterator[Metric]:
        health = self._state.engines()
        engines = GaugeMetricFamily("live_rate_engines", "Engines by state.", labels=["state"])
        for state, count in Counter(engine.state for engine in health.engines).items():
            engines.add_metric([state], count)
        yield engines
        yield _gauge("queue", "Positions that wait for an engine.", health.queued)
        yield _gauge(
            "queue_oldest_seconds", "How long the oldest of them has waited.", health.oldest_wait_s
        )
        waiting = GaugeMetricFamily(
            "live_rate_waiting", "Searches that wait for an engine, by class.", labels=["class"]
        )
        for name, number in msgspec.structs.asdict(health.waiting).items():
            waiting.add_metric([name], number)
        yield waiting
        depths = GaugeMetricFamily(
            "live_rate_engine_depth", "Depth of each engine's search.", labels=["engine"]
        )
        for engine in health.engines:
            if engine.depth is not None:
                depths.add_metric([str(engine.index)], engine.depth)
        yield depths
        speeds = GaugeMetricFamily(
            "live_rate_engine_nodes_per_second", "Speed of each engine.", labels=["engine"]
        )
        for engine in health.engines:
            if engine.knodes_per_s is not None:
                speeds.add_metric([str(engine.index)], engine.knodes_per_s * 1000)
        yield speeds
        yield _counter("searches", "Searches done.", health.searches)
        yield _counter("searches_asked", "Searches asked for.", health.asked)
        yield _counter("cache_hits", "Of those, known already.", health.cache_hits)
        if (ahead := health.speculation) is not None:
            yield _counter("ahead_hits", "Searches of moves ready before them.", ahead.hits)
            yield _counter("ahead_misses", "Searches of moves that were not.", ahead.misses)
            yield _gauge(
                "ahead_wasted_nodes", "Spent on what did not come true.", ahead.wasted_nodes
            )
        if (human := health.human) is not None:
            yield _counter("human_answers", "Positions answered for people.", human.answered)
            yield _counter("human_left_out", "Positions given up unanswered.", human.left_out)
            yield _gauge("human_waiting", "Positions not yet answered.", human.waiting)
        yield _counter("engine_restarts", "Engines replaced.", health.restarts)
        yield _gauge("set_aside", "Positions given up.", health.set_aside)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"live_rate_{name}", text, value=value)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"live_rate_{name}", text, value=value)


class ExportsAnswer(msgspec.Struct, frozen=True):
    """Names of the files that plugins make of the event."""

    exports: tuple[str, ...]


class EventView(msgspec.Struct, frozen=True):
    """One event: its games by name, and how far they are."""

    name: str
    rounds: tuple[str, ...]
    games: int
    running: int
    """Games without a result."""
    plies_played: int
    plies_scored: int


def events(games: Iterable[GameView]) -> list[EventView]:
    """One row for each event name, in the order of the names."""
    by_name: dict[str, list[GameView]] = {}
    for game in games:
        by_name.setdefault(game.event, []).append(game)
    return [
        EventView(
            name=name,
            rounds=tuple(sorted({game.round for game in found})),
            games=len(found),
            running=sum(game.result == "*" for game in found),
            plies_played=sum(game.plies_played for game in found),
            plies_scored=sum(game.plies_scored for game in found),
        )
        for name, found in sorted(by_name.items())
    ]


class ProblemAnswer(msgspec.Struct, frozen=True):
    """Why a request was not answered as it wished (RFC 9457)."""

    status: int
    title: str
    detail: str


class GamesAnswer(msgspec.Struct, frozen=True):
    """Games in the order of events, rounds and boards."""

    games: tuple[GameView, ...]


class PlayersAnswer(msgspec.Struct, frozen=True):
    """Players in the order of their ids."""

    players: tuple[PlayerView, ...]


class StandingsAnswer(msgspec.Struct, frozen=True):
    """Players by their perceived strength, the strongest first."""

    standings: tuple[PlayerView, ...]


class EventsAnswer(msgspec.Struct, frozen=True):
    """Events in the order of their names."""

    events: tuple[EventView, ...]


class PlayerGainsAnswer(msgspec.Struct, frozen=True):
    """One player's gains over the event at one centipawn, beside the engine's."""

    player: str
    """``PlayerView.id``."""
    name: str
    gain: GainKind
    moves: int
    counts: GainCounts
    engine: GainCounts
    """The engine's own, which players are measured against."""


class GameGainsAnswer(msgspec.Struct, frozen=True):
    """Both players' gains in one game at one centipawn, beside the engine's."""

    game: GameId
    gain: GainKind
    white: GainCounts
    black: GainCounts
    engine: GainCounts
    """The engine's own, which players are measured against."""


def player_gains(state: PublishedState, player: PlayerView) -> PlayerGainsAnswer:
    """All that the event knows of one player's gains."""
    return PlayerGainsAnswer(
        player.id,
        player.name,
        state.gain(),
        player.moves,
        state.gains(player.id),
        state.engine_gains(),
    )


def game_gains(state: PublishedState, game: GameDetail) -> GameGainsAnswer:
    """The gains of the game's two curves."""
    white, black = gain_counts(game.curves.white), gain_counts(game.curves.black)
    return GameGainsAnswer(game.id, state.gain(), white, black, state.engine_gains())


class IncidentsAnswer(msgspec.Struct, frozen=True):
    """The incident log in the order it began; for arbiters only."""

    incidents: tuple[Incident, ...]


class MomentsAnswer(msgspec.Struct, frozen=True):
    """What is worth telling of the games, the newest first."""

    moments: tuple[Moment, ...]


class FeedAnswer(msgspec.Struct, frozen=True):
    """What ``/healthz`` and ``/readyz`` answer to everybody."""

    status: Literal["ok", "degraded"]
    """``degraded`` when a feed, an engine or a part that the service needs does not do its work."""
    ready: bool
    """Whether some feed delivers and some engine (if there are any) can search."""


class HealthAnswer(FeedAnswer, frozen=True):
    """What they answer to those who may know more, and ``/api/v1/health``."""

    feeds: tuple[FeedHealth, ...]
    engines: EngineHealth
    subscribers: int
    public_delay: PublicDelay = PublicDelay()


def health(
    state: PublishedState,
    subscribers: int,
    delay: PublicDelay = PublicDelay(),  # noqa: B008 - frozen
) -> HealthAnswer:
    feeds, engines = state.feeds(), state.engines()
    working = [engine for engine in engines.engines if engine.state in ("idle", "searching")]
    # A service does its work while a producer's OBS is shut.
    needed = [feed for feed in feeds if not feed.part or feed.feed not in PRODUCERS_PARTS]
    delivering = [feed for feed in needed if feed.state in ("live", "stale", "finished")]
    well = len(working) == len(engines.engines) and len(delivering) == len(needed)
    sources = [feed for feed in feeds if not feed.part]
    ready = bool(working or not engines.engines) and bool(delivering or not sources)
    return HealthAnswer("ok" if well else "degraded", ready, feeds, engines, subscribers, delay)


JSON = "application/json"

#: Everything that is no page: nothing may be loaded by it or shown around it.
NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"

_COMMON = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


class HttpRequest(msgspec.Struct, frozen=True):
    """One request, without its body: no route takes one."""

    method: str
    path: str
    """Percent-decoded."""
    query: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    """Names in lower case; of a repeated header the values are joined by ``, ``."""
    address: str = ""
    """Where it comes from, without its port."""


class HttpResponse(msgspec.Struct, frozen=True):
    """One whole response."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""
    later: Callable[[], Awaitable[HttpResponse]] | None = None
    """Makes the response that is sent in place of this one, where that takes a while."""


def changed(response: HttpResponse, change: Callable[[HttpResponse], HttpResponse]) -> HttpResponse:
    """The response after a change, or one that is changed as soon as it is made."""
    make = response.later
    if make is None:
        return change(response)

    async def made() -> HttpResponse:
        return change(await make())

    return HttpResponse(200, (), later=made)


def respond(
    status: int,
    content_type: str,
    body: bytes,
    headers: Iterable[tuple[str, str]] = (),
    policy: str = NO_CONTENT_POLICY,
) -> HttpResponse:
    """A response with the headers every one carries."""
    return HttpResponse(
        status,
        (
            ("Content-Type", content_type),
            ("Content-Security-Policy", policy),
            *_COMMON,
            *headers,
        ),
        body,
    )


def problem(status: int, detail: str, headers: Iterable[tuple[str, str]] = ()) -> HttpResponse:
    """An error as JSON (RFC 9457)."""
    title = http.HTTPStatus(status).phrase
    body = msgspec.json.encode(ProblemAnswer(status, title, detail))
    no_store = ("Cache-Control", "no-store")
    return respond(status, "application/problem+json", body, (no_store, *headers))


#: The answer to no token, or a wrong one (RFC 6750, section 3).
UNKNOWN = problem(
    401,
    "a valid token is needed: Authorization: Bearer TOKEN",
    [("WWW-Authenticate", 'Bearer realm="live-rate"')],
)


class BadRequestTarget(ValueError):
    """A request target that is no path."""


def read_target(target: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Path and query of a request target, decoded.

    Raises:
        BadTarget: not an absolute path, or not UTF-8 once decoded.
    """
    if not target.startswith("/"):
        raise BadRequestTarget(target)
    try:
        # "//host/…" would be taken for a host by urlsplit; as a path it is just odd.
        parts = urlsplit("http://host" + target)
        path = unquote(parts.path, errors="strict")
        query = parse_qsl(parts.query, keep_blank_values=True, errors="strict", max_num_fields=128)
    except ValueError as error:
        raise BadRequestTarget(target) from error
    return path, tuple(query)
