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

from live.events import Change, FeedReport, GameReport, Player, Result
from live.games.game import Game, Step, game_after
from live.publish.public_state import DelayedGames, PublicState
from live.publish.published_state import ClientState, snapshot
from live.publish.visibility import Visibility, shown
from live.service.public_delay import mark_shown, since_shown
from live.store.journal import Journal
from live.store.journal_records import JournalRun, Restated
from tests.alerts.games import played
from tests.alerts.replayed_event import Rehearsal

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


@pytest.mark.parametrize("away_s", [1.0, 3600.0, -3600.0])
@pytest.mark.parametrize("stepped_s", [0.0, 3600.0])
def test_after_a_kill_the_public_goes_on_where_it_was(
    tmp_path: Path, away_s: float, stepped_s: float
) -> None:
    service = Service(tmp_path)
    for _ in range(8):
        service.act(0, "move")
        service.wait(20)
    assert service.shown() == {0: (6, "*")}
    service.step(stepped_s)
    service.act(1, "move")
    service.restart(away_s)
    assert service.shown() == {0: (6, "*")}
    held = service.event.public.held()
    assert (held.held_moves, held.held_boards) == (3, 2)
    service.wait(19)
    assert service.shown() == {0: (6, "*")}
    service.wait(1)
    assert service.shown() == {0: (7, "*")}
    service.wait(40)
    assert service.shown() == {0: (8, "*"), 1: (1, "*")}
    assert snapshot(service.event.public) == snapshot(service.event.state)
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
