"""A whole round over every protocol, from the project's folder:
``python -m tests.benchmarks.service.ingest PGN [ROUND [SEEDS [PROTOCOL,…]]]``.

Plays the round back over each protocol as fast as the other side can follow, once as it is and
then with each of SEEDS seeds of faults (0 by default), and says whether every game arrived as it
was played: moves, clocks, result, players, as far as the protocol tells them. Printed are reports
and processor time of the whole process, both sides, and the longest that one step of a source kept
the loop from other work (processor time; the aim is below 50 ms).
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path
from typing import Any

from live.events import GameReport
from live.feeds.pgn.pgn_decoder import PgnReader
from tests.rehearse.following import FOLLOWED, follow_rehearsal

#: The play itself, and the comparing, are no part of a source.
OURS = "benchmark"


class Steps:
    """Measures each callback of the loop that is not the benchmark's own."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    def watch(self) -> None:
        run = asyncio.Handle._run

        def measured(handle: Any) -> None:
            task = getattr(handle._callback, "__self__", None)
            start_s = time.thread_time()
            run(handle)
            spent_s = time.thread_time() - start_s
            if not (isinstance(task, asyncio.Task) and task.get_name() == OURS):
                self.longest_s = max(self.longest_s, spent_s)

        asyncio.Handle._run = measured  # type: ignore[method-assign, assignment]


def round_of(path: Path, number: str) -> list[GameReport]:
    """The games of one round of a file."""
    games = PgnReader().read(path.read_bytes(), closed=True)
    return [game for game in games if game.headers.round.partition(".")[0] == number]


async def main() -> int:
    path = Path(sys.argv[1])
    number = sys.argv[2] if len(sys.argv) > 2 else "1"
    seeds: list[int | None] = [None, *range(int(sys.argv[3]) if len(sys.argv) > 3 else 0)]
    chosen = sys.argv[4].split(",") if len(sys.argv) > 4 else list(FOLLOWED)

    def out(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()  # seeds take their time; into a file, too, each line is told at once

    games = round_of(path, number)
    plies = sum(len(game.moves) for game in games)
    out(f"{path.name}, round {number}: {len(games)} games, {plies} plies\n")
    out("protocol         seeds  equal  reports  CPU s  wall s  longest step ms\n")
    failed = 0
    steps = Steps()
    steps.watch()
    for protocol in FOLLOWED:
        if protocol not in chosen:
            continue
        for kind in ([None], seeds[1:]):
            if not kind:
                continue
            steps.longest_s, reports, equal = 0.0, 0, 0
            cpu_s, wall_s = time.process_time(), time.monotonic()
            for seed in kind:
                # As the service does when it has started.
                gc.collect()
                gc.freeze()
                following = asyncio.create_task(
                    follow_rehearsal(protocol, games, seed, within_s=240), name=OURS
                )
                try:
                    ledger = await following
                except TimeoutError:
                    out(f"{protocol}: seed {seed} did not end equal\n")
                    failed += 1
                else:
                    equal += 1
                    reports += ledger.told
            cpu_s, wall_s = time.process_time() - cpu_s, time.monotonic() - wall_s
            told = "none" if kind == [None] else str(len(kind))
            out(
                f"{protocol:16} {told:>5}  {equal:>2}/{len(kind):<2}  {reports:7}  {cpu_s:5.1f}"
                f"  {wall_s:6.1f}  {steps.longest_s * 1e3:10.1f}\n"
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
