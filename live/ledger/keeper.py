"""The one writer: takes what feeds and engines say, and passes on what follows from it.

Synchronous and without I/O. Searches and messages leave through the two doors given at the start;
``app.py`` puts the engine room and the publisher behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from live.engine.search import Progress, Search, SearchFailure, SearchResult
from live.events import (
    Change,
    EngineHealth,
    EngineInfo,
    FeedHealth,
    FeedReport,
    GainKind,
    GameDetail,
    GameId,
    GameView,
    HealthMessage,
    PlayerView,
)
from live.games.holding import Holding
from live.games.plan import plan
from live.games.steps import Step
from live.ledger.evaluations import Ask
from live.ledger.event import EventLedger
from live.ledger.outbox import Outbox, Urgency


class Searches(Protocol):
    """The door to the engines."""

    def want(self, search: Search, ask: Ask, urgency: Urgency) -> None:
        """Search this for ``ask``; wanting again with another urgency moves it in the queue."""

    def drop(self, ask: Ask) -> None:
        """Nobody needs the answer to ``ask`` any more."""


class Keeper:
    """Holds games, ledger and health; every change of state passes here, one at a time."""

    def __init__(
        self,
        ledger: EventLedger,
        searches: Searches,
        publish: Callable[[Iterable[Change]], None],
    ) -> None:
        self.ledger = ledger
        self._searches = searches
        self._publish = publish
        # Sources that rewrite whole texts already wait until one has settled, so a report is believed.
        self._held = Holding(patience=1)
        self._feeds: dict[str, FeedHealth] = {}
        self._engines = EngineHealth()

    # --- news -----------------------------------------------------------------------------------

    def plan(self, report: FeedReport) -> Sequence[Step]:
        """The steps that bring what is held to what is reported; changes nothing yet."""
        return plan(self._held, report)

    def apply(self, step: Step) -> None:
        """Carry out one step of the latest plan."""
        self._held.apply(step)
        self._send(self.ledger.apply(step))

    def searched(self, ask: Ask, answer: SearchResult | SearchFailure) -> None:
        """An engine answered."""
        self._send(self.ledger.searched(ask, answer))

    def progressed(self, ask: Ask, progress: Progress) -> None:
        """An engine has a provisional score."""
        self._send(self.ledger.progressed(ask, progress))

    def feed_health(self, health: FeedHealth) -> None:
        """A feed says how it is doing."""
        if self._feeds.get(health.feed) != health:
            self._feeds[health.feed] = health
            self._publish((HealthMessage(self.feeds(), self._engines),))

    def engine_health(self, health: EngineHealth) -> None:
        """The engines' figures, for people."""
        if health != self._engines:
            self._engines = health
            self._publish((HealthMessage(self.feeds(), health),))

    def _send(self, out: Outbox) -> None:
        for ask in out.dropped:
            self._searches.drop(ask)
        for wish in out.wishes:
            self._searches.want(wish.search, wish.ask, wish.urgency)
        if out.changes:
            self._publish(out.changes)

    # --- what is held ---------------------------------------------------------------------------

    def engine(self) -> EngineInfo:
        return self.ledger.engine

    def gain(self) -> GainKind:
        return self.ledger.gain

    @property
    def analysed(self) -> bool:
        """True when no search is outstanding."""
        return self.ledger.pending == 0

    def games(self) -> Iterable[GameView]:
        return self.ledger.games()

    def game(self, id: GameId) -> GameDetail | None:
        return self.ledger.game(id)

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        return self.ledger.player_ids(id)

    def players(self) -> Sequence[PlayerView]:
        return self.ledger.players()

    def feeds(self) -> tuple[FeedHealth, ...]:
        return tuple(self._feeds.values())

    def engines(self) -> EngineHealth:
        return self._engines
