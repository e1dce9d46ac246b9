"""Nothing is lost: ``python -m tests.benchmarks.engine.engine_faults [POSITIONS [NODES [SEED]]]``.

Positions of real games are searched undisturbed by one engine, and by two while an outsider kills
and stops engines and damages what they say. Every position must be scored, none twice, and all
figures must be the same.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from pathlib import Path

import chess

from live.engine.engine_discovery import find_engine
from live.engine.search import Limit, Position, Search, SearchResult
from tests.benchmarks.engine.engine_backlog import GAMES
from tests.engine.drill import Drill, garbled


def positions(number: int) -> list[Search]:
    """Distinct positions, game by game."""
    searches: dict[str, Search] = {}
    for line in GAMES.read_text().splitlines():
        moves = tuple(line.split())
        board = chess.Board()
        for ply, move in enumerate(moves):
            searches.setdefault(board.fen(), Search(Position(chess.STARTING_FEN, moves[:ply])))
            board.push_uci(move)
    return list(searches.values())[:number]


async def drill(number: int, nodes: int, seed: int) -> bool:
    """Run both, print the table; whether all is well."""
    searches, limit, command = positions(number), Limit(nodes=nodes), find_engine()
    calm = Drill(searches)
    await calm.run(command, limit, engines=1)
    stormy = Drill(searches, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        wrapped = garbled(command, Path(folder) / str(seed), every=20)
        health = await stormy.run(wrapped, limit, engines=2)
    same = sum(_figures(calm, n) == _figures(stormy, n) for n in range(number))
    scored = sum(isinstance(result, SearchResult) for result in stormy.results.values())
    sys.stdout.write(
        f"{number} positions, {limit}, seed {seed}: {stormy.kills} engines killed, "
        f"{stormy.stops} stopped, {health.restarts} replaced in all (the others were garbled)\n"
        f"scored {scored}, told {stormy.told}, same figures {same}, set aside {health.set_aside}\n"
        f"scored as undisturbed / positions {same / number:.3f}   aim: 1\n"
    )
    return same == scored == stormy.told == number


def _figures(drill: Drill, number: int) -> object:
    result = drill.results[number]
    if not isinstance(result, SearchResult):
        return None
    return (result.score, result.best, result.depth, result.by_depth, result.nodes)


def main() -> None:
    """Read the arguments and run."""
    given = [int(argument) for argument in sys.argv[1:]]
    number, nodes, seed = given + [500, 20_000, 1][len(given) :]
    sys.exit(not asyncio.run(drill(number, nodes, seed)))


if __name__ == "__main__":
    main()
