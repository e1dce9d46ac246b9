"""Engines that no calibration was learned with are measured once, then read by those
there are.
"""

import asyncio
import contextlib
import stat
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from live.commands.explain_rating import build_explanation
from live.commands.read_settings import read_settings
from live.journal.journal_reader import JournalReader
from live.journal.recorded_event import rebuild_event
from live.messages.health import MeasuringProgress
from live.messages.to_clients import Change, EngineMessage, HealthMessage
from live.server.analysis import build_analysis
from live.settings import Config
from live.sources import demo_feed
from tests.event.answered_event import (
    RunningEvent,
    open_running,
    open_service,
    open_ticking_journal,
    report_and_settle,
)

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
    return read_settings(
        None, {}, {"engine.path": path, "engine.engines": 1, **changes}
    )


@contextlib.asynccontextmanager
async def open_measured(
    config: Config,
) -> AsyncIterator[tuple[RunningEvent, list[Change]]]:
    """With one game of the demo taken in and searched."""
    told: list[Change] = []
    async with open_service(config) as service:
        service.bus.subscribe(told.extend)
        game = msgspec.structs.replace(
            demo_feed.read_demo_games()[0],
            moves=demo_feed.read_demo_games()[0].moves[:20],
        )
        await report_and_settle(service, game)
        yield service, told


async def test_an_engine_is_measured_once(engine: Callable[..., str]) -> None:
    config = flags(engine("known"))
    async with open_measured(config) as (service, told):
        before = service.state.engine()
        assert before.models[0] == "classical"
        assert "divided by 0.90, the usual ratio until" in before.note
        first = service.state.players()[0]
        assert service.measuring.is_needed
        # Figures can change from the start, not only once the searches begin.
        assert service.state.engines().measuring == MeasuringProgress(0, 294)
        await service.measuring.run()
        after = service.state.engine()
        assert "divided by 0.80, as measured on 294" in after.note
        assert not service.measuring.is_needed
        second = service.state.players()[0]
        assert second.id == first.id
        assert first.perceived is not None and second.perceived is not None
        assert first.perceived != second.perceived
        assert second.note.startswith("scores of this engine are converted")
        assert [each.engine for each in told if isinstance(each, EngineMessage)][
            -1
        ] == after
        seen = [
            each.engines.measuring for each in told if isinstance(each, HealthMessage)
        ]
        assert told.index(
            HealthMessage(service.state.feeds(), service.state.engines())
        ) > told.index(EngineMessage(after))
        assert MeasuringProgress(14, 294) in seen and seen[-1] is None, (
            "people see how far it is"
        )
        searches = service.pool.report_health().searches
        await service.measuring.run()
        assert service.pool.report_health().searches == searches
        kept = service.state.players()
        games = [service.state.game(view.id) for view in service.state.games()]
    async with open_measured(config) as (service, told):
        assert not service.measuring.is_needed
        assert service.state.engines().measuring is None
        assert service.state.players() == kept
        assert [service.state.game(view.id) for view in service.state.games()] == games
        assert service.pool.report_health().searches == searches - 294


async def test_an_end_of_the_service_is_not_told_as_the_end_of_the_measurement(
    engine: Callable[..., str],
) -> None:
    async with open_measured(flags(engine("known"))) as (service, told):
        running = asyncio.create_task(service.measuring.run())
        await asyncio.sleep(0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        seen = [
            each.engines.measuring for each in told if isinstance(each, HealthMessage)
        ]
        assert seen[-1] == MeasuringProgress(0, 294)


async def test_scores_of_chance_are_refused_with_the_reason(
    engine: Callable[..., str],
) -> None:
    async with open_measured(flags(engine("random"))) as (service, _):
        await service.measuring.run()
        found = service.state.engine()
        assert found.models == () and "divided by" not in found.note
        assert "(correlation" in found.note and "search longer" in found.note
        assert all(view.perceived is None for view in service.state.players())
        detail = service.state.game(next(iter(service.state.games())).id)
        assert detail is not None and detail.curves.white
        assert all(point.perceived is None for point in detail.curves.white)
    # It stays refused, at once.
    async with open_measured(flags(engine("random"))) as (service, _):
        assert not service.measuring.is_needed
        assert service.state.engine().models == ()


async def test_a_journal_tells_each_moment_as_it_was_measured_then(
    engine: Callable[..., str], tmp_path: Path
) -> None:
    config, path = flags(engine("known")), tmp_path / "journal.sqlite"
    game = msgspec.structs.replace(
        demo_feed.read_demo_games()[0], moves=demo_feed.read_demo_games()[0].moves[:12]
    )
    async with open_running(config, open_ticking_journal(path)) as service:
        before = await report_and_settle(service, game)
        before_ms = service.journal.journal._last_ms
        await service.measuring.run()
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
        assert service.pool.report_health().searches == 0
        assert build_analysis(service.state).players == after.players
