"""Searches of reference positions, made when the engine has nothing else to do.

They have the priority of speculative searches (:data:`SearchKind.SPECULATE`): a live
position takes the engine at once, and the interrupted search is made later.
"""

import asyncio
import itertools
from collections.abc import Callable, Hashable, Sequence

from live.engine.search import (
    Position,
    Search,
    SearchFailure,
    SearchProgress,
    SearchResult,
)
from live.engine.search_queue import (
    ResultListener,
    SearchDesk,
    SearchKind,
    SearchPriority,
)

#: Number of searches requested at a time: more than there are engines, but few enough
#: to keep the queue short.
_AT_A_TIME = 32


class FutureAnswers:
    """Listener that sets the result of each future that requested a search, and passes
    all other results on to another listener.
    """

    def __init__(self, listener: ResultListener) -> None:
        self._listener = listener

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        if not isinstance(owner, asyncio.Future):
            self._listener.on_result(owner, search, result)
        elif not owner.done():
            owner.set_result(result)

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        if not isinstance(owner, asyncio.Future):
            self._listener.on_progress(owner, progress)


async def search_positions(
    fens: Sequence[str],
    desk: SearchDesk,
    *,
    lines: int,
    on_progress: Callable[[int, int], None],
) -> list[SearchResult | None]:
    """Return the search result of each position, in the order of ``fens``; None for a
    search that failed.

    Args:
        fens: the positions.
        desk: accepts the searches, and sets the result of a future that is the owner.
        lines: number of best moves wanted for each position.
        on_progress: receives the number of finished positions and the total.
    """
    slots = asyncio.Semaphore(_AT_A_TIME)
    counter = itertools.count(1)

    async def search(index: int) -> SearchResult | None:
        async with slots:
            request = Search(Position(fens[index]), lines=lines)
            # The rank 0 is before all speculative searches, which can wait for the
            # minute that this takes.
            priority = SearchPriority(SearchKind.SPECULATE, "reference", index)
            answer: asyncio.Future[SearchResult | SearchFailure] = asyncio.Future()
            desk.submit(request, answer, priority)
            try:
                result = await answer
            finally:
                desk.drop(answer)
            on_progress(next(counter), len(fens))
            return result if isinstance(result, SearchResult) else None

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(search(index)) for index in range(len(fens))]
    return [task.result() for task in tasks]
