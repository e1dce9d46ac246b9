"""What the engine is asked, with which limits, and by what its scores are read."""

import asyncio
import contextlib
import stat
import sys
from collections.abc import AsyncIterator, Callable, Hashable
from pathlib import Path

import msgspec
import pytest

from live.config import Config, load_config
from live.engine.search import Position, Search, SearchFailure, SearchResult
from live.engine.search_queue import SearchKind, SearchPriority
from live.errors import ConfigError, InputError
from live.jobs.recorded_event import build_explanation, rebuild_event
from live.journal.journal_reader import JournalReader
from live.messages.from_sources import Score
from live.messages.health import MeasuringProgress
from live.messages.to_clients import Change, EngineMessage, HealthMessage
from live.ratings.engine_scale import (
    MeasuredEngine,
    ReferencePosition,
    ReferenceSet,
    ScoreAgreement,
    load_reference,
)
from live.ratings.ferreira import SPIKE_AT_ZERO, score_moves
from live.ratings.model_choice import MODELS
from live.server.analysis import build_analysis
from live.service import engine_service
from live.service.engine_service import (
    EngineService,
    advice,
    engine_distribution,
    fitting,
    keep_measured,
    measured_before,
    measured_on,
)
from live.service.event_service import EventService
from live.sources import demo_feed
from tests.engine.conftest import Desk
from tests.service.answered_event import (
    FEED,
    open_service,
    open_ticking_journal,
    report_and_settle,
)
from tests.sources.fakes import turns, until

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def engines(desk: Desk, elo: int | None = None, **settings: object) -> EngineService:
    """For a desk that wants answers; whoever plays has this Elo."""
    flags: dict[str, object] = {"engine.path": "embedded", "engine.nodes": 500}
    flags |= {f"engine.{name}": value for name, value in settings.items()}
    return EngineService(
        load_config(None, {}, flags), desk, None, lambda game, ply: elo
    )


async def test_with_and_without_all_that_stands_before_the_room() -> None:
    """A position asked for at the front comes to the room, and its answer back."""
    for ahead in (True, False):
        desk = Desk()
        room = engines(desk, engines=1, speculate=ahead)
        async with room.room:
            room.desk.submit(
                Search(Position(START)),
                "start",
                SearchPriority(SearchKind.HEAD, "a", 0),
            )
            await desk.answers(1)
            assert isinstance(desk.results["start"], SearchResult)
            assert (room.health().speculation is not None) == ahead


def test_the_stronger_player_is_expected_to_find_the_better_move() -> None:
    behind = [0, 20, 60]
    strong = engines(Desk(), 2700)._chances("a", 1, behind)
    weak = engines(Desk(), 1600)._chances("a", 1, behind)
    unknown = engines(Desk())._chances("a", 1, behind)
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
        score_moves(gains, each).total / each.scale
        for each in (SPIKE_AT_ZERO, measured)
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
def test_what_was_not_counted_is_refused(
    name: str, engine: str, limit: str, gain: str
) -> None:
    with pytest.raises(ConfigError):
        engine_distribution(name, engine, limit, gain)  # type: ignore[arg-type]


def test_a_file_of_a_study_is_read_and_any_other_refused(tmp_path: Path) -> None:
    file = tmp_path / "gains.json"
    file.write_text('{"engine": "Rybka; Hash=16, depth 13", "rows": [[-2, 1], [0, 3]]}')
    found = engine_distribution(str(file), "Rybka", "depth 13", "successive")
    assert found.counts == ((-2, 1), (0, 3))
    with pytest.raises(ConfigError, match="no count"):
        engine_distribution(str(file), "Rybka", "depth 1", "successive")
    for text in (
        '{"rows": [[0, 1]]}',
        '{"engine": "x, y", "rows": []}',
        "[",
        '{"engine": 1}',
    ):
        file.write_text(text)
        with pytest.raises(InputError, match="no count"):
            engine_distribution(str(file), "x", "y", "successive")


