"""What one step or answer sets in motion: messages for subscribers, searches for engines."""

from __future__ import annotations

from typing import Literal

import msgspec

from live.engine.search import Search
from live.events import Change
from live.ledger.game.game_evaluations import RequestId

Urgency = Literal["head", "backlog", "finished", "deepen"]
"""The newest position of a running game, the rest of a running game, a game that is over; and
what a quick look has told already."""


class SearchRequest(msgspec.Struct, frozen=True):
    """A search the ledger wants; wishing again for the same ask changes its urgency."""

    ask: RequestId
    search: Search
    urgency: Urgency


class Outbox:
    """Collected effects, in the order they must be carried out."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.dropped: list[RequestId] = []
        self.wishes: list[SearchRequest] = []
