"""For any moves, clock steps and restarts: nothing is public before its time, and no restart takes
back what was public.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.config import FeedsConfig
from live.events import Change, EngineInfo, FeedReport, GameReport, Player, Result
from live.feeds import demo_feed
from live.games.game import Game, NewGame, Step, game_after
from live.publish.public_state import DelayedGames, PublicState
from live.publish.published_state import ClientState, snapshot
from live.publish.visibility import Visibility, shown
from live.service.public_delay import (
    choose_delay,
    first_delay_s,
    mark_shown,
    settings_delay,
    since_shown,
)
from live.store.journal import Journal
from live.store.journal_reader import JournalRun, Restated
from tests.alerts.replayed_event import Rehearsal, played
from tests.publish.world import World
from tests.service.answered_event import AnsweredEvent
from tests.story.games import moment

DELAY_S = 60.0
OPENING = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7 Nbd2 Bb7"
LINE = OPENING.split()


class JournalledEvent(Rehearsal):
    """A service with a journal and a public that is late, for as long as it is not killed."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.journal = Journal(
            service.path,
            now_ms=lambda: round(service.wall_s * 1000),
            steady_ms=lambda: service.steady_s * 1000,
        ).__enter__()
        for game in games_of(self.journal):
            for _ in self.state.restore(game):
                pass
        self.journal.begin(JournalRun(version="1", engine_name="none", identity="x", limit="y"))
        unshown = since_shown(self.journal, self.state, DELAY_S)
        self.public = PublicState(
            self.state,
            delay_s=DELAY_S,
            changed_ago_s=unshown.changed_ago_s,
            stages=unshown.stages,
            delayed=service.delayed,
            clock=lambda: service.steady_s,
            wall_s=lambda: service.wall_s,
        )
        self.client = ClientState()
        self.client.apply(snapshot(self.public))
        self.public.listen(self._to_client)
        self.public.listen(partial(mark_shown, self.public, self.journal))

    def _to_client(self, changes: list[Change]) -> None:
        for change in changes:
            self.client.apply(change)

    def _published(self, changes: Iterable[Change]) -> None:
        told = list(changes)
        super()._published(told)
        if hasattr(self, "public"):
            self.public.publish(told)

    def report(self, report: FeedReport) -> None:
        for step in self.state.plan(report):
            self.journal.change(step)
            self.state.apply(step)


def games_of(journal: Journal) -> list[Game]:
    """The games as the journal has them."""
    games: list[Game] = []
    for id in journal.last_changes():
        game: Game | None = None
        for change in journal.changes_of(id):
            assert not isinstance(change.step, Restated)
            step: Step = change.step
            game = game_after(game, step)
        if game is not None:
            games.append(game)
    return games


class Service:
    """What lives longer than one start: the machine's clock, the file, and what was played when."""

    def __init__(self, folder: Path, rounds: tuple[str, ...] = ()) -> None:
        self.path = folder / "a.sqlite"
        self.delayed = DelayedGames(rounds)
        self.wall_s = 1_700_000_000.0
        self.steady_s = 1_000.0
        self.plies = [0, 0, 0]
        self.results: list[Result] = ["*", "*", "*"]
        self.heads = [0, 0, 0]
        # What was true of each board since when, in seconds that no clock can change.
        self.history: list[list[tuple[float, tuple[int, Result]]]] = [[], [], []]
        self.event = JournalledEvent(self)

    def game(self, board: int) -> GameReport:
        line, result = LINE[: self.plies[board]], self.results[board]
        game = played(" ".join(line), result=result, board=board + 1)
        headers = msgspec.structs.replace(
            game.headers,
            round="8.1",
            white=Player(f"White {board}"),
            opening=f"{self.heads[board]}",
        )
        return msgspec.structs.replace(game, headers=headers)

    def act(self, board: int, what: str) -> None:
        if what == "move":
            self.plies[board] = min(len(LINE), self.plies[board] + 1)
        elif what == "take back":
            self.plies[board] = max(0, self.plies[board] - 1)
        elif what == "over":
            self.results[board] = "1/2-1/2" if self.results[board] == "*" else "*"
        else:
            self.heads[board] += 1
        self.event.report(FeedReport("hall", (self.game(board),)))
        self.history[board].append((self.steady_s, (self.plies[board], self.results[board])))
        self.check()

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.wall_s += 1
            self.steady_s += 1
            self.event.public.pass_due()
            self.check()

    def step(self, seconds: float) -> None:
        self.wall_s += seconds
        self.check()

    def restart(self, away_s: float) -> None:
        seen = self.shown()
        assert self.event.journal.flush()
        self.event.journal.__exit__(None, None, None)
        self.wall_s += away_s
        self.event = JournalledEvent(self)
        assert self.shown() == seen, "a restart shows what was shown, no more and no less"
        self.check()

    def shown(self) -> dict[int, tuple[int, Result]]:
        """Plies and result of each board, as the public knows them."""
        public = self.event.public
        assert snapshot(public) == shown(self.event.client.snapshot(), Visibility.PUBLIC)
        views = [public.game(view.id) for view in public.games()]
        return {
            view.board - 1: (len(view.plies), view.result) for view in views if view and view.board
        }

    def check(self) -> None:
        """Nothing is public that was not true a delay ago or before."""
        for board, (plies, result) in self.shown().items():
            ripe = [true for at_s, true in self.history[board] if at_s <= self.steady_s - DELAY_S]
            assert (plies, result) in ripe, (board, plies, result)


