"""A real event in its middle: the bundled games replayed through the ledger, with an engine made of
arithmetic, so that every machine sees the same.
"""

from __future__ import annotations

from collections import deque

import msgspec

from live.config import load_config
from live.engine.search import Search
from live.events import Change, EngineHealth, EngineState, FeedHealth, FeedReport, GameReport
from live.feeds.demo import demo_feed
from live.feeds.game_timeline import timeline
from live.ledger.game_evaluations import RequestId
from live.ledger.outgoing_messages import Urgency
from live.service.desks import AlertService
from live.service.event_service import EventService
from tests.ledger.arithmetic import answer

#: The one for which there is a calibration.
EMBEDDED = "Stockfish 19 Lite WASM Multithreaded"
#: When the test event takes place, seconds since 1970 UTC.
TODAY_S = 1_700_000_000.0

ENGINES = EngineHealth(
    engines=(
        EngineState(0, "searching", 512.0, depth=17),
        EngineState(1, "idle", 498.0, depth=16),
    ),
    queued=14,
    oldest_wait_s=2.4,
    searches=812,
)


class Event(EventService):
    """A hall whose engine answers when told to, and whose wall clock stands still."""

    def __init__(self, *, calibrated: bool = True) -> None:
        super().__init__(load_config(None, {}, {"journal.enabled": False}))
        self._asked: deque[tuple[Search, RequestId]] = deque()
        self.changes: list[Change] = []
        self.arbiter = AlertService(self.notify, lambda: TODAY_S)
        self.listen(self.changes.extend)
        self.open_ledger(EMBEDDED if calibrated else "Arithmetic 1", "100000 nodes")

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        self._asked.append((search, request_id))

    def drop(self, request_id: RequestId) -> None:
        self._asked = deque((search, held) for search, held in self._asked if held != request_id)

    def tell(self, *reports: GameReport) -> None:
        """A source says this."""
        for step in self.state.plan(FeedReport("demo", reports)):
            self.state.apply(step)

    def think(self, leave: int = 0) -> None:
        """Answer what is asked, all but the last ``leave`` searches."""
        while len(self._asked) > leave:
            search, request_id = self._asked.popleft()
            self.state.searched(request_id, answer(search))

    def new(self) -> list[Change]:
        """What happened since this was last asked."""
        told = list(self.changes)
        self.changes.clear()
        return told


def middle(*, calibrated: bool = True, after_s: float = 5400.0) -> Event:
    """The bundled round an hour and a half after it began: some games are over, one is behind."""
    event = Event(calibrated=calibrated)
    latest = {m.game: m.report for m in timeline(demo_feed.games(), speed=1) if m.at_s <= after_s}
    for report in latest.values():
        event.tell(report)
    event.think(leave=3)
    event.state.feed_health(FeedHealth("demo", "live"))
    event.state.engine_health(ENGINES)
    return event


def renamed(report: GameReport, white: str, black: str) -> GameReport:
    """The same game between others."""
    headers = report.headers
    return msgspec.structs.replace(
        report,
        headers=msgspec.structs.replace(
            headers,
            white=msgspec.structs.replace(headers.white, name=white),
            black=msgspec.structs.replace(headers.black, name=black),
        ),
    )
