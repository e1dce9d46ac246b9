"""What the terminal reads: the whole state, as frozen values, answering for now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from live.events import (
    Alert,
    EngineHealth,
    EngineInfo,
    FeedHealth,
    GainKind,
    GameDetail,
    GameId,
    GameView,
    PlayerView,
)


class StateSource(Protocol):
    """The state of the event: the ledger's keeper in the service, a replica elsewhere."""

    def engine(self) -> EngineInfo: ...

    def gain(self) -> GainKind: ...

    def games(self) -> Iterable[GameView]: ...

    def game(self, game: GameId) -> GameDetail | None: ...

    def players(self) -> Iterable[PlayerView]: ...

    def feeds(self) -> tuple[FeedHealth, ...]: ...

    def engines(self) -> EngineHealth: ...

    def alerts(self) -> Iterable[Alert]:
        """Those not cleared; none for whom they are not meant."""
        ...
