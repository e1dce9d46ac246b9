"""The order of games, as everybody is told them.

Each message's effect on what a client holds, one by one.
"""

from __future__ import annotations

import msgspec
import pytest

from live.events import (
    GameDetail,
    GoneMessage,
    HeartbeatMessage,
    HelloMessage,
    MoveMessage,
    Player,
    PlyView,
)
from live.ledger.roster import main_event
from live.publish import wire
from live.publish.published_state import ClientState, OutOfStep, game_order, snapshot
from tests.publish.world import World
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


def test_what_cannot_follow_is_refused() -> None:
    held = ClientState()
    with pytest.raises(OutOfStep):
        held.snapshot()
    world = World(1)
    world.appear("g1")
    held.apply(snapshot(world))
    with pytest.raises(OutOfStep):
        held.apply(MoveMessage("g1", 2, PlyView(2, "d4", "d2d4")))
    with pytest.raises(OutOfStep):
        held.apply(MoveMessage("g2", 1, None))
    # Who is gone is gone, however often that is said.
    for _ in range(2):
        held.apply(GoneMessage("g1"))
    assert held.snapshot().games == ()


def test_numbers_must_follow_each_other() -> None:
    world = World(1)
    client_state = ClientState()

    def receive(message: HelloMessage | HeartbeatMessage | GoneMessage, seq: int) -> None:
        client_state.receive(wire.number(wire.encode(message), seq))

    hello = HelloMessage(1, "e", world.info, "same-search", "0")
    receive(hello, 4)
    with pytest.raises(OutOfStep):
        receive(GoneMessage("x"), 5)  # no snapshot yet
    client_state.receive(wire.number(wire.encode(snapshot(world)), 5))
    receive(GoneMessage("x"), 6)
    receive(HeartbeatMessage(), 6)
    for seq in (6, 8):
        with pytest.raises(OutOfStep):
            receive(GoneMessage("x"), seq)
    for seq in (5, 7):
        with pytest.raises(OutOfStep):
            receive(HeartbeatMessage(), seq)
    receive(msgspec.structs.replace(hello, resumed=True), 6)
    with pytest.raises(OutOfStep):
        receive(msgspec.structs.replace(hello, resumed=True), 5)
