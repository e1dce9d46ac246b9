"""The health of the service, for HTTP answers. Pure."""

from typing import Literal

from live.messages.health import PRODUCERS_PARTS, EngineHealth, FeedHealth, PublicDelay
from live.messages.values import Value
from live.server.event_reader import EventReader


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
