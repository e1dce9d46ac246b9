"""What the engine room's tests share: real engines, scripted engines, positions for
them, and a listener that collects answers.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from pathlib import Path

import pytest

from live.engine.engine_pool import EnginePool
from live.engine.engine_programs import EngineCommand, find_engine
from live.engine.search import (
    Position,
    Search,
    SearchFailure,
    SearchProgress,
    SearchResult,
)
from live.engine.search_queue import SearchKind, SearchPriority
from live.engine.searcher import EngineTimeouts
from live.errors import EngineNotFound
from tests.engine.machines import Machines

SCRIPT = Path(__file__).with_name("scripted_engine.py")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

#: Patience for engines that answer at once or never; the handshake's covers a busy
#: machine.
BRIEF = EngineTimeouts(floor_s=1.0, slack=1.0, unknown_depth_s=1.0, stop_s=2.0)


def scripted(mode: str, once: Path | None = None) -> EngineCommand:
    """``scripted("crash")``: a real process that speaks UCI and then does that."""
    argv = (
        sys.executable,
        "-I",
        "-S",
        str(SCRIPT),
        mode,
        *([str(once)] if once else []),
    )
    return EngineCommand(argv, "scripted")


def scored(score: int) -> Search:
    """A search the scripted engine scores so."""
    return Search(Position(f"4k3/8/8/8/8/8/8/4K2R w - - {score} 60"))


def head(ply: int, board: str = "a") -> SearchPriority:
    return SearchPriority(SearchKind.HEAD, board, ply)


def backlog(ply: int = 0, board: str = "a") -> SearchPriority:
    return SearchPriority(SearchKind.BACKLOG, board, ply)


class Desk:
    """A desk that remembers what is requested, and a listener that collects what comes
    back; ``await desk.answers(n)`` waits until there are n answers.
    """

    def __init__(self) -> None:
        self.slots = 1
        self.requested: list[tuple[Search, SearchPriority]] = []
        self.dropped: list[Hashable] = []
        self.log: list[str] = []
        self.found: dict[Search, SearchResult] = {}
        self.results: dict[Hashable, SearchResult | SearchFailure] = {}
        self.order: list[Hashable] = []
        self.progress: list[tuple[Hashable, SearchProgress]] = []
        self.react: Callable[[Hashable], None] = lambda owner: None
        self._news = asyncio.Event()

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        self.requested.append((search, priority))
        self.log.append("submit")

    def drop(self, owner: Hashable) -> None:
        self.dropped.append(owner)
        self.log.append("drop")

    def find_known_result(self, search: Search) -> SearchResult | None:
        return self.found.get(search)

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        assert owner not in self.results, f"{owner} answered twice"
        self.results[owner] = result
        self.order.append(owner)
        self._news.set()
        self.react(owner)

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        self.progress.append((owner, progress))
        self._news.set()

    async def answers(self, number: int) -> None:
        await self.until(lambda: len(self.results) >= number)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for an answer or a provisional score by which it holds."""
        async with asyncio.timeout(110):  # a slow machine takes its time
            while not holds():
                self._news.clear()
                await self._news.wait()

    def scores(self) -> dict[Hashable, int | None]:
        return {
            owner: result.score.cp if isinstance(result, SearchResult) else None
            for owner, result in self.results.items()
        }


async def search_and_wait(
    engines: EnginePool, desk: Desk, scores: range, enough: int = 0
) -> None:
    """Have these searched, and wait for the answers, or until there are enough."""
    for score in scores:
        engines.submit(scored(score), score, backlog(score))
    await desk.answers(enough or scores.stop)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture(scope="session")
def embedded() -> EngineCommand:
    """The embedded engine."""
    try:
        return find_engine("embedded")
    except EngineNotFound as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def native(require_program: Callable[[str], str]) -> EngineCommand:
    """Debian's Stockfish."""
    return EngineCommand((require_program("stockfish"),), "for the test")


@pytest.fixture
async def machines(tmp_path: Path) -> AsyncIterator[Machines]:
    machines = Machines(tmp_path)
    yield machines
    await machines.close()


@pytest.fixture
def tls(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Dask's own configuration names the certificate, here and in the processes to
    come.
    """
    dask = pytest.importorskip("dask")
    cert, key = certificate
    names = {"ca-file": cert}
    for role in ("client", "worker", "scheduler"):
        names |= {f"{role}.cert": cert, f"{role}.key": key}
    known = {f"distributed.comm.tls.{name}": file for name, file in names.items()}
    for name, file in known.items():
        variable = name.upper().replace(".", "__").replace("-", "_")
        monkeypatch.setenv(f"DASK_{variable}", file)
    with dask.config.set(known):
        yield
