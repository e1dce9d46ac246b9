"""What a board's row says beside its figures."""

from __future__ import annotations

import msgspec

from live.dashboard.rows import RESTORED, BoardRow, board_row
from live.dashboard.sorting import ORDERS, ordered
from live.games.steps import NewGame
from tests.dashboard.boards import detail
from tests.ledger.arithmetic import game, line
from tests.ledger.test_event import ledger


def test_a_game_from_before_the_restart_is_marked_until_its_source_tells_it() -> None:
    held = ledger()
    held.apply(NewGame(game(moves=line(1, 2, 3))))
    detail = held.game("g1")
    assert detail is not None
    restored = msgspec.structs.replace(detail, restored=True)
    assert board_row(detail, calibrated=False).problem == ""
    assert board_row(restored, calibrated=False).problem == RESTORED
    wrong = msgspec.structs.replace(restored, problem="illegal move")
    assert board_row(wrong, calibrated=False).problem == "illegal move"


def test_events_that_are_pairings_do_not_come_before_boards() -> None:
    def paired(id: str, board: int, white: str, black: str) -> BoardRow:
        whole = detail(id, board, white=white, black=black)
        event = f"Round 1: {white} - {black}"
        return board_row(msgspec.structs.replace(whole, event=event), calibrated=False)

    rows = [paired("a", 2, "Abel", "Bo"), paired("b", 1, "Cid", "Dee")]
    assert [row.id for row in ordered(rows, ORDERS["board"])] == ["b", "a"]
    assert board_row(detail(), calibrated=False).event == "Open"
