"""Boards that share openings share searches: ``python -m tests.benchmarks.engine.engine_sharing``.

Twelve boards of one round, followed as they are played: every position and every move's
restricted search is wanted for its own board, by two engines. Printed: how many were wanted, how
many the engines made, and how many distinct positions there are, counted here on their own.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Hashable

import chess

from live.engine.engine_discovery import find_engine
from live.engine.engine_pool import EnginePool
from live.engine.queue.search_priority import SearchKind, SearchPriority
from live.engine.search import Limit, Position, Search, SearchFailure, SearchProgress, SearchResult
from tests.benchmarks.engine.engine_backlog import GAMES

BOARDS = 12


def distinct(boards: list[list[str]]) -> int:
    """Positions, with fifty-move counter and what stood twice, whole or with the move played."""
    seen = set()
    for moves in boards:
        board = chess.Board()
        stood: Counter[str] = Counter()
        for move in moves:
            place = board.epd(en_passant="legal")
            stood = stood if board.halfmove_clock else Counter()
            stood[place] += 1
            twice = frozenset(where for where, times in stood.items() if times > 1)
            for only in (None, move):
                seen.add((place, board.halfmove_clock, twice, only))
            board.push_uci(move)
    return len(seen)


class Tally:
    """Counts answers."""

    def __init__(self, wanted: int) -> None:
        self._open = wanted
        self.done = asyncio.Event()

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        assert isinstance(result, SearchResult), result
        self._open -= 1
        if not self._open:
            self.done.set()

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        pass


async def count(boards: list[list[str]], nodes: int) -> tuple[int, int]:
    """Searches wanted, and searches made."""
    wanted = 2 * sum(map(len, boards))
    tally = Tally(wanted)
    async with EnginePool(find_engine(), Limit(nodes=nodes), listener=tally, engines=2) as room:
        for ply in range(max(map(len, boards))):
            for index, moves in enumerate(boards):
                if ply < len(moves):
                    position = Position(chess.STARTING_FEN, tuple(moves[:ply]))
                    name = f"board {index}"
                    for only in (None, moves[ply]):
                        search = Search(position, only=only)
                        room.submit(
                            search,
                            (index, ply, only),
                            SearchPriority(SearchKind.HEAD, name, ply + 1),
                        )
                    await asyncio.sleep(0)  # as moves come in: one by one
        await tally.done.wait()
        return wanted, room.health().searches


def main() -> None:
    """Run and print."""
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    boards = [line.split() for line in GAMES.read_text().splitlines()[:BOARDS]]
    wanted, made = asyncio.run(count(boards, nodes))
    sys.stdout.write(
        f"{BOARDS} boards: {wanted} searches wanted, {made} made, "
        f"{distinct(boards)} distinct positions\n"
        f"made / distinct {made / distinct(boards):.3f}   aim: 1\n"
    )
    sys.exit(made != distinct(boards))


if __name__ == "__main__":
    main()
