"""The order of games, as everybody is told them."""

from __future__ import annotations

from live.events import GameDetail, Player
from live.ledger.roster import main_event
from live.publish.published_state import game_order
from tests.terminal.sample_boards import detail


def paired(
    id: str, round: str, board: int | None, white: str, black: str, result: str = "*"
) -> GameDetail:
    """A game of a lichess broadcast, whose event is named after its players."""
    event = f"Round {round.split('.')[0]}: {white} - {black}"
    return detail(id, board, white=white, black=black, event=event, round=round, result=result)


def test_boards_of_one_round_stand_in_their_order_whatever_their_events_are_called() -> None:
    games = [
        paired("a", "10.2", 2, "Abel", "Bo"),
        paired("b", "10.1", 1, "Cid", "Dee"),
        paired("c", "2.10", 10, "Eve", "Fay"),
        paired("d", "2.9", 9, "Gus", "Hal"),
    ]
    assert [game.id for game in sorted(games, key=game_order)] == ["d", "c", "b", "a"]


def test_an_event_that_is_no_pairing_keeps_its_name() -> None:
    assert main_event(detail(event="Open - A")) == "Open - A"
    nobody = detail(white="", black="", event="Open - A")
    assert nobody.white == Player("", elo=2459, title="GM") and main_event(nobody) == "Open - A"
