"""Many boards on few engines: the service's planning with engines that take their time
by a clock of the test's own.
"""

from collections.abc import Iterable

from live.engine.requests import RequestId, Urgency, build_priority
from live.engine.search import Limit, Search
from live.engine.search_key import SearchKey, SearchKeys
from live.engine.search_queue import (
    AssignSearches,
    DeliverResult,
    Instruction,
    SearchQueue,
    StartSearch,
    StopSearch,
)
from live.messages.from_sources import FeedReport
from live.watch.engine_watch import describe_overload
from tests.benchmarks.drills import boards
from tests.event.answered_event import FEED, AnsweredEvent
from tests.sources.fakes import upto

ENGINES = 2


class TimedEvent(AnsweredEvent):
    """An event whose two engines take ``search_s`` for a search."""

    def __init__(self, search_s: float) -> None:
        super().__init__()
        self.queue = SearchQueue(ENGINES)
        self.now_s = 0.0
        self._search_s = search_s
        self._keys = SearchKeys(Limit(nodes=1))
        self._ends_s: dict[int, float] = {}
        self.open: set[RequestId] = set()
        for engine in range(ENGINES):
            self.queue.on_engine_ready(engine)

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        key = self._keys.build_key(search)
        assert isinstance(key, SearchKey)
        priority = build_priority(request_id, urgency)
        self.open.add(request_id)
        self._carry_out(
            self.queue.submit(request_id, search, key, priority, self.now_s)
        )

    def drop(self, request_id: RequestId) -> None:
        self.open.discard(request_id)
        self._carry_out(self.queue.drop(request_id))

    def _carry_out(self, instructions: Iterable[Instruction]) -> None:
        for instruction in instructions:
            match instruction:
                case StartSearch(engine):
                    self._ends_s[engine] = self.now_s + self._search_s
                case StopSearch(engine):
                    self._ends_s[engine] = self.now_s
                case DeliverResult(owner, search):
                    assert isinstance(owner, RequestId)
                    self.open.discard(owner)
                    found = self.engine(search)
                    self.publish(self.state.apply_result(owner, found, rate=False))
                case AssignSearches():
                    self._carry_out(self.queue.assign_searches())

    def run(self, until_s: float) -> None:
        """The engines end what they have done by then."""
        while self._ends_s and (at_s := min(self._ends_s.values())) <= until_s:
            engine = min(self._ends_s, key=self._ends_s.__getitem__)
            self.now_s = at_s
            del self._ends_s[engine]
            self._carry_out(self.queue.on_search_finished(engine))
        self.now_s = until_s

    def behind(self, game: str) -> int:
        """How many moves of a player the queue has yet to judge since the newest it
        need not.
        """
        detail = self.state.game(game)
        assert detail is not None
        plies = len(detail.plies)
        waiting = {(each.kind, each.ply) for each in self.open if each.game == game}

        def is_judged(ply: int) -> bool:
            return ("position", ply - 1) not in waiting and (
                "played",
                ply,
            ) not in waiting

        def count_unjudged(own: range) -> int:
            return next((at for at, ply in enumerate(own) if is_judged(ply)), len(own))

        return max(
            count_unjudged(range(plies, 0, -2)),
            count_unjudged(range(plies - 1, 0, -2)),
        )


async def test_each_of_56_boards_is_rated_and_none_is_older_than_it_says() -> None:
    """Taken up in the middle of a round, then a move every twenty seconds on each
    board: more than two engines can search.
    """
    event = TimedEvent(search_s=0.5)
    halls = [game for game in boards(56) if len(game.moves) > 20]
    shown = [0] * len(halls)
    for second in range(0, 60, 4):
        for at, game in enumerate(halls):
            if shown[at] < (plies := 16 + (second + at) // 20):
                shown[at] = plies
                await event.take(FeedReport(FEED, (upto(game, plies),)))
        event.run(second + 4)
        said = describe_overload(event.state.list_records())
        behind = {view.id: event.behind(view.id) for view in event.state.games()}
        assert max(behind.values()) <= 1 or second < 44
        much = [moves for moves in behind.values() if moves >= 3]
        assert (
            (f"up to {max(much)} moves behind on {len(much)} board" in said)
            if much
            else not said
        )
    event.publish(event.state.rate())
    details = [event.state.game(view.id) for view in event.state.games()]
    assert len(details) == 56
    for detail in details:
        assert detail is not None
        points = (*detail.curves.white, *detail.curves.black)
        assert any(point.counted for point in points)
