"""What the JSON interface answers, beside the values of the event itself. Pure."""

from __future__ import annotations

from typing import Literal

import msgspec

from live.events import EngineHealth, FeedHealth, GameView, PlayerView
from live.publish.http.event_tables import EventView
from live.publish.published_state import PublishedState


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


class FeedAnswer(msgspec.Struct, frozen=True):
    """What ``/healthz`` and ``/readyz`` answer to everybody."""

    status: Literal["ok", "degraded"]
    """``degraded`` when a feed or an engine does not do its work."""
    ready: bool
    """Whether some feed delivers and some engine (if there are any) can search."""


class HealthAnswer(FeedAnswer, frozen=True):
    """What they answer to those who may know more, and ``/api/v1/health``."""

    feeds: tuple[FeedHealth, ...]
    engines: EngineHealth
    subscribers: int


def health(state: PublishedState, subscribers: int) -> HealthAnswer:
    feeds, engines = state.feeds(), state.engines()
    working = [engine for engine in engines.engines if engine.state in ("idle", "searching")]
    delivering = [feed for feed in feeds if feed.state in ("live", "stale", "finished")]
    well = len(working) == len(engines.engines) and len(delivering) == len(feeds)
    sources = [feed for feed in feeds if not feed.part]
    ready = bool(working or not engines.engines) and bool(delivering or not sources)
    return HealthAnswer("ok" if well else "degraded", ready, feeds, engines, subscribers)