PLACED = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - {} 1"
REFERENCE = ReferenceSet(
    engine="Known 1",
    limit="100000 nodes",
    data="made up",
    positions=tuple(
        # Numbered by the halfmove clock.
        ReferencePosition(PLACED.format(index), score_cp=20 * (index - 35))
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

    def find_known_result(self, search: Search) -> SearchResult | None:
        return None

    def drop(self, owner: Hashable) -> None:
        self.wanted.pop(owner, None)

    def answer(self, fail: set[int] | None = None) -> None:
        """One search, the one asked for last."""
        owner, (search, _) = list(self.wanted.items())[-1]
        del self.wanted[owner]
        assert isinstance(owner, asyncio.Future)
        number = int(search.position.start_fen.split()[4])
        if fail is not None and number in fail:
            owner.set_result(SearchFailure("given up"))
        else:
            found = SearchResult(
                Score(round(18 * (number - 35))), "e2e4", 9, nodes=1000 + number
            )
            owner.set_result(found)


async def measure(
    fail: set[int] | None = None,
) -> tuple[MeasuredEngine | str, FakeEngines]:
    engines = FakeEngines()
    seen: list[tuple[int, int]] = []
    running = asyncio.create_task(
        measured_on(
            REFERENCE,
            engines,
            lines=1,
            progressed=lambda done, of: seen.append((done, of)),
        )
    )
    while not running.done():
        await turns(5)
        if engines.wanted:
            engines.answer(fail)
    found = await running
    assert seen == [(done, 70) for done in range(1, 71)]
    return found, engines


async def test_every_position_is_searched_and_compared() -> None:
    found, engines = await measure()
    assert isinstance(found, MeasuredEngine)
    assert found.agreement.scale == pytest.approx(0.9)
    assert found.agreement.positions == 70
    assert found.nodes == pytest.approx(1034.5, abs=0.5)
    assert engines.most <= 32


async def test_searches_wait_for_everything_else() -> None:
    engines = FakeEngines()
    running = asyncio.create_task(
        measured_on(REFERENCE, engines, lines=3, progressed=lambda done, of: None)
    )
    await until(lambda: bool(engines.wanted))
    assert {priority.kind for _, priority in engines.wanted.values()} == {
        SearchKind.SPECULATE
    }
    assert {search.lines for search, _ in engines.wanted.values()} == {3}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not engines.wanted


async def test_positions_without_a_score_are_left_out_if_they_are_few() -> None:
    found, _ = await measure(fail={3, 4})
    assert isinstance(found, MeasuredEngine) and found.agreement.positions == 68
    found, _ = await measure(fail=set(range(30)))
    assert (
        found
        == "it could not be measured: it gave no score for 30 of 70 reference positions"
    )


SHIPPED = load_reference()
FOUND = MeasuredEngine(agreement=ScoreAgreement(0.85, 0.011, 0.982, 294), nodes=100_000)
STOCKFISH = "Stockfish 15.1; Threads=1; Hash=16; hash cleared"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "live-rate" / "measured-engines"


def test_a_second_start_knows_of_this_engine_network_limit_and_reference_alone(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert measured_before(STOCKFISH, LIMIT) is None
    keep_measured(STOCKFISH, LIMIT, FOUND)
    assert measured_before(STOCKFISH, LIMIT) == FOUND
    assert [path.suffix for path in state.iterdir()] == [".json"]
    for engine in (
        STOCKFISH.replace("15.1", "16"),
        f"{STOCKFISH}; EvalFile=other.nnue",
    ):
        assert measured_before(engine, LIMIT) is None
    assert measured_before(STOCKFISH, "20000 nodes") is None
    fewer = msgspec.structs.replace(SHIPPED, positions=SHIPPED.positions[:200])
    monkeypatch.setattr(engine_service, "load_reference", lambda: fewer)
    assert measured_before(STOCKFISH, LIMIT) is None


def test_a_file_that_cannot_be_read_or_written_costs_a_measurement(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keep_measured(STOCKFISH, LIMIT, FOUND)
    (file,) = state.iterdir()
    file.write_bytes(b"{")
    assert measured_before(STOCKFISH, LIMIT) is None
    file.unlink()
    state.rmdir()
    state.touch()
    keep_measured(STOCKFISH, LIMIT, FOUND)
    read, written = caplog.messages
    assert "the engine is measured again" in read and "cannot be written" in written


# --- engines that no calibration was learned with: measured once, then read by those th

PROGRAM = Path(__file__).with_name("scoring_engine.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins with an engine nobody has measured."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def engine(tmp_path: Path) -> Callable[..., str]:
    """Gives the path of a program that is the scoring engine with a rule."""

    def make(rule: str, name: str = "Scoring 1") -> str:
        path = tmp_path / f"engine-{rule}"
        path.write_text(
            f"#!{sys.executable}\nimport runpy, sys\nsys.path.insert(0, "
            f"{str(ROOT)!r})\n"
            f"sys.argv = ['engine', {rule!r}, {name!r}]\n"
            f"runpy.run_path({str(PROGRAM)!r}, run_name='__main__')\n"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return make


def flags(path: str, **changes: object) -> Config:
    return load_config(None, {}, {"engine.path": path, "engine.engines": 1, **changes})


@contextlib.asynccontextmanager
async def open_with_one_game(
    config: Config,
) -> AsyncIterator[tuple[EventService, list[Change]]]:
    """With one game of the demo taken in and searched."""
    told: list[Change] = []
    service = EventService(config)
    async with service.with_engine(live=False):
        service.listen(told.extend)
        game = msgspec.structs.replace(
            demo_feed.read_demo_games()[0],
            moves=demo_feed.read_demo_games()[0].moves[:20],
        )
        await report_and_settle(service, game)
        yield service, told


async def test_an_engine_is_measured_once(engine: Callable[..., str]) -> None:
    config = flags(engine("known"))
    async with open_with_one_game(config) as (service, told):
        before = service.state.engine()
        assert before.models[0] == "classical"
        assert "transferred" in before.note and "not measured yet" in before.note
        first = service.state.players()[0]
        assert service.unmeasured
        await service.measure_engine()
        after = service.state.engine()
        assert "scale 0.80, correlation 1.000 over 294" in after.note
        assert not service.unmeasured
        second = service.state.players()[0]
        assert second.id == first.id
        assert first.perceived is not None and second.perceived is not None
        assert first.perceived != second.perceived
        assert second.note.startswith("transferred")
        assert [each.engine for each in told if isinstance(each, EngineMessage)][
            -1
        ] == after
        seen = [
            each.engines.measuring for each in told if isinstance(each, HealthMessage)
        ]
        assert MeasuringProgress(14, 294) in seen and seen[-1] is None, (
            "people see how far it is"
        )
        searches = service.room.report_health().searches
        await service.measure_engine()
        assert service.room.report_health().searches == searches
        kept = service.state.players()
        games = [service.state.game(view.id) for view in service.state.games()]
    async with open_with_one_game(config) as (service, told):
        assert not service.unmeasured
        assert service.state.players() == kept
        assert [service.state.game(view.id) for view in service.state.games()] == games
        assert service.room.report_health().searches == searches - 294


async def test_scores_of_chance_are_refused_with_the_reason(
    engine: Callable[..., str],
) -> None:
    async with open_with_one_game(flags(engine("random"))) as (service, _):
        await service.measure_engine()
        found = service.state.engine()
        assert found.models == () and "transferred" not in found.note
        assert "(correlation" in found.note and "search longer" in found.note
        assert all(view.perceived is None for view in service.state.players())
        detail = service.state.game(next(iter(service.state.games())).id)
        assert detail is not None and detail.curves.white
        assert all(point.perceived is None for point in detail.curves.white)
    # It stays refused, at once.
    async with open_with_one_game(flags(engine("random"))) as (service, _):
        assert not service.unmeasured
        assert service.state.engine().models == ()


@pytest.mark.parametrize(
    ("name", "engine", "limit", "measured"),
    [
        ("auto", SHIPPED.engine, SHIPPED.limit, True),
        ("auto", SHIPPED.engine, "20000 nodes", False),
        ("auto", "Scoring 1", SHIPPED.limit, False),
        ("none", "Scoring 1", SHIPPED.limit, True),
    ],
)
def test_which_engines_need_measuring(
    name: str, engine: str, limit: str, measured: bool
) -> None:
    models = fitting(name, engine, limit, "same-search")
    assert models.measured == measured
    assert ("transferred" in models.note) != measured
    assert (advice(models) == "") == (engine == SHIPPED.engine and measured)
    assert ("measured once, in about a minute" in advice(models)) != measured


async def test_a_journal_tells_each_moment_as_it_was_measured_then(
    engine: Callable[..., str], tmp_path: Path
) -> None:
    config, path = flags(engine("known")), tmp_path / "journal.sqlite"
    game = msgspec.structs.replace(
        demo_feed.read_demo_games()[0], moves=demo_feed.read_demo_games()[0].moves[:12]
    )
    service = EventService(config, open_ticking_journal(path))
    async with service.with_engine(live=False, feeds=[FEED]):
        before = await report_and_settle(service, game)
        before_ms = service.journal.journal._last_ms
        await service.measure_engine()
        after = build_analysis(service.state)
    assert before.players != after.players
    with JournalReader.open(path) as reader:
        assert build_analysis(rebuild_event(reader, path, before_ms).state) == before
        assert build_analysis(rebuild_event(reader, path).state) == after
        detail = after.games[0]
        made = build_explanation(rebuild_event(reader, path), detail, 11)
    assert made.perceived is not None and made.perceived.scale == pytest.approx(
        0.8, abs=1e-4
    )
    assert made.published == detail.curves.white[-1]
    # A start after that has the game as it was kept.
    async with open_service(config, path) as service:
        assert service.room.report_health().searches == 0
        assert build_analysis(service.state).players == after.players