BOARDS = st.integers(0, 2)
KINDS = ["move"] * 5 + ["take back", "over", "head"]
ACTIONS = st.one_of(
    st.tuples(st.just("act"), BOARDS, st.sampled_from(KINDS)),
    st.tuples(st.just("wait"), st.sampled_from([1.0, 7.0, 20.0, 45.0, 61.0])),
    st.tuples(st.just("step"), st.sampled_from([-3600.0, -5.0, 30.0, 3600.0, 86400.0])),
    st.tuples(st.just("restart"), st.sampled_from([0.0, 1.0, 90.0, 3600.0, -3600.0])),
)


@settings(max_examples=40, deadline=None)
@given(actions=st.lists(ACTIONS, min_size=5, max_size=30), rounds=st.sampled_from([(), ("8",)]))
def test_nothing_is_early_and_no_restart_takes_anything_back(
    actions: list[tuple[str, ...]], rounds: tuple[str, ...]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder), rounds)
        try:
            for name, *args in actions:
                getattr(service, name)(*args)
        finally:
            service.event.journal.__exit__(None, None, None)


def test_a_game_of_two_sources_is_shown_after_a_restart_as_far_as_it_was(tmp_path: Path) -> None:
    service = Service(tmp_path)

    def both(plies: int) -> None:
        service.plies[0] = plies
        for feed in ("hall", "web"):
            service.event.report(FeedReport(feed, (service.game(0),)))
        service.history[0].append((service.steady_s, (plies, "*")))

    def public() -> list[tuple[int, int]]:
        return [
            (game.plies_played, len(game.plies)) for game in service.event.client.snapshot().games
        ]

    both(20)
    assert len(list(service.event.state.games())) == 1
    service.wait(DELAY_S + 1)
    both(22)
    service.wait(5)
    assert public() == [(20, 20)]
    assert service.event.journal.flush()
    service.event.journal.__exit__(None, None, None)
    service.event = JournalledEvent(service)
    assert public() == [(20, 20)]
    service.wait(DELAY_S - 10)
    assert public() == [(20, 20)]
    service.wait(10)
    assert public() == [(22, 22)]


def test_what_rests_on_games_of_before_is_held_back_with_them() -> None:
    world = World(5)
    for id in ("g1", "g2"):
        world.appear(id)
        for _ in range(4):
            world.move(id)
        for _ in range(6):
            world.point()
    world.standing()
    world.info = EngineInfo("Stockfish", "100000 nodes", 2901, "field", rating_moves=120)
    # The third compares both games, and is of the one that is not held back.
    told = (
        moment("g1"),
        moment("g2"),
        moment("g2", id="g2:best-played:1", kind="best-played", color=None),
    )
    world.told = {each.id: each for each in told}
    now = [1000.0]
    public = PublicState(
        world,
        delay_s=900.0,
        changed_ago_s={"g1": 30.0, "g2": 901.0},
        stored_engine=EngineInfo("Stockfish", "100000 nodes", 2850, "calibration"),
        clock=lambda: now[0],
    )
    for _ in range(2):
        assert [view.id for view in public.games()] == ["g2"] and public.game("g1") is None
        assert not list(public.players()) and list(public.moments()) == [told[1]]
        assert (public.held().held_moves, public.held().held_boards) == (4, 1)
        engine = public.engine()
        assert (engine.rating, engine.rating_source, engine.rating_moves) == (
            2850,
            "calibration",
            0,
        )
        now[0] = 1869.0
        public.pass_due()
    now[0] += 1
    public.pass_due()
    assert list(public.players()) and {each.id for each in public.moments()} == world.told.keys()
    assert snapshot(public) == snapshot(world)


async def test_a_game_has_changed_when_any_of_its_sources_has_changed_it(tmp_path: Path) -> None:
    service = AnsweredEvent()
    report = demo_feed.games()[0]
    silent = msgspec.structs.replace(report, moves=report.moves[:20], result="*")
    further = msgspec.structs.replace(report, moves=report.moves[:22], result="*")
    await service.take(FeedReport("first", (silent,)))
    await service.take(FeedReport("second", (further,)))
    (shown,) = service.state.games()
    assert shown.feed == "first" and shown.also == ("second",)
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


def test_a_delay_set_with_the_key_lasts_over_a_restart_until_somebody_changes_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "a.sqlite"
    assert first_delay_s(60.0, Journal()) == 60.0
    with Journal(file) as journal:
        assert first_delay_s(60.0, journal) == 60.0
        public = PublicState(World(1))
        choose_delay(public, journal, 300)
        choose_delay(public, journal, 900)
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
