"""What a board's row says, in which order, and what has just happened."""

from __future__ import annotations

import msgspec

from live.events import (
    Curves,
    FeedHealth,
    GameDetail,
    GoneMessage,
    MoveMessage,
    PlyView,
    PointMessage,
)
from live.games.game import NewGame
from live.publish.published_state import game_order
from live.terminal.boards_view import (
    ORDERS,
    RESTORED,
    best_strength,
    is_early,
    ordered,
    problem_of,
    running_first,
    words,
)
from live.terminal.recent_changes import NEW_S, RecentChanges
from live.terminal.text import figure_cells
from tests.ledger.arithmetic import game, line
from tests.ledger.test_event_state import ledger
from tests.publish.test_published_state import paired
from tests.terminal.sample_boards import detail, full_point, point


def test_a_game_from_before_the_restart_is_marked_until_its_source_sends_it() -> None:
    held = ledger()
    held.apply(NewGame(game(moves=line(1, 2, 3))))
    detail = held.game("g1")
    assert detail is not None
    restored = msgspec.structs.replace(detail, restored=True)
    assert problem_of(detail) == ""
    assert problem_of(restored) == RESTORED
    wrong = msgspec.structs.replace(restored, problem="illegal move")
    assert problem_of(wrong) == "illegal move"


def test_what_is_early_has_no_percentile_and_is_not_sorted_by() -> None:
    whole = full_point(1)
    early = msgspec.structs.replace(whole, counted=9)
    game = msgspec.structs.replace(detail(), curves=Curves(white=(early,), black=(whole,)))
    cells = figure_cells(early, 2160)
    assert [cells[name] for name in ("plays", "usual", "percentile", "a4", "a4 ends")] == [
        "2441", "2180–2750", "early", "2210", "2010–2410",
    ]  # fmt: skip
    assert is_early(early) and is_early(None) and not is_early(whole)
    assert figure_cells(whole, 2160)["percentile"] == "74%"
    assert best_strength(game) == 2441.0
    assert best_strength(msgspec.structs.replace(game, curves=Curves(white=(early,)))) is None


def test_events_that_are_pairings_do_not_come_before_boards() -> None:
    def paired(id: str, board: int, white: str, black: str) -> GameDetail:
        whole = detail(id, board, white=white, black=black)
        return msgspec.structs.replace(whole, event=f"Round 1: {white} - {black}")

    rows = [paired("a", 2, "Abel", "Bo"), paired("b", 1, "Cid", "Dee")]
    assert [row.id for row in ordered(rows, ORDERS["board"])] == ["b", "a"]
    assert "Open" in words(detail()) and "Round 1" not in words(rows[0])


def shown(limit: int, *results: str) -> list[str]:
    boards = [("1", 1), ("1", 2), ("2", 1), ("2", 2), ("10", 1), ("10", 2)]
    games = [
        paired(f"{round}.{board}", f"{round}.{board}", board, f"W{9 - at}", f"B{at}", result)
        for at, ((round, board), result) in enumerate(zip(boards, results, strict=True))
    ]
    return [game.id for game in running_first(games, limit)]


def test_boards_of_a_broadcast_stand_by_round_and_board() -> None:
    assert shown(9, *"******") == ["1.1", "1.2", "2.1", "2.2", "10.1", "10.2"]


def test_running_boards_are_chosen_first_then_the_newest_round() -> None:
    assert shown(3, "1-0", "1-0", "1-0", "*", "1-0", "1-0") == ["2.2", "10.1", "10.2"]
    assert shown(2, *["1-0"] * 6) == ["10.1", "10.2"]
    assert shown(1, "*", *["1-0"] * 5) == ["1.1"]


def test_one_round_of_several_sources_stands_in_the_order_of_its_boards() -> None:
    written = {board: "7" if board > 19 else f"7.{board}" for board in range(1, 29)}
    games = [detail(f"g{board}", board, round=round) for board, round in written.items()]
    assert [game.board for game in sorted(games, key=game_order)] == list(range(1, 29))


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


def test_boards_are_touched_once_and_all_by_a_new_snapshot() -> None:
    changes = RecentChanges(Clock())
    assert changes.touched() == (True, set())
    changes.note([MOVE, MOVE])
    assert changes.touched() == (False, {"g1"})
    assert changes.touched() == (False, set())
    changes.everything()
    assert changes.touched()[0]


def test_a_board_that_is_gone_is_forgotten() -> None:
    changes = RecentChanges(Clock())
    changes.note([MOVE, GoneMessage("g1")])
    assert changes.touched()[1] == set()
    assert changes.age_s("g1") == (0.0, False)


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
