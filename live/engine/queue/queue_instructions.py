"""What the queue tells its shell to do, in order."""

from __future__ import annotations

from typing import Generic

import msgspec

from live.engine.queue.waiting_searches import Key, Owner
from live.engine.search import Search, SearchFailure


class StartSearch(msgspec.Struct, Generic[Key], frozen=True):
    """Have this engine search this, now."""

    engine: int
    key: Key


class StopSearch(msgspec.Struct, frozen=True):
    """End this engine's search early; then report :meth:`SearchQueue.finished`, stopped."""

    engine: int


class DeliverResult(msgspec.Struct, frozen=True):
    """Tell an owner: what was found, or ``failure``."""

    owner: Owner
    search: Search
    failure: SearchFailure | None = None


class AssignSearches(msgspec.Struct, frozen=True):
    """Call :meth:`SearchQueue.assign`, after the answers before this: their owners may want
    something more urgent next.
    """


Instruction = StartSearch[Key] | StopSearch | DeliverResult | AssignSearches
