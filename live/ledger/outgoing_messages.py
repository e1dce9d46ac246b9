"""What follows from one step or result: messages for subscribers, requests for engines.

Inside the ledger every rating is a difference from the engine. The engine's own rating is added
here, once, when a message is made.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeVar

import msgspec

from live.engine.search import Search
from live.events import (
    Change,
    Color,
    CurvePoint,
    EngineInfo,
    EngineMessage,
    GameId,
    PlayerView,
    PointMessage,
    StandingMessage,
)
from live.human.question import HumanQuestion
from live.ledger.game.game_evaluations import RequestId

Urgency = Literal["head", "closing", "backlog", "finished", "deepen", "spare"]
"""The newest position of a running game, the rest of a running game, a game that is over; what a
quick search has scored already; and what no rating waits for."""

Rated = TypeVar("Rated", CurvePoint, PlayerView)


def rated(figures: Rated, engine_rating: int) -> Rated:
    """``figures`` with the ratings that follow from their differences from the engine, in Elo."""

    def plus(difference: float | None) -> float | None:
        return None if difference is None else engine_rating + difference

    return msgspec.structs.replace(
        figures,
        rating=plus(figures.difference),
        low=plus(figures.difference_low),
        high=plus(figures.difference_high),
    )


class SearchRequest(msgspec.Struct, frozen=True):
    """A search that the ledger needs. The same id again changes the urgency."""

    id: RequestId
    search: Search
    urgency: Urgency


class HumanRequest(msgspec.Struct, frozen=True):
    """A question for the network of human moves; it is answered, or given up, once."""

    game: GameId
    ply: int
    """The position's index."""
    question: HumanQuestion
    newest: bool = False
    """The last position of a running game: people look at it."""


class Effects(NamedTuple):
    """What one call of the ledger leads to, each in the order it must be carried out."""

    changes: tuple[Change, ...] = ()
    """Messages that bring subscribers to the state after the call."""
    dropped: tuple[RequestId, ...] = ()
    """Requests whose results nobody needs any more; before ``requests``."""
    requests: tuple[SearchRequest, ...] = ()
    questions: tuple[HumanRequest, ...] = ()
    """For the network of human moves; after everything else."""


class OutgoingMessages:
    """Collects the effects of one call; all parts of the ledger share one."""

    def __init__(self, engine_rating: int) -> None:
        self.engine_rating = engine_rating
        """Elo that subscribers know of when they read what is added next."""
        self.changes: list[Change] = []
        self.dropped: list[RequestId] = []
        self.requests: list[SearchRequest] = []
        self.questions: list[HumanRequest] = []

    def add_engine(self, engine: EngineInfo) -> None:
        """The engine is rated anew: all that is added from now on is measured by this."""
        self.engine_rating = engine.rating
        self.changes.append(EngineMessage(engine))

    def add_point(self, game: GameId, color: Color, point: CurvePoint) -> None:
        """One point of a curve, its ratings not yet added."""
        self.changes.append(PointMessage(game, color, rated(point, self.engine_rating)))

    def add_standing(self, view: PlayerView) -> None:
        """One player's figures, their ratings not yet added."""
        self.changes.append(StandingMessage(rated(view, self.engine_rating)))

    def take(self) -> Effects:
        """All that was collected; nothing is held then."""
        effects = Effects(
            tuple(self.changes),
            tuple(self.dropped),
            tuple(self.requests),
            tuple(self.questions),
        )
        self.clear()
        return effects

    def clear(self) -> None:
        """Forget what was collected."""
        self.changes, self.dropped, self.requests, self.questions = [], [], [], []
