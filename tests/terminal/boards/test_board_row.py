"""What a board's row says beside its figures."""

from __future__ import annotations

import msgspec

from live.events import Curves
from live.games.game import NewGame
from live.terminal.boards.board_order import ORDERS, ordered
from live.terminal.boards.board_row import RESTORED, BoardRow, board_row
from tests.ledger.arithmetic import game, line
from tests.ledger.test_event_ledger import ledger
from tests.terminal.sample_boards import detail, full_point


def test_a_game_from_before_the_restart_is_marked_until_its_source_sends_it() -> None:
    held = ledger()
    held.apply(NewGame(game(moves=line(1, 2, 3))))
    detail = held.game("g1")
    assert detail is not None
    restored = msgspec.structs.replace(detail, restored=True)
    assert board_row(detail).problem == ""
    assert board_row(restored).problem == RESTORED
    wrong = msgspec.structs.replace(restored, problem="illegal move")
    assert board_row(wrong).problem == "illegal move"


def test_what_is_early_has_no_percentile_and_is_not_sorted_by() -> None:
    whole = full_point(1)
    early = msgspec.structs.replace(whole, counted=9)
    game = msgspec.structs.replace(detail(), curves=Curves(white=(early,), black=(whole,)))
    row = board_row(game)
    assert (row.white.plays, row.white.usual, row.white.percentile) == ("2441", "2180–2750", "")
    assert (row.white.early, row.white.strength) == (True, None)
    assert (row.black.early, row.black.strength, row.black.percentile) == (False, 2441.0, "74%")
    assert row.best_strength == 2441.0


def test_events_that_are_pairings_do_not_come_before_boards() -> None:
    def paired(id: str, board: int, white: str, black: str) -> BoardRow:
        whole = detail(id, board, white=white, black=black)
        event = f"Round 1: {white} - {black}"
        return board_row(msgspec.structs.replace(whole, event=event))

    rows = [paired("a", 2, "Abel", "Bo"), paired("b", 1, "Cid", "Dee")]
    assert [row.id for row in ordered(rows, ORDERS["board"])] == ["b", "a"]
    assert board_row(detail()).event == "Open"
