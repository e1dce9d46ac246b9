"""Which boards a terminal without keys shows."""

from __future__ import annotations

from live.publish.published_state import game_order
from live.terminal.boards.board_order import pairing, running_first
from live.terminal.boards.board_row import board_row
from tests.publish.test_published_state import paired
from tests.terminal.sample_boards import detail


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
    rows = [board_row(game) for game in reversed(games)]
    assert [row.board for row in sorted(rows, key=pairing)] == list(range(1, 29))
    assert [game.board for game in sorted(games, key=game_order)] == list(range(1, 29))
