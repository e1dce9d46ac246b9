"""What has just happened."""

from __future__ import annotations

from live.events import EngineMessage, FeedHealth, GoneMessage, MoveMessage, PlyView, PointMessage
from live.terminal.recent_changes import NEW_S, RecentChanges
from tests.terminal.sample_boards import ENGINE, point

MOVE = MoveMessage("g1", 1, PlyView(1, "e4", "e2e4"))


class Clock:
    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


def test_what_is_new_is_new_for_a_moment() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    changes.note([MOVE])
    assert changes.is_new("g1", 1) and not changes.is_new("g1", 2)
    clock.s += NEW_S
    assert not changes.is_new("g1", 1)
    changes.note([PointMessage("g1", "white", point(1, 2200.0))])
    assert changes.is_new("g1", 1)


def test_an_age_is_exact_only_from_the_first_move_told() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    clock.s += 60
    assert changes.age_s("g1") == (60.0, False)
    changes.note([MOVE])
    clock.s += 5
    assert changes.age_s("g1") == (5.0, True)


def test_boards_are_touched_once_and_all_by_a_new_engine_rating() -> None:
    changes = RecentChanges(Clock())
    assert changes.touched() == (True, set())
    changes.note([MOVE, MOVE])
    assert changes.touched() == (False, {"g1"})
    assert changes.touched() == (False, set())
    changes.note([EngineMessage(ENGINE)])
    assert changes.touched()[0]


def test_a_board_that_is_gone_is_forgotten() -> None:
    changes = RecentChanges(Clock())
    changes.note([MOVE, GoneMessage("g1")])
    assert changes.touched()[1] == set()
    assert changes.last_move("g1") is None


def test_a_clock_runs_from_the_move_and_stands_while_its_feed_is_silent() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    live, silent = (FeedHealth("hall", state) for state in ("live", "stale"))
    changes.feeds([live])
    clock.s += 60
    # A position that was there before counts from when it is looked at.
    assert changes.ran_s("g1", "hall", 0) == 0.0
    clock.s += 3
    assert changes.ran_s("g1", "hall", 0) == 3.0
    changes.note([MOVE])
    clock.s += 5
    assert changes.ran_s("g1", "hall", 1) == 5.0
    # Moves that came while we were cut off.
    assert changes.ran_s("g1", "hall", 4) == 0.0
    changes.feeds([silent])
    clock.s += 50
    changes.feeds([silent])
    assert changes.ran_s("g1", "hall", 1) == 5.0
    changes.feeds([live])
    assert changes.ran_s("g1", "hall", 1) == 55.0
    changes.note([MoveMessage("g1", 2, None)])
    clock.s += 2
    assert changes.ran_s("g1", "hall", 1) == 2.0
