"""After a restart the public gets no sooner than before what was held back from it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from live.config import FeedsConfig
from live.events import EngineInfo, FeedReport
from live.feeds.demo import demo_feed
from live.games.game import NewGame
from live.publish.public_state import PublicState
from live.publish.published_state import snapshot
from live.publish.visibility import Visibility, shown
from live.service.output_mode import offer_delay
from live.service.public_delay import first_delay_s, settings_delay, since_shown
from live.store.journal import Journal
from live.terminal.view_context import TerminalActions
from tests.ledger.arithmetic import answer
from tests.producer.moments import moment
from tests.publish.world import World
from tests.service.test_public_delay import AnsweredEvent


def test_games_of_before_are_held_back_while_they_may_hold_moves_that_are() -> None:
    world = World(3)
    for id in ("g1", "g2"):
        world.appear(id)
        world.move(id)
    world.standing()
    now = [1000.0]
    public = PublicState(
        world, delay_s=900.0, changed_ago_s={"g1": 30.0, "g2": 901.0}, clock=lambda: now[0]
    )
    assert [view.id for view in public.games()] == ["g2"] and not list(public.players())
    assert (public.held().held_moves, public.held().held_boards) == (1, 1)
    now[0] += 869
    public.pass_due()
    assert public.game("g1") is None
    now[0] += 1
    public.pass_due()
    seen = shown(world.held["g1"], Visibility.PUBLIC)
    assert public.game("g1") == seen and list(public.players())


def test_moments_of_games_that_are_held_back_wait_with_them() -> None:
    world = World(3)
    for id in ("g1", "g2"):
        world.appear(id)
        world.move(id)
    # The third compares both games, and is of the one that is not held back.
    (held, shown, compared) = (
        moment("g1"),
        moment("g2"),
        moment("g2", id="g2:best-played:1", kind="best-played", color=None),
    )
    world.told = {each.id: each for each in (held, shown, compared)}
    now = [1000.0]
    public = PublicState(
        world, delay_s=900.0, changed_ago_s={"g1": 30.0, "g2": 901.0}, clock=lambda: now[0]
    )
    assert list(public.moments()) == [shown]
    now[0] += 870
    public.pass_due()
    assert {each.id for each in public.moments()} == {held.id, shown.id, compared.id}


async def test_a_game_has_changed_when_any_of_its_sources_has_changed_it(tmp_path: Path) -> None:
    service = AnsweredEvent(answer)
    report = demo_feed.games()[0]
    silent = msgspec.structs.replace(report, moves=report.moves[:20], result="*")
    further = msgspec.structs.replace(report, moves=report.moves[:22], result="*")
    await service.take(FeedReport("first", (silent,)))
    await service.take(FeedReport("second", (further,)))
    (shown,) = service.state.games()
    assert shown.feed == "first" and shown.also == ("second",)
    assert since_shown(None, service.state, 900.0).changed_ago_s == {}
    now_ms = [0]
    with Journal(tmp_path / "empty.sqlite") as journal:
        # Of what no time is known, it is held back whole.
        assert since_shown(journal, service.state, 900.0).changed_ago_s == {shown.id: 0.0}
    with Journal(tmp_path / "a.sqlite", now_ms=lambda: now_ms[0]) as journal:
        for at_s, held in zip((1000, 4970), service.state.held(), strict=True):
            now_ms[0] = at_s * 1000
            journal.change(NewGame(held))
        assert journal.flush()
        now_ms[0] = 5_000_000
        journal.note("mark", b"{}")
        assert journal.flush()
        ago_s = since_shown(journal, service.state, 900.0).changed_ago_s
    assert ago_s == {shown.id: 30.0}
    public = PublicState(service.state, delay_s=900.0, changed_ago_s=ago_s, clock=lambda: 5000.0)
    assert public.game(shown.id) is None


def test_a_clock_that_stood_ahead_before_the_restart_holds_nothing_up_longer() -> None:
    world = World(3)
    world.appear("g1")
    now = [1000.0]
    public = PublicState(
        world, delay_s=900.0, changed_ago_s={"g1": -86_400.0}, clock=lambda: now[0]
    )
    assert public.next_s == 900.0
    public.publish(world.appear("g2"))
    now[0] += 900
    public.pass_due()
    assert [view.id for view in public.games()] == ["g1", "g2"]


def test_the_engine_counts_no_moves_that_are_held_back() -> None:
    world = World(5)
    for id in ("g1", "g2"):
        world.appear(id)
        for _ in range(4):
            world.move(id)
        for _ in range(6):
            world.point()
    world.standing()
    world.info = EngineInfo("Stockfish", "100000 nodes", 2901, "field", rating_moves=120)
    now = [1000.0]
    public = PublicState(
        world,
        delay_s=900.0,
        changed_ago_s={"g1": 30.0, "g2": 901.0},
        stored_engine=EngineInfo("Stockfish", "100000 nodes", 2850, "calibration"),
        clock=lambda: now[0],
    )
    shown = public.engine()
    assert (shown.rating, shown.rating_source, shown.rating_moves) == (2850, "calibration", 0)
    now[0] += 869
    public.pass_due()
    assert public.engine() == shown
    now[0] += 1
    public.pass_due()
    assert snapshot(public) == snapshot(world)


def test_a_delay_set_with_the_key_lasts_over_a_restart_until_somebody_changes_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "a.sqlite"
    assert first_delay_s(60.0, None) == 60.0
    with Journal(file) as journal:
        assert first_delay_s(60.0, journal) == 60.0
        actions, public = TerminalActions("http://127.0.0.1/"), PublicState(World(1))
        offer_delay(actions, public, journal)
        assert actions.set_delay is not None
        actions.set_delay(300)
        actions.set_delay(900)
        assert public.delay_s == 900
    assert not caplog.messages
    with Journal(file) as journal:
        assert first_delay_s(60.0, journal) == 900.0
        (said,) = caplog.messages
        assert "900 s" in said and "60 s" in said and "press d" in said
        assert first_delay_s(1200.0, journal) == 1200.0
        settings_delay(public, journal, FeedsConfig(delay_s=30.0))
        assert public.delay_s == 30.0
    with Journal(file) as journal:
        assert first_delay_s(30.0, journal) == 30.0
