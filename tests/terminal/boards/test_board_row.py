"""What a board's row says beside its figures."""

from __future__ import annotations

import msgspec

from live.events import GameMethods, PlayerMethods, PlayerView, SideMethods
from live.games.game_steps import NewGame
from live.terminal.board.side_figures import side_figures
from live.terminal.boards.board_order import ORDERS, ordered
from live.terminal.boards.board_row import RESTORED, BoardRow, board_row
from live.terminal.palette import PLAIN
from live.terminal.players.player_columns import COLUMNS
from tests.ledger.arithmetic import game, line
from tests.ledger.test_event_ledger import ledger
from tests.terminal.sample_boards import detail


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


def test_figures_of_some_moves_are_marked_in_lists_and_on_the_board() -> None:
    part = SideMethods(accuracy_so_far=91.0, centipawn_loss_so_far=17.0)
    whole = msgspec.structs.replace(part, accuracy=91.0, centipawn_loss=17.0)
    both = msgspec.structs.replace(detail(), methods=GameMethods(white=part, black=whole))
    row = board_row(both)
    assert (row.white.loss, row.black.loss) == ("~17", "17")
    drawn = "\n".join(line.plain for line in side_figures(both, 80, PLAIN))
    assert "~17 cp, ~91 %" in drawn and " 17 cp, 91 %" in drawn


def test_figures_of_some_moves_are_marked_in_the_table_of_players() -> None:
    part = PlayerMethods(accuracy_so_far=100.0, centipawn_loss_so_far=17.0)
    whole = msgspec.structs.replace(part, accuracy=100.0, centipawn_loss=17.0)
    for methods, shown in ((part, ["~17", "~100 %"]), (whole, ["17", "100 %"])):
        view = PlayerView("a", "Anna", 2000, 1, 30, -12.5, 0.3, -148.0, None, None, None, None,
                          None, methods=methods)  # fmt: skip
        columns = [each for each in COLUMNS if each.name in ("Centipawn loss", "Accuracy")]
        assert [each.text(view) for each in columns] == shown
        assert all(len(each.text(view)) <= each.width for each in columns)


def test_events_that_are_pairings_do_not_come_before_boards() -> None:
    def paired(id: str, board: int, white: str, black: str) -> BoardRow:
        whole = detail(id, board, white=white, black=black)
        event = f"Round 1: {white} - {black}"
        return board_row(msgspec.structs.replace(whole, event=event))

    rows = [paired("a", 2, "Abel", "Bo"), paired("b", 1, "Cid", "Dee")]
    assert [row.id for row in ordered(rows, ORDERS["board"])] == ["b", "a"]
    assert board_row(detail()).event == "Open"
