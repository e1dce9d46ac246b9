"""How the service is doing, as HTTP answers say it. Pure."""

from typing import Literal

from live.messages.health import PRODUCERS_PARTS, EngineHealth, FeedHealth, PublicDelay
from live.messages.values import Value
from live.server.event_reader import EventReader


class Readiness(Value):
    """What ``/healthz`` and ``/readyz`` answer to those without a token where one is
    needed.
    """

    status: Literal["ok", "degraded"]
    """``degraded`` when a feed, an engine or a part that the service needs does not do
    its work.
    """
    ready: bool
    """Whether some feed delivers and some engine (if there are any) can search."""


class HealthAnswer(Readiness):
    """What ``/healthz``, ``/readyz`` and ``health`` of the JSON interface answer."""

    feeds: tuple[FeedHealth, ...] = ()
    engines: EngineHealth = EngineHealth()
    subscribers: int | None = None
    public_delay: PublicDelay = PublicDelay()
    sight: Literal["venue", "public", "arbiter"] = "public"
    """What this client may see, as in ``hello``."""


def assess_health(state: EventReader, subscribers: int) -> HealthAnswer:
    feeds = state.feeds()
    engines = state.engines()
    working = [
        engine for engine in engines.engines if engine.state in ("idle", "searching")
    ]
    # The service does its work even while a producer's OBS is closed.
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
