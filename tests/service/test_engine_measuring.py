"""An engine measured on the reference positions, and what is kept of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable
from pathlib import Path

import msgspec
import pytest

from live.engine.search import Search, SearchFailure, SearchResult
from live.engine.search_queue import SearchKind, SearchPriority
from live.events import Score
from live.ratings.engine_scale import (
    MeasuredEngine,
    ReferencePosition,
    ReferenceSet,
    ScoreAgreement,
    load_reference,
)
from live.service.engine_service import EngineMeasuring, MeasuredEngines, ReferenceSearch

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - {} 1"
REFERENCE = ReferenceSet(
    engine="Known 1",
    limit="100000 nodes",
    data="made up",
    positions=tuple(
        # Numbered by the halfmove clock.
        ReferencePosition(START.format(index), score_cp=20 * (index - 35))
        for index in range(70)
    ),
)


class FakeEngines:
    """Holds what is wanted until it is answered."""

    def __init__(self) -> None:
        self.wanted: dict[Hashable, tuple[Search, SearchPriority]] = {}
        self.most = 0

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        self.wanted[owner] = search, priority
        self.most = max(self.most, len(self.wanted))

    def drop(self, owner: Hashable) -> None:
        self.wanted.pop(owner, None)

    def answer(self, measuring: EngineMeasuring, fail: set[int] | None = None) -> None:
        """One search, the one asked for last."""
        owner, (search, _) = list(self.wanted.items())[-1]
        del self.wanted[owner]
        assert isinstance(owner, ReferenceSearch)
        number = int(search.position.start_fen.split()[4])
        assert number == owner.index
        if fail is not None and number in fail:
            measuring.searched(owner, SearchFailure("given up"))
        else:
            found = SearchResult(Score(round(18 * (number - 35))), "e2e4", 9, nodes=1000 + number)
            measuring.searched(owner, found)


async def measured(fail: set[int] | None = None) -> tuple[MeasuredEngine | str, FakeEngines]:
    engines = FakeEngines()
    seen: list[tuple[int, int]] = []
    measuring = EngineMeasuring(
        REFERENCE, engines, progressed=lambda done, of: seen.append((done, of))
    )
    running = asyncio.create_task(measuring.run())
    await asyncio.sleep(0)
    while engines.wanted:
        engines.answer(measuring, fail)
    found = await running
    assert seen == [(done, 70) for done in range(1, 71)]
    return found, engines


async def test_every_position_is_searched_and_compared() -> None:
    found, engines = await measured()
    assert isinstance(found, MeasuredEngine)
    assert found.agreement.scale == pytest.approx(0.9)
    assert found.agreement.positions == 70
    assert found.nodes == pytest.approx(1034.5, abs=0.5)
    assert engines.most <= 32


async def test_searches_wait_for_everything_else() -> None:
    engines = FakeEngines()
    measuring = EngineMeasuring(REFERENCE, engines, lines=3)
    running = asyncio.create_task(measuring.run())
    await asyncio.sleep(0)
    assert {priority.kind for _, priority in engines.wanted.values()} == {SearchKind.SPECULATE}
    assert {search.lines for search, _ in engines.wanted.values()} == {3}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not engines.wanted


async def test_positions_without_a_score_are_left_out() -> None:
    found, _ = await measured(fail={3, 4})
    assert isinstance(found, MeasuredEngine)
    assert found.agreement.positions == 68


async def test_an_engine_that_fails_at_most_positions_is_not_measured() -> None:
    found, _ = await measured(fail=set(range(30)))
    assert found == ("it could not be measured: it gave no score for 30 of 70 reference positions")


SHIPPED = load_reference()
FOUND = MeasuredEngine(agreement=ScoreAgreement(0.85, 0.011, 0.982, 294), nodes=100_000)
ENGINE, LIMIT = "Stockfish 15.1; Threads=1; Hash=16; hash cleared", "100000 nodes"


def test_a_second_start_knows_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert MeasuredEngines(SHIPPED, folder).get(ENGINE, LIMIT) is None
    MeasuredEngines(SHIPPED, folder).put(ENGINE, LIMIT, FOUND)
    again = MeasuredEngines(SHIPPED, folder)
    assert again.get(ENGINE, LIMIT) == FOUND
    assert [path.suffix for path in folder.iterdir()] == [".json"]


@pytest.mark.parametrize(
    ("engine", "limit"),
    [
        (ENGINE.replace("15.1", "16"), LIMIT),
        (ENGINE.replace("Hash=16", "Hash=16; EvalFile=other.nnue"), LIMIT),
        (ENGINE, "20000 nodes"),
    ],
)
def test_another_engine_network_or_limit_is_measured_by_itself(
    tmp_path: Path, engine: str, limit: str
) -> None:
    MeasuredEngines(SHIPPED, tmp_path).put(ENGINE, LIMIT, FOUND)
    assert MeasuredEngines(SHIPPED, tmp_path).get(engine, limit) is None


def test_other_reference_positions_count_anew(tmp_path: Path) -> None:
    MeasuredEngines(SHIPPED, tmp_path).put(ENGINE, LIMIT, FOUND)
    fewer = msgspec.structs.replace(SHIPPED, positions=SHIPPED.positions[:200])
    assert MeasuredEngines(fewer, tmp_path).get(ENGINE, LIMIT) is None


def test_a_file_that_cannot_be_read_costs_a_measurement(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    held = MeasuredEngines(SHIPPED, tmp_path)
    held.put(ENGINE, LIMIT, FOUND)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"{")
    with caplog.at_level(logging.WARNING):
        assert held.get(ENGINE, LIMIT) is None
    assert "the engine is measured again" in caplog.text


def test_a_folder_that_takes_nothing_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    held = MeasuredEngines(SHIPPED, tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        held.put(ENGINE, LIMIT, FOUND)
    assert "cannot be written" in caplog.text
