"""The routes about the service: health, metrics, and the incident log."""

from typing import Literal

from msgspec.structs import replace
from prometheus_client import CONTENT_TYPE_LATEST

from live.messages.alerts import Incident
from live.messages.health import PRODUCERS_PARTS, EngineHealth, FeedHealth, PublicDelay
from live.messages.values import Value
from live.server.event_reader import EventReader
from live.server.http_values import NO_STORE, HttpResponse, problem, respond
from live.server.route_table import RequestContext, respond_json, route
from live.server.visibility import Visibility
from live.server.wire import API_PATH
from live.watch.incident_log import has_words, name_board_and_players, name_boards


class Readiness(Value):
    """The answer of ``/healthz`` and ``/readyz`` to a client that lacks a token."""

    status: Literal["ok", "degraded"]
    """``degraded`` if a feed, an engine or another necessary part does not work."""
    ready: bool
    """True if at least one feed delivers data and at least one engine can search. Feeds
    or engines are not required if the service has none.
    """


class HealthAnswer(Readiness):
    """The answer of ``/healthz``, ``/readyz`` and ``health`` of the JSON interface."""

    feeds: tuple[FeedHealth, ...] = ()
    engines: EngineHealth = EngineHealth()
    subscribers: int | None = None
    public_delay: PublicDelay = PublicDelay()
    sight: Literal["venue", "public", "arbiter"] = "public"
    """Visibility level of this client, as in ``hello``."""


@route(f"{API_PATH}/health", HealthAnswer)
def report_health(context: RequestContext) -> HttpResponse:
    """Return the health of feeds and engines."""
    return respond_json(_assess(context))


@route(f"{API_PATH}/incidents", {"incidents": Incident}, ["words"])
def list_incidents(context: RequestContext) -> HttpResponse:
    """Return the incident log, for arbiters only."""
    allowed = context.allowed
    if allowed.visibility is not Visibility.ARBITER:
        reason = "the incident log is for arbiters: give a token with arbiter = true"
        return problem(403, reason)
    boards = {view.id: name_board_and_players(view) for view in context.state.games()}
    query = context.request.query
    words = " ".join(text for name, text in query if name == "words").split()
    incidents = [
        incident
        for incident in name_boards(context.parts.incidents(), boards)
        if (not allowed.is_narrow or incident.game in boards)
        and has_words(incident, words)
    ]
    return respond_json({"incidents": incidents})


@route("/metrics", "text/plain")
def report_metrics(context: RequestContext) -> HttpResponse:
    """Return metrics of the service, for Prometheus."""
    guest = context.guest
    # Metrics are not delayed, so while the public is delayed, they need a token.
    if (
        not guest
        or not guest.can_read_metrics
        or (context.parts.public.delay_s and not guest.digest)
    ):
        return problem(403, "figures of the service need a token with metrics = true")
    text = context.parts.metrics.format_text()
    return respond(200, CONTENT_TYPE_LATEST, text, NO_STORE)


@route("/readyz", HealthAnswer, open=True)
@route("/healthz", HealthAnswer, open=True)
def report_readiness(context: RequestContext) -> HttpResponse:
    """Return whether the service is ready; if it is not, readyz has status 503."""
    now = _assess(context)
    # Clients without a required token get only these two fields.
    readiness = now if context.guest else Readiness(now.status, now.ready)
    unready = context.request.path == "/readyz" and not now.ready
    return respond_json(readiness, 503 if unready else 200)


def _assess(context: RequestContext) -> HealthAnswer:
    sight = context.allowed.visibility
    health = assess_health(context.state, context.parts.tally.subscribers)
    return replace(
        health,
        public_delay=context.parts.public.describe_delay(sight),
        sight=sight.wire_name,
    )


def assess_health(state: EventReader, subscribers: int) -> HealthAnswer:
    """Return the health of the service; ``subscribers`` is the number of clients."""
    feeds = state.feeds()
    engines = state.engines()
    working = [
        engine for engine in engines.engines if engine.state in ("idle", "searching")
    ]
    # The parts for producers are optional: the service also works without OBS.
    needed = [
        feed for feed in feeds if not feed.part or feed.feed not in PRODUCERS_PARTS
    ]
    delivering = [
        feed for feed in needed if feed.state in ("live", "stale", "finished")
    ]
    well = len(working) == len(engines.engines) and len(delivering) == len(needed)
    sources = [feed for feed in feeds if not feed.part]
    ready = bool(working or not engines.engines) and bool(delivering or not sources)
    return HealthAnswer(
        "ok" if well else "degraded", ready, feeds, engines, subscribers
    )
