"""What the engine is asked, with which limits, and by what its scores are read."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from pathlib import Path

import pytest

from live.config import load_config
from live.engine.search import Position, Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_queue import SearchKind, SearchPriority
from live.errors import ConfigError, InputError
from live.events import Score
from live.ratings.ferreira import SPIKE_AT_ZERO, scores_against
from live.ratings.perceived_model import MODELS
from live.service.engine_service import EngineService
from live.service.measure_settings import engine_distribution, limit_text

SYZYGY = Path(__file__).parent.parent / "data" / "syzygy"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
ROOK = Search(Position("4k3/8/8/8/8/8/8/4K2R w - - 0 1"))


class Ledger:
    """Wants answers; knows who plays."""

    def __init__(self, elo: int | None = None) -> None:
        self.results: dict[Hashable, SearchResult | SearchFailure] = {}
        self.news = asyncio.Event()
        self._elo = elo

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self.results[owner] = result
        self.news.set()

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        pass

    def mover_elo(self, game: str, ply: int) -> int | None:
        return self._elo

    def people(self, game: str, position: Position) -> dict[str, float]:
        return {}


def engines(ledger: Ledger, *, live: bool = True, **settings: object) -> EngineService:
    flags: dict[str, object] = {"engine.path": "embedded", "engine.nodes": 500}
    flags |= {f"engine.{name}": value for name, value in settings.items()}
    return EngineService(load_config(None, {}, flags), ledger, None, ledger, live=live)


@pytest.mark.slow
async def test_proven_endgames_need_no_search() -> None:
    ledger = Ledger()
    room = engines(ledger, engines=1, syzygy_path=str(SYZYGY))
    async with room.running():
        room.desk.submit(ROOK, "rook", SearchPriority(SearchKind.HEAD, "a", 0))
        await asyncio.wait_for(ledger.news.wait(), 60)
        result = ledger.results["rook"]
        assert isinstance(result, SearchResult)
        assert (result.score, result.nodes) == (Score(3900), 0)


def test_tables_are_named_with_the_limit_so_that_no_calibration_fits() -> None:
    config = load_config(None, {}, {"engine.syzygy_path": str(SYZYGY)})
    assert limit_text(config.engine) == "100000 nodes, syzygy"
    with pytest.raises(ConfigError, match="no Syzygy tables"):
        engines(Ledger(), syzygy_path=str(SYZYGY.parent / "nowhere"))


@pytest.mark.slow
async def test_with_and_without_all_that_stands_before_the_room() -> None:
    """A position asked for at the front comes to the room, and its answer back."""
    for ahead in (True, False):
        ledger = Ledger()
        # Nobody listens at this port of the machine itself: cloud evaluations are done without.
        flags = {
            "engine.path": "embedded",
            "engine.nodes": 500,
            "engine.engines": 1,
            "engine.speculate": ahead,
            "engine.cloud_evals": True,
            "feeds.lichess.base_url": "http://127.0.0.1:9",
        }
        room = EngineService(load_config(None, {}, flags), ledger, None, ledger, live=True)
        async with room.running():
            room.desk.submit(
                Search(Position(START)), "start", SearchPriority(SearchKind.HEAD, "a", 0)
            )
            await asyncio.wait_for(ledger.news.wait(), 60)
            assert isinstance(ledger.results["start"], SearchResult)
            assert (room.health().speculation is not None) == ahead


def test_the_stronger_player_is_expected_to_find_the_better_move() -> None:
    behind = [0, 20, 60]
    strong = engines(Ledger(2700))._chances("a", 1, behind)
    weak = engines(Ledger(1600))._chances("a", 1, behind)
    unknown = engines(Ledger())._chances("a", 1, behind)
    assert strong[0] > unknown[0] > weak[0]
    assert sum(strong) == pytest.approx(1)


#: The engine that comes with the package, as it calls itself.
ENGINE, LIMIT = MODELS.load("classical-successive").engine, "100000 nodes"


def test_a_measured_engine_is_no_spike_and_shows_players_nearer() -> None:
    assert engine_distribution("spike", ENGINE, LIMIT, "same-search") == SPIKE_AT_ZERO
    measured = engine_distribution("measured", ENGINE, LIMIT, "successive")
    assert sum(moves for _, moves in measured.counts) == 18_984
    gains = [0, -3, 4, -20, -7, 2]
    spike, other = (
        scores_against(gains, each).total / each.scale for each in (SPIKE_AT_ZERO, measured)
    )
    assert spike < other


@pytest.mark.parametrize(
    "name, engine, limit, gain",
    [
        ("measured", ENGINE, LIMIT, "same-search"),
        ("measured", ENGINE, "200000 nodes", "successive"),
        ("measured", ENGINE, "100000 nodes, 8 lines", "successive"),
        ("measured", ENGINE, "100", "successive"),
        ("measured", "Stockfish 19", LIMIT, "successive"),
    ],
)
def test_what_was_not_counted_is_refused(name: str, engine: str, limit: str, gain: str) -> None:
    with pytest.raises(ConfigError):
        engine_distribution(name, engine, limit, gain)  # type: ignore[arg-type]


def test_a_file_of_a_study_is_read_and_any_other_refused(tmp_path: Path) -> None:
    file = tmp_path / "gains.json"
    file.write_text('{"engine": "Rybka; Hash=16, depth 13", "rows": [[-2, 1], [0, 3]]}')
    found = engine_distribution(str(file), "Rybka", "depth 13", "successive")
    assert found.counts == ((-2, 1), (0, 3))
    with pytest.raises(ConfigError, match="no count"):
        engine_distribution(str(file), "Rybka", "depth 1", "successive")
    for text in ('{"rows": [[0, 1]]}', '{"engine": "x, y", "rows": []}', "[", '{"engine": 1}'):
        file.write_text(text)
        with pytest.raises(InputError, match="no count"):
            engine_distribution(str(file), "x", "y", "successive")
