"""How soon a live position starts: ``python -m tests.benchmarks.engine_pre_emption
[TIMES]``.

All engines speculate; a live position comes in at a random moment of that, TIMES times
over. Printed: percentiles of the time from ``want`` to its search being sent to an
engine.
"""

import asyncio
import random
import sys
import time
from statistics import quantiles
from typing import Any

import chess

from live.engine.engine_pool import EnginePool
from live.engine.engine_process import EngineProcess
from live.engine.engine_programs import EngineCommand, find_engine
from live.engine.search import Limit, Position, Search
from live.engine.search_key import SearchKey
from live.engine.search_queue import SearchKind, SearchPriority
from live.engine.uci import UciSettings
from tests.engine.conftest import Desk
from tests.screens.web.broadcast import GAMES

ENGINES = 2


async def measure(command: EngineCommand, times: int) -> list[float]:
    """Milliseconds from wanting a head to sending it."""
    chance = random.Random(1)
    desk, delays = Desk(), []
    lines = [line.split() for line in GAMES.read_text().splitlines()]
    async with EnginePool(
        command,
        Limit(nodes=100_000),
        listener=desk,
        settings=UciSettings(),
        engines=ENGINES,
        nice=0,
    ) as room:
        number = 0
        for index in range(times):
            while room.report_health().waiting.speculate < 4:
                number += 1
                moves = tuple(lines[number % len(lines)])[: 4 + number // len(lines)]
                guess = Search(Position(chess.STARTING_FEN, moves))
                room.submit(
                    guess,
                    f"guess {number}",
                    SearchPriority(SearchKind.SPECULATE, "guess", number),
                )
                await asyncio.sleep(0)  # lets what is known already be told
            await asyncio.sleep(chance.uniform(0.02, 0.2))
            moves = tuple(lines[index % len(lines)])
            head = Search(
                Position(chess.STARTING_FEN, moves[: 8 + index // len(lines)])
            )
            head = Search(head.position, limit=Limit(nodes=1000 + index))
            delays.append(await _sent(room, head, index))
            await desk.until(lambda answered=index: answered in desk.results)  # type: ignore[misc]
    return delays


async def _sent(room: EnginePool, head: Search, index: int) -> float:
    """Want ``head`` and wait until an engine gets it, milliseconds."""
    sent: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    begin = EngineProcess.begin_search

    def note_start(self: EngineProcess, search_key: SearchKey, *more: Any) -> Any:
        outcome = begin(self, search_key, *more)
        if search_key.limit == head.limit and not sent.done():
            sent.set_result(time.perf_counter())
        return outcome

    EngineProcess.begin_search = note_start  # type: ignore[method-assign, assignment]
    try:
        wanted = time.perf_counter()
        room.submit(
            head, index, SearchPriority(SearchKind.HEAD, f"board {index % 6}", 1)
        )
        return (await sent - wanted) * 1000
    finally:
        EngineProcess.begin_search = begin  # type: ignore[method-assign]


def main() -> None:
    """Run and print."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    delays = asyncio.run(measure(find_engine(), times))
    cuts = quantiles(delays, n=100)
    sys.stdout.write(
        f"{times} live positions against {ENGINES} speculating engines: "
        f"median {cuts[49]:.1f} ms, 99th percentile {cuts[98]:.1f} ms (aim 10 ms), "
        f"slowest {max(delays):.1f} ms\n"
    )


if __name__ == "__main__":
    main()
