"""Which boards a terminal without keys shows."""

from __future__ import annotations

from live.terminal.boards.board_order import running_first
from tests.publish.test_published_state import paired


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
