"""Engines that no calibration was learned with: measured once, then read by those there are."""

from __future__ import annotations

import contextlib
import itertools
import stat
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from live.config import Config, load_config
from live.events import Change, EngineMessage, FeedReport, HealthMessage, MeasuringProgress
from live.feeds import demo_feed
from live.jobs.doctor import examine
from live.jobs.recorded_event import explanation_of, rebuilt
from live.publish.exports import analysis
from live.ratings.engine_scale import load_reference
from live.service.event_journal import EventJournal
from live.service.event_service import EventService
from live.store.journal_reader import JournalReader
from live.store.rating_explanation import in_words
from tests.service.answered_event import opened as running

ENGINE = Path(__file__).with_name("scoring_engine.py")
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
            f"#!{sys.executable}\nimport runpy, sys\nsys.path.insert(0, {str(ROOT)!r})\n"
            f"sys.argv = ['engine', {rule!r}, {name!r}]\n"
            f"runpy.run_path({str(ENGINE)!r}, run_name='__main__')\n"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return make


def settings(path: str, **changes: object) -> Config:
    return load_config(None, {}, {"engine.path": path, "engine.engines": 1, **changes})


@contextlib.asynccontextmanager
async def opened(config: Config) -> AsyncIterator[tuple[EventService, list[Change]]]:
    """With one game of the demo taken in and searched."""
    told: list[Change] = []
    service = EventService(config)
    async with service.with_engine(live=False):
        service.listen(told.extend)
        game = msgspec.structs.replace(demo_feed.games()[0], moves=demo_feed.games()[0].moves[:20])
        await service.take(FeedReport("file", (game,), complete=True))
        await service.settled()
        yield service, told


@pytest.mark.slow
async def test_an_engine_is_measured_once(engine: Callable[..., str]) -> None:
    config = settings(engine("known"))
    async with opened(config) as (service, told):
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
        assert [each.engine for each in told if isinstance(each, EngineMessage)][-1] == after
        seen = [each.engines.measuring for each in told if isinstance(each, HealthMessage)]
        assert MeasuringProgress(14, 294) in seen and seen[-1] is None, "people see how far it is"
        searches = service.room.health().searches
        await service.measure_engine()
        assert service.room.health().searches == searches
        kept = service.state.players()
        games = [service.state.game(view.id) for view in service.state.games()]
    async with opened(config) as (service, told):
        assert not service.unmeasured
        assert service.state.players() == kept
        assert [service.state.game(view.id) for view in service.state.games()] == games
        assert service.room.health().searches == searches - 294


@pytest.mark.slow
async def test_scores_of_chance_are_refused_with_the_reason(engine: Callable[..., str]) -> None:
    async with opened(settings(engine("random"))) as (service, _):
        await service.measure_engine()
        found = service.state.engine()
        assert found.models == () and "transferred" not in found.note
        assert "its scores do not fit: correlation" in found.note
        assert all(view.perceived is None for view in service.state.players())
        detail = service.state.game(next(iter(service.state.games())).id)
        assert detail is not None and detail.curves.white
        assert all(point.perceived is None for point in detail.curves.white)
    # It stays refused, at once.
    async with opened(settings(engine("random"))) as (service, _):
        assert not service.unmeasured
        assert service.state.engine().models == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes", "unmeasured"),
    [
        (load_reference().engine, {}, False),
        (load_reference().engine, {"engine.nodes": 20_000}, True),
        ("Scoring 1", {"rating.model": "none"}, False),
    ],
    ids=["learned with", "another limit", "no model wanted"],
)
async def test_which_engines_need_measuring(
    name: str, changes: dict[str, object], unmeasured: bool, engine: Callable[..., str]
) -> None:
    async with opened(settings(engine("known", name), **changes)) as (service, _):
        assert service.unmeasured == unmeasured
        note = service.state.engine().note
        assert ("transferred" in note) == unmeasured
        assert (note == "switched off") == ("rating.model" in changes)


@pytest.mark.slow
async def test_a_journal_tells_each_moment_as_it_was_measured_then(
    engine: Callable[..., str], tmp_path: Path
) -> None:
    config, path = settings(engine("known")), tmp_path / "journal.sqlite"
    journal = EventJournal(path)
    seconds = itertools.count(1_000)
    journal.journal._now_ms = lambda: next(seconds) * 1000
    game = msgspec.structs.replace(demo_feed.games()[0], moves=demo_feed.games()[0].moves[:12])
    service = EventService(config, journal)
    async with service.with_engine(live=False, feeds=["file"]):
        await service.take(FeedReport("file", (game,), complete=True))
        await service.settled()
        before_ms, before = journal.journal._last_ms, analysis(service.state)
        await service.measure_engine()
        after = analysis(service.state)
    assert before.players != after.players
    with JournalReader.open(path) as reader:
        assert analysis(rebuilt(reader, path, before_ms).state) == before
        assert analysis(rebuilt(reader, path).state) == after
        detail = after.games[0]
        found = explanation_of(rebuilt(reader, path), detail, 11)
    assert found.perceived is not None
    assert found.perceived.rating == pytest.approx(found.published.perceived, abs=0.0051)
    assert "scores and gains divided by 0.800" in "\n".join(in_words(found))
    # A start after that has the game as it was kept.
    async with running(config, path, ["file"]) as service:
        assert service.room.health().searches == 0
        assert analysis(service.state).players == after.players


@pytest.mark.slow
async def test_the_doctor_says_which_calibration_it_is_and_what_would_be_better(
    engine: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    async def told(config: Config) -> str:
        await examine(lambda: config)
        return " ".join(capsys.readouterr().out.split())

    config = settings(engine("known"), **{"server.port": 0})
    before = await told(config)
    assert "transferred from Stockfish 19" in before
    assert "not measured yet" in before
    assert "measured once, in about a minute of idle time" in before
    async with opened(config) as (service, _):
        await service.measure_engine()
    after = await told(config)
    assert "scale 0.80, correlation 1.000" in after and "not measured" not in after
    assert "best with the engine they were learned with: --engine embedded" in after
    random = settings(engine("random", "Chance 1"), **{"server.port": 0})
    async with opened(random) as (service, _):
        await service.measure_engine()
    refused = await told(random)
    assert "its scores do not fit" in refused and "ratings by Algorithm 4 alone" in refused
