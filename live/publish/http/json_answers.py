"""Answers of the JSON interface beside the values of the event itself: events, standings, health.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

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
