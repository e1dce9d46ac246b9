"""What the engine room costs: ``python -m tests.benchmarks.engine.engine_backlog [--games N] …``.

A backlog of games (``tests/data/forty-games.txt``), every position and, for every second move,
the search restricted to it. The room against a bare loop over pipes that sends the same searches
and reads to ``bestmove``; hash cleared and hash kept; two engines against one. Contestants take
turns game by game and lead in turn, so that a busy machine slows all alike. Only ratios count.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Hashable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol, Self

import chess

from live.engine.engine_discovery import EngineCommand, find_engine
from live.engine.engine_pool import EnginePool
from live.engine.queue.search_priority import SearchKind, SearchPriority
from live.engine.results.result_cache import ResultCache
from live.engine.search import Limit, Position, Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_key import SearchKey

GAMES = Path(__file__).parents[2] / "data" / "forty-games.txt"


def games(number: int) -> Iterator[list[Search]]:
    """The searches of each game, in ply order."""
    for line in GAMES.read_text().splitlines()[:number]:
        moves = tuple(line.split())
        searches = []
        for ply in range(len(moves)):
            position = Position(chess.STARTING_FEN, moves[:ply])
            searches.append(Search(position))
            if ply % 2:
                searches.append(Search(position, only=moves[ply]))
        yield searches


class Contestant(Protocol):
    """Makes the searches of a game and waits for the last."""

    name: str

    async def play(self, searches: list[Search]) -> None: ...


class NoCache(ResultCache):
    """Forgets, so that games which share an opening cost all contestants the same."""

    problem = ""

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        return None

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        pass


class Room:
    """The engine room."""

    def __init__(
        self, name: str, command: EngineCommand, limit: Limit, engines: int, reproducible: bool
    ) -> None:
        self.name = name
        self._room = EnginePool(
            command,
            limit,
            listener=self,
            engines=engines,
            reproducible=reproducible,
            nice=0,
            cache=NoCache(),
        )
        self._open = 0
        self._done = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._room.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._room.__aexit__(None, None, None)

    async def play(self, searches: list[Search]) -> None:
        self._open = len(searches)
        self._done.clear()
        for ply, search in enumerate(searches):
            self._room.submit(search, ply, SearchPriority(SearchKind.FINISHED, "game", ply))
        await self._done.wait()

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        assert isinstance(result, SearchResult), result
        self._open -= 1
        if not self._open:
            self._done.set()

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        pass


class BareLoop:
    """Write, read lines to ``bestmove``, next. Blocks, as the simplest program would."""

    def __init__(self, name: str, command: EngineCommand, limit: Limit, reproducible: bool) -> None:
        self.name = name
        self._reproducible = reproducible
        self._go = f"go nodes {limit.nodes}"
        self._engine = subprocess.Popen(command.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._say("uci")
        self._read("uciok")
        self._say("setoption name Threads value 1\nsetoption name Hash value 16\nisready")
        self._read("readyok")

    async def play(self, searches: list[Search]) -> None:
        for search in searches:
            if self._reproducible:
                self._say("ucinewgame\nisready")
                self._read("readyok")
            moves = " ".join(search.position.moves)
            only = f" searchmoves {search.only}" if search.only else ""
            self._say(f"position startpos moves {moves}\n{self._go}{only}")
            self._read("bestmove")

    def close(self) -> None:
        self._engine.kill()
        self._engine.communicate()

    def _say(self, text: str) -> None:
        assert self._engine.stdin is not None
        self._engine.stdin.write(text.encode() + b"\n")
        self._engine.stdin.flush()

    def _read(self, word: str) -> None:
        assert self._engine.stdout is not None
        while not self._engine.stdout.readline().startswith(word.encode()):
            pass


async def contest(command: EngineCommand, number: int, limit: Limit, warm: int) -> None:
    """Play and print the table."""
    async with AsyncExitStack() as stack:
        contestants: list[Contestant] = []
        for cleared in (True, False):
            word = "cleared" if cleared else "kept"
            bare = BareLoop(f"bare loop, hash {word}", command, limit, cleared)
            stack.callback(bare.close)
            contestants.append(bare)
            contestants.append(
                await stack.enter_async_context(
                    Room(f"room, hash {word}", command, limit, 1, cleared)
                )
            )
        contestants.append(
            await stack.enter_async_context(
                Room("room, hash cleared, two engines", command, limit, 2, True)
            )
        )
        seconds = dict.fromkeys((each.name for each in contestants), 0.0)
        ours = dict.fromkeys(seconds, 0.0)
        made = 0
        for index, searches in enumerate(games(number)):
            turn = index % len(contestants)
            for each in contestants[turn:] + contestants[:turn]:
                began, own = time.perf_counter(), time.process_time()
                await each.play(searches)
                if index >= warm:
                    seconds[each.name] += time.perf_counter() - began
                    ours[each.name] += time.process_time() - own
            if index >= warm:
                made += len(searches)
    write = sys.stdout.write
    write(f"{command.how_found}; {number} games, {made} searches of {limit} each\n")
    write(f"{'':<34}{'s':>9}{'ms a search':>14}{'our own CPU':>14}\n")
    for name, took in seconds.items():
        each_ms, own_ms = took / made * 1000, ours[name] / made * 1000
        write(f"{name:<34}{took:>9.1f}{each_ms:>14.2f}{own_ms:>14.2f}\n")
    one, room, kept, room_kept, two = seconds.values()
    write(f"{'room / bare loop, hash cleared':<34}{room / one:>9.3f}   at most 1.03\n")
    write(f"{'room / bare loop, hash kept':<34}{room_kept / kept:>9.3f}   at most 1.03\n")
    write(f"{'hash cleared / hash kept':<34}{room / room_kept:>9.3f}\n")
    write(f"{'one engine / two engines':<34}{room / two:>9.3f}   at least 1.8 on two cores\n")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--engine", default="", help="a UCI engine; default: as live-rate finds it")
    parser.add_argument("--embedded", action="store_true", help="the embedded engine")
    arguments = parser.parse_args()
    if arguments.embedded:
        command = find_engine(which=lambda name: None, places=())
    else:
        command = find_engine(arguments.engine)
    limit = Limit(nodes=arguments.nodes)
    asyncio.run(contest(command, arguments.games, limit, warm=1 if arguments.games > 2 else 0))


if __name__ == "__main__":
    main()
